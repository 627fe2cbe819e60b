//! Tests of templates from JSON to the text of a prompt.

mod forms;
mod places;
mod tidy;

use context::prompt_template::{
    ComposeError, Composed, Flag, Given, OmitReason, Recalls, ResolveError, ResolvedTemplate,
    SectionPlacement, SectionRole, TemplateFlags, TemplateLibrary, TemplateVariables, built_in,
    compose, from_json, resolve,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn mira() -> Given {
    Given::default()
        .text("character.name", "Mira")
        .text("character.description", "Mira keeps the lighthouse.")
        .text("character.personality", "Shy and kind.")
        .text("character.gender", "female")
        .text("persona.name", "Tom")
        .text("persona.description", "a sailor")
}

fn full() -> Given {
    mira()
        .text("rating", "T")
        .text("scene", "On the pier.")
        .text("episode.theme", "The storm")
        .list("episodes", ["The storm".into()])
        .text("goal", "light the lamp")
        .text("memory.facts", "Tom likes tea.")
        .text("memory.count", "1")
        .text("mode", "study")
        .text("mode.text", "Explain.")
        .text("extra", "No rhymes.")
        .text("user.citations", "[1] Lamps burn oil.")
        .text("character.scenario", "A quiet night.")
        .text(
            "character.examplesRaw",
            "<START>\n{{user}}: Hi\n{{char}}: Oh. Hi.",
        )
        .text("lore.before", "The town is small.")
        .text("lore.after", "The sea is cold.")
        .text("interaction.description", "Talking.")
        .text("profile.leader", "Mira")
        .text("command", "a calm evening")
        .text("transcript", "Tom: Hi")
        .text("summary.words", "80")
        .text("user.question", "What burns?")
        .text("group.next", "Mira")
        .list("group.members", ["Mira".into(), "Ada".into()])
        .list("imageTags", ["smile".into(), "sea".into()])
}

/// The base template with other sections.
fn extending(sections: Value) -> ResolvedTemplate {
    let json = json!({
        "schema": "inglenook.promptTemplate", "version": 2, "id": "t", "name": "T", "extends": "base-roleplay",
        "sections": sections,
    });
    resolve(
        &from_json(&json.to_string()).unwrap().template,
        built_in().unwrap(),
    )
    .unwrap()
}

fn template(sections: Value) -> ResolvedTemplate {
    let json = json!({"schema": "inglenook.promptTemplate", "version": 2, "id": "t", "name": "T", "sections": sections});
    resolve(
        &from_json(&json.to_string()).unwrap().template,
        &TemplateLibrary::default(),
    )
    .unwrap()
}

fn shipped(id: &str) -> ResolvedTemplate {
    let library = built_in().unwrap();
    resolve(library.get(id).unwrap(), library).unwrap()
}

fn of(template: &ResolvedTemplate, given: Given, switches: &[Flag]) -> Composed {
    let variables = TemplateVariables::resolve(given).unwrap();
    compose(
        template,
        &variables,
        &TemplateFlags::of(&variables, switches),
    )
    .unwrap()
}

/// Each section as `name role placement`, followed by its text.
fn picture(composed: &Composed) -> String {
    let section = |it: &context::prompt_template::ComposedSection| {
        let place = if it.placement == SectionPlacement::Head {
            String::new()
        } else {
            format!(" {:?}", it.placement)
        };
        format!("[{} {:?}{place}]\n{}", it.name, it.role, it.text)
    };
    composed
        .sections
        .iter()
        .map(section)
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn plain_chat_begins_with_rules_and_card() {
    insta::assert_snapshot!(picture(&of(&shipped("base-roleplay"), mira(), &[])), @r"
    [identity System]
    You are Mira, talking with Tom.
    [rules System]
    1. Answer as Mira would, in the first person, in one to four short sentences.
    2. Never speak or decide for Tom; stop and wait for Tom.
    [description System]
    Mira keeps the lighthouse.
    [personality System]
    Personality: Shy and kind.
    [persona System]
    About Tom: a sailor
    [perspective System]
    Mira sounds like this: soft, hesitant, in few words; warm and patient.
    ");
}

/// The stages of a prompt show a section as written in its template.
#[test]
fn section_keeps_its_source_text() {
    let sections = json!([{"name": "rules", "order": 10, "heading": "Of ${character.name}:",
        "lines": ["${goal}", "{{char}} is here.", {"text": "Rated ${rating}.", "condition": "hasRating"}],
        "rules": ["Be ${character.name}.", "${extra}", "Stop."]}]);
    let composed = of(&template(sections), mira(), &[]);
    let section = &composed.sections[0];
    assert_eq!(
        section.text,
        "Of Mira:\n{{char}} is here.\n1. Be Mira.\n2. Stop."
    );
    let written = "Of ${character.name}:\n${goal}\n{{char}} is here.\n1. Be ${character.name}.\n${extra}\n2. Stop.";
    assert_eq!(section.written, written);
}

/// The two example templates of the structured form that ours is based on, in their original form.
fn documented() -> TemplateLibrary {
    let base = json!({"schema": "olio.llm.promptTemplate", "name": "Base Roleplay", "version": 2, "extends": null,
        "style": "narrative",
        "sections": {
            "identity": {"order": 10, "required": true,
                "content": ["You control ${system.fullName}. ${system.characterDesc}"]},
            "rules": {"order": 20, "required": true, "content": [
                "Respond ONLY for ${system.firstName} from FIRST PERSON perspective.",
                "Use <think>tags</think> for internal monologue.",
                "Limit to 1-4 sentences. Wait for user response."]},
            "episode": {"order": 30, "condition": "hasEpisodes", "content": ["${episode}", "${episodeRule}"]},
            "scene": {"order": 40, "condition": "includeScene", "content": ["${scene.auto}"]},
            "rating": {"order": 50, "required": true, "content": ["Content rated ${rating}/${ratingMpa}."]},
            "perspective": {"order": 60, "condition": "always", "content": ["${perspective}"]},
            "memory": {"order": 70, "condition": "hasMemories", "content": ["${memory.context}"]},
            "media": {"order": 80, "condition": "supportsMedia", "content": [
                "Send pics: ${image.TAG} or ${image.TAG,TAG}", "Send voice: ${audio.TEXT}"]}},
        "roles": {
            "system": {"sections": ["identity", "rules", "episode", "scene", "rating", "perspective", "memory", "media"]},
            "user": {"content": ["${user.firstName} (${user.asg}). ${user.characterDescPublic}"], "consent": true},
            "assistant": {"content": ["${system.firstName} (${system.asg}). ${system.race}"]}}});
    let sms = json!({"schema": "olio.llm.promptTemplate", "name": "SMS Chat", "extends": "Base Roleplay", "style": "sms",
        "sections": {
            "identity": {"override": true, "content": ["YOU are ${system.firstName} texting ${user.firstName}."]},
            "rules": {"override": true, "content": [
                "FORMAT: Short SMS/DM messages. 1-3 sentences MAX.",
                "Use text slang, abbreviations, emojis, lowercase.",
                "Stay in character. Match personality and speech patterns."]},
            "perspective": {"override": true, "content": ["${perspective.casual}"]},
            "episode": {"exclude": true},
            "scene": {"exclude": true}}});
    let mut library = TemplateLibrary::default();
    for template in [base, sms] {
        library.put(from_json(&template.to_string()).unwrap().template);
    }
    library
}

#[test]
fn composes_documented_sms_template() {
    let library = documented();
    let sms = resolve(library.get("SMS Chat").unwrap(), &library).unwrap();
    let given = full()
        .text("persona.gender", "male")
        .text("persona.age", "40");
    let composed = of(&sms, given, &Flag::SWITCHES);
    insta::assert_snapshot!(composed.flow(SectionRole::System), @r"
    YOU are Mira texting Tom.

    FORMAT: Short SMS/DM messages. 1-3 sentences MAX.
    Use text slang, abbreviations, emojis, lowercase.
    Stay in character. Match personality and speech patterns.

    Content rated T/PG-13.

    Text style: short and hesitant; warm and friendly.

    Facts:
    Tom likes tea.

    Send pics: ${image.TAG} or ${image.TAG,TAG}
    Send voice: ${audio.TEXT}
    ");
    insta::assert_snapshot!(composed.flow(SectionRole::User), @r"
    Tom (40 year old male). a sailor
    Content rating: T (PG-13), for teenagers.
    ");
    insta::assert_snapshot!(composed.flow(SectionRole::Assistant), @"Mira (female).");
    let roles: Vec<_> = composed
        .sections
        .iter()
        .map(|section| section.role)
        .collect();
    let introductions = roles
        .iter()
        .position(|role| *role != SectionRole::System)
        .unwrap();
    assert_eq!(
        roles[introductions..],
        [SectionRole::User, SectionRole::Assistant]
    );
    let given = full().text("rating", "");
    let quiet = of(&sms, given, &[]);
    assert!(
        quiet
            .sections
            .iter()
            .all(|section| section.role == SectionRole::System)
    );
    assert!(!quiet.flow(SectionRole::System).contains("Content rated"));
}

/// Texts that `roles` gives the persona and the character follow the system text, in every form.
#[test]
fn role_texts_are_introductions() {
    let template = json!({"schema": "inglenook.promptTemplate", "version": 2, "id": "mine", "name": "Mine",
        "extends": "base-roleplay", "roles": {
            "user": {"lines": ["U INTRO ${persona.name}"], "sections": ["persona"]},
            "assistant": {"lines": ["A INTRO ${character.name}"], "sections": ["description"]}}});
    let template = from_json(&template.to_string()).unwrap().template;
    let resolved = resolve(&template, built_in().unwrap()).unwrap();
    let composed = of(&resolved, full(), &[Flag::Assist]);
    let head = composed
        .sections
        .iter()
        .filter(|section| section.placement == SectionPlacement::Head);
    let spoken: Vec<_> = head
        .skip_while(|section| section.role == SectionRole::System)
        .collect();
    let names: Vec<_> = spoken.iter().map(|section| section.name.as_str()).collect();
    assert_eq!(
        names,
        ["role.user", "persona", "role.assistant", "description"]
    );
    let quiet = of(&resolved, full(), &[]);
    assert!(
        quiet
            .sections
            .iter()
            .all(|section| section.role == SectionRole::System)
    );
}

#[test]
fn variables_of_the_source_documents_have_values() {
    let template = template(
        json!([{"name": "a", "lines": ["${system.personality.summary}", "${system.personality.casual}",
        "${system.speechPattern}", "Mood: ${system.emotionalTendency}"]}]),
    );
    let composed = of(&template, mira().text("character.mood", "calm"), &[]);
    let lines = composed.sections[0].text.lines().count();
    assert_eq!(lines, 4, "{}", composed.sections[0].text);
}

#[test]
fn built_in_sms_overrides_the_same_sections() {
    let composed = of(&shipped("sms"), full(), &Flag::SWITCHES);
    insta::assert_snapshot!(composed.sections[..2].iter().map(|it| it.text.as_str()).collect::<Vec<_>>().join("\n"), @r"
    You are Mira, texting Tom.
    1. Write short text messages, one to three short sentences.
    2. Use everyday words, abbreviations, lowercase and emojis where they fit Mira.
    3. Stay in character. Never write Tom's messages.
    4. Gently steer the story towards this: light the lamp
    ");
    let names: Vec<_> = composed
        .sections
        .iter()
        .map(|section| section.name.as_str())
        .collect();
    assert!(!names.contains(&"episode") && !names.contains(&"scene"));
    assert!(names.contains(&"memory") && names.contains(&"description"));
}

#[test]
fn every_style_has_every_variable() {
    let sms = json!({"schema": "inglenook.promptTemplate", "version": 2, "id": "mine", "name": "Mine", "extends": "sms",
        "sections": [{"name": "more", "order": 99, "placement": "context",
            "lines": ["${scene.auto}", "${memory.context}"]}]});
    let template = from_json(&sms.to_string()).unwrap().template;
    let resolved = resolve(&template, built_in().unwrap()).unwrap();
    let composed = of(&resolved, full(), &[]);
    let more = composed
        .sections
        .iter()
        .find(|section| section.name == "more")
        .unwrap();
    assert_eq!(more.text, "Scene: On the pier.\nFacts:\nTom likes tea.");
}

#[test]
fn card_prompt_replaces_rules_and_may_embed_them() {
    let given = full()
        .text("character.systemPrompt", "Be Mira. {{original}}")
        .text("character.postHistory", "Sigh.");
    let composed = of(
        &extending(json!([{"name": "postHistory", "lines": ["Keep it short."]}])),
        given,
        &[],
    );
    let first = &composed.sections[0];
    assert_eq!(first.text, "Be Mira. {{original}}");
    let original = first.original.as_deref().unwrap();
    assert!(
        original.starts_with("You are Mira, talking with Tom.\n\n1. Answer as Mira would"),
        "{original}"
    );
    assert_eq!(
        composed.sections[1].name, "rating",
        "only the rules must be replaced"
    );
    let last = composed
        .sections
        .iter()
        .find(|section| section.name == "postHistory")
        .unwrap();
    assert_eq!(
        (last.text.as_str(), last.original.as_deref()),
        ("Sigh.", Some("Keep it short."))
    );
    assert!(
        composed
            .omitted
            .iter()
            .any(|it| it.section == "rules" && matches!(it.why, OmitReason::Replaced(_)))
    );
}

#[test]
fn card_prompt_is_used_without_replaced_section() {
    let composed = of(
        &shipped("base-roleplay"),
        mira().text("character.postHistory", "Sigh."),
        &[],
    );
    let last = composed
        .sections
        .iter()
        .find(|section| section.name == "postHistory")
        .unwrap();
    assert_eq!(
        (last.text.as_str(), last.original.as_deref()),
        ("Sigh.", Some(""))
    );
}

#[test]
fn director_lists_tags_only_if_present() {
    let with = of(&shipped("director"), full(), &[]).flow(SectionRole::System);
    assert!(
        with.contains("a calm evening") && with.ends_with("tags: smile, sea"),
        "{with}"
    );
    let without =
        of(&shipped("director"), mira().text("command", "x"), &[]).flow(SectionRole::System);
    assert!(!without.contains("Pictures"), "{without}");
}

#[test]
fn group_template_names_the_next_speaker() {
    let composed = of(&shipped("group-scene"), full(), &[]);
    let turn = composed
        .sections
        .iter()
        .find(|section| section.name == "turn")
        .unwrap();
    assert_eq!(
        (turn.placement, turn.text.as_str()),
        (
            SectionPlacement::Context,
            "It is Mira's turn to speak, and nobody else's."
        )
    );
    assert!(composed.sections[0].text.contains("Mira, Ada and Tom"));
}

/// With one character, the scene has that character only, and no turn is mentioned.
#[test]
fn group_template_works_with_one_character() {
    insta::assert_snapshot!(of(&shipped("group-scene"), mira(), &[]).flow(SectionRole::System), @r"
    This is a scene with Mira and Tom.

    1. Write only for Mira, in the first person, in one to four short sentences.
    2. Never speak or decide for Tom, nor for another character.
    3. Each character knows only what that character has seen and heard.

    Mira keeps the lighthouse.

    Personality: Shy and kind.

    About Tom: a sailor
    ");
}

/// Without a command, the director refers to the conversation.
#[test]
fn director_without_command_uses_conversation() {
    let head = of(&shipped("director"), mira(), &[]).flow(SectionRole::System);
    assert!(
        head.contains("told by the conversation") && !head.contains("meant to be:"),
        "{head}"
    );
    let with =
        of(&shipped("director"), mira().text("command", "dusk"), &[]).flow(SectionRole::System);
    assert!(
        with.contains("meant to be: dusk") && !with.contains("told by the conversation"),
        "{with}"
    );
}

#[test]
fn unset_goal_leaves_no_trace() {
    let with = picture(&of(&shipped("base-roleplay"), full(), &Flag::SWITCHES));
    assert_eq!(
        with.matches("light the lamp").count(),
        2,
        "expected in the rules and in the reminder: {with}"
    );
    let without = picture(&of(
        &shipped("base-roleplay"),
        full().text("goal", ""),
        &Flag::SWITCHES,
    ));
    assert!(
        !without.contains("steer") && !without.contains("Keep in mind"),
        "{without}"
    );
}

#[test]
fn empty_reminder_is_absent() {
    let composed = of(&shipped("base-roleplay"), mira(), &[Flag::ReminderDue]);
    assert!(
        composed
            .sections
            .iter()
            .all(|section| section.name != "reminder")
    );
}

#[test]
fn reply_stops_at_the_next_speaker() {
    assert_eq!(
        of(&shipped("base-roleplay"), mira(), &[]).stop,
        ["\nTom:", "\nMira:"]
    );
    assert_eq!(
        of(
            &shipped("base-roleplay"),
            mira().text("persona.name", ""),
            &[]
        )
        .stop,
        ["\nMira:"]
    );
}
