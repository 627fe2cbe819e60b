//! Writes the probabilities of tokens.

use domain::token_choice::TokenChoice;
use serde_json::{Map, Value, json};

/// OpenAI's value for a token outside the likeliest ones. JSON has no infinity.
const LEAST: f32 = -9999.0;

/// The form of chat completions.
pub(super) fn of_chat(tokens: &[TokenChoice], alternatives: u32) -> Value {
    let content: Vec<Value> = tokens
        .iter()
        .map(|token| {
            let others = token.alternatives.iter().take(alternatives as usize);
            let top: Vec<Value> = others
                .map(|other| shown(&other.text, other.logprob))
                .collect();
            let mut shown = shown(&token.text, token.logprob);
            shown["top_logprobs"] = Value::Array(top);
            shown
        })
        .collect();
    json!({ "content": content, "refusal": null })
}

fn shown(text: &str, logprob: f32) -> Value {
    json!({ "token": text, "logprob": finite(logprob), "bytes": text.as_bytes() })
}

/// The form of completions. Offsets count characters from the beginning of the reply.
pub(super) fn of_text(tokens: &[TokenChoice], alternatives: u32) -> Value {
    let mut offset = 0;
    let offsets: Vec<usize> = tokens
        .iter()
        .map(|token| {
            let begin = offset;
            offset += token.text.chars().count();
            begin
        })
        .collect();
    let top: Vec<Value> = tokens
        .iter()
        .map(|token| {
            let others = token.alternatives.iter().take(alternatives as usize);
            Value::Object(
                others
                    .map(|other| (other.text.clone(), finite(other.logprob).into()))
                    .collect::<Map<_, _>>(),
            )
        })
        .collect();
    json!({
        "tokens": tokens.iter().map(|token| token.text.as_str()).collect::<Vec<_>>(),
        "token_logprobs": tokens.iter().map(|token| finite(token.logprob)).collect::<Vec<_>>(),
        "top_logprobs": top,
        "text_offset": offsets,
    })
}

fn finite(logprob: f32) -> f32 {
    if logprob.is_finite() {
        logprob.max(LEAST)
    } else {
        LEAST
    }
}
