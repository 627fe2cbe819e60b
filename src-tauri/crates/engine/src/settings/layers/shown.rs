//! Converts the layered settings to API types.

use domain::settings::{
    ConfigValue, SETTINGS, Scope, Setting, SettingOrigin, SettingSection, Unit, ValueType,
    disablers, preset_setting, resolve,
};
use provider::endpoint::{LearnedDialect, Unsupported};

use crate::api::{
    LayeredSetting, LayeredSettings, SettingAt, SettingGroup, SettingInactive, SettingKind,
    SettingLayer, SettingSilencer, SettingUnit, SettingValue,
};
use crate::base::records::convert;
use crate::settings::layers::stack::SettingsStack;
use crate::settings::prompts::choices::Choices;

/// `dialect` is that of the endpoint in use, if there is one.
pub(crate) fn view(
    stack: &SettingsStack,
    choices: &Choices,
    dialect: Option<&LearnedDialect>,
) -> LayeredSettings {
    let shown = |setting| LayeredSetting {
        inactive: inactive(setting, dialect),
        ..one(setting, stack, choices)
    };
    LayeredSettings {
        settings: SETTINGS.iter().map(shown).collect(),
        contradictions: resolve(&stack.layers)
            .contradictions()
            .iter()
            .map(ToString::to_string)
            .collect(),
        model: stack.model().map(convert::model_ref),
        character: stack.character(),
    }
}

impl LayeredSettings {
    /// The setting that currently makes `setting` ineffective, if any.
    pub fn silencer(&self, setting: &LayeredSetting) -> Option<&LayeredSetting> {
        disablers(&setting.key).iter().find_map(|by| {
            let other = self.settings.iter().find(|other| other.key == by.key)?;
            by.disables(&other.value.clone().into()).then_some(other)
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
        value: found
            .map_or_else(|| setting.default.clone(), |(_, value)| value.clone())
            .into(),
        origin: found.map_or(SettingLayer::BuiltIn, |(origin, _)| layer(origin)),
        preset: found
            .and_then(|(origin, _)| stack.preset_of(origin, setting.key))
            .map(str::to_owned),
        scopes: setting
            .scopes
            .iter()
            .map(|scope| layer(SettingOrigin::from(*scope)))
            .collect(),
        layers: at_layers(setting, stack),
        silencers: disablers(setting.key)
            .iter()
            .map(|by| SettingSilencer {
                key: by.key.to_owned(),
                at_zero: by.at_zero,
            })
            .collect(),
        inactive: None,
        variable: setting.variable(),
    }
}

fn inactive(setting: &Setting, dialect: Option<&LearnedDialect>) -> Option<SettingInactive> {
    preset_setting(setting.key)?;
    Some(match dialect?.unsupported(setting.key)? {
        Unsupported::Refused => SettingInactive::Refused,
        Unsupported::PlainApi => SettingInactive::PlainApi,
        Unsupported::LocalOnly => SettingInactive::LocalOnly,
    })
}

/// The layers that set a value or have a problem, lowest first.
fn at_layers(setting: &Setting, stack: &SettingsStack) -> Vec<SettingAt> {
    let stored = Scope::ALL.map(SettingOrigin::from);
    let all = [SettingOrigin::Template]
        .into_iter()
        .chain(stored)
        .chain([SettingOrigin::Environment]);
    all.filter_map(|origin| {
        let said = stack.preset_of(origin, setting.key).is_none();
        let value = stack
            .layers
            .layer(origin)
            .filter(|_| said)
            .and_then(|layer| layer.get(setting.key));
        let problem = stack
            .problems
            .iter()
            .find(|(of, problem)| *of == origin && problem.key == setting.key);
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
        ValueType::Switch => SettingKind::Switch,
        ValueType::Whole { min, max } => SettingKind::Whole {
            word: None,
            min,
            max,
        },
        ValueType::WholeOr { word, min, max } => SettingKind::Whole {
            word: Some(word.to_owned()),
            min,
            max,
        },
        ValueType::Number { min, max } => SettingKind::Number { min, max },
        ValueType::Choice(words) => SettingKind::Choice {
            words: words.iter().map(|word| (*word).to_owned()).collect(),
        },
        ValueType::NameOr { word } => SettingKind::Name {
            word: word.to_owned(),
            choices: choices.of(setting.key),
        },
        ValueType::Text { max } => SettingKind::Text { max: max as u32 },
        ValueType::Code(syntax) => SettingKind::Code {
            max: syntax.max() as u32,
        },
        ValueType::Order(names) => SettingKind::Order {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
        },
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

fn group(group: SettingSection) -> SettingGroup {
    match group {
        SettingSection::Context => SettingGroup::Context,
        SettingSection::Prompt => SettingGroup::Prompt,
        SettingSection::Story => SettingGroup::Story,
        SettingSection::Chat => SettingGroup::Chat,
        SettingSection::Tools => SettingGroup::Tools,
        SettingSection::Sampler => SettingGroup::Sampler,
        SettingSection::Loading => SettingGroup::Loading,
        SettingSection::Privacy => SettingGroup::Privacy,
    }
}

fn layer(origin: SettingOrigin) -> SettingLayer {
    match origin {
        SettingOrigin::BuiltIn => SettingLayer::BuiltIn,
        SettingOrigin::Template => SettingLayer::Template,
        SettingOrigin::Global => SettingLayer::Global,
        SettingOrigin::Model => SettingLayer::Model,
        SettingOrigin::Character => SettingLayer::Character,
        SettingOrigin::Chat => SettingLayer::Chat,
        SettingOrigin::Environment => SettingLayer::Environment,
    }
}

impl From<ConfigValue> for SettingValue {
    fn from(value: ConfigValue) -> Self {
        match value {
            ConfigValue::Switch(on) => Self::Switch(on),
            ConfigValue::Whole(number) => Self::Whole(number),
            ConfigValue::Number(number) => Self::Number(number),
            ConfigValue::Text(text) => Self::Text(text.into_owned()),
        }
    }
}

impl From<SettingValue> for ConfigValue {
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

    /// The UI's scripted engine and the tests of its language files use the committed list. Set
    /// `UPDATE_GENERATED=1` to write it again.
    #[test]
    fn the_list_for_the_ui_is_up_to_date() {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../ui/tests/mock/settings.json");
        let built_in = super::view(
            &crate::settings::layers::stack::SettingsStack::default(),
            &super::Choices::built_in(),
            None,
        );
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
