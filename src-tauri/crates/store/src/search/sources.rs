//! The searchable texts of cards and lorebooks, which are stored as JSON.

use std::collections::HashSet;

use domain::card::Card;
use domain::lorebook::{Book, Entry};
use serde_json::Value;

/// Longest indexed text of a card or entry, in bytes. A longer text is found by its beginning.
const MAX_INDEXED: usize = 1 << 20;

/// A field of a card, and one of its texts.
pub(crate) type CardText = (&'static str, String);

/// The texts of a card, without its name; empty if the card cannot be read. The fields have the
/// names of the API.
pub(crate) fn card_texts(json: &str) -> Vec<CardText> {
    let Ok((card, _)) = Card::from_json(json.as_bytes()) else {
        return Vec::new();
    };
    let tags = card.tags().join(", ");
    let mut texts: Vec<(&'static str, &str)> = vec![
        ("nickname", card.nickname().unwrap_or_default()),
        ("tags", &tags),
        ("description", card.description()),
        ("personality", card.personality()),
        ("scenario", card.scenario()),
        ("firstMessage", card.first_mes()),
        ("messageExamples", card.mes_example()),
        ("systemPrompt", card.system_prompt()),
        ("postHistoryInstructions", card.post_history_instructions()),
        ("depthPrompt", depth_prompt(&card)),
        ("creatorNotes", card.creator_notes()),
        ("creator", card.creator()),
    ];
    texts.extend(
        card.alternate_greetings()
            .into_iter()
            .map(|text| ("alternateGreetings", text)),
    );
    texts.extend(
        card.group_only_greetings()
            .into_iter()
            .map(|text| ("groupOnlyGreetings", text)),
    );
    texts.extend(
        card.creator_notes_multilingual()
            .into_iter()
            .map(|(_, text)| ("creatorNotes", text)),
    );
    let written = texts
        .into_iter()
        .filter(|(_, text)| !text.trim().is_empty());
    written
        .map(|(field, text)| (field, text.to_owned()))
        .collect()
}

fn depth_prompt(card: &Card) -> &str {
    let note = card.extensions().and_then(|all| all.get("depth_prompt"));
    note.and_then(|note| note.get("prompt"))
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// All texts of a card, as the index contains them.
pub(crate) fn card(json: &str) -> String {
    let mut all = String::new();
    for (_, text) in card_texts(json) {
        let separator = if all.is_empty() { "" } else { "\n" };
        all.push_str(separator);
        all.push_str(start(&text, MAX_INDEXED.saturating_sub(all.len())));
    }
    all
}

/// The start of a text, at most `most` bytes.
fn start(text: &str, most: usize) -> &str {
    &text[..text.floor_char_boundary(most)]
}

/// The entries of a lorebook, or of the lorebook in a card, as a JSON array of `[id, title, text]`,
/// with each id once.
pub(crate) fn entries(json: &str, of_card: bool) -> String {
    let book = if of_card {
        card_book(json)
    } else {
        lorebook(json)
    };
    let Some(book) = book else {
        return "[]".to_owned();
    };
    let mut known = HashSet::new();
    let entries = book
        .entry_ids()
        .into_iter()
        .zip(&book.entries)
        .filter(|(id, _)| known.insert(id.clone()));
    let rows = entries.map(|(id, entry)| row(id, entry));
    Value::from(rows.collect::<Vec<_>>()).to_string()
}

fn row(id: String, entry: &Entry) -> Value {
    let title = if entry.comment.is_empty() {
        &entry.name
    } else {
        &entry.comment
    };
    let keys: Vec<&str> = entry
        .keys
        .iter()
        .chain(&entry.secondary_keys)
        .map(String::as_str)
        .collect();
    let title = if title.is_empty() {
        keys.join(", ")
    } else {
        title.clone()
    };
    let texts = [keys.join(", "), entry.content.clone()];
    let text = texts
        .into_iter()
        .filter(|text| !text.trim().is_empty())
        .collect::<Vec<_>>()
        .join("\n");
    Value::from(vec![
        id,
        start(&title, MAX_INDEXED).to_owned(),
        start(&text, MAX_INDEXED).to_owned(),
    ])
}

fn lorebook(json: &str) -> Option<Book> {
    Book::from_value(serde_json::from_str(json).ok()?)
        .ok()
        .map(|(book, _)| book)
}

fn card_book(json: &str) -> Option<Book> {
    // Most cards have no book, and reading a whole card takes long.
    if !json.contains("\"character_book\"") {
        return None;
    }
    let (card, _) = Card::from_json(json.as_bytes()).ok()?;
    Some(Book::from_character_book(card.character_book()?).0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CARD: &str = r#"{"spec":"chara_card_v3","spec_version":"3.0","data":{"name":"Mira","description":"Keeps lamps.",
        "alternate_greetings":["Hello.","Hi."],"extensions":{"depth_prompt":{"prompt":"Stay calm.","depth":4}},
        "character_book":{"entries":[{"id":3,"keys":["harbour","quay"],"content":"It is foggy.","enabled":true}]}}}"#;

    #[test]
    fn reads_the_texts_of_cards_and_books() {
        assert_eq!(card(CARD), "Keeps lamps.\nStay calm.\nHello.\nHi.");
        assert_eq!(
            entries(CARD, true),
            r#"[["3","harbour, quay","harbour, quay\nIt is foggy."]]"#
        );
        let book = r#"{"entries":{"0":{"uid":0,"comment":"The mill","key":["mill"],"content":"It burnt."},
            "1":{"uid":0,"content":"Same uid."}}}"#;
        assert_eq!(
            entries(book, false),
            r##"[["0","The mill","mill\nIt burnt."],["0#2","","Same uid."]]"##
        );
    }

    #[test]
    fn huge_texts_are_indexed_by_their_beginning() {
        for long in ["word ".repeat(1 << 20), "\u{9053}".repeat(1 << 20)] {
            let made = serde_json::json!({ "name": "Wolf", "description": long }).to_string();
            let text = card(&made);
            assert!(
                text.len() <= MAX_INDEXED
                    && text.len() > MAX_INDEXED - 4
                    && long.starts_with(&text)
            );
        }
    }

    #[test]
    fn unreadable_sources_have_no_texts() {
        for json in [
            "",
            "{",
            "[]",
            "null",
            r#"{"entries":7}"#,
            r#"{"data":{"character_book":[]}}"#,
        ] {
            assert_eq!(
                (card(json).as_str(), entries(json, true).as_str()),
                ("", "[]"),
                "{json}"
            );
            assert_eq!(entries(json, false), "[]", "{json}");
        }
    }
}
