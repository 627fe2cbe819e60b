//! Imports SillyTavern settings that have a counterpart here: lorebooks, the author's note and stop
//! strings. Settings that the user has already changed here stay.

use std::collections::BTreeMap;

use domain::CharacterId;
use domain::settings::{Owner, setting};
use serde_json::{Map, Value};

use crate::api::{ImportReport, Imported, SettingOwner, Skipped};
use crate::base::error::ApiResult;
use crate::import::sillytavern::FolderImports;
use crate::import::sillytavern::cards::Cast;
use crate::import::sillytavern::folder::{SETTINGS, composed};
use crate::library::chats::foreign_chat::{place_word, role_word};

/// SillyTavern's keys of lorebook settings, and the keys here.
const LORE: [(&str, &str); 11] = [
    ("world_info_depth", "lore_scan_depth"),
    ("world_info_budget", "lore_budget_percent"),
    ("world_info_budget_cap", "lore_budget_cap"),
    ("world_info_recursive", "lore_recursive"),
    ("world_info_max_recursion_steps", "lore_recursion_steps"),
    ("world_info_case_sensitive", "lore_case_sensitive"),
    ("world_info_match_whole_words", "lore_whole_words"),
    ("world_info_include_names", "lore_include_names"),
    ("world_info_min_activations", "lore_min_activations"),
    (
        "world_info_min_activations_depth_max",
        "lore_min_activations_depth",
    ),
    ("world_info_use_group_scoring", "lore_group_scoring"),
];
/// Setting values, indexed by SillyTavern's numbers.
const STRATEGIES: [&str; 3] = ["evenly", "character-first", "global-first"];
/// SillyTavern's keys for the default author's note, and the keys here.
const NOTE: [(&str, &str); 3] = [
    ("default", "author_note"),
    ("defaultDepth", "author_note_depth"),
    ("defaultInterval", "author_note_every_messages"),
];
/// Places of a character's note next to the author's note, indexed by SillyTavern's numbers.
const CHARACTER_NOTE: [&str; 3] = ["replace", "before", "after"];

/// Setting keys and values of one owner, in the text form that users enter.
type Wanted = Vec<(&'static str, String)>;

impl FolderImports {
    /// Imports the settings of a SillyTavern folder.
    pub(crate) async fn import_folder_settings(
        &self,
        settings: &Value,
        cast: &Cast,
        report: &mut ImportReport,
    ) -> ApiResult<()> {
        let mut wanted = of_lore(settings);
        wanted.extend(of_note(settings));
        wanted.extend(stop_strings(settings).map(|texts| ("stop_strings", texts)));
        self.take_settings(SettingOwner::Global, "Settings", wanted, report)
            .await?;
        for (character, name, note) in notes_of_characters(settings, cast) {
            let owner = SettingOwner::Character { id: character };
            self.take_settings(owner, &format!("Author's note of {name}"), note, report)
                .await?;
        }
        Ok(())
    }

    /// Sets each value, unless the user has set the key here or the value is the default.
    async fn take_settings(
        &self,
        owner: SettingOwner,
        name: &str,
        wanted: Wanted,
        report: &mut ImportReport,
    ) -> ApiResult<()> {
        let of = crate::base::records::convert::owner(&owner)?;
        let own: BTreeMap<String, String> = self
            .base()
            .store()
            .read(move |store| store.scoped_settings().of(of))
            .await?;
        let mut taken = Vec::new();
        let mut kept = Vec::new();
        for (key, text) in wanted {
            let Some(setting) = setting(key) else {
                continue;
            };
            if setting
                .kind
                .read(&text)
                .is_ok_and(|value| value == setting.default)
            {
                continue;
            }
            if own.contains_key(key) {
                kept.push(key);
                continue;
            }
            let shown: String = text.chars().take(40).collect();
            match self
                .config()
                .setting_edits
                .set_setting_in_words(owner.clone(), key.to_owned(), text)
                .await
            {
                Ok(_) => taken.push(format!("{key}: {shown}")),
                Err(error) => taken.push(format!("{key} is left out: {error}")),
            }
        }
        if !kept.is_empty() {
            let reason = format!("{} keep the values that are set here", kept.join(", "));
            report.skipped.push(Skipped {
                id: String::new(),
                file: SETTINGS.to_owned(),
                reason,
            });
        }
        if !taken.is_empty() {
            let id = if let Owner::Global = of {
                String::new()
            } else {
                of.id().map(|id| id.to_string()).unwrap_or_default()
            };
            let kind = "settings".to_owned();
            let name = name.to_owned();
            let file = SETTINGS.to_owned();
            report.imported.push(Imported {
                kind,
                id,
                name,
                file,
                warnings: taken,
            });
        }
        Ok(())
    }
}

fn of_lore(settings: &Value) -> Wanted {
    let empty = Map::new();
    // Older versions store these keys at the top level.
    let nested = settings
        .get("world_info_settings")
        .and_then(Value::as_object);
    let places = [nested, settings.as_object()].map(|place| place.unwrap_or(&empty));
    let find = |key: &str| places.iter().find_map(|place| place.get(key));
    let strategy = find("world_info_character_strategy").and_then(Value::as_u64);
    let strategy = strategy.and_then(|number| STRATEGIES.get(usize::try_from(number).ok()?));
    let all = LORE
        .iter()
        .filter_map(|(theirs, ours)| Some((*ours, in_words(ours, find(theirs)?)?)));
    all.chain(strategy.map(|word| ("lore_strategy", (*word).to_owned())))
        .collect()
}

fn of_note(settings: &Value) -> Wanted {
    let Some(note) = settings.pointer("/extension_settings/note") else {
        return Vec::new();
    };
    let all = NOTE
        .iter()
        .filter_map(|(theirs, ours)| Some((*ours, in_words(ours, note.get(*theirs)?)?)));
    let role = role_word(note.get("defaultRole").and_then(Value::as_u64));
    let place = place_word(note.get("defaultPosition").and_then(Value::as_u64));
    let role = role.map(|word| ("author_note_role", word.to_owned()));
    all.chain(role)
        .chain(place.map(|word| ("author_note_place", word.to_owned())))
        .collect()
}

/// Returns the active notes of imported characters.
fn notes_of_characters(settings: &Value, cast: &Cast) -> Vec<(CharacterId, String, Wanted)> {
    let all = settings
        .pointer("/extension_settings/note/chara")
        .and_then(Value::as_array);
    let used = |note: &&Value| note.get("useChara").and_then(Value::as_bool) == Some(true);
    let one = |note: &Value| {
        let text = |key: &str| {
            note.get(key)
                .and_then(Value::as_str)
                .filter(|text| !text.trim().is_empty())
        };
        let name = text("name")?;
        let mut wanted = vec![("character_note", text("prompt")?.to_owned())];
        let place = note
            .get("position")
            .and_then(Value::as_u64)
            .and_then(|at| CHARACTER_NOTE.get(at as usize));
        wanted.extend(place.map(|word| ("character_note_place", (*word).to_owned())));
        Some((*cast.get(&composed(name))?, name.to_owned(), wanted))
    };
    all.into_iter()
        .flatten()
        .filter(used)
        .filter_map(one)
        .collect()
}

/// Converts SillyTavern's JSON array, stored as a string, to one stop string per line.
fn stop_strings(settings: &Value) -> Option<String> {
    let all = match settings.pointer("/power_user/custom_stopping_strings")? {
        Value::String(json) => serde_json::from_str(json).ok()?,
        other => other.clone(),
    };
    let texts = all
        .as_array()?
        .iter()
        .filter_map(Value::as_str)
        .filter(|text| !text.is_empty());
    let lines: Vec<String> = texts
        .map(|text| text.replace('\\', "\\\\").replace('\n', "\\n"))
        .collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Converts a SillyTavern value to the text form of a setting. 0 becomes "off" if the setting
/// accepts that word.
fn in_words(key: &str, value: &Value) -> Option<String> {
    match value {
        Value::Bool(on) => Some(if *on { "on" } else { "off" }.to_owned()),
        Value::Number(number) if number.as_f64() == Some(0.0) => {
            let off = setting(key).is_some_and(|setting| setting.kind.read("off").is_ok());
            Some(if off { "off" } else { "0" }.to_owned())
        }
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn settings_are_found_in_new_and_old_places() {
        let lore = json!({ "world_info_depth": 4, "world_info_recursive": false, "world_info_character_strategy": 2 });
        let expected = [
            ("lore_scan_depth", "4"),
            ("lore_recursive", "off"),
            ("lore_strategy", "global-first"),
        ]
        .map(|(key, text)| (key, text.to_owned()));
        assert_eq!(of_lore(&json!({ "world_info_settings": lore })), expected);
        assert_eq!(of_lore(&lore), expected);
        assert_eq!(
            of_lore(&json!({ "world_info_depth": [], "world_info_character_strategy": 9 })),
            []
        );
    }

    #[test]
    fn stop_strings_become_one_per_line() {
        let of = |texts: Value| {
            stop_strings(&json!({ "power_user": { "custom_stopping_strings": texts } }))
        };
        assert_eq!(
            of(json!(r#"["\n{{user}}:","a\\b",""]"#)).as_deref(),
            Some("\\n{{user}}:\na\\\\b")
        );
        assert_eq!(of(json!("")), None);
        assert_eq!(of(json!("[]")), None);
    }

    #[test]
    fn default_author_note_is_imported() {
        let note = json!({ "extension_settings": { "note": { "default": "Rural.", "defaultDepth": 2, "defaultRole": 1 } } });
        let expected = [
            ("author_note", "Rural."),
            ("author_note_depth", "2"),
            ("author_note_role", "user"),
        ];
        assert_eq!(
            of_note(&note),
            expected.map(|(key, text)| (key, text.to_owned()))
        );
    }
}
