//! Converts the layered settings to API types.

use domain::settings::{Group, Kind, Origin, SETTINGS, Scope, Setting, Unit, Value, resolve, silencers};

use crate::api::{
    LayeredSetting, LayeredSettings, SettingAt, SettingGroup, SettingKind, SettingLayer, SettingSilencer, SettingUnit,
    SettingValue,
};
use crate::base::convert;
use crate::settings::choices::Choices;
use crate::settings::layer_stack::SettingsStack;

pub(crate) fn view(stack: &SettingsStack, choices: &Choices) -> LayeredSettings {
    LayeredSettings {
        settings: SETTINGS.iter().map(|setting| one(setting, stack, choices)).collect(),
        contradictions: resolve(&stack.layers).contradictions().iter().map(ToString::to_string).collect(),
        model: stack.model().map(convert::model_ref),
        character: stack.character().map(|id| id.to_string()),
    }
}

impl LayeredSettings {
    /// The setting that currently makes `setting` ineffective, if any.
    pub fn silencer(&self, setting: &LayeredSetting) -> Option<&LayeredSetting> {
        silencers(&setting.key).iter().find_map(|by| {
            let other = self.settings.iter().find(|other| other.key == by.key)?;
            by.holds(&other.value.clone().into()).then_some(other)
        })
    }
}

fn one(setting: &'static Setting, stack: &SettingsStack, choices: &Choices) -> LayeredSetting {
    let found = stack.layers.find(setting.key);
    LayeredSetting {
        key: setting.key.to_owned(),
        group: group(setting.group),
        kind: kind(setting, choices),
        unit: unit(setting.unit),
        default: setting.default.clone().into(),
        value: found.map_or_else(|| setting.default.clone(), |(_, value)| value.clone()).into(),
        origin: found.map_or(SettingLayer::BuiltIn, |(origin, _)| layer(origin)),
        preset: found.and_then(|(origin, _)| stack.preset_of(origin, setting.key)).map(str::to_owned),
        scopes: setting.scopes.iter().map(|scope| layer(Origin::from(*scope))).collect(),
        layers: at_layers(setting, stack),
        silencers: silencers(setting.key)
            .iter()
            .map(|by| SettingSilencer { key: by.key.to_owned(), at_zero: by.at_zero })
            .collect(),
        variable: setting.variable(),
    }
}

/// The layers that set a value or have a problem, lowest first.
fn at_layers(setting: &Setting, stack: &SettingsStack) -> Vec<SettingAt> {
    let stored = Scope::ALL.map(Origin::from);
    let all = [Origin::Template].into_iter().chain(stored).chain([Origin::Environment]);
    all.filter_map(|origin| {
        let said = stack.preset_of(origin, setting.key).is_none();
        let value = stack.layers.layer(origin).filter(|_| said).and_then(|layer| layer.get(setting.key));
        let problem = stack.problems.iter().find(|(of, problem)| *of == origin && problem.key == setting.key);
        (value.is_some() || problem.is_some()).then(|| SettingAt {
            layer: layer(origin),
            value: value.cloned().map(SettingValue::from),
            problem: problem.map(|(_, problem)| problem.reason.clone()),
        })
    })
    .collect()
}

fn kind(setting: &Setting, choices: &Choices) -> SettingKind {
    match setting.kind {
        Kind::Switch => SettingKind::Switch,
        Kind::Whole { min, max } => SettingKind::Whole { word: None, min, max },
        Kind::WholeOr { word, min, max } => SettingKind::Whole { word: Some(word.to_owned()), min, max },
        Kind::Number { min, max } => SettingKind::Number { min, max },
        Kind::Choice(words) => SettingKind::Choice { words: words.iter().map(|word| (*word).to_owned()).collect() },
        Kind::NameOr { word } => SettingKind::Name { word: word.to_owned(), choices: choices.of(setting.key) },
        Kind::Text { max } => SettingKind::Text { max: max as u32 },
    }
}

fn unit(unit: Unit) -> SettingUnit {
    match unit {
        Unit::None => SettingUnit::None,
        Unit::Tokens => SettingUnit::Tokens,
        Unit::Messages => SettingUnit::Messages,
        Unit::Exchanges => SettingUnit::Exchanges,
    }
}

fn group(group: Group) -> SettingGroup {
    match group {
        Group::Context => SettingGroup::Context,
        Group::Prompt => SettingGroup::Prompt,
        Group::Story => SettingGroup::Story,
        Group::Chat => SettingGroup::Chat,
        Group::Sampler => SettingGroup::Sampler,
    }
}

fn layer(origin: Origin) -> SettingLayer {
    match origin {
        Origin::BuiltIn => SettingLayer::BuiltIn,
        Origin::Template => SettingLayer::Template,
        Origin::Global => SettingLayer::Global,
        Origin::Model => SettingLayer::Model,
        Origin::Character => SettingLayer::Character,
        Origin::Chat => SettingLayer::Chat,
        Origin::Environment => SettingLayer::Environment,
    }
}

impl From<Value> for SettingValue {
    fn from(value: Value) -> Self {
        match value {
            Value::Switch(on) => Self::Switch(on),
            Value::Whole(number) => Self::Whole(number),
            Value::Number(number) => Self::Number(number),
            Value::Text(text) => Self::Text(text.into_owned()),
        }
    }
}

impl From<SettingValue> for Value {
    fn from(value: SettingValue) -> Self {
        match value {
            SettingValue::Switch(on) => Self::Switch(on),
            SettingValue::Whole(number) => Self::Whole(number),
            SettingValue::Number(number) => Self::Number(number),
            SettingValue::Text(text) => Self::Text(text.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    /// The UI's scripted engine and the tests of its language files use the committed list. Set `UPDATE_GENERATED=1`
    /// to write it again.
    #[test]
    fn the_list_for_the_ui_is_up_to_date() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../ui/tests/mock/settings.json");
        let built_in =
            super::view(&crate::settings::layer_stack::SettingsStack::default(), &super::Choices::built_in());
        let wanted = serde_json::to_string_pretty(&built_in.settings).unwrap() + "\n";
        if std::env::var_os("UPDATE_GENERATED").is_some() {
            std::fs::write(&path, &wanted).unwrap();
        }
        let found = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            found == wanted,
            "ui/tests/mock/settings.json is stale; run UPDATE_GENERATED=1 cargo test -p engine list"
        );
    }
}
