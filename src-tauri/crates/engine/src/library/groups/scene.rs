//! Group scenes: several characters and a narrator in one chat. One of them speaks at a time.
//!
//! The head contains the public card parts of all members, so that it does not change with the
//! speaker. The context block names the speaker and holds what only the speaker knows. It is sent
//! for one turn only. All names but the speaker's are stop strings, including the persona's, so that
//! no reply speaks for somebody else.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use context::frame::{HistoryMessage, RewrittenText};
use context::prompt_template::Given;
use domain::card::Card;
use domain::chat::{GroupSettings, MemberState, Role, Speaker, TurnOrder};
use domain::{CharacterId, ChatId, MessageId};

/// The members of a chat, and the speakers of its messages.
#[derive(Debug, Default)]
pub(crate) struct Scene {
    /// The chat's own character is first. Empty unless the chat is a group scene.
    pub(crate) members: Vec<Member>,
    pub(crate) speakers: HashMap<MessageId, Speaker>,
    pub(crate) settings: GroupSettings,
    /// Messages of other chats that any member missed.
    pub(crate) missed_elsewhere: Arc<HashSet<MessageId>>,
    /// The messages that the only character of a chat missed while that was a group scene, with
    /// their chats. `None` if others take part.
    pub(crate) missed_by_only: Option<HashMap<MessageId, ChatId>>,
}

/// A character that takes part.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    pub(crate) id: CharacterId,
    /// The card's name, with a number if an earlier member has the same name.
    pub(crate) name: String,
    pub(crate) card: Arc<Card>,
    /// Changes whenever the card changes.
    pub(crate) card_hash: u64,
    pub(crate) state: MemberState,
    /// Messages of any chat that the character missed.
    pub(crate) missed: Arc<HashSet<MessageId>>,
    /// Whether some of them are in this chat.
    pub(crate) missed_here: bool,
}

/// The speaker of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NextSpeaker {
    pub(crate) role: Role,
    /// `None` for the chat's own character.
    pub(crate) speaker: Option<Speaker>,
}

impl NextSpeaker {
    pub(crate) const OWN: Self = Self {
        role: Role::Character,
        speaker: None,
    };

    /// The speaker's name. `own` is the name of the chat's own character.
    pub(crate) fn name<'n>(&'n self, own: &'n str) -> &'n str {
        self.speaker.as_ref().map_or(own, |speaker| &speaker.name)
    }

    pub(crate) fn narrator() -> Self {
        Self {
            role: Role::Narrator,
            speaker: Some(Speaker {
                character: None,
                name: NARRATOR.to_owned(),
            }),
        }
    }
}

impl Scene {
    /// Whether the chat has members besides its own character.
    pub(crate) fn is_scene(&self) -> bool {
        !self.members.is_empty()
    }

    pub(crate) fn speakers(&self) -> &HashMap<MessageId, Speaker> {
        &self.speakers
    }

    pub(crate) fn order(&self) -> TurnOrder {
        self.settings.order
    }

    /// The speaker of a message.
    pub(crate) fn who_said(&self, message: MessageId, role: Role) -> NextSpeaker {
        NextSpeaker {
            role,
            speaker: self.speakers.get(&message).cloned(),
        }
    }

    /// The turn of a member. `None` if the character does not take part.
    pub(crate) fn turn_of(&self, id: CharacterId) -> Option<NextSpeaker> {
        let at = self.members.iter().position(|member| member.id == id)?;
        let member = &self.members[at];
        let speaker = Speaker {
            character: Some(id),
            name: member.name.clone(),
        };
        Some(NextSpeaker {
            role: Role::Character,
            speaker: (at > 0).then_some(speaker),
        })
    }

    /// The member that speaks; `None` for the narrator and for a character that has left.
    pub(crate) fn member(&self, turn: &NextSpeaker) -> Option<&Member> {
        let id = match (&turn.speaker, turn.role) {
            (Some(speaker), _) => speaker.character?,
            (None, Role::Character) => self.members.first()?.id,
            (None, _) => return None,
        };
        self.members.iter().find(|member| member.id == id)
    }

    /// Whether a speaker still takes part and may speak without being called upon.
    pub(crate) fn may_speak(&self, turn: &NextSpeaker) -> bool {
        let member = self.member(turn);
        member.map_or(turn.role == Role::Narrator, |member| {
            !member.state.muted && !member.state.away
        })
    }

    pub(crate) fn members(&self) -> &[Member] {
        &self.members
    }

    /// Names of all members; none unless the chat is a group scene.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.members.iter().map(|member| member.name.as_str())
    }

    /// Stop strings besides those of the template: the start of a line by any speaker. The turn
    /// leaves out the one who speaks.
    pub(crate) fn stops(&self, persona: &str) -> Vec<String> {
        let others = [NARRATOR, persona]
            .into_iter()
            .filter(|name| self.is_scene() && !name.is_empty());
        self.names()
            .chain(others)
            .map(|name| format!("\n{name}:"))
            .collect()
    }

    /// Replaces the card's template variables by those of all members.
    pub(crate) fn tell(&self, given: Given, next: &str) -> Given {
        if !self.is_scene() {
            return given;
        }
        let joined = |of: fn(&Member) -> String, between: &str| {
            let texts: Vec<_> = self
                .members
                .iter()
                .map(of)
                .filter(|text| !text.is_empty())
                .collect();
            texts.join(between)
        };
        given
            .list("group.members", self.names().map(str::to_owned))
            .text("group.next", next)
            .text("character.description", joined(Member::description, "\n\n"))
            .text("character.personality", "")
            .text(
                "character.examplesRaw",
                joined(Member::examples, "\n<START>\n"),
            )
    }

    /// Prefixes `message` with its speaker's name, so that a model can tell the voices apart: in a
    /// group scene, and where the user had another name than `persona`.
    pub(crate) fn labelled(&self, message: &HistoryMessage, persona: &str) -> HistoryMessage {
        let mut message = message.clone();
        let of_group = self.is_scene() && matches!(message.role, Role::Character | Role::Narrator);
        let of_past =
            message.role == Role::User && message.task.is_none() && message.speaker != persona;
        if (of_group || of_past) && !message.speaker.is_empty() {
            let label = |text: &str| format!("{}: {text}", message.speaker);
            message.anew = message.anew.take().map(|anew| RewrittenText {
                text: label(&anew.text),
                ..anew
            });
            message.text = label(&message.text);
        }
        message
    }
}

impl Member {
    fn description(&self) -> String {
        let card = &self.card;
        let name = self.name.as_str();
        let personality = match card.personality().trim() {
            "" => String::new(),
            text => format!("Personality: {text}"),
        };
        let lines = [name, card.description().trim(), personality.as_str()];
        let lines = lines
            .into_iter()
            .filter(|line| !line.is_empty())
            .collect::<Vec<_>>()
            .join("\n");
        named(&lines, name)
    }

    fn examples(&self) -> String {
        let text = self.card.mes_example().trim();
        // The mark of the first conversation would separate it from the line above.
        let mark = text
            .get(..START.len())
            .filter(|mark| mark.eq_ignore_ascii_case(START));
        let text = mark.map_or(text, |mark| text[mark.len()..].trim_start());
        match text {
            "" => String::new(),
            text => named(&format!("How {} talks:\n{text}", self.name), &self.name),
        }
    }
}

/// The name of a member that joins `others`: with a number if one of them has the same name,
/// ignoring case.
pub(crate) fn distinct<'n>(name: &str, others: impl Iterator<Item = &'n str> + Clone) -> String {
    let taken = |wanted: &str| {
        others
            .clone()
            .any(|other| other.to_lowercase() == wanted.to_lowercase())
    };
    let numbered = (2..).map(|number: u32| format!("{name} ({number})"));
    std::iter::once(name.to_owned())
        .chain(numbered)
        .find(|name| !taken(name))
        .unwrap_or_default()
}

/// Replaces the macros for the character's name in the text of one card by that character's name.
pub(crate) fn named(text: &str, name: &str) -> String {
    ["{{char}}", "<bot>", "<char>"]
        .into_iter()
        .fold(text.to_owned(), |text, mark| replaced(&text, mark, name))
}

/// Replaces `mark`, which is ASCII, in upper or lower case.
pub(super) fn replaced(text: &str, mark: &str, name: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let mut result = String::with_capacity(text.len());
    let mut from = 0;
    for (at, _) in lower.match_indices(mark) {
        result.push_str(&text[from..at]);
        result.push_str(name);
        from = at + mark.len();
    }
    result.push_str(&text[from..]);
    result
}

/// The mark before each example conversation of a card.
pub(super) const START: &str = "<START>";

/// Name of the narrator, who is not a character.
pub(crate) const NARRATOR: &str = "Narrator";
