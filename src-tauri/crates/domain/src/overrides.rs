//! Texts that replace a card's texts in one chat, and the choice of the system instructions.

use std::collections::BTreeMap;

use crate::card::Card;
use crate::persona::Persona;

/// A text of a card that a chat may replace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CardText {
    Description,
    Personality,
    Scenario,
    Examples,
    SystemPrompt,
    PostHistory,
}

impl CardText {
    /// In the order of the card editor.
    pub const ALL: [Self; 6] = [
        Self::Description,
        Self::Personality,
        Self::Scenario,
        Self::Examples,
        Self::SystemPrompt,
        Self::PostHistory,
    ];

    /// Name of the card field.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Description => "description",
            Self::Personality => "personality",
            Self::Scenario => "scenario",
            Self::Examples => "mes_example",
            Self::SystemPrompt => "system_prompt",
            Self::PostHistory => "post_history_instructions",
        }
    }

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|text| text.as_str() == name)
    }

    pub fn of(self, card: &Card) -> &str {
        match self {
            Self::Description => card.description(),
            Self::Personality => card.personality(),
            Self::Scenario => card.scenario(),
            Self::Examples => card.mes_example(),
            Self::SystemPrompt => card.system_prompt(),
            Self::PostHistory => card.post_history_instructions(),
        }
    }

    fn put(self, card: &mut Card, text: &str) {
        match self {
            Self::Description => card.set_description(text),
            Self::Personality => card.set_personality(text),
            Self::Scenario => card.set_scenario(text),
            Self::Examples => card.set_mes_example(text),
            Self::SystemPrompt => card.set_system_prompt(text),
            Self::PostHistory => card.set_post_history_instructions(text),
        }
    }
}

/// Replacement texts of a chat. An empty text removes the card's text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides(BTreeMap<CardText, String>);

impl Overrides {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn get(&self, text: CardText) -> Option<&str> {
        self.0.get(&text).map(String::as_str)
    }

    /// Returns the card with the replacements applied.
    pub fn over(&self, card: &Card) -> Card {
        let mut card = card.clone();
        for (text, own) in &self.0 {
            text.put(&mut card, own);
        }
        card
    }
}

impl FromIterator<(CardText, String)> for Overrides {
    fn from_iter<I: IntoIterator<Item = (CardText, String)>>(texts: I) -> Self {
        Self(texts.into_iter().collect())
    }
}

/// Source of the text that replaces the template's own instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstructionSource {
    Persona,
    Chat,
    Card,
    /// No replacement: the template's instructions apply.
    Template,
}

/// Returns the source and text of the instructions: the persona's, else the chat's, else the
/// card's, else the template's own. Descriptions are not instructions and always stay in the
/// prompt.
pub fn instructions<'t>(
    persona: &'t Persona,
    own: &'t Overrides,
    card: &'t Card,
) -> (InstructionSource, &'t str) {
    let (of, text) = match (persona.instructions.trim(), own.get(CardText::SystemPrompt)) {
        ("", Some(text)) => (InstructionSource::Chat, text.trim()),
        ("", None) => (InstructionSource::Card, card.system_prompt().trim()),
        (text, _) => (InstructionSource::Persona, text),
    };
    if text.is_empty() {
        (InstructionSource::Template, "")
    } else {
        (of, text)
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::PersonaId;

    fn persona(instructions: &str) -> Persona {
        Persona {
            id: PersonaId(Uuid::nil()),
            name: "Tom".into(),
            description: "a smith".into(),
            instructions: instructions.into(),
            place: Default::default(),
        }
    }

    fn card(system_prompt: &str) -> Card {
        let mut card = Card::new("Mira").unwrap();
        card.set_system_prompt(system_prompt);
        card
    }

    fn of_chat(text: &str) -> Overrides {
        [(CardText::SystemPrompt, text.to_owned())]
            .into_iter()
            .collect()
    }

    /// Tests all eight combinations of persona, chat and card instructions.
    #[test]
    fn instructions_prefer_persona_then_chat_then_card() {
        let (none, chats) = (Overrides::default(), of_chat("chat"));
        let table = [
            ("", &none, "", (InstructionSource::Template, "")),
            ("", &none, "card", (InstructionSource::Card, "card")),
            ("", &chats, "", (InstructionSource::Chat, "chat")),
            ("", &chats, "card", (InstructionSource::Chat, "chat")),
            (
                "persona",
                &none,
                "",
                (InstructionSource::Persona, "persona"),
            ),
            (
                "persona",
                &none,
                "card",
                (InstructionSource::Persona, "persona"),
            ),
            (
                "persona",
                &chats,
                "",
                (InstructionSource::Persona, "persona"),
            ),
            (
                "persona",
                &chats,
                "card",
                (InstructionSource::Persona, "persona"),
            ),
        ];
        for (of_persona, of_chat, of_card, expected) in table {
            let (persona, card) = (persona(of_persona), card(of_card));
            assert_eq!(
                instructions(&persona, of_chat, &card),
                expected,
                "{of_persona}, {of_chat:?}, {of_card}"
            );
        }
    }

    #[test]
    fn an_empty_chat_text_removes_card_instructions() {
        assert_eq!(
            instructions(&persona(" \n"), &of_chat(" "), &card("card")),
            (InstructionSource::Template, "")
        );
        assert_eq!(
            instructions(&persona(" \n"), &Overrides::default(), &card(" ")),
            (InstructionSource::Template, "")
        );
    }

    #[test]
    fn a_chat_replaces_only_its_own_texts() {
        let mut card = card("card");
        for text in CardText::ALL {
            text.put(&mut card, &format!("the card's {}", text.as_str()));
        }
        for text in CardText::ALL {
            let own: Overrides = [(text, String::from("the chat's"))].into_iter().collect();
            let seen = own.over(&card);
            for other in CardText::ALL {
                let expected = if other == text {
                    "the chat's"
                } else {
                    other.of(&card)
                };
                assert_eq!(other.of(&seen), expected, "{text:?} {other:?}");
            }
            assert_eq!(CardText::named(text.as_str()), Some(text));
        }
        assert_eq!(CardText::named("first_mes"), None);
    }
}
