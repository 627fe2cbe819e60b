//! Counts ids that are plain texts: arguments of operations, and conversions in the engine.

use crate::house::code::source::Sources;
use crate::house::limits::Count;
use crate::house::report::Counted;
use anyhow::{Context, Result};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use std::fs;
use std::path::Path;

const OPERATIONS: &str = "src-tauri/crates/engine/src/operations/list.rs";
const ENGINE: &str = "src-tauri/crates/engine/src/";

/// Types of arguments that can hold any text.
const TEXTS: [&str; 3] = ["String", "Option<String>", "Vec<String>"];

/// Things with an id. An argument is named `chat`, `chats`, `chat_id` or `chat_ids`.
const THINGS: &[&str] = &[
    "id",
    "branch",
    "character",
    "chat",
    "document",
    "endpoint",
    "folder",
    "group",
    "keyframe",
    "lorebook",
    "member",
    "memory",
    "message",
    "model",
    "persona",
    "server",
    "swipe",
];

/// # Errors
/// The list of operations cannot be read.
pub(crate) fn count(root: &Path, sources: &Sources) -> Result<Counted> {
    let mut counted = Counted::default();
    let path = root.join(OPERATIONS);
    let text =
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let tokens = text
        .parse()
        .map_err(|error| anyhow::anyhow!("{OPERATIONS}: {error}"))?;
    counted.list(
        Count::TextIds,
        "operations with a text for an id",
        with_text_ids(tokens),
    );
    let conversions: Vec<_> = sources
        .files()
        .filter(|file| file.path.starts_with(ENGINE))
        .map(|file| file.parsed.conversions)
        .collect();
    let parsed = conversions.iter().map(|it| it.parsed).sum();
    let written = conversions.iter().map(|it| it.written).sum();
    counted
        .counts
        .extend([(Count::ParsedIds, parsed), (Count::WrittenIds, written)]);
    Ok(counted)
}

/// The operations that take an id as a text: `library.chats: get_chat(id: String)`.
fn with_text_ids(tokens: TokenStream) -> Vec<String> {
    let trees: Vec<TokenTree> = tokens.into_iter().collect();
    let mut found = Vec::new();
    for tree in &trees {
        if let TokenTree::Group(group) = tree {
            found.extend(with_text_ids(group.stream()));
        }
    }
    for window in trees.windows(4) {
        if let [
            TokenTree::Ident(_),
            TokenTree::Punct(colon),
            TokenTree::Ident(name),
            TokenTree::Group(arguments),
        ] = window
            && colon.as_char() == ':'
            && arguments.delimiter() == Delimiter::Parenthesis
        {
            let ids = text_ids(arguments);
            found.extend((!ids.is_empty()).then(|| format!("{name}({})", ids.join(", "))));
        }
    }
    found
}

/// The arguments `name: type` in parentheses that are ids and texts.
fn text_ids(arguments: &Group) -> Vec<String> {
    let written: String = arguments
        .stream()
        .into_iter()
        .map(|tree| tree.to_string())
        .collect();
    let arguments = written
        .split(',')
        .filter_map(|argument| argument.split_once(':'));
    arguments
        .filter(|(name, kind)| TEXTS.contains(kind) && names_id(name))
        .map(|(name, kind)| format!("{name}: {kind}"))
        .collect()
}

fn names_id(argument: &str) -> bool {
    let name = argument.trim_end_matches("_ids").trim_end_matches("_id");
    let singular = name.strip_suffix("ies").map(|start| format!("{start}y"));
    let is_thing = |name: &str| {
        THINGS
            .iter()
            .any(|thing| name == *thing || name.ends_with(&format!("_{thing}")))
    };
    name != argument
        || is_thing(name)
        || is_thing(name.trim_end_matches('s'))
        || is_thing(name.trim_end_matches("es"))
        || singular.is_some_and(|name| is_thing(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_operations_with_text_ids() {
        let list = "macro_rules! m { () => { $then! { \
            /// Doc.\n library.chats: get_chat(id: String) -> Chat; \
            library.chats: find(text: String) -> Chat; library.chats: typed(chat: ChatId) -> Chat; \
            turns.sending: send(chat: Option<String>, memories: Vec<String>) -> (); } } }";
        assert_eq!(
            with_text_ids(list.parse().unwrap()),
            [
                "get_chat(id: String)",
                "send(chat: Option<String>, memories: Vec<String>)"
            ]
        );
    }

    #[test]
    fn recognises_names_of_ids() {
        for name in [
            "id",
            "ids",
            "chat_id",
            "messages",
            "branches",
            "memories",
            "from_folder",
        ] {
            assert!(names_id(name), "{name}");
        }
        for name in ["text", "name", "file", "key"] {
            assert!(!names_id(name), "{name}");
        }
    }
}
