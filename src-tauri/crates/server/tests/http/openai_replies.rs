//! Tools, thoughts and refusals in the replies of the OpenAI-compatible API.

use domain::prompt::ToolChoice;
use provider::fake::ReplyScript;
use provider::{ProviderError, ProviderErrorKind};
use serde_json::{Value, json};

use crate::openai::{content, error, says};
use crate::world::World;

#[tokio::test(flavor = "multi_thread")]
async fn tools_are_offered_and_calls_returned() {
    let (world, _) = World::with_keeper().await;
    world.add_raw_model("gpt-small").await;
    let tool = json!({ "type": "function", "function": { "name": "depth", "description": "Measures.",
        "parameters": { "type": "object", "properties": {} } } });
    for model in ["captain-nemo", "gpt-small"] {
        world
            .model
            .play(ReplyScript::new().call("depth", r#"{"unit":"m"}"#))
            .reply("Ninety metres.");
        let mut messages = vec![says("user", "How deep?")];
        let body =
            |messages: &[Value]| json!({ "model": model, "messages": messages, "tools": [tool] });
        let asked = world.chat(body(&messages)).await.json();
        let choice = &asked["choices"][0];
        assert_eq!(
            (&choice["finish_reason"], &choice["message"]["content"]),
            (&json!("tool_calls"), &Value::Null)
        );
        let call = &choice["message"]["tool_calls"][0];
        assert_eq!(
            (&call["type"], &call["function"]["name"]),
            (&json!("function"), &json!("depth"))
        );
        assert_eq!(call["function"]["arguments"], r#"{"unit":"m"}"#);
        assert_eq!(world.last_prompt().tools.definitions[0].name, "depth");

        messages.push(choice["message"].clone());
        messages.push(json!({ "role": "tool", "tool_call_id": call["id"], "content": "90" }));
        let told = world.chat(body(&messages)).await;
        assert_eq!(content(&told), "Ninety metres.", "{model}");
        let prompt = world.last_prompt();
        let round = &prompt.tools.rounds[0];
        assert_eq!(
            (round.before, round.round.results[0].text.as_str()),
            (prompt.messages.len(), "90"),
            "{model}"
        );
    }
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn demanded_call_reaches_the_model() {
    let (world, _) = World::with_keeper().await;
    world.add_raw_model("gpt-small").await;
    let tools = json!([{ "type": "function", "function": { "name": "depth" } }]);
    let depth = json!({ "type": "function", "function": { "name": "depth" } });
    let given = json!([
        says("user", "Ahoy."),
        says("assistant", "Aye."),
        says("user", "How deep?")
    ]);
    for (model, messages) in [
        ("gpt-small", &given),
        ("captain-nemo", &given),
        ("captain-nemo", &json!([says("user", "How deep?")])),
    ] {
        for (choice, expected) in [
            (json!("auto"), ToolChoice::Auto),
            (json!("none"), ToolChoice::Never),
            (json!("required"), ToolChoice::Required),
            (depth.clone(), ToolChoice::Named("depth".into())),
        ] {
            world.model.reply("Aye.");
            let body = json!({ "model": model, "messages": messages, "tools": tools, "tool_choice": choice,
                "parallel_tool_calls": false });
            assert_eq!(world.chat(body).await.status, 200, "{model} {choice}");
            let tools = world.last_prompt().tools;
            assert_eq!(
                (tools.choice, tools.single_call, tools.definitions.len()),
                (expected, true, 1),
                "{model}"
            );
        }
    }
    let unknown = json!({ "model": "mira", "messages": given, "tool_choice": depth });
    assert_eq!(
        error(&world.chat(unknown).await),
        (400, Value::Null, json!("tool_choice"))
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn content_filter_is_a_finish_reason() {
    let (world, _) = World::with_keeper().await;
    world.add_raw_model("gpt-small").await;
    let given = json!([
        says("user", "Ahoy."),
        says("assistant", "Aye."),
        says("user", "And now?")
    ]);
    for (model, messages) in [
        ("gpt-small", &given),
        ("captain-nemo", &given),
        ("captain-nemo", &json!([says("user", "Ahoy.")])),
    ] {
        for text in ["", "I would "] {
            let refused =
                || ProviderError::new(ProviderErrorKind::Filtered, "it was filtered", "reword it");
            world
                .model
                .play(ReplyScript::new().words(text).error(refused()));
            let whole = world
                .chat(json!({ "model": model, "messages": messages }))
                .await;
            let choice = &whole.json()["choices"][0];
            assert_eq!(
                (whole.status, &choice["finish_reason"]),
                (200, &json!("content_filter")),
                "{model} {whole:?}"
            );
            assert_eq!(
                choice["message"]["content"].as_str().map(str::trim),
                Some(text.trim())
            );
            world
                .model
                .play(ReplyScript::new().words(text).error(refused()));
            let stream = world
                .chat(json!({ "model": model, "messages": messages, "stream": true }))
                .await;
            let stream = String::from_utf8_lossy(&stream.body).into_owned();
            assert!(
                stream.contains("\"finish_reason\":\"content_filter\""),
                "{model} {stream}"
            );
            assert!(
                !stream.contains("\"error\"") && stream.contains("data: [DONE]"),
                "{model} {stream}"
            );
        }
    }
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn thoughts_apart_from_the_text_are_reasoning() {
    let (world, _) = World::with_keeper().await;
    world.add_raw_model("gpt-small").await;
    let given = json!([
        says("user", "Ahoy."),
        says("assistant", "Aye."),
        says("user", "And now?")
    ]);
    for (model, messages) in [
        ("gpt-small", &given),
        ("captain-nemo", &given),
        ("captain-nemo", &json!([says("user", "Ahoy.")])),
    ] {
        world
            .model
            .play(ReplyScript::new().thought("H").thought("m.").words("Aye."));
        let reply = world
            .chat(json!({ "model": model, "messages": messages }))
            .await;
        assert_eq!(content(&reply), "Aye.", "{model}");
        assert_eq!(
            reply.json()["choices"][0]["message"]["reasoning_content"],
            "Hm.",
            "{model} {reply:?}"
        );
    }
    world.stop().await;
}
