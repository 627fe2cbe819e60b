//! Sampler presets, of text completion and of chat completion.

use domain::sampling::SamplerOptions;
use serde_json::{Map, Value, json};

use super::{Note, SamplerPreset};

/// Fields of ours under their names there, the first that is present.
const TEMPERATURE: &[&str] = &["temp", "temperature"];
const TOP_P: &[&str] = &["top_p"];
const TOP_K: &[&str] = &["top_k"];
const MIN_P: &[&str] = &["min_p"];
const REPEAT: &[&str] = &["rep_pen", "repetition_penalty"];
const MAX_TOKENS: &[&str] = &["genamt", "openai_max_tokens", "max_tokens"];
const SEED: &[&str] = &["seed"];
/// The size of the context belongs to the model's settings here.
const CONTEXT: &[&str] = &["max_length", "openai_max_context"];

/// Samplers that we do not have, and the value at which each does nothing.
fn others() -> [(&'static str, Value); 26] {
    [
        ("temperature_last", json!(true)),
        ("top_a", json!(0)),
        ("tfs", json!(1)),
        ("typical_p", json!(1)),
        ("typical", json!(1)),
        ("epsilon_cutoff", json!(0)),
        ("eta_cutoff", json!(0)),
        ("rep_pen_range", json!(0)),
        ("rep_pen_slope", json!(0)),
        ("rep_pen_decay", json!(0)),
        ("no_repeat_ngram_size", json!(0)),
        ("penalty_alpha", json!(0)),
        ("encoder_rep_pen", json!(1)),
        ("freq_pen", json!(0)),
        ("presence_pen", json!(0)),
        ("frequency_penalty", json!(0)),
        ("presence_penalty", json!(0)),
        ("dynatemp", json!(false)),
        ("smoothing_factor", json!(0)),
        ("dry_multiplier", json!(0)),
        ("mirostat_mode", json!(0)),
        ("xtc_probability", json!(0)),
        ("nsigma", json!(0)),
        ("guidance_scale", json!(1)),
        ("grammar_string", json!("")),
        ("banned_tokens", json!("")),
    ]
}

/// The samplers of `preset`. Fields in `elsewhere` are other converters'.
pub(super) fn convert(
    preset: &Map<String, Value>,
    name: &str,
    elsewhere: &[&str],
    report: &mut Vec<Note>,
) -> SamplerPreset {
    let options = SamplerOptions {
        temperature: number(preset, TEMPERATURE),
        top_p: number(preset, TOP_P),
        top_k: whole(preset, TOP_K),
        min_p: number(preset, MIN_P),
        repeat_penalty: number(preset, REPEAT).filter(|penalty| *penalty > 0.0),
        max_tokens: whole(preset, MAX_TOKENS).filter(|tokens| *tokens > 0),
        seed: seed(preset),
    };
    report.extend(notes(preset));
    let ours = [TEMPERATURE, TOP_P, TOP_K, MIN_P, REPEAT, MAX_TOKENS, SEED].concat();
    let foreign = |field: &str| field != "name" && !ours.contains(&field) && !elsewhere.contains(&field);
    let kept = preset.iter().filter(|(field, _)| foreign(field));
    SamplerPreset {
        name: name.to_owned(),
        options,
        kept: kept.map(|(field, value)| (field.clone(), value.clone())).collect(),
    }
}

fn notes(preset: &Map<String, Value>) -> Vec<Note> {
    let mut notes = Vec::new();
    for (field, neutral) in others() {
        let works = |value: &&Value| !same(value, &neutral) && !value.is_null();
        if let Some(value) = preset.get(field).filter(works) {
            notes.push(Note::new(field, format!("this sampler is not here; its value {} is kept", shortened(value))));
        }
    }
    let context = CONTEXT.iter().filter(|field| preset.contains_key(**field));
    notes.extend(context.map(|field| Note::new(*field, "the context size is a setting of the model here")));
    notes
}

fn same(value: &Value, neutral: &Value) -> bool {
    match (value.as_f64(), neutral.as_f64()) {
        (Some(value), Some(neutral)) => value == neutral,
        _ => value == neutral,
    }
}

fn shortened(value: &Value) -> String {
    value.to_string().chars().take(40).collect()
}

/// Numbers that were written as texts count: presets are edited by hand.
fn first(preset: &Map<String, Value>, fields: &[&str]) -> Option<f64> {
    let value = fields.iter().find_map(|field| preset.get(*field).filter(|value| !value.is_null()))?;
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok()).filter(|number| number.is_finite())
}

fn number(preset: &Map<String, Value>, fields: &[&str]) -> Option<f32> {
    first(preset, fields).filter(|number| *number >= 0.0).map(|number| number as f32)
}

/// -1 and 0 are off there, 0 is off here.
fn whole(preset: &Map<String, Value>, fields: &[&str]) -> Option<u32> {
    first(preset, fields).map(|number| number.clamp(0.0, f64::from(u32::MAX)) as u32)
}

/// -1 draws a new seed each time, which is what no seed means here.
fn seed(preset: &Map<String, Value>) -> Option<u32> {
    first(preset, SEED).filter(|seed| (0.0..=f64::from(u32::MAX)).contains(seed)).map(|seed| seed as u32)
}
