//! Counts types whose names mislead: copies of types below, banned words, and repeated names.

use crate::house::code::source::Sources;
use crate::house::limits::Count;
use crate::house::report::Counted;
use std::collections::{BTreeMap, BTreeSet};

const API: &str = "src-tauri/crates/engine/src/api/";

/// Crates whose public types the engine's API may not copy.
const FRONT_ENDS: [&str; 5] = ["engine", "server", "nook", "xtask", "src-tauri"];

/// Names that say nothing to a reader. The guide to language has their replacements.
const BANNED_TYPES: [&str; 9] = [
    "Aim", "Seat", "Sheet", "Ahead", "Around", "Occasion", "MetIn", "Heard", "Wishes",
];

/// The same for functions.
const BANNED_FUNCTIONS: [&str; 9] = [
    "aim", "seat", "sheet", "ahead", "around", "occasion", "met_in", "heard", "wishes",
];

/// Places in which a type name may be defined.
const REPEATED: usize = 3;

/// Names that many places may define: options of commands and of libraries.
const MAY_REPEAT: [&str; 1] = ["Options"];

pub(crate) fn count(sources: &Sources) -> Counted {
    let mut counted = Counted::default();
    counted.list(
        Count::Mirrors,
        "types of the API with the name of a type below",
        mirrors(sources),
    );
    counted.list(Count::BannedNames, "banned names", banned(sources));
    counted.list(
        Count::RepeatedNames,
        "type names defined in three or more places",
        repeated(sources),
    );
    counted
}

/// Types of the engine's API with the name of a public type of another crate.
fn mirrors(sources: &Sources) -> Vec<String> {
    let below = sources
        .crates
        .iter()
        .filter(|it| !FRONT_ENDS.contains(&it.name.as_str()));
    let mut public: BTreeMap<&str, &str> = BTreeMap::new();
    for part in below {
        let types = part
            .files
            .iter()
            .flat_map(|file| &file.parsed.definitions.types);
        public.extend(
            types
                .filter(|it| it.public)
                .map(|it| (it.name.as_str(), part.name.as_str())),
        );
    }
    let mut found = Vec::new();
    for file in sources.files().filter(|file| file.path.starts_with(API)) {
        for it in &file.parsed.definitions.types {
            if let Some(other) = public.get(it.name.as_str()) {
                found.push(format!("{}:{}  {} of {other}", file.path, it.line, it.name));
            }
        }
    }
    found
}

fn banned(sources: &Sources) -> Vec<String> {
    let mut found = Vec::new();
    for file in sources.files() {
        let types = file
            .parsed
            .definitions
            .types
            .iter()
            .map(|it| (it.name.as_str(), it.line));
        let functions = file
            .parsed
            .functions
            .iter()
            .map(|it| (it.name.as_str(), it.line));
        let banned = types
            .filter(|(name, _)| BANNED_TYPES.contains(name))
            .chain(functions.filter(|(name, _)| BANNED_FUNCTIONS.contains(name)));
        found.extend(banned.map(|(name, line)| format!("{}:{line}  {name}", file.path)));
    }
    found
}

fn repeated(sources: &Sources) -> Vec<String> {
    let mut places: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for file in sources.files() {
        for it in &file.parsed.definitions.types {
            places.entry(&it.name).or_default().insert(&file.path);
        }
    }
    let repeated = places
        .into_iter()
        .filter(|(name, files)| files.len() >= REPEATED && !MAY_REPEAT.contains(name));
    repeated
        .map(|(name, files)| {
            format!(
                "{name}: {}",
                files.into_iter().collect::<Vec<_>>().join(", ")
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::house::code::source::CrateSource;

    fn sources(crates: &[(&str, &[(&str, &str)])]) -> Sources {
        let crates = crates
            .iter()
            .map(|(name, files)| CrateSource::of(name, files));
        Sources {
            crates: crates.collect(),
            tests: Vec::new(),
        }
    }

    #[test]
    fn finds_types_of_the_api_that_exist_below() {
        let found = mirrors(&sources(&[
            ("domain", &[("chat.rs", "pub struct Chat; struct Private;")]),
            (
                "engine",
                &[(
                    "api/chats.rs",
                    "pub struct Chat; pub struct Private;\npub struct New;",
                )],
            ),
        ]));
        assert_eq!(
            found,
            ["src-tauri/crates/engine/src/api/chats.rs:1  Chat of domain"]
        );
    }

    #[test]
    fn finds_banned_types_and_functions() {
        let found = banned(&sources(&[(
            "a",
            &[("b.rs", "struct Aim;\nfn around() {}\nfn fine() {}")],
        )]));
        assert_eq!(
            found,
            [
                "src-tauri/crates/a/src/b.rs:1  Aim",
                "src-tauri/crates/a/src/b.rs:2  around"
            ]
        );
    }

    #[test]
    fn finds_names_in_three_places() {
        let same = "struct Part; struct Options;";
        let files = [
            ("a.rs", same),
            ("b.rs", same),
            ("c.rs", same),
            ("d.rs", "struct Twice;"),
            ("e.rs", "struct Twice;"),
        ];
        let found = repeated(&sources(&[("x", &files)]));
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("Part: "));
    }
}
