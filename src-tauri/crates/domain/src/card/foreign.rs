//! Converts JSON characters of Agnai, JanitorAI and Character.AI, whose fields differ in meaning
//! from card fields, to V2 cards. Fields without a counterpart stay in `extensions`, under the
//! app's name.

use serde_json::{Map, Value, json};

use super::Warning;
use crate::lorebook::Book;

type CardFields = Map<String, Value>;

/// Converts a character of a known app to a card and returns any other object unchanged.
pub(super) fn to_card(root: CardFields, warnings: &mut Vec<Warning>) -> CardFields {
    if root.contains_key("spec") || root.contains_key("data") {
        return root;
    }
    let (program, card) = if is_agnai(&root) {
        ("Agnai", agnai(root))
    } else if is_janitor(&root) {
        ("JanitorAI", janitor(root))
    } else {
        match character_ai(root) {
            Ok(card) => ("Character.AI", card),
            Err(root) => return root,
        }
    };
    warnings.push(Warning::Converted { program });
    card
}

/// Moves fields from the source to the card data. `source` finally holds the fields without a
/// counterpart.
struct Converting {
    source: CardFields,
    data: CardFields,
}

impl Converting {
    fn of(source: CardFields) -> Self {
        Self {
            source,
            data: CardFields::new(),
        }
    }

    /// Moves the first non-empty field of `theirs` to `ours`.
    fn take(&mut self, ours: &str, theirs: &[&str]) {
        let says = |value: &Value| !matches!(value, Value::Null) && value.as_str() != Some("");
        let found = theirs
            .iter()
            .find(|name| self.source.get(**name).is_some_and(says));
        if let Some(value) = found.and_then(|name| self.source.shift_remove(*name)) {
            self.data.insert(ours.to_owned(), value);
        }
    }

    fn text(&mut self, field: &str) -> String {
        match self.source.shift_remove(field) {
            Some(Value::String(text)) => text,
            _ => String::new(),
        }
    }

    fn put(&mut self, ours: &str, text: String) {
        self.data.insert(ours.to_owned(), text.into());
    }

    /// Takes the avatar if it is a `data:` URI. Remote pictures are never fetched.
    fn take_picture(&mut self) {
        let Some(uri) = self.source.get("avatar").and_then(Value::as_str) else {
            return;
        };
        let Some(kind) = uri
            .strip_prefix("data:image/")
            .and_then(|rest| rest.split(';').next())
        else {
            return;
        };
        let icon = json!([{ "type": "icon", "name": "main", "uri": uri, "ext": kind }]);
        self.data.insert("assets".to_owned(), icon);
        self.source.shift_remove("avatar");
    }

    fn into_card(mut self, program: &str) -> CardFields {
        let extensions = self.data.entry("extensions").or_insert(Value::Null);
        if !extensions.is_object() {
            *extensions = Value::Object(CardFields::new());
        }
        extensions[program] = Value::Object(self.source);
        let root = [
            ("spec", "chara_card_v2".into()),
            ("spec_version", "2.0".into()),
            ("data", Value::Object(self.data)),
        ];
        root.into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }
}

fn is_agnai(root: &CardFields) -> bool {
    let says_so = root.get("kind").and_then(Value::as_str) == Some("character");
    let persona = root
        .get("persona")
        .is_some_and(|persona| persona.get("attributes").is_some());
    says_so
        || (persona
            && ["greeting", "sampleChat"]
                .iter()
                .any(|field| root.contains_key(*field)))
}

/// Agnai's description is a note for users. The persona describes the character.
fn agnai(root: CardFields) -> CardFields {
    let mut card = Converting::of(root);
    card.take("name", &["name"]);
    let persona = card
        .source
        .shift_remove("persona")
        .map(|persona| persona_text(&persona));
    card.put("description", persona.unwrap_or_default());
    card.take("scenario", &["scenario"]);
    card.take("first_mes", &["greeting"]);
    card.take("mes_example", &["sampleChat"]);
    card.take("creator_notes", &["description"]);
    card.take("system_prompt", &["systemPrompt"]);
    card.take("post_history_instructions", &["postHistoryInstructions"]);
    card.take("alternate_greetings", &["alternateGreetings"]);
    card.take("tags", &["tags"]);
    card.take("creator", &["creator"]);
    card.take("character_version", &["characterVersion"]);
    card.take("extensions", &["extensions"]);
    let book = card
        .source
        .get("characterBook")
        .filter(|book| book.is_object());
    if let Some(Ok((book, _))) = book.map(|book| Book::from_value(as_memory(book))) {
        card.data.insert(
            "character_book".to_owned(),
            Value::Object(book.to_character_book()),
        );
        card.source.shift_remove("characterBook");
    }
    put_depth_prompt(&mut card);
    card.take_picture();
    card.into_card("agnai")
}

fn put_depth_prompt(card: &mut Converting) {
    let insert = card.source.get("insert");
    let has_prompt = |insert: &&Value| {
        insert["prompt"]
            .as_str()
            .is_some_and(|text| !text.is_empty())
    };
    if let Some(insert) = insert.filter(has_prompt) {
        let depth =
            json!({ "prompt": insert["prompt"], "depth": insert["depth"], "role": "system" });
        let extensions = card.data.entry("extensions").or_insert_with(|| json!({}));
        if extensions.is_object() {
            extensions["depth_prompt"] = depth;
        }
    }
}

/// Sets the kind of an embedded lorebook, because some characters omit it.
fn as_memory(book: &Value) -> Value {
    let mut book = book.clone();
    book["kind"] = "memory".into();
    book
}

/// Agnai stores a persona as text, or as named attributes. Each attribute becomes a line.
fn persona_text(persona: &Value) -> String {
    let Some(attributes) = persona.get("attributes").and_then(Value::as_object) else {
        return persona.as_str().unwrap_or_default().to_owned();
    };
    let is_text = persona.get("kind").and_then(Value::as_str) == Some("text");
    let texts = |value: &Value| match value {
        Value::Array(items) => items
            .iter()
            .filter_map(Value::as_str)
            .collect::<Vec<_>>()
            .join(", "),
        other => other.as_str().unwrap_or_default().to_owned(),
    };
    let line = |(name, value): (&String, &Value)| {
        if is_text || attributes.len() == 1 && name == "text" {
            texts(value)
        } else {
            format!("{name}: {}", texts(value))
        }
    };
    attributes
        .iter()
        .map(line)
        .filter(|line| !line.trim().is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}

fn is_janitor(root: &CardFields) -> bool {
    let has = |field: &str| root.contains_key(field);
    (has("first_message") || has("first_messages"))
        && (has("example_dialogs") || has("personality"))
        && !has("first_mes")
}

/// JanitorAI's description is the HTML page of the character. The personality describes the
/// character.
fn janitor(root: CardFields) -> CardFields {
    let mut card = Converting::of(root);
    card.take("name", &["name"]);
    card.take("nickname", &["chat_name"]);
    card.take("personality", &["personality"]);
    card.take("scenario", &["scenario"]);
    card.take("first_mes", &["first_message"]);
    if let Some(Value::Array(greetings)) = card.source.shift_remove("first_messages") {
        let mut greetings = greetings.into_iter().filter(Value::is_string);
        if !card.data.contains_key("first_mes") {
            card.data.extend(
                greetings
                    .next()
                    .map(|first| ("first_mes".to_owned(), first)),
            );
        }
        let first = card.data.get("first_mes").cloned();
        let others = greetings
            .filter(|greeting| Some(greeting) != first.as_ref())
            .collect();
        card.data
            .insert("alternate_greetings".to_owned(), Value::Array(others));
    }
    card.take("mes_example", &["example_dialogs"]);
    card.take("creator_notes", &["description"]);
    card.take("tags", &["custom_tags"]);
    card.take("creator", &["creator_name"]);
    card.take_picture();
    card.into_card("janitorai")
}

/// Returns the character from the site's response, wrapped or not. `Err` returns any other object
/// unchanged.
fn character_ai(mut root: CardFields) -> Result<CardFields, CardFields> {
    for place in ["character", "char"] {
        if root
            .get(place)
            .and_then(Value::as_object)
            .is_some_and(is_character_ai)
            && let Some(Value::Object(inner)) = root.shift_remove(place)
        {
            return character_ai(inner);
        }
    }
    if !is_character_ai(&root) {
        return Err(root);
    }
    let mut card = Converting::of(root);
    card.take(
        "name",
        &["participant__name", "name", "participant__user__username"],
    );
    let parts = [card.text("description"), card.text("definition")];
    card.put(
        "description",
        parts
            .into_iter()
            .filter(|part| !part.trim().is_empty())
            .collect::<Vec<_>>()
            .join("\n\n"),
    );
    card.take("first_mes", &["greeting"]);
    card.take("creator_notes", &["title"]);
    card.take("creator", &["user__username"]);
    card.take_picture();
    Ok(card.into_card("character_ai"))
}

fn is_character_ai(root: &CardFields) -> bool {
    let has = |field: &str| root.contains_key(field);
    let own = [
        "participant__name",
        "external_id",
        "definition",
        "user__username",
    ];
    has("greeting") && !has("first_mes") && own.into_iter().filter(|field| has(field)).count() >= 1
}
