//! Imports lorebook files.

use domain::LorebookId;
use domain::lorebook::{Book, BookError, Entry, InsertionRole, Position, ReadBook, Skipped as Unread};
use serde_json::Value;
use store::AssetHash;

use crate::api::{ImportReport, Imported, Skipped};
use crate::base::error::{ApiResult, internal};
use crate::import::handle::Imports;

/// Maximum length of a name, in characters.
const MAX_NAME: usize = 200;
/// Depth of entries that set none.
const DEPTH: i64 = 4;
/// Number of skipped entries that warnings list.
const NAMED: usize = 8;

impl Imports {
    /// Imports `bytes` if they are a lorebook; returns `None` otherwise. Skips a book with known content. A book with
    /// a known name but other content is added under a new name. The name is `name`, or else the book's own, or else
    /// the file's.
    pub(crate) async fn import_lorebook(
        &self,
        file: &str,
        bytes: &[u8],
        name: Option<String>,
        report: &mut ImportReport,
    ) -> ApiResult<Option<LorebookId>> {
        let Ok(ReadBook { book, skipped, repairs }) = read(bytes.to_vec()).await? else { return Ok(None) };
        let (json, at_depth) = (book.to_value().to_string(), always_at_depth(&book));
        if let Some(known) = self.known_lorebook(AssetHash::of(bytes), &json).await? {
            let reason = format!("the lorebook {} is already in the library", known.name);
            report.skipped.push(Skipped { id: known.id.to_string(), file: file.to_owned(), reason });
            return Ok(Some(known.id));
        }
        let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
        let named = [name.as_deref().unwrap_or_default(), book.name(), stem, "Lorebook"];
        let name = named.into_iter().map(str::trim).find(|name| !name.is_empty()).unwrap_or_default();
        let row = self
            .library()
            .add_lorebook(name.chars().take(MAX_NAME).collect(), json, Some(bytes.to_vec()), Vec::new())
            .await?;
        report.imported.push(Imported {
            kind: "lorebook".into(),
            id: row.id.to_string(),
            name: row.name,
            file: file.to_owned(),
            warnings: repairs.iter().map(ToString::to_string).chain(warnings(&skipped)).chain(at_depth).collect(),
        });
        Ok(Some(row.id))
    }

    /// An unchanged book from the same file, or a book with the same content.
    async fn known_lorebook(&self, source: AssetHash, json: &str) -> ApiResult<Option<store::Lorebook>> {
        let json = json.to_owned();
        let known = self.base().store().read(move |store| {
            let same = store.lorebooks().from_source(source)?.into_iter().find(|row| row.json == json);
            match same {
                Some(row) => Ok(Some(row)),
                None => store.lorebooks().find_identical(&json),
            }
        });
        Ok(known.await?)
    }
}

/// Whether the JSON is a lorebook and not a card. A card has entries only inside its own book.
pub(crate) fn is_lorebook(file: &Value) -> bool {
    let Value::Object(root) = file else { return false };
    let says = |name: &str, word: &str| root.get(name).and_then(Value::as_str) == Some(word);
    let foreign = says("kind", "memory") || says("type", "risu") || root.contains_key("lorebookVersion");
    let has_entries = matches!(root.get("entries"), Some(Value::Object(_) | Value::Array(_)));
    let of_cards = ["first_mes", "char_greeting", "personality", "data", "character_book"];
    let is_card = of_cards.into_iter().any(|name| root.contains_key(name));
    says("spec", "lorebook_v3") || foreign || (has_entries && !is_card)
}

/// The reason why a lorebook exceeds the size limits, if it does.
pub(crate) fn beyond_limits(bytes: &[u8]) -> Option<String> {
    match Book::read(bytes) {
        Err(error @ (BookError::TooLarge { .. } | BookError::TooComplex { .. })) => Some(error.to_string()),
        _ => None,
    }
}

/// Parses on a blocking thread, because large books take a while.
async fn read(bytes: Vec<u8>) -> ApiResult<Result<ReadBook, BookError>> {
    let read = tokio::task::spawn_blocking(move || Book::read_with_repairs(&bytes)).await;
    read.map_err(|_| internal("a lorebook could not be read"))
}

/// A warning if entries that are always on have a depth. Without `classic` placement, system texts of this kind are
/// in the head, which stays cached, unless another one that is no system text is less deep.
fn always_at_depth(book: &Book) -> Option<String> {
    let at_depth = || {
        let entries = book.entries.iter().filter(|entry| !entry.disable && entry.constant);
        entries.filter(|entry| entry.position == Some(Position::AtDepth))
    };
    let depth = |entry: &Entry| entry.depth.unwrap_or(DEPTH);
    let spoken = |entry: &&Entry| entry.role.is_some_and(|role| role != InsertionRole::System);
    let from = at_depth().filter(spoken).map(depth).min();
    let in_head = at_depth().filter(|entry| from.is_none_or(|from| depth(entry) < from)).count();
    (in_head > 0).then(|| {
        format!(
            "{in_head} entries that are always on have a depth: they are sent at their depth only with the setting \
             \"Position of lore and notes\" on Classic, and otherwise at the top of the prompt, the deepest first"
        )
    })
}

/// Warnings that name the first entries left out and give the number of the others.
pub(crate) fn warnings(unread: &[Unread]) -> Vec<String> {
    let mut warnings: Vec<String> = unread.iter().take(NAMED).map(ToString::to_string).collect();
    if unread.len() > NAMED {
        warnings.push(format!("{} more entries are left out", unread.len() - NAMED));
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::is_lorebook;

    #[test]
    fn lorebooks_are_distinguished_from_cards() {
        for book in [
            r#"{"entries":{}}"#,
            r#"{"name":"Sea","description":"Of it","entries":[]}"#,
            r#"{"spec":"lorebook_v3","data":{"entries":[]}}"#,
            r#"{"kind":"memory","name":"Sea","entries":[]}"#,
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
            "[]",
        ] {
            assert!(!is_lorebook(&serde_json::from_str(other).unwrap()), "{other}");
        }
    }
}
