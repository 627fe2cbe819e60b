//! Builds the request body: contents, system instruction, functions and generation settings.

use std::borrow::Cow;

use domain::prompt::{PromptTools, ToolChoice};
use serde::Serialize;
use serde_json::{Value, json};

use crate::Request;
use crate::endpoint::dialect::{LearnedDialect, RoleRules};
use crate::endpoint::turns::{Turn, TurnPart, TurnRole, arguments, data_uri, turns};

/// The API's limit on stop texts.
const MAX_STOPS: usize = 5;
/// Signature for calls whose own signature is not known. The service documents it for calls that
/// another model made (<https://ai.google.dev/gemini-api/docs/thought-signatures>).
const UNSIGNED: &str = "skip_thought_signature_validator";

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Body<'a> {
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
    parts: Vec<Part<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
enum Part<'a> {
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

impl<'a> Body<'a> {
    /// Builds the body without the parameters that `dialect` excludes.
    pub(crate) fn new(model: &str, request: &'a Request, dialect: &LearnedDialect) -> Self {
        let offered = &request.prompt.tools;
        let takes_tools = dialect.sends("tools");
        let unsigned = model.contains("gemini-3").then_some(UNSIGNED);
        let (mut contents, mut system_instruction) = (Vec::new(), None);
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

fn parts<'a>(turn: &Turn<'a>, unsigned: Option<&'static str>) -> Vec<Part<'a>> {
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
            TurnPart::Text(text) => parts.push(Part::Text(text)),
            TurnPart::Picture(url) => parts.extend(data_uri(url).map(|picture| Part::InlineData {
                mime_type: picture.media_type,
                data: picture.data,
            })),
            TurnPart::Call { call, signature } => parts.push(Part::Call(CallPart {
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
                parts.push(Part::FunctionResponse {
                    name: &call.name,
                    response: json!({ key: result.text }),
                });
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use domain::prompt::{Prompt, PromptMessage, PromptPicture, PromptRole, PromptToolRound};
    use domain::sampling::SamplerOptions;
    use domain::{SignedThought, ToolArguments, ToolCall, ToolDefinition, ToolResult, ToolRound};

    use super::*;

    fn request(messages: &[(PromptRole, &str)]) -> Request {
        let messages = messages
            .iter()
            .map(|&(role, text)| PromptMessage {
                role,
                text: text.to_owned(),
            })
            .collect();
        Request {
            cache_key: "chat".to_owned(),
            background: false,
            prompt: Prompt {
                messages,
                ..Prompt::default()
            },
            sampling: SamplerOptions::default().resolve(7),
            response_schema: None,
        }
    }

    fn sent(model: &str, request: &Request) -> Value {
        let dialect = LearnedDialect::of_api(domain::model::EndpointDialect::Gemini);
        serde_json::from_str(&serde_json::to_string(&Body::new(model, request, &dialect)).unwrap())
            .unwrap()
    }

    #[test]
    fn writes_contents_and_settings() {
        use PromptRole::{Character as C, System as S, User as U};
        let mut request = request(&[(S, "Rules."), (C, "Evening."), (U, "Look.")]);
        request.prompt.stop = (0..9).map(|n| format!("stop {n}")).collect();
        request.prompt.pictures = vec![PromptPicture {
            message: 2,
            segment: None,
            url: "data:image/png;base64,aGk=".into(),
        }];
        let body = sent("gemini-2.0-flash", &request);
        assert_eq!(
            body["systemInstruction"],
            json!({"parts": [{"text": "Rules."}]})
        );
        assert_eq!(
            body["contents"],
            json!([
                {"role": "user", "parts": [{"text": "[The chat begins.]"}]},
                {"role": "model", "parts": [{"text": "Evening."}]},
                {"role": "user", "parts": [{"text": "Look."}, {"inlineData": {"mimeType": "image/png", "data": "aGk="}}]},
            ])
        );
        let settings = &body["generationConfig"];
        assert_eq!(settings["stopSequences"].as_array().unwrap().len(), 5);
        assert_eq!(
            (&settings["maxOutputTokens"], &settings["topK"]),
            (&json!(512), &json!(40))
        );
        assert_eq!(
            (settings.get("minP"), settings.get("thinkingConfig")),
            (None, None)
        );
    }

    #[test]
    fn signature_of_a_call_is_sent_back() {
        let mut request = request(&[(PromptRole::User, "Roll.")]);
        let call = || ToolCall {
            id: Some("a".into()),
            name: "dice".into(),
            arguments: ToolArguments::read("{\"n\":1}"),
        };
        let result = || ToolResult {
            call_id: "a".into(),
            text: "4".into(),
            error: false,
        };
        let round = ToolRound {
            text: String::new(),
            calls: vec![call(), call()],
            results: vec![result(), result()],
            thoughts: vec![SignedThought::Call {
                number: 0,
                signature: "c2ln".into(),
            }],
        };
        request.prompt.tools.rounds = vec![PromptToolRound { before: 1, round }];
        let parts = &sent("gemini-3-flash", &request)["contents"][1]["parts"];
        assert_eq!(
            (
                &parts[0]["thoughtSignature"],
                parts[1].get("thoughtSignature")
            ),
            (&json!("c2ln"), None)
        );
    }

    #[test]
    fn thinking_is_as_short_as_the_model_allows() {
        let request = request(&[(PromptRole::User, "Hi.")]);
        for (model, setting, length) in [
            ("gemini-2.5-flash-lite", json!({"thinkingBudget": 0}), 512),
            (
                "gemini-2.5-pro",
                json!({"thinkingBudget": 128, "includeThoughts": true}),
                640,
            ),
            (
                "gemini-3-pro-preview",
                json!({"thinkingLevel": "low", "includeThoughts": true}),
                1536,
            ),
        ] {
            let settings = &sent(model, &request)["generationConfig"];
            assert_eq!(
                (&settings["thinkingConfig"], &settings["maxOutputTokens"]),
                (&setting, &json!(length)),
                "{model}"
            );
        }
    }

    #[test]
    fn writes_functions_and_results() {
        let mut request = request(&[(PromptRole::User, "Roll.")]);
        let schema = json!({"type": "object", "additionalProperties": false});
        request.prompt.tools.definitions = vec![ToolDefinition {
            name: "dice".into(),
            description: "Rolls.".into(),
            parameters: schema.clone(),
        }];
        let call = |arguments| ToolCall {
            id: Some("a".into()),
            name: "dice".into(),
            arguments: ToolArguments::read(arguments),
        };
        let result = |text: &str, error| ToolResult {
            call_id: "a".into(),
            text: text.into(),
            error,
        };
        let round = ToolRound {
            text: String::new(),
            calls: vec![call("{\"n\":1}"), call("{\"n")],
            results: vec![result("4", false), result("bad", true)],
            thoughts: Vec::new(),
        };
        request.prompt.tools.rounds = vec![PromptToolRound { before: 1, round }];
        request.prompt.tools.choice = ToolChoice::Never;
        let body = sent("gemini-3-flash", &request);
        assert_eq!(
            body["tools"][0]["functionDeclarations"][0]["parametersJsonSchema"],
            schema
        );
        assert_eq!(
            body["toolConfig"]["functionCallingConfig"]["mode"],
            json!("NONE")
        );
        assert_eq!(
            body["contents"].as_array().unwrap()[1..],
            [
                json!({"role": "model", "parts": [
                    {"functionCall": {"name": "dice", "args": {"n": 1}}, "thoughtSignature": UNSIGNED},
                    {"functionCall": {"name": "dice", "args": {}}},
                ]}),
                json!({"role": "user", "parts": [
                    {"functionResponse": {"name": "dice", "response": {"result": "4"}}},
                    {"functionResponse": {"name": "dice", "response": {"error": "bad"}}},
                ]}),
            ]
        );
    }
}
