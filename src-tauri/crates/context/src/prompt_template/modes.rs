//! Conversation modes: a name, and a text that is added to the context block of the turn that
//! changes the mode.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::text;
use crate::prompt_template::variables::TemplateVariables;

/// Maximum size in bytes of the file, and of a mode's text after variable substitution.
const MAX_BYTES: usize = 1 << 20;

/// A conversation mode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mode {
    /// The argument of `/mode`: one word.
    pub name: String,
    pub title: String,
    /// The instructions, which may contain variables. Empty for none.
    #[serde(default)]
    pub text: String,
}

impl Mode {
    /// The text with variables resolved; the value of `mode.text`.
    ///
    /// Errors
    /// The text contains an unknown variable.
    pub fn spoken(&self, variables: &TemplateVariables) -> Result<String, super::ComposeError> {
        text::expand(&self.text, |name| variables.text(name), MAX_BYTES)
            .map(|expanded| expanded.text)
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Modes {
    schema: String,
    version: u32,
    modes: Vec<Mode>,
}

/// A file of modes is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModeError {
    #[error("the file of modes is larger than {} KiB", MAX_BYTES / 1024)]
    TooLarge,
    #[error("the file of modes cannot be read: {message}")]
    NotModes { message: String },
    #[error("mode `{name}` is defined twice")]
    Twice { name: String },
    #[error("`{name}` is not a valid mode name; use one word, so that `/mode` accepts it")]
    Name { name: String },
}

/// There is no mode with this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no mode `{name}`; the modes are {}", known.join(", "))]
pub struct UnknownMode {
    pub name: String,
    pub known: Vec<String>,
}

/// The built-in modes: default, study, chill, creative. Parsed once.
///
/// Errors Never: a test parses the built-in file. The error type is that of user files.
pub fn built_in_modes() -> Result<&'static [Mode], &'static ModeError> {
    static MODES: LazyLock<Result<Vec<Mode>, ModeError>> = LazyLock::new(|| {
        modes_from_json(include_str!("../../../../../presets/prompts/modes.json"))
    });
    MODES.as_ref().map(Vec::as_slice)
}

/// Parses a file of modes.
///
/// Errors
/// [`ModeError`] names the problem.
pub fn modes_from_json(json: &str) -> Result<Vec<Mode>, ModeError> {
    if json.len() > MAX_BYTES {
        return Err(ModeError::TooLarge);
    }
    let read: Result<Modes, _> = serde_json::from_str(json);
    let modes = read
        .map_err(|error| ModeError::NotModes {
            message: error.to_string(),
        })?
        .modes;
    let mut seen = BTreeSet::new();
    for mode in &modes {
        if mode.name.is_empty() || mode.name.chars().any(char::is_whitespace) {
            return Err(ModeError::Name {
                name: mode.name.clone(),
            });
        }
        if !seen.insert(mode.name.to_lowercase()) {
            return Err(ModeError::Twice {
                name: mode.name.clone(),
            });
        }
    }
    Ok(modes)
}

/// The mode with that name, ignoring case.
///
/// Errors
/// [`UnknownMode`] lists the valid names.
pub fn find_mode<'m>(modes: &'m [Mode], name: &str) -> Result<&'m Mode, UnknownMode> {
    let name = name.trim();
    modes
        .iter()
        .find(|mode| mode.name.to_lowercase() == name.to_lowercase())
        .ok_or_else(|| UnknownMode {
            name: name.to_owned(),
            known: modes.iter().map(|mode| mode.name.clone()).collect(),
        })
}

#[cfg(test)]
mod tests {
    use super::super::variables::Given;
    use super::*;

    #[test]
    fn has_four_modes_that_keep_the_character() {
        let modes = built_in_modes().unwrap();
        assert_eq!(
            modes
                .iter()
                .map(|mode| mode.name.as_str())
                .collect::<Vec<_>>(),
            ["default", "study", "chill", "creative"]
        );
        let given = Given::default()
            .text("character.name", "Mira")
            .text("persona.name", "Tom");
        let variables = TemplateVariables::resolve(given).unwrap();
        for mode in modes {
            let spoken = mode.spoken(&variables).unwrap();
            assert_eq!(spoken.is_empty(), mode.name == "default");
            assert!(
                spoken.is_empty() || spoken.contains("Stay Mira"),
                "{spoken}"
            );
        }
    }

    #[test]
    fn unknown_mode_error_lists_valid_modes() {
        let modes = built_in_modes().unwrap();
        assert_eq!(find_mode(modes, " Study ").unwrap().name, "study");
        let error = find_mode(modes, "angry").unwrap_err();
        assert_eq!(
            error.to_string(),
            "there is no mode `angry`; the modes are default, study, chill, creative"
        );
    }

    #[test]
    fn reads_and_validates_user_modes() {
        let json = r#"{"schema":"inglenook.modes","version":1,"modes":[{"name":"pirate","title":"Pirate","text":"Arr."}]}"#;
        assert_eq!(
            find_mode(&modes_from_json(json).unwrap(), "pirate")
                .unwrap()
                .text,
            "Arr."
        );
        let twice = json.replace("]", r#",{"name":"Pirate","title":"x"}]"#);
        assert_eq!(
            modes_from_json(&twice),
            Err(ModeError::Twice {
                name: "Pirate".into()
            })
        );
        let spaced = json.replace("\"pirate\"", "\"two words\"");
        assert_eq!(
            modes_from_json(&spaced),
            Err(ModeError::Name {
                name: "two words".into()
            })
        );
        assert!(matches!(
            modes_from_json("[]"),
            Err(ModeError::NotModes { .. })
        ));
    }
}
