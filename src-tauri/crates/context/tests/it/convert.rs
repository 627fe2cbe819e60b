//! Conversion of SillyTavern presets. The fixtures have the original structure but texts of our
//! own.

use context::chat_template::{ChatTemplate, RenderedRun, RenderedTurn};
use context::convert::{ConvertError, Converted, ConvertedKind, convert, write_sampler};
use context::prompt_template::{
    Composed, Flag, Given, PromptTemplate, SectionPlacement, SectionRole, Severity, TemplateFlags,
    TemplateLibrary, TemplateVariables, built_in, check, compose, resolve,
};
use domain::prompt::PromptRole;
use proptest::prelude::*;
use serde_json::{Value, json};

fn converted(value: &Value) -> Converted {
    convert("My preset", &value.to_string()).unwrap()
}

fn mira() -> Given {
    Given::default()
        .text("character.name", "Mira")
        .text("character.description", "Mira keeps the lighthouse.")
        .text("character.personality", "Shy.")
        .text("persona.name", "Tom")
        .text("persona.description", "a sailor")
        .text("lore.before", "The town is small.")
        .text("character.examplesRaw", "<START>\nMira: Oh.")
}

#[track_caller]
fn composed(template: &PromptTemplate, given: Given) -> Composed {
    composed_with(template, given, &[Flag::IncludeScene])
}

#[track_caller]
fn composed_with(template: &PromptTemplate, given: Given, switches: &[Flag]) -> Composed {
    let library: &TemplateLibrary = built_in().unwrap();
    let problems = check(&serde_json::to_string(template).unwrap(), library);
    assert!(
        problems
            .iter()
            .all(|problem| problem.severity == Severity::Warning),
        "{problems:?}"
    );
    let resolved = resolve(template, library).unwrap();
    let variables = TemplateVariables::resolve(given).unwrap();
    compose(
        &resolved,
        &variables,
        &TemplateFlags::of(&variables, switches),
    )
    .unwrap()
}

fn picture(composed: &Composed) -> String {
    let section = |it: &context::prompt_template::ComposedSection| {
        let place = match it.placement {
            SectionPlacement::Head => String::new(),
            SectionPlacement::InChat => format!(" in chat at {}", it.depth),
            other => format!(" {other:?}"),
        };
        let role = if it.role == SectionRole::System {
            String::new()
        } else {
            format!(" {:?}", it.role)
        };
        format!("[{}{role}{place}] {}", it.name, it.text)
    };
    composed
        .sections
        .iter()
        .map(section)
        .collect::<Vec<_>>()
        .join("\n")
}

fn report(converted: &Converted) -> String {
    converted
        .report
        .iter()
        .map(|note| format!("{}: {}", note.field, note.what))
        .collect::<Vec<_>>()
        .join("\n")
}

fn prompt(identifier: &str, content: &str) -> Value {
    json!({"identifier": identifier, "name": identifier, "role": "system", "content": content, "system_prompt": true})
}

fn marker(identifier: &str) -> Value {
    json!({"identifier": identifier, "name": identifier, "system_prompt": true, "marker": true})
}

fn in_chat(identifier: &str, role: &str, depth: u32, order: i32) -> Value {
    json!({"identifier": identifier, "name": identifier, "role": role, "content": format!("Remember {identifier}."),
        "injection_position": 1, "injection_depth": depth, "injection_order": order})
}

fn prompt_manager() -> Value {
    let order = |names: &[(&str, bool)]| -> Value {
        names
            .iter()
            .map(|(name, on)| json!({"identifier": name, "enabled": on}))
            .collect()
    };
    json!({
        "temperature": 0.9, "top_p": 0.95, "top_k": 0, "repetition_penalty": 1.05, "frequency_penalty": 0.3,
        "presence_penalty": 0, "openai_max_tokens": 300, "openai_max_context": 8192, "seed": -1,
        "stream_openai": true, "squash_system_messages": true, "names_behavior": 0,
        "personality_format": "{{char}} is like this: {{personality}}", "scenario_format": "{{scenario}}",
        "wi_format": "Lore: {0}", "new_chat_prompt": "The chat begins.", "new_example_chat_prompt": "An example:",
        "group_nudge_prompt": "Write only as {{char}}.", "impersonation_prompt": "Write as {{user}}.",
        "prompts": [
            prompt("main", "Tell the story of {{char}}. A price is ${five}."),
            prompt("nsfw", ""),
            prompt("jailbreak", "Stay brief."),
            prompt("off", "Not now."),
            prompt("forgotten", "In no order."),
            marker("chatHistory"), marker("worldInfoBefore"), marker("worldInfoAfter"), marker("charDescription"),
            marker("charPersonality"), marker("scenario"), marker("personaDescription"), marker("dialogueExamples"),
            marker("somethingNew"),
            in_chat("high", "system", 2, 200), in_chat("low", "user", 2, 50), in_chat("usual", "assistant", 4, 100),
        ],
        "prompt_order": [
            {"character_id": 7, "order": order(&[("main", true)])},
            {"character_id": 100_001, "order": order(&[
                ("main", true), ("worldInfoBefore", true), ("personaDescription", true), ("charDescription", true),
                ("charPersonality", true), ("scenario", true), ("nsfw", true), ("worldInfoAfter", true),
                ("dialogueExamples", true), ("off", false), ("high", true), ("low", true), ("usual", true),
                ("somethingNew", true), ("chatHistory", true), ("jailbreak", true), ("ghost", true)])},
        ],
    })
}

#[test]
fn keeps_order_and_placement_of_prompt_manager() {
    let converted = converted(&prompt_manager());
    assert_eq!(converted.kind, ConvertedKind::PromptManager);
    insta::assert_snapshot!(picture(&composed(&converted.templates[0], mira())), @r"
    [main] Tell the story of {{char}}. A price is ${five}.
    [worldInfoBefore] Lore: The town is small.
    [personaDescription] a sailor
    [charDescription] Mira keeps the lighthouse.
    [charPersonality] {{char}} is like this: Shy.
    [dialogueExamples] An example:
    Mira: Oh.
    [newChat] The chat begins.
    [jailbreak AfterHistory] Stay brief.
    [low User in chat at 2] Remember low.
    [usual Assistant in chat at 4] Remember usual.
    [high in chat at 2] Remember high.
    ");
    insta::assert_snapshot!(report(&converted), @r"
    squash_system_messages: adjacent system texts are always one message here
    prompt_order: the template also contains Inglenook's own parts: content rating, extra instructions, goal, memories, documents, mode, reminder
    wi_format: kept around the lore of the head; lore triggered in the chat goes to the message that triggered it, or is placed there too with `classic` placement
    prompt_order: one list is used for all characters; the others are left out
    prompt_order: ghost: there is no such prompt
    prompt: somethingNew: left out: an unknown position
    prompts: jailbreak: after the chat with `classic` placement; otherwise in the head, which stays cached
    prompts: low, usual, high: at their depth with `classic` placement, and always for those in the user's or the character's words and the ones above them; otherwise before the newest message, the deepest first
    openai_max_context: the context size is a setting of its own here; 8192 is not used
    ");
}

fn notes(preset: &Value) -> Vec<String> {
    report(&converted(preset))
        .lines()
        .map(str::to_owned)
        .collect()
}

/// SillyTavern's own prompts have known identifiers. It never sends others that are marked as its
/// own.
#[test]
fn prompts_that_are_never_sent_are_off_and_named() {
    let system = |identifier: &str, on| {
        json!({"identifier": identifier, "name": identifier, "role": "system",
        "content": format!("TEXT-{identifier}"), "system_prompt": on})
    };
    let order = |names: &[&str]| -> Vec<Value> {
        names
            .iter()
            .map(|name| json!({"identifier": name, "enabled": true}))
            .collect()
    };
    let mut deep = system("deep", true);
    (deep["injection_position"], deep["injection_depth"]) = (json!(1), json!(2));
    let preset = json!({"temperature": 1, "prompts": [system("main", true), system("guide", true), system("own", false),
        system("enhanceDefinitions", true), deep, marker("chatHistory"), marker("dialogueExamples")],
        "prompt_order": [{"character_id": 100_001, "order": order(&["main", "guide", "own", "enhanceDefinitions", "deep",
            "dialogueExamples", "chatHistory"])}]});
    let shown = picture(&composed(&converted(&preset).templates[0], mira()));
    assert!(!shown.contains("TEXT-guide"), "{shown}");
    for sent in [
        "TEXT-main",
        "TEXT-own",
        "TEXT-enhanceDefinitions",
        "TEXT-deep",
    ] {
        assert!(shown.contains(sent), "{sent}: {shown}");
    }
    let named: Vec<String> = notes(&preset)
        .into_iter()
        .filter(|note| note.contains("does not send it"))
        .collect();
    assert_eq!(named.len(), 1, "{named:?}");
    assert!(named[0].starts_with("prompt: guide: "), "{named:?}");
}

#[test]
fn texts_without_a_place_are_named() {
    let preset = json!({"temperature": 1, "system_prompt": "Top text A.", "jailbreak_prompt": "Topword",
        "story_string": "{{description}}", "reverse_proxy": "http://127.0.0.1", "my_notes": "Two words.",
        "prompts": [{"name": "First", "content": "One.", "enabled": false}, {"name": "Second", "content": "Two."}]});
    let named = notes(&preset);
    for field in [
        "system_prompt",
        "jailbreak_prompt",
        "story_string",
        "my_notes",
    ] {
        assert!(
            named
                .iter()
                .any(|note| note.starts_with(&format!("{field}: not sent"))),
            "{field}: {named:?}"
        );
    }
    assert!(
        !named.iter().any(|note| note.starts_with("reverse_proxy")),
        "{named:?}"
    );
    assert!(
        named.iter().any(
            |note| note.starts_with("prompt: dialogueExamples: ") && note.ends_with("not sent")
        )
    );
    let shown = picture(&composed(&converted(&preset).templates[0], mira()));
    assert!(shown.contains("Two.") && !shown.contains("One."), "{shown}");
    assert!(
        !notes(&prompt_manager())
            .iter()
            .any(|note| note.starts_with("prompt: dialogueExamples"))
    );
}

/// If a value has several names, the one that SillyTavern reads in this kind of preset is used.
#[test]
fn of_several_names_the_right_one_is_used() {
    let value = |preset: &Value, key: &str| {
        converted(preset)
            .sampling
            .unwrap()
            .values
            .get(key)
            .map(ToString::to_string)
            .unwrap_or_default()
    };
    let of_chat = json!({"prompts": [], "openai_max_tokens": 5000, "genamt": 400, "temp": 0.1, "temperature": 0.9,
        "rep_pen": 1.5, "repetition_penalty": 1.1, "freq_pen": 1, "frequency_penalty": 0.5, "presence_pen": 0.25});
    let all = [
        "max_tokens",
        "temperature",
        "repeat_penalty",
        "frequency_penalty",
        "presence_penalty",
    ];
    assert_eq!(
        all.map(|key| value(&of_chat, key)),
        ["5000", "0.9", "1.1", "0.5", "0.25"]
    );
    let named = notes(&of_chat);
    for field in ["genamt: 400", "temp: 0.1", "rep_pen: 1.5", "freq_pen: 1"] {
        assert!(
            named
                .iter()
                .any(|note| note.starts_with(&format!("{field} is not used"))),
            "{field}: {named:?}"
        );
    }
    let of_text =
        json!({"temp": 0.1, "temperature": 0.9, "genamt": 400, "max_tokens": 900, "top_p": 1});
    assert_eq!(
        ["max_tokens", "temperature"].map(|key| value(&of_text, key)),
        ["400", "0.1"]
    );
    let of_service =
        json!({"openai_max_tokens": 800, "genamt": "400", "temp": "x", "temperature": 0.7});
    assert_eq!(
        ["max_tokens", "temperature"].map(|key| value(&of_service, key)),
        ["800", "0.7"]
    );
}

/// Settings of the chat and recalled memories have a place in an imported preset, too.
#[test]
fn preset_includes_chat_settings_and_memories() {
    let set = mira()
        .text("rating", "T")
        .text("extra", "No rhymes.")
        .text("goal", "light the lamp")
        .text("reminder.text", "It is late.")
        .text("mode.text", "Explain.")
        .text("memory.facts", "Tom likes tea.")
        .text("memory.count", "1");
    let mut preset = prompt_manager();
    preset["prompts"][0]["name"] = json!("memory");
    let template = &converted(&preset).templates[0];
    let picture = picture(&composed_with(template, set, &[Flag::ReminderDue]));
    let own = picture.split_once("Remember high.").unwrap().1.trim();
    insta::assert_snapshot!(own, @r"
    [rating] Content rating: T (PG-13), for teenagers.
    [extra] No rhymes.
    [memory-2 Context] Facts:
    Tom likes tea.
    [mode Context] Explain.
    [reminder Context] Reminder:
    Keep in mind: light the lamp
    It is late.
    [goal] Gently steer the story towards this: light the lamp
    ");
}

#[test]
fn card_replaces_main_unless_forbidden() {
    let given = || mira().text("character.systemPrompt", "Be Mira. {{original}}");
    let main =
        |preset: &Value| composed(&converted(preset).templates[0], given()).sections[0].clone();
    let first = main(&prompt_manager());
    assert_eq!(first.text, "Be Mira. {{original}}");
    assert_eq!(
        first.original.unwrap(),
        "Tell the story of {{char}}. A price is ${five}."
    );
    let mut firm = prompt_manager();
    firm["prompts"][0]["forbid_overrides"] = json!(true);
    assert!(main(&firm).text.starts_with("Tell the story"));
}

#[test]
fn converts_utility_prompts_to_templates() {
    let converted = converted(&prompt_manager());
    let impersonate = &converted.templates[1];
    assert_eq!(impersonate.extends.as_deref(), Some("impersonate"));
    let text =
        composed(impersonate, mira().text("transcript", "Mira: Hi")).flow(SectionRole::System);
    assert!(
        text.starts_with("Write as {{user}}.") && text.ends_with("The conversation:\nMira: Hi"),
        "{text}"
    );
}

#[test]
fn converts_chat_completion_samplers() {
    let sampling = converted(&prompt_manager()).sampling.unwrap();
    let values = json!(sampling.values);
    let expected = json!({"temperature": 0.9, "top_k": 0, "repeat_penalty": 1.05, "max_tokens": 300, "frequency_penalty": 0.3});
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(values.get(key), Some(value), "{key}");
    }
    assert_eq!((values.get("seed"), values.get("min_p")), (None, None));
    assert!(!sampling.kept.contains_key("prompts") && !sampling.kept.contains_key("temperature"));
}

#[test]
fn reports_unused_text_completion_fields() {
    let converted = converted(
        &json!({"temp": 1.1, "top_p": "0.9", "top_k": -1, "min_p": 0.05, "rep_pen": 1.2, "genamt": 400,
        "max_length": 4096, "typical_p": 1, "mirostat_mode": 2, "xtc_probability": 0.5, "dry_multiplier": 0.0}),
    );
    assert_eq!(converted.kind, ConvertedKind::Sampler);
    let sampling = converted.sampling.as_ref().unwrap();
    assert_eq!(
        json!(sampling.values),
        json!({"temperature": 1.1, "top_p": 0.9, "top_k": 0, "min_p": 0.05, "repeat_penalty": 1.2, "max_tokens": 400,
            "typical_p": 1.0, "mirostat": 2, "xtc_probability": 0.5, "dry_multiplier": 0.0})
    );
    insta::assert_snapshot!(report(&converted), @r"
    max_length: the context size is a setting of its own here; 4096 is not used
    mirostat_mode: it replaces other samplers; without effect: top p, min p, xtc probability
    ");
    assert_eq!(
        write_sampler(sampling)["max_length"],
        json!(4096),
        "kept fields must be written back unchanged"
    );
}

#[test]
fn texts_beside_samplers_are_named() {
    let helper = json!({"name": "My helper", "temperature": 0.7, "system_prompt": "Help.", "notes": "two words", "model": "llama3"});
    insta::assert_snapshot!(report(&converted(&helper)), @r"
    system_prompt: not sent: a sampler preset has no texts for the prompt
    notes: not sent: a sampler preset has no texts for the prompt
    ");
}

#[test]
fn reports_and_keeps_unsupported_samplers() {
    let foreign = json!({"temp": 3.5, "rep_pen_range": 0, "tfs": 0.9, "smoothing_factor": 0.2, "top_a": 0, "seed": -1,
        "dynatemp": true, "min_temp": 0.5, "max_temp": 1.5, "dynatemp_exponent": 2, "sampler_order": [6, 0]});
    let converted = converted(&foreign);
    insta::assert_snapshot!(report(&converted), @r"
    temp: 3.5 is out of range here; 2 is used
    tfs: not supported here; the value 0.9 is kept
    smoothing_factor: not supported here; the value 0.2 is kept
    ");
    let sampling = converted.sampling.unwrap();
    assert_eq!(
        json!(sampling.values),
        json!({"temperature": 1.0, "dynatemp_range": 0.5, "dynatemp_exponent": 2.0})
    );
    let written = write_sampler(&sampling);
    for (field, value) in [
        ("temp", json!(1.0)),
        ("min_temp", json!(0.5)),
        ("sampler_order", json!([6, 0])),
        ("tfs", json!(0.9)),
    ] {
        assert_eq!(written[field], value, "{field}");
    }
    let again = convert("again", &Value::Object(written).to_string())
        .unwrap()
        .sampling
        .unwrap();
    assert_eq!((again.values, again.kept), (sampling.values, sampling.kept));
}

fn story() -> String {
    [
        "{{#if system}}{{system}}\n{{/if}}",
        "{{#if wiBefore}}World:\n{{wiBefore}}\n{{/if}}",
        "### About {{char}}\n{{#if description}}{{description}}\n{{/if}}",
        "{{#if personality}}{{char}}'s ways: {{personality}}\n{{else}}Nobody knows {{char}}.\n{{/if}}",
        "{{#if scenario}}Where: {{scenario}}\n{{/if}}",
        "{{#if persona}}{{user}}: {{persona}}\n{{/if}}{{trim}}",
    ]
    .concat()
}

fn context_preset() -> Value {
    json!({"name": "Letters", "story_string": story(), "example_separator": "~~", "chat_start": "It begins.",
        "use_stop_strings": false, "names_as_stop_strings": true, "trim_sentences": true})
}

#[test]
fn converts_story_string_to_sections() {
    let converted = converted(&context_preset());
    assert_eq!(
        (converted.kind, converted.name.as_str()),
        (ConvertedKind::Context, "Letters")
    );
    let composed = composed(&converted.templates[0], mira());
    insta::assert_snapshot!(picture(&composed), @r"
    [identity] You are Mira, talking with Tom.
    [rules] 1. Answer as Mira would, in the first person, in one to four short sentences.
    2. Never speak or decide for Tom; stop and wait for Tom.
    [loreBefore] World:
    The town is small.
    [description] ### About Mira
    Mira keeps the lighthouse.
    [personality] Mira's ways: Shy.
    [persona] Tom: a sailor
    [examples] ~~
    Mira: Oh.
    [chatStart] It begins.
    ");
    assert_eq!(composed.stop, ["\nTom:", "\nMira:"]);
    insta::assert_snapshot!(report(&converted), @"trim_sentences: left out: replies are stored unchanged");
}

#[test]
fn puts_separator_before_each_example() {
    let raw = "<START>\nMira: Oh.\n\nTom: Ah.\n<start>\n<START>\nMira: Hm.\n<START>\nMira: Well.";
    let given = || mira().text("character.examplesRaw", raw);
    let text = |composed: Composed| {
        composed
            .sections
            .into_iter()
            .find(|section| section.text.contains("Well"))
            .unwrap()
            .text
    };
    let mut preset = context_preset();
    preset["example_separator"] = json!("~~");
    let template = &converted(&preset).templates[0];
    let expected = "~~\nMira: Oh.\n\nTom: Ah.\n~~\nMira: Hm.\n~~\nMira: Well.";
    assert_eq!(text(composed(template, given())), expected);
    preset["example_separator"] = json!("");
    let template = &converted(&preset).templates[0];
    assert!(
        text(composed(template, given()))
            .ends_with("Mira: Oh.\n\nTom: Ah.\n\nMira: Hm.\n\nMira: Well.")
    );
    let prompts = json!({"prompts": [{"identifier": "dialogueExamples", "marker": true, "name": "E"}],
        "prompt_order": [{"character_id": 100_001, "order": [{"identifier": "dialogueExamples", "enabled": true}]}],
        "new_example_chat_prompt": "An example:"});
    let expected =
        "An example:\nMira: Oh.\n\nTom: Ah.\nAn example:\nMira: Hm.\nAn example:\nMira: Well.";
    assert_eq!(
        text(composed(&converted(&prompts).templates[0], given())),
        expected
    );
}

#[test]
fn missing_card_texts_leave_no_label() {
    let text = picture(&composed(
        &converted(&context_preset()).templates[0],
        Given::default().text("character.name", "Mira"),
    ));
    for label in ["World", "About", "Where", "ways"] {
        assert!(!text.contains(label), "{text}");
    }
    assert!(
        text.contains("Nobody knows Mira."),
        "the text of the else branch must be present: {text}"
    );
}

#[test]
fn story_string_may_be_placed_in_the_chat() {
    let mut preset = context_preset();
    (
        preset["story_string_position"],
        preset["story_string_depth"],
        preset["story_string_role"],
    ) = (json!(1), json!(3), json!(1));
    let composed = composed(&converted(&preset).templates[0], mira());
    let description = composed
        .sections
        .iter()
        .find(|section| section.name == "description")
        .unwrap();
    assert_eq!(
        (description.placement, description.depth, description.role),
        (SectionPlacement::InChat, 3, SectionRole::User)
    );
}

/// Renders with the reference engine and with ours, which must agree.
fn render(jinja: &str, roles: &[(&str, &str)], opening: bool) -> String {
    let reference = reference(jinja, roles, opening);
    if opening {
        let template =
            ChatTemplate::parse(jinja, "", "", jiff::civil::DateTime::default()).unwrap();
        let role = |name: &str| match name {
            "system" => PromptRole::System,
            "user" => PromptRole::User,
            _ => PromptRole::Character,
        };
        let turns: Vec<_> = roles
            .iter()
            .enumerate()
            .map(|(at, (name, _))| RenderedTurn {
                role: role(name),
                parts: vec![at],
            })
            .collect();
        let pieces = template.render(&turns, false).unwrap();
        let text = |piece: RenderedRun| match piece {
            RenderedRun::Control(text) => text,
            RenderedRun::Part(at) | RenderedRun::Quoted(at) => roles[at].1.to_owned(),
        };
        assert_eq!(pieces.into_iter().map(text).collect::<String>(), reference);
    }
    reference
}

fn reference(jinja: &str, roles: &[(&str, &str)], opening: bool) -> String {
    let mut environment = minijinja::Environment::new();
    environment.add_template("t", jinja).unwrap();
    let messages: Vec<_> = roles
        .iter()
        .map(|(role, content)| json!({"role": role, "content": content}))
        .collect();
    let context = json!({"messages": messages, "add_generation_prompt": opening});
    environment
        .get_template("t")
        .unwrap()
        .render(minijinja::Value::from_serialize(&context))
        .unwrap()
}

const CHAT: [(&str, &str); 4] = [
    ("system", "Rules."),
    ("user", "Hi"),
    ("assistant", "Hello"),
    ("user", "Bye"),
];

#[test]
fn converts_turn_markers_to_chat_template() {
    let converted = converted(
        &json!({"name": "Marks", "input_sequence": "<|u|>", "output_sequence": "<|a|>", "system_sequence": "<|s|>",
        "input_suffix": "<|end|>\n", "output_suffix": "<|end|>\n", "system_suffix": "<|end|>\n", "wrap": true, "macro": true,
        "stop_sequence": "<|end|>", "names_behavior": "always", "user_alignment_message": "Go on."}),
    );
    let format = converted.format.as_ref().unwrap();
    assert_eq!(
        render(&format.jinja, &CHAT, true),
        "<|s|>\nRules.<|end|>\n<|u|>\nHi<|end|>\n<|a|>\nHello<|end|>\n<|u|>\nBye<|end|>\n<|a|>\n"
    );
    assert_eq!(format.stop, ["<|end|>", "<|u|>", "<|a|>", "<|s|>"]);
    insta::assert_snapshot!(report(&converted), @r"
    user_alignment_message: left out: roles that must alternate are merged instead
    names_behavior: not kept: messages are sent without names, except in groups
    ");
}

#[test]
fn applies_wrap_and_special_first_and_last_markers() {
    let converted = converted(
        &json!({"input_sequence": "### It's {{user}}'s turn:", "output_sequence": "### Reply:",
        "last_output_sequence": "### Reply (short):", "first_output_sequence": "### Opening:", "system_same_as_user": true,
        "story_string_prefix": "### Story:", "story_string_suffix": "", "wrap": true, "sequences_as_stop_strings": false,
        "stop_sequence": ""}),
    );
    let format = converted.format.as_ref().unwrap();
    assert_eq!(
        render(&format.jinja, &CHAT, true),
        "### Story:\nRules.\n### It's 's turn:\nHi\n### Opening:\nHello\n### It's 's turn:\nBye\n### Reply (short):\n"
    );
    assert_eq!(
        render(
            &format.jinja,
            &[("assistant", "A"), ("assistant", "B")],
            false
        ),
        "### Opening:\nA\n### Reply:\nB\n"
    );
    assert!(format.stop.is_empty());
}

#[test]
fn system_prompt_replaces_the_rules() {
    let converted = converted(
        &json!({"name": "Terse", "content": "Play {{char}}.", "post_history": "Be terse."}),
    );
    assert_eq!(converted.kind, ConvertedKind::SystemPrompt);
    let composed = composed(&converted.templates[0], mira());
    assert_eq!(composed.sections[0].text, "Play {{char}}.");
    assert!(composed.sections.iter().any(|section| section.placement
        == SectionPlacement::AfterHistory
        && section.text == "Be terse."));
    assert!(!picture(&composed).contains("You are Mira, talking"));
}

#[test]
fn bundle_gives_template_format_and_samplers() {
    let converted = converted(
        &json!({"context": context_preset(), "instruct": {"name": "Marks", "input_sequence": "U:", "output_sequence": "A:"},
        "sysprompt": {"name": "Terse", "content": "Play {{char}}."}, "preset": {"temp": 0.7}, "reasoning": {"name": "x"}}),
    );
    assert_eq!(converted.kind, ConvertedKind::Bundle);
    assert_eq!(converted.templates.len(), 1);
    let composed = composed(&converted.templates[0], mira());
    assert_eq!(
        composed.sections[0].text, "Play {{char}}.",
        "it must be at the position of {{system}}"
    );
    assert_eq!(converted.format.unwrap().name, "Marks");
    assert_eq!(
        json!(converted.sampling.unwrap().values)["temperature"],
        json!(0.7)
    );
}

#[test]
fn converts_huge_presets_quickly() {
    let same =
        json!({"prompts": (0..8_000).map(|n| prompt(&n.to_string(), "y")).collect::<Vec<_>>()});
    assert_eq!(
        converted(&same).templates[0].sections.len(),
        990 + 7,
        "the limit plus the app's own sections"
    );
    let doubled = json!({"prompts": vec![prompt("x", "y"); 8_000]});
    assert!(
        converted(&doubled).report.len() < 100,
        "the report must stay short"
    );
    let deep = json!({"story_string": format!("{}{{{{persona}}}}{}", "{{#if persona}}a\n".repeat(30_000), "{{/if}}".repeat(30_000))});
    assert!(report(&converted(&deep)).contains("deeper than 20"));
}

#[test]
fn rejects_files_that_are_no_presets() {
    assert_eq!(convert("x", "{}"), Err(ConvertError::NotAPreset));
    assert_eq!(convert("x", "[]"), Err(ConvertError::NotAPreset));
    assert!(matches!(
        convert("x", "{"),
        Err(ConvertError::NotJson { .. })
    ));
    assert_eq!(
        convert("x", &" ".repeat(9 << 20)),
        Err(ConvertError::TooLarge)
    );
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        r"[${}#/a-z \n]{0,20}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec(
                ("(identifier|order|name|content|enabled|role)", inner),
                0..3
            )
            .prop_map(|fields| fields.into_iter().collect::<serde_json::Map<_, _>>().into()),
        ]
    })
}

proptest! {
    /// Invalid values never stop a conversion, and the result has no errors.
    #[test]
    fn odd_presets_give_valid_templates(fields in prop::collection::vec(("(prompts|prompt_order|story_string|content|temp|wi_format|chat_start|input_sequence|output_suffix|new_chat_prompt|context|sysprompt|instruct|preset)", any_json()), 0..6)) {
        let value = Value::Object(fields.into_iter().collect());
        if let Ok(converted) = convert("odd", &value.to_string()) {
            for template in &converted.templates {
                composed(template, mira());
            }
            if let Some(format) = converted.format {
                render(&format.jinja, &CHAT, true);
            }
        }
    }

    /// Any story string can be converted.
    #[test]
    fn converts_any_story_string(story in r"(\{\{#if (persona|x)\}\}|\{\{/if\}\}|\{\{else\}\}|\{\{(char|description|system|wiBefore|foo)\}\}|[${}a-z \n]){0,30}") {
        let converted = converted(&json!({"story_string": story}));
        composed(&converted.templates[0], mira());
    }

    /// The user's text passes through the prompt manager unchanged.
    #[test]
    fn keeps_text_unchanged(content in r"[${}a-z.]{1,40}") {
        let converted = converted(&json!({"prompts": [prompt("main", &content)]}));
        prop_assert_eq!(&composed(&converted.templates[0], mira()).sections[0].text, &content);
    }
}
