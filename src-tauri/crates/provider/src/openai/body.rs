//! Builds the request body: messages, sampling parameters and response format.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::messages::{RequestMessage, WireTool, messages, tool_choice, tools};
use super::samplers::{ExtraSamplers, ParameterFilter, logit_bias};
use crate::Request;
use crate::endpoint::dialect::LearnedDialect;

/// OpenAI's limit on stop texts.
const PLAIN_STOPS: usize = 4;
/// Number of stop texts sent to endpoints without that limit.
const MAX_STOPS: usize = 16;

#[derive(Debug, Serialize)]
pub(crate) struct OpenAiBody<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    model: &'a str,
    #[serde(flatten)]
    input: Input<'a>,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    logit_bias: Option<BTreeMap<String, f32>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stop: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat<'a>>,
    #[serde(flatten)]
    extras: Extras,
}

/// Text that the model continues.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Input<'a> {
    Chat {
        messages: Vec<RequestMessage<'a>>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tools: Vec<WireTool<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_choice: Option<Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        parallel_tool_calls: Option<bool>,
    },
    /// For text completions.
    Text { prompt: String },
}

impl<'a> Input<'a> {
    pub(crate) fn chat(request: &'a Request, dialect: &LearnedDialect) -> Self {
        let offered = &request.prompt.tools;
        let tools = if dialect.sends("tools") {
            tools(offered)
        } else {
            Vec::new()
        };
        let tool_choice = tool_choice(&offered.choice).filter(|_| !tools.is_empty());
        let sends_single =
            offered.single_call && !tools.is_empty() && dialect.sends("parallel_tool_calls");
        let parallel_tool_calls = sends_single.then_some(false);
        Self::Chat {
            messages: messages(&request.prompt, dialect),
            tools,
            tool_choice,
            parallel_tool_calls,
        }
    }

    /// Whether the chat ends with a reply of the model.
    fn ends_with_reply(&self) -> bool {
        match self {
            Self::Chat { messages, .. } => {
                messages.last().is_some_and(|last| last.role == "assistant")
            }
            Self::Text { .. } => false,
        }
    }
}

/// Structured output as OpenAI defines it; local servers use the same form.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ResponseFormat<'a> {
    JsonSchema { json_schema: NamedSchema<'a> },
}

#[derive(Debug, Serialize)]
struct NamedSchema<'a> {
    name: &'static str,
    strict: bool,
    schema: Cow<'a, Value>,
}

#[derive(Debug, Serialize)]
struct StreamOptions {
    include_usage: bool,
}

/// Parameters outside OpenAI's API.
#[derive(Debug, Serialize)]
struct Extras {
    #[serde(skip_serializing_if = "Option::is_none")]
    top_k: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_p: Option<f32>,
    /// Name in llama.cpp.
    #[serde(skip_serializing_if = "Option::is_none")]
    repeat_penalty: Option<f32>,
    /// Name in vLLM and OpenRouter.
    #[serde(skip_serializing_if = "Option::is_none")]
    repetition_penalty: Option<f32>,
    #[serde(flatten)]
    rare: ExtraSamplers,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_prompt: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    return_progress: Option<bool>,
    /// Together with `continue_final_message`, makes vLLM and llama.cpp (since May 2026) continue
    /// the last message.
    #[serde(skip_serializing_if = "Option::is_none")]
    add_generation_prompt: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    continue_final_message: Option<bool>,
}

impl Extras {
    fn of(request: &Request, sent: ParameterFilter<'_>, prefill: bool) -> Self {
        let sampling = &request.sampling;
        Self {
            top_k: sent.unless_neutral("top_k", sampling.top_k, 0),
            min_p: sent.unless_neutral("min_p", sampling.min_p, 0.0),
            repeat_penalty: sent.unless_neutral("repeat_penalty", sampling.repeat_penalty, 1.0),
            repetition_penalty: sent.unless_neutral(
                "repetition_penalty",
                sampling.repeat_penalty,
                1.0,
            ),
            rare: ExtraSamplers::of(sampling, sent),
            cache_prompt: sent.unless_refused("cache_prompt", true),
            return_progress: sent.unless_refused("return_progress", true),
            add_generation_prompt: sent
                .unless_refused("add_generation_prompt", false)
                .filter(|_| prefill),
            continue_final_message: sent
                .unless_refused("continue_final_message", true)
                .filter(|_| prefill),
        }
    }
}

impl<'a> OpenAiBody<'a> {
    /// Builds the body without the parameters that `dialect` excludes.
    pub(crate) fn new(
        model: &'a str,
        request: &'a Request,
        dialect: &LearnedDialect,
        input: Input<'a>,
    ) -> Self {
        let sampling = &request.sampling;
        let prompt = &request.prompt;
        let prefill = prompt.continues && input.ends_with_reply();
        let sent = ParameterFilter { dialect };
        let limit = dialect.sends("max_tokens").then_some(sampling.max_tokens);
        OpenAiBody {
            model,
            input,
            stream: true,
            stream_options: sent.unless_refused(
                "stream_options",
                StreamOptions {
                    include_usage: true,
                },
            ),
            temperature: sent.unless_refused("temperature", sampling.temperature),
            top_p: sent.unless_neutral("top_p", sampling.top_p, 1.0),
            frequency_penalty: sent.unless_neutral(
                "frequency_penalty",
                sampling.frequency_penalty,
                0.0,
            ),
            presence_penalty: sent.unless_neutral(
                "presence_penalty",
                sampling.presence_penalty,
                0.0,
            ),
            max_tokens: limit.filter(|_| !dialect.completion_tokens),
            max_completion_tokens: limit.filter(|_| dialect.completion_tokens),
            seed: sent.unless_refused("seed", sampling.seed),
            logit_bias: sent
                .unless_refused("logit_bias", logit_bias(&sampling.rules, dialect))
                .flatten(),
            stop: stops(&prompt.stop, dialect),
            response_format: request
                .schema()
                .filter(|_| dialect.sends("response_format"))
                .map(|schema| ResponseFormat::JsonSchema {
                    json_schema: NamedSchema {
                        name: "answer",
                        strict: true,
                        schema,
                    },
                }),
            extras: Extras::of(request, sent, prefill),
        }
    }
}

/// Returns the stop texts to send. Some endpoints refuse whitespace-only ones; the client applies
/// all stop texts itself.
fn stops<'a>(stops: &'a [String], dialect: &LearnedDialect) -> Vec<&'a str> {
    let most = match (dialect.sends("stop"), dialect.plain || dialect.few_stops) {
        (false, _) => 0,
        (true, true) => PLAIN_STOPS,
        (true, false) => MAX_STOPS,
    };
    stops
        .iter()
        .map(String::as_str)
        .filter(|stop| !stop.trim().is_empty())
        .take(most)
        .collect()
}

#[cfg(test)]
mod tests;
