//! Identifies JSON files that are not importable. The error message can name them, and they never
//! become empty characters.

mod characters;
mod json_shape;
mod marinara;
mod translated;

pub use characters::{is_certain_card, may_be_card};
use serde_json::{Map, Value};
pub use translated::{Translated, translated};

pub use self::json_shape::entries_without_book;
use self::json_shape::{is_agnai_chat, is_helper_script};
use crate::lenient_json::Limits;

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

/// Length of the beginning that decides about the limits, in bytes.
const MAX_START: usize = 64 << 10;
/// The description of a group file, which can be applied to a chat that was imported before.
pub const GROUP: &str = "a SillyTavern group";
const SILLYTAVERN: &str =
    "To take over more than single files, import the whole folder of SillyTavern";

const fn rule(
    what: &'static str,
    instead: &'static str,
    all: &'static [&'static str],
) -> DetectionRule {
    DetectionRule {
        what,
        instead,
        all,
        some: &[],
        at_least: 0,
    }
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
        what: GROUP,
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
    rule(
        "SillyTavern settings",
        SILLYTAVERN,
        &["oai_settings", "extension_settings"],
    ),
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
    rule(
        "a text-generation-webui instruction template",
        "",
        &["turn_template"],
    ),
    rule(
        "a text-generation-webui instruction template",
        "",
        &["instruction_template"],
    ),
    rule(
        "text-generation-webui user data",
        "Add a persona with that name and text instead",
        &["name1", "user_bio"],
    ),
    rule(
        "a single SillyTavern quick reply",
        "Export the whole set of quick replies instead",
        &["label", "message"],
    ),
    rule(
        "a theme preset of Moonlit Echoes",
        "Change the look of this app in Settings",
        &["moonlitEchoesPreset"],
    ),
    DetectionRule {
        what: "settings of the SillyTavern extension NoAss",
        instead: "The chat format and the prompt template decide how messages are sent",
        all: &[],
        some: &[
            "squash_role",
            "enable_squashed_role",
            "stop_string",
            "messages_separator",
            "messages_separator_type",
            "user_prefix",
            "user_suffix",
            "char_prefix",
            "char_suffix",
            "insertable_prefill",
            "enable_insertable_prefill",
            "zero_prefill",
            "prefill_user",
            "human_prompt_before",
        ],
        at_least: 3,
    },
    DetectionRule {
        what: "a RisuAI module",
        instead: "Export its lorebook and import that",
        all: &["id"],
        some: &[
            "lorebook",
            "regex",
            "trigger",
            "cjs",
            "hideIcon",
            "namespace",
            "lowLevelAccess",
        ],
        at_least: 2,
    },
    rule("a KoboldAI story", "", &["gamestarted", "actions"]),
    rule("KoboldAI settings", "", &["savedsettings"]),
    DetectionRule {
        what: SCENARIO.what,
        instead: SCENARIO.instead,
        all: &["prompt"],
        some: &[
            "storyCards",
            "worldInfo",
            "authorsNote",
            "memory",
            "adventureCount",
            "contentRating",
            "scriptsEnabled",
        ],
        at_least: 1,
    },
    rule("an image generation workflow", "", &["nodes", "links"]),
    rule(
        "a description of a model",
        "Choose the model's GGUF file instead",
        &["architectures", "model_type"],
    ),
    DetectionRule {
        what: "settings of a model for generation",
        instead: "Choose the model's GGUF file instead",
        all: &[],
        some: &[
            "bos_token_id",
            "eos_token_id",
            "pad_token_id",
            "stop_token_ids",
            "stop_str",
            "chat_template",
        ],
        at_least: 2,
    },
    rule(
        "a tokenizer",
        "Choose the model's GGUF file instead",
        &["added_tokens", "model"],
    ),
    rule(
        "a description of a software package",
        "",
        &["dependencies", "version"],
    ),
    rule(
        "a description of a software package",
        "",
        &["devDependencies"],
    ),
    rule("a JSON schema", "", &["$schema", "properties"]),
    rule("a description of a web service", "", &["openapi"]),
    DetectionRule {
        what: "a SillyTavern extension",
        instead: "Inglenook never runs programs of other apps",
        all: &["display_name"],
        some: &["loading_order", "js", "css"],
        at_least: 1,
    },
];

/// Identifies a known but unsupported file.
pub fn foreign(file: &Value) -> Option<UnsupportedFile> {
    match file {
        Value::Object(root) if !is_certain_card(root) => object(root),
        Value::Array(items) if !items.is_empty() => {
            let all = |is: fn(&Map<String, Value>) -> bool| {
                items.iter().all(|item| item.as_object().is_some_and(is))
            };
            let scenario = || {
                items
                    .iter()
                    .all(|item| item.as_object().and_then(object) == Some(SCENARIO))
            };
            if all(is_helper_script) {
                return Some(HELPER_SCRIPT);
            }
            scenario().then_some(SCENARIO)
        }
        _ => None,
    }
}

const SCENARIO: UnsupportedFile = UnsupportedFile {
    what: "an AI Dungeon scenario",
    instead: "Its story cards can be imported on their own, as a lorebook",
};
const HELPER_SCRIPT: UnsupportedFile = UnsupportedFile {
    what: "a Tavern-Helper script",
    instead: "Inglenook never runs programs of other apps",
};

fn object(root: &Map<String, Value>) -> Option<UnsupportedFile> {
    if is_helper_script(root) {
        return Some(HELPER_SCRIPT);
    }
    if is_agnai_chat(root) {
        return Some(UnsupportedFile {
            what: "an Agnai chat",
            instead: "",
        });
    }
    let has = |name: &&&str| root.contains_key(**name);
    let fits = |rule: &&DetectionRule| {
        let some = rule.some.iter().filter(has).count();
        rule.all.iter().all(|name| root.contains_key(*name)) && some >= rule.at_least
    };
    match root.get("type").and_then(Value::as_str) {
        Some("regex") if root.get("data").is_some_and(Value::is_array) => Some(UnsupportedFile {
            what: "RisuAI regex scripts",
            instead: "",
        }),
        Some("risuModule") => Some(UnsupportedFile {
            what: "a RisuAI module",
            instead: "",
        }),
        Some(kind) if kind.starts_with(marinara::PREFIX) => Some(marinara::unsupported(kind)),
        _ => RULES.iter().find(fits).map(|rule| UnsupportedFile {
            what: rule.what,
            instead: rule.instead,
        }),
    }
}

/// Limits for a JSON file, by its beginning: lorebooks and the conversations of assistants may be
/// larger than cards.
pub fn limits_of(bytes: &[u8]) -> Limits {
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_START)]);
    let has = |name: &str| start.contains(&format!("\"{name}\""));
    let large = ["entries", "mapping", "chat_messages", "lorebookVersion"]
        .into_iter()
        .any(has);
    let card = [
        "chara_card_v2",
        "chara_card_v3",
        "first_mes",
        "char_greeting",
    ]
    .into_iter()
    .any(has);
    if large && !card {
        Limits::LARGE
    } else {
        Limits::USUAL
    }
}

/// Guesses the type of a damaged JSON file from the field names in its text, for messages such as
/// "the lorebook is not valid JSON".
pub fn guess_damaged_kind(text: &str) -> &'static str {
    let has = |name: &str| text.contains(&format!("\"{name}\""));
    match text {
        _ if [
            "chara_card_v2",
            "chara_card_v3",
            "first_mes",
            "char_greeting",
        ]
        .iter()
        .any(|name| has(name)) =>
        {
            "card"
        }
        _ if has("entries") => "lorebook",
        _ if has("findRegex") => "regex script",
        _ if has("persona_descriptions") => "backup of personas",
        _ if [
            "prompts",
            "story_string",
            "input_sequence",
            "temperature",
            "temp",
        ]
        .iter()
        .any(|name| has(name)) =>
        {
            "preset"
        }
        _ if ["qrList", "quickReplySlots"].iter().any(|name| has(name)) => "set of quick replies",
        _ if has("description") || has("personality") => "card",
        _ => "file",
    }
}

#[cfg(test)]
mod tests;
