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
    serde_json::from_str(
        &serde_json::to_string(&GeminiBody::new(model, request, &dialect)).unwrap(),
    )
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
