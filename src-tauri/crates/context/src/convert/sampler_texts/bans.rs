//! Biases, banned texts and sequence breakers of a preset.

use domain::sampling::{LogitBias, TokenSelector, escaped};
use serde_json::{Map, Value as Json};

use crate::convert::note::ConversionNote;
use crate::convert::sampler_texts::{MOST, PresetValues, put};

/// SillyTavern's texts of a bias: `{exact}`, `[ids]`, or a word that gets a space in front.
pub(super) fn bias_entries(bias: &LogitBias) -> Vec<(String, f32)> {
    let exact = |text: &str| match text.strip_prefix(' ') {
        Some(word) if !word.is_empty() && !word.starts_with(['{', '[']) => word.to_owned(),
        _ => format!("{{{text}}}"),
    };
    let texts = match &bias.tokens {
        TokenSelector::Ids(_) => vec![bias.tokens.to_string()],
        TokenSelector::Text(text) => vec![exact(text)],
        TokenSelector::Word(word) => vec![exact(word), exact(&format!(" {word}"))],
    };
    texts.into_iter().map(|text| (text, bias.bias)).collect()
}

pub(super) fn selector(text: &str) -> Option<TokenSelector> {
    if let Some(exact) = text
        .strip_prefix('{')
        .and_then(|rest| rest.strip_suffix('}'))
    {
        return (!exact.is_empty()).then(|| TokenSelector::Text(exact.to_owned()));
    }
    if text.starts_with('[') && text.ends_with(']') {
        return TokenSelector::parse(text).ok();
    }
    (!text.trim().is_empty()).then(|| TokenSelector::Text(format!(" {text}")))
}

/// The tokens and the bias of each entry; `None` for those that cannot be read.
fn entries_of_biases(given: &Json) -> Vec<(Option<TokenSelector>, Option<f64>)> {
    let number = |value: &Json| value.as_f64().or_else(|| value.as_str()?.parse().ok());
    match given {
        Json::Array(entries) => entries
            .iter()
            .map(|entry| {
                let tokens = entry.get("text").and_then(Json::as_str).and_then(selector);
                (tokens, entry.get("value").and_then(number))
            })
            .collect(),
        // OpenAI's form: numbers by token id.
        Json::Object(ids) => ids
            .iter()
            .map(|(id, value)| {
                let tokens = id.parse().ok().map(|id| TokenSelector::Ids(vec![id]));
                (tokens, value.as_f64())
            })
            .collect(),
        _ => Vec::new(),
    }
}

pub(super) fn biases(
    preset: &Map<String, Json>,
    values: &mut PresetValues,
    report: &mut Vec<ConversionNote>,
    kept: &mut Vec<String>,
) {
    let selected = preset
        .get("bias_preset_selected")
        .and_then(Json::as_str)
        .unwrap_or_default();
    let of_selected = preset.get("bias_presets").and_then(|all| all.get(selected));
    if preset.get("bias_presets").is_some_and(|all| !all.is_null()) {
        kept.push("bias_presets".to_owned());
    }
    let Some(given) = preset
        .get("logit_bias")
        .or(of_selected)
        .filter(|value| !value.is_null())
    else {
        return;
    };
    let entries = entries_of_biases(given);
    let wanted = entries.len();
    let read = entries
        .into_iter()
        .filter_map(|(tokens, bias)| Some((tokens?, bias?.clamp(-100.0, 100.0))));
    let lines: Vec<String> = read
        .take(MOST)
        .map(|(tokens, bias)| format!("{tokens} = {bias}"))
        .collect();
    let empty = wanted == 0 && (given.as_array().is_some() || given.as_object().is_some());
    if empty {
        kept.push("logit_bias".to_owned());
        return;
    }
    if lines.len() < wanted || wanted == 0 {
        let lost = wanted - lines.len();
        report.push(ConversionNote::new(
            "logit_bias",
            format!("{lost} biases cannot be read and are left out"),
        ));
    }
    if wanted == 0 || !put(values, "logit_bias", lines.join("\n"), "logit_bias", report) {
        kept.push("logit_bias".to_owned());
    }
}

/// The fields with bans, one per line.
const BANNED_LINES: [&str; 2] = ["banned_tokens", "global_banned_tokens"];

fn ban_fields() -> impl Iterator<Item = &'static str> {
    BANNED_LINES.into_iter().chain(["banned_strings"])
}

#[derive(Default)]
struct Bans {
    strings: Vec<String>,
    tokens: Vec<TokenSelector>,
}

pub(super) fn bans(
    preset: &Map<String, Json>,
    values: &mut PresetValues,
    report: &mut Vec<ConversionNote>,
    kept: &mut Vec<String>,
) {
    let mut bans = read_bans(preset, report);
    let unread = ban_fields().filter(|field| {
        let value = preset.get(*field);
        value.is_some_and(|value| !value.is_string() && !value.is_array() && !value.is_null())
    });
    kept.extend(unread.map(str::to_owned));
    if preset.get("send_banned_tokens").and_then(Json::as_bool) == Some(false)
        && !(bans.strings.is_empty() && bans.tokens.is_empty())
    {
        report.push(ConversionNote::new(
            "send_banned_tokens",
            "the bans are switched off there; they are kept but not used",
        ));
        kept.extend(ban_fields().map(str::to_owned));
        return;
    }
    bans.strings.retain(|text| !text.is_empty());
    if bans.strings.is_empty() && bans.tokens.is_empty() {
        kept.extend(ban_fields().map(str::to_owned));
        return;
    }
    put_bans(bans, values, report);
}

fn read_bans(preset: &Map<String, Json>, report: &mut Vec<ConversionNote>) -> Bans {
    let mut bans = Bans::default();
    let lines = BANNED_LINES
        .iter()
        .filter_map(|field| preset.get(*field)?.as_str())
        .flat_map(str::lines);
    for line in lines.map(str::trim).filter(|line| !line.is_empty()) {
        match line
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'))
        {
            Some(text) => bans.strings.push(text.to_owned()),
            None if line.starts_with('[') && line.ends_with(']') => {
                match TokenSelector::parse(line) {
                    Ok(ids) => bans.tokens.push(ids),
                    Err(why) => report.push(ConversionNote::new(
                        "banned_tokens",
                        format!("{line} is left out: {why}"),
                    )),
                }
            }
            None => bans.tokens.push(TokenSelector::Text(line.to_owned())),
        }
    }
    let list = preset.get("banned_strings").and_then(Json::as_array);
    let listed = list.into_iter().flatten().filter_map(Json::as_str);
    bans.strings.extend(listed.map(str::to_owned));
    bans
}

fn put_bans(mut bans: Bans, values: &mut PresetValues, report: &mut Vec<ConversionNote>) {
    if bans.strings.len() + bans.tokens.len() > 2 * MOST {
        report.push(ConversionNote::new(
            "banned_tokens",
            format!("only the first {MOST} texts and tokens are used"),
        ));
    }
    bans.strings.truncate(MOST);
    bans.tokens.truncate(MOST);
    let strings: Vec<String> = bans.strings.iter().map(|text| escaped(text)).collect();
    let tokens: Vec<String> = bans.tokens.iter().map(TokenSelector::to_string).collect();
    for (key, lines) in [("banned_strings", strings), ("banned_tokens", tokens)] {
        if !lines.is_empty() {
            put(values, key, lines.join("\n"), "banned_tokens", report);
        }
    }
}

pub(super) fn breakers(
    preset: &Map<String, Json>,
    values: &mut PresetValues,
    report: &mut Vec<ConversionNote>,
    kept: &mut Vec<String>,
) {
    const FIELD: &str = "dry_sequence_breakers";
    let Some(given) = preset.get(FIELD).filter(|given| !given.is_null()) else {
        return;
    };
    // Some apps write the list as a JSON string, and users as a list without brackets.
    let list = match given {
        Json::String(text) if text.trim().is_empty() => {
            kept.push(FIELD.to_owned());
            return;
        }
        Json::String(text) => serde_json::from_str(text)
            .or_else(|_| serde_json::from_str(&format!("[{text}]")))
            .ok(),
        other => Some(other.clone()),
    };
    let texts: Option<Vec<String>> = list.and_then(|list| serde_json::from_value(list).ok());
    let lines = texts.map(|texts| {
        let filled = texts.iter().filter(|text| !text.is_empty());
        filled
            .map(|text| escaped(text))
            .collect::<Vec<_>>()
            .join("\n")
    });
    match lines {
        Some(lines) => {
            if !put(values, "dry_breakers", lines, FIELD, report) {
                kept.push(FIELD.to_owned());
            }
        }
        None => {
            report.push(ConversionNote::new(
                FIELD,
                "it is not a list of texts; it is kept but not used",
            ));
            kept.push(FIELD.to_owned());
        }
    }
}

/// Grammar and JSON schema.
pub(super) fn code(
    preset: &Map<String, Json>,
    values: &mut PresetValues,
    report: &mut Vec<ConversionNote>,
    kept: &mut Vec<String>,
) {
    for (field, key) in [
        ("grammar_string", "grammar"),
        ("json_schema", "json_schema"),
    ] {
        let text = match preset.get(field) {
            None | Some(Json::Null) => continue,
            Some(Json::String(text)) if key == "json_schema" => serde_json::from_str::<Json>(text)
                .map_or_else(|_| text.clone(), |schema| schema.to_string()),
            Some(Json::String(text)) => text.clone(),
            Some(Json::Object(schema)) if schema.is_empty() => String::new(),
            Some(other) => other.to_string(),
        };
        if text.trim().is_empty() || !put(values, key, text, field, report) {
            kept.push(field.to_owned());
        }
    }
}
