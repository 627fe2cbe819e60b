//! Sampler fields of SillyTavern that hold texts and lists: biases, bans, sequence breakers,
//! grammars and the order.

use std::collections::BTreeMap;

use domain::sampling::{
    LogitBias, SamplerOrder, SamplerStage, TokenSelector, banned_tokens, escaped, logit_biases,
    texts,
};
use domain::settings::{ConfigValue, setting};
use serde_json::{Map, Value as Json, json};

use super::ConversionNote;

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

type Values = BTreeMap<String, ConfigValue>;

/// Reads the fields of `preset`. Returns those that must be kept, because they were not converted
/// completely.
pub(super) fn read(
    preset: &Map<String, Json>,
    values: &mut Values,
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
pub(super) fn write(values: &Values, written: &mut Map<String, Json>) {
    let text = |key: &str| match values.get(key) {
        Some(ConfigValue::Text(text)) => Some(text.as_ref()),
        _ => None,
    };
    if let Some(lines) = text("logit_bias") {
        let all = logit_biases(lines).unwrap_or_default();
        let entries = all.iter().flat_map(bias_entries).enumerate();
        let entries: Vec<Json> = entries
            .map(|(at, (text, value))| json!({ "id": format!("bias-{}", at + 1), "text": text, "value": decimal(value) }))
            .collect();
        written.insert("logit_bias".to_owned(), Json::Array(entries));
    }
    if text("banned_tokens").is_some() || text("banned_strings").is_some() {
        let tokens = banned_tokens(text("banned_tokens").unwrap_or_default()).unwrap_or_default();
        let strings: Vec<String> = texts(text("banned_strings").unwrap_or_default()).collect();
        let (long, short): (Vec<_>, Vec<_>) =
            strings.into_iter().partition(|text| text.contains('\n'));
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
    if let Some(lines) = text("dry_breakers") {
        let list = json!(texts(lines).collect::<Vec<_>>());
        written.insert("dry_sequence_breakers".to_owned(), json!(list.to_string()));
    }
    if let Some(grammar) = text("grammar") {
        written.insert("grammar_string".to_owned(), json!(grammar));
    }
    if let Some(schema) =
        text("json_schema").and_then(|schema| serde_json::from_str::<Json>(schema).ok())
    {
        written.insert("json_schema".to_owned(), schema);
    }
    if let Some(ConfigValue::Switch(ban)) = values.get("ban_end_token") {
        written.insert("ban_eos_token".to_owned(), json!(ban));
        written.insert("ignore_eos_token".to_owned(), json!(ban));
    }
    if let Some(names) = text("sampler_order") {
        let name = |stage: &SamplerStage| {
            if *stage == SamplerStage::TypicalP {
                "typ_p"
            } else {
                stage.as_str()
            }
        };
        let names: Vec<&str> = SamplerOrder::parse(names)
            .stages()
            .iter()
            .map(name)
            .collect();
        written.insert("samplers".to_owned(), json!(names));
    }
}

/// The shortest decimal number that reads as this value.
fn decimal(value: f32) -> f64 {
    value.to_string().parse().unwrap_or_default()
}

/// SillyTavern's texts of a bias: `{exact}`, `[ids]`, or a word that gets a space in front.
fn bias_entries(bias: &LogitBias) -> Vec<(String, f32)> {
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

fn selector(text: &str) -> Option<TokenSelector> {
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

fn biases(
    preset: &Map<String, Json>,
    values: &mut Values,
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
    let entries: Vec<(Option<TokenSelector>, Option<f64>)> = match given {
        Json::Array(entries) => entries
            .iter()
            .map(|entry| {
                let value = entry
                    .get("value")
                    .and_then(|value| value.as_f64().or_else(|| value.as_str()?.parse().ok()));
                (
                    entry.get("text").and_then(Json::as_str).and_then(selector),
                    value,
                )
            })
            .collect(),
        // OpenAI's form: numbers by token id.
        Json::Object(ids) => ids
            .iter()
            .map(|(id, value)| {
                (
                    id.parse().ok().map(|id| TokenSelector::Ids(vec![id])),
                    value.as_f64(),
                )
            })
            .collect(),
        _ => Vec::new(),
    };
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

fn bans(
    preset: &Map<String, Json>,
    values: &mut Values,
    report: &mut Vec<ConversionNote>,
    kept: &mut Vec<String>,
) {
    let fields = ["banned_tokens", "global_banned_tokens"];
    let lines: Vec<&str> = fields
        .iter()
        .filter_map(|field| preset.get(*field)?.as_str())
        .flat_map(str::lines)
        .collect();
    let list = preset.get("banned_strings").and_then(Json::as_array);
    let listed = list
        .into_iter()
        .flatten()
        .filter_map(Json::as_str)
        .map(str::to_owned);
    let (mut strings, mut tokens) = (Vec::new(), Vec::new());
    for line in lines
        .into_iter()
        .map(str::trim)
        .filter(|line| !line.is_empty())
    {
        match line
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'))
        {
            Some(text) => strings.push(text.to_owned()),
            None if line.starts_with('[') && line.ends_with(']') => {
                match TokenSelector::parse(line) {
                    Ok(ids) => tokens.push(ids),
                    Err(why) => report.push(ConversionNote::new(
                        "banned_tokens",
                        format!("{line} is left out: {why}"),
                    )),
                }
            }
            None => tokens.push(TokenSelector::Text(line.to_owned())),
        }
    }
    strings.extend(listed);
    let unread = fields
        .into_iter()
        .chain(["banned_strings"])
        .filter(|field| {
            let value = preset.get(*field);
            value.is_some_and(|value| !value.is_string() && !value.is_array() && !value.is_null())
        });
    kept.extend(unread.map(str::to_owned));
    if preset.get("send_banned_tokens").and_then(Json::as_bool) == Some(false)
        && !(strings.is_empty() && tokens.is_empty())
    {
        report.push(ConversionNote::new(
            "send_banned_tokens",
            "the bans are switched off there; they are kept but not used",
        ));
        kept.extend(
            fields
                .into_iter()
                .chain(["banned_strings"])
                .map(str::to_owned),
        );
        return;
    }
    strings.retain(|text| !text.is_empty());
    if strings.is_empty() && tokens.is_empty() {
        kept.extend(fields.map(str::to_owned));
        kept.push("banned_strings".to_owned());
        return;
    }
    let all = strings.len() + tokens.len();
    if all > 2 * MOST {
        report.push(ConversionNote::new(
            "banned_tokens",
            format!("only the first {MOST} texts and tokens are used"),
        ));
    }
    strings.truncate(MOST);
    tokens.truncate(MOST);
    if !strings.is_empty() {
        let lines: Vec<String> = strings.iter().map(|text| escaped(text)).collect();
        put(
            values,
            "banned_strings",
            lines.join("\n"),
            "banned_tokens",
            report,
        );
    }
    if !tokens.is_empty() {
        let lines: Vec<String> = tokens.iter().map(TokenSelector::to_string).collect();
        put(
            values,
            "banned_tokens",
            lines.join("\n"),
            "banned_tokens",
            report,
        );
    }
}

fn breakers(
    preset: &Map<String, Json>,
    values: &mut Values,
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
fn code(
    preset: &Map<String, Json>,
    values: &mut Values,
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

/// Reads the order from the first list with a choice of the user. The other lists stay, for the
/// apps that read them.
fn order(
    preset: &Map<String, Json>,
    values: &mut Values,
    report: &mut Vec<ConversionNote>,
    kept: &mut Vec<String>,
) {
    let lists = ["samplers", "sampler_priority", "sampler_order"];
    let chosen: Vec<(&str, SamplerOrder)> = lists
        .into_iter()
        .filter_map(|field| Some((field, chosen_order(field, preset.get(field)?.as_array()?)?)))
        .collect();
    let used = chosen.first();
    if let Some((field, order)) = used {
        values.insert(
            "sampler_order".to_owned(),
            ConfigValue::Text(order.to_string().into()),
        );
        let others: Vec<&str> = chosen
            .iter()
            .filter(|(_, other)| other != order)
            .map(|(field, _)| *field)
            .collect();
        if !others.is_empty() {
            let others = others.join(" and ");
            report.push(ConversionNote::new(
                *field,
                format!("this order is used; the one of {others} is kept"),
            ));
        }
    }
    let kept_lists = lists
        .into_iter()
        .filter(|field| preset.contains_key(*field) && (*field != "samplers" || used.is_none()));
    kept.extend(kept_lists.map(str::to_owned));
}

/// The order of a list; `None` if it is the default one here or in its app.
fn chosen_order(field: &str, list: &[Json]) -> Option<SamplerOrder> {
    let mut stages: Vec<SamplerStage> = Vec::new();
    for stage in list.iter().filter_map(stage) {
        if !stages.contains(&stage) {
            stages.push(stage);
        }
    }
    let of_webui: Vec<SamplerStage> = stages
        .iter()
        .copied()
        .filter(|stage| WEBUI.contains(stage))
        .collect();
    if field == "sampler_priority" && of_webui == WEBUI {
        return None;
    }
    // The listed samplers take each other's places in the default order; the rest stay where they
    // are.
    let mut listed = stages.iter().copied();
    let places = SamplerStage::ALL.map(|stage| {
        if stages.contains(&stage) {
            listed.next().unwrap_or(stage)
        } else {
            stage
        }
    });
    Some(SamplerOrder::of(places)).filter(|order| *order != SamplerOrder::default())
}

/// The sampler with this number of KoboldAI, or this name of llama.cpp or text-generation-webui.
fn stage(item: &Json) -> Option<SamplerStage> {
    if let Some(number) = item.as_u64() {
        return KOBOLD.get(usize::try_from(number).ok()?).copied().flatten();
    }
    match item.as_str()? {
        "typ_p" => Some(SamplerStage::TypicalP),
        "repetition_penalty" => Some(SamplerStage::Penalties),
        "dynamic_temperature" => Some(SamplerStage::Temperature),
        "top_nsigma" => Some(SamplerStage::TopNSigma),
        name => SamplerStage::named(name),
    }
}

/// Stores a valid text. An invalid one is reported.
fn put(
    values: &mut Values,
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
mod tests {
    use super::*;
    use crate::convert::{SamplerPreset, convert, write_sampler};

    fn imported(preset: &Json) -> (SamplerPreset, String) {
        let converted = convert("preset", &preset.to_string()).unwrap();
        let notes: Vec<String> = converted
            .report
            .iter()
            .map(|note| format!("{}: {}", note.field, note.what))
            .collect();
        (converted.sampling.unwrap(), notes.join("\n"))
    }

    fn value(preset: &SamplerPreset, key: &str) -> String {
        preset
            .values
            .get(key)
            .map(ToString::to_string)
            .unwrap_or_default()
    }

    fn round_trip(preset: &Json) -> Map<String, Json> {
        let (first, _) = imported(preset);
        let written = write_sampler(&first);
        let (second, _) = imported(&Json::Object(written.clone()));
        assert_eq!(
            (second.values, second.kept),
            (first.values, first.kept),
            "{preset}"
        );
        written
    }

    #[test]
    fn biases_keep_their_exact_tokens() {
        let preset = json!({ "temp": 1, "logit_bias": [
            { "id": "a", "text": "blue", "value": -5.5 },
            { "id": "b", "text": "{blue}", "value": 0.1 },
            { "id": "c", "text": "[12, 7]", "value": 300 },
            { "id": "d", "text": "", "value": 1 },
        ]});
        let (read, notes) = imported(&preset);
        assert_eq!(
            value(&read, "logit_bias"),
            "\" blue\" = -5.5\n\"blue\" = 0.1\n[12, 7] = 100"
        );
        assert_eq!(
            notes,
            "logit_bias: 1 biases cannot be read and are left out"
        );
        let written = round_trip(&preset);
        assert_eq!(
            written["logit_bias"][1],
            json!({ "id": "bias-2", "text": "{blue}", "value": 0.1 })
        );
        let (of_chat, _) = imported(&json!({ "temperature": 1, "bias_preset_selected": "Mine",
            "bias_presets": { "Mine": [{ "text": "[3]", "value": -100 }] }}));
        assert_eq!(value(&of_chat, "logit_bias"), "[3] = -100");
    }

    #[test]
    fn bans_are_strings_texts_or_ids() {
        let preset = json!({ "temp": 1, "banned_tokens": "\"barely above a whisper\"\n[5,6]\n testament \n[x]",
            "global_banned_tokens": "\"Elara\"", "banned_strings": ["two\nlines"] });
        let (read, notes) = imported(&preset);
        assert_eq!(
            value(&read, "banned_strings"),
            "barely above a whisper\nElara\ntwo\\nlines"
        );
        assert_eq!(value(&read, "banned_tokens"), "[5, 6]\n\"testament\"");
        assert!(
            notes.starts_with("banned_tokens: [x] is left out"),
            "{notes}"
        );
        let written = round_trip(&preset);
        assert_eq!(
            written["banned_tokens"],
            "[5, 6]\ntestament\n\"barely above a whisper\"\n\"Elara\""
        );
        assert_eq!(written["banned_strings"], json!(["two\nlines"]));
        let off = json!({ "temp": 1, "banned_tokens": "[1]", "send_banned_tokens": false });
        assert_eq!(value(&imported(&off).0, "banned_tokens"), "");
        assert_eq!(round_trip(&off)["banned_tokens"], "[1]");
    }

    #[test]
    fn reads_code_breakers_and_lengths() {
        let preset = json!({ "temp": 1, "dry_sequence_breakers": "\"\\n\", \"~\"", "grammar_string": "root ::= \"a\"",
            "json_schema": { "type": "object" }, "min_length": 12, "ban_eos_token": true });
        let (read, notes) = imported(&preset);
        assert_eq!(notes, "");
        assert_eq!(value(&read, "dry_breakers"), "\\n\n~");
        assert_eq!(value(&read, "grammar"), "root ::= \"a\"");
        assert_eq!(value(&read, "json_schema"), "{\"type\":\"object\"}");
        assert_eq!(
            (value(&read, "min_tokens"), value(&read, "ban_end_token")),
            ("12".into(), "on".into())
        );
        let written = round_trip(&preset);
        assert_eq!(written["json_schema"], json!({ "type": "object" }));
        assert_eq!(written["dry_sequence_breakers"], "[\"\\n\",\"~\"]");
        let (bad, notes) =
            imported(&json!({ "temp": 1, "grammar_string": "((((", "json_schema": "[" }));
        assert!(bad.values.len() == 1 && bad.kept.len() == 2, "{bad:?}");
        assert_eq!(notes.lines().count(), 2, "{notes}");
    }

    #[test]
    fn orders_of_other_apps_become_ours() {
        let order = |field: &str, list: Json| {
            let mut preset = json!({ "temp": 1 });
            preset[field] = list;
            round_trip(&preset);
            value(&imported(&preset).0, "sampler_order")
        };
        assert_eq!(
            order("sampler_order", json!([6, 0, 1, 3, 4, 2, 5])),
            "",
            "the default of KoboldAI"
        );
        assert_eq!(
            order("sampler_order", json!([6, 5, 0, 1, 3, 4, 2])),
            "penalties, dry, top_n_sigma, temperature, top_k, typical_p, min_p, xtc, top_p"
        );
        assert_eq!(
            order(
                "samplers",
                json!([
                    "temperature",
                    "penalties",
                    "top_k",
                    "typ_p",
                    "top_p",
                    "min_p",
                    "xtc",
                    "tfs_z"
                ])
            ),
            "temperature, dry, top_n_sigma, penalties, top_k, typical_p, top_p, min_p, xtc"
        );
        let webui = json!([
            "temperature",
            "dynamic_temperature",
            "quadratic_sampling",
            "top_k",
            "top_p",
            "typical_p",
            "epsilon_cutoff",
            "eta_cutoff",
            "tfs",
            "top_a",
            "min_p",
            "mirostat"
        ]);
        assert_eq!(
            order("sampler_priority", webui),
            "",
            "the default of text-generation-webui"
        );
        let (read, notes) = imported(
            &json!({ "temp": 1, "samplers": ["min_p", "temperature", "top_k"],
            "sampler_order": [5, 6], "sampler_priority": ["nonsense", 7, null] }),
        );
        assert_eq!(
            notes,
            "samplers: this order is used; the one of sampler_order is kept"
        );
        assert!(read.kept.contains_key("sampler_order") && !read.kept.contains_key("samplers"));
    }
}
