//! Lorebooks that come as files of their own.

use domain::LorebookId;
use domain::lorebook::{Book, BookError, Read, Skipped as Unread};
use serde_json::Value;
use store::AssetHash;

use crate::Engine;
use crate::api::{ImportReport, Imported, Skipped};
use crate::error::{Answer, internal};

/// Characters of a name.
const MAX_NAME: usize = 200;
/// Entries that warnings name.
const NAMED: usize = 8;

impl Engine {
    /// Imports `bytes` if they are a lorebook; `None` if they are none. A book of the same content is skipped, one of the same
    /// name and other content is kept beside. Without a `name` it is the book's own, else the file's.
    pub(crate) async fn import_lorebook(
        &self,
        file: &str,
        bytes: &[u8],
        name: Option<String>,
        report: &mut ImportReport,
    ) -> Answer<Option<LorebookId>> {
        let Ok(Read { book, skipped, repairs }) = read(bytes.to_vec()).await? else { return Ok(None) };
        let json = book.to_value().to_string();
        if let Some(known) = self.known_lorebook(AssetHash::of(bytes), &json).await? {
            let reason = format!("the lorebook {} is in the library already", known.name);
            report.skipped.push(Skipped { id: known.id.to_string(), file: file.to_owned(), reason });
            return Ok(Some(known.id));
        }
        let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
        let named = [name.as_deref().unwrap_or_default(), book.name(), stem, "Lorebook"];
        let name = named.into_iter().map(str::trim).find(|name| !name.is_empty()).unwrap_or_default();
        let row =
            self.add_lorebook(name.chars().take(MAX_NAME).collect(), json, Some(bytes.to_vec()), Vec::new()).await?;
        report.imported.push(Imported {
            kind: "lorebook".into(),
            id: row.id.to_string(),
            name: row.name,
            file: file.to_owned(),
            warnings: repairs.iter().map(ToString::to_string).chain(warnings(&skipped)).collect(),
        });
        Ok(Some(row.id))
    }

    /// The one that came from the very same file and was not changed since, or that says the same.
    async fn known_lorebook(&self, source: AssetHash, json: &str) -> Answer<Option<store::Lorebook>> {
        let json = json.to_owned();
        let known = self.store().read(move |store| {
            let same = store.lorebooks().from_source(source)?.into_iter().find(|row| row.json == json);
            match same {
                Some(row) => Ok(Some(row)),
                None => store.lorebooks().saying(&json),
            }
        });
        Ok(known.await?)
    }
}

/// Whether a file says of itself that it is a lorebook and no card: a card may have entries in its book alone.
pub(crate) fn is_lorebook(file: &Value) -> bool {
    let Value::Object(root) = file else { return false };
    let says = |name: &str, word: &str| root.get(name).and_then(Value::as_str) == Some(word);
    let foreign = says("kind", "memory") || says("type", "risu") || root.contains_key("lorebookVersion");
    let has_entries = matches!(root.get("entries"), Some(Value::Object(_) | Value::Array(_)));
    let of_cards = ["first_mes", "char_greeting", "personality", "data", "character_book"];
    let is_card = of_cards.into_iter().any(|name| root.contains_key(name));
    says("spec", "lorebook_v3") || foreign || (has_entries && !is_card)
}

/// Why a lorebook is not read that is one, and larger than any.
pub(crate) fn beyond_limits(bytes: &[u8]) -> Option<String> {
    match Book::read(bytes) {
        Err(error @ (BookError::TooLarge { .. } | BookError::TooComplex { .. })) => Some(error.to_string()),
        _ => None,
    }
}

/// Large books take a while.
async fn read(bytes: Vec<u8>) -> Answer<Result<Read, BookError>> {
    let read = tokio::task::spawn_blocking(move || Book::read_and_tell(&bytes)).await;
    read.map_err(|_| internal("a lorebook could not be read"))
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
    fn a_lorebook_is_told_from_a_card_with_one() {
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
