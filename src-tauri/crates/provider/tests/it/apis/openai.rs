//! OpenAI's chat completions (<https://platform.openai.com/docs/api-reference/chat>).

use domain::model::EndpointDialect;
use serde_json::{Value, json};

use super::service::{Answer, Asked, Service, array, required, text};

pub(crate) struct OpenAi;

impl Service for OpenAi {
    fn kind(&self) -> EndpointDialect {
        EndpointDialect::OpenAi
    }

    fn path(&self) -> &'static str {
        "/v1"
    }

    fn asks(&self) -> &'static str {
        "POST /v1/chat/completions "
    }

    fn read(&self, body: &Value) -> Result<Asked, String> {
        let mut asked = Asked {
            max_tokens: body["max_tokens"].as_u64().unwrap_or(100),
            ..Asked::default()
        };
        let mut open: Vec<&str> = Vec::new();
        for message in array(body, "messages")? {
            let role = text(message, "role")?;
            if role == "tool" {
                let id = text(message, "tool_call_id")?;
                let at = open
                    .iter()
                    .position(|open| *open == id)
                    .ok_or("a result without its call")?;
                open.remove(at);
                asked.results.push(text(message, "content")?.to_owned());
                continue;
            }
            if !open.is_empty() {
                return Err("a call without its result".to_owned());
            }
            asked.results.clear();
            asked.continues = role == "assistant" && message.get("tool_calls").is_none();
            if let Some(calls) = message.get("tool_calls").and_then(Value::as_array) {
                for call in calls {
                    open.push(text(call, "id")?);
                    let arguments = text(&call["function"], "arguments")?;
                    serde_json::from_str::<Value>(arguments)
                        .map_err(|_| "arguments that are not JSON")?;
                }
            }
            if role == "user" {
                (asked.said, asked.pictures) = content(required(message, "content")?)?;
            }
        }
        asked.may_call = body.get("tools").is_some() && body["tool_choice"] != "none";
        asked.must_call =
            body["tool_choice"] == "required" || body["tool_choice"]["function"]["name"] == "dice";
        if asked.must_call && body["parallel_tool_calls"] != false {
            return Err("parallel_tool_calls: the test demands a single call".to_owned());
        }
        Ok(asked)
    }

    fn write(&self, answer: &Answer) -> String {
        let chunk = |delta: Value, reason: Value| {
            let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
            format!(
                "data: {}\n\n",
                json!({"object": "chat.completion.chunk", "choices": [choice]})
            )
        };
        let mut events = chunk(json!({"role": "assistant", "content": ""}), Value::Null);
        events += &chunk(json!({"reasoning_content": answer.thought}), Value::Null);
        events.extend(
            answer
                .pieces
                .iter()
                .map(|piece| chunk(json!({"content": piece}), Value::Null)),
        );
        if answer.calls {
            for (id, name, arguments) in [("call_9", "dice", "{\"sides\""), ("", "", ":6}")] {
                let function = json!({"name": name, "arguments": arguments});
                events += &chunk(
                    json!({"tool_calls": [{"index": 0, "id": id, "function": function}]}),
                    Value::Null,
                );
            }
        }
        let reason = match (answer.limited, answer.calls) {
            (true, _) => "length",
            (false, true) => "tool_calls",
            (false, false) => "stop",
        };
        events += &chunk(json!({}), json!(reason));
        let usage = json!({"prompt_tokens": 20, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 8}});
        events
            + &format!(
                "data: {}\n\ndata: [DONE]\n\n",
                json!({"choices": [], "usage": usage})
            )
    }

    fn error(&self, _: u16, message: &str) -> String {
        json!({"error": {"message": message, "type": "invalid_request_error", "param": null, "code": null}}).to_string()
    }

    fn fails_midway(&self) -> String {
        let good = json!({"choices": [{"index": 0, "delta": {"content": "Good "}}]});
        format!(
            "data: {good}\n\ndata: {}\n\n",
            json!({"error": {"message": "Overloaded", "code": 503}})
        )
    }

    fn models(&self) -> String {
        let pricing = json!({"prompt": "0.000002", "completion": "0.00001"});
        json!({"object": "list", "data": [{"id": "tiny", "context_length": 8192, "pricing": pricing}]}).to_string()
    }
}

fn content(content: &Value) -> Result<(String, Vec<String>), String> {
    let Some(parts) = content.as_array() else {
        return Ok((
            content.as_str().ok_or("content: not a text")?.to_owned(),
            Vec::new(),
        ));
    };
    let (mut said, mut pictures) = (String::new(), Vec::new());
    for part in parts {
        match text(part, "type")? {
            "text" => said += text(part, "text")?,
            "image_url" => {
                let url = text(&part["image_url"], "url")?;
                pictures.push(
                    url.trim_start_matches("data:")
                        .split(';')
                        .next()
                        .unwrap()
                        .to_owned(),
                );
            }
            other => return Err(format!("unknown part {other}")),
        }
    }
    Ok((said, pictures))
}
