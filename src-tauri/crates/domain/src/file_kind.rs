//! Identifies JSON files that are not importable. The error message can name them, and they never become empty
//! characters.

use serde_json::{Map, Value};

/// A known but unsupported file type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnsupportedFile {
    /// Completes "this is ...".
    pub what: &'static str,
    /// Suggested alternative; empty if there is none.
    pub instead: &'static str,
}

/// Matches files that have all fields of `all` and `at_least` fields of `some`.
struct DetectionRule {
    what: &'static str,
    instead: &'static str,
    all: &'static [&'static str],
    some: &'static [&'static str],
    at_least: usize,
}

const SILLYTAVERN: &str = "To take over more than single files, import the whole folder of SillyTavern";

const fn rule(what: &'static str, instead: &'static str, all: &'static [&'static str]) -> DetectionRule {
    DetectionRule { what, instead, all, some: &[], at_least: 0 }
}

const RULES: &[DetectionRule] = &[
    DetectionRule {
        what: "a SillyTavern theme",
        instead: "Change the look of this app in Settings",
        all: &[],
        some: &[
            "blur_strength",
            "main_text_color",
            "italics_text_color",
            "underline_text_color",
            "quote_text_color",
            "blur_tint_color",
            "chat_tint_color",
            "user_mes_blur_tint_color",
            "bot_mes_blur_tint_color",
            "shadow_color",
            "shadow_width",
            "border_color",
            "font_scale",
            "fast_ui_mode",
            "avatar_style",
            "chat_display",
            "chat_width",
            "custom_css",
            "movingUIState",
        ],
        at_least: 2,
    },
    rule("a SillyTavern window layout", "", &["movingUIState"]),
    DetectionRule {
        what: "a SillyTavern reasoning preset",
        instead: "Inglenook recognises thoughts automatically",
        all: &["prefix", "suffix"],
        some: &["separator", "name"],
        at_least: 1,
    },
    DetectionRule {
        what: "a SillyTavern group",
        instead: SILLYTAVERN,
        all: &["members"],
        some: &[
            "chat_id",
            "chats",
            "activation_strategy",
            "generation_mode",
            "disabled_members",
            "allow_self_responses",
        ],
        at_least: 1,
    },
    rule("SillyTavern settings", SILLYTAVERN, &["power_user"]),
    rule("SillyTavern settings", SILLYTAVERN, &["oai_settings", "extension_settings"]),
    rule("a NovelAI preset", "", &["presetVersion", "parameters"]),
    rule("a NovelAI story", "", &["storyContainerVersion"]),
    rule("a NovelAI scenario", "", &["scenarioVersion"]),
    DetectionRule {
        what: "an Agnai preset",
        instead: "",
        all: &[],
        some: &[
            "gaslight",
            "useGaslight",
            "ultimeJailbreak",
            "antiBond",
            "presetMode",
            "memoryDepth",
            "useTemplateParser",
        ],
        at_least: 2,
    },
    DetectionRule {
        what: "a text-generation-webui chat",
        instead: "",
        all: &["internal", "visible"],
        some: &[],
        at_least: 0,
    },
    rule("a text-generation-webui instruction template", "", &["turn_template"]),
    rule("a text-generation-webui instruction template", "", &["instruction_template"]),
    rule("text-generation-webui user data", "Add a persona with that name and text instead", &["name1", "user_bio"]),
    rule("a single SillyTavern quick reply", "Export the whole set of quick replies instead", &["label", "message"]),
    rule("a KoboldAI story", "", &["gamestarted", "actions"]),
    rule("KoboldAI settings", "", &["savedsettings"]),
    rule("an image generation workflow", "", &["nodes", "links"]),
    rule("a description of a model", "Choose the model's GGUF file instead", &["architectures", "model_type"]),
    rule("a tokenizer", "Choose the model's GGUF file instead", &["added_tokens", "model"]),
    rule("a description of a software package", "", &["dependencies", "version"]),
    rule("a description of a software package", "", &["devDependencies"]),
    DetectionRule {
        what: "a SillyTavern extension",
        instead: "Inglenook never runs programs of other apps",
        all: &["display_name"],
        some: &["loading_order", "js", "css"],
        at_least: 1,
    },
];

/// Fields that only characters have. A file with one of them is never treated as another type.
const OF_CHARACTERS: [&str; 8] = [
    "first_mes",
    "mes_example",
    "personality",
    "char_name",
    "char_persona",
    "char_greeting",
    "example_dialogue",
    "sampleChat",
];
/// Card fields, including those of other apps. A card needs at least one of them besides its name.
const CARD_FIELDS: [&str; 14] = [
    "description",
    "scenario",
    "greeting",
    "context",
    "world_scenario",
    "first_message",
    "first_messages",
    "example_dialogs",
    "system_prompt",
    "post_history_instructions",
    "alternate_greetings",
    "creator_notes",
    "character_book",
    "persona",
];

/// Identifies a known but unsupported file.
pub fn foreign(file: &Value) -> Option<UnsupportedFile> {
    match file {
        Value::Object(root) if !looks_like_card(root) && !is_character(root) => object(root),
        Value::Array(items) => {
            let all = !items.is_empty() && items.iter().all(|item| item.as_object().is_some_and(is_helper_script));
            all.then_some(HELPER_SCRIPT)
        }
        _ => None,
    }
}

const HELPER_SCRIPT: UnsupportedFile =
    UnsupportedFile { what: "a Tavern-Helper script", instead: "Inglenook never runs programs of other apps" };

fn object(root: &Map<String, Value>) -> Option<UnsupportedFile> {
    if is_helper_script(root) {
        return Some(HELPER_SCRIPT);
    }
    if is_agnai_chat(root) {
        return Some(UnsupportedFile { what: "an Agnai chat", instead: "" });
    }
    let has = |name: &&&str| root.contains_key(**name);
    let fits = |rule: &&DetectionRule| {
        let some = rule.some.iter().filter(has).count();
        rule.all.iter().all(|name| root.contains_key(*name)) && some >= rule.at_least
    };
    match root.get("type").and_then(Value::as_str) {
        Some("regex") if root.get("data").is_some_and(Value::is_array) => {
            Some(UnsupportedFile { what: "RisuAI regex scripts", instead: "" })
        }
        Some("risuModule") => Some(UnsupportedFile { what: "a RisuAI module", instead: "" }),
        _ => RULES.iter().find(fits).map(|rule| UnsupportedFile { what: rule.what, instead: rule.instead }),
    }
}

/// Whether a named object is a character: it declares a card format, or has a card field besides its name.
pub fn may_be_card(root: &Map<String, Value>) -> bool {
    looks_like_card(root)
        || root.contains_key("data")
        || is_character(root)
        || CARD_FIELDS.iter().any(|field| root.contains_key(*field) && !is_preset(root, field))
        || {
            let inner = |place: &str| root.get(place).is_some_and(|inner| inner.get("greeting").is_some());
            inner("character") || inner("char")
        }
}

/// SillyTavern's export of all presets has an object in `context`. The oldest cards have a string there.
fn is_preset(root: &Map<String, Value>, field: &str) -> bool {
    field == "context" && root.get(field).is_some_and(Value::is_object)
}

fn looks_like_card(root: &Map<String, Value>) -> bool {
    root.get("spec").and_then(Value::as_str).is_some_and(|spec| spec.starts_with("chara_card"))
}

fn is_character(root: &Map<String, Value>) -> bool {
    OF_CHARACTERS.iter().any(|field| root.contains_key(*field))
        || root.get("kind").and_then(Value::as_str) == Some("character")
}

fn is_helper_script(root: &Map<String, Value>) -> bool {
    let kind = root.get("type").and_then(Value::as_str);
    let content = |name: &str| root.get(name).is_some();
    match kind {
        Some("script") => content("content") || content("value"),
        Some("folder") => content("scripts") || content("value"),
        _ => false,
    }
}

fn is_agnai_chat(root: &Map<String, Value>) -> bool {
    let said = |message: &Value| {
        message.get("msg").is_some_and(Value::is_string)
            && ["characterId", "userId", "handle"].iter().any(|field| message.get(*field).is_some())
    };
    root.get("messages").and_then(Value::as_array).is_some_and(|all| all.first().is_some_and(said))
}

/// Returns lorebook entries that are stored without a lorebook, as one object or as a list.
pub fn entries_without_book(file: &Value) -> Option<Vec<&Value>> {
    let is_entry = |value: &Value| {
        let Value::Object(entry) = value else { return false };
        let has = |name: &str| entry.contains_key(name);
        let keys =
            ["key", "keys"].iter().any(|name| entry.get(*name).is_some_and(|keys| keys.is_array() || keys.is_string()));
        let rank = ["uid", "order", "insertion_order", "keysecondary", "secondary_keys"].iter().any(|name| has(name));
        keys && rank && has("content") && !has("entries") && !has("spec")
    };
    match file {
        Value::Array(items) => (!items.is_empty() && items.iter().all(is_entry)).then(|| items.iter().collect()),
        one => is_entry(one).then(|| vec![one]),
    }
}

/// Guesses the type of a damaged JSON file from the field names in its text, for messages such as "the lorebook is not
/// valid JSON".
pub fn guess_damaged_kind(text: &str) -> &'static str {
    let has = |name: &str| text.contains(&format!("\"{name}\""));
    match text {
        _ if ["chara_card_v2", "chara_card_v3", "first_mes", "char_greeting"].iter().any(|name| has(name)) => "card",
        _ if has("entries") => "lorebook",
        _ if has("findRegex") => "regex script",
        _ if has("persona_descriptions") => "backup of personas",
        _ if ["prompts", "story_string", "input_sequence", "temperature", "temp"].iter().any(|name| has(name)) => {
            "preset"
        }
        _ if ["qrList", "quickReplySlots"].iter().any(|name| has(name)) => "set of quick replies",
        _ if has("description") || has("personality") => "card",
        _ => "file",
    }
}

#[cfg(test)]
mod tests;
