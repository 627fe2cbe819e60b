//! Builds the request body: contents, system instruction, functions and generation settings.

use std::borrow::Cow;

use domain::prompt::{PromptTools, ToolChoice};
use serde::Serialize;
use serde_json::{Value, json};

use crate::Request;
use crate::endpoint::dialect::{LearnedDialect, RoleRules};
use crate::endpoint::turns::{EndpointTurn, TurnPart, TurnRole, arguments, data_uri, turns};

/// The API's limit on stop texts.
const MAX_STOPS: usize = 5;
/// Signature for calls whose own signature is not known. The service documents it for calls that
/// another model made (<https://ai.google.dev/gemini-api/docs/thought-signatures>).
const UNSIGNED: &str = "skip_thought_signature_validator";

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GeminiBody<'a> {
    contents: Vec<Content<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Content<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<[Tools<'a>; 1]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_config: Option<Value>,
    generation_config: GenerationConfig<'a>,
}

#[derive(Debug, Serialize)]
struct Content<'a> {
    #[serde(skip_serializing_if = "str::is_empty")]
    role: &'static str,
    parts: Vec<GeminiPart<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
enum GeminiPart<'a> {
    Text(&'a str),
    #[serde(rename_all = "camelCase")]
    InlineData {
        mime_type: &'a str,
        data: &'a str,
    },
    FunctionResponse {
        name: &'a str,
        response: Value,
    },
    #[serde(untagged)]
    Call(CallPart<'a>),
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CallPart<'a> {
    function_call: FunctionCall<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_signature: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct FunctionCall<'a> {
    name: &'a str,
    args: Value,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Tools<'a> {
    function_declarations: Vec<Function<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters_json_schema: &'a Value,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct GenerationConfig<'a> {
    max_output_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_k: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    frequency_penalty: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    presence_penalty: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stop_sequences: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_mime_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_json_schema: Option<Cow<'a, Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_config: Option<ThinkingConfig>,
}

/// Smallest amount of thinking. Thoughts count towards the length of the reply.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
struct ThinkingConfig {
    #[serde(flatten)]
    amount: ThinkingAmount,
    /// Summaries of the thoughts are sent as well.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    include_thoughts: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
enum ThinkingAmount {
    /// Tokens.
    ThinkingBudget(u32),
    ThinkingLevel(&'static str),
}

impl ThinkingConfig {
    /// The least that a model family allows (<https://ai.google.dev/gemini-api/docs/thinking>), and
    /// the tokens that the limit of the reply grows by, so that the thoughts do not use it up.
    /// Other models get no setting.
    fn of(model: &str) -> (Option<Self>, u32) {
        let is = |family: &str| model.contains(family);
        let (amount, tokens) = if is("gemini-2.5-flash") {
            (ThinkingAmount::ThinkingBudget(0), 0)
        } else if is("gemini-2.5-pro") {
            (ThinkingAmount::ThinkingBudget(128), 128)
        } else if is("gemini-3") {
            (ThinkingAmount::ThinkingLevel("low"), 1024)
        } else {
            return (None, 0);
        };
        (
            Some(Self {
                amount,
                include_thoughts: tokens > 0,
            }),
            tokens,
        )
    }
}

impl<'a> GeminiBody<'a> {
    /// Builds the body without the parameters that `dialect` excludes.
    pub(crate) fn new(model: &str, request: &'a Request, dialect: &LearnedDialect) -> Self {
        let offered = &request.prompt.tools;
        let takes_tools = dialect.sends("tools");
        let unsigned = model.contains("gemini-3").then_some(UNSIGNED);
        let mut contents = Vec::new();
        let mut system_instruction = None;
        for turn in turns(&request.prompt, RoleRules::Strict, takes_tools) {
            let parts = parts(&turn, unsigned);
            match turn.role {
                TurnRole::System => system_instruction = Some(Content { role: "", parts }),
                TurnRole::Assistant => contents.push(Content {
                    role: "model",
                    parts,
                }),
                TurnRole::User | TurnRole::Tool => contents.push(Content {
                    role: "user",
                    parts,
                }),
            }
        }
        let tools = (takes_tools && !offered.definitions.is_empty()).then(|| [functions(offered)]);
        let tool_config = tools.as_ref().and_then(|_| tool_config(&offered.choice));
        let generation_config = GenerationConfig::new(model, request, dialect);
        Self {
            contents,
            system_instruction,
            tools,
            tool_config,
            generation_config,
        }
    }
}

impl<'a> GenerationConfig<'a> {
    fn new(model: &str, request: &'a Request, dialect: &LearnedDialect) -> Self {
        let sampling = &request.sampling;
        let schema = request
            .schema()
            .filter(|_| dialect.sends("response_format"));
        let (thinking_config, thoughts) = ThinkingConfig::of(model);
        let stops = request
            .prompt
            .stop
            .iter()
            .map(String::as_str)
            .filter(|stop| !stop.trim().is_empty());
        let penalty =
            |name: &str, value: f32| (value != 0.0 && dialect.sends(name)).then_some(value);
        Self {
            max_output_tokens: sampling.max_tokens.max(1).saturating_add(thoughts),
            temperature: dialect.sends("temperature").then_some(sampling.temperature),
            top_p: (sampling.top_p < 1.0 && dialect.sends("top_p")).then_some(sampling.top_p),
            top_k: (sampling.top_k > 0 && dialect.sends("top_k")).then_some(sampling.top_k),
            frequency_penalty: penalty("frequency_penalty", sampling.frequency_penalty),
            presence_penalty: penalty("presence_penalty", sampling.presence_penalty),
            // The API takes a signed number.
            seed: dialect.sends("seed").then_some(sampling.seed & 0x7FFF_FFFF),
            stop_sequences: stops
                .take(if dialect.sends("stop") { MAX_STOPS } else { 0 })
                .collect(),
            response_mime_type: schema.is_some().then_some("application/json"),
            response_json_schema: schema,
            thinking_config,
        }
    }
}

fn tool_config(choice: &ToolChoice) -> Option<Value> {
    let config = match choice {
        ToolChoice::Auto => return None,
        ToolChoice::Never => json!({ "mode": "NONE" }),
        ToolChoice::Required => json!({ "mode": "ANY" }),
        ToolChoice::Named(name) => json!({ "mode": "ANY", "allowedFunctionNames": [name] }),
    };
    Some(json!({ "functionCallingConfig": config }))
}

fn functions(tools: &PromptTools) -> Tools<'_> {
    let of = tools.definitions.iter().map(|tool| Function {
        name: &tool.name,
        description: &tool.description,
        parameters_json_schema: &tool.parameters,
    });
    Tools {
        function_declarations: of.collect(),
    }
}

fn parts<'a>(turn: &EndpointTurn<'a>, unsigned: Option<&'static str>) -> Vec<GeminiPart<'a>> {
    let is_signed = turn.parts.iter().any(|part| {
        matches!(
            part,
            TurnPart::Call {
                signature: Some(_),
                ..
            }
        )
    });
    let mut unsigned = unsigned.filter(|_| !is_signed);
    let mut parts = Vec::with_capacity(turn.parts.len());
    for part in &turn.parts {
        match part {
            TurnPart::Text(text) => parts.push(GeminiPart::Text(text)),
            TurnPart::Picture(url) => {
                parts.extend(data_uri(url).map(|picture| GeminiPart::InlineData {
                    mime_type: picture.media_type,
                    data: picture.data,
                }))
            }
            TurnPart::Call { call, signature } => parts.push(GeminiPart::Call(CallPart {
                function_call: FunctionCall {
                    name: &call.name,
                    args: arguments(call),
                },
                // Only the first call of a turn has a signature.
                thought_signature: signature.or_else(|| unsigned.take()),
            })),
            TurnPart::Thought(_) => {}
            TurnPart::Result { call, result } => {
                let key = if result.error { "error" } else { "result" };
                parts.push(GeminiPart::FunctionResponse {
                    name: &call.name,
                    response: json!({ key: result.text }),
                });
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests;
