//! Sampler presets that ship with the app: four styles, and the values that the cards of common
//! models recommend.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use context::convert::SamplerPreset;
use domain::settings::ConfigValue;
use serde::Deserialize;

/// A built-in preset as in `presets/samplers/samplers.json`.
#[derive(Deserialize)]
struct Shipped {
    id: String,
    name: String,
    values: BTreeMap<String, ConfigValue>,
}

static BUILT_IN: LazyLock<Vec<(String, SamplerPreset)>> = LazyLock::new(|| {
    let text = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../presets/samplers/samplers.json"
    ));
    let shipped: Vec<Shipped> = serde_json::from_str(text).unwrap_or_default();
    let preset = |Shipped { id, name, values }| {
        (
            id,
            SamplerPreset {
                name,
                values,
                ..SamplerPreset::default()
            },
        )
    };
    shipped.into_iter().map(preset).collect()
});

/// The built-in presets with their ids, in the order of the list.
pub(crate) fn built_in() -> &'static [(String, SamplerPreset)] {
    &BUILT_IN
}

/// The place of a built-in preset in the list.
pub(crate) fn place(id: &str) -> Option<usize> {
    BUILT_IN.iter().position(|(built_in, _)| built_in == id)
}

#[cfg(test)]
mod tests {
    use domain::settings::preset_setting;

    use super::*;

    #[test]
    fn every_built_in_value_is_valid() {
        assert!(built_in().len() >= 12);
        for (id, preset) in built_in() {
            for (key, value) in &preset.values {
                let setting = preset_setting(key).unwrap_or_else(|| panic!("{id}: {key}"));
                assert!(
                    setting.kind.check(value.clone()).is_ok(),
                    "{id}: {key} = {value}"
                );
            }
            // A recommendation counts only if no other sampler interferes.
            for key in [
                "temperature",
                "top_p",
                "top_k",
                "min_p",
                "repeat_penalty",
                "dry_multiplier",
                "xtc_probability",
            ] {
                assert!(preset.values.contains_key(key), "{id} leaves {key} open");
            }
        }
    }
}
