//! Sampler fields of SillyTavern that hold texts and lists: biases, bans, sequence breakers,
//! grammars and the order.

mod bans;
mod order;

use std::collections::BTreeMap;

use domain::sampling::{
    SamplerOrder, SamplerStage, TokenSelector, banned_tokens, logit_biases, texts,
};
use domain::settings::{ConfigValue, setting};
use serde_json::{Map, Value as Json, json};

use self::bans::{bans, bias_entries, biases, breakers, code};
use self::order::order;
use crate::convert::note::ConversionNote;

/// Maximum number of biases and bans, because each is compared with every token of a reply.
const MOST: usize = 1_000;

/// Fields that are always converted or reported here. They are kept if they could not be converted.
pub(super) const FIELDS: [&str; 13] = [
    "logit_bias",
    "bias_presets",
    "banned_tokens",
    "global_banned_tokens",
    "banned_strings",
    "dry_sequence_breakers",
    "grammar_string",
    "json_schema",
    "ban_eos_token",
    "ignore_eos_token",
    "samplers",
    "sampler_priority",
    "sampler_order",
];

/// Numbers of the samplers in KoboldAI. 1 and 3 are top-a and tail-free sampling, which do not
/// exist here.
const KOBOLD: [Option<SamplerStage>; 7] = [
    Some(SamplerStage::TopK),
    None,
    Some(SamplerStage::TopP),
    None,
    Some(SamplerStage::TypicalP),
    Some(SamplerStage::Temperature),
    Some(SamplerStage::Penalties),
];

/// Order of text-generation-webui, which its presets contain without a choice of the user.
const WEBUI: [SamplerStage; 5] = [
    SamplerStage::Temperature,
    SamplerStage::TopK,
    SamplerStage::TopP,
    SamplerStage::TypicalP,
    SamplerStage::MinP,
];

type PresetValues = BTreeMap<String, ConfigValue>;

/// Reads the fields of `preset`. Returns those that must be kept, because they were not converted
/// completely.
pub(super) fn read(
    preset: &Map<String, Json>,
    values: &mut PresetValues,
    report: &mut Vec<ConversionNote>,
) -> Vec<String> {
    let mut kept = Vec::new();
    biases(preset, values, report, &mut kept);
    bans(preset, values, report, &mut kept);
    breakers(preset, values, report, &mut kept);
    code(preset, values, report, &mut kept);
    let ban = ["ban_eos_token", "ignore_eos_token"]
        .map(|field| preset.get(field).and_then(Json::as_bool));
    if let Some(ban) = ban.into_iter().flatten().reduce(|one, other| one || other) {
        values.insert("ban_end_token".to_owned(), ConfigValue::Switch(ban));
    }
    order(preset, values, report, &mut kept);
    kept
}

/// Writes the values as fields of SillyTavern.
pub(super) fn write(values: &PresetValues, written: &mut Map<String, Json>) {
    if let Some(lines) = text(values, "logit_bias") {
        written.insert("logit_bias".to_owned(), written_biases(lines));
    }
    write_bans(values, written);
    if let Some(lines) = text(values, "dry_breakers") {
        let list = json!(texts(lines).collect::<Vec<_>>());
        written.insert("dry_sequence_breakers".to_owned(), json!(list.to_string()));
    }
    if let Some(grammar) = text(values, "grammar") {
        written.insert("grammar_string".to_owned(), json!(grammar));
    }
    let schema = text(values, "json_schema").and_then(|schema| serde_json::from_str(schema).ok());
    if let Some(schema) = schema {
        written.insert("json_schema".to_owned(), schema);
    }
    if let Some(ConfigValue::Switch(ban)) = values.get("ban_end_token") {
        written.insert("ban_eos_token".to_owned(), json!(ban));
        written.insert("ignore_eos_token".to_owned(), json!(ban));
    }
    if let Some(names) = text(values, "sampler_order") {
        let order = SamplerOrder::parse(names);
        let names: Vec<&str> = order.stages().iter().map(stage_name).collect();
        written.insert("samplers".to_owned(), json!(names));
    }
}

fn text<'v>(values: &'v PresetValues, key: &str) -> Option<&'v str> {
    match values.get(key) {
        Some(ConfigValue::Text(text)) => Some(text.as_ref()),
        _ => None,
    }
}

fn written_biases(lines: &str) -> Json {
    let all = logit_biases(lines).unwrap_or_default();
    let entries = all.iter().flat_map(bias_entries).enumerate();
    let entries = entries
        .map(|(at, (text, value))| json!({ "id": format!("bias-{}", at + 1), "text": text, "value": decimal(value) }));
    Json::Array(entries.collect())
}

/// Texts with more than one line do not fit into the list of lines.
fn write_bans(values: &PresetValues, written: &mut Map<String, Json>) {
    let tokens = text(values, "banned_tokens");
    let strings = text(values, "banned_strings");
    if tokens.is_none() && strings.is_none() {
        return;
    }
    let tokens = banned_tokens(tokens.unwrap_or_default()).unwrap_or_default();
    let strings: Vec<String> = texts(strings.unwrap_or_default()).collect();
    let (long, short): (Vec<_>, Vec<_>) = strings.into_iter().partition(|text| text.contains('\n'));
    let tokens = tokens.iter().filter_map(|banned| match &banned.tokens {
        TokenSelector::Ids(_) => Some(banned.tokens.to_string()),
        TokenSelector::Text(text) | TokenSelector::Word(text) => {
            (!text.contains('\n')).then(|| text.clone())
        }
    });
    let lines: Vec<String> = tokens
        .chain(short.iter().map(|text| format!("\"{text}\"")))
        .collect();
    written.insert("banned_tokens".to_owned(), json!(lines.join("\n")));
    if !long.is_empty() {
        written.insert("banned_strings".to_owned(), json!(long));
    }
}

/// SillyTavern has a name of its own for typical sampling.
fn stage_name(stage: &SamplerStage) -> &str {
    if *stage == SamplerStage::TypicalP {
        "typ_p"
    } else {
        stage.as_str()
    }
}

/// The shortest decimal number that reads as this value.
fn decimal(value: f32) -> f64 {
    value.to_string().parse().unwrap_or_default()
}

/// Stores a valid text. An invalid one is reported.
fn put(
    values: &mut PresetValues,
    key: &str,
    text: String,
    field: &str,
    report: &mut Vec<ConversionNote>,
) -> bool {
    let Some(setting) = setting(key) else {
        return false;
    };
    match setting.kind.check(ConfigValue::Text(text.into())) {
        Ok(value) => {
            values.insert(key.to_owned(), value);
            true
        }
        Err(refusal) => {
            report.push(ConversionNote::new(
                field,
                format!("{refusal}; it is kept but not used"),
            ));
            false
        }
    }
}

#[cfg(test)]
mod tests;
