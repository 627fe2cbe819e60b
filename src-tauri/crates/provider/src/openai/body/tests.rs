use domain::prompt::{PromptMessage, PromptPicture, PromptRole};
use domain::sampling::SamplerOptions;
use serde_json::json;

use super::*;
use crate::endpoint::api_error::EndpointError;

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
        prompt: domain::prompt::Prompt {
            messages,
            ..domain::prompt::Prompt::default()
        },
        sampling: SamplerOptions::default().resolve(7),
        response_schema: None,
    }
}

fn learn(dialect: &LearnedDialect, message: &str) -> Option<LearnedDialect> {
    dialect.learn(
        &EndpointError {
            message: message.to_owned(),
            ..EndpointError::default()
        },
        false,
    )
}

fn sent(request: &Request, dialect: &LearnedDialect) -> Value {
    serde_json::from_str(
        &serde_json::to_string(&OpenAiBody::new(
            "m",
            request,
            dialect,
            Input::chat(request, dialect),
        ))
        .unwrap(),
    )
    .unwrap()
}

#[test]
fn maps_roles_and_merges_turns() {
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
        sent(&request, &LearnedDialect::default())["messages"],
        json!([
            {"role": "system", "content": "Rules.\n\nCard."},
            {"role": "user", "content": "Hi."},
            {"role": "assistant", "content": "Hello."},
            {"role": "user", "content": "Who\n\nare you?"},
        ])
    );
}

#[test]
fn sends_response_format_until_refused() {
    let schema = json!({"type": "object"});
    let shape = crate::ResponseSchema {
        grammar: "root ::= \"{}\"".to_owned(),
        schema: schema.clone(),
    };
    let mut request = request(&[(PromptRole::User, "Hi.")]);
    assert_eq!(
        sent(&request, &LearnedDialect::default()).get("response_format"),
        None
    );
    request.response_schema = Some(shape);
    let asked = json!({"type": "json_schema", "json_schema": {"name": "answer", "strict": true, "schema": schema}});
    assert_eq!(
        sent(&request, &LearnedDialect::default())["response_format"],
        asked
    );
    let refused = learn(
        &LearnedDialect::default(),
        "This response_format type is unavailable now",
    )
    .unwrap();
    assert_eq!(sent(&request, &refused).get("response_format"), None);
}

#[test]
fn sends_tools_and_rounds_with_ids() {
    use domain::prompt::PromptToolRound;
    use domain::{ToolArguments, ToolCall, ToolDefinition, ToolResult, ToolRound};
    let mut request = request(&[
        (PromptRole::User, "Roll."),
        (PromptRole::Character, "A four!"),
    ]);
    let parameters = json!({"type": "object", "properties": {"sides": {"type": "integer"}}});
    let dice = ToolDefinition {
        name: "dice".into(),
        description: "Rolls.".into(),
        parameters: parameters.clone(),
    };
    let call = |id: &str, arguments: &str| ToolCall {
        id: Some(id.into()),
        name: "dice".into(),
        arguments: ToolArguments::read(arguments),
    };
    let result = |id: &str, text: &str, error| ToolResult {
        call_id: id.into(),
        text: text.into(),
        error,
    };
    let round = ToolRound {
        text: String::new(),
        calls: vec![call("a", "{\"sides\":6}"), call("b", "{\"sides\":")],
        results: vec![result("a", "4", false), result("b", "bad arguments", true)],
        thoughts: Vec::new(),
    };
    request.prompt.tools.definitions = vec![dice];
    request.prompt.tools.rounds = vec![PromptToolRound { before: 1, round }];
    let body = sent(&request, &LearnedDialect::default());
    let function = json!({"name": "dice", "description": "Rolls.", "parameters": parameters});
    assert_eq!(
        body["tools"],
        json!([{"type": "function", "function": function}])
    );
    assert_eq!(body.get("tool_choice"), None);
    let called = |id: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": "dice", "arguments": arguments}});
    assert_eq!(
        body["messages"],
        json!([
            {"role": "user", "content": "Roll."},
            {"role": "assistant", "content": null, "tool_calls": [called("a", "{\"sides\":6}"), called("b", "{}")]},
            {"role": "tool", "content": "4", "tool_call_id": "a"},
            {"role": "tool", "content": "Error: bad arguments", "tool_call_id": "b"},
            {"role": "assistant", "content": "A four!"},
        ])
    );
    request.prompt.tools.choice = domain::prompt::ToolChoice::Never;
    assert_eq!(
        sent(&request, &LearnedDialect::default())["tool_choice"],
        json!("none")
    );
    let refused = learn(
        &LearnedDialect::default(),
        "this model does not support tools",
    )
    .unwrap();
    let body = sent(&request, &refused);
    assert_eq!((body.get("tools"), body.get("tool_choice")), (None, None));
    assert_eq!(
        body["messages"].as_array().unwrap().len(),
        2,
        "rounds need their definitions"
    );
}

#[test]
fn places_pictures_after_the_text_of_their_message() {
    use PromptRole::{Character, User};
    let mut request = request(&[
        (User, "Look."),
        (Character, "At what?"),
        (User, ""),
        (User, "There."),
        (User, "Now."),
    ]);
    let picture = |message, url: &str| PromptPicture {
        message,
        segment: None,
        url: url.to_owned(),
    };
    request.prompt.pictures = vec![
        picture(0, "data:a"),
        picture(0, "data:b"),
        picture(2, "data:c"),
    ];
    let shown = |url| json!({"type": "image_url", "image_url": {"url": url}});
    assert_eq!(
        sent(&request, &LearnedDialect::default())["messages"],
        json!([
            {"role": "user", "content": [{"type": "text", "text": "Look."}, shown("data:a"), shown("data:b")]},
            {"role": "assistant", "content": "At what?"},
            {"role": "user", "content": [shown("data:c"), {"type": "text", "text": "There.\n\nNow."}]},
        ])
    );
}

#[test]
fn sends_every_parameter_until_refused() {
    let request = request(&[(PromptRole::User, "Hi.")]);
    assert_eq!(
        sent(&request, &LearnedDialect::default()),
        json!({
            "model": "m", "messages": [{"role": "user", "content": "Hi."}], "stream": true,
            "stream_options": {"include_usage": true}, "temperature": 0.8, "top_p": 0.95, "max_tokens": 512,
            "seed": 7, "top_k": 40, "min_p": 0.05, "repeat_penalty": 1.1, "repetition_penalty": 1.1,
            "cache_prompt": true, "return_progress": true,
        })
    );
    let refusals = [
        "Unrecognized request argument supplied: top_k",
        "Unrecognized request argument supplied: min_p",
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        "Unsupported value: 'temperature' does not support 0.8 with this model.",
        "seed: Extra inputs are not permitted",
        "unknown field stream_options",
    ];
    let dialect = refusals
        .iter()
        .fold(LearnedDialect::default(), |dialect, refusal| {
            learn(&dialect, refusal).unwrap()
        });
    assert_eq!(
        sent(&request, &dialect),
        json!({
            "model": "m", "messages": [{"role": "user", "content": "Hi."}], "stream": true,
            "max_completion_tokens": 512,
        })
    );
    assert_eq!(
        learn(&dialect, refusals[0]),
        None,
        "nothing is learned twice"
    );
}

#[test]
fn sends_active_samplers_unless_refused() {
    use domain::sampling::{Dry, Dynatemp, Mirostat, Sampling, Xtc};
    let mut request = request(&[(PromptRole::User, "Hi.")]);
    request.sampling = Sampling {
        temperature: 0.5,
        typical_p: 0.75,
        top_n_sigma: 1.5,
        repeat_range: 256,
        frequency_penalty: 0.25,
        presence_penalty: -0.5,
        dry: Dry {
            multiplier: 0.75,
            base: 1.75,
            allowed_length: 3,
            range: 0,
            breakers: vec!["\n".into()],
        },
        xtc: Xtc {
            probability: 0.5,
            threshold: 0.25,
        },
        mirostat: Mirostat {
            version: 2,
            tau: 4.0,
            eta: 0.5,
        },
        dynatemp: Dynatemp {
            range: 0.25,
            exponent: 2.0,
        },
        ..request.sampling.clone()
    };
    let known = sent(&request, &LearnedDialect::default());
    let rare = json!({
        "typical_p": 0.75, "top_n_sigma": 1.5, "repeat_last_n": 256, "dry_multiplier": 0.75, "dry_base": 1.75,
        "dry_allowed_length": 3, "dry_penalty_last_n": -1, "xtc_probability": 0.5, "xtc_threshold": 0.25,
        "dry_sequence_breakers": ["\n"], "mirostat": 2, "mirostat_tau": 4.0, "mirostat_eta": 0.5, "dynatemp_range": 0.25, "dynatemp_exponent": 2.0,
    });
    for (name, value) in rare.as_object().unwrap() {
        assert_eq!(&known[name], value, "{name}");
    }
    let plain = learn(
        &LearnedDialect::default(),
        "Unrecognized request arguments supplied: mirostat_tau, top_k",
    )
    .unwrap();
    assert!(!plain.plain && !plain.sends("mirostat_tau") && plain.sends("mirostat"));
    let plain = learn(&plain, "Unknown field xtc_threshold").unwrap();
    assert_eq!(
        sent(&request, &plain),
        json!({
            "model": "m", "messages": [{"role": "user", "content": "Hi."}], "stream": true,
            "stream_options": {"include_usage": true}, "temperature": 0.5, "top_p": 0.95,
            "frequency_penalty": 0.25, "presence_penalty": -0.5, "max_tokens": 512, "seed": 7,
        })
    );
    let fixed = learn(
        &plain,
        "'presence_penalty' is not supported with this model",
    )
    .unwrap();
    assert_eq!(sent(&request, &fixed).get("frequency_penalty"), None);
}

#[test]
fn sends_order_and_rules_in_known_forms() {
    use domain::sampling::{LogitBias, SamplerOrder, TokenRules, TokenSelector};
    let mut request = request(&[(PromptRole::User, "Hi.")]);
    request.sampling.order = SamplerOrder::parse("temperature, typical_p");
    let bias = |tokens, bias| LogitBias { tokens, bias };
    request.sampling.rules = TokenRules {
        logit_bias: vec![
            bias(TokenSelector::Ids(vec![7, 8]), -60.0),
            bias(TokenSelector::Ids(vec![8]), -60.0),
            bias(TokenSelector::Word("blue".into()), 2.0),
        ],
        banned_strings: vec!["whisper".into()],
        grammar: Some("root ::= \"a\"".into()),
        json_schema: Some("{\"type\":\"object\"}".into()),
        min_tokens: 5,
        ban_end_token: true,
    };
    let known = sent(&request, &LearnedDialect::default());
    assert_eq!(known["logit_bias"], json!({"7": -60.0, "8": -100.0}));
    assert_eq!(
        known["samplers"].as_array().unwrap()[..2],
        [json!("temperature"), json!("typ_p")]
    );
    assert_eq!(
        (
            &known["min_tokens"],
            &known["ignore_eos"],
            &known["grammar"]
        ),
        (&json!(5), &json!(true), &json!("root ::= \"a\""))
    );
    assert_eq!(
        known["response_format"]["json_schema"]["schema"],
        json!({"type": "object"})
    );
    assert_eq!(known.get("banned_strings"), None, "no endpoint can go back");
    let llama = sent(
        &request,
        &LearnedDialect {
            own_defaults: true,
            ..LearnedDialect::default()
        },
    );
    assert_eq!(
        llama["logit_bias"],
        json!({"7": -60.0, "8": -100.0, "blue": 2.0, " blue": 2.0})
    );
    let refused = learn(&LearnedDialect::default(), "Unknown parameter: logit_bias").unwrap();
    assert_eq!(sent(&request, &refused).get("logit_bias"), None);
}

#[test]
fn omits_disabled_samplers() {
    let mut request = request(&[(PromptRole::User, "Hi.")]);
    let off = SamplerOptions {
        top_p: Some(1.0),
        top_k: Some(0),
        min_p: Some(0.0),
        repeat_penalty: Some(1.0),
        ..SamplerOptions::default()
    };
    request.sampling = off.resolve(7);
    let names = [
        "top_p",
        "top_k",
        "min_p",
        "repeat_penalty",
        "repetition_penalty",
        "typical_p",
        "frequency_penalty",
    ];
    let plain = sent(&request, &LearnedDialect::default());
    assert_eq!(names.map(|name| plain.get(name).is_some()), [false; 7]);
    // llama.cpp uses its own defaults for absent values.
    let llama = sent(
        &request,
        &LearnedDialect {
            own_defaults: true,
            ..LearnedDialect::default()
        },
    );
    assert_eq!(
        (&llama["top_k"], &llama["min_p"], &llama["top_p"]),
        (&json!(0), &json!(0.0), &json!(1.0))
    );
}

#[test]
fn does_not_send_blank_stop_texts() {
    let mut request = request(&[(PromptRole::User, "Hi.")]);
    request.prompt.stop = vec!["\n".to_owned(), "\nTom:".to_owned(), " ".to_owned()];
    assert_eq!(
        sent(&request, &LearnedDialect::default())["stop"],
        json!(["\nTom:"])
    );
}

#[test]
fn sends_an_unfinished_reply_as_prefill() {
    let mut request = request(&[(PromptRole::User, "Hi."), (PromptRole::Character, "Well,")]);
    assert_eq!(
        sent(&request, &LearnedDialect::default()).get("continue_final_message"),
        None
    );
    request.prompt.continues = true;
    let body = sent(&request, &LearnedDialect::default());
    assert_eq!(
        body["messages"][1],
        json!({"role": "assistant", "content": "Well,"})
    );
    assert_eq!(
        (
            &body["continue_final_message"],
            &body["add_generation_prompt"]
        ),
        (&json!(true), &json!(false))
    );
}

#[test]
fn strict_endpoints_get_four_stop_texts() {
    let mut request = request(&[(PromptRole::User, "Hi.")]);
    request.prompt.stop = (0..20).map(|n| format!("stop {n}")).collect();
    assert_eq!(
        sent(&request, &LearnedDialect::default())["stop"]
            .as_array()
            .unwrap()
            .len(),
        16
    );
    let strict = learn(
        &LearnedDialect::default(),
        "'stop': array too long. Expected maximum length 4",
    )
    .unwrap();
    assert_eq!(sent(&request, &strict)["stop"].as_array().unwrap().len(), 4);
}
