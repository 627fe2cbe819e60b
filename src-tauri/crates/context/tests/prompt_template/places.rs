//! Everything that a turn can know of has a place in the base template.

use std::collections::BTreeSet;

use context::prompt_template::{VariableSource, reference};

use super::*;

/// Every variable that a part of the program gives, and no other.
fn supplied() -> Given {
    mira_as_the_engine_knows_her()
        .text("character.scenario", "A quiet night.")
        .text("character.examplesRaw", "<START>\n{{user}}: Hi\n{{char}}: Oh. Hi.")
        .text("character.systemPrompt", "")
        .text("character.postHistory", "Sigh.")
        .list("character.tags", ["sea".into()])
        .text("rating", "T")
        .text("scene", "On the pier.")
        .text("setting", "a harbour")
        .list("episodes", ["The calm".into(), "The storm".into()])
        .text("episode.theme", "The storm")
        .list("episode.stages", ["clouds".into(), "rain".into()])
        .text("episode.summary", "The calm")
        .list("group.members", [])
        .text("group.next", "")
        .text("goal", "light the lamp")
        .text("extra", "No rhymes.")
        .text("reminder.text", "It is late.")
        .text("mode", "study")
        .text("mode.text", "Explain.")
        .text("memory.relationship", "They are friends.")
        .text("memory.facts", "Tom likes tea.")
        .text("memory.lastSession", "They sailed.")
        .text("memory.count", "3")
        .text("lore.before", "The town is small.")
        .text("lore.after", "The sea is cold.")
}

fn mira_as_the_engine_knows_her() -> Given {
    Given::default()
        .text("character.name", "Mira")
        .text("character.description", "Mira keeps the lighthouse.")
        .text("character.personality", "Shy and kind.")
        .text("persona.name", "Tom")
        .text("persona.description", "a sailor")
}

/// What a turn can know of has a place; with what nobody gives, nothing is proven.
#[test]
fn everything_that_is_supplied_has_a_place() {
    let given = supplied();
    let given: BTreeSet<&str> = given.names().collect();
    for doc in reference().iter().filter(|doc| doc.source == VariableSource::Given) {
        assert_eq!(given.contains(doc.name), doc.supplied, "{}", doc.name);
    }
    insta::assert_snapshot!(picture(&of(&shipped("base-roleplay"), supplied(), &[Flag::ReminderDue, Flag::IncludeScene])), @r"
    [identity System]
    You are Mira, talking with Tom.
    [rules System]
    1. Answer as Mira would, in the first person, in one to four short sentences.
    2. Never speak or decide for Tom; stop and wait for Tom.
    3. Follow the stages of the episode in their order. When the last one is done, end with #NEXT EPISODE#
    4. Gently steer the story towards this: light the lamp
    [rating System]
    Content rating: T (PG-13), for teenagers.
    [extra System]
    No rhymes.
    [loreBefore System]
    The town is small.
    [description System]
    Mira keeps the lighthouse.
    [personality System]
    Personality: Shy and kind.
    [scenario System]
    Scenario: A quiet night.
    [loreAfter System]
    The sea is cold.
    [persona System]
    About Tom: a sailor
    [scene System]
    Scene: On the pier.
    [episode System]
    Episode: The storm
    Stages: clouds; rain
    Before: The calm
    [perspective System]
    Mira sounds like this: soft, hesitant, in few words; warm and patient.
    [examples System]
    Examples of how Mira talks:
    {{user}}: Hi
    {{char}}: Oh. Hi.
    [postHistory System AfterHistory]
    Sigh.
    [memory System Context]
    Relationship:
    They are friends.
    Facts:
    Tom likes tea.
    Last time:
    They sailed.
    [mode System Context]
    Explain.
    [reminder System Context]
    Reminder:
    Episode: The storm.
    Keep in mind: light the lamp
    It is late.
    ");
}

/// The base template is ready for what the program does not know yet.
#[test]
fn what_is_to_come_has_a_place() {
    insta::assert_snapshot!(picture(&of(&shipped("base-roleplay"), full(), &Flag::SWITCHES)), @r"
    [identity System]
    You are Mira, talking with Tom.
    [rules System]
    1. Answer as Mira would, in the first person, in one to four short sentences.
    2. Never speak or decide for Tom; stop and wait for Tom.
    3. Follow the stages of the episode in their order. When the last one is done, end with #NEXT EPISODE#
    4. Gently steer the story towards this: light the lamp
    [rating System]
    Content rating: T (PG-13), for teenagers.
    [extra System]
    No rhymes.
    [loreBefore System]
    The town is small.
    [description System]
    Mira keeps the lighthouse.
    [personality System]
    Personality: Shy and kind.
    [scenario System]
    Scenario: A quiet night.
    [loreAfter System]
    The sea is cold.
    [persona System]
    About Tom: a sailor
    [profile System]
    Who leads: Mira
    Together: Talking.
    [scene System]
    Scene: On the pier.
    [episode System]
    Episode: The storm
    [perspective System]
    Mira sounds like this: soft, hesitant, in few words; warm and patient.
    [media System]
    To send a picture write ${image.TAG}, to send your voice write ${audio.TEXT}.
    Picture tags: smile, sea
    [examples System]
    Examples of how Mira talks:
    {{user}}: Hi
    {{char}}: Oh. Hi.
    [postHistory System AfterHistory]
    Keep it short.
    [personaIntroduction User]
    I am Tom.
    a sailor
    [characterIntroduction Assistant]
    I am Mira (female).
    I know what this episode is about: The storm.
    [memory System Context]
    Facts:
    Tom likes tea.
    [citations System Context]
    [1] Lamps burn oil.
    [mode System Context]
    Explain.
    [note System Context]
    It rains.
    [reminder System Context]
    Reminder:
    Episode: The storm.
    Keep in mind: light the lamp
    ");
}
