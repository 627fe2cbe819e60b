//! Ollama's own API (<https://docs.ollama.com/api/chat>).

use domain::model::EndpointDialect;
use serde_json::{Value, json};

use super::service::{Answer, Asked, Service, array, only, required, text};

pub(crate) struct Ollama;

impl Service for Ollama {
    fn kind(&self) -> EndpointDialect {
        EndpointDialect::Ollama
    }

    fn path(&self) -> &'static str {
        ""
    }

    fn asks(&self) -> &'static str {
        "POST /api/chat "
    }

    fn read(&self, body: &Value) -> Result<Asked, String> {
        only(
            body,
            &[
                "model",
                "messages",
                "stream",
                "keep_alive",
                "tools",
                "format",
                "options",
            ],
        )?;
        if body["options"]["num_ctx"] != 4096 {
            return Err("the context size is missing".to_owned());
        }
        let max_tokens = required(&body["options"], "num_predict")?
            .as_u64()
            .ok_or("num_predict: not a number")?;
        let mut asked = Asked {
            max_tokens,
            ..Asked::default()
        };
        for message in array(body, "messages")? {
            let said = text(message, "content")?.to_owned();
            match text(message, "role")? {
                "tool" => {
                    text(message, "tool_name")?;
                    asked.results.push(said);
                }
                "user" => {
                    asked.results.clear();
                    asked.pictures = message["images"]
                        .as_array()
                        .into_iter()
                        .flatten()
                        .map(|_| "image/png".into())
                        .collect();
                    (asked.said, asked.continues) = (said, false);
                }
                "assistant" => {
                    asked.results.clear();
                    asked.continues = message.get("tool_calls").is_none();
                    for call in message["tool_calls"].as_array().into_iter().flatten() {
                        call["function"]["arguments"]
                            .as_object()
                            .ok_or("arguments: not an object")?;
                    }
                }
                "system" => asked.continues = false,
                other => return Err(format!("unknown role {other}")),
            }
        }
        asked.may_call = body.get("tools").is_some();
        Ok(asked)
    }

    fn write(&self, answer: &Answer) -> String {
        let line = |message: Value| {
            format!(
                "{}\n",
                json!({"model": "tiny", "message": message, "done": false})
            )
        };
        let mut lines =
            line(json!({"role": "assistant", "content": "", "thinking": answer.thought}));
        lines.extend(
            answer
                .pieces
                .iter()
                .map(|piece| line(json!({"role": "assistant", "content": piece}))),
        );
        if answer.calls {
            let call = json!({"function": {"name": "dice", "arguments": {"sides": 6}}});
            lines += &line(json!({"role": "assistant", "content": "", "tool_calls": [call]}));
        }
        let reason = if answer.limited { "length" } else { "stop" };
        let counts = json!({"model": "tiny", "message": {"role": "assistant", "content": ""}, "done": true,
            "done_reason": reason, "prompt_eval_count": 20, "eval_count": 5, "eval_duration": 4_000_000});
        lines + &format!("{counts}\n")
    }

    fn error(&self, _: u16, message: &str) -> String {
        json!({ "error": message }).to_string()
    }

    fn fails_midway(&self) -> String {
        let good = json!({"message": {"role": "assistant", "content": "Good "}, "done": false});
        format!("{good}\n{}\n", json!({"error": "the server is overloaded"}))
    }

    /// Also the answer to `/api/show`.
    fn models(&self) -> String {
        json!({"models": [{"name": "tiny", "model": "tiny", "size": 1}]}).to_string()
    }
}
