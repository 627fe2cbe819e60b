//! Fields of a preset that are read elsewhere or have no place in a template.

use serde_json::{Map, Value};

use crate::convert::note::ConversionNote;
use crate::convert::preset_notes;
use crate::convert::sections::text;

/// Fields that this module or the sampler converter reads.
pub(super) const READ: [&str; 12] = [
    "prompts",
    "prompt_order",
    "personality_format",
    "scenario_format",
    "wi_format",
    "new_chat_prompt",
    "new_example_chat_prompt",
    "group_nudge_prompt",
    "impersonation_prompt",
    "continue_nudge_prompt",
    "squash_system_messages",
    "name",
];

/// Texts and switches without a counterpart.
pub(super) const ELSEWHERE: [(&str, &str); 7] = [
    (
        "squash_system_messages",
        "adjacent system texts are always one message here",
    ),
    (
        "names_behavior",
        "not kept: messages are sent without names, except in groups",
    ),
    ("send_if_empty", "left out: an empty message is not sent"),
    (
        "new_group_chat_prompt",
        "left out: group chats begin like other chats",
    ),
    ("wrap_in_quotes", "left out: messages are sent unchanged"),
    (
        "continue_prefill",
        "left out: replies continue as the model's template allows",
    ),
    (
        "custom_prompt_post_processing",
        "left out: the model's template decides the order of roles",
    ),
];

/// Notes about fields of the preset that have no place in a template.
pub(super) fn report_fields(preset: &Map<String, Value>, report: &mut Vec<ConversionNote>) {
    for (field, why) in ELSEWHERE {
        let has_value = match preset.get(field) {
            Some(Value::String(text)) => !text.trim().is_empty(),
            Some(Value::Bool(on)) => *on,
            Some(Value::Number(number)) => number.as_f64() != Some(0.0),
            _ => false,
        };
        if has_value {
            report.push(ConversionNote::new(field, why));
        }
    }
    report.push(ConversionNote::new(
        "prompt_order",
        "the template also contains Inglenook's own parts: content rating, extra instructions, goal, memories, documents, \
         mode, reminder",
    ));
    let reads =
        |field: &str| READ.contains(&field) || ELSEWHERE.iter().any(|(known, _)| *known == field);
    report.extend(preset_notes::texts_at_the_top(preset, reads));
    if !matches!(text(preset, "wi_format").trim(), "" | "{0}") {
        report.push(ConversionNote::new(
            "wi_format",
            "kept around the lore of the head; lore triggered in the chat goes to the message that triggered it, \
             or is placed there too with `classic` placement",
        ));
    }
}
