//! Every value that a turn can have is used by the base template.

use std::collections::BTreeSet;

use context::BlockKind;
use context::prompt_template::{SectionKind, VariableSource, reference};

use super::*;

/// All variables that the engine supplies.
fn supplied() -> Given {
    mira_as_the_engine_knows_her()
        .text("character.scenario", "A quiet night.")
        .text(
            "character.examplesRaw",
            "<START>\n{{user}}: Hi\n{{char}}: Oh. Hi.",
        )
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
        .text("user.question", "What burns?")
        .text("user.citations", "guide.md: Lamps burn oil.")
        .text("lore.before", "The town is small.")
        .text("lore.after", "The sea is cold.")
        .text("transcript", "")
        .text("summary.words", "")
}

fn mira_as_the_engine_knows_her() -> Given {
    Given::default()
        .text("character.name", "Mira")
        .text("character.description", "Mira keeps the lighthouse.")
        .text("character.personality", "Shy and kind.")
        .text("persona.name", "Tom")
        .text("persona.description", "a sailor")
}

/// Every supplied value appears in the prompt.
#[test]
fn uses_all_supplied_variables() {
    let given = supplied();
    let given: BTreeSet<&str> = given.names().collect();
    for doc in reference()
        .iter()
        .filter(|doc| doc.source == VariableSource::Given)
    {
        assert!(given.contains(doc.name), "{}", doc.name);
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
    [citations System Context]
    guide.md: Lamps burn oil.
    [mode System Context]
    Explain.
    [reminder System Context]
    Reminder:
    Episode: The storm.
    Keep in mind: light the lamp
    It is late.
    ");
}

/// All details of the chat, and pictures.
#[test]
fn uses_details_and_pictures() {
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
    To show a picture, write ${image.TAG} with one of the tags on a line of its own.
    Picture tags: smile, sea
    [examples System]
    Examples of how Mira talks:
    {{user}}: Hi
    {{char}}: Oh. Hi.
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
    [reminder System Context]
    Reminder:
    Episode: The storm.
    Keep in mind: light the lamp
    ");
}

/// The effect of `change` on the section for lore after the character.
fn lore_after(change: Value) -> Vec<SectionKind> {
    let mut section = json!({"name": "loreAfter"});
    section
        .as_object_mut()
        .unwrap()
        .extend(change.as_object().unwrap().clone());
    of(&extending(json!([section])), mira(), &[]).without_lore
}

/// Without lore the section is absent, too, but then the template did not switch it off.
#[test]
fn lore_is_off_if_no_section_includes_it() {
    assert_eq!(of(&shipped("base-roleplay"), mira(), &[]).without_lore, []);
    assert_eq!(lore_after(json!({"condition": "lore.after"})), []);
    assert_eq!(
        lore_after(json!({"condition": "lore.after && hasMode"})),
        [SectionKind::LoreAfter]
    );
    assert_eq!(
        lore_after(json!({"condition": "!always"})),
        [SectionKind::LoreAfter]
    );
    assert_eq!(
        lore_after(json!({"exclude": true})),
        [SectionKind::LoreAfter]
    );
    let without_any = template(json!([{"name": "a", "lines": ["Hello."]}]));
    assert_eq!(
        of(&without_any, mira(), &[]).without_lore,
        [],
        "without lore sections, default places are used"
    );
}

#[test]
fn separates_headings_from_memories_and_documents() {
    let heading = |section: Value, kind: BlockKind| {
        let composed = of(&template(json!([section])), full(), &[]);
        composed
            .headings
            .iter()
            .find_map(|heading| heading.of(kind, &heading.text))
    };
    let all = json!({"name": "a", "kind": "memory", "heading": "What ${persona.name} told:", "lines": ["${memory.context}"]});
    assert_eq!(
        heading(all.clone(), BlockKind::Fact).as_deref(),
        Some("What Tom told:\nFacts:")
    );
    assert_eq!(heading(all, BlockKind::Lore), None);
    let facts =
        json!({"name": "a", "kind": "memory", "heading": "Known:", "lines": ["${memory.facts}"]});
    assert_eq!(
        heading(facts.clone(), BlockKind::Memory).as_deref(),
        Some("Known:")
    );
    assert_eq!(heading(facts, BlockKind::LastSession), None);
    let documents = json!({"name": "a", "kind": "citations", "heading": "Sources:", "lines": ["${user.citations}"]});
    assert_eq!(
        heading(documents, BlockKind::Document).as_deref(),
        Some("Sources:")
    );
    let hollow =
        json!({"name": "a", "kind": "memory", "heading": " ", "lines": ["${memory.facts}"]});
    assert_eq!(heading(hollow, BlockKind::Fact), None);
}
