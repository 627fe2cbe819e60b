//! The scope of macros in a chat's texts: names, card texts and stored state.

use std::borrow::Cow;
use std::collections::BTreeMap;

use context::macros::{self, CardValues, ChatValues, Expanded, MacroScope, MacroState, ModelFacts};
use domain::card::Card;
use domain::persona::Persona;
use domain::{ChatId, MessageId};
use serde_json::Value;

use crate::base::panics;
use crate::library::groups::scene::{Member, Scene};

/// Maximum number of macro names in one notice.
const MAX_TOLD: usize = 50;

/// The names and texts that macros use.
pub(crate) struct MacroNames<'a> {
    pub(crate) card: &'a Card,
    pub(crate) persona: &'a Persona,
    /// Value of `{{char}}`.
    name: Cow<'a, str>,
    chat: String,
    greetings: Vec<&'a str>,
    /// Members of a group scene; empty in other chats.
    members: Vec<&'a str>,
}

/// The time and the chat state that macros use.
#[derive(Clone, Copy, Default)]
pub(crate) struct MacroMoment<'a> {
    pub(crate) clock: Option<macros::MacroClock>,
    pub(crate) chat: ChatValues<'a>,
    pub(crate) model: ModelFacts<'a>,
    pub(crate) outlets: Option<&'a BTreeMap<String, String>>,
    /// The text in the composer.
    pub(crate) input: &'a str,
    pub(crate) seed: u64,
}

impl<'a> MacroNames<'a> {
    pub(crate) fn new(card: &'a Card, persona: &'a Persona, chat: ChatId) -> Self {
        let name = card.display_name().into();
        Self {
            card,
            persona,
            name,
            chat: chat.to_string(),
            greetings: card.greetings(),
            members: Vec::new(),
        }
    }

    /// Adds the members of a group scene, for `{{group}}` and `{{notChar}}`. Members are never
    /// muted here.
    pub(crate) fn among(self, group: &'a Scene) -> Self {
        Self {
            members: group.names().collect(),
            ..self
        }
    }

    /// Names and card texts of the member that speaks.
    pub(crate) fn spoken_by(self, member: &'a Member) -> Self {
        let card = &*member.card;
        let name = member.name.as_str().into();
        Self {
            card,
            name,
            greetings: card.greetings(),
            ..self
        }
    }

    /// The name of a speaker without a card in the chat: the narrator, or a character that has
    /// left.
    pub(crate) fn spoken_as(self, name: &'a str) -> Self {
        Self {
            name: name.into(),
            ..self
        }
    }

    /// All members of a group scene, for texts that are the same whoever speaks.
    pub(crate) fn spoken_by_all(self) -> Self {
        if self.members.is_empty() {
            self
        } else {
            Self {
                name: self.members.join(", ").into(),
                ..self
            }
        }
    }

    /// Adds the names of the members of a group scene that is not stored yet.
    pub(crate) fn among_names(self, members: &'a [String]) -> Self {
        Self {
            members: members.iter().map(String::as_str).collect(),
            ..self
        }
    }

    pub(crate) fn expand(
        &self,
        text: &str,
        moment: &MacroMoment<'_>,
        state: &mut MacroState,
    ) -> Expanded {
        self.expand_over(text, None, moment, state)
    }

    /// Expands `text`. `original` is the text that it replaces, for `{{original}}`.
    pub(crate) fn expand_over(
        &self,
        text: &str,
        original: Option<&str>,
        moment: &MacroMoment<'_>,
        state: &mut MacroState,
    ) -> Expanded {
        let as_it_is = || Expanded {
            text: text.to_owned(),
            ..Expanded::default()
        };
        panics::or_plain(
            "macros",
            || macros::expand(text, &self.scope(original, moment), state),
            as_it_is,
        )
    }

    /// Value of `{{char}}`.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn chat(&self) -> &str {
        &self.chat
    }

    pub(crate) fn scope<'s>(
        &'s self,
        original: Option<&'s str>,
        moment: &MacroMoment<'s>,
    ) -> MacroScope<'s> {
        let card = self.card;
        MacroScope {
            user: &self.persona.name,
            char: &self.name,
            card: CardValues {
                description: card.description(),
                personality: card.personality(),
                scenario: card.scenario(),
                persona: &self.persona.description,
                system_prompt: card.system_prompt(),
                post_history_instructions: card.post_history_instructions(),
                depth_prompt: depth_prompt(card),
                creator_notes: card.creator_notes(),
                version: card.character_version(),
                greetings: &self.greetings,
                examples: None,
                examples_raw: card.mes_example(),
            },
            chat: moment.chat,
            clock: moment.clock,
            model: moment.model,
            original,
            input: moment.input,
            outlets: moment.outlets,
            chat_id: &self.chat,
            group: &self.members,
            group_not_muted: &self.members,
            seed: moment.seed,
            ..MacroScope::default()
        }
    }
}

/// Notices for the user about macros in `place`.
pub(crate) fn notices(place: &str, expanded: &Expanded) -> impl Iterator<Item = String> {
    let told = |names: &[String], what: &str| {
        let names = &names[..names.len().min(MAX_TOLD)];
        (!names.is_empty()).then(|| format!("{what}: {}", names.join(", ")))
    };
    let unknown = told(
        &expanded.unknown,
        &format!("Unknown macros in {place} stay as text"),
    );
    let absent = told(
        &expanded.absent,
        &format!("Macros without a value in {place} are left out"),
    );
    unknown.into_iter().chain(absent)
}

/// The card's note at a depth, which SillyTavern stores in the extensions.
pub(crate) fn depth_prompt(card: &Card) -> &str {
    let prompt = card
        .extensions()
        .and_then(|all| all.get("depth_prompt"))
        .and_then(|note| note.get("prompt"));
    prompt.and_then(Value::as_str).unwrap_or_default()
}

/// Seed of a position in a chat. It is always the same, so that a preview shows the random choices
/// of the real turn.
pub(crate) fn seed(chat: ChatId, message: Option<MessageId>) -> u64 {
    let (high, low) = chat.0.as_u64_pair();
    let (first, second) = message.map_or((0, 0), |id| id.0.as_u64_pair());
    // A multiplication and a shift for each part, so that neighbours do not get similar seeds.
    [low, first, second].into_iter().fold(high, |seed, part| {
        let mixed = (seed ^ part).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ (mixed >> 29)
    })
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn every_position_has_its_own_seed() {
        let seeds: std::collections::BTreeSet<u64> = (0..100_u128)
            .flat_map(|chat| (0..10).map(move |message| (chat, message)))
            .map(|(chat, message)| {
                seed(
                    ChatId(Uuid::from_u128(chat)),
                    Some(MessageId(Uuid::from_u128(message))),
                )
            })
            .collect();
        assert_eq!(seeds.len(), 1_000);
    }
}
