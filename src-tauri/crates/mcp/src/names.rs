//! Names of tools for models: `server__tool`.

use std::collections::BTreeSet;

use domain::tool_server::ServerTool;
use sha2::{Digest as _, Sha256};

/// Maximum length of a tool's name, which all providers share.
pub const MAX_NAME: usize = 64;

/// Characters of the suffix that makes a name unique, with its underscore.
const SUFFIX: usize = 7;

/// Returns the names that a model uses for `(server id, server name, tool name)`, in the same
/// order. A name consists of `[a-zA-Z0-9_-]`, has at most 64 characters and is unique. It depends
/// on its own server and tool; on the others only if two would be equal.
pub fn model_names<'a>(
    tools: impl IntoIterator<Item = (&'a str, &'a str, &'a str)>,
) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let mut names = Vec::new();
    for (id, server, tool) in tools {
        let plain = format!("{}__{}", sanitized(server), sanitized(tool));
        let mut name = if plain.len() <= MAX_NAME {
            plain.clone()
        } else {
            suffixed(&plain, id, tool, 0)
        };
        let mut round = 0;
        while !taken.insert(name.clone()) {
            round += 1;
            name = suffixed(&plain, id, tool, round);
        }
        names.push(name);
    }
    names
}

/// Identifies a tool's definition. A permission for a tool ends when the server changes the
/// definition.
pub fn digest(tool: &ServerTool) -> String {
    let text = format!("{}\0{}\0{}", tool.name, tool.description, tool.parameters);
    hex::encode(&Sha256::digest(text)[..16])
}

fn sanitized(name: &str) -> String {
    let letter = |letter: char| {
        if letter.is_ascii_alphanumeric() || letter == '-' {
            letter
        } else {
            '_'
        }
    };
    let name: String = name.chars().take(MAX_NAME).map(letter).collect();
    let name = name.trim_matches('_');
    if name.is_empty() {
        "tool".to_owned()
    } else {
        name.to_owned()
    }
}

fn suffixed(plain: &str, id: &str, tool: &str, round: u32) -> String {
    let hash = hex::encode(&Sha256::digest(format!("{id}\0{tool}\0{round}"))[..(SUFFIX - 1) / 2]);
    let start = &plain[..plain.len().min(MAX_NAME - SUFFIX)];
    format!("{start}_{hash}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn name_joins_server_and_tool() {
        let names = model_names([
            ("1", "My files", "read_file"),
            ("1", "My files", "schreib/Datei"),
        ]);
        assert_eq!(names, ["My_files__read_file", "My_files__schreib_Datei"]);
    }

    #[test]
    fn equal_names_get_a_suffix() {
        let names = model_names([("1", "a b", "x"), ("2", "a_b", "x"), ("2", "a_b", "x")]);
        assert_eq!(names[0], "a_b__x");
        assert!(
            names[1].starts_with("a_b__x_") && names[1] != names[2],
            "{names:?}"
        );
    }

    proptest! {
        #[test]
        fn every_name_is_valid_and_unique(pairs in prop::collection::vec((".{0,80}", ".{0,80}"), 0..40)) {
            let names = model_names(pairs.iter().map(|(server, tool)| ("id", server.as_str(), tool.as_str())));
            let valid = |name: &String| {
                (1..=MAX_NAME).contains(&name.len())
                    && name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-'))
            };
            prop_assert!(names.iter().all(valid));
            prop_assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), pairs.len());
        }
    }
}
