//! The line below a reply: tokens, speed and tool calls.

use domain::ChatId;
use engine::api::{ApiError, EndReason, Figures, Message, ToolCall, ToolRound};
use serde_json::{Value, json};

use crate::failure::ErrorReason;
use crate::verbs::chat::turn::swipe;

pub(super) fn end_line(chat: ChatId, message: Option<&Message>, reason: &EndReason) -> Value {
    let figures = figures(message).cloned().unwrap_or_default();
    let (reason, error) = name(reason);
    let mut line = json!({
        "event": "end",
        "chat": chat,
        "message": message.map(|message| &message.id),
        "text": message.map_or("", crate::verbs::library::shown),
        "tool_calls": tool_calls(message),
        "tool_rounds": swipe(message).map_or(&[][..], |swipe| &swipe.tool_rounds),
        "reason": reason,
        "usage": {
            "prompt": figures.prompt,
            "reused": figures.reused,
            "evaluated": figures.evaluated,
            "generated": figures.generated,
        },
        "timings": { "first_text_ms": figures.first_text_ms, "decode_ms": figures.decode_ms },
    });
    if let Some(error) = error {
        let ErrorReason { kind, message } = error.into();
        line["error"] = json!({ "kind": kind, "message": message });
    }
    line
}

pub(super) fn name(reason: &EndReason) -> (&'static str, Option<&ApiError>) {
    match reason {
        EndReason::Stop => ("stop", None),
        EndReason::Length => ("length", None),
        EndReason::Cancelled => ("cancelled", None),
        EndReason::Failed { error } => ("failed", Some(error)),
    }
}

pub(super) fn figures(message: Option<&Message>) -> Option<&Figures> {
    swipe(message)?.figures.as_ref()
}

pub(super) fn tool_calls(message: Option<&Message>) -> &[ToolCall] {
    swipe(message).map_or(&[], |swipe| &swipe.tool_calls)
}

/// The calls of a round, one per line.
pub(super) fn used(round: &ToolRound) -> String {
    let line = |call: &engine::api::ToolUse| {
        let result = call.result.lines().next().unwrap_or_default();
        format!("\n({}({}): {result})", call.name, call.arguments)
    };
    round.calls.iter().map(line).collect()
}

pub(super) fn figures_line(figures: &Figures) -> String {
    let mut parts = Vec::new();
    parts.extend(figures.generated.map(|tokens| format!("{tokens} tokens")));
    if let (Some(reused), Some(prompt @ 1..)) = (figures.reused, figures.prompt) {
        parts.push(format!(
            "{:.0} % reused",
            100.0 * f64::from(reused) / f64::from(prompt)
        ));
    }
    parts.extend(
        figures
            .first_text_ms
            .map(|ms| format!("{:.1} s", ms / 1000.0)),
    );
    parts.join(" · ")
}
