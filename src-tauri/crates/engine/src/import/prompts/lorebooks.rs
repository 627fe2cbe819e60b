//! Imports lorebook files.

use domain::LorebookId;
use domain::lorebook::{
    Book, BookError, Entry, InsertionRole, Position, ReadBook, Skipped as Unread,
};
use serde_json::Value;
use store::AssetHash;

use crate::api::{ImportReport, Imported, Skipped};
use crate::base::error::{ApiResult, internal};
use crate::import::prompts::PromptImports;
use crate::import::sillytavern::tags::TagNames;

/// Maximum length of a name, in characters.
const MAX_NAME: usize = 200;
/// Depth of entries that set none.
const DEPTH: i64 = 4;
/// Number of skipped entries that warnings list.
const NAMED: usize = 8;

impl PromptImports {
    /// Imports `bytes` if they are a lorebook; returns `None` otherwise. Skips a book with known
    /// content. A book with a known name but other content is added under a new name. The name is
    /// `name`, or else the book's own, or else the file's.
    pub(crate) async fn import_lorebook(
        &self,
        file: &str,
        bytes: &[u8],
        name: Option<String>,
        report: &mut ImportReport,
    ) -> ApiResult<Option<LorebookId>> {
        self.import_book(file, bytes, name, &TagNames::new(), report)
            .await
    }

    /// Works like [`Self::import_lorebook`], for a book in a SillyTavern folder. Its filters name
    /// tags by their ids.
    pub(crate) async fn import_world_book(
        &self,
        file: &str,
        bytes: &[u8],
        (name, tags): (String, &TagNames),
        report: &mut ImportReport,
    ) -> ApiResult<Option<LorebookId>> {
        self.import_book(file, bytes, Some(name), tags, report)
            .await
    }

    async fn import_book(
        &self,
        file: &str,
        bytes: &[u8],
        name: Option<String>,
        tags: &TagNames,
        report: &mut ImportReport,
    ) -> ApiResult<Option<LorebookId>> {
        let Ok(ReadBook {
            mut book,
            skipped,
            repairs,
        }) = read(bytes.to_vec()).await?
        else {
            return Ok(None);
        };
        let unnamed = name_tags(&mut book, tags);
        let dead = without_keys(&book);
        let at_depth = always_at_depth(&book);
        let json = book.to_value().to_string();
        if let Some(known) = self.known_lorebook(AssetHash::of(bytes), &json).await? {
            let reason = format!("the lorebook {} is already in the library", known.name);
            report.skipped.push(Skipped {
                id: known.id.to_string(),
                file: file.to_owned(),
                reason,
            });
            return Ok(Some(known.id));
        }
        let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
        let named = [
            name.as_deref().unwrap_or_default(),
            book.name(),
            stem,
            "Lorebook",
        ];
        let name = named
            .into_iter()
            .map(str::trim)
            .find(|name| !name.is_empty())
            .unwrap_or_default();
        let row = self
            .library()
            .lorebooks
            .add_lorebook(
                name.chars().take(MAX_NAME).collect(),
                json,
                Some(bytes.to_vec()),
                Vec::new(),
            )
            .await?;
        report.imported.push(Imported {
            kind: "lorebook".into(),
            id: row.id.to_string(),
            name: row.name,
            file: file.to_owned(),
            warnings: repairs
                .iter()
                .map(ToString::to_string)
                .chain(warnings(&skipped))
                .chain(dead)
                .chain(unnamed)
                .chain(at_depth)
                .collect(),
        });
        Ok(Some(row.id))
    }

    /// An unchanged book from the same file, or a book with the same content.
    async fn known_lorebook(
        &self,
        source: AssetHash,
        json: &str,
    ) -> ApiResult<Option<store::Lorebook>> {
        let json = json.to_owned();
        let known = self.base().store().read(move |store| {
            let same = store
                .lorebooks()
                .from_source(source)?
                .into_iter()
                .find(|row| row.json == json);
            match same {
                Some(row) => Ok(Some(row)),
                None => store.lorebooks().find_identical(&json),
            }
        });
        Ok(known.await?)
    }
}

/// Replaces the ids of tags in filters with their names. Returns a warning if some ids have no
/// known name.
fn name_tags(book: &mut Book, names: &TagNames) -> Option<String> {
    let mut unknown = 0;
    for entry in &mut book.entries {
        let Some(filter) = entry.character_filter.as_mut() else {
            continue;
        };
        for tag in &mut filter.tags {
            if let Some(name) = names.get(tag.as_str()) {
                tag.clone_from(name);
            }
        }
        unknown += usize::from(filter.tags.iter().any(|tag| is_tag_id(tag)));
    }
    let (what, verb) = if unknown == 1 {
        ("entry", "is")
    } else {
        ("entries", "are")
    };
    (unknown > 0).then(|| {
        format!(
            "{unknown} {what} {verb} limited to tags by SillyTavern's ids, which cannot be known here, so the limit does \
             not work. Choose the tags in the editor of the lorebook, or import SillyTavern's whole folder"
        )
    })
}

/// Whether the tag is an id: a UUID, or the milliseconds at which SillyTavern created it.
fn is_tag_id(tag: &str) -> bool {
    uuid::Uuid::try_parse(tag).is_ok()
        || (tag.len() >= 12 && tag.bytes().all(|digit| digit.is_ascii_digit()))
}

/// A warning about entries that can never be used.
pub(crate) fn without_keys(book: &Book) -> Option<String> {
    let dead = book.dead_entries();
    let first = dead
        .iter()
        .take(NAMED)
        .map(|name| format!("\"{name}\""))
        .collect::<Vec<_>>()
        .join(", ");
    let more = if dead.len() > NAMED { ", ..." } else { "" };
    match dead.len() {
        0 => None,
        1 => Some(format!(
            "1 entry has no keys and is not constant, so it is never used: {first}"
        )),
        count => Some(format!(
            "{count} entries have no keys and are not constant, so they are never used: {first}{more}"
        )),
    }
}

/// Whether the value has the fields of a lorebook entry, under the names of any program.
fn is_entry(entry: &Value) -> bool {
    let Value::Object(entry) = entry else {
        return false;
    };
    let has = |names: &[&str]| names.iter().any(|name| entry.contains_key(*name));
    let keys = has(&["key", "keys", "keysecondary", "secondary_keys"]);
    let text = ["content", "entry", "text", "value"]
        .iter()
        .any(|name| entry.get(*name).is_some_and(Value::is_string));
    let other = has(&[
        "keywords",
        "keyword",
        "primary_keys",
        "primaryKeys",
        "trigger_words",
        "triggerWords",
        "trigger",
    ]) || has(&[
        "activation_keys",
        "constant",
        "uid",
        "order",
        "insertion_order",
        "comment",
        "displayName",
        "selective",
    ]);
    keys || (text && other)
}

/// Whether the JSON is a lorebook and not a card. A card has entries only inside its own book.
/// Other programs write lists of that name too, so one of the entries must look like one.
pub(crate) fn is_lorebook(file: &Value) -> bool {
    let Value::Object(root) = file else {
        return false;
    };
    let says = |name: &str, word: &str| root.get(name).and_then(Value::as_str) == Some(word);
    let foreign =
        says("kind", "memory") || says("type", "risu") || root.contains_key("lorebookVersion");
    let has_entries = match root.get("entries") {
        Some(Value::Object(entries)) => entries.is_empty() || entries.values().any(is_entry),
        Some(Value::Array(entries)) => entries.is_empty() || entries.iter().any(is_entry),
        _ => false,
    };
    let of_cards = [
        "first_mes",
        "char_greeting",
        "personality",
        "data",
        "character_book",
    ];
    let is_card = of_cards.into_iter().any(|name| root.contains_key(name));
    says("spec", "lorebook_v3") || foreign || (has_entries && !is_card)
}

/// The reason why a lorebook exceeds the size limits, if it does.
pub(crate) fn beyond_limits(bytes: &[u8]) -> Option<String> {
    match Book::read(bytes) {
        Err(error @ (BookError::TooLarge { .. } | BookError::TooComplex { .. })) => {
            Some(error.to_string())
        }
        _ => None,
    }
}

/// Parses on a blocking thread, because large books take a while.
async fn read(bytes: Vec<u8>) -> ApiResult<Result<ReadBook, BookError>> {
    let read = tokio::task::spawn_blocking(move || Book::read_with_repairs(&bytes)).await;
    read.map_err(|_| internal("a lorebook could not be read"))
}

/// A warning if entries that are always on have a depth. Without `classic` placement, system texts
/// of this kind are in the head, which stays cached, unless another one that is no system text is
/// less deep.
pub(crate) fn always_at_depth(book: &Book) -> Option<String> {
    let at_depth = || {
        let entries = book
            .entries
            .iter()
            .filter(|entry| !entry.disable && entry.constant);
        entries.filter(|entry| entry.position == Some(Position::AtDepth))
    };
    let depth = |entry: &Entry| entry.depth.unwrap_or(DEPTH);
    let spoken = |entry: &&Entry| entry.role.is_some_and(|role| role != InsertionRole::System);
    let from = at_depth().filter(spoken).map(depth).min();
    let in_head = at_depth()
        .filter(|entry| from.is_none_or(|from| depth(entry) < from))
        .count();
    let (what, they) = match in_head {
        1 => (
            "entry that is always on has a depth",
            "it is sent at its depth",
        ),
        _ => (
            "entries that are always on have a depth",
            "they are sent at their depth",
        ),
    };
    (in_head > 0).then(|| {
        format!(
            "{in_head} {what}: {they} only with the setting \
             \"Position of lore and notes\" on Classic, and otherwise at the top of the prompt, the deepest first"
        )
    })
}

/// Warnings that name the first entries left out and give the number of the others.
pub(crate) fn warnings(unread: &[Unread]) -> Vec<String> {
    let mut warnings: Vec<String> = unread.iter().take(NAMED).map(ToString::to_string).collect();
    if unread.len() > NAMED {
        warnings.push(format!(
            "{} more entries are left out",
            unread.len() - NAMED
        ));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use domain::lorebook::Book;

    use super::{TagNames, is_lorebook, name_tags, without_keys};

    fn book(json: &str) -> Book {
        Book::read(json.as_bytes()).unwrap().0
    }

    #[test]
    fn ids_of_tags_become_names() {
        let id = "0b5f4c1e-8d7a-4f0e-9a51-0d8f5f7c1a11";
        let json = format!(
            r#"{{"entries":{{"0":{{"key":["a"],"content":"x","characterFilter":{{"isExclude":true,"names":[],"tags":["{id}","sea"]}}}}}}}}"#
        );
        let mut known = book(&json);
        let names = TagNames::from([(id.to_owned(), "Knight".to_owned())]);
        assert_eq!(name_tags(&mut known, &names), None);
        let filter = known.entries[0].character_filter.clone().unwrap();
        assert_eq!(
            (filter.tags, filter.exclude),
            (vec!["Knight".to_owned(), "sea".to_owned()], true)
        );
        let mut alone = book(&json);
        assert!(
            name_tags(&mut alone, &TagNames::new())
                .unwrap()
                .starts_with("1 entry is limited to tags")
        );
    }

    #[test]
    fn entries_without_keys_are_named() {
        let dead = without_keys(&book(
            r#"{"entries":{"0":{"key":[" "],"content":"x","comment":"Mill"},"1":{"content":"Oven\nwarm"},
                "2":{"content":"y","constant":true},"3":{"content":"z","disable":true},"4":{"content":"@@activate\nw"},
                "5":{"key":["k"],"content":"v"}, "6":{"comment":"--- Part ---","content":""}}}"#,
        ));
        let expected = "2 entries have no keys and are not constant, so they are never used: \"Mill\", \"Oven\"";
        assert_eq!(dead.as_deref(), Some(expected));
        let other = book(
            r#"{"entries":[{"name":"mill","keywords":["mill"],"content":"m","priority":200}]}"#,
        );
        assert_eq!(without_keys(&other), None);
    }

    #[test]
    fn lorebooks_are_distinguished_from_cards() {
        for book in [
            r#"{"entries":{}}"#,
            r#"{"name":"Sea","description":"Of it","entries":[]}"#,
            r#"{"spec":"lorebook_v3","data":{"entries":[]}}"#,
            r#"{"kind":"memory","name":"Sea","entries":[]}"#,
            r#"{"entries":[7,{"keywords":["mill"],"content":"The mill."}]}"#,
            r#"{"entries":{"0":{"keys":["mill"]}}}"#,
            r#"{"type":"risu","ver":1,"data":[]}"#,
            r#"{"lorebookVersion":5,"entries":[]}"#,
        ] {
            assert!(is_lorebook(&serde_json::from_str(book).unwrap()), "{book}");
        }
        for other in [
            r#"{"name":"Ada","first_mes":"Hi","entries":[]}"#,
            r#"{"spec":"chara_card_v2","data":{"name":"Ada","character_book":{"entries":[]}}}"#,
            r#"{"name":"Roleplay","story_string":"x"}"#,
            r#"{"entries":7}"#,
            r#"{"entries":[{"id":1,"title":"First day","date":"2026-01-01"}]}"#,
            r#"{"entries":[{"text":"A log line","level":"info"}]}"#,
            r#"{"entries":{"a":"b"}}"#,
            "[]",
        ] {
            assert!(
                !is_lorebook(&serde_json::from_str(other).unwrap()),
                "{other}"
            );
        }
    }
}
