//! Chats that SillyTavern wrote. A line that cannot be read costs one message, and is told.

use serde_json::{Map, Value};

use super::{By, ChatFile, ChatFileError, MAX_FILE, MAX_MESSAGES, NARRATOR, Said, Version};
use crate::card::parse::{check_complexity, without_bom};

/// Bytes of a line: some hold pictures.
const MAX_LINE: usize = 16 << 20;
/// Versions of a message.
const MAX_VERSIONS: usize = 500;
/// Versions of all messages: a short line can hold 500 empty ones.
const MAX_ALL_VERSIONS: usize = 300_000;
/// Lines that hold no message: beyond that the file is no chat.
const MAX_UNREAD: usize = 10_000;
/// Characters of a name.
const MAX_NAME: usize = 200;
/// Characters of a date, which every version of a message may repeat.
const MAX_DATE: usize = 64;

impl ChatFile {
    /// Reads a chat, and gives the numbers of the lines that hold no message.
    ///
    /// # Errors
    /// [`ChatFileError`] if it is no chat, or above the limits.
    pub fn from_jsonl(bytes: &[u8]) -> Result<(Self, Vec<usize>), ChatFileError> {
        if bytes.len() > MAX_FILE {
            return Err(ChatFileError::TooLarge { bytes: bytes.len(), limit: MAX_FILE });
        }
        let text = std::str::from_utf8(without_bom(bytes))
            .map_err(|error| ChatFileError::NotUtf8 { offset: error.valid_up_to() })?;
        let (mut chat, mut unread) = (Self::default(), Vec::new());
        let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).peekable();
        let first = lines.peek().and_then(|(_, line)| object(line)).ok_or(ChatFileError::NoChat)?;
        if !first.contains_key("mes") {
            lines.next();
            chat.user = name_in(&first, "user_name");
            chat.character = name_in(&first, "character_name");
            chat.created = short(&first, "create_date");
        }
        let mut versions = 0;
        for (index, line) in lines {
            match object(line).as_ref().and_then(said) {
                Some(said) => {
                    versions += said.versions.len();
                    chat.messages.push(said);
                }
                None => unread.push(index + 1),
            }
            if chat.messages.len() > MAX_MESSAGES {
                return Err(ChatFileError::TooManyMessages { limit: MAX_MESSAGES });
            }
            if versions > MAX_ALL_VERSIONS {
                return Err(ChatFileError::TooManyVersions { limit: MAX_ALL_VERSIONS });
            }
            if unread.len() > MAX_UNREAD {
                return Err(ChatFileError::NoChat);
            }
        }
        if chat.messages.is_empty() {
            return Err(ChatFileError::NoChat);
        }
        chat.name_from_messages();
        Ok((chat, unread))
    }

    /// The messages tell where the first line does not.
    fn name_from_messages(&mut self) {
        let first = |by| self.messages.iter().find(|said| said.by == by).map(|said| said.name.clone());
        let (user, character) = (first(By::User), first(By::Character));
        if self.user.is_empty() {
            self.user = user.unwrap_or_default();
        }
        if self.character.is_empty() {
            self.character = character.unwrap_or_default();
        }
    }
}

/// SillyTavern writes the word in their place since it no longer reads them.
fn name_in(header: &Map<String, Value>, key: &str) -> String {
    let name = short(header, key);
    if name == "unused" { String::new() } else { name }
}

fn object(line: &str) -> Option<Map<String, Value>> {
    if line.len() > MAX_LINE || check_complexity(line.as_bytes()).is_err() {
        return None;
    }
    serde_json::from_str(line).ok()
}

fn said(line: &Map<String, Value>) -> Option<Said> {
    let text = line.get("mes")?.as_str()?;
    let extra = line.get("extra");
    let (kind, apart) = (text_of(extra, "type"), is(line, "is_system"));
    // Only what nobody said has a kind: what the user hides stays as it was.
    let note = apart && !matches!(kind, "" | NARRATOR);
    let by = match kind {
        NARRATOR => By::Narrator,
        _ if note => By::Narrator,
        _ if is(line, "is_user") => By::User,
        _ => By::Character,
    };
    let shown = version(text, line.get("send_date"), extra);
    let (versions, selected) = versions(line, shown);
    Some(Said {
        name: short(line, "name"),
        avatar: short(line, "original_avatar"),
        by,
        hidden: apart && !note,
        note,
        versions,
        selected,
    })
}

/// The swipes, of which the selected one says what the message says: an edit may have left it behind. What the message does
/// not tell of its making, the swipe may.
fn versions(line: &Map<String, Value>, shown: Version) -> (Vec<Version>, usize) {
    let texts = line.get("swipes").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let selected =
        line.get("swipe_id").and_then(Value::as_u64).map_or(0, |id| usize::try_from(id).unwrap_or(usize::MAX));
    if texts.len() > MAX_VERSIONS || selected >= texts.len() {
        return (vec![shown], 0);
    }
    let about = |index: usize| line.get("swipe_info").and_then(|all| all.get(index));
    let one = |(index, text): (usize, &Value)| {
        let about = about(index);
        let (sent, extra) =
            (about.and_then(|about| about.get("send_date")), about.and_then(|about| about.get("extra")));
        version(text.as_str().unwrap_or_default(), sent.or(line.get("send_date")), extra)
    };
    let mut versions: Vec<Version> = texts.iter().enumerate().map(one).collect();
    if let Some(place) = versions.get_mut(selected) {
        let Version { thoughts, model, .. } = std::mem::take(place);
        let or = |told: String, other| if told.is_empty() { other } else { told };
        *place = Version { thoughts: or(shown.thoughts, thoughts), model: or(shown.model, model), ..shown };
    }
    (versions, selected)
}

fn version(text: &str, sent: Option<&Value>, extra: Option<&Value>) -> Version {
    let sent = match sent {
        Some(Value::String(date)) => date.chars().take(MAX_DATE).collect(),
        // Milliseconds, in old files.
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    Version {
        text: text.to_owned(),
        thoughts: text_of(extra, "reasoning").to_owned(),
        sent,
        model: text_of(extra, "model").chars().take(MAX_NAME).collect(),
    }
}

fn text_of<'v>(object: Option<&'v Value>, key: &str) -> &'v str {
    object.and_then(|object| object.get(key)).and_then(Value::as_str).unwrap_or_default()
}

fn is(line: &Map<String, Value>, key: &str) -> bool {
    line.get(key).and_then(Value::as_bool).unwrap_or_default()
}

fn short(object: &Map<String, Value>, key: &str) -> String {
    object.get(key).and_then(Value::as_str).unwrap_or_default().chars().take(MAX_NAME).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(lines: &[&str]) -> (Vec<String>, Vec<usize>) {
        let (chat, unread) = ChatFile::from_jsonl(lines.join("\n").as_bytes()).unwrap();
        let line = |said: &Said| {
            let others = said.versions.iter().map(|version| version.text.as_str()).collect::<Vec<_>>().join(" | ");
            let hidden = if said.hidden { " (hidden)" } else { "" };
            let note = if said.note { " (note)" } else { "" };
            format!("{:?} {}{hidden}{note}: {} of {others}", said.by, said.name, said.shown().text)
        };
        (chat.messages.iter().map(line).collect(), unread)
    }

    #[test]
    fn a_chat_of_sillytaverns_is_read_with_its_swipes() {
        let (messages, unread) = check(&[
            r#"{"user_name":"Tom","character_name":"Mira","create_date":"2024-01-15@12h30m15s","chat_metadata":{"note_prompt":""}}"#,
            r#"{"name":"Mira","is_user":false,"send_date":"January 15, 2024 12:30pm","mes":"Hello.","swipes":["Hi.","Hullo."],"swipe_id":1}"#,
            r#"{"name":"Tom","is_user":true,"is_system":false,"send_date":1705321815000,"mes":"Well?","extra":{}}"#,
            r#"{"name":"System","is_user":false,"is_system":false,"mes":"Night falls.","extra":{"type":"narrator"}}"#,
            r#"{"name":"Mira","is_user":false,"is_system":true,"mes":"Long ago.","swipes":[],"swipe_id":0}"#,
            r#"{"name":"Note","is_user":false,"is_system":true,"mes":"Buy oil.","extra":{"type":"comment"}}"#,
        ]);
        assert_eq!(
            messages,
            [
                "Character Mira: Hello. of Hi. | Hello.",
                "User Tom: Well? of Well?",
                "Narrator System: Night falls. of Night falls.",
                "Character Mira (hidden): Long ago. of Long ago.",
                "Narrator Note (note): Buy oil. of Buy oil.",
            ]
        );
        assert_eq!(unread, [0; 0]);
    }

    #[test]
    fn a_bad_line_costs_a_message_and_no_more() {
        let deep = format!(r#"{{"mes":{}1{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
        let lines = [r#"{"mes":"One."}"#, "half a li", r#"{"mes":7}"#, "", "[]", &deep, r#"{"mes":"Two."}"#];
        let (messages, unread) = check(&lines);
        assert_eq!(messages.len(), 2);
        assert_eq!(unread, [2, 3, 5, 6]);
    }

    #[test]
    fn the_messages_tell_who_talks_where_the_first_line_does_not() {
        let messages = [r#"{"name":"Mira","mes":"Hi."}"#, r#"{"name":"Tom","is_user":true,"mes":"Hi."}"#].join("\n");
        let names = |first: &str| {
            let (chat, _) = ChatFile::from_jsonl(format!("{first}\n{messages}").as_bytes()).unwrap();
            (chat.user, chat.character)
        };
        let of_messages = ("Tom".to_owned(), "Mira".to_owned());
        assert_eq!(names(r#"{"user_name":"unused","character_name":"unused","chat_metadata":{}}"#), of_messages);
        assert_eq!(names(r#"{"name":"Note","is_system":true,"mes":"Hm.","extra":{"type":"help"}}"#), of_messages);
        assert_eq!(names(r#"{"user_name":"T","character_name":"M"}"#), ("T".to_owned(), "M".to_owned()));
    }

    #[test]
    fn odd_swipes_leave_what_is_shown() {
        let (messages, _) = check(&[
            r#"{"mes":"Shown.","swipes":["a","b"],"swipe_id":2}"#,
            r#"{"mes":"Shown.","swipes":["a",null],"swipe_id":0,"swipe_info":[7]}"#,
            r#"{"mes":"Shown.","swipes":"a","swipe_id":-1}"#,
        ]);
        let expected = ["Shown. of Shown.", "Shown. of Shown. | ", "Shown. of Shown."];
        assert_eq!(messages, expected.map(|text| format!("Character : {text}")));
    }

    #[test]
    fn what_is_no_chat_is_refused() {
        for other in ["", "{}", "[]", r#"{"name":"a card"}"#, "plain words"] {
            assert_eq!(ChatFile::from_jsonl(other.as_bytes()), Err(ChatFileError::NoChat), "{other}");
        }
        assert_eq!(ChatFile::from_jsonl(b"{\"mes\":\"\xff"), Err(ChatFileError::NotUtf8 { offset: 8 }));
    }

    fn version(text: &str) -> Version {
        Version { text: text.into(), sent: "2024-01-15T12:30:15Z".into(), ..Version::default() }
    }

    fn small() -> ChatFile {
        let said = |name: &str, by, versions: Vec<Version>| {
            let selected = versions.len() - 1;
            Said { name: name.into(), avatar: String::new(), by, hidden: false, note: false, versions, selected }
        };
        let reply = Version { thoughts: "Who is it?".into(), model: "tiny".into(), ..version("*waves*\n\nCome in.") };
        ChatFile {
            user: "Tom".into(),
            character: "Mira_Q".into(),
            created: "2024-01-15T12:00:00Z".into(),
            messages: vec![
                said("Mira_Q", By::Character, vec![version("Hello?"), reply]),
                said("Tom", By::User, vec![version("Thanks.\u{2028}\"Really.\"")]),
                said("", By::Narrator, vec![version("The door closes.")]),
                Said { note: true, ..said("", By::Narrator, vec![version("called by the user")]) },
            ],
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        let (read, unread) = ChatFile::from_jsonl(small().to_jsonl().as_bytes()).unwrap();
        assert_eq!((read, unread), (small(), vec![]));
    }

    fn any_version() -> impl Strategy<Value = Version> {
        ("(?s).{0,24}", ".{0,8}", ".{0,8}", ".{0,8}").prop_map(|(text, thoughts, sent, model)| Version {
            text,
            thoughts,
            sent,
            model,
        })
    }

    fn any_said() -> impl Strategy<Value = Said> {
        let by = prop_oneof![Just(By::User), Just(By::Character), Just(By::Narrator)];
        let versions = proptest::collection::vec(any_version(), 1..3);
        let named = (".{0,40}", ".{0,40}");
        (named, by, 0..3_u8, versions, any::<prop::sample::Index>()).prop_map(
            |((name, avatar), by, apart, versions, one)| {
                let note = apart == 1;
                let by = if note { By::Narrator } else { by };
                let selected = one.index(versions.len());
                Said { name, avatar, by, hidden: apart == 2, note, versions, selected }
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]

        #[test]
        fn any_chat_is_read_as_it_was_written(
            (user, character, created) in ("[A-Z].{0,9}", "[A-Z].{0,9}", ".{0,9}"),
            messages in proptest::collection::vec(any_said(), 1..4),
        ) {
            let chat = ChatFile { user, character, created, messages };
            let (read, unread) = ChatFile::from_jsonl(chat.to_jsonl().as_bytes()).unwrap();
            prop_assert_eq!((read, unread), (chat, vec![]));
        }

        /// Whatever is cut out of a file, or stands in it.
        #[test]
        fn no_file_stops_the_reading(from in any::<prop::sample::Index>(), to in any::<prop::sample::Index>(), other in ".*") {
            let mut bytes = small().to_jsonl().into_bytes();
            let (from, to) = (from.index(bytes.len()), to.index(bytes.len()));
            bytes.splice(from.min(to)..from.max(to), other.bytes());
            if let Ok((chat, _)) = ChatFile::from_jsonl(&bytes) {
                prop_assert!(chat.messages.iter().all(|said| said.selected < said.versions.len()));
            }
        }
    }

    #[test]
    fn people_get_the_words_that_are_shown() {
        let plain = "Mira_Q: *waves*\n\nCome in.\n\nTom: Thanks.\u{2028}\"Really.\"\n\nThe door closes.\n";
        assert_eq!(small().to_text(), plain);
        let marked = "# A \\*talk\\*\n\n**Mira\\_Q**\n\n*waves*\n\nCome in.\n\n**Tom**\n\nThanks.\u{2028}\"Really.\"\n\nThe door closes.\n";
        assert_eq!(small().to_markdown("A *talk*"), marked);
    }
}
