//! The variables and flags of a turn for templates.

use context::frame::{BlockKind, InsertionPoint};
use context::prompt_template::{self as template, Flag, Given, Mode, TemplateVariables};
use domain::card::Card;
use domain::overrides::CardText;
use domain::persona::Persona;
use domain::settings::{ContentRating, PlacementMode, Values};

use crate::base::error::{ApiResult, bad_input};
use crate::library::snapshots::snapshot::ChatSnapshot;
use crate::recall_service::recalled::Recalled;
use crate::turn::assembly::activated::ActivatedTurn;
use crate::turn::inputs::turn_inputs::TurnInputs;
use crate::turn::lore::activation::Lore;

/// Resolves all variables of the turn. The mode's text may use the others.
///
/// # Errors
/// `BadInput` if it uses an unknown variable.
pub(crate) fn of(turn: &ActivatedTurn) -> ApiResult<TemplateVariables> {
    let ActivatedTurn {
        inputs,
        memory,
        lore,
        ..
    } = turn;
    let TurnInputs {
        snapshot,
        values,
        mode,
        story,
        ..
    } = inputs;
    let ChatSnapshot {
        card,
        persona,
        group,
        ..
    } = snapshot;
    let given = story.tell(given(card, persona, values, mode, memory, lore));
    let given = given.text(
        "user.question",
        crate::recall_service::query_terms::last_said(&inputs.history),
    );
    let system_prompt = inputs.text_in_template(CardText::SystemPrompt, snapshot.instructions().1);
    let post_history = inputs.text_in_template(CardText::PostHistory, snapshot.post_history());
    let given = given.text(
        "character.scenario",
        inputs.text_in_template(CardText::Scenario, card.scenario()),
    );
    let given = instructed(
        group.tell(given, &inputs.speaker),
        &system_prompt,
        &post_history,
    );
    let given = given.list(
        "imageTags",
        picture_tags(inputs).into_iter().map(str::to_owned),
    );
    let (given, _) = given.details(&values.details);
    let unknown =
        |error: template::UnknownVariable| bad_input(error.to_string(), "Please report this bug.");
    // The placeholders for lore have a meaning only in the sections for lore.
    let before = given.clone().text("lore.before", "").text("lore.after", "");
    let before = TemplateVariables::resolve(before).map_err(unknown)?;
    let spoken = mode.spoken(&before).map_err(|error| {
        bad_input(
            format!("The mode \"{}\" fails: {error}.", mode.name),
            "Correct the mode's text.",
        )
    })?;
    TemplateVariables::resolve(given.text("mode.text", spoken)).map_err(unknown)
}

/// All variables except the instructions and the mode's text.
fn given(
    card: &Card,
    persona: &Persona,
    values: &Values,
    mode: &Mode,
    memory: &Recalled,
    lore: &Lore,
) -> Given {
    let classic = values.placement == PlacementMode::Classic;
    Given::default()
        .text("character.name", card.display_name())
        .text("character.fullName", card.name())
        .text("character.description", card.description())
        .text("character.personality", card.personality())
        .text("character.scenario", card.scenario())
        .text("character.examplesRaw", card.mes_example())
        .list("character.tags", card.tags().into_iter().map(str::to_owned))
        .text("persona.name", &persona.name)
        .text("persona.description", &persona.description)
        .list("group.members", [])
        .text("group.next", "")
        .text("rating", rating(values.content_rating))
        .text("goal", &values.session_goal)
        .text("extra", &values.extra_instructions)
        .text("reminder.text", &values.reminder)
        .text("mode", &mode.name)
        .text(
            "memory.relationship",
            memory.joined(&[BlockKind::Relationship]),
        )
        .text(
            "memory.facts",
            memory.joined(&[BlockKind::Fact, BlockKind::Memory]),
        )
        .text(
            "memory.lastSession",
            memory.joined(&[BlockKind::LastSession]),
        )
        .text("memory.count", memory.count().to_string())
        .text("user.citations", memory.citations())
        .text(
            "lore.before",
            lore.mark(InsertionPoint::BeforeCharacter, classic),
        )
        .text(
            "lore.after",
            lore.mark(InsertionPoint::AfterCharacter, classic),
        )
}

/// Adds the instructions that replace the template's own.
fn instructed(given: Given, system_prompt: &str, post_history: &str) -> Given {
    given
        .text("character.systemPrompt", system_prompt)
        .text("character.postHistory", post_history)
}

/// Notice about unknown names in the details.
pub(crate) fn unknown_details(values: &Values) -> Option<String> {
    let (_, unknown) = Given::default().details(&values.details);
    (!unknown.is_empty())
        .then(|| format!("The details contain unknown names: {}", unknown.join(", ")))
}

fn rating(rating: ContentRating) -> &'static str {
    match rating {
        ContentRating::Unset => "",
        ContentRating::Everyone => "E",
        ContentRating::Teen => "T",
        ContentRating::Mature => "M",
        ContentRating::Adult => "AO",
    }
}

/// The names of pictures that the model may show. In a group, the shared head has no part of a
/// single card.
fn picture_tags(inputs: &TurnInputs) -> Vec<&str> {
    let alone = !inputs.snapshot.group.is_scene();
    if inputs.values.picture_tags && alone {
        inputs.snapshot.card.picture_names()
    } else {
        Vec::new()
    }
}

pub(crate) fn switches(inputs: &TurnInputs) -> Vec<Flag> {
    let values = &inputs.values;
    let every = i64::from(values.remind_every_messages.max(1));
    let (said, since) = inputs.said;
    // A reminder is due if a multiple of the interval was passed since the user's previous message.
    // In a chat of two, the user may never hit an exact multiple.
    let due = said / every > (said - since) / every;
    let all = [
        (Flag::ReminderDue, due),
        (Flag::IncludeScene, values.include_scene),
        (Flag::Assist, values.introductions),
        (Flag::SupportsMedia, !picture_tags(inputs).is_empty()),
    ];
    all.into_iter()
        .filter(|(_, on)| *on)
        .map(|(flag, _)| flag)
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use context::prompt_template::{VariableDoc, VariableSource, reference};
    use domain::PersonaId;
    use uuid::Uuid;

    use super::*;
    use crate::turn::inputs::story::Story;

    /// The reference lists exactly the variables that the engine supplies.
    #[test]
    fn reference_matches_the_supplied_variables() {
        let card = Card::new("Mira").unwrap();
        let persona = Persona {
            id: PersonaId(Uuid::nil()),
            name: "Tom".into(),
            description: String::new(),
            instructions: String::new(),
            place: Default::default(),
        };
        let mode = Mode {
            name: "study".into(),
            title: String::new(),
            text: String::new(),
        };
        let given = given(
            &card,
            &persona,
            &Values::default(),
            &mode,
            &Recalled::default(),
            &Lore::default(),
        );
        // `of` adds these: the question belongs to the turn, and the mode's text is made from the
        // others.
        let given = instructed(Story::default().tell(given), "", "")
            .text("user.question", "")
            .text("mode.text", "");
        // Jobs supply these.
        let given = given.text("transcript", "").text("summary.words", "");
        let given: BTreeSet<&str> = given.names().collect();
        let reference = reference();
        let plain = |doc: &&VariableDoc| doc.source == VariableSource::Given;
        let mut supplied: BTreeSet<&str> =
            reference.iter().filter(plain).map(|doc| doc.name).collect();
        // Derived from the name if the engine supplies no other.
        supplied.insert("character.fullName");
        assert_eq!(given, supplied);
    }
}
