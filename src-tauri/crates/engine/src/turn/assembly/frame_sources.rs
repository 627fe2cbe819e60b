//! The source of a section's text, and the kind of its block.

use context::frame::{BlockKind, InsertionPoint, Source};
use context::prompt_template::{ComposedSection, SectionKind, SectionRole};
use context::reason::BlockReason;
use domain::overrides::{CardText, InstructionSource};
use domain::prompt::PromptRole;

use crate::turn::assembly::frame::Builder;

/// The section's source text: as written in the template, or in the card, persona or setting that
/// supplies it. The block links to that place.
pub(super) fn written<'s>(section: &'s ComposedSection, source: &Source) -> &'s str {
    match source {
        Source::Template { .. } => &section.written,
        _ => &section.text,
    }
}

/// The lore place that a section shows; `None` for other sections.
pub(super) fn place_of(kind: SectionKind) -> Option<InsertionPoint> {
    match kind {
        SectionKind::LoreBefore => Some(InsertionPoint::BeforeCharacter),
        SectionKind::LoreAfter => Some(InsertionPoint::AfterCharacter),
        _ => None,
    }
}

pub(super) fn kind(kind: SectionKind) -> BlockKind {
    match kind {
        SectionKind::Rules => BlockKind::Rules,
        SectionKind::Description => BlockKind::Description,
        SectionKind::Personality => BlockKind::Personality,
        SectionKind::Scenario => BlockKind::Scenario,
        SectionKind::Persona => BlockKind::Persona,
        SectionKind::Examples => BlockKind::Examples,
        SectionKind::PostHistory => BlockKind::PostHistory,
        SectionKind::Mode => BlockKind::Mode,
        SectionKind::Note => BlockKind::Note,
        SectionKind::Reminder => BlockKind::Reminder,
        _ => BlockKind::Section,
    }
}

pub(super) fn role(role: SectionRole) -> PromptRole {
    match role {
        SectionRole::System => PromptRole::System,
        SectionRole::User => PromptRole::User,
        SectionRole::Assistant => PromptRole::Character,
    }
}

pub(super) fn reason(kind: BlockKind) -> BlockReason {
    match kind {
        BlockKind::Examples => BlockReason::KeptWhileThereIsRoom,
        BlockKind::PostHistory => BlockReason::InHead,
        BlockKind::Mode => BlockReason::ChatMode,
        BlockKind::Reminder => BlockReason::ReminderDue,
        BlockKind::Note => BlockReason::Note,
        _ => BlockReason::Always,
    }
}

impl Builder<'_> {
    pub(super) fn source(&self, section: &ComposedSection) -> Source {
        let persona = || Source::Persona {
            name: self.turn.inputs.snapshot.persona.name.clone(),
        };
        match section.kind {
            _ if section.original.is_some() && section.kind == SectionKind::PostHistory => {
                self.card_text(CardText::PostHistory)
            }
            _ if section.original.is_some()
                && self.turn.inputs.snapshot.instructions().0 == InstructionSource::Persona =>
            {
                persona()
            }
            _ if section.original.is_some() => self.card_text(CardText::SystemPrompt),
            SectionKind::Description => self.card_text(CardText::Description),
            SectionKind::Personality => self.card_text(CardText::Personality),
            SectionKind::Scenario => self.card_text(CardText::Scenario),
            SectionKind::Examples => self.card_text(CardText::Examples),
            SectionKind::Persona => persona(),
            SectionKind::Mode => Source::Mode {
                name: self.turn.inputs.mode.name.clone(),
            },
            SectionKind::Reminder => Source::Reminder,
            SectionKind::Scene => Source::Setting {
                key: "scene".to_owned(),
            },
            SectionKind::Episode => Source::Setting {
                key: "episodes".to_owned(),
            },
            SectionKind::Extra => Source::Setting {
                key: "extra_instructions".to_owned(),
            },
            SectionKind::Rating => Source::Setting {
                key: "content_rating".to_owned(),
            },
            _ => Source::Template {
                template: self.turn.inputs.template.id.clone(),
                section: section.name.clone(),
            },
        }
    }

    pub(super) fn card_text(&self, text: CardText) -> Source {
        let field = text.as_str().to_owned();
        if let Some(own) = self
            .turn
            .inputs
            .speaker_text(text)
            .filter(|own| !own.card.is_empty())
        {
            return Source::CardField {
                card: own.card,
                field,
            };
        }
        match self.turn.inputs.snapshot.own_texts.get(text) {
            Some(_) => Source::ChatText { field },
            None => Source::CardField {
                card: self.turn.inputs.snapshot.card.display_name().to_owned(),
                field,
            },
        }
    }
}
