//! Reads BYAF files: ZIP archives of a manifest, a character with pictures, and scenarios.

use serde_json::{Map, Value, json};

use super::card::Parts;
use super::scenario::Scenario;
use crate::archive::Archive;
use crate::backyard::json::{objects, text};
use crate::card::{CARD, CardError, Warning, parse};
use crate::card::{Card, MAX_JSON};

pub(crate) const MANIFEST: &str = "manifest.json";
/// Maximum number of scenarios of a character.
const MAX_SCENARIOS: usize = 200;
/// Maximum total size of the scenario documents kept in the card, in bytes.
const MAX_KEPT: usize = 4 << 20;

/// Builds a card from the character and its scenarios.
///
/// # Errors
/// [`CardError`] if a document is missing, not valid JSON, or above the limits.
pub(crate) fn card(mut archive: Archive<'_>) -> Result<(Card, Vec<Warning>), CardError> {
    let ArchiveHead {
        manifest,
        character,
        folder,
    } = head(&mut archive)?;
    let id = text(&character, "id").to_owned();
    let mut parts = Parts::of_character(&character);
    parts.creator = manifest
        .get("author")
        .and_then(|author| author.get("name")?.as_str())
        .unwrap_or_default()
        .into();
    parts.assets = pictures(&archive, &character, &folder);
    let mut warnings = Vec::new();
    let mut kept = Vec::new();
    let mut size = 0;
    for path in scenario_paths(&manifest) {
        let scenario = match document(&mut archive, &path) {
            Ok(scenario) => scenario,
            Err(reason) => {
                warnings.push(Warning::ScenarioLeftOut {
                    path,
                    reason: Box::new(reason),
                });
                continue;
            }
        };
        let read = Scenario::read(&scenario, &id);
        parts.add(&read);
        if let Some(background) = background(&archive, &scenario) {
            parts.assets.push(background);
        }
        let rest: Map<String, Value> = scenario
            .into_iter()
            .filter(|(key, _)| key != "messages")
            .collect();
        let rest = Value::Object(rest);
        size += rest.to_string().len();
        if size > MAX_KEPT {
            return Err(CardError::TooLarge {
                what: "the character's scenarios",
                bytes: size,
                limit: MAX_KEPT,
            });
        }
        kept.push(rest);
    }
    parts.raw = json!({ "manifest": manifest, "character": character, "scenarios": kept });
    let (card, odd) = parts.into_card()?;
    warnings.extend(odd);
    Ok((card, warnings))
}

/// Reads the scenarios with messages, one at a time. Returns `None` if the file is not a BYAF
/// archive. Unreadable scenarios are skipped; the card's warnings list them.
///
/// # Errors
/// [`CardError`] if the manifest or the character cannot be read.
pub fn scenarios(bytes: &[u8]) -> Result<Option<impl Iterator<Item = Scenario>>, CardError> {
    if !bytes.starts_with(b"PK\x03\x04") {
        return Ok(None);
    }
    let mut archive = Archive::open(bytes)?.rooted_at(CARD).rooted_at(MANIFEST);
    if archive.has(CARD) || !archive.has(MANIFEST) {
        return Ok(None);
    }
    let ArchiveHead {
        manifest,
        character,
        ..
    } = head(&mut archive)?;
    let id = text(&character, "id").to_owned();
    let read = move |path: String| Some(Scenario::read(&document(&mut archive, &path).ok()?, &id));
    Ok(Some(
        scenario_paths(&manifest)
            .into_iter()
            .filter_map(read)
            .filter(|one| !one.messages.is_empty()),
    ))
}

/// The documents that every archive has exactly once.
struct ArchiveHead {
    manifest: Map<String, Value>,
    character: Map<String, Value>,
    /// Folder of the character, with a trailing slash.
    folder: String,
}

fn head(archive: &mut Archive<'_>) -> Result<ArchiveHead, CardError> {
    let manifest = if archive.has(MANIFEST) {
        document(archive, MANIFEST)?
    } else {
        Map::new()
    };
    let Some(path) = paths(&manifest, "characters").next().map(str::to_owned) else {
        return Err(CardError::UnknownFormat {
            looks_like: "a ZIP archive without a `card.json`",
        });
    };
    let character = document(archive, &path)?;
    let folder = path
        .rsplit_once('/')
        .map_or_else(String::new, |(folder, _)| format!("{folder}/"));
    Ok(ArchiveHead {
        manifest,
        character,
        folder,
    })
}

fn document(archive: &mut Archive<'_>, path: &str) -> Result<Map<String, Value>, CardError> {
    match archive.read(path, MAX_JSON as u64)? {
        Some(json) => Ok(parse::object(&json)?.0),
        None => Err(CardError::MissingMember {
            path: path.chars().take(80).collect(),
        }),
    }
}

fn paths<'a>(manifest: &'a Map<String, Value>, list: &str) -> impl Iterator<Item = &'a str> {
    manifest
        .get(list)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
}

/// Returns the scenario paths without duplicates.
fn scenario_paths(manifest: &Map<String, Value>) -> Vec<String> {
    let mut once: Vec<String> = Vec::new();
    for path in paths(manifest, "scenarios").take(MAX_SCENARIOS) {
        if !once.iter().any(|known| known == path) {
            once.push(path.to_owned());
        }
    }
    once
}

/// Lists the character's pictures as assets; the first is the main icon. The picture files stay in
/// the archive.
fn pictures(archive: &Archive<'_>, character: &Map<String, Value>, folder: &str) -> Vec<Value> {
    let paths =
        objects(character, "images").map(|image| (text(image, "label"), text(image, "path")));
    let there = paths
        .map(|(label, path)| (label, format!("{folder}{path}")))
        .filter(|(_, path)| archive.has(path));
    let asset = |(at, (label, path)): (usize, (&str, String))| {
        let name = if at == 0 { "main" } else { label };
        asset("icon", name, &path)
    };
    there.enumerate().map(asset).collect()
}

fn background(archive: &Archive<'_>, scenario: &Map<String, Value>) -> Option<Value> {
    let path = Some(text(scenario, "backgroundImage")).filter(|path| !path.is_empty())?;
    let places = [path.to_owned(), format!("scenarios/{path}")];
    let path = places.into_iter().find(|path| archive.has(path))?;
    Some(asset("background", text(scenario, "title"), &path))
}

fn asset(kind: &str, name: &str, path: &str) -> Value {
    let ending = path.rsplit_once('.').map_or_else(
        || "unknown".to_owned(),
        |(_, ending)| ending.to_ascii_lowercase(),
    );
    json!({ "type": kind, "name": name, "uri": format!("embeded://{path}"), "ext": ending })
}
