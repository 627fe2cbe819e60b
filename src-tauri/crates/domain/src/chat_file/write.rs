//! Chats for SillyTavern, and for people.

use serde_json::{Map, Value, json};

use super::{By, ChatFile, NARRATOR, NOTE, Said, Version};

impl ChatFile {
    /// As SillyTavern keeps a chat.
    pub fn to_jsonl(&self) -> String {
        let header = json!({
            "user_name": self.user,
            "character_name": self.character,
            "create_date": self.created,
            "chat_metadata": {},
        });
        let lines = std::iter::once(header).chain(self.messages.iter().map(line));
        lines.map(|line| line.to_string()).collect::<Vec<_>>().join("\n")
    }

    /// The words alone, as they are shown.
    pub fn to_text(&self) -> String {
        let said = |said: &Said| match said.name.as_str() {
            "" => said.shown().text.clone(),
            name => format!("{name}: {}", said.shown().text),
        };
        paragraphs(self.seen().map(said))
    }

    /// With who speaks in bold above the words, which are Markdown already.
    pub fn to_markdown(&self, title: &str) -> String {
        let said = |said: &Said| match said.name.as_str() {
            "" => said.shown().text.clone(),
            name => format!("**{}**\n\n{}", literal(name), said.shown().text),
        };
        paragraphs(std::iter::once(format!("# {}", literal(title))).chain(self.seen().map(said)))
    }

    fn seen(&self) -> impl Iterator<Item = &Said> {
        self.messages.iter().filter(|said| !said.note)
    }
}

fn paragraphs(texts: impl Iterator<Item = String>) -> String {
    texts.map(|text| format!("{}\n", text.trim_end())).collect::<Vec<_>>().join("\n")
}

/// On one line, and nothing in it is markup.
fn literal(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    for letter in text.split_whitespace().collect::<Vec<_>>().join(" ").chars() {
        if matches!(letter, '\\' | '*' | '_' | '`' | '[' | ']' | '<' | '>' | '#' | '~' | '|') {
            written.push('\\');
        }
        written.push(letter);
    }
    written
}

fn line(said: &Said) -> Value {
    let shown = said.shown();
    let mut line = Map::from_iter([
        ("name".to_owned(), json!(said.name)),
        ("is_user".to_owned(), json!(said.by == By::User)),
        ("is_system".to_owned(), json!(said.hidden || said.note)),
        ("send_date".to_owned(), json!(shown.sent)),
        ("mes".to_owned(), json!(shown.text)),
        ("extra".to_owned(), extra(said, shown)),
    ]);
    if !said.avatar.is_empty() {
        line.insert("original_avatar".to_owned(), json!(said.avatar));
    }
    // People's words have no versions there, unless there are several.
    if said.by != By::User || said.versions.len() > 1 {
        let texts: Vec<&str> = said.versions.iter().map(|version| version.text.as_str()).collect();
        let about = |version: &Version| json!({"send_date": version.sent, "extra": extra(said, version)});
        line.insert("swipe_id".to_owned(), json!(said.selected.min(said.versions.len() - 1)));
        line.insert("swipes".to_owned(), json!(texts));
        line.insert("swipe_info".to_owned(), said.versions.iter().map(about).collect());
    }
    Value::Object(line)
}

fn extra(said: &Said, version: &Version) -> Value {
    let mut extra = Map::new();
    if said.note {
        extra.insert("type".to_owned(), NOTE.into());
    } else if said.by == By::Narrator {
        extra.insert("type".to_owned(), NARRATOR.into());
    }
    for (key, text) in [("model", &version.model), ("reasoning", &version.thoughts)] {
        if !text.is_empty() {
            extra.insert(key.to_owned(), text.as_str().into());
        }
    }
    Value::Object(extra)
}
