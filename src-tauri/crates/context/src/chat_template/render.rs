//! The turns and runs of a rendered template.

use domain::prompt::PromptRole;

/// One message for the template: its role and the indices of its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenderedTurn {
    pub role: PromptRole,
    pub parts: Vec<usize>,
}

/// A run of the rendered prompt. Adjacent parts are paragraphs of one message and need a blank line
/// between them. The same holds for contents that a template joins without a marker; this differs
/// from the reference implementation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RenderedRun {
    Control(String),
    Part(usize),
    /// A part inside a JSON string, which must be escaped.
    Quoted(usize),
}

/// `text` as the inside of a JSON string.
pub fn inside_quotes(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// A chat with these roles; each turn has one part.
pub(super) fn turns(roles: &[PromptRole]) -> Vec<RenderedTurn> {
    roles
        .iter()
        .enumerate()
        .map(|(index, role)| RenderedTurn {
            role: *role,
            parts: vec![index],
        })
        .collect()
}

pub(super) fn provider_word(role: PromptRole) -> &'static str {
    match role {
        PromptRole::System => "system",
        PromptRole::User => "user",
        PromptRole::Character => "assistant",
    }
}
