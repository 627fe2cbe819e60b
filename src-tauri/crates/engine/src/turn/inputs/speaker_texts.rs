//! The instructions, the scenario and the name of the character that speaks in a group scene.
//!
//! SillyTavern sends the speaker's own texts. Classic placement puts them where the template has
//! them. Cache-first placement sends them with the turn's message, so that the head stays the same
//! whoever speaks.

use context::Placement;
use context::frame::{BlockKind, Candidate, Source};
use context::prompt_template::{ComposedSection, SectionKind, Slot};
use context::reason::BlockReason;
use domain::overrides::CardText;
use domain::settings::GroupTexts;

use crate::library::groups::scene::{Member, named};
use crate::library::snapshots::macro_scope::MacroNames;
use crate::turn::inputs::turn_inputs::TurnInputs;

/// The texts that follow the speaker. With cache-first placement they are sent in the order of
/// their scores; the line that names the speaker has the score 0.
const TEXTS: [(CardText, BlockKind, f32); 3] = [
    (CardText::Scenario, BlockKind::Scenario, 3.0),
    (CardText::SystemPrompt, BlockKind::Rules, 2.0),
    (CardText::PostHistory, BlockKind::PostHistory, -1.0),
];

/// A text of a member's card.
pub(crate) struct SpeakerText {
    /// The name on the card.
    pub(crate) card: String,
    /// With the member's name in place of the macro for it.
    pub(crate) text: String,
}

/// Whether a card field is a text that follows the speaker.
pub(crate) fn follows_speaker(field: &str) -> bool {
    TEXTS.iter().any(|(text, ..)| text.as_str() == field)
}

impl TurnInputs {
    /// Macro scope of texts that are sent for this turn only: `{{char}}` is the speaker.
    pub(crate) fn speaker_names(&self) -> MacroNames<'_> {
        match &self.known.speaker {
            Some(speaker) => self.snapshot.macro_names_of(speaker),
            None => self.snapshot.macro_names(),
        }
    }

    /// Macro scope of the head: `{{char}}` is the speaker with classic placement. With cache-first
    /// placement the head stays the same whoever speaks, so `{{char}}` names all members.
    pub(crate) fn head_names(&self) -> MacroNames<'_> {
        match self.placement() {
            Placement::Classic => self.speaker_names(),
            Placement::CacheFirst => self.snapshot.macro_names().spoken_by_all(),
        }
    }

    /// The text of a section. In a group scene, text of the chat's own card keeps its character's
    /// name.
    pub(crate) fn text_of_section(&self, section: &ComposedSection) -> String {
        let of_card = matches!(section.kind, SectionKind::Scenario) || section.original.is_some();
        match self.snapshot.group.members().first().filter(|_| of_card) {
            Some(own) => named(&section.text, &own.name),
            None => section.text.clone(),
        }
    }

    /// The speaker's text in place of the group's. `None` if the group's applies: outside a group
    /// scene, by the setting, or because the chat or the persona has a text of its own. The
    /// narrator and the user have no instructions, and share the scenario of the chat's own
    /// character.
    pub(crate) fn speaker_text(&self, field: CardText) -> Option<SpeakerText> {
        let group = &self.snapshot.group;
        let of_persona = field == CardText::SystemPrompt
            && !self.snapshot.persona.instructions.trim().is_empty();
        let of_group = self.values.group_texts == GroupTexts::Group || of_persona;
        if !group.is_scene() || of_group || !follows_speaker(field.as_str()) {
            return None;
        }
        if self.snapshot.own_texts.get(field).is_some() {
            return None;
        }
        let speaker = self
            .known
            .speaker
            .as_ref()
            .and_then(|turn| group.member(turn));
        let speaker = speaker.or_else(|| {
            group
                .members()
                .first()
                .filter(|_| field == CardText::Scenario)
        });
        let text = |member: &Member| named(field.of(&member.card).trim(), &member.name);
        Some(SpeakerText {
            card: speaker
                .map(|member| member.card.display_name().to_owned())
                .unwrap_or_default(),
            text: speaker.map(text).unwrap_or_default(),
        })
    }

    /// The text of a card for the template: the speaker's, or `group` if the group's applies. With
    /// cache-first placement the speaker's is sent elsewhere.
    pub(crate) fn text_in_template(&self, field: CardText, group: &str) -> String {
        match self.speaker_text(field) {
            Some(own) if self.placement() == Placement::Classic => own.text,
            Some(_) => String::new(),
            None => group.to_owned(),
        }
    }

    /// The speaker's texts that are sent with the turn's message, not expanded yet. A template
    /// without a place for one leaves it out.
    pub(crate) fn texts_of_turn(&self) -> Vec<(Candidate, SpeakerText)> {
        if self.placement() == Placement::Classic {
            return Vec::new();
        }
        let has_place = |field: &CardText| match field {
            CardText::SystemPrompt => self.template.has_slot(Slot::SystemPrompt),
            CardText::PostHistory => self.template.has_slot(Slot::PostHistory),
            _ => self.template.has(SectionKind::Scenario),
        };
        let texts = TEXTS.iter().filter(|(field, ..)| has_place(field));
        let texts = texts.filter_map(|(field, kind, score)| {
            let own = self
                .speaker_text(*field)
                .filter(|own| !own.text.is_empty())?;
            let source = Source::CardField {
                card: own.card.clone(),
                field: field.as_str().to_owned(),
            };
            Some((
                Candidate::new(*kind, source, BlockReason::Always, "").with_score(*score),
                own,
            ))
        });
        texts.collect()
    }
}
