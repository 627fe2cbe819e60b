//! Message content other than text: notes about tool calls and pictures in prompts.

use std::collections::HashMap;

use context::HistoryMessage;
use domain::chat::Picture;
use domain::{MessageId, ToolCall};

/// The note after a reply with calls that were not run. It is text instead of the provider's own
/// `tool_calls`, because endpoints reject a call without a result.
pub(crate) fn asked_for(calls: &[ToolCall]) -> Option<String> {
    let calls: Vec<String> = calls
        .iter()
        .map(|call| format!("{}({})", call.name, call.arguments.text()))
        .collect();
    (!calls.is_empty()).then(|| {
        format!(
            "[Asked for tools, and there are none here: {}]",
            calls.join(", ")
        )
    })
}

/// The note after a message with pictures, for a model that cannot see them.
fn unseen(pictures: usize) -> Option<String> {
    match pictures {
        0 => None,
        1 => Some("[1 picture came with this. You cannot see it.]".to_owned()),
        count => Some(format!(
            "[{count} pictures came with this. You cannot see them.]"
        )),
    }
}

/// Attaches each message's pictures with their token cost, which `tokens` has for those that the
/// model can see. The model gets a note about the others.
pub(crate) fn add_pictures(
    history: &mut [HistoryMessage],
    notes: &mut HashMap<MessageId, String>,
    pictures: &HashMap<MessageId, Vec<Picture>>,
    tokens: &HashMap<String, u32>,
) {
    for message in history {
        let pictures = pictures.get(&message.id).map_or(&[][..], Vec::as_slice);
        let seen = pictures
            .iter()
            .filter_map(|picture| Some((picture.hash.clone(), *tokens.get(&picture.hash)?)));
        let (hashes, costs): (Vec<String>, Vec<u32>) = seen.unzip();
        if let Some(note) = unseen(pictures.len() - hashes.len()) {
            notes.insert(message.id, note);
        }
        message.pictures = hashes;
        message.extra_tokens = costs.into_iter().fold(0, u32::saturating_add);
    }
}

/// Appends `note` to the text of `message`.
pub(crate) fn append(message: &mut HistoryMessage, note: &str) {
    let anew = message.anew.as_mut().map(|anew| &mut anew.text);
    for text in [Some(&mut message.text), anew].into_iter().flatten() {
        if !text.trim().is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(note);
    }
}
