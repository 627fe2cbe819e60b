//! Conversation modes: a name, and a text in the context block of the turn that changes it (S1.7, S1.8, C20).

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::text;
use super::variables::Variables;

/// Maximum size in bytes of the file, and of a mode's text after variable substitution.
const MAX_BYTES: usize = 1 << 20;

/// A mode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mode {
    /// As `/mode` takes it: one word.
    pub name: String,
    pub title: String,
    /// What it asks for; may hold variables. Empty asks for nothing.
    #[serde(default)]
    pub text: String,
}

impl Mode {
    /// The mode's text with its variables put in: what `mode.text` should be given.
    ///
    /// # Errors
    /// An unknown variable in the text.
    pub fn spoken(&self, variables: &Variables) -> Result<String, super::ComposeError> {
        text::expand(&self.text, |name| variables.text(name), MAX_BYTES).map(|expanded| expanded.text)
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Modes {
    schema: String,
    version: u32,
    modes: Vec<Mode>,
}

/// A file of modes that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModeError {
    #[error("the file of modes is larger than {} KiB", MAX_BYTES / 1024)]
    TooLarge,
    #[error("the file of modes cannot be read: {message}")]
    NotModes { message: String },
    #[error("mode `{name}` is there twice")]
    Twice { name: String },
    #[error("`{name}` is no name of a mode; write one word, so that `/mode` can take it")]
    Name { name: String },
}

/// A mode that is not there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no mode `{name}`; there are {}", known.join(", "))]
pub struct UnknownMode {
    pub name: String,
    pub known: Vec<String>,
}

/// The modes that ship: default, study, chill, creative. They are read once.
///
/// # Errors
/// None, as a test reads the file; the type is that of reading any.
pub fn built_in_modes() -> Result<&'static [Mode], &'static ModeError> {
    static MODES: LazyLock<Result<Vec<Mode>, ModeError>> =
        LazyLock::new(|| modes_from_json(include_str!("../../../../../presets/prompts/modes.json")));
    MODES.as_ref().map(Vec::as_slice)
}

/// Reads a file of modes.
///
/// # Errors
/// [`ModeError`] names what is wrong.
pub fn modes_from_json(json: &str) -> Result<Vec<Mode>, ModeError> {
    if json.len() > MAX_BYTES {
        return Err(ModeError::TooLarge);
    }
    let read: Result<Modes, _> = serde_json::from_str(json);
    let modes = read.map_err(|error| ModeError::NotModes { message: error.to_string() })?.modes;
    let mut seen = BTreeSet::new();
    for mode in &modes {
        if mode.name.is_empty() || mode.name.chars().any(char::is_whitespace) {
            return Err(ModeError::Name { name: mode.name.clone() });
        }
        if !seen.insert(mode.name.to_lowercase()) {
            return Err(ModeError::Twice { name: mode.name.clone() });
        }
    }
    Ok(modes)
}

/// The mode of that name, in any case.
///
/// # Errors
/// [`UnknownMode`] lists the valid ones.
pub fn find_mode<'m>(modes: &'m [Mode], name: &str) -> Result<&'m Mode, UnknownMode> {
    let name = name.trim();
    modes.iter().find(|mode| mode.name.to_lowercase() == name.to_lowercase()).ok_or_else(|| UnknownMode {
        name: name.to_owned(),
        known: modes.iter().map(|mode| mode.name.clone()).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::variables::Given;
    use super::*;

    #[test]
    fn four_modes_ship_and_each_keeps_the_character() {
        let modes = built_in_modes().unwrap();
        assert_eq!(
            modes.iter().map(|mode| mode.name.as_str()).collect::<Vec<_>>(),
            ["default", "study", "chill", "creative"]
        );
        let given = Given::default().text("character.name", "Mira").text("persona.name", "Tom");
        let variables = Variables::resolve(given).unwrap();
        for mode in modes {
            let spoken = mode.spoken(&variables).unwrap();
            assert_eq!(spoken.is_empty(), mode.name == "default");
            assert!(spoken.is_empty() || spoken.contains("Stay Mira"), "{spoken}");
        }
    }

    #[test]
    fn an_unknown_mode_lists_the_valid_ones() {
        let modes = built_in_modes().unwrap();
        assert_eq!(find_mode(modes, " Study ").unwrap().name, "study");
        let error = find_mode(modes, "angry").unwrap_err();
        assert_eq!(error.to_string(), "there is no mode `angry`; there are default, study, chill, creative");
    }

    #[test]
    fn a_mode_of_the_users_own_is_data() {
        let json =
            r#"{"schema":"inglenook.modes","version":1,"modes":[{"name":"pirate","title":"Pirate","text":"Arr."}]}"#;
        assert_eq!(find_mode(&modes_from_json(json).unwrap(), "pirate").unwrap().text, "Arr.");
        let twice = json.replace("]", r#",{"name":"Pirate","title":"x"}]"#);
        assert_eq!(modes_from_json(&twice), Err(ModeError::Twice { name: "Pirate".into() }));
        let spaced = json.replace("\"pirate\"", "\"two words\"");
        assert_eq!(modes_from_json(&spaced), Err(ModeError::Name { name: "two words".into() }));
        assert!(matches!(modes_from_json("[]"), Err(ModeError::NotModes { .. })));
    }
}
