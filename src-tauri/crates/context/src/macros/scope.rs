//! The values that macros can read. Values are inserted unchanged; macros in card texts and in the
//! original prompt are resolved on insertion.

use std::borrow::Cow;
use std::collections::BTreeMap;

use jiff::civil::DateTime;
use jiff::tz::Offset;

/// The values for the macros of one text. Absent values are empty.
#[derive(Debug, Clone, Copy)]
pub struct MacroScope<'a> {
    /// The persona's name.
    pub user: &'a str,
    /// The character's nickname, else its name.
    pub char: &'a str,
    /// The members of a group chat, muted ones included; empty in a chat of two.
    pub group: &'a [&'a str],
    pub group_not_muted: &'a [&'a str],
    pub card: CardValues<'a>,
    pub chat: ChatValues<'a>,
    pub clock: Option<MacroClock>,
    pub model: ModelFacts<'a>,
    /// The text that a card's `system_prompt` or `post_history_instructions` replaces. A text can
    /// insert it once.
    pub original: Option<&'a str>,
    /// Content of the input box.
    pub input: &'a str,
    /// Lorebook outlets by name.
    pub outlets: Option<&'a BTreeMap<String, String>>,
    /// Further values by macro name in lower case: `systemprompt`, `instructuserprefix`,
    /// `chatstart`, `summary` and so on.
    pub named: Option<&'a BTreeMap<String, String>>,
    /// Makes `{{pick}}` stable within a chat.
    pub chat_id: &'a str,
    /// Seed for `{{random}}` and `{{roll}}`.
    pub seed: u64,
}

impl Default for MacroScope<'_> {
    /// Uses default names, so that no text shows an empty name.
    fn default() -> Self {
        Self {
            user: "User",
            char: "Character",
            group: &[],
            group_not_muted: &[],
            card: CardValues::default(),
            chat: ChatValues::default(),
            clock: None,
            model: ModelFacts::default(),
            original: None,
            input: "",
            outlets: None,
            named: None,
            chat_id: "",
            seed: 0,
        }
    }
}

/// The texts of the card and of the persona, with their macros.
#[derive(Debug, Clone, Copy, Default)]
pub struct CardValues<'a> {
    pub description: &'a str,
    pub personality: &'a str,
    pub scenario: &'a str,
    /// The persona's description.
    pub persona: &'a str,
    pub system_prompt: &'a str,
    pub post_history_instructions: &'a str,
    pub depth_prompt: &'a str,
    pub creator_notes: &'a str,
    pub version: &'a str,
    /// The first message, then the alternates.
    pub greetings: &'a [&'a str],
    /// The example messages as the prompt shows them; `None` if unchanged from the card.
    pub examples: Option<&'a str>,
    pub examples_raw: &'a str,
}

/// The chat so far. Message ids start at 0, swipes at 1.
#[derive(Debug, Clone, Copy, Default)]
pub struct ChatValues<'a> {
    pub last_message: &'a str,
    pub last_user_message: &'a str,
    pub last_char_message: &'a str,
    pub last_message_id: Option<u64>,
    pub first_included_message_id: Option<u64>,
    /// Number of swipes of the last message.
    pub last_swipe_id: Option<u64>,
    pub current_swipe_id: Option<u64>,
    /// `normal`, `swipe`, `continue`, `impersonate`, `quiet` or `regenerate`.
    pub last_generation_type: Option<&'a str>,
}

/// The local time of the user.
#[derive(Debug, Clone, Copy)]
pub struct MacroClock {
    pub now: DateTime,
    pub offset: Offset,
    /// Seconds since the last user message; `None` before the first one.
    pub idle_seconds: Option<i64>,
}

/// The model and its limits, in tokens.
#[derive(Debug, Clone, Copy, Default)]
pub struct ModelFacts<'a> {
    pub name: &'a str,
    pub context: Option<u32>,
    pub response: Option<u32>,
}

impl MacroScope<'_> {
    /// `{{group}}`: the members, or the character in a chat of two.
    pub(super) fn group(&self) -> Cow<'_, str> {
        if self.group.is_empty() {
            self.char.into()
        } else {
            self.group.join(", ").into()
        }
    }

    pub(super) fn group_not_muted(&self) -> Cow<'_, str> {
        if self.group.is_empty() {
            self.char.into()
        } else {
            self.group_not_muted.join(", ").into()
        }
    }

    /// `{{notChar}}`: all participants except the speaking character, or the user if `char` names
    /// all members.
    pub(super) fn not_char(&self) -> Cow<'_, str> {
        let all_speak = self.group() == self.char;
        let others = self
            .group
            .iter()
            .copied()
            .filter(|member| !all_speak && *member != self.char);
        others
            .chain([self.user])
            .collect::<Vec<_>>()
            .join(", ")
            .into()
    }
}
