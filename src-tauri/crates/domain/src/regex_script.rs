//! Regex scripts in SillyTavern's format, which find a pattern in a text and replace it.
//!
//! Fields are read tolerantly, and unknown ones are kept. The `context` crate runs the scripts.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// One script, from a file, a card's `extensions.regex_scripts` or a preset.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RegexScript {
    #[serde(deserialize_with = "text")]
    pub id: String,
    #[serde(deserialize_with = "text")]
    pub script_name: String,
    /// JavaScript `/pattern/flags`, or a pattern without flags.
    #[serde(deserialize_with = "text")]
    pub find_regex: String,
    #[serde(deserialize_with = "text")]
    pub replace_string: String,
    /// Texts to remove from the match before it is inserted.
    #[serde(deserialize_with = "texts")]
    pub trim_strings: Vec<String>,
    #[serde(deserialize_with = "placements")]
    pub placement: Vec<ScriptTarget>,
    #[serde(deserialize_with = "switch")]
    pub disabled: bool,
    /// Changes only the displayed text.
    #[serde(deserialize_with = "switch")]
    pub markdown_only: bool,
    /// Changes only the text sent to the model.
    #[serde(deserialize_with = "switch")]
    pub prompt_only: bool,
    #[serde(deserialize_with = "switch")]
    pub run_on_edit: bool,
    #[serde(deserialize_with = "substitution")]
    pub substitute_regex: Substitution,
    /// Minimum distance from the last message, which is 0. Negative or missing: no limit.
    #[serde(deserialize_with = "depth")]
    pub min_depth: Option<i64>,
    #[serde(deserialize_with = "depth")]
    pub max_depth: Option<i64>,
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

/// A kind of text that scripts apply to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "i64", into = "i64")]
pub enum ScriptTarget {
    /// Legacy value: all kinds of text, but only for display and prompts.
    Display,
    UserInput,
    AiOutput,
    SlashCommand,
    Lorebook,
    Reasoning,
    Other(i64),
}

/// Whether macros in the pattern are resolved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "i64", into = "i64")]
pub enum Substitution {
    #[default]
    None,
    /// Macro values become part of the pattern.
    Raw,
    /// Macro values are escaped, so they match literally.
    Escaped,
}

impl RegexScript {
    /// Whether the script applies to this kind of text. The legacy placement, if it is the only
    /// one, means all kinds.
    pub fn works_on(&self, placement: ScriptTarget) -> bool {
        self.placement.contains(&placement) || self.placement == [ScriptTarget::Display]
    }

    /// Whether the script changes the displayed text and leaves the stored text.
    pub fn changes_display(&self) -> bool {
        self.markdown_only || self.is_of_old()
    }

    /// Whether the script changes the prompt and leaves the stored text.
    pub fn changes_prompt(&self) -> bool {
        self.prompt_only || self.is_of_old()
    }

    /// The minimum depth of a script that changes the stored text. New messages have depth 0, so it
    /// skips them.
    pub fn skips_new_messages(&self) -> Option<i64> {
        let stored = !self.changes_display() && !self.changes_prompt();
        let messages = [
            ScriptTarget::UserInput,
            ScriptTarget::AiOutput,
            ScriptTarget::Reasoning,
        ];
        let reads = self.placement.iter().any(|place| messages.contains(place));
        self.min_depth.filter(|least| *least > 0 && stored && reads)
    }

    fn is_of_old(&self) -> bool {
        self.placement.contains(&ScriptTarget::Display)
    }
}

impl From<i64> for ScriptTarget {
    fn from(number: i64) -> Self {
        match number {
            0 => Self::Display,
            1 => Self::UserInput,
            2 => Self::AiOutput,
            3 => Self::SlashCommand,
            5 => Self::Lorebook,
            6 => Self::Reasoning,
            other => Self::Other(other),
        }
    }
}

impl From<ScriptTarget> for i64 {
    fn from(placement: ScriptTarget) -> Self {
        match placement {
            ScriptTarget::Display => 0,
            ScriptTarget::UserInput => 1,
            ScriptTarget::AiOutput => 2,
            ScriptTarget::SlashCommand => 3,
            ScriptTarget::Lorebook => 5,
            ScriptTarget::Reasoning => 6,
            ScriptTarget::Other(other) => other,
        }
    }
}

impl From<i64> for Substitution {
    fn from(number: i64) -> Self {
        match number {
            1 => Self::Raw,
            2 => Self::Escaped,
            _ => Self::None,
        }
    }
}

impl From<Substitution> for i64 {
    fn from(substitution: Substitution) -> Self {
        match substitution {
            Substitution::None => 0,
            Substitution::Raw => 1,
            Substitution::Escaped => 2,
        }
    }
}

/// Reads one script or a list of scripts. Also returns the number of invalid items, which do not
/// affect the others.
pub fn read(value: &Value) -> (Vec<RegexScript>, usize) {
    let items = match value {
        Value::Array(items) => items.iter().collect(),
        Value::Null => Vec::new(),
        one => vec![one],
    };
    let total = items.len();
    let objects = items.into_iter().filter(|item| item.is_object());
    let scripts: Vec<_> = objects
        .filter_map(|item| RegexScript::deserialize(item).ok())
        .collect();
    let skipped = total - scripts.len();
    (scripts, skipped)
}

fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(as_text(Value::deserialize(deserializer)?).unwrap_or_default())
}

fn texts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::Array(items) => items.into_iter().filter_map(as_text).collect(),
        Value::String(lines) => lines.lines().map(str::to_owned).collect(),
        _ => Vec::new(),
    })
}

fn placements<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ScriptTarget>, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::Array(items) => items
            .iter()
            .filter_map(as_number)
            .map(ScriptTarget::from)
            .collect(),
        one => as_number(&one)
            .map(ScriptTarget::from)
            .into_iter()
            .collect(),
    })
}

fn switch<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Ok(as_number(&value).is_some_and(|number| number != 0))
}

fn substitution<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Substitution, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Ok(as_number(&value)
        .map(Substitution::from)
        .unwrap_or_default())
}

fn depth<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    Ok(as_number(&Value::deserialize(deserializer)?))
}

fn as_text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Accepts numbers, numeric strings and booleans.
fn as_number(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number
            .as_i64()
            .or_else(|| number.as_f64().map(|number| number as i64)),
        Value::String(text) if text.eq_ignore_ascii_case("true") => Some(1),
        Value::String(text) => text.trim().parse().ok(),
        Value::Bool(truth) => Some(i64::from(*truth)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_script_survives_with_unknown_fields() {
        let file = json!({
            "id": "1", "scriptName": "Stars", "findRegex": "/\\*(.*?)\\*/g", "replaceString": "<i>$1</i>",
            "trimStrings": ["~"], "placement": [2, 4], "disabled": false, "markdownOnly": true, "promptOnly": false,
            "runOnEdit": true, "substituteRegex": 2, "minDepth": null, "maxDepth": 3, "mood": {"kept": 1},
        });
        let script: RegexScript = serde_json::from_value(file.clone()).unwrap();
        assert_eq!(
            script.placement,
            [ScriptTarget::AiOutput, ScriptTarget::Other(4)]
        );
        assert_eq!(script.substitute_regex, Substitution::Escaped);
        assert_eq!(serde_json::to_value(&script).unwrap(), file);
    }

    #[test]
    fn odd_values_are_read_tolerantly() {
        let (scripts, skipped) = read(&json!([
            {"findRegex": "a", "trimStrings": null, "placement": ["1", 2.0], "disabled": "true", "substituteRegex": true, "minDepth": ""},
            {"findRegex": null, "placement": 1, "trimStrings": "a\nb", "maxDepth": "4"},
            "no script",
        ]));
        assert_eq!(skipped, 1);
        let [first, second] = scripts.as_slice() else {
            panic!("two scripts")
        };
        assert!(
            first.disabled
                && first.works_on(ScriptTarget::AiOutput)
                && first.works_on(ScriptTarget::UserInput)
        );
        assert_eq!(
            (first.substitute_regex, first.min_depth),
            (Substitution::Raw, None)
        );
        assert_eq!((second.trim_strings.len(), second.max_depth), (2, Some(4)));
    }

    #[test]
    fn legacy_placement_applies_to_all_kinds() {
        let (scripts, _) = read(&json!({"findRegex": "a", "placement": [0]}));
        assert!(
            scripts[0].works_on(ScriptTarget::Reasoning)
                && scripts[0].changes_display()
                && scripts[0].changes_prompt()
        );
        let (scripts, _) = read(&json!({"findRegex": "a", "placement": [0, 2]}));
        assert!(
            !scripts[0].works_on(ScriptTarget::UserInput)
                && scripts[0].works_on(ScriptTarget::AiOutput)
        );
    }

    fn any_script() -> impl Strategy<Value = RegexScript> {
        let texts = (
            ".{0,8}",
            ".{0,8}",
            ".{0,20}",
            ".{0,20}",
            prop::collection::vec(".{0,6}", 0..3),
        );
        let switches = any::<[bool; 4]>();
        let placement = prop::collection::vec((-2..9_i64).prop_map(ScriptTarget::from), 0..4);
        let depths = (any::<Option<i32>>(), any::<Option<i32>>());
        let unknown = prop::collection::btree_map("x_[a-z]{1,6}", (any::<i32>(), ".{0,6}"), 0..3);
        (texts, switches, placement, 0..3_i64, depths, unknown).prop_map(
            |(
                (id, script_name, find_regex, replace_string, trim_strings),
                switches,
                placement,
                macros,
                depths,
                unknown,
            )| {
                let [disabled, markdown_only, prompt_only, run_on_edit] = switches;
                RegexScript {
                    id,
                    script_name,
                    find_regex,
                    replace_string,
                    trim_strings,
                    placement,
                    disabled,
                    markdown_only,
                    prompt_only,
                    run_on_edit,
                    substitute_regex: macros.into(),
                    min_depth: depths.0.map(i64::from),
                    max_depth: depths.1.map(i64::from),
                    unknown: unknown
                        .into_iter()
                        .map(|(name, (number, text))| (name, json!([number, text])))
                        .collect(),
                }
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::test_cases::rounds(10_000)))]

        #[test]
        fn any_script_survives_write_and_read(script in any_script()) {
            let written = serde_json::to_string(&script).unwrap();
            let value: Value = serde_json::from_str(&written).unwrap();
            prop_assert_eq!(read(&json!([value])), (vec![script], 0));
        }
    }
}
