//! Builds the request body: messages, tools and options.

use std::borrow::Cow;

use domain::prompt::ToolChoice;
use serde::Serialize;
use serde_json::Value;

use crate::Request;
use crate::endpoint::config::EndpointConfig;
use crate::endpoint::dialect::LearnedDialect;
use crate::endpoint::turns::{
    EndpointTurn, TurnPart, TurnRole, arguments, data_uri, result_text, turns,
};
use crate::openai::messages::{WireTool, tools};

/// Time that the model stays in memory after a reply. Ollama's own five minutes end in the middle
/// of a chat.
const KEEP_ALIVE: &str = "30m";
/// Maximum number of stop texts.
const MAX_STOPS: usize = 16;

#[derive(Debug, Serialize)]
pub(crate) struct OllamaBody<'a> {
    model: &'a str,
    messages: Vec<OllamaMessage<'a>>,
    stream: bool,
    keep_alive: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WireTool<'a>>,
    /// The JSON schema of the reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<Cow<'a, Value>>,
    options: OllamaOptions<'a>,
}

#[derive(Debug, Default, Serialize)]
struct OllamaMessage<'a> {
    role: &'static str,
    content: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    images: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<Call<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_name: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct Call<'a> {
    function: CalledFunction<'a>,
}

#[derive(Debug, Serialize)]
struct CalledFunction<'a> {
    name: &'a str,
    arguments: Value,
}

/// All samplers are sent, because Ollama has its own defaults for those that are not.
#[derive(Debug, Serialize)]
struct OllamaOptions<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    num_ctx: Option<u32>,
    num_predict: u32,
    seed: u32,
    temperature: f32,
    top_k: u32,
    top_p: f32,
    min_p: f32,
    typical_p: f32,
    repeat_last_n: u32,
    repeat_penalty: f32,
    frequency_penalty: f32,
    presence_penalty: f32,
    #[serde(skip_serializing_if = "Option::is_none")]
    mirostat: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mirostat_tau: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mirostat_eta: Option<f32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stop: Vec<&'a str>,
}

impl<'a> OllamaBody<'a> {
    /// Builds the body without the parts that `dialect` excludes.
    pub(crate) fn new(
        config: &'a EndpointConfig,
        request: &'a Request,
        dialect: &LearnedDialect,
    ) -> Self {
        let prompt = &request.prompt;
        let takes_tools = dialect.sends("tools");
        // The API cannot forbid calls, so the definitions stay away.
        let offers = takes_tools && prompt.tools.choice != ToolChoice::Never;
        Self {
            model: &config.model,
            messages: turns(prompt, dialect.roles, takes_tools)
                .iter()
                .flat_map(messages)
                .collect(),
            stream: true,
            keep_alive: KEEP_ALIVE,
            tools: if offers {
                tools(&prompt.tools)
            } else {
                Vec::new()
            },
            format: request
                .schema()
                .filter(|_| dialect.sends("response_format")),
            options: OllamaOptions::new(config, request),
        }
    }
}

impl<'a> OllamaOptions<'a> {
    fn new(config: &EndpointConfig, request: &'a Request) -> Self {
        let sampling = &request.sampling;
        let mirostat = &sampling.mirostat;
        let active = mirostat.version > 0;
        let stops = request
            .prompt
            .stop
            .iter()
            .map(String::as_str)
            .filter(|stop| !stop.trim().is_empty());
        Self {
            num_ctx: config.context,
            num_predict: sampling.max_tokens,
            seed: sampling.seed,
            temperature: sampling.temperature,
            top_k: sampling.top_k,
            top_p: sampling.top_p,
            min_p: sampling.min_p,
            typical_p: sampling.typical_p,
            repeat_last_n: sampling.repeat_range,
            repeat_penalty: sampling.repeat_penalty,
            frequency_penalty: sampling.frequency_penalty,
            presence_penalty: sampling.presence_penalty,
            mirostat: active.then_some(mirostat.version),
            mirostat_tau: active.then_some(mirostat.tau),
            mirostat_eta: active.then_some(mirostat.eta),
            stop: stops.take(MAX_STOPS).collect(),
        }
    }
}

fn messages<'a>(turn: &EndpointTurn<'a>) -> Vec<OllamaMessage<'a>> {
    let role = match turn.role {
        TurnRole::System => "system",
        TurnRole::User => "user",
        TurnRole::Assistant => "assistant",
        TurnRole::Tool => return turn.parts.iter().filter_map(of_result).collect(),
    };
    let mut message = OllamaMessage {
        role,
        ..OllamaMessage::default()
    };
    for part in &turn.parts {
        match part {
            TurnPart::Text(text) => {
                if !message.content.is_empty() {
                    message.content.push_str("\n\n");
                }
                message.content.push_str(text);
            }
            TurnPart::Picture(url) => message
                .images
                .extend(data_uri(url).map(|picture| picture.data)),
            TurnPart::Call { call, .. } => {
                let function = CalledFunction {
                    name: &call.name,
                    arguments: arguments(call),
                };
                message.tool_calls.push(Call { function });
            }
            TurnPart::Result { .. } | TurnPart::Thought(_) => {}
        }
    }
    vec![message]
}

fn of_result<'a>(part: &TurnPart<'a>) -> Option<OllamaMessage<'a>> {
    let TurnPart::Result { call, result } = part else {
        return None;
    };
    Some(OllamaMessage {
        role: "tool",
        content: result_text(result),
        tool_name: Some(&call.name),
        ..OllamaMessage::default()
    })
}

#[cfg(test)]
mod tests {
    use domain::model::EndpointDialect;
    use domain::prompt::{Prompt, PromptMessage, PromptPicture, PromptRole, PromptToolRound};
    use domain::sampling::SamplerOptions;
    use domain::{ToolArguments, ToolCall, ToolDefinition, ToolResult, ToolRound};
    use serde_json::json;

    use super::*;

    #[test]
    fn writes_messages_tools_and_options() {
        let said = |role, text: &str| PromptMessage {
            role,
            text: text.to_owned(),
        };
        let messages = vec![
            said(PromptRole::System, "Rules."),
            said(PromptRole::User, "Roll."),
            said(PromptRole::Character, "Four!"),
        ];
        let mut prompt = Prompt {
            messages,
            stop: vec!["\nTom:".into()],
            ..Prompt::default()
        };
        prompt.pictures = vec![PromptPicture {
            message: 1,
            segment: None,
            url: "data:image/png;base64,aGk=".into(),
        }];
        let parameters = json!({"type": "object"});
        prompt.tools.definitions = vec![ToolDefinition {
            name: "dice".into(),
            description: "Rolls.".into(),
            parameters,
        }];
        let call = ToolCall {
            id: Some("a".into()),
            name: "dice".into(),
            arguments: ToolArguments::read("{\"n\":1}"),
        };
        let result = ToolResult {
            call_id: "a".into(),
            text: "4".into(),
            error: false,
        };
        let round = ToolRound {
            text: String::new(),
            calls: vec![call],
            results: vec![result],
            thoughts: Vec::new(),
        };
        prompt.tools.rounds = vec![PromptToolRound { before: 2, round }];
        let sampling = SamplerOptions::default().resolve(7);
        let mut request = Request {
            cache_key: String::new(),
            background: false,
            prompt,
            sampling,
            response_schema: None,
        };
        let config = EndpointConfig::new("http://h:1", "tiny", None).unwrap();
        let config = config
            .speaking(EndpointDialect::Ollama)
            .unwrap()
            .with_context(4096);
        let sent = |request: &Request| -> Value {
            serde_json::from_str(
                &serde_json::to_string(&OllamaBody::new(&config, request, config.dialect()))
                    .unwrap(),
            )
            .unwrap()
        };
        let body = sent(&request);
        assert_eq!(
            body["messages"],
            json!([
                {"role": "system", "content": "Rules."},
                {"role": "user", "content": "Roll.", "images": ["aGk="]},
                {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "dice", "arguments": {"n": 1}}}]},
                {"role": "tool", "content": "4", "tool_name": "dice"},
                {"role": "assistant", "content": "Four!"},
            ])
        );
        let options = &body["options"];
        assert_eq!(
            (
                &options["num_ctx"],
                &options["num_predict"],
                &options["stop"]
            ),
            (&json!(4096), &json!(512), &json!(["\nTom:"]))
        );
        assert_eq!(
            (
                &options["min_p"],
                &body["keep_alive"],
                options.get("mirostat")
            ),
            (&json!(0.05), &json!("30m"), None)
        );
        assert_eq!(body["tools"][0]["function"]["name"], json!("dice"));
        request.prompt.tools.choice = ToolChoice::Never;
        assert_eq!(sent(&request).get("tools"), None);
    }
}
