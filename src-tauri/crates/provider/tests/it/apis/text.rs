//! Text completions, as llama.cpp's server documents them.

use domain::model::EndpointDialect;
use serde_json::{Value, json};

use super::openai::OpenAi;
use super::service::{Answer, Asked, Service, text};

pub(crate) struct Text;

impl Service for Text {
    fn kind(&self) -> EndpointDialect {
        EndpointDialect::Text
    }

    fn path(&self) -> &'static str {
        "/v1"
    }

    fn asks(&self) -> &'static str {
        "POST /v1/completions "
    }

    fn read(&self, body: &Value) -> Result<Asked, String> {
        let prompt = text(body, "prompt")?;
        if body.get("messages").is_some() || body.get("tools").is_some() {
            return Err("text completions have neither messages nor tools".to_owned());
        }
        let said = prompt
            .trim_end()
            .rsplit("\n\n")
            .next()
            .unwrap_or_default()
            .to_owned();
        Ok(Asked {
            said,
            max_tokens: body["max_tokens"].as_u64().unwrap_or(100),
            ..Asked::default()
        })
    }

    fn write(&self, answer: &Answer) -> String {
        let chunk = |text: &str, reason: Value| {
            let choice = json!({"index": 0, "text": text, "finish_reason": reason});
            format!(
                "data: {}\n\n",
                json!({"object": "text_completion", "choices": [choice]})
            )
        };
        let mut events: String = answer
            .pieces
            .iter()
            .map(|piece| chunk(piece, Value::Null))
            .collect();
        events += &chunk("", json!(if answer.limited { "length" } else { "stop" }));
        let usage = json!({"prompt_tokens": 20, "completion_tokens": 5});
        events
            + &format!(
                "data: {}\n\ndata: [DONE]\n\n",
                json!({"choices": [], "usage": usage})
            )
    }

    fn error(&self, status: u16, message: &str) -> String {
        OpenAi.error(status, message)
    }

    fn fails_midway(&self) -> String {
        let good = json!({"choices": [{"index": 0, "text": "Good "}]});
        format!(
            "data: {good}\n\ndata: {}\n\n",
            json!({"error": {"message": "Overloaded", "code": 503}})
        )
    }

    fn models(&self) -> String {
        OpenAi.models()
    }
}
