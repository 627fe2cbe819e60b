//! From our words to the endpoint's: roles and sampling.

use domain::prompt::{Prompt, PromptRole};
use serde::Serialize;

use super::dialect::Dialect;
use super::samplers::Rare;
use crate::Request;

/// OpenAI's own limit.
const PLAIN_STOPS: usize = 4;
/// What we send to servers that take more.
const MAX_STOPS: usize = 16;
#[derive(Debug, Serialize)]
pub(super) struct Body<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    model: &'a str,
    messages: Vec<Message<'a>>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frequency_penalty: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    presence_penalty: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u32>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    stop: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat<'a>>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    extras: Option<Extras>,
}

#[derive(Debug, Serialize)]
struct Message<'a> {
    role: &'static str,
    content: Content<'a>,
}

/// Plain text wherever it can be: many servers know nothing else.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(String),
    Parts(Vec<Part<'a>>),
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part<'a> {
    Text { text: String },
    ImageUrl { image_url: ImageUrl<'a> },
}

#[derive(Debug, Serialize)]
struct ImageUrl<'a> {
    url: &'a str,
}

impl<'a> Content<'a> {
    /// Goes on with a paragraph.
    fn say(&mut self, text: &str) {
        let before = match self {
            Self::Text(before) => before,
            Self::Parts(parts) => {
                let Some(Part::Text { text: before }) = parts.last_mut() else {
                    return parts.push(Part::Text { text: text.to_owned() });
                };
                before
            }
        };
        if !before.is_empty() {
            before.push_str("\n\n");
        }
        before.push_str(text);
    }

    fn show(&mut self, url: &'a str) {
        if let Self::Text(text) = self {
            let text = std::mem::take(text);
            let words = (!text.is_empty()).then_some(Part::Text { text });
            *self = Self::Parts(words.into_iter().collect());
        }
        if let Self::Parts(parts) = self {
            parts.push(Part::ImageUrl { image_url: ImageUrl { url } });
        }
    }
}

/// As OpenAI has it, and the local servers after it.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ResponseFormat<'a> {
    JsonSchema { json_schema: NamedSchema<'a> },
}

#[derive(Debug, Serialize)]
struct NamedSchema<'a> {
    name: &'static str,
    strict: bool,
    schema: &'a serde_json::Value,
}

#[derive(Debug, Serialize)]
struct StreamOptions {
    include_usage: bool,
}

/// Beyond OpenAI's own.
#[derive(Debug, Serialize)]
struct Extras {
    top_k: u32,
    min_p: f32,
    /// llama.cpp's name.
    repeat_penalty: f32,
    /// vLLM's and OpenRouter's name.
    repetition_penalty: f32,
    #[serde(flatten)]
    rare: Rare,
    cache_prompt: bool,
    return_progress: bool,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    prefill: Option<Prefill>,
}

/// How vLLM, and llama.cpp since May 2026, are asked to go on writing the last message.
#[derive(Debug, Serialize)]
struct Prefill {
    add_generation_prompt: bool,
    continue_final_message: bool,
}

/// The request's body, without what `dialect` leaves out.
pub(super) fn body<'a>(model: &'a str, request: &'a Request, dialect: Dialect) -> Body<'a> {
    let (sampling, prompt) = (request.sampling, &request.prompt);
    let messages = messages(prompt);
    let prefill = (prompt.continues && messages.last().is_some_and(|last| last.role == "assistant"))
        .then_some(Prefill { add_generation_prompt: false, continue_final_message: true });
    let penalty = |value: f32| (!dialect.fixed_sampling && value != 0.0).then_some(value);
    let stops = if dialect.plain { PLAIN_STOPS } else { MAX_STOPS };
    Body {
        model,
        messages,
        stream: true,
        stream_options: (!dialect.no_usage).then_some(StreamOptions { include_usage: true }),
        temperature: (!dialect.fixed_sampling).then_some(sampling.temperature),
        top_p: (!dialect.fixed_sampling).then_some(sampling.top_p),
        frequency_penalty: penalty(sampling.frequency_penalty),
        presence_penalty: penalty(sampling.presence_penalty),
        max_tokens: (!dialect.completion_tokens).then_some(sampling.max_tokens),
        max_completion_tokens: dialect.completion_tokens.then_some(sampling.max_tokens),
        seed: (!dialect.unseeded).then_some(sampling.seed),
        stop: &prompt.stop[..prompt.stop.len().min(stops)],
        response_format: request.shape.as_ref().filter(|_| !dialect.shapeless).map(|shape| {
            ResponseFormat::JsonSchema {
                json_schema: NamedSchema { name: "answer", strict: true, schema: &shape.schema },
            }
        }),
        extras: (!dialect.plain).then_some(Extras {
            top_k: sampling.top_k,
            min_p: sampling.min_p,
            repeat_penalty: sampling.repeat_penalty,
            repetition_penalty: sampling.repeat_penalty,
            rare: Rare::of(&sampling),
            cache_prompt: true,
            return_progress: true,
            prefill,
        }),
    }
}

/// One message per turn: many endpoints demand that roles alternate, and refuse empty contents.
fn messages(prompt: &Prompt) -> Vec<Message<'_>> {
    let mut merged: Vec<Message<'_>> = Vec::with_capacity(prompt.messages.len());
    for (index, message) in prompt.messages.iter().enumerate() {
        let mut pictures = prompt.pictures.iter().filter(|picture| picture.message == index).peekable();
        if message.text.is_empty() && pictures.peek().is_none() {
            continue;
        }
        let role = match message.role {
            PromptRole::System => "system",
            PromptRole::User => "user",
            PromptRole::Character => "assistant",
        };
        if merged.last().is_none_or(|last| last.role != role) {
            merged.push(Message { role, content: Content::Text(String::new()) });
        }
        let Some(Message { content, .. }) = merged.last_mut() else { continue };
        if !message.text.is_empty() {
            content.say(&message.text);
        }
        pictures.for_each(|picture| content.show(&picture.url));
    }
    merged
}

#[cfg(test)]
mod tests {
    use domain::prompt::{PromptMessage, PromptPicture};
    use domain::sampling::SamplerOptions;
    use serde_json::{Value, json};

    use super::*;

    fn request(messages: &[(PromptRole, &str)]) -> Request {
        let messages = messages.iter().map(|&(role, text)| PromptMessage { role, text: text.to_owned() }).collect();
        Request {
            cache_key: "chat".to_owned(),
            prompt: Prompt { messages, ..Prompt::default() },
            sampling: SamplerOptions::default().resolve(7),
            shape: None,
        }
    }

    fn sent(request: &Request, dialect: Dialect) -> Value {
        serde_json::from_str(&serde_json::to_string(&body("m", request, dialect)).unwrap()).unwrap()
    }

    #[test]
    fn roles_are_mapped_and_turns_are_merged() {
        use PromptRole::{Character, System, User};
        let request = request(&[
            (System, "Rules."),
            (System, "Card."),
            (User, "Hi."),
            (Character, "Hello."),
            (Character, ""),
            (User, "Who"),
            (User, "are you?"),
        ]);
        assert_eq!(
            sent(&request, Dialect::default())["messages"],
            json!([
                {"role": "system", "content": "Rules.\n\nCard."},
                {"role": "user", "content": "Hi."},
                {"role": "assistant", "content": "Hello."},
                {"role": "user", "content": "Who\n\nare you?"},
            ])
        );
    }

    #[test]
    fn a_shape_is_asked_for_until_it_is_refused() {
        let schema = json!({"type": "object"});
        let shape = crate::Shape { grammar: "root ::= \"{}\"".to_owned(), schema: schema.clone() };
        let mut request = request(&[(PromptRole::User, "Hi.")]);
        assert_eq!(sent(&request, Dialect::default()).get("response_format"), None);
        request.shape = Some(shape);
        let asked = json!({"type": "json_schema", "json_schema": {"name": "answer", "strict": true, "schema": schema}});
        assert_eq!(sent(&request, Dialect::default())["response_format"], asked);
        let refused = Dialect::default().learn("This response_format type is unavailable now").unwrap();
        assert_eq!(sent(&request, refused).get("response_format"), None);
    }

    #[test]
    fn pictures_go_behind_the_words_they_came_with() {
        use PromptRole::{Character, User};
        let mut request =
            request(&[(User, "Look."), (Character, "At what?"), (User, ""), (User, "There."), (User, "Now.")]);
        let picture = |message, url: &str| PromptPicture { message, url: url.to_owned() };
        request.prompt.pictures = vec![picture(0, "data:a"), picture(0, "data:b"), picture(2, "data:c")];
        let shown = |url| json!({"type": "image_url", "image_url": {"url": url}});
        assert_eq!(
            sent(&request, Dialect::default())["messages"],
            json!([
                {"role": "user", "content": [{"type": "text", "text": "Look."}, shown("data:a"), shown("data:b")]},
                {"role": "assistant", "content": "At what?"},
                {"role": "user", "content": [shown("data:c"), {"type": "text", "text": "There.\n\nNow."}]},
            ])
        );
    }

    #[test]
    fn everything_is_sent_until_it_is_refused() {
        let request = request(&[(PromptRole::User, "Hi.")]);
        assert_eq!(
            sent(&request, Dialect::default()),
            json!({
                "model": "m", "messages": [{"role": "user", "content": "Hi."}], "stream": true,
                "stream_options": {"include_usage": true}, "temperature": 0.8, "top_p": 0.95, "max_tokens": 512,
                "seed": 7, "top_k": 40, "min_p": 0.05, "repeat_penalty": 1.1, "repetition_penalty": 1.1,
                "cache_prompt": true, "return_progress": true,
            })
        );
        let refusals = [
            "Unrecognized request argument supplied: top_k",
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            "Unsupported value: 'temperature' does not support 0.8 with this model.",
            "seed: Extra inputs are not permitted",
            "unknown field stream_options",
        ];
        let dialect = refusals.iter().fold(Dialect::default(), |dialect, refusal| dialect.learn(refusal).unwrap());
        assert_eq!(
            sent(&request, dialect),
            json!({
                "model": "m", "messages": [{"role": "user", "content": "Hi."}], "stream": true,
                "max_completion_tokens": 512,
            })
        );
        assert_eq!(dialect.learn(refusals[0]), None, "nothing is learned twice");
    }

    /// What does nothing is not sent, and what an endpoint refuses is not either.
    #[test]
    fn rare_samplers_are_sent_where_they_work_and_are_known() {
        use domain::sampling::{Dry, Dynatemp, Mirostat, Sampling, Xtc};
        let mut request = request(&[(PromptRole::User, "Hi.")]);
        request.sampling = Sampling {
            temperature: 0.5,
            typical_p: 0.75,
            top_n_sigma: 1.5,
            repeat_range: 256,
            frequency_penalty: 0.25,
            presence_penalty: -0.5,
            dry: Dry { multiplier: 0.75, base: 1.75, allowed_length: 3, range: 0 },
            xtc: Xtc { probability: 0.5, threshold: 0.25 },
            mirostat: Mirostat { version: 2, tau: 4.0, eta: 0.5 },
            dynatemp: Dynatemp { range: 0.25, exponent: 2.0 },
            ..request.sampling
        };
        let known = sent(&request, Dialect::default());
        let rare = json!({
            "typical_p": 0.75, "top_n_sigma": 1.5, "repeat_last_n": 256, "dry_multiplier": 0.75, "dry_base": 1.75,
            "dry_allowed_length": 3, "dry_penalty_last_n": -1, "xtc_probability": 0.5, "xtc_threshold": 0.25,
            "mirostat": 2, "mirostat_tau": 4.0, "mirostat_eta": 0.5, "dynatemp_range": 0.25, "dynatemp_exponent": 2.0,
        });
        for (name, value) in rare.as_object().unwrap() {
            assert_eq!(&known[name], value, "{name}");
        }
        let plain = Dialect::default().learn("Unrecognized request argument supplied: mirostat_tau").unwrap();
        assert_eq!(
            sent(&request, plain),
            json!({
                "model": "m", "messages": [{"role": "user", "content": "Hi."}], "stream": true,
                "stream_options": {"include_usage": true}, "temperature": 0.5, "top_p": 0.95,
                "frequency_penalty": 0.25, "presence_penalty": -0.5, "max_tokens": 512, "seed": 7,
            })
        );
        let fixed = plain.learn("'presence_penalty' is not supported with this model").unwrap();
        assert_eq!(sent(&request, fixed).get("frequency_penalty"), None);
    }

    #[test]
    fn an_ordinary_refusal_teaches_nothing() {
        for message in ["messages must not be empty", "temperature must be below 2", "the model is unknown", ""] {
            assert_eq!(Dialect::default().learn(message), None, "{message}");
        }
    }

    #[test]
    fn an_unfinished_reply_is_sent_as_a_prefill() {
        let mut request = request(&[(PromptRole::User, "Hi."), (PromptRole::Character, "Well,")]);
        assert_eq!(sent(&request, Dialect::default()).get("continue_final_message"), None);
        request.prompt.continues = true;
        let body = sent(&request, Dialect::default());
        assert_eq!(body["messages"][1], json!({"role": "assistant", "content": "Well,"}));
        assert_eq!((&body["continue_final_message"], &body["add_generation_prompt"]), (&json!(true), &json!(false)));
    }

    #[test]
    fn strict_endpoints_get_four_stop_texts() {
        let mut request = request(&[(PromptRole::User, "Hi.")]);
        request.prompt.stop = (0..20).map(|n| format!("stop {n}")).collect();
        assert_eq!(sent(&request, Dialect::default())["stop"].as_array().unwrap().len(), 16);
        let strict = Dialect::default().learn("'stop': array too long. Expected maximum length 4").unwrap();
        assert_eq!(sent(&request, strict)["stop"].as_array().unwrap().len(), 4);
    }
}
