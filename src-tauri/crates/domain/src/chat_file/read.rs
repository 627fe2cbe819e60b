//! Reads chats of SillyTavern. An unreadable line loses one message, which [`Losses`] reports.

use serde_json::{Map, Value};

use super::versions::{OF_VERSION, Versions, shown, versions};
use crate::chat_file::model::{
    ChatFile, ChatFileAuthor, ChatFileError, ChatFileMessage, EVENT, MAX_FILE, MAX_MESSAGES,
    NARRATOR, NOTE, OWN,
};
use crate::lenient_json::{self, Repair};

/// Maximum length of a line, in bytes. Some contain pictures.
const MAX_LINE: usize = 16 << 20;
/// Maximum number of versions in a file. A short line can contain 500 empty ones.
const MAX_ALL_VERSIONS: usize = 300_000;
/// Maximum number of lines without a message. A file with more is not a chat.
const MAX_UNREAD: usize = 10_000;
/// Maximum length of a name, in characters.
const MAX_NAME: usize = 200;
/// Maximum size of the unused fields kept from the first line, in bytes. [`MAX_REST`] applies to a
/// message or version.
const MAX_HEADER: usize = 4 << 20;
const MAX_REST: usize = 1 << 20;

/// Keys of the first line that have their own field in [`ChatFile`].
const HEADER: [&str; 3] = ["user_name", "character_name", "create_date"];
/// Keys of a message's line that have their own field.
const LINE: [&str; 10] = [
    "name",
    "is_user",
    "is_system",
    "send_date",
    "mes",
    "swipes",
    "swipe_id",
    "swipe_info",
    "extra",
    "original_avatar",
];

/// Data that reading a chat dropped or changed. Line numbers start at 1.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Losses {
    /// Lines without a message.
    pub unread: Vec<usize>,
    /// Lines with invalid characters, which became U+FFFD.
    pub repaired: Vec<usize>,
    /// Number of versions above the limit per message.
    pub cut_versions: usize,
    /// Number of messages, versions and first lines whose unused data exceeded the limit and was
    /// dropped.
    pub oversized: usize,
}

impl Losses {
    /// Drops `rest` if it is larger than `limit` bytes.
    fn bound(&mut self, rest: &mut Map<String, Value>, limit: usize) {
        let size = |rest: &Map<String, Value>| {
            serde_json::to_string(rest).map_or(usize::MAX, |text| text.len())
        };
        if !rest.is_empty() && size(rest) > limit {
            rest.clear();
            self.oversized += 1;
        }
    }
}

impl ChatFile {
    /// Reads a chat from JSON lines, or from one array of the same objects.
    ///
    /// # Errors
    /// [`ChatFileError`] if it is no chat, or above the limits.
    pub fn from_jsonl(bytes: &[u8]) -> Result<(Self, Losses), ChatFileError> {
        if bytes.len() > MAX_FILE {
            return Err(ChatFileError::TooLarge {
                bytes: bytes.len(),
                limit: MAX_FILE,
            });
        }
        let (text, repair) = lenient_json::text(bytes);
        if text.trim().is_empty() {
            return Err(ChatFileError::Empty);
        }
        let mut reader = ChatFileReader {
            damaged: repair.is_some(),
            ..ChatFileReader::default()
        };
        match array(&text) {
            Some((all, repairs)) => {
                reader
                    .losses
                    .repaired
                    .extend(repairs.iter().map(|repair| repair.line));
                all.into_iter()
                    .zip(1..)
                    .try_for_each(|(value, place)| reader.take(object(value), place))?;
            }
            None => {
                let lines = text
                    .lines()
                    .zip(1..)
                    .filter(|(line, _)| !line.trim().is_empty());
                for (line, number) in lines {
                    let object = reader.object(line, number);
                    reader.take(object, number)?;
                }
            }
        }
        reader.finish()
    }

    /// Takes names that the first line lacks from the messages.
    fn name_from_messages(&mut self) {
        let first = |by| {
            self.messages
                .iter()
                .find(|message| message.by == by)
                .map(|message| message.name.clone())
        };
        let user = first(ChatFileAuthor::User);
        let character = first(ChatFileAuthor::Character);
        if self.user.is_empty() {
            self.user = user.unwrap_or_default();
        }
        if self.character.is_empty() {
            self.character = character.unwrap_or_default();
        }
    }
}

/// Builds a chat from its objects.
#[derive(Default)]
struct ChatFileReader {
    chat: ChatFile,
    losses: Losses,
    /// The file contains invalid bytes.
    damaged: bool,
    begun: bool,
    /// The first object is a chat header.
    headed: bool,
    versions: usize,
}

impl ChatFileReader {
    /// Reads the object in a line. Replaces only invalid bytes and unpaired surrogates, and keeps
    /// the rest of the line.
    fn object(&mut self, line: &str, number: usize) -> Option<Map<String, Value>> {
        if line.len() > MAX_LINE {
            return None;
        }
        let (value, repairs) = lenient_json::read(line.as_bytes()).ok()?;
        if !repairs.is_empty() || (self.damaged && line.contains(char::REPLACEMENT_CHARACTER)) {
            self.losses.repaired.push(number);
        }
        object(value)
    }

    fn take(
        &mut self,
        object: Option<Map<String, Value>>,
        place: usize,
    ) -> Result<(), ChatFileError> {
        let first = !std::mem::replace(&mut self.begun, true);
        match object {
            Some(header) if first && !header.contains_key("mes") => self.header(header),
            Some(line) => match message_of_line(line, &mut self.losses) {
                Some(message) => {
                    self.versions += message.versions.len();
                    self.chat.messages.push(message);
                }
                None => self.losses.unread.push(place),
            },
            None if first => return Err(ChatFileError::NoChat),
            None => self.losses.unread.push(place),
        }
        self.check()
    }

    fn header(&mut self, mut header: Map<String, Value>) {
        self.headed = HEADER
            .iter()
            .chain(&["chat_metadata"])
            .any(|key| header.contains_key(*key));
        let chat = &mut self.chat;
        chat.user = name_in(&header, "user_name");
        chat.character = name_in(&header, "character_name");
        chat.created = short(&header, "create_date");
        header.retain(|key, value| {
            let empty = key == "chat_metadata" && value.as_object().is_some_and(Map::is_empty);
            !HEADER.contains(&key.as_str()) && !empty
        });
        self.losses.bound(&mut header, MAX_HEADER);
        chat.header = header;
    }

    fn check(&self) -> Result<(), ChatFileError> {
        if self.chat.messages.len() > MAX_MESSAGES {
            return Err(ChatFileError::TooManyMessages {
                limit: MAX_MESSAGES,
            });
        }
        if self.versions > MAX_ALL_VERSIONS {
            return Err(ChatFileError::TooManyVersions {
                limit: MAX_ALL_VERSIONS,
            });
        }
        if self.losses.unread.len() > MAX_UNREAD {
            Err(ChatFileError::NoChat)
        } else {
            Ok(())
        }
    }

    fn finish(mut self) -> Result<(ChatFile, Losses), ChatFileError> {
        if self.chat.messages.is_empty() {
            let empty = self.headed && self.losses.unread.is_empty();
            return Err(if empty {
                ChatFileError::Empty
            } else {
                ChatFileError::NoChat
            });
        }
        self.chat.name_from_messages();
        Ok((self.chat, self.losses))
    }
}

/// Reads the values of a file that is one array.
fn array(text: &str) -> Option<(Vec<Value>, Vec<Repair>)> {
    if !text.trim_start().starts_with('[') {
        return None;
    }
    match lenient_json::read(text.as_bytes()).ok()? {
        (Value::Array(all), repairs) => Some((all, repairs)),
        _ => None,
    }
}

fn object(value: Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(object) => Some(object),
        _ => None,
    }
}

/// SillyTavern no longer reads the names and writes the word `unused` instead.
fn name_in(header: &Map<String, Value>, key: &str) -> String {
    let name = short(header, key);
    if name == "unused" {
        String::new()
    } else {
        name
    }
}

fn message_of_line(mut line: Map<String, Value>, losses: &mut Losses) -> Option<ChatFileMessage> {
    let text = line.get("mes")?.as_str()?.to_owned();
    let kind = kind(&line);
    let apart = is(&line, "is_system");
    let event = line
        .get("extra")
        .and_then(|extra| extra.get(OWN))
        .is_some_and(|own| own == EVENT);
    // Only system messages have a kind. A message that the user hid keeps its author.
    let note = apart && !matches!(kind.as_str(), "" | NARRATOR);
    let by = match kind.as_str() {
        NARRATOR => ChatFileAuthor::Narrator,
        _ if note => ChatFileAuthor::Narrator,
        _ if is(&line, "is_user") => ChatFileAuthor::User,
        _ => ChatFileAuthor::Character,
    };
    let Versions {
        mut all,
        selected,
        cut,
    } = versions(&line, shown(&text, &line));
    losses.cut_versions += cut;
    let told = match (by, note) {
        (ChatFileAuthor::Narrator, false) => NARRATOR,
        (_, true) => NOTE,
        _ => "",
    };
    for version in &mut all {
        without_kind(&mut version.unused_fields, told, event);
        losses.bound(&mut version.unused_fields, MAX_REST);
    }
    let name = short(&line, "name");
    let avatar = short(&line, "original_avatar");
    line.retain(|key, _| !LINE.contains(&key.as_str()) && !OF_VERSION.contains(&key.as_str()));
    losses.bound(&mut line, MAX_REST);
    Some(ChatFileMessage {
        name,
        avatar,
        by,
        hidden: apart && !note && !event,
        note: note && !event,
        event,
        pictures: Vec::new(),
        versions: all,
        selected,
        unused_fields: line,
    })
}

fn kind(line: &Map<String, Value>) -> String {
    let kind = line
        .get("extra")
        .and_then(|extra| extra.get("type"))
        .and_then(Value::as_str);
    kind.unwrap_or_default().to_owned()
}

/// Removes `extra.type` if it only repeats the kind of the message.
fn without_kind(rest: &mut Map<String, Value>, told: &str, event: bool) {
    let Some(Value::Object(extra)) = rest.get_mut("extra") else {
        return;
    };
    if !told.is_empty() && extra.get("type").and_then(Value::as_str) == Some(told) {
        extra.shift_remove("type");
    }
    if event {
        extra.shift_remove(OWN);
    }
    if extra.is_empty() {
        rest.shift_remove("extra");
    }
}

fn is(line: &Map<String, Value>, key: &str) -> bool {
    line.get(key).and_then(Value::as_bool).unwrap_or_default()
}

fn short(object: &Map<String, Value>, key: &str) -> String {
    object
        .get(key)
        .and_then(Value::as_str)
        .unwrap_or_default()
        .chars()
        .take(MAX_NAME)
        .collect()
}

#[cfg(test)]
mod tests;
