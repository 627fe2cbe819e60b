//! Anthropic's messages (<https://docs.anthropic.com/en/api/messages>).

use domain::model::EndpointDialect;
use serde_json::{Value, json};

use super::service::{Answer, Asked, Service, array, must_alternate, only, required, text};
use crate::endpoint::support::KEY;

pub(crate) struct Anthropic;

/// The service's limit.
const MAX_MARKERS: usize = 4;

impl Service for Anthropic {
    fn kind(&self) -> EndpointDialect {
        EndpointDialect::Anthropic
    }

    fn path(&self) -> &'static str {
        ""
    }

    fn asks(&self) -> &'static str {
        "POST /v1/messages "
    }

    fn key_header(&self) -> String {
        format!("x-api-key: {KEY}")
    }

    fn read(&self, body: &Value) -> Result<Asked, String> {
        only(
            body,
            &[
                "model",
                "max_tokens",
                "stream",
                "temperature",
                "stop_sequences",
                "tools",
                "tool_choice",
                "system",
                "messages",
            ],
        )?;
        let max_tokens = required(body, "max_tokens")?
            .as_u64()
            .ok_or("max_tokens: not a number")?;
        if body["temperature"]
            .as_f64()
            .is_some_and(|temperature| temperature > 1.0)
        {
            return Err("temperature: must be at most 1".to_owned());
        }
        if body.to_string().matches("cache_control").count() > MAX_MARKERS {
            return Err("a maximum of 4 blocks with cache_control may be provided".to_owned());
        }
        for block in body["system"].as_array().into_iter().flatten() {
            text(block, "text")?;
        }
        let messages = array(body, "messages")?;
        let roles: Vec<&str> = messages
            .iter()
            .map(|message| text(message, "role"))
            .collect::<Result<_, _>>()?;
        must_alternate(&roles)?;
        let mut asked = Asked {
            max_tokens,
            continues: roles.last() == Some(&"assistant"),
            ..Asked::default()
        };
        let mut open: Vec<String> = Vec::new();
        for message in messages {
            read_message(message, &mut asked, &mut open)?;
        }
        asked.may_call = body.get("tools").is_some() && body["tool_choice"]["type"] != "none";
        asked.must_call = match body["tool_choice"]["type"].as_str() {
            Some("any") => true,
            Some("tool") => text(&body["tool_choice"], "name")? == "dice",
            _ => false,
        };
        if asked.must_call && body["tool_choice"]["disable_parallel_tool_use"] != true {
            return Err("tool_choice: the test demands a single call".to_owned());
        }
        Ok(asked)
    }

    fn write(&self, answer: &Answer) -> String {
        let event = |name: &str, mut data: Value| {
            data["type"] = json!(name);
            format!("event: {name}\ndata: {data}\n\n")
        };
        let usage = json!({"input_tokens": 7, "cache_read_input_tokens": 8, "cache_creation_input_tokens": 5, "output_tokens": 1});
        let mut events = event(
            "message_start",
            json!({"message": {"role": "assistant", "content": [], "usage": usage}}),
        );
        events += &event(
            "content_block_start",
            json!({"index": 0, "content_block": {"type": "thinking", "thinking": ""}}),
        );
        let thought = json!({"type": "thinking_delta", "thinking": answer.thought});
        events += &event("content_block_delta", json!({"index": 0, "delta": thought}));
        let signature = json!({"type": "signature_delta", "signature": "c2ln"});
        events += &event(
            "content_block_delta",
            json!({"index": 0, "delta": signature}),
        );
        events += &event("content_block_stop", json!({"index": 0}));
        events += &event("ping", json!({}));
        events += &event(
            "content_block_start",
            json!({"index": 1, "content_block": {"type": "text", "text": ""}}),
        );
        for piece in &answer.pieces {
            let delta = json!({"type": "text_delta", "text": piece});
            events += &event("content_block_delta", json!({"index": 1, "delta": delta}));
        }
        events += &event("content_block_stop", json!({"index": 1}));
        if answer.calls {
            let block = json!({"type": "tool_use", "id": "toolu_1", "name": "dice", "input": {}});
            events += &event(
                "content_block_start",
                json!({"index": 2, "content_block": block}),
            );
            for part in ["", "{\"sides\"", ": 6}"] {
                let delta = json!({"type": "input_json_delta", "partial_json": part});
                events += &event("content_block_delta", json!({"index": 2, "delta": delta}));
            }
            events += &event("content_block_stop", json!({"index": 2}));
        }
        let reason = match (answer.limited, answer.calls) {
            (true, _) => "max_tokens",
            (false, true) => "tool_use",
            (false, false) => "end_turn",
        };
        let delta = json!({"stop_reason": reason, "stop_sequence": null});
        events += &event(
            "message_delta",
            json!({"delta": delta, "usage": {"output_tokens": 5}}),
        );
        events + &event("message_stop", json!({}))
    }

    fn error(&self, status: u16, message: &str) -> String {
        let kind = if status == 401 {
            "authentication_error"
        } else {
            "invalid_request_error"
        };
        json!({"type": "error", "error": {"type": kind, "message": message}}).to_string()
    }

    fn fails_midway(&self) -> String {
        let delta = json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Good "}});
        let error = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
        format!("event: content_block_delta\ndata: {delta}\n\nevent: error\ndata: {error}\n\n")
    }

    fn models(&self) -> String {
        let tiny = json!({"type": "model", "id": "tiny", "display_name": "Tiny", "max_input_tokens": 8192});
        json!({"data": [tiny], "has_more": false}).to_string()
    }
}

fn read_message(message: &Value, asked: &mut Asked, open: &mut Vec<String>) -> Result<(), String> {
    let user = message["role"] == "user";
    asked.results.clear();
    if user {
        asked.pictures.clear();
    }
    for block in array(message, "content")? {
        match text(block, "type")? {
            "text" => {
                let said = text(block, "text")?;
                if said.trim().is_empty() {
                    return Err("text content blocks must contain non-whitespace text".to_owned());
                }
                if user {
                    asked.said = said.trim().to_owned();
                } else if asked.continues && said.trim_end() != said {
                    return Err(
                        "final assistant content cannot end with trailing whitespace".to_owned(),
                    );
                }
            }
            "thinking" if !user => {
                let place = array(message, "content")?
                    .iter()
                    .position(|first| std::ptr::eq(first, block));
                if place != Some(0)
                    || text(block, "thinking")? != "Hm."
                    || text(block, "signature")? != "c2ln"
                {
                    return Err("thinking blocks cannot be modified".to_owned());
                }
            }
            "image" if user => asked
                .pictures
                .push(text(&block["source"], "media_type")?.to_owned()),
            "tool_use" if !user => {
                required(block, "input")?
                    .as_object()
                    .ok_or("input: not an object")?;
                open.push(text(block, "id")?.to_owned());
            }
            "tool_result" if user => {
                let id = text(block, "tool_use_id")?;
                let at = open
                    .iter()
                    .position(|open| open == id)
                    .ok_or("a tool_result without its tool_use")?;
                open.remove(at);
                asked.results.push(text(block, "content")?.to_owned());
            }
            other => return Err(format!("unexpected block {other}")),
        }
    }
    if user && !open.is_empty() {
        return Err(
            "tool_use ids were found without tool_result blocks immediately after".to_owned(),
        );
    }
    Ok(())
}
