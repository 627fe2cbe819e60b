use super::*;
use crate::convert::convert;
use crate::convert::converted::SamplerPreset;
use crate::convert::write_sampler;

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
