//! Reads the options of a completion: samplers, stop texts and the form of the reply.

use domain::sampling::{LogitBias, NEVER, SamplerOptions, TokenSelector, check_schema};
use engine::api::client::ClientOptions;
use serde_json::{Value, json};

use super::error::Fault;
use super::fields::Fields;
use super::tools;

/// Maximum number of stop texts. OpenAI allows 4, other clients send one for each speaker.
const MAX_STOPS: usize = 64;
/// Maximum length of a stop text, in bytes.
const MAX_STOP: usize = 1_000;
const MAX_BIASES: usize = 1_000;
/// How other servers ask for a form of the reply. Here `response_format` does.
const GRAMMARS: [&str; 8] = [
    "grammar",
    "json_schema",
    "guided_json",
    "guided_regex",
    "guided_choice",
    "guided_grammar",
    "structured_outputs",
    "regex",
];
/// Longest reply that can be asked for, in tokens.
const MAX_TOKENS: i64 = 1_000_000;

/// Options that chat completions and completions share.
pub(super) fn common(fields: &Fields) -> Result<ClientOptions, Fault> {
    if fields
        .whole("n", 0..=128)?
        .is_some_and(|replies| replies != 1)
    {
        return Err(Fault::unsupported(
            "n",
            "`n` must be 1: only one reply is written for a request.",
        ));
    }
    if fields
        .whole("best_of", 0..=20)?
        .is_some_and(|tries| tries > 1)
    {
        return Err(Fault::unsupported(
            "best_of",
            "`best_of` must be 1: only one reply is written for a request.",
        ));
    }
    fields.refuse(&GRAMMARS)?;
    let penalty = |names: [&str; 2]| -> Result<Option<f32>, Fault> {
        Ok(fields
            .number(names[0], 0.0..=10.0)?
            .or(fields.number(names[1], 0.0..=10.0)?))
    };
    let sampler = SamplerOptions {
        temperature: fields.number("temperature", 0.0..=10.0)?,
        top_p: fields.number("top_p", 0.0..=1.0)?,
        top_k: fields
            .whole("top_k", -1..=1_000_000)?
            .map(|count| count.max(0) as u32),
        min_p: fields.number("min_p", 0.0..=1.0)?,
        repeat_penalty: penalty(["repeat_penalty", "repetition_penalty"])?
            .filter(|penalty| *penalty > 0.0),
        max_tokens: max_tokens(fields)?,
        seed: seed(fields)?,
    };
    Ok(ClientOptions {
        sampler,
        frequency_penalty: fields.number("frequency_penalty", -2.0..=2.0)?,
        presence_penalty: fields.number("presence_penalty", -2.0..=2.0)?,
        logit_bias: logit_bias(fields)?,
        stop: stop(fields)?,
        ..ClientOptions::default()
    })
}

/// Options of a chat completion.
pub(super) fn of_chat(fields: &Fields) -> Result<ClientOptions, Fault> {
    fields.refuse(&["functions", "function_call", "audio", "web_search_options"])?;
    check_modalities(fields)?;
    let tools::ToolFields {
        definitions,
        choice,
        single_call,
    } = tools::read(fields)?;
    Ok(ClientOptions {
        json_schema: response_format(fields)?,
        top_logprobs: top_logprobs(fields)?,
        tools: definitions,
        tool_choice: choice,
        single_call,
        ..common(fields)?
    })
}

/// Replies are text.
fn check_modalities(fields: &Fields) -> Result<(), Fault> {
    let only_text = |kinds: &Value| {
        kinds
            .as_array()
            .is_some_and(|kinds| kinds.iter().all(|kind| kind == "text"))
    };
    if fields.get("modalities").is_none_or(only_text) {
        Ok(())
    } else {
        Err(Fault::unsupported(
            "modalities",
            "`modalities` may only be `[\"text\"]`.",
        ))
    }
}

/// `-1` is no limit, as in llama.cpp.
fn max_tokens(fields: &Fields) -> Result<Option<u32>, Fault> {
    for name in ["max_completion_tokens", "max_tokens"] {
        match fields.whole(name, -1..=i64::from(u32::MAX))? {
            None | Some(-1) => {}
            Some(0) => return Err(Fault::field(name, format!("`{name}` must be at least 1."))),
            Some(tokens) => return Ok(Some(tokens.min(MAX_TOKENS) as u32)),
        }
    }
    Ok(None)
}

/// `-1` is a random seed. Only the lower 32 bits of others are used.
fn seed(fields: &Fields) -> Result<Option<u32>, Fault> {
    let seed = fields.whole("seed", i64::MIN..=i64::MAX)?;
    Ok(seed
        .filter(|seed| *seed != -1)
        .map(|seed| (seed & i64::from(u32::MAX)) as u32))
}

fn stop(fields: &Fields) -> Result<Vec<String>, Fault> {
    let wrong = || Fault::field("stop", "`stop` must be a text or a list of texts.");
    let texts: Vec<&str> = match fields.get("stop") {
        None => Vec::new(),
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(texts)) => texts
            .iter()
            .map(|text| text.as_str().ok_or_else(wrong))
            .collect::<Result<_, _>>()?,
        Some(_) => return Err(wrong()),
    };
    if texts.len() > MAX_STOPS || texts.iter().any(|text| text.len() > MAX_STOP) {
        let message =
            format!("`stop` may have at most {MAX_STOPS} texts of at most {MAX_STOP} bytes.");
        return Err(Fault::field("stop", message));
    }
    Ok(texts
        .into_iter()
        .filter(|text| !text.is_empty())
        .map(str::to_owned)
        .collect())
}

fn logit_bias(fields: &Fields) -> Result<Vec<LogitBias>, Fault> {
    let wrong = || {
        let message = "`logit_bias` must be an object of token ids with numbers from -100 to 100.";
        Fault::field("logit_bias", message)
    };
    let Some(value) = fields.get("logit_bias") else {
        return Ok(Vec::new());
    };
    let biases = value
        .as_object()
        .filter(|biases| biases.len() <= MAX_BIASES)
        .ok_or_else(wrong)?;
    let bias = |(token, bias): (&String, &Value)| {
        let token = token.trim().parse().map_err(|_| wrong())?;
        let bias = bias
            .as_f64()
            .filter(|bias| (f64::from(NEVER)..=100.0).contains(bias))
            .ok_or_else(wrong)?;
        Ok(LogitBias {
            tokens: TokenSelector::Ids(vec![token]),
            bias: bias as f32,
        })
    };
    biases.iter().map(bias).collect()
}

/// The JSON Schema of the reply.
fn response_format(fields: &Fields) -> Result<Option<String>, Fault> {
    let Some(format) = fields.get("response_format") else {
        return Ok(None);
    };
    let schema = match format["type"].as_str() {
        Some("text") => return Ok(None),
        // The second form is that of llama.cpp, Together and others.
        Some("json_object") => match &format["schema"] {
            Value::Null => json!({ "type": "object" }),
            schema => schema.clone(),
        },
        Some("json_schema") => match &format["json_schema"]["schema"] {
            Value::Null => format["schema"].clone(),
            schema => schema.clone(),
        },
        _ => {
            let message = "`response_format.type` must be `text`, `json_object` or `json_schema`.";
            return Err(Fault::field("response_format", message));
        }
    };
    let schema = schema.to_string();
    check_schema(&schema).map_err(|refusal| {
        Fault::field(
            "response_format",
            format!("The JSON Schema in `response_format` cannot be used: {refusal}."),
        )
    })?;
    Ok(Some(schema))
}

fn top_logprobs(fields: &Fields) -> Result<Option<u32>, Fault> {
    let alternatives = fields
        .whole("top_logprobs", 0..=20)?
        .map(|count| count as u32);
    match (fields.flag("logprobs")?, alternatives) {
        (true, alternatives) => Ok(Some(alternatives.unwrap_or(0))),
        (false, None | Some(0)) => Ok(None),
        (false, Some(_)) => Err(Fault::field(
            "top_logprobs",
            "`top_logprobs` needs `logprobs` to be true.",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: Value) -> Result<ClientOptions, String> {
        let fields =
            Fields::parse(json.to_string().as_bytes()).map_err(|fault| fault.body().to_string())?;
        of_chat(&fields).map_err(|fault| fault.body()["error"]["param"].to_string())
    }

    #[test]
    fn absent_and_null_options_are_the_settings() {
        let nothing = json!({ "best_of": 1, "grammar": "", "json_schema": {}, "modalities": ["text"], "temperature": null, "stop": null, "tools": [], "n": 1, "logit_bias": {}, "functions": [] });
        assert_eq!(read(nothing), Ok(ClientOptions::default()));
        assert_eq!(
            read(json!({ "seed": -1, "max_tokens": -1, "logprobs": false })),
            Ok(ClientOptions::default())
        );
    }

    #[test]
    fn newer_name_of_the_length_wins() {
        let options =
            read(json!({ "max_tokens": 5, "max_completion_tokens": 7.0, "seed": 1_i64 << 40 }))
                .unwrap();
        assert_eq!(
            (options.sampler.max_tokens, options.sampler.seed),
            (Some(7), Some(0))
        );
    }

    #[test]
    fn wrong_options_are_named() {
        for (json, param) in [
            (json!({ "temperature": "hot" }), "temperature"),
            (json!({ "temperature": -1 }), "temperature"),
            (json!({ "top_p": 2 }), "top_p"),
            (json!({ "n": 2 }), "n"),
            (json!({ "max_tokens": 0 }), "max_tokens"),
            (json!({ "max_tokens": 1.5 }), "max_tokens"),
            (json!({ "stop": [1] }), "stop"),
            (json!({ "stop": vec!["x"; 65] }), "stop"),
            (json!({ "logit_bias": { "a": 1 } }), "logit_bias"),
            (json!({ "logit_bias": { "1": 101 } }), "logit_bias"),
            (
                json!({ "response_format": { "type": "xml" } }),
                "response_format",
            ),
            (
                json!({ "response_format": { "type": "json_schema" } }),
                "response_format",
            ),
            (
                json!({ "response_format": { "type": "json_object", "schema": "zebra" } }),
                "response_format",
            ),
            (json!({ "best_of": 2 }), "best_of"),
            (json!({ "grammar": "root ::= \"a\"" }), "grammar"),
            (
                json!({ "guided_json": { "type": "object" } }),
                "guided_json",
            ),
            (json!({ "modalities": ["text", "audio"] }), "modalities"),
            (json!({ "audio": { "voice": "x" } }), "audio"),
            (json!({ "top_logprobs": 3 }), "top_logprobs"),
            (
                json!({ "logprobs": true, "top_logprobs": 21 }),
                "top_logprobs",
            ),
            (json!({ "functions": [{}] }), "functions"),
            (json!({ "tool_choice": "required" }), "tool_choice"),
            (
                json!({ "tool_choice": { "type": "function", "function": { "name": "roll" } } }),
                "tool_choice",
            ),
            (
                json!({ "tool_choice": { "type": "allowed_tools" } }),
                "tool_choice",
            ),
            (json!({ "tool_choice": 7 }), "tool_choice"),
            (
                json!({ "parallel_tool_calls": "no" }),
                "parallel_tool_calls",
            ),
        ] {
            assert_eq!(read(json.clone()), Err(format!("\"{param}\"")), "{json}");
        }
    }

    #[test]
    fn json_object_is_a_schema() {
        let options = read(json!({ "response_format": { "type": "json_object" } })).unwrap();
        assert_eq!(options.json_schema.as_deref(), Some(r#"{"type":"object"}"#));
        let schema = json!({ "type": "object", "required": ["zebra"] });
        for format in [
            json!({ "type": "json_object", "schema": schema }),
            json!({ "type": "json_schema", "schema": schema }),
            json!({ "type": "json_schema", "json_schema": { "name": "a", "schema": schema, "strict": true } }),
        ] {
            let options = read(json!({ "response_format": format })).unwrap();
            assert_eq!(options.json_schema, Some(schema.to_string()), "{format}");
        }
    }
}
