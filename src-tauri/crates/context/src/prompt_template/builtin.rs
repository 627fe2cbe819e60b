//! The built-in templates.

use std::sync::LazyLock;

use super::load::{LoadError, from_json};
use super::resolve::TemplateLibrary;

macro_rules! shipped {
    ($($id:literal),* $(,)?) => {
        &[$(($id, include_str!(concat!("../../../../../presets/prompts/", $id, ".json")))),*]
    };
}

/// Ids and sources: seven templates for chats, seven for background jobs.
pub(super) const SHIPPED: &[(&str, &str)] = shipped![
    "base-roleplay",
    "sms",
    "companion",
    "storyteller",
    "plain-assistant",
    "group-scene",
    "director",
    "summary",
    "keyframe",
    "fact-extraction",
    "title",
    "impersonate",
    "continue",
    "next-speaker",
];

/// All built-in templates, parsed once.
///
/// Errors Never: a test parses every built-in file. The error type is that of user templates.
pub fn built_in() -> Result<&'static TemplateLibrary, &'static LoadError> {
    static LIBRARY: LazyLock<Result<TemplateLibrary, LoadError>> = LazyLock::new(read);
    LIBRARY.as_ref()
}

fn read() -> Result<TemplateLibrary, LoadError> {
    let mut library = TemplateLibrary::default();
    for (_, text) in SHIPPED {
        library.put(from_json(text)?.template);
    }
    Ok(library)
}
