//! `show settings` and `set`: the layered settings of prompts and replies.

use engine::Engine;
use engine::api::{
    LayeredSetting, LayeredSettings, SettingLayer, SettingOwner, SettingUnit, SettingValue,
};

use crate::cli::{ModelArgs, SettingsOwnerArgs};
use crate::failure::CommandError;
use crate::find;
use crate::output::Output;

pub(crate) async fn show(
    engine: &Engine,
    whose: SettingsOwnerArgs,
    out: &Output,
) -> Result<(), CommandError> {
    let owner = owner(engine, whose).await?;
    out.answer(&engine.layered_settings(owner).await?, text)
}

/// Sets a value; without one, removes it, so that the next layer applies.
pub(crate) async fn set(
    engine: &Engine,
    whose: SettingsOwnerArgs,
    key: String,
    value: Option<String>,
    out: &Output,
) -> Result<(), CommandError> {
    let owner = owner(engine, whose).await?;
    let all = match value {
        Some(text) => {
            engine
                .set_setting_in_words(owner, key.clone(), text)
                .await?
        }
        None => engine.set_setting(owner, key.clone(), None).await?,
    };
    match all.settings.iter().find(|setting| setting.key == key) {
        Some(setting) => out.answer(setting, |setting| line(setting, &all)),
        None => Ok(()),
    }
}

async fn owner(engine: &Engine, whose: SettingsOwnerArgs) -> Result<SettingOwner, CommandError> {
    let answering = ModelArgs {
        model: whose.model,
        endpoint: whose.endpoint,
        ..ModelArgs::default()
    };
    Ok(
        match (
            whose.chat,
            whose.character,
            find::answering(engine, &answering).await?,
        ) {
            (Some(chat), _, _) => SettingOwner::Chat {
                id: find::chat(engine, &chat).await?.id,
            },
            (_, Some(name), _) => SettingOwner::Character {
                id: find::character(engine, &name).await?.id,
            },
            (_, _, Some(model)) => SettingOwner::Model { model },
            (None, None, None) => SettingOwner::Global,
        },
    )
}

fn text(all: &LayeredSettings) -> String {
    let contradictions = all
        .contradictions
        .iter()
        .map(|each| format!("contradiction: {each}"));
    all.settings
        .iter()
        .map(|setting| line(setting, all))
        .chain(contradictions)
        .collect::<Vec<_>>()
        .join("\n")
}

fn line(setting: &LayeredSetting, all: &LayeredSettings) -> String {
    let unit = match setting.unit {
        SettingUnit::None => "",
        SettingUnit::Tokens => " tokens",
        SettingUnit::Messages => " messages",
        SettingUnit::Exchanges => " exchanges",
    };
    let unit = if matches!(setting.value, SettingValue::Whole(_)) {
        unit
    } else {
        ""
    };
    let from = match setting.origin {
        SettingLayer::BuiltIn => "built in".to_owned(),
        SettingLayer::Template => "from the template".to_owned(),
        SettingLayer::Environment => format!("from {}", setting.variable),
        set => format!("set for the {}", layer(set)),
    };
    let problems = setting.layers.iter().filter_map(|at| {
        let problem = at.problem.as_deref()?;
        Some(format!("\n    {}: {problem}; not used", layer(at.layer)))
    });
    let silent = all.silencer(setting).map_or_else(String::new, |by| {
        format!("\n    no effect while {} = {}", by.key, value(&by.value))
    });
    format!(
        "{} = {}{unit} ({from}){silent}{}",
        setting.key,
        value(&setting.value),
        problems.collect::<String>()
    )
}

fn layer(layer: SettingLayer) -> &'static str {
    match layer {
        SettingLayer::BuiltIn => "app",
        SettingLayer::Template => "template",
        SettingLayer::Global => "whole app",
        SettingLayer::Model => "model",
        SettingLayer::Character => "character",
        SettingLayer::Chat => "chat",
        SettingLayer::Environment => "environment",
    }
}

fn value(value: &SettingValue) -> String {
    match value {
        SettingValue::Switch(true) => "on".to_owned(),
        SettingValue::Switch(false) => "off".to_owned(),
        SettingValue::Whole(number) => number.to_string(),
        SettingValue::Number(number) => number.to_string(),
        SettingValue::Text(text) if text.is_empty() => "nothing".to_owned(),
        SettingValue::Text(text) => text.clone(),
    }
}
