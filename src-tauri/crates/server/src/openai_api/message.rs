//! Reads the messages of a chat completion.

use domain::ToolResult;
use engine::api::client::{ClientMessage, ClientRole};
use serde_json::Value;

use super::data_uri::{self, NotAPicture};
use super::error::Fault;
use super::tools;

const MAX_MESSAGES: usize = 10_000;

/// The messages of a request, at least one.
pub(super) fn messages(value: Option<&Value>) -> Result<Vec<ClientMessage>, Fault> {
    let wrong = |message: String| Fault::field("messages", message);
    let messages = match value {
        Some(Value::Array(messages)) if !messages.is_empty() => messages,
        _ => {
            return Err(wrong(
                "`messages` must be a list of at least one message.".to_owned(),
            ));
        }
    };
    if messages.len() > MAX_MESSAGES {
        return Err(wrong(format!(
            "`messages` may have at most {MAX_MESSAGES} items."
        )));
    }
    messages
        .iter()
        .enumerate()
        .map(|(place, value)| message(value, place))
        .collect()
}

fn message(value: &Value, place: usize) -> Result<ClientMessage, Fault> {
    let at = |field: &str| format!("messages[{place}]{field}");
    if !value.is_object() {
        return Err(Fault::field(&at(""), "A message must be an object."));
    }
    let role = match value["role"].as_str() {
        Some("system" | "developer") => ClientRole::System,
        Some("user") => ClientRole::User,
        Some("assistant") => ClientRole::Assistant,
        Some("tool") => ClientRole::Tool,
        _ => {
            let message = "The role of a message must be `system`, `developer`, `user`, `assistant` or `tool`.";
            return Err(Fault::field(&at(".role"), message));
        }
    };
    let (text, pictures) = content(&value["content"], &at(".content"))?;
    if !pictures.is_empty() && role != ClientRole::User {
        return Err(Fault::field(
            &at(".content"),
            "Only the user's messages may have pictures.",
        ));
    }
    let mut message = ClientMessage {
        pictures,
        ..ClientMessage::new(role, text)
    };
    match role {
        ClientRole::Assistant => {
            let calls = tools::calls(&value["tool_calls"], place);
            message.calls = calls.ok_or_else(|| {
                let message = "A tool call needs a function with a name.";
                Fault::field(&at(".tool_calls"), message)
            })?;
        }
        ClientRole::Tool => {
            let call_id = value["tool_call_id"].as_str().ok_or_else(|| {
                let message = "A tool's message must name the call that it answers.";
                Fault::field(&at(".tool_call_id"), message)
            })?;
            message.result = Some(ToolResult {
                call_id: call_id.to_owned(),
                text: message.text.clone(),
                error: false,
            });
        }
        ClientRole::System | ClientRole::User => {}
    }
    Ok(message)
}

/// The text and the pictures of a message. Texts of several parts are paragraphs.
fn content(value: &Value, at: &str) -> Result<(String, Vec<String>), Fault> {
    let parts = match value {
        Value::Null => return Ok(Default::default()),
        Value::String(text) => return Ok((text.clone(), Vec::new())),
        Value::Array(parts) => parts,
        _ => {
            return Err(Fault::field(
                at,
                "The content of a message must be a text or a list of parts.",
            ));
        }
    };
    let mut texts = Vec::new();
    let mut pictures = Vec::new();
    for part in parts {
        match (part["type"].as_str(), part) {
            (None, Value::String(text)) => texts.push(text.as_str()),
            (Some("text" | "input_text" | "output_text"), part) => texts.push(
                part["text"]
                    .as_str()
                    .ok_or_else(|| Fault::field(at, "A part of type `text` needs a text."))?,
            ),
            (Some("refusal"), part) => texts.extend(part["refusal"].as_str()),
            (Some("image_url" | "input_image"), part) => {
                pictures.push(picture(&part["image_url"], at)?)
            }
            (Some(kind @ ("input_audio" | "file" | "video_url")), _) => {
                return Err(Fault::unsupported(
                    at,
                    format!("Parts of type `{kind}` are not supported."),
                ));
            }
            _ => {
                return Err(Fault::field(
                    at,
                    "A part of a message must have the type `text` or `image_url`.",
                ));
            }
        }
    }
    Ok((texts.join("\n\n"), pictures))
}

/// A picture's `data:` URI. Nothing is fetched from an address in a request.
fn picture(value: &Value, at: &str) -> Result<String, Fault> {
    let url = value["url"].as_str().or(value.as_str()).unwrap_or_default();
    data_uri::picture(url).map_err(|why| {
        Fault::field(
            at,
            match why {
                NotAPicture::Address => {
                    "A picture must be a `data:` URI. Addresses are not fetched."
                }
                NotAPicture::OtherKind => {
                    "A picture must be a `data:` URI of a PNG, JPEG, WebP or GIF."
                }
                NotAPicture::NotBase64 => {
                    "A picture must be a `data:` URI in base64, and this one is empty or damaged."
                }
            },
        )
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: Value) -> Result<Vec<String>, String> {
        let shown = |message: &ClientMessage| format!("{:?} {}", message.role, message.text);
        let read = messages(Some(&value))
            .map_err(|fault| fault.body()["error"]["param"].as_str().unwrap().to_owned())?;
        Ok(read.iter().map(shown).collect())
    }

    #[test]
    fn content_may_be_text_parts_or_nothing() {
        let parts = json!([{ "type": "text", "text": "One." }, { "type": "text", "text": "Two." }]);
        let call = json!([{ "id": "a", "type": "function", "function": { "name": "roll", "arguments": "{}" } }]);
        let messages = json!([
            { "role": "developer", "content": "Be brief." },
            { "role": "user", "content": parts, "name": "Tom" },
            { "role": "assistant", "content": null, "tool_calls": call },
            { "role": "tool", "tool_call_id": "a", "content": "six" },
        ]);
        assert_eq!(
            read(messages).unwrap(),
            [
                "System Be brief.",
                "User One.\n\nTwo.",
                "Assistant ",
                "Tool six"
            ]
        );
    }

    #[test]
    fn pictures_are_never_fetched() {
        let with = |url: &str| {
            let part = json!({ "type": "image_url", "image_url": { "url": url } });
            read(json!([{ "role": "user", "content": [part] }]))
        };
        assert_eq!(
            with("data:image/png;base64,AAAA"),
            Ok(vec!["User ".to_owned()])
        );
        for url in [
            "https://example.org/a.png",
            "file:///etc/passwd",
            "data:text/html;base64,AAAA",
            "",
        ] {
            assert_eq!(with(url), Err("messages[0].content".to_owned()), "{url}");
        }
    }

    #[test]
    fn wrong_messages_are_named() {
        for (messages, param) in [
            (json!([]), "messages"),
            (json!("hello"), "messages"),
            (
                json!([{ "role": "user", "content": "a" }, 7]),
                "messages[1]",
            ),
            (
                json!([{ "role": "function", "content": "a" }]),
                "messages[0].role",
            ),
            (
                json!([{ "role": "user", "content": 7 }]),
                "messages[0].content",
            ),
            (
                json!([{ "role": "user", "content": [{ "type": "input_audio" }] }]),
                "messages[0].content",
            ),
            (
                json!([{ "role": "assistant", "tool_calls": [{}] }]),
                "messages[0].tool_calls",
            ),
            (
                json!([{ "role": "tool", "content": "six" }]),
                "messages[0].tool_call_id",
            ),
        ] {
            assert_eq!(read(messages.clone()), Err(param.to_owned()), "{messages}");
        }
    }
}
