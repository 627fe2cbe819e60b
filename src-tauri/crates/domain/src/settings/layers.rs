//! Combines layers of settings to resolved values with their origins.

use std::collections::BTreeMap;

use super::list::{Setting, Values, setting};
use super::owner::{Scope, SettingOrigin};
use super::value::ConfigValue;

/// The values of one layer, by key. Each is valid for its setting.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Layer(BTreeMap<&'static str, ConfigValue>);

/// An invalid value. The setting falls back to the layer below, and other settings are unaffected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {reason}; the value is ignored")]
pub struct IgnoredValue {
    pub key: &'static str,
    /// A clause without capital letter and full stop.
    pub reason: String,
}

impl Layer {
    /// Reads the stored JSON values of a layer. Ignores keys that this version does not know.
    pub fn read<'a>(
        scope: Scope,
        stored: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> (Self, Vec<IgnoredValue>) {
        Self::collect(
            stored
                .into_iter()
                .filter_map(|(key, json)| Some((setting(key)?, read_json(key, scope, json)))),
        )
    }

    /// Reads the environment variables that override settings, and ignores all others.
    pub fn from_environment<'a>(
        variables: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> (Self, Vec<IgnoredValue>) {
        let ours = |name: &str| {
            super::list::SETTINGS
                .iter()
                .find(|setting| setting.variable() == name)
        };
        let read = |(name, text): (&str, &str)| {
            let setting = ours(name)?;
            Some((
                setting,
                setting
                    .kind
                    .read(text)
                    .map_err(|refusal| refusal.to_string()),
            ))
        };
        Self::collect(variables.into_iter().filter_map(read))
    }

    fn collect(
        read: impl Iterator<Item = (&'static Setting, Result<ConfigValue, String>)>,
    ) -> (Self, Vec<IgnoredValue>) {
        let mut layer = Self::default();
        let mut problems = Vec::new();
        for (setting, value) in read {
            match value {
                Ok(value) => drop(layer.0.insert(setting.key, value)),
                Err(reason) => problems.push(IgnoredValue {
                    key: setting.key,
                    reason,
                }),
            }
        }
        (layer, problems)
    }

    /// The layer of a prompt template, which suggests values for settings. Ignores invalid ones.
    pub fn of_template(values: impl IntoIterator<Item = (&'static str, ConfigValue)>) -> Self {
        let valid = |(key, value)| {
            let setting = setting(key)?;
            Some((setting.key, setting.kind.check(value).ok()?))
        };
        Self(values.into_iter().filter_map(valid).collect())
    }

    /// The layer of a sampler preset. Ignores values that are invalid or not sampler settings.
    pub fn of_preset<'a>(values: impl IntoIterator<Item = (&'a str, ConfigValue)>) -> Self {
        let taken = |(key, value)| {
            let setting = super::list::preset_setting(key)?;
            Some((setting.key, setting.kind.check(value).ok()?))
        };
        Self(values.into_iter().filter_map(taken).collect())
    }

    pub fn get(&self, key: &str) -> Option<&ConfigValue> {
        self.0.get(key)
    }

    /// Sets a value that must be valid for `setting`. `None` removes it, so the layer below
    /// applies.
    pub fn set(&mut self, setting: &'static Setting, value: Option<ConfigValue>) {
        match value {
            Some(value) => self.0.insert(setting.key, value),
            None => self.0.remove(setting.key),
        };
    }

    /// Copies values of `preset` for settings without a value here, and returns their keys. Skips
    /// settings that are not allowed in `scope`.
    pub fn fill(&mut self, preset: &Self, scope: Option<Scope>) -> Vec<&'static str> {
        let fits = |key: &str| {
            setting(key).is_some_and(|of| scope.is_none_or(|scope| of.scopes.contains(&scope)))
        };
        let missing = preset
            .0
            .iter()
            .filter(|(key, _)| fits(key) && !self.0.contains_key(*key));
        let missing: Vec<_> = missing.map(|(key, value)| (*key, value.clone())).collect();
        let keys = missing.iter().map(|(key, _)| *key).collect();
        self.0.extend(missing);
        keys
    }

    /// Iterates in key order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &ConfigValue)> {
        self.0.iter().map(|(key, value)| (*key, value))
    }
}

fn read_json(key: &str, scope: Scope, json: &str) -> Result<ConfigValue, String> {
    let Some(setting) = setting(key).filter(|setting| setting.scopes.contains(&scope)) else {
        return Err(format!("it cannot be set for a {}", scope.as_str()));
    };
    let value = serde_json::from_str(json)
        .map_err(|_| format!("the stored value is not {}", setting.kind.expects()))?;
    setting
        .kind
        .check(value)
        .map_err(|refusal| refusal.to_string())
}

/// The layers that apply in one place, such as a chat.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Layers(BTreeMap<SettingOrigin, Layer>);

impl Layers {
    pub fn put(&mut self, origin: SettingOrigin, layer: Layer) {
        self.0.insert(origin, layer);
    }

    pub fn layer(&self, origin: SettingOrigin) -> Option<&Layer> {
        self.0.get(&origin)
    }

    /// Returns the value with the highest precedence and its origin.
    pub fn find(&self, key: &str) -> Option<(SettingOrigin, &ConfigValue)> {
        self.0
            .iter()
            .rev()
            .find_map(|(origin, layer)| Some((*origin, layer.get(key)?)))
    }
}

/// All settings with their origins.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    pub values: Values,
    origins: BTreeMap<&'static str, SettingOrigin>,
}

impl Resolved {
    pub fn origin(&self, key: &str) -> SettingOrigin {
        self.origins
            .get(key)
            .copied()
            .unwrap_or(SettingOrigin::BuiltIn)
    }
}

/// Resolves each setting separately. Precedence: environment, chat, character, model, global,
/// template, built-in.
pub fn resolve(layers: &Layers) -> Resolved {
    let origins = super::list::SETTINGS
        .iter()
        .filter_map(|setting| Some((setting.key, layers.find(setting.key)?.0)))
        .collect();
    Resolved {
        values: Values::gather(|key| layers.find(key).map(|(_, value)| value.clone())),
        origins,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::list::SETTINGS;
    use super::*;

    const ORIGINS: [SettingOrigin; 6] = [
        SettingOrigin::Template,
        SettingOrigin::Global,
        SettingOrigin::Model,
        SettingOrigin::Character,
        SettingOrigin::Chat,
        SettingOrigin::Environment,
    ];

    fn capped(cap: u32) -> Layer {
        Layer([("history_cap", ConfigValue::Whole(cap))].into())
    }

    /// The topmost layer with a value wins in every combination.
    #[test]
    fn the_topmost_layer_wins() {
        for set in 0_u32..1 << ORIGINS.len() {
            let mut layers = Layers::default();
            let chosen = ORIGINS
                .iter()
                .enumerate()
                .filter(|(bit, _)| set >> bit & 1 == 1);
            let top = chosen.clone().next_back();
            for (bit, origin) in chosen {
                layers.put(*origin, capped(1_000 + bit as u32));
            }
            let resolved = resolve(&layers);
            let expected = top.map_or((SettingOrigin::BuiltIn, None), |(bit, origin)| {
                (*origin, Some(1_000 + bit as u32))
            });
            assert_eq!(
                (resolved.origin("history_cap"), resolved.values.history_cap),
                expected,
                "{set:06b}"
            );
        }
    }

    #[test]
    fn preset_fills_gaps_and_overrides_lower_layers() {
        let number = |key, value| (key, ConfigValue::Number(value));
        let context = ("context_limit", ConfigValue::Whole(4096));
        let preset = Layer::of_preset([number("temperature", 1.2), number("min_p", 0.2), context]);
        let mut of_character = Layer([number("temperature", 0.3)].into());
        assert_eq!(
            of_character.fill(&preset, Some(Scope::Character)),
            ["min_p"]
        );
        let mut layers = Layers::default();
        layers.put(SettingOrigin::Global, Layer([number("min_p", 0.01)].into()));
        layers.put(SettingOrigin::Character, of_character);
        let resolved = resolve(&layers);
        let Values {
            temperature,
            min_p,
            context_limit,
            ..
        } = resolved.values.clone();
        assert_eq!((temperature, min_p, context_limit), (0.3, 0.2, None));
        assert_eq!(resolved.origin("min_p"), SettingOrigin::Character);
        assert_eq!(
            Layer::default().fill(&preset, None),
            ["min_p", "temperature"],
            "how much is remembered is no sampler"
        );
    }

    #[test]
    fn one_bad_value_affects_no_other() {
        let stored = [
            ("history_cap", "3000"),
            ("temperature", "\"warm\""),
            ("top_k", "{\"a\": 1}"),
            ("start_mode", "\"empty\""),
            ("of_another_version", "1"),
        ];
        let (layer, problems) = Layer::read(Scope::Chat, stored);
        let told: Vec<_> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "temperature: \"warm\" is not a number from 0 to 2; the value is ignored",
                "top_k: the stored value is not a whole number from 0 to 1000; the value is ignored",
                "start_mode: it cannot be set for a chat; the value is ignored",
            ]
        );
        let mut layers = Layers::default();
        layers.put(SettingOrigin::Chat, layer);
        let Resolved { values, .. } = resolve(&layers);
        assert_eq!(
            (values.history_cap, values.temperature, values.top_k),
            (Some(3_000), 0.8, 40)
        );
    }

    #[test]
    fn reads_environment_and_reports_bad_values() {
        let variables = [
            ("INGLENOOK_CONTEXT_LIMIT", "4096"),
            ("INGLENOOK_SHOW_STREAMING", "off"),
            ("INGLENOOK_TOP_P", "lots"),
            ("INGLENOOK_MODELS", "/somewhere"),
            ("PATH", "/bin"),
        ];
        let (layer, problems) = Layer::from_environment(variables);
        assert_eq!(
            layer.iter().map(|(key, _)| key).collect::<Vec<_>>(),
            ["context_limit", "show_streaming"]
        );
        assert_eq!(
            problems
                .iter()
                .map(|problem| problem.key)
                .collect::<Vec<_>>(),
            ["top_p"]
        );
    }

    proptest! {
        /// Reading never fails as a whole, and every resolved value is valid for its setting.
        #[test]
        fn any_stored_layer_resolves(
            stored in proptest::collection::vec((0..SETTINGS.len(), "[-\\[\\]{}\":,a-z0-9.]{0,12}"), 0..40),
            scope in 0..Scope::ALL.len(),
        ) {
            let scope = Scope::ALL[scope];
            let stored: Vec<_> = stored.iter().map(|(index, json)| (SETTINGS[*index].key, json.as_str())).collect();
            let (layer, _) = Layer::read(scope, stored);
            for (key, value) in layer.iter() {
                let setting = setting(key).unwrap();
                prop_assert!(setting.scopes.contains(&scope));
                prop_assert_eq!(setting.kind.check(value.clone()), Ok(value.clone()));
            }
            let mut layers = Layers::default();
            layers.put(scope.into(), layer.clone());
            let resolved = resolve(&layers);
            for setting in SETTINGS {
                let expected = if layer.get(setting.key).is_some() { scope.into() } else { SettingOrigin::BuiltIn };
                prop_assert_eq!(resolved.origin(setting.key), expected);
            }
        }

        /// A setting without a value in a layer is unaffected by that layer.
        #[test]
        fn settings_resolve_independently(cap in 200_u32..9_000, limit in 512_u32..9_000) {
            let mut layers = Layers::default();
            layers.put(SettingOrigin::Chat, capped(cap));
            let mut alone = resolve(&layers).values;
            let limited = Layer([("context_limit", ConfigValue::Whole(limit))].into());
            layers.put(SettingOrigin::Model, limited);
            let both = resolve(&layers).values;
            alone.context_limit = Some(limit);
            prop_assert_eq!(both, alone);
        }
    }
}
