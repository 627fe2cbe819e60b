//! Why a block is a candidate for the prompt. Each reason is a code with its values, which the
//! window translates; `Display` gives the English text.

use std::fmt::{self, Display};

use serde::{Deserialize, Deserializer, Serialize};

use crate::importance::Feature;

/// One reason. The serialized form is the code and its values:
/// `{"code":"keyInMessage","key":"lamp",...}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "code",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum BlockReason {
    // Texts of the head and of a depth.
    Always,
    KeptWhileThereIsRoom,
    InHead,
    ChatMode,
    ReminderDue,
    Note,
    CardNote,
    AuthorNote,
    CharacterNote,
    NewDateOrTime,
    VisionReport,
    SpokenMessage,
    // Messages.
    RecentMessage,
    YourMessage,
    ReplyToContinue,
    Task,
    EarlierInChat,
    Images {
        count: usize,
        tokens: u32,
    },
    /// Names of the scripts that changed the text.
    Scripts {
        names: Vec<String>,
    },
    // Lore. `ago` counts messages from the newest one.
    AlwaysOn,
    Sticky,
    Decorator,
    KeptEntry,
    Key {
        key: String,
    },
    KeyInNewestMessage {
        key: String,
        speaker: String,
    },
    KeyInMessage {
        key: String,
        speaker: String,
        ago: usize,
    },
    KeyInSomeMessage {
        key: String,
    },
    KeyInPersona {
        key: String,
    },
    KeyInEntry {
        key: String,
    },
    KeyInNote {
        key: String,
    },
    KeyInCard {
        key: String,
    },
    OverBookBudget,
    OverLoreBudget,
    // Memory. Scores and similarities have two decimals.
    Pinned,
    PinnedByYou,
    Importance {
        value: u8,
    },
    /// Rated important before; the features are not stored.
    Important,
    ImportantFor {
        features: Vec<Feature>,
    },
    PreviousChat,
    WordsOfThisTurn {
        score: f32,
    },
    ByMeaning {
        similarity: f32,
    },
    AboutThisTurn {
        score: f32,
    },
    UpdateOfOlder {
        score: f32,
    },
    NewestAboutSame {
        score: f32,
    },
    SaidRepeatedly {
        times: usize,
    },
    FoundWithLowerScores,
    StartOfDocument,
    /// Numbers of the first and the last message, from 1.
    Summary {
        first: i64,
        last: i64,
    },
    /// A fallback for a summary.
    FirstSentences {
        first: i64,
        last: i64,
    },
    /// A sentence that an earlier version stored.
    Text {
        text: String,
    },
}

/// Rounds a score to the two decimals that are shown.
pub fn two_decimals(score: f32) -> f32 {
    (score * 100.0).round() / 100.0
}

impl Display for BlockReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Always => "always",
            Self::KeptWhileThereIsRoom => "kept while there is room",
            Self::InHead => "in the head, so that the prompt only grows at its end",
            Self::ChatMode => "the chat's mode",
            Self::ReminderDue => "a reminder is due",
            Self::Note => "a note",
            Self::CardNote => "the card's note",
            Self::AuthorNote => "the author's note",
            Self::CharacterNote => "the note of the character",
            Self::NewDateOrTime => "new date or time",
            Self::VisionReport => "a camera reported it since the last turn",
            Self::SpokenMessage => "the message was spoken",
            Self::RecentMessage => "recent message",
            Self::YourMessage => "your message",
            Self::ReplyToContinue => "reply to continue",
            Self::Task => "task for the model",
            Self::EarlierInChat => "earlier in the chat",
            Self::AlwaysOn => "always on",
            Self::Sticky => "sticky since an earlier turn",
            Self::Decorator => "requested by its own text",
            Self::KeptEntry => "found once, and kept",
            Self::OverBookBudget => "more than the budget of its book",
            Self::OverLoreBudget => "more than the budget of lore",
            Self::Pinned => "pinned",
            Self::PinnedByYou => "pinned by you",
            Self::Important => "important",
            Self::PreviousChat => "previous chat",
            Self::FoundWithLowerScores => "found with lower scores",
            Self::StartOfDocument => "start of the document",
            Self::Text { text } => text,
            with_values => return with_values.fmt_values(f),
        })
    }
}

impl BlockReason {
    fn fmt_values(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Images { count: 1, tokens } => write!(f, "1 image, {tokens} tokens"),
            Self::Images { count, tokens } => write!(f, "{count} images, {tokens} tokens"),
            Self::Scripts { names } => match &names[..] {
                [one] => write!(f, "rewritten by the script \"{one}\""),
                all => write!(f, "rewritten by the scripts \"{}\"", all.join("\", \"")),
            },
            Self::Key { key } => write!(f, "key \"{key}\""),
            Self::KeyInNewestMessage { key, speaker } => {
                write!(f, "key \"{key}\" in the message of {speaker}")
            }
            Self::KeyInMessage { key, speaker, ago } => {
                write!(
                    f,
                    "key \"{key}\" in the message of {speaker}, {ago} messages ago"
                )
            }
            Self::KeyInSomeMessage { key } => write!(f, "key \"{key}\" in a message"),
            Self::KeyInPersona { key } => write!(f, "key \"{key}\" in the persona"),
            Self::KeyInEntry { key } => write!(f, "key \"{key}\" in another entry"),
            Self::KeyInNote { key } => write!(f, "key \"{key}\" in a note"),
            Self::KeyInCard { key } => write!(f, "key \"{key}\" in the card"),
            Self::Importance { value } => write!(f, "importance {value}"),
            Self::ImportantFor { features } => {
                let features: Vec<&str> =
                    features.iter().map(|feature| feature.describe()).collect();
                write!(f, "important: {}", features.join(", "))
            }
            Self::WordsOfThisTurn { score } => write!(f, "has words of this turn, {score:.2}"),
            Self::ByMeaning { similarity } => write!(f, "by meaning, {similarity:.2}"),
            Self::AboutThisTurn { score } => write!(f, "about this turn, {score:.2}"),
            Self::UpdateOfOlder { score } => write!(f, "update of an older message, {score:.2}"),
            Self::NewestAboutSame { score } => {
                write!(f, "newest message about the same thing, {score:.2}")
            }
            Self::SaidRepeatedly { times } => write!(f, "said {times} times with the same text"),
            Self::Summary { first, last } => write!(f, "summary of messages {first} to {last}"),
            Self::FirstSentences { first, last } => {
                write!(f, "first sentences of messages {first} to {last}")
            }
            _ => Ok(()),
        }
    }
}

/// The reasons of a block, in the order in which they are shown.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Reasons(Vec<BlockReason>);

impl Reasons {
    pub fn push(&mut self, reason: BlockReason) {
        self.0.push(reason);
    }

    /// Adds the scripts that changed the text, if any.
    pub fn push_scripts(&mut self, names: &[String]) {
        if !names.is_empty() {
            self.push(BlockReason::Scripts {
                names: names.to_vec(),
            });
        }
    }

    pub fn iter(&self) -> std::slice::Iter<'_, BlockReason> {
        self.0.iter()
    }
}

impl From<BlockReason> for Reasons {
    fn from(reason: BlockReason) -> Self {
        Self(vec![reason])
    }
}

impl Display for Reasons {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, reason) in self.iter().enumerate() {
            f.write_str(if index > 0 { "; " } else { "" })?;
            reason.fmt(f)?;
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for Reasons {
    /// Earlier versions stored one sentence.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Stored {
            Sentence(String),
            Reasons(Vec<BlockReason>),
        }
        Ok(match Stored::deserialize(deserializer)? {
            Stored::Sentence(text) if text.is_empty() => Self::default(),
            Stored::Sentence(text) => Self::from(BlockReason::Text { text }),
            Stored::Reasons(reasons) => Self(reasons),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_back_codes_with_values() {
        let key = BlockReason::KeyInMessage {
            key: "lamp".into(),
            speaker: "Tom".into(),
            ago: 3,
        };
        let json = r#"[{"code":"keyInMessage","key":"lamp","speaker":"Tom","ago":3},{"code":"byMeaning","similarity":0.85}]"#;
        let mut reasons = Reasons::from(key);
        reasons.push(BlockReason::ByMeaning {
            similarity: two_decimals(0.8512),
        });
        assert_eq!(serde_json::to_string(&reasons).unwrap(), json);
        assert_eq!(serde_json::from_str::<Reasons>(json).unwrap(), reasons);
        assert_eq!(
            reasons.to_string(),
            "key \"lamp\" in the message of Tom, 3 messages ago; by meaning, 0.85"
        );
    }

    #[test]
    fn reads_the_sentence_of_an_earlier_version() {
        let earlier: Reasons = serde_json::from_str(r#""pinned by you""#).unwrap();
        assert_eq!(earlier.to_string(), "pinned by you");
        assert_eq!(
            serde_json::from_str::<Reasons>(r#""""#).unwrap(),
            Reasons::default()
        );
    }
}
