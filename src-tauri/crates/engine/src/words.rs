//! Who and what the macros of a chat's texts name.

use std::collections::BTreeMap;

use context::lore::TimedState;
use context::macros::{self, CardTexts, ChatTexts, Expanded, MacroScope, MacroState, ModelFacts};
use domain::card::Card;
use domain::chat::Chat;
use domain::persona::Persona;
use domain::{ChatId, MessageId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::group::Group;
use crate::macro_variables::Changes;
use crate::panics;

/// Names of macros in one notice.
const MAX_TOLD: usize = 50;

/// Who and what the macros name.
pub(crate) struct Words<'a> {
    pub(crate) card: &'a Card,
    pub(crate) persona: &'a Persona,
    chat: String,
    greetings: Vec<&'a str>,
    /// Who takes part in a scene of several; empty in a chat of two.
    members: Vec<&'a str>,
}

/// When a text's macros are resolved, and what was said by then.
#[derive(Clone, Copy, Default)]
pub(crate) struct Moment<'a> {
    pub(crate) clock: Option<macros::Clock>,
    pub(crate) chat: ChatTexts<'a>,
    pub(crate) model: ModelFacts<'a>,
    pub(crate) outlets: Option<&'a BTreeMap<String, String>>,
    /// What stands in the composer.
    pub(crate) input: &'a str,
    pub(crate) seed: u64,
}

impl<'a> Words<'a> {
    pub(crate) fn new(card: &'a Card, persona: &'a Persona, chat: ChatId) -> Self {
        Self { card, persona, chat: chat.to_string(), greetings: card.greetings(), members: Vec::new() }
    }

    /// In a scene, for `{{group}}` and `{{notChar}}`. Nobody is muted in one.
    pub(crate) fn among(self, group: &'a Group) -> Self {
        Self { members: group.names().collect(), ..self }
    }

    pub(crate) fn expand(&self, text: &str, moment: &Moment<'_>, state: &mut MacroState) -> Expanded {
        self.expand_over(text, None, moment, state)
    }

    /// With the text that this one replaces, for `{{original}}` (V2-06).
    pub(crate) fn expand_over(
        &self,
        text: &str,
        original: Option<&str>,
        moment: &Moment<'_>,
        state: &mut MacroState,
    ) -> Expanded {
        let as_it_is = || Expanded { text: text.to_owned(), ..Expanded::default() };
        panics::or_plain("macros", || macros::expand(text, &self.scope(original, moment), state), as_it_is)
    }

    pub(crate) fn chat(&self) -> &str {
        &self.chat
    }

    pub(crate) fn scope<'s>(&'s self, original: Option<&'s str>, moment: &Moment<'s>) -> MacroScope<'s> {
        let card = self.card;
        MacroScope {
            user: &self.persona.name,
            char: card.spoken_name(),
            card: CardTexts {
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

/// What the user ought to know of macros in `place`.
pub(crate) fn notices(place: &str, expanded: &Expanded) -> impl Iterator<Item = String> {
    let told = |names: &[String], what: &str| {
        let names = &names[..names.len().min(MAX_TOLD)];
        (!names.is_empty()).then(|| format!("{what}: {}", names.join(", ")))
    };
    let unknown = told(&expanded.unknown, &format!("Unknown macros in {place} stay as text"));
    let absent = told(&expanded.absent, &format!("Macros without a value in {place} are left out"));
    unknown.into_iter().chain(absent)
}

/// The card's note for a depth, which SillyTavern keeps among the extensions.
pub(crate) fn depth_prompt(card: &Card) -> &str {
    let prompt = card.extensions().and_then(|all| all.get("depth_prompt")).and_then(|note| note.get("prompt"));
    prompt.and_then(Value::as_str).unwrap_or_default()
}

/// What a chat keeps for its macros.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Kept {
    pub(crate) variables: BTreeMap<String, String>,
    /// The time that the macros in the head and the chat template tell: that of the epoch's beginning, so that the head stays as it is.
    pub(crate) head_at: Option<Timestamp>,
    /// What the texts of the head made of variables. They count once an epoch: a head that counted turns would be a new one
    /// every turn.
    pub(crate) head: Changes,
    /// Variables that each greeting set, by swipe id. They apply while that greeting is shown.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) greetings: BTreeMap<String, BTreeMap<String, String>>,
    /// What lorebook entries go on from: sticky, cooldown.
    pub(crate) timed: TimedState,
}

impl Kept {
    /// Nothing, where it cannot be read: a lost counter must not keep a chat from going on.
    pub(crate) fn of(chat: &Chat) -> Self {
        serde_json::from_str(&chat.variables).unwrap_or_default()
    }

    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|_| "{}".into())
    }
}

/// The same for one place in one chat, whoever asks and however often: chance that a preview foretells.
pub(crate) fn seed(chat: ChatId, message: Option<MessageId>) -> u64 {
    let (high, low) = chat.0.as_u64_pair();
    let (first, second) = message.map_or((0, 0), |id| id.0.as_u64_pair());
    // A multiply and a shift each: neighbours must not get neighbouring seeds.
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
    fn every_place_has_a_seed_of_its_own() {
        let seeds: std::collections::BTreeSet<u64> = (0..100_u128)
            .flat_map(|chat| (0..10).map(move |message| (chat, message)))
            .map(|(chat, message)| seed(ChatId(Uuid::from_u128(chat)), Some(MessageId(Uuid::from_u128(message)))))
            .collect();
        assert_eq!(seeds.len(), 1_000);
    }
}
