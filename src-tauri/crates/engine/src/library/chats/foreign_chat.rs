//! Keeps chat data of other apps that this app does not use, and writes it back on export. The
//! author's note and macro variables are in use, so the export writes their current values.

use std::collections::{BTreeMap, HashMap};

use domain::chat_file::{ChatFile, ChatFileMessage, MessageVersion};
use domain::settings::{Owner, setting};
use domain::{ChatId, MessageId, SwipeId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use store::{ForeignChat, ReadTransaction, StoreError, WriteTransaction};

use crate::api::SettingOwner;
use crate::base::clock::{Clock, rfc3339};
use crate::base::records::foreign_date;
use crate::library::chats::Chats;

const METADATA: &str = "chat_metadata";
const CREATED: &str = "create_date";
const SENT: &str = "send_date";
/// Settings of the author's note, and SillyTavern's keys for them.
const NOTE: [(&str, &str); 5] = [
    ("author_note", "note_prompt"),
    ("author_note_depth", "note_depth"),
    ("author_note_every_messages", "note_interval"),
    (ROLE, "note_role"),
    (PLACE, "note_position"),
];
const ROLE: &str = "author_note_role";
const PLACE: &str = "author_note_place";
/// Roles of the author's note, indexed by SillyTavern's numbers.
const ROLES: [&str; 3] = ["system", "user", "character"];
/// Places of the author's note, indexed by SillyTavern's numbers.
const PLACES: [&str; 3] = ["after-character", "in-chat", "before-character"];
/// Limits of the variables that macros can use. Variables above them are only preserved.
const MAX_VARIABLES: usize = 1_000;
const MAX_VARIABLE: usize = 64 << 10;

/// Preserved data of a message, excluding its versions.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct KeptMessage {
    /// A note without a speaker, from the app or from the user.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    note: bool,
    #[serde(skip_serializing_if = "String::is_empty")]
    avatar: String,
    #[serde(skip_serializing_if = "Map::is_empty")]
    rest: Map<String, Value>,
}

/// Preserved data of a chat, for its export.
#[derive(Default)]
pub(crate) struct KeptChat {
    chat: Option<ForeignChat>,
    messages: HashMap<MessageId, String>,
    swipes: HashMap<SwipeId, String>,
    /// Settings of this chat, as JSON by key.
    settings: BTreeMap<String, String>,
}

/// Stores the preserved data of a chat. `user` is the user's name in the chat if the chat has no
/// persona.
pub(crate) fn keep_chat(
    store: &mut WriteTransaction<'_>,
    id: ChatId,
    file: &ChatFile,
    user: &str,
) -> Result<(), StoreError> {
    let mut header = file.header.clone();
    if !file.created.is_empty() {
        header.insert(CREATED.to_owned(), json!(file.created));
    }
    if header.is_empty() && user.is_empty() {
        return Ok(());
    }
    let json = Value::Object(header).to_string();
    store.foreign_mut().set_chat(
        id,
        &ForeignChat {
            user_name: user.to_owned(),
            json,
        },
    )
}

/// Serializes the preserved data of a message; `None` if there is none.
pub(crate) fn of_message(said: &ChatFileMessage) -> Option<String> {
    let kept = KeptMessage {
        note: said.note,
        avatar: said.avatar.clone(),
        rest: said.unused_fields.clone(),
    };
    let nothing = !kept.note && kept.avatar.is_empty() && kept.rest.is_empty();
    if nothing {
        None
    } else {
        serde_json::to_string(&kept).ok()
    }
}

/// Serializes the preserved data of a version whose stored date is `created`; `None` if there is
/// none.
pub(crate) fn of_version(version: &MessageVersion, created: Timestamp) -> Option<String> {
    let mut rest = version.unused_fields.clone();
    if !version.date.is_empty() && version.date != rfc3339(created) {
        rest.entry(SENT).or_insert_with(|| json!(version.date));
    }
    if rest.is_empty() {
        None
    } else {
        Some(Value::Object(rest).to_string())
    }
}

/// Variables of SillyTavern's macros, from the header of a chat.
pub(crate) fn variables(header: &Map<String, Value>) -> BTreeMap<String, String> {
    let all = header
        .get(METADATA)
        .and_then(|about| about.get("variables"))
        .and_then(Value::as_object);
    let fits = |(name, value): &(String, String)| name.len() + value.len() <= MAX_VARIABLE;
    let all = all
        .into_iter()
        .flatten()
        .map(|(name, value)| (name.clone(), variable(value)));
    all.filter(fits).take(MAX_VARIABLES).collect()
}

/// Converts a SillyTavern role number to a setting value.
pub(crate) fn role_word(role: Option<u64>) -> Option<&'static str> {
    word(ROLE, role)
}

/// Converts a SillyTavern number for the place of a note to a setting value.
pub(crate) fn place_word(place: Option<u64>) -> Option<&'static str> {
    word(PLACE, place)
}

/// The values of a setting that SillyTavern stores as a number.
fn words_of(setting: &str) -> Option<[&'static str; 3]> {
    match setting {
        ROLE => Some(ROLES),
        PLACE => Some(PLACES),
        _ => None,
    }
}

fn word(setting: &str, number: Option<u64>) -> Option<&'static str> {
    words_of(setting)?
        .get(usize::try_from(number?).ok()?)
        .copied()
}

fn variable(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

fn note(header: &Map<String, Value>) -> Option<&Map<String, Value>> {
    let about = header.get(METADATA)?.as_object()?;
    let says = about
        .get("note_prompt")
        .and_then(Value::as_str)
        .is_some_and(|text| !text.trim().is_empty());
    says.then_some(about)
}

impl Chats {
    /// Applies the author's note in an imported header to the chat. Returns warnings.
    pub(crate) async fn import_note(&self, id: ChatId, header: &Map<String, Value>) -> Vec<String> {
        let Some(about) = note(header) else {
            return Vec::new();
        };
        self.import_note_settings(SettingOwner::Chat { id }, about)
            .await
    }

    /// Sets the text, depth, interval, role and place of the author's note from SillyTavern's
    /// fields in `about`. Returns warnings.
    pub(crate) async fn import_note_settings(
        &self,
        owner: SettingOwner,
        about: &Map<String, Value>,
    ) -> Vec<String> {
        let mut warnings = Vec::new();
        for (setting, key) in NOTE {
            let value = match about.get(key) {
                Some(Value::String(text)) => text.clone(),
                Some(Value::Number(number)) if words_of(setting).is_some() => {
                    match word(setting, number.as_u64()) {
                        Some(word) => word.to_owned(),
                        None => continue,
                    }
                }
                Some(Value::Number(number)) => number.to_string(),
                _ => continue,
            };
            if let Err(error) = self
                .config()
                .setting_edits
                .set_setting_in_words(owner.clone(), setting.to_owned(), value)
                .await
            {
                warnings.push(format!("{key} of the author's note is left out: {error}"));
            }
        }
        warnings
    }

    /// Parses a date in a foreign file.
    pub(crate) fn foreign_date(&self, text: &str) -> Option<Timestamp> {
        foreign_date::read(text, self.base().clock())
    }
}

impl KeptChat {
    pub(crate) fn read(store: &ReadTransaction<'_>, id: ChatId) -> Result<Self, StoreError> {
        let foreign = store.foreign();
        Ok(Self {
            chat: foreign.chat(id)?,
            messages: foreign.messages(id)?,
            swipes: foreign.swipes(id)?,
            settings: store.scoped_settings().of(Owner::Chat(id))?,
        })
    }

    /// Adds the preserved data and the current macro variables to the export of a chat.
    pub(crate) fn complete_chat(
        &self,
        file: &mut ChatFile,
        variables: &BTreeMap<String, String>,
        clock: &Clock,
    ) {
        let mut header = self
            .chat
            .as_ref()
            .map(|chat| object(&chat.json))
            .unwrap_or_default();
        if let Some(Value::String(date)) = header.shift_remove(CREATED)
            && (foreign_date::read(&date, clock).map(rfc3339).as_ref() == Some(&file.created))
        {
            file.created = date;
        }
        let mut about = match header.shift_remove(METADATA) {
            Some(Value::Object(about)) => about,
            _ => Map::new(),
        };
        let known = object_of(about.get("variables"));
        if let Some(now) = variables_now(known, variables) {
            about.insert("variables".to_owned(), now);
        }
        self.put_note(&mut about);
        header.insert(METADATA.to_owned(), Value::Object(about));
        file.header = header;
    }

    /// Writes the current author's note of the chat.
    fn put_note(&self, about: &mut Map<String, Value>) {
        let own = |setting: &str| {
            self.settings
                .get(setting)
                .and_then(|json| serde_json::from_str::<Value>(json).ok())
        };
        let had_note = about.contains_key("note_prompt");
        for (name, key) in NOTE {
            let number = |value: &Value| {
                words_of(name)?
                    .iter()
                    .position(|word| *value == **word)
                    .map(Value::from)
            };
            if let Some(value) = own(name) {
                about.insert(key.to_owned(), number(&value).unwrap_or(value));
            }
        }
        // The file had a note, which the user removed here.
        let used = |text: &str| {
            setting("author_note").is_some_and(|setting| setting.kind.read(text).is_ok())
        };
        if own("author_note").is_none()
            && about
                .get("note_prompt")
                .and_then(Value::as_str)
                .is_some_and(used)
        {
            about.insert("note_prompt".to_owned(), json!(""));
        }
        if !had_note && about.contains_key("note_prompt") {
            for (key, usual) in [
                ("note_interval", 1),
                ("note_position", 1),
                ("note_depth", 4),
                ("note_role", 0),
            ] {
                about.entry(key).or_insert_with(|| usual.into());
            }
        }
    }

    /// Adds the preserved data to the export of a message.
    pub(crate) fn complete_message(&self, id: MessageId, said: &mut ChatFileMessage) {
        let Some(kept) = self.messages.get(&id) else {
            return;
        };
        let KeptMessage { note, avatar, rest } = serde_json::from_str(kept).unwrap_or_default();
        said.note |= note;
        said.hidden &= !said.note;
        (said.avatar, said.unused_fields) = (avatar, rest);
    }

    /// Adds the preserved data to the export of a version. The file's own date stays if it is the
    /// same time, or if neither is known.
    pub(crate) fn complete_version(
        &self,
        id: SwipeId,
        version: &mut MessageVersion,
        undated: bool,
        clock: &Clock,
    ) {
        let mut rest = self
            .swipes
            .get(&id)
            .map(|json| object(json))
            .unwrap_or_default();
        let told = match rest.get(SENT) {
            Some(Value::String(date)) => date.clone(),
            Some(other) => variable(other),
            None => String::new(),
        };
        let same = match foreign_date::read(&told, clock) {
            Some(at) => rfc3339(at) == version.date,
            None => undated,
        };
        if same {
            version.date = told;
        }
        if !same || rest.get(SENT).is_some_and(Value::is_string) {
            rest.shift_remove(SENT);
        }
        version.unused_fields = rest;
    }
}

/// Keeps the original value of each unchanged variable. `None` if there were no variables and there
/// are none now.
fn variables_now(known: Map<String, Value>, variables: &BTreeMap<String, String>) -> Option<Value> {
    let had = !known.is_empty();
    // Variables above the limits were never in use, so they stay.
    let used = |name: &str, value: &Value| name.len() + variable(value).len() <= MAX_VARIABLE;
    let mut now: Map<String, Value> = known
        .into_iter()
        .enumerate()
        .filter(|(at, (name, value))| {
            variables.contains_key(name) || *at >= MAX_VARIABLES || !used(name, value)
        })
        .map(|(_, pair)| pair)
        .collect();
    for (name, value) in variables {
        if now.get(name).map(variable).as_ref() != Some(value) {
            now.insert(name.clone(), json!(value));
        }
    }
    (had || !now.is_empty()).then_some(Value::Object(now))
}

fn object(json: &str) -> Map<String, Value> {
    object_of(serde_json::from_str(json).ok().as_ref())
}

fn object_of(value: Option<&Value>) -> Map<String, Value> {
    value
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default()
}
