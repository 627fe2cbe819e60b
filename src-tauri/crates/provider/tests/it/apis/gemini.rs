//! Google's Gemini API (<https://ai.google.dev/api/generate-content>).

use domain::model::EndpointDialect;
use serde_json::{Value, json};

use super::service::{Answer, Asked, Service, array, must_alternate, only, text};
use crate::endpoint::support::KEY;

pub(crate) struct Gemini;

impl Service for Gemini {
    fn kind(&self) -> EndpointDialect {
        EndpointDialect::Gemini
    }

    fn path(&self) -> &'static str {
        "/v1beta"
    }

    fn asks(&self) -> &'static str {
        "POST /v1beta/models/tiny:streamGenerateContent?alt=sse "
    }

    fn key_header(&self) -> String {
        format!("x-goog-api-key: {KEY}")
    }

    fn read(&self, body: &Value) -> Result<Asked, String> {
        only(
            body,
            &[
                "contents",
                "systemInstruction",
                "tools",
                "toolConfig",
                "generationConfig",
            ],
        )?;
        let settings = &body["generationConfig"];
        only(
            settings,
            &[
                "maxOutputTokens",
                "temperature",
                "topP",
                "topK",
                "seed",
                "stopSequences",
                "frequencyPenalty",
                "presencePenalty",
            ],
        )?;
        if settings["stopSequences"]
            .as_array()
            .is_some_and(|stops| stops.len() > 5)
        {
            return Err("stopSequences: at most 5".to_owned());
        }
        let contents = array(body, "contents")?;
        let roles: Vec<&str> = contents
            .iter()
            .map(|content| text(content, "role"))
            .collect::<Result<_, _>>()?;
        must_alternate(&roles)?;
        if roles.last() == Some(&"model") {
            return Err("the last content must be the user's".to_owned());
        }
        let mut asked = Asked {
            max_tokens: settings["maxOutputTokens"].as_u64().unwrap_or(100),
            ..Asked::default()
        };
        let mut open = 0;
        for content in contents {
            asked.results.clear();
            asked.pictures.clear();
            for part in array(content, "parts")? {
                read_part(part, content["role"] == "model", &mut asked, &mut open)?;
            }
        }
        let calling = &body["toolConfig"]["functionCallingConfig"];
        asked.may_call = body.get("tools").is_some() && calling["mode"] != "NONE";
        let names = calling["allowedFunctionNames"].as_array();
        asked.must_call = calling["mode"] == "ANY"
            && names.is_none_or(|names| names.iter().any(|name| name == "dice"));
        Ok(asked)
    }

    fn write(&self, answer: &Answer) -> String {
        let usage = json!({"promptTokenCount": 20, "cachedContentTokenCount": 8, "candidatesTokenCount": 5, "thoughtsTokenCount": 2});
        let piece = |parts: Value, reason: Option<&str>| {
            let mut candidate = json!({"index": 0, "content": {"role": "model", "parts": parts}});
            if let Some(reason) = reason {
                candidate["finishReason"] = json!(reason);
            }
            format!(
                "data: {}\r\n\r\n",
                json!({"candidates": [candidate], "usageMetadata": usage})
            )
        };
        let mut events = piece(json!([{"text": answer.thought, "thought": true}]), None);
        events.extend(
            answer
                .pieces
                .iter()
                .map(|text| piece(json!([{"text": text}]), None)),
        );
        if answer.calls {
            events += &piece(
                json!([{"functionCall": {"name": "dice", "args": {"sides": 6}}, "thoughtSignature": "c2ln"}]),
                None,
            );
        }
        events
            + &piece(
                json!([{"text": ""}]),
                Some(if answer.limited { "MAX_TOKENS" } else { "STOP" }),
            )
    }

    fn error(&self, status: u16, message: &str) -> String {
        let word = if status == 401 {
            "UNAUTHENTICATED"
        } else {
            "INVALID_ARGUMENT"
        };
        json!([{"error": {"code": status, "message": message, "status": word}}]).to_string()
    }

    fn fails_midway(&self) -> String {
        let good =
            json!({"candidates": [{"content": {"role": "model", "parts": [{"text": "Good "}]}}]});
        let error = json!({"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}});
        format!("data: {good}\r\n\r\ndata: {error}\r\n\r\n")
    }

    fn models(&self) -> String {
        let model = |name: &str, call: &str| json!({"name": format!("models/{name}"), "inputTokenLimit": 8192, "supportedGenerationMethods": [call]});
        json!({"models": [model("tiny", "generateContent"), model("embedding", "embedContent")]})
            .to_string()
    }
}

fn read_part(
    part: &Value,
    of_model: bool,
    asked: &mut Asked,
    open: &mut usize,
) -> Result<(), String> {
    if let Some(said) = part["text"].as_str() {
        if !of_model {
            asked.said = said.to_owned();
        }
    } else if part["inlineData"].is_object() {
        text(&part["inlineData"], "data")?;
        asked
            .pictures
            .push(text(&part["inlineData"], "mimeType")?.to_owned());
    } else if part["functionCall"].is_object() && of_model {
        if part
            .get("thoughtSignature")
            .is_some_and(|signature| signature != "c2ln")
        {
            return Err("thoughtSignature: corrupted".to_owned());
        }
        part["functionCall"]["args"]
            .as_object()
            .ok_or("args: not an object")?;
        *open += 1;
    } else if part["functionResponse"].is_object() && !of_model {
        *open = open.checked_sub(1).ok_or("a response without its call")?;
        asked
            .results
            .push(text(&part["functionResponse"]["response"], "result")?.to_owned());
    } else {
        return Err(format!("an unexpected part {part}"));
    }
    Ok(())
}
