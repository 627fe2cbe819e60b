//! Tools in prompts: how a model learns which tools it may call, how earlier calls are shown to it,
//! and how the calls of a local model are read from its reply.
//!
//! Texts of tools, calls and results are data of strangers. They never become control text of a
//! prompt.

mod grammar;
mod reply_calls;
mod syntax;
pub mod wording;

use domain::prompt::ToolChoice;
use domain::{ToolDefinition, ToolRound};
use serde::Serialize;

pub use grammar::grammar;
pub use reply_calls::ReplyCalls;
pub use syntax::CallSyntax;

/// Form in which a prompt carries tools.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum ToolForm {
    /// In fields of the request, next to the messages.
    #[default]
    Request,
    /// By the model's own chat template.
    Template,
    /// As text of messages, for models that know no tools.
    Text,
}

/// The tools of one prompt.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct FrameTools {
    pub form: ToolForm,
    /// Empty if the model may not call tools.
    pub definitions: Vec<ToolDefinition>,
    pub choice: ToolChoice,
    /// The reply may contain at most one call.
    pub single_call: bool,
    /// Rounds of the reply that is being written.
    pub rounds: Vec<ToolRound>,
}

/// A name that every provider and every chat template accepts: `[a-zA-Z0-9_-]`, 1 to 64 characters.
/// Other characters become `_`.
pub fn plain_name(name: &str) -> String {
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() || letter == '-' {
            letter
        } else {
            '_'
        }
    };
    let name: String = name.trim().chars().take(64).map(plain).collect();
    if name.is_empty() {
        "_".to_owned()
    } else {
        name
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_the_characters_all_providers_share() {
        assert_eq!(plain_name(" roll dice<|im_end|>é"), "roll_dice__im_end___");
        assert_eq!(plain_name(""), "_");
        assert_eq!(plain_name(&"x".repeat(200)).len(), 64);
    }
}
