//! Writes replies in OpenAI's two forms: chat completions and completions, whole and in chunks.

use std::time::{SystemTime, UNIX_EPOCH};

use domain::ToolCall;
use domain::token_choice::TokenChoice;
use engine::api::client::{ReplyEnd, ReplyFinish, ReplyPlace, ReplySpeaker, ReplyUsage};
use serde_json::{Map, Value, json};

use super::{logprobs, tools};

/// The endpoint that a reply belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Chat,
    Text,
}

/// Fields that all chunks of a reply share.
#[derive(Debug)]
pub(super) struct Chunks {
    form: Form,
    id: String,
    created: u64,
    model: String,
    place: ReplyPlace,
    /// A last chunk with the usage, as `stream_options.include_usage` asks for.
    include_usage: bool,
    /// Alternatives to report for each token; `None` reports no probabilities.
    alternatives: Option<u32>,
    /// Tool calls so far.
    calls: usize,
    /// Speakers of a group chat so far.
    speakers: Vec<ReplySpeaker>,
}

/// A reply that has ended.
#[derive(Debug, Default)]
pub(super) struct WholeReply {
    pub(super) text: String,
    pub(super) thoughts: String,
    pub(super) calls: Vec<ToolCall>,
    pub(super) tokens: Vec<TokenChoice>,
    pub(super) speakers: Vec<ReplySpeaker>,
    pub(super) end: Option<ReplyEnd>,
}

impl Chunks {
    pub(super) fn new(
        form: Form,
        model: String,
        place: ReplyPlace,
        include_usage: bool,
        alternatives: Option<u32>,
    ) -> Self {
        let prefix = if form == Form::Chat {
            "chatcmpl"
        } else {
            "cmpl"
        };
        let id = place
            .message
            .map(|message| message.to_string())
            .or_else(|| place.manifest.clone())
            .unwrap_or_else(random_id);
        let created = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |time| time.as_secs());
        Self {
            form,
            id: format!("{prefix}-{id}"),
            created,
            model,
            place,
            include_usage,
            alternatives,
            calls: 0,
            speakers: Vec::new(),
        }
    }

    /// The first chunk; completions have none.
    pub(super) fn opening(&self) -> Option<Value> {
        (self.form == Form::Chat).then(|| self.delta(json!({ "role": "assistant", "content": "" })))
    }

    pub(super) fn text(&self, text: &str) -> Value {
        match self.form {
            Form::Chat => self.delta(json!({ "content": text })),
            Form::Text => self.chunk(
                json!({ "index": 0, "text": text, "logprobs": null, "finish_reason": null }),
            ),
        }
    }

    /// A chunk without text that names the next speaker of a group chat; completions have none.
    pub(super) fn speaker(&mut self, speaker: ReplySpeaker) -> Option<Value> {
        let shown = shown_speaker(&speaker);
        self.speakers.push(speaker);
        let mut chunk = self.delta(json!({}));
        chunk["x_inglenook"] = json!({ "speaker": shown });
        (self.form == Form::Chat).then_some(chunk)
    }

    /// Completions leave thoughts out.
    pub(super) fn thoughts(&self, text: &str) -> Option<Value> {
        (self.form == Form::Chat).then(|| self.delta(json!({ "reasoning_content": text })))
    }

    pub(super) fn call(&mut self, call: &ToolCall) -> Option<Value> {
        let index = self.calls;
        self.calls += 1;
        let mut shown = tools::shown(call, index, &self.id);
        shown["index"] = index.into();
        (self.form == Form::Chat).then(|| self.delta(json!({ "tool_calls": [shown] })))
    }

    /// `None` unless the client asks for probabilities.
    pub(super) fn tokens(&self, tokens: &[TokenChoice]) -> Option<Value> {
        let logprobs = self.logprobs(tokens)?;
        Some(self.chunk(match self.form {
            Form::Chat => {
                json!({ "index": 0, "delta": {}, "logprobs": logprobs, "finish_reason": null })
            }
            Form::Text => {
                json!({ "index": 0, "text": "", "logprobs": logprobs, "finish_reason": null })
            }
        }))
    }

    fn logprobs(&self, tokens: &[TokenChoice]) -> Option<Value> {
        let alternatives = self.alternatives.filter(|_| !tokens.is_empty())?;
        Some(match self.form {
            Form::Chat => logprobs::of_chat(tokens, alternatives),
            Form::Text => logprobs::of_text(tokens, alternatives),
        })
    }

    /// The last chunks.
    pub(super) fn ending(&self, end: &ReplyEnd) -> Vec<Value> {
        let finish = finish(end.finish);
        let choice = match self.form {
            Form::Chat => {
                json!({ "index": 0, "delta": {}, "logprobs": null, "finish_reason": finish })
            }
            Form::Text => {
                json!({ "index": 0, "text": "", "logprobs": null, "finish_reason": finish })
            }
        };
        let mut last = vec![self.chunk(choice)];
        if self.include_usage {
            let mut chunk = self.chunk(Value::Null);
            (chunk["choices"], chunk["usage"]) = (json!([]), usage(end.usage));
            last.push(chunk);
        }
        if let Some(place) = self.place(&self.speakers) {
            last.iter_mut()
                .for_each(|chunk| chunk["x_inglenook"] = place.clone());
        }
        last
    }

    pub(super) fn whole(&self, reply: WholeReply) -> Value {
        let WholeReply {
            text,
            thoughts,
            calls,
            tokens,
            speakers,
            end,
        } = reply;
        let finish = end.as_ref().map_or("stop", |end| finish(end.finish));
        let usage = usage(end.map(|end| end.usage).unwrap_or_default());
        let logprobs = self.logprobs(&tokens);
        let (object, choice) = match self.form {
            Form::Text => {
                let choice = json!({ "index": 0, "text": text, "logprobs": logprobs, "finish_reason": finish });
                ("text_completion", choice)
            }
            Form::Chat => {
                let message = self.message(text, thoughts, &calls);
                let choice = json!({ "index": 0, "message": message, "logprobs": logprobs, "finish_reason": finish });
                ("chat.completion", choice)
            }
        };
        let mut whole = json!({
            "id": self.id, "object": object, "created": self.created, "model": self.model, "choices": [choice],
            "usage": usage,
        });
        if let Some(place) = self.place(&speakers) {
            whole["x_inglenook"] = place;
        }
        whole
    }

    fn message(&self, text: String, thoughts: String, calls: &[ToolCall]) -> Value {
        let content = if text.is_empty() && !calls.is_empty() {
            Value::Null
        } else {
            text.into()
        };
        let mut message = json!({ "role": "assistant", "content": content, "refusal": null });
        if !thoughts.is_empty() {
            message["reasoning_content"] = thoughts.into();
        }
        if !calls.is_empty() {
            let shown = calls
                .iter()
                .enumerate()
                .map(|(index, call)| tools::shown(call, index, &self.id));
            message["tool_calls"] = shown.collect();
        }
        message
    }

    fn delta(&self, delta: Value) -> Value {
        self.chunk(json!({ "index": 0, "delta": delta, "logprobs": null, "finish_reason": null }))
    }

    fn chunk(&self, choice: Value) -> Value {
        let object = if self.form == Form::Chat {
            "chat.completion.chunk"
        } else {
            "text_completion"
        };
        let mut chunk = json!({
            "id": self.id, "object": object, "created": self.created, "model": self.model, "choices": [choice],
        });
        if self.include_usage {
            chunk["usage"] = Value::Null;
        }
        chunk
    }

    /// The ids with which the app finds the reply; `None` for a model without a character.
    fn place(&self, speakers: &[ReplySpeaker]) -> Option<Value> {
        let ReplyPlace {
            chat,
            message,
            manifest,
            character,
        } = &self.place;
        let ids = [
            ("chat", chat.map(|chat| chat.to_string())),
            ("message", message.map(|message| message.to_string())),
            ("manifest", manifest.clone()),
            ("character", character.clone()),
        ];
        let known = ids
            .into_iter()
            .filter_map(|(name, id)| Some((name.to_owned(), Value::from(id?))));
        let mut known: Map<String, Value> = known.collect();
        if !speakers.is_empty() {
            known.insert(
                "speakers".to_owned(),
                speakers.iter().map(shown_speaker).collect(),
            );
        }
        (!known.is_empty()).then_some(Value::Object(known))
    }
}

fn shown_speaker(speaker: &ReplySpeaker) -> Value {
    json!({ "name": speaker.name, "message": speaker.message })
}

fn finish(finish: ReplyFinish) -> &'static str {
    match finish {
        ReplyFinish::Stop => "stop",
        ReplyFinish::Length => "length",
        ReplyFinish::ToolCalls => "tool_calls",
        ReplyFinish::ContentFilter => "content_filter",
    }
}

fn usage(usage: ReplyUsage) -> Value {
    let ReplyUsage {
        prompt,
        cached,
        generated,
    } = usage;
    json!({
        "prompt_tokens": prompt,
        "completion_tokens": generated,
        "total_tokens": prompt.saturating_add(generated),
        "prompt_tokens_details": { "cached_tokens": cached },
    })
}

fn random_id() -> String {
    format!("{:032x}", rand::random::<u128>())
}
