//! What templates are told of a turn: the values of their variables, and the flags that no variable tells.

use context::frame::{BlockKind, Place};
use context::prompt_template::{self as template, Flag, Given, Mode, Variables};
use domain::card::Card;
use domain::persona::Persona;
use domain::settings::{ContentRating, Placement, Values};

use crate::collect::Collected;
use crate::error::{Answer, bad_input};
use crate::lore::Lore;
use crate::memory::{self, Recalled};

/// Every variable of the turn. The mode's text may name any of the others.
///
/// # Errors
/// `BadInput` if it names what there is not.
pub(crate) fn of(collected: &Collected) -> Answer<Variables> {
    let Collected { card, persona, values, mode, memory, lore, story, group, .. } = collected;
    let given = story.tell(given(card, persona, values, mode, memory, lore));
    let given = given.text("user.question", memory::last_said(collected));
    let given =
        instructed(group.tell(given, collected.speaker()), collected.instructions().1, collected.post_history());
    let (given, _) = given.details(&collected.values.details);
    let unknown =
        |error: template::UnknownVariable| bad_input(error.to_string(), "Report this as a fault of the program.");
    // What stands for lore means something in the sections of lore alone.
    let before = given.clone().text("lore.before", "").text("lore.after", "");
    let before = Variables::resolve(before).map_err(unknown)?;
    let spoken = mode
        .spoken(&before)
        .map_err(|error| bad_input(format!("The mode \"{}\": {error}.", mode.name), "Correct the mode's text."))?;
    Variables::resolve(given.text("mode.text", spoken)).map_err(unknown)
}

/// All but the instructions and the mode's text.
fn given(card: &Card, persona: &Persona, values: &Values, mode: &Mode, memory: &Recalled, lore: &Lore) -> Given {
    let classic = values.placement == Placement::Classic;
    Given::default()
        .text("character.name", card.spoken_name())
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
        .text("memory.relationship", memory.joined(&[BlockKind::Relationship]))
        .text("memory.facts", memory.joined(&[BlockKind::Fact, BlockKind::Memory]))
        .text("memory.lastSession", memory.joined(&[BlockKind::LastSession]))
        .text("memory.count", memory.count().to_string())
        .text("user.citations", memory.citations())
        .text("lore.before", lore.mark(Place::BeforeCharacter, classic))
        .text("lore.after", lore.mark(Place::AfterCharacter, classic))
}

/// Adds what stands for the template's own instructions.
fn instructed(given: Given, system_prompt: &str, post_history: &str) -> Given {
    given.text("character.systemPrompt", system_prompt).text("character.postHistory", post_history)
}

/// What the details name in vain.
pub(crate) fn unknown_details(values: &Values) -> Option<String> {
    let (_, unknown) = Given::default().details(&values.details);
    (!unknown.is_empty()).then(|| format!("The details name what there is not: {}", unknown.join(", ")))
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

pub(crate) fn switches(collected: &Collected) -> Vec<Flag> {
    let values = &collected.values;
    let (every, (said, since)) = (i64::from(values.remind_every_messages.max(1)), collected.said);
    // Of two who talk in turn one has the even numbers: what counts is that a multiple was passed since the user spoke last.
    let due = said / every > (said - since) / every;
    let all =
        [(Flag::ReminderDue, due), (Flag::IncludeScene, values.include_scene), (Flag::Assist, values.introductions)];
    all.into_iter().filter(|(_, on)| *on).map(|(flag, _)| flag).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use context::prompt_template::{VariableDoc, VariableSource, reference};
    use domain::PersonaId;
    use uuid::Uuid;

    use super::*;
    use crate::story::Story;

    /// What the reference says is given is what the engine gives, no more and no less.
    #[test]
    fn the_reference_knows_what_is_given() {
        let card = Card::new("Mira").unwrap();
        let persona = Persona {
            id: PersonaId(Uuid::nil()),
            name: "Tom".into(),
            description: String::new(),
            instructions: String::new(),
        };
        let mode = Mode { name: "study".into(), title: String::new(), text: String::new() };
        let given = given(&card, &persona, &Values::default(), &mode, &Recalled::default(), &Lore::default());
        // `of` adds them: what is answered is no part of the turn's surroundings, and the mode's text is made from the others.
        let given = instructed(Story::default().tell(given), "", "").text("user.question", "").text("mode.text", "");
        // Jobs beside the chat hand these in.
        let given = given.text("transcript", "").text("summary.words", "");
        let given: BTreeSet<&str> = given.names().collect();
        let reference = reference();
        let plain = |doc: &&VariableDoc| doc.source == VariableSource::Given;
        let mut supplied: BTreeSet<&str> = reference.iter().filter(plain).map(|doc| doc.name).collect();
        // Made from the name where the engine hands in no other.
        supplied.insert("character.fullName");
        assert_eq!(given, supplied);
    }
}
