//! Personas: characters that the user plays.

use serde::{Deserialize, Serialize};

use crate::PersonaId;
use crate::prompt::PromptRole;

/// The user's side of a chat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Persona {
    pub id: PersonaId,
    /// Value of `{{user}}`. Never empty.
    pub name: String,
    /// Part of the prompt's head, unless `place` says otherwise; may be empty.
    pub description: String,
    /// Instructions for chats with this persona. They replace those of chat and card. May be empty.
    pub instructions: String,
    pub place: PersonaPlace,
}

/// The place of a persona's description in the prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonaPlace {
    pub position: PersonaPosition,
    /// Number of messages from the end, for [`PersonaPosition::InChat`].
    pub depth: u32,
    /// The role of the message, for [`PersonaPosition::InChat`].
    pub role: PromptRole,
}

impl Default for PersonaPlace {
    fn default() -> Self {
        Self {
            position: PersonaPosition::Template,
            depth: 2,
            role: PromptRole::System,
        }
    }
}

/// SillyTavern's positions of a persona's description, without those next to the author's note.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PersonaPosition {
    /// The place that the prompt template gives it.
    #[default]
    Template,
    /// After the texts of the card.
    AfterCard,
    /// Among the messages, at a depth.
    InChat,
    /// Nowhere. `{{persona}}` in a card still inserts it.
    Absent,
}

impl PersonaPosition {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Template => "template",
            Self::AfterCard => "afterCard",
            Self::InChat => "inChat",
            Self::Absent => "absent",
        }
    }

    /// Reads the result of [`Self::as_str`]. Anything else is the default.
    pub fn parse(text: &str) -> Self {
        match text {
            "afterCard" => Self::AfterCard,
            "inChat" => Self::InChat,
            "absent" => Self::Absent,
            _ => Self::Template,
        }
    }
}

/// Swaps the macros for the names of character and user, in both notations (`{{char}}`, `<BOT>`). A
/// text that describes a character describes a persona afterwards, and the other way round.
pub fn swap_names(text: &str) -> String {
    const PAIRS: [(&str, &str); 4] = [
        ("{{char}}", "{{user}}"),
        ("{{user}}", "{{char}}"),
        ("<bot>", "<USER>"),
        ("<user>", "<BOT>"),
    ];
    let mut swapped = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['{', '<']) {
        let (before, macro_and_rest) = rest.split_at(at);
        swapped.push_str(before);
        let pair = PAIRS.iter().find(|(from, _)| {
            macro_and_rest
                .get(..from.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(from))
        });
        let (inserted, used) = match pair {
            Some((from, to)) => (*to, from.len()),
            None => (&macro_and_rest[..1], 1),
        };
        swapped.push_str(inserted);
        rest = &macro_and_rest[used..];
    }
    swapped + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swapped_names_change_sides() {
        for (text, expected) in [
            (
                "{{char}} keeps {{user}}'s lamp.",
                "{{user}} keeps {{char}}'s lamp.",
            ),
            (
                "{{Char}} and <BOT> and <user>",
                "{{user}} and <USER> and <BOT>",
            ),
            (
                "a < b {{ char }} {{{{char}}}} é{",
                "a < b {{ char }} {{{{user}}}} é{",
            ),
            ("", ""),
        ] {
            assert_eq!(swap_names(text), expected);
        }
    }

    #[test]
    fn positions_survive_their_text() {
        use PersonaPosition::*;
        for position in [Template, AfterCard, InChat, Absent] {
            assert_eq!(PersonaPosition::parse(position.as_str()), position);
        }
        assert_eq!(PersonaPosition::parse("elsewhere"), Template);
    }
}
