//! What messages hold besides words, and how a model is told of it.

use std::collections::HashMap;

use context::HistoryMessage;
use domain::chat::Picture;
use domain::{MessageId, ToolCall};

use crate::answer::Answerer;

/// The line behind a reply that asked for tools. It is text, and not the provider's own `tool_calls`: endpoints refuse a
/// prompt in which a call has no result, and Inglenook runs none.
pub(crate) fn asked_for(calls: &[ToolCall]) -> Option<String> {
    let calls: Vec<String> = calls.iter().map(|call| format!("{}({})", call.name, call.arguments.text())).collect();
    (!calls.is_empty()).then(|| format!("[Asked for tools, and there are none here: {}]", calls.join(", ")))
}

/// The line behind words that came with pictures, for a model that sees none.
fn unseen(pictures: usize) -> Option<String> {
    match pictures {
        0 => None,
        1 => Some("[1 picture came with this. You cannot see it.]".to_owned()),
        count => Some(format!("[{count} pictures came with this. You cannot see them.]")),
    }
}

/// Gives each message its pictures with what they cost, or to a model that sees none the note in their place (S2.8).
pub(crate) fn add_pictures(
    history: &mut [HistoryMessage],
    notes: &mut HashMap<MessageId, String>,
    pictures: &HashMap<MessageId, Vec<Picture>>,
    answerer: &Answerer,
) {
    for message in history {
        let pictures = pictures.get(&message.id).map_or(&[][..], Vec::as_slice);
        if answerer.sees {
            let count = u32::try_from(pictures.len()).unwrap_or(u32::MAX);
            message.pictures = pictures.iter().map(|picture| picture.hash.clone()).collect();
            message.extra_tokens = answerer.values.image_tokens.saturating_mul(count);
        } else if let Some(note) = unseen(pictures.len()) {
            notes.insert(message.id, note);
        }
    }
}

/// Puts `note` behind the words of `message`.
pub(crate) fn append(message: &mut HistoryMessage, note: &str) {
    let anew = message.anew.as_mut().map(|anew| &mut anew.text);
    for text in [Some(&mut message.text), anew].into_iter().flatten() {
        if !text.trim().is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(note);
    }
}
