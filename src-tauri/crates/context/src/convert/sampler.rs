//! Sampler presets for text and chat completion: converts them to our settings and back.

use std::collections::BTreeMap;

use domain::settings::{ConfigValue, ValueType, disablers, setting};
use serde_json::{Map, Value as Json, json};

use super::sampler_texts;
use crate::convert::converted::SamplerPreset;
use crate::convert::note::ConversionNote;

/// Our setting keys with SillyTavern's names. Presets for text completion use the first name that
/// is present, those for chat completion the last one. Writing uses the first name.
const NAMES: [(&str, &[&str]); 21] = [
    ("temperature", &["temp", "temperature"]),
    ("top_p", &["top_p"]),
    ("top_k", &["top_k"]),
    ("min_p", &["min_p"]),
    ("typical_p", &["typical_p", "typical"]),
    ("top_n_sigma", &["nsigma", "top_n_sigma"]),
    ("repeat_penalty", &["rep_pen", "repetition_penalty"]),
    (
        "repeat_range",
        &["rep_pen_range", "repetition_penalty_range"],
    ),
    ("frequency_penalty", &["freq_pen", "frequency_penalty"]),
    ("presence_penalty", &["presence_pen", "presence_penalty"]),
    ("dry_multiplier", &["dry_multiplier"]),
    ("dry_base", &["dry_base"]),
    ("dry_allowed_length", &["dry_allowed_length"]),
    ("dry_range", &["dry_penalty_last_n"]),
    ("xtc_probability", &["xtc_probability"]),
    ("xtc_threshold", &["xtc_threshold"]),
    ("mirostat", &["mirostat_mode"]),
    ("mirostat_tau", &["mirostat_tau"]),
    ("mirostat_eta", &["mirostat_eta"]),
    ("min_tokens", &["min_length", "min_tokens"]),
    ("max_tokens", &["genamt", "max_tokens", "openai_max_tokens"]),
];

/// The context size is kept for export but not applied: a sampler preset must not decide how much
/// of a chat is sent.
const CONTEXT: [&str; 2] = ["max_length", "openai_max_context"];

/// Settings that another setting can override, with their neutral values.
const CUTS: [(&str, f64); 8] = [
    ("top_p", 1.0),
    ("top_k", 0.0),
    ("min_p", 0.0),
    ("typical_p", 1.0),
    ("top_n_sigma", 0.0),
    ("xtc_probability", 0.0),
    ("dynatemp_range", 0.0),
    ("mirostat", 0.0),
];

/// SillyTavern stores a dynamic temperature as a range; our setting is the distance from the
/// middle.
const DYNATEMP: [&str; 4] = ["dynatemp", "min_temp", "max_temp", "dynatemp_exponent"];
const SEED: &str = "seed";

/// Unsupported samplers with their neutral values.
fn others() -> [(&'static str, Json); 23] {
    [
        ("temperature_last", json!(true)),
        ("top_a", json!(0)),
        ("tfs", json!(1)),
        ("epsilon_cutoff", json!(0)),
        ("eta_cutoff", json!(0)),
        ("rep_pen_slope", json!(0)),
        ("rep_pen_decay", json!(0)),
        ("no_repeat_ngram_size", json!(0)),
        ("penalty_alpha", json!(0)),
        ("encoder_rep_pen", json!(1)),
        ("smoothing_factor", json!(0)),
        ("guidance_scale", json!(1)),
        ("negative_prompt", json!("")),
        ("skew", json!(0)),
        ("num_beams", json!(1)),
        ("length_penalty", json!(1)),
        ("early_stopping", json!(false)),
        ("max_tokens_second", json!(0)),
        ("min_keep", json!(0)),
        ("speculative_ngram", json!(false)),
        ("adaptive_target", json!(-0.01)),
        ("reasoning_effort", json!("auto")),
        ("verbosity", json!("auto")),
    ]
}

/// Converts the samplers of `preset`. Other converters handle the fields in `elsewhere`.
pub(super) fn convert(
    preset: &Map<String, Json>,
    name: &str,
    elsewhere: &[&str],
    report: &mut Vec<ConversionNote>,
) -> SamplerPreset {
    let mut values = BTreeMap::new();
    let of_chat = is_chat_completion(preset);
    for (key, names) in NAMES {
        let found = if of_chat {
            last(preset, names)
        } else {
            first(preset, names)
        };
        let Some((field, number)) = found else {
            continue;
        };
        report.extend(passed_over(preset, names, field, number));
        if let Some(value) = value(key, field, number, report) {
            values.insert(key.to_owned(), value);
        }
    }
    dynatemp(preset, &mut values);
    // -1 means a random seed, which is our default.
    if let Some((_, seed)) =
        first(preset, &[SEED]).filter(|(_, seed)| (0.0..=f64::from(u32::MAX)).contains(seed))
    {
        values.insert(SEED.to_owned(), ConfigValue::Whole(seed as u32));
    }
    report.extend(notes(preset));
    let unread = sampler_texts::read(preset, &mut values, report);
    report.extend(silenced(&values));
    let ours = |field: &str| {
        field == "name"
            || field == SEED
            || DYNATEMP.contains(&field)
            || (sampler_texts::FIELDS.contains(&field) && !unread.iter().any(|one| one == field))
            || NAMES.iter().any(|(_, names)| names.contains(&field))
    };
    let kept = preset
        .iter()
        .filter(|(field, _)| !ours(field) && !elsewhere.contains(&field.as_str()));
    let kept = kept
        .map(|(field, value)| (field.clone(), value.clone()))
        .collect();
    SamplerPreset {
        name: name.to_owned(),
        values,
        kept,
    }
}

/// Whether this module reads the field.
pub(super) fn reads(field: &str) -> bool {
    field == SEED
        || DYNATEMP.contains(&field)
        || CONTEXT.contains(&field)
        || sampler_texts::FIELDS.contains(&field)
        || NAMES.iter().any(|(_, names)| names.contains(&field))
        || others().iter().any(|(name, _)| *name == field)
}

/// Whether SillyTavern reads the file as a preset for chat completion, which has other names for
/// some values.
fn is_chat_completion(preset: &Map<String, Json>) -> bool {
    preset.get("prompts").is_some_and(Json::is_array)
        || preset
            .keys()
            .any(|field| field.starts_with("openai_") || field == "chat_completion_source")
}

/// Reports other names of a value with another number, which is not used.
fn passed_over(
    preset: &Map<String, Json>,
    names: &[&str],
    used: &str,
    number: f64,
) -> Vec<ConversionNote> {
    let others = names
        .iter()
        .filter(|name| **name != used)
        .filter_map(|name| first(preset, &[*name]));
    let different = others.filter(|(_, other)| *other != number);
    different
        .map(|(field, other)| {
            ConversionNote::new(field, format!("{other} is not used: `{used}` has {number}"))
        })
        .collect()
}

/// Writes `preset` as a SillyTavern text completion preset. Kept fields are written back unchanged.
pub fn write_sampler(preset: &SamplerPreset) -> Map<String, Json> {
    let mut written = preset.kept.clone();
    let number = |key: &str| match preset.values.get(key) {
        Some(ConfigValue::Whole(number)) => Some(json!(number)),
        Some(ConfigValue::Number(number)) => Some(json!(number)),
        _ => None,
    };
    for (key, names) in NAMES {
        if let Some(value) = number(key) {
            written.insert(names[0].to_owned(), value);
        }
    }
    if let Some(range) = number("dynatemp_range")
        .and_then(|range| range.as_f64())
        .filter(|range| *range > 0.0)
    {
        let middle = number("temperature")
            .and_then(|number| number.as_f64())
            .unwrap_or(1.0);
        written.insert("dynatemp".to_owned(), json!(true));
        written.insert("min_temp".to_owned(), json!((middle - range).max(0.0)));
        written.insert("max_temp".to_owned(), json!(middle + range));
        written.extend(
            number("dynatemp_exponent").map(|exponent| ("dynatemp_exponent".to_owned(), exponent)),
        );
    }
    if number("dynatemp_range").and_then(|range| range.as_f64()) == Some(0.0) {
        written.insert("dynatemp".to_owned(), json!(false));
    }
    written.extend(number(SEED).map(|seed| (SEED.to_owned(), seed)));
    sampler_texts::write(&preset.values, &mut written);
    written
}

/// The value of our setting, clamped to its range.
fn value(
    key: &str,
    field: &str,
    number: f64,
    report: &mut Vec<ConversionNote>,
) -> Option<ConfigValue> {
    let number = match key {
        // 0 means unset here, and -1 leaves the choice to the server.
        "repeat_penalty" | "max_tokens" if number <= 0.0 => return None,
        // 0 means the whole context in SillyTavern, but no range here.
        "repeat_range" if number <= 0.0 => return None,
        "min_tokens" if number < 0.0 => return None,
        _ => number,
    };
    let (min, max) = match setting(key)?.kind {
        ValueType::Number { min, max } => (min, max),
        ValueType::Whole { min, max } | ValueType::WholeOr { min, max, .. } => {
            (f64::from(min), f64::from(max))
        }
        _ => return None,
    };
    let taken = number.clamp(min, max);
    // -1 means off in SillyTavern; 0 means off here.
    if taken != number && !(number < 0.0 && min == 0.0) {
        report.push(ConversionNote::new(
            field,
            format!("{number} is out of range here; {taken} is used"),
        ));
    }
    match setting(key)?.kind {
        ValueType::Number { .. } => Some(ConfigValue::Number(taken)),
        _ => Some(ConfigValue::Whole(taken as u32)),
    }
}

fn dynatemp(preset: &Map<String, Json>, values: &mut BTreeMap<String, ConfigValue>) {
    let number = |field: &str| first(preset, &[field]).map(|(_, number)| number.clamp(0.0, 4.0));
    if preset.get("dynatemp").and_then(Json::as_bool) != Some(true) {
        if preset.contains_key("dynatemp") {
            values.insert("dynatemp_range".to_owned(), ConfigValue::Number(0.0));
        }
        return;
    }
    let (Some(min), Some(max)) = (number("min_temp"), number("max_temp")) else {
        return;
    };
    values.insert(
        "temperature".to_owned(),
        ConfigValue::Number(((min + max) / 2.0).min(2.0)),
    );
    values.insert(
        "dynatemp_range".to_owned(),
        ConfigValue::Number((max - min).abs() / 2.0),
    );
    if let Some(exponent) = number("dynatemp_exponent") {
        values.insert(
            "dynatemp_exponent".to_owned(),
            ConfigValue::Number(exponent),
        );
    }
}

fn notes(preset: &Map<String, Json>) -> Vec<ConversionNote> {
    let mut notes = Vec::new();
    for (field, neutral) in others() {
        let empty = |value: &Json| {
            value.as_str() == Some("") || value.as_object().is_some_and(Map::is_empty)
        };
        let works = |value: &&Json| !same(value, &neutral) && !value.is_null() && !empty(value);
        if let Some(value) = preset.get(field).filter(works) {
            notes.push(ConversionNote::new(
                field,
                format!("not supported here; the value {} is kept", shortened(value)),
            ));
        }
    }
    for field in CONTEXT {
        if let Some(size) = preset.get(field).filter(|size| !size.is_null()) {
            let size = shortened(size);
            notes.push(ConversionNote::new(
                field,
                format!("the context size is a setting of its own here; {size} is not used"),
            ));
        }
    }
    notes
}

/// Whether a setting has another value than the one that switches it off.
fn is_on(values: &BTreeMap<String, ConfigValue>, key: &str, off: f64) -> bool {
    match values.get(key) {
        Some(ConfigValue::Number(number)) => *number != off,
        Some(ConfigValue::Whole(number)) => f64::from(*number) != off,
        _ => false,
    }
}

/// Reports settings that another value of the same preset overrides.
fn silenced(values: &BTreeMap<String, ConfigValue>) -> Vec<ConversionNote> {
    let working: Vec<&str> = CUTS
        .iter()
        .filter(|(key, off)| is_on(values, key, *off))
        .map(|(key, _)| *key)
        .collect();
    let silent_by = |by: &str| {
        let holds = |key: &&str| {
            disablers(key)
                .iter()
                .any(|one| one.key == by && values.get(by).is_some_and(|value| one.disables(value)))
        };
        working
            .iter()
            .copied()
            .filter(holds)
            .map(|key| key.replace('_', " "))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let overriding = [
        (
            "temperature",
            "temp",
            "0 always takes the most likely token",
        ),
        ("mirostat", "mirostat_mode", "it replaces other samplers"),
    ];
    let overriding = overriding
        .into_iter()
        .map(|(by, field, why)| (field, why, silent_by(by)));
    overriding
        .filter(|(_, _, silent)| !silent.is_empty())
        .map(|(field, why, silent)| {
            ConversionNote::new(field, format!("{why}; without effect: {silent}"))
        })
        .collect()
}

fn same(value: &Json, neutral: &Json) -> bool {
    match (value.as_f64(), neutral.as_f64()) {
        (Some(value), Some(neutral)) => value == neutral,
        _ => value == neutral,
    }
}

fn shortened(value: &Json) -> String {
    value.to_string().chars().take(40).collect()
}

/// The first field with a number.
fn first<'n>(preset: &Map<String, Json>, fields: &[&'n str]) -> Option<(&'n str, f64)> {
    fields
        .iter()
        .find_map(|field| Some((*field, number(preset, field)?)))
}

/// The last field with a number.
fn last<'n>(preset: &Map<String, Json>, fields: &[&'n str]) -> Option<(&'n str, f64)> {
    fields
        .iter()
        .rev()
        .find_map(|field| Some((*field, number(preset, field)?)))
}

/// Parses a number; numeric texts are accepted, because presets are edited by hand.
fn number(preset: &Map<String, Json>, field: &str) -> Option<f64> {
    let value = preset.get(field)?;
    value
        .as_f64()
        .or_else(|| value.as_str()?.trim().parse().ok())
        .filter(|number: &f64| number.is_finite())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::convert::convert as read;

    fn any_preset() -> impl Strategy<Value = Map<String, Json>> {
        let names: Vec<&str> = NAMES
            .iter()
            .flat_map(|(_, names)| names.iter().copied())
            .collect();
        let ours = prop::collection::vec((prop::sample::select(names), -2..400_i32), 1..12);
        let theirs = prop::collection::vec(
            (prop::sample::select(others().to_vec()), any::<i32>()),
            0..4,
        );
        let rest = ("(max_length|sampler_order|x_[a-z]{1,5})", any::<i32>());
        (
            ours,
            theirs,
            rest,
            any::<Option<u16>>(),
            any::<Option<bool>>(),
        )
            .prop_map(|(ours, theirs, rest, seed, dynatemp)| {
                let ours = ours
                    .into_iter()
                    .map(|(name, number)| (name.to_owned(), json!(number)));
                let theirs = theirs
                    .into_iter()
                    .map(|((name, _), number)| (name.to_owned(), json!(number)));
                let mut preset: Map<String, Json> = ours.chain(theirs).collect();
                preset.insert("temp".to_owned(), json!(0.5));
                preset.insert(rest.0, json!([rest.1]));
                preset.extend(seed.map(|seed| (SEED.to_owned(), json!(seed))));
                if dynatemp == Some(false) {
                    preset.insert("dynatemp".to_owned(), json!(false));
                }
                preset
            })
    }

    proptest! {
        #![proptest_config(crate::test_cases::config(10_000))]

        #[test]
        fn any_preset_survives_a_round_trip(preset in any_preset()) {
            let first = read("x", &Json::Object(preset).to_string()).unwrap().sampling.unwrap();
            let written = Json::Object(write_sampler(&first)).to_string();
            let second = read("x", &written).unwrap().sampling.unwrap();
            prop_assert_eq!((second.values, second.kept), (first.values, first.kept));
        }
    }
}
