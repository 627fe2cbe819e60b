//! Sampler presets: import, selection on any layer, and use in requests.

use std::collections::BTreeMap;

use domain::ChatId;
use domain::sampling::{Dry, Sampling, Xtc};
use engine::api::{
    ApiError, LayeredSetting, SamplerPreset, SettingLayer, SettingOwner, SettingValue,
};
use serde_json::{Value, json};
use tests::headless::{Headless, ended};
use tests::recorder::Recorder;

/// A SillyTavern text-completion preset with some of its forty fields.
fn big_o() -> Value {
    json!({
        "temp": 0.87, "temperature_last": true, "top_p": 0.99, "top_k": 85, "top_a": 0, "tfs": 0.68, "typical_p": 0.68,
        "min_p": 0, "rep_pen": 1.01, "rep_pen_range": 128, "freq_pen": 0.25, "presence_pen": 0.5, "dry_multiplier": 0.75,
        "dry_base": 2, "dry_allowed_length": 3, "dry_penalty_last_n": 0, "xtc_probability": 0.5, "xtc_threshold": 0.125,
        "mirostat_mode": 0, "seed": 77, "genamt": 300, "max_length": 6000, "sampler_order": [6, 0, 1]
    })
}

async fn import(app: &Headless, name: &str, preset: &Value) -> (String, Vec<String>) {
    let report = app
        .engine
        .import_bytes(format!("{name}.json"), preset.to_string().into_bytes())
        .await
        .unwrap();
    let imported = report
        .imported
        .into_iter()
        .find(|one| one.kind == "samplerPreset")
        .unwrap();
    (imported.id, imported.warnings)
}

async fn choose(app: &Headless, owner: SettingOwner, preset: &str) {
    let value = Some(SettingValue::Text(preset.into()));
    app.engine
        .set_setting(owner, "sampler_preset".into(), value)
        .await
        .unwrap();
}

async fn setting(app: &Headless, owner: SettingOwner, key: &str) -> LayeredSetting {
    let all = app.engine.layered_settings(owner).await.unwrap();
    all.settings
        .into_iter()
        .find(|setting| setting.key == key)
        .unwrap()
}

async fn sampled(app: &Headless, chat: ChatId) -> Sampling {
    app.model.reply("Hm.");
    app.send(chat, "Well?").await;
    app.model.last_request().unwrap().sampling
}

fn own(name: &str, values: &[(&str, f64)]) -> SamplerPreset {
    let values = values
        .iter()
        .map(|(key, value)| ((*key).to_owned(), SettingValue::Number(*value)))
        .collect();
    SamplerPreset {
        id: String::new(),
        name: name.into(),
        built_in: false,
        values,
    }
}

#[tokio::test]
async fn imported_preset_applies_where_selected() {
    let app = Headless::new().await;
    let chat = app.first_chat().await;
    let (id, warnings) = import(&app, "Big O", &big_o()).await;
    assert_eq!((id.as_str(), warnings.len()), ("big-o", 2), "{warnings:?}");
    assert!(
        warnings[0].starts_with("tfs: not supported here"),
        "{warnings:?}"
    );
    assert!(
        warnings[1].starts_with("max_length: the context size is a setting of its own"),
        "{warnings:?}"
    );
    let before = sampled(&app, chat.id).await;

    choose(&app, SettingOwner::Character { id: chat.character }, &id).await;
    let drawn = sampled(&app, chat.id).await;
    let expected = Sampling {
        temperature: 0.87,
        top_p: 0.99,
        top_k: 85,
        min_p: 0.0,
        typical_p: 0.68,
        repeat_penalty: 1.01,
        repeat_range: 128,
        frequency_penalty: 0.25,
        presence_penalty: 0.5,
        dry: Dry {
            multiplier: 0.75,
            base: 2.0,
            allowed_length: 3,
            range: 0,
            ..before.dry.clone()
        },
        xtc: Xtc {
            probability: 0.5,
            threshold: 0.125,
        },
        max_tokens: 300,
        seed: 77,
        ..before.clone()
    };
    assert_eq!(drawn, expected);
    let limit = setting(&app, SettingOwner::Chat { id: chat.id }, "context_limit").await;
    assert_eq!(
        (limit.origin, limit.value),
        (SettingLayer::BuiltIn, limit.default),
        "the context size is unchanged"
    );
    assert_eq!(
        sampled(&app, chat.id).await.seed,
        77,
        "the seed is unchanged"
    );
    let other = app
        .engine
        .list_characters()
        .await
        .unwrap()
        .into_iter()
        .find(|one| one.id != chat.character)
        .unwrap();
    let other = app.engine.new_chat(other.id).await.unwrap().id;
    assert_eq!(sampled(&app, other).await.temperature, before.temperature);
}

/// Only one preset applies: that of the most specific layer with one. Values set on the same layer
/// override it.
#[tokio::test]
async fn preset_applies_on_its_layer_with_origin() {
    let app = Headless::new().await;
    let chat = app.first_chat().await;
    let save = async |preset| app.engine.save_sampler_preset(preset).await.unwrap().id;
    let calm = save(own("Calm", &[("temperature", 0.25), ("min_p", 0.5)])).await;
    let wild = save(own("Wild", &[("temperature", 1.75)])).await;
    let owner = || SettingOwner::Chat { id: chat.id };
    let seen = async |key| {
        let SettingAtChat {
            value,
            origin,
            preset,
        } = at(setting(&app, owner(), key).await);
        (value, origin, preset)
    };
    choose(&app, SettingOwner::Global, &calm).await;
    assert_eq!(
        seen("temperature").await,
        (0.25, SettingLayer::Global, Some("Calm".into()))
    );
    choose(&app, owner(), &wild).await;
    assert_eq!(
        seen("temperature").await,
        (1.75, SettingLayer::Chat, Some("Wild".into()))
    );
    assert_eq!(seen("min_p").await.1, SettingLayer::BuiltIn);
    app.engine
        .set_setting(
            owner(),
            "temperature".into(),
            Some(SettingValue::Number(0.5)),
        )
        .await
        .unwrap();
    assert_eq!(seen("temperature").await, (0.5, SettingLayer::Chat, None));
    app.engine
        .set_setting(owner(), "temperature".into(), None)
        .await
        .unwrap();
    assert_eq!(
        seen("temperature").await,
        (1.75, SettingLayer::Chat, Some("Wild".into()))
    );
    choose(&app, owner(), "none").await;
    assert_eq!(seen("temperature").await.1, SettingLayer::BuiltIn);

    choose(&app, owner(), &wild).await;
    app.engine.delete_sampler_preset(wild).await.unwrap();
    let gone = setting(&app, owner(), "sampler_preset").await;
    assert!(gone.layers.iter().any(|at| {
        at.problem
            .as_ref()
            .is_some_and(|why| why.contains("sampler preset"))
    }));
    assert_eq!(sampled(&app, chat.id).await.temperature, 0.8);
}

struct SettingAtChat {
    value: f64,
    origin: SettingLayer,
    preset: Option<String>,
}

fn at(setting: LayeredSetting) -> SettingAtChat {
    let SettingValue::Number(value) = setting.value else {
        panic!("{setting:?}")
    };
    SettingAtChat {
        value,
        origin: setting.origin,
        preset: setting.preset,
    }
}

#[tokio::test]
async fn presets_can_be_edited_and_exported() {
    let app = Headless::new().await;
    let (id, _) = import(&app, "Big O", &big_o()).await;
    let mut preset = app.engine.list_sampler_presets().await.unwrap().remove(0);
    assert_eq!(
        (preset.id.as_str(), preset.name.as_str()),
        ("big-o", "Big O")
    );
    preset
        .values
        .insert("temperature".into(), SettingValue::Number(1.25));
    preset.values.remove("typical_p");
    app.engine.save_sampler_preset(preset).await.unwrap();
    let written: BTreeMap<String, Value> =
        serde_json::from_str(&app.engine.export_sampler_preset(id.clone()).await.unwrap()).unwrap();
    for (field, value) in [
        ("temp", json!(1.25)),
        ("tfs", json!(0.68)),
        ("sampler_order", json!([6, 0, 1])),
        ("genamt", json!(300)),
        ("max_length", json!(6000)),
    ] {
        assert_eq!(written.get(field), Some(&value), "{field}");
    }
    assert!(!written.contains_key("typical_p"));
    let (again, _) = import(&app, "Big O", &json!(written)).await;
    assert_eq!(again, "big-o-2", "no preset is overwritten");

    for (key, value) in [
        ("temperature", 9.0),
        ("context_limit", 4096.0),
        ("author_note", 1.0),
        ("sampler_preset", 1.0),
    ] {
        let refused = app
            .engine
            .save_sampler_preset(own("Wrong", &[(key, value)]))
            .await
            .unwrap_err();
        assert!(
            matches!(refused, ApiError::BadInput { .. }),
            "{key}: {refused:?}"
        );
    }
    assert!(app.engine.save_sampler_preset(own(" ", &[])).await.is_err());
}

/// The request contains the active samplers of the preset, and no inactive ones.
#[tokio::test]
async fn request_contains_only_active_samplers() {
    let app = Headless::without_provider().await;
    let endpoint = Recorder::start().await;
    let model = endpoint.join(&app.engine, "tiny").await;
    let chat = app.first_chat().await.id;
    app.engine
        .set_chat_model(chat, Some(model.clone()))
        .await
        .unwrap();
    let (id, _) = import(&app, "Big O", &big_o()).await;
    choose(&app, SettingOwner::Model { model }, &id).await;
    let mut events = app.engine.subscribe();
    app.engine
        .send_message(chat, "Who lit the lamp?".into())
        .await
        .unwrap();
    ended(&mut events, chat).await;
    let body = endpoint.body_with("Who lit the lamp?").unwrap();
    let mut body: BTreeMap<String, Value> = serde_json::from_slice(&body).unwrap();
    for field in [
        "messages",
        "model",
        "stop",
        "stream",
        "stream_options",
        "cache_prompt",
        "return_progress",
    ] {
        body.remove(field);
    }
    let rounded = |value: Value| {
        value
            .as_f64()
            .map_or(value.clone(), |number| json!((number * 1e4).round() / 1e4))
    };
    let body: BTreeMap<String, Value> = body
        .into_iter()
        .map(|(field, value)| (field, rounded(value)))
        .collect();
    let expected = json!({
        // Disabled samplers are not sent: some servers reject 0, and every server except llama.cpp
        // treats a missing field as off.
        "temperature": 0.87, "top_p": 0.99, "top_k": 85.0, "typical_p": 0.68, "repeat_penalty": 1.01,
        "repetition_penalty": 1.01, "repeat_last_n": 128.0, "frequency_penalty": 0.25, "presence_penalty": 0.5,
        "dry_multiplier": 0.75, "dry_base": 2.0, "dry_allowed_length": 3.0, "dry_penalty_last_n": -1.0,
        "xtc_probability": 0.5, "xtc_threshold": 0.125, "max_tokens": 300.0, "seed": 77.0
    });
    assert_eq!(json!(body), expected);
}

#[tokio::test]
async fn built_in_presets_apply_but_do_not_change() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let all = app.engine.list_sampler_presets().await.unwrap();
    let ids: Vec<&str> = all.iter().map(|preset| preset.id.as_str()).collect();
    assert_eq!(ids[..4], ["neutral", "balanced", "creative", "precise"]);
    assert!(all.iter().all(|preset| preset.built_in) && ids.contains(&"qwen3"));
    choose(&app, SettingOwner::Chat { id: chat }, "qwen3").await;
    let sampling = sampled(&app, chat).await;
    assert_eq!(
        (
            sampling.temperature,
            sampling.top_p,
            sampling.top_k,
            sampling.repeat_penalty
        ),
        (0.7, 0.8, 20, 1.0)
    );

    let changed = SamplerPreset {
        id: "qwen3".into(),
        ..own("Mine", &[("temperature", 1.0)])
    };
    assert!(matches!(
        app.engine.save_sampler_preset(changed).await,
        Err(ApiError::BadInput { .. })
    ));
    assert!(
        app.engine
            .delete_sampler_preset("qwen3".into())
            .await
            .is_err()
    );
    let copy = app
        .engine
        .save_sampler_preset(own("Qwen3", &[("temperature", 1.0)]))
        .await
        .unwrap();
    assert_eq!((copy.id.as_str(), copy.built_in), ("qwen3-2", false));
    assert!(
        app.engine
            .export_sampler_preset("qwen3".into())
            .await
            .unwrap()
            .contains("\"top_k\": 20")
    );
}

#[tokio::test]
async fn texts_and_lists_of_a_preset_reach_the_model() {
    use domain::sampling::{SamplerStage, TokenSelector};
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let preset = json!({
        "temp": 1, "samplers": ["temperature", "top_k"], "banned_tokens": "\"barely above a whisper\"\n[7]",
        "logit_bias": [{ "id": "x", "text": "blue", "value": -3 }], "grammar_string": "root ::= [a-z]+",
        "min_length": 4, "ban_eos_token": true, "dry_sequence_breakers": "[\"~\"]", "smoothing_factor": 0.3
    });
    let (id, warnings) = import(&app, "Texts", &preset).await;
    assert_eq!(
        warnings,
        ["smoothing_factor: not supported here; the value 0.3 is kept"]
    );
    choose(&app, SettingOwner::Global, &id).await;
    let Sampling {
        order, rules, dry, ..
    } = sampled(&app, chat).await;
    assert_eq!(
        order.stages()[3],
        SamplerStage::Temperature,
        "it takes the place of top-k"
    );
    assert_eq!(rules.banned_strings, ["barely above a whisper"]);
    let tokens: Vec<_> = rules
        .logit_bias
        .iter()
        .map(|bias| (bias.tokens.clone(), bias.bias))
        .collect();
    assert_eq!(
        tokens,
        [
            (TokenSelector::Text(" blue".into()), -3.0),
            (TokenSelector::Ids(vec![7]), -100.0)
        ]
    );
    assert_eq!(
        (rules.grammar.as_deref(), rules.min_tokens),
        (Some("root ::= [a-z]+"), 4)
    );
    assert!(rules.ban_end_token && dry.breakers == ["~"]);
    // A continued reply is not a whole one.
    let mut events = app.engine.subscribe();
    app.engine.continue_reply(chat).await.unwrap();
    ended(&mut events, chat).await;
    let rules = app.model.last_request().unwrap().sampling.rules;
    assert_eq!(
        (rules.grammar, rules.min_tokens, rules.banned_strings.len()),
        (None, 0, 1)
    );
}

/// The settings of a chat say which samplers its model's endpoint does not receive.
#[tokio::test]
async fn settings_name_what_an_endpoint_lacks() {
    use engine::api::SettingInactive;
    let app = Headless::without_provider().await;
    let endpoint = Recorder::start().await;
    let model = endpoint.join(&app.engine, "tiny").await;
    let chat = app.first_chat().await.id;
    app.engine.set_chat_model(chat, Some(model)).await.unwrap();
    let owner = || SettingOwner::Chat { id: chat };
    assert_eq!(
        setting(&app, owner(), "banned_strings").await.inactive,
        Some(SettingInactive::LocalOnly)
    );
    assert_eq!(setting(&app, owner(), "sampler_order").await.inactive, None);
    assert_eq!(
        setting(&app, owner(), "history_cap").await.inactive,
        None,
        "only samplers depend on the endpoint"
    );
    assert_eq!(
        setting(&app, SettingOwner::Global, "banned_strings")
            .await
            .inactive,
        None
    );
}
