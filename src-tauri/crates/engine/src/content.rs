//! What messages hold besides words, and how a model is told of it.

use context::HistoryMessage;
use domain::ToolCall;

/// The line behind a reply that asked for tools. It is text, and not the provider's own `tool_calls`: endpoints refuse a
/// prompt in which a call has no result, and Inglenook runs none.
pub(crate) fn asked_for(calls: &[ToolCall]) -> Option<String> {
    let calls: Vec<String> = calls.iter().map(|call| format!("{}({})", call.name, call.arguments.text())).collect();
    (!calls.is_empty()).then(|| format!("[Asked for tools, and there are none here: {}]", calls.join(", ")))
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
