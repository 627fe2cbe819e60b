use domain::prompt::{Prompt, PromptMessage, PromptPicture, PromptRole, PromptToolRound};
use domain::sampling::SamplerOptions;
use domain::{ToolArguments, ToolResult, ToolRound};
use serde_json::json;

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

fn sent(request: &Request) -> Value {
    let dialect = LearnedDialect::of_api(domain::model::EndpointDialect::Anthropic);
    serde_json::from_str(
        &serde_json::to_string(&AnthropicBody::new("m", request, &dialect)).unwrap(),
    )
    .unwrap()
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn stored(text: &str) -> Value {
    json!({"type": "text", "text": text, "cache_control": {"type": "ephemeral"}})
}

#[test]
fn writes_system_blocks_and_alternating_turns() {
    use PromptRole::{Character as C, System as S, User as U};
    let mut request = request(&[
        (S, "Rules."),
        (S, "Card."),
        (C, "Evening."),
        (S, "It rains."),
        (U, "Hi."),
        (C, "Hello."),
        (U, "You?"),
    ]);
    request.prompt.stop = vec!["\n".into(), "\nTom:".into()];
    request.sampling.temperature = 1.5;
    let body = sent(&request);
    assert_eq!(body["system"], json!([text("Rules."), stored("\n\nCard.")]));
    assert_eq!(
        body["messages"],
        json!([
            {"role": "user", "content": [text("[The chat begins.]")]},
            {"role": "assistant", "content": [text("Evening.")]},
            {"role": "user", "content": [text("It rains."), stored("\n\nHi.")]},
            {"role": "assistant", "content": [text("Hello.")]},
            {"role": "user", "content": [stored("You?")]},
        ])
    );
    assert_eq!(
        (
            &body["max_tokens"],
            &body["temperature"],
            &body["stop_sequences"],
            body.get("top_p")
        ),
        (&json!(512), &json!(1.0), &json!(["\nTom:"]), None)
    );
}

#[test]
fn marker_stays_before_a_filler() {
    use PromptRole::{Character as C, User as U};
    let body = sent(&request(&[(U, "Hi."), (C, "Hello.")]));
    assert_eq!(body["messages"][1]["content"], json!([stored("Hello.")]));
    assert_eq!(body["messages"][2]["content"], json!([text("[Go on.]")]));
    assert_eq!(body.get("system"), None);
}

#[test]
fn unfinished_reply_has_no_space_at_its_end() {
    let mut request = request(&[
        (PromptRole::User, "Hi."),
        (PromptRole::Character, "Well, \n"),
    ]);
    request.prompt.continues = true;
    assert_eq!(
        sent(&request)["messages"][1]["content"][0]["text"],
        json!("Well,")
    );
}

#[test]
fn writes_pictures_as_base64() {
    let mut request = request(&[(PromptRole::User, "Look.")]);
    let picture = |url: &str| PromptPicture {
        message: 0,
        segment: None,
        url: url.to_owned(),
    };
    request.prompt.pictures = vec![
        picture("data:image/png;base64,aGk="),
        picture("https://elsewhere/a.png"),
    ];
    let source = json!({"type": "base64", "media_type": "image/png", "data": "aGk="});
    assert_eq!(
        sent(&request)["messages"][0]["content"],
        json!([text("Look."), {"type": "image", "source": source, "cache_control": {"type": "ephemeral"}}])
    );
}

#[test]
fn writes_tools_and_results() {
    let mut request = request(&[
        (PromptRole::User, "Roll."),
        (PromptRole::Character, "A four!"),
        (PromptRole::User, "Again."),
    ]);
    let schema = json!({"type": "object"});
    request.prompt.tools.definitions = vec![ToolDefinition {
        name: "dice".into(),
        description: "Rolls.".into(),
        parameters: schema.clone(),
    }];
    let call = ToolCall {
        id: Some("a:1".into()),
        name: "dice".into(),
        arguments: ToolArguments::read("{\"n\":1}"),
    };
    let result = ToolResult {
        call_id: "a:1".into(),
        text: "no dice".into(),
        error: true,
    };
    let round = ToolRound {
        text: "Rolling.".into(),
        calls: vec![call],
        results: vec![result],
        thoughts: Vec::new(),
    };
    request.prompt.tools.rounds = vec![PromptToolRound { before: 1, round }];
    request.prompt.tools.choice = ToolChoice::Never;
    let body = sent(&request);
    assert_eq!(
        body["tools"],
        json!([{"name": "dice", "description": "Rolls.", "input_schema": schema, "cache_control": {"type": "ephemeral"}}])
    );
    assert_eq!(body["tool_choice"], json!({"type": "none"}));
    let result = json!({"type": "tool_result", "tool_use_id": "a_1", "content": "no dice", "is_error": true,
            "cache_control": {"type": "ephemeral"}});
    assert_eq!(
        body["messages"],
        json!([
            {"role": "user", "content": [text("Roll.")]},
            {"role": "assistant", "content": [
                text("Rolling."), {"type": "tool_use", "id": "a_1", "name": "dice", "input": {"n": 1}}]},
            {"role": "user", "content": [result]},
            {"role": "assistant", "content": [text("A four!")]},
            {"role": "user", "content": [stored("Again.")]},
        ])
    );
}
