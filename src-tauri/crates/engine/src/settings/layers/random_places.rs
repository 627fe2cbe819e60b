//! Draws a scene or a setting at random from the list that ships with the app.

use std::sync::LazyLock;

use domain::settings::{ConfigValue, Owner};
use serde::Deserialize;

/// Value that asks for a random scene or setting.
const RANDOM: &str = "random";

/// Places to draw from.
#[derive(Debug, Default, Deserialize)]
struct Places {
    scenes: Vec<String>,
    settings: Vec<String>,
}

static PLACES: LazyLock<Places> = LazyLock::new(|| {
    serde_json::from_str(include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../presets/stories/places.json"
    )))
    .unwrap_or_default()
});

/// `value`, or a newly drawn place if the value is `random` in a chat's own settings.
pub(crate) fn drawn_now(owner: Owner, key: &str, value: ConfigValue) -> ConfigValue {
    let (Owner::Chat(_), ConfigValue::Text(written)) = (owner, &value) else {
        return value;
    };
    match draw(key, written, crate::seed().into()) {
        Some(place) => ConfigValue::Text(place.into()),
        None => value,
    }
}

/// Draws a place for `key`, if the key has places and `written` asks for one.
pub(crate) fn draw(key: &str, written: &str, seed: u64) -> Option<&'static str> {
    let places = match key {
        "scene" => &PLACES.scenes,
        "setting" => &PLACES.settings,
        _ => return None,
    };
    let asked = written.trim().eq_ignore_ascii_case(RANDOM) && !places.is_empty();
    asked.then(|| places[(seed % places.len() as u64) as usize].as_str())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn places_are_unique_and_can_be_drawn() {
        for places in [&PLACES.scenes, &PLACES.settings] {
            let different: BTreeSet<_> = places.iter().collect();
            assert!(
                different.len() == places.len() && places.len() >= 20,
                "{}",
                places.len()
            );
            assert!(
                places
                    .iter()
                    .all(|place| place.trim() == place && !place.is_empty())
            );
        }
        assert_eq!(
            draw("scene", " Random ", 3),
            Some(PLACES.scenes[3].as_str())
        );
        assert_eq!(draw("scene", "on the pier", 3), None);
        assert_eq!(draw("reminder", RANDOM, 3), None);
    }
}
