//! The OpenAI-compatible API: who may use it, what it lists, and what its requests send to the
//! model.

use domain::CharacterId;
use domain::prompt::{Prompt, PromptRole};
use engine::api::ApiKeyLimits;
use provider::fake::ReplyScript;
use provider::{FinishReason, ProviderError, ProviderErrorKind};
use serde_json::{Value, json};

use crate::world::{Answer, World, request};

/// A card with a lorebook entry.
const KEEPER: &str = r#"{"spec":"chara_card_v2","spec_version":"2.0","data":{"name":"Captain Nemo",
    "description":"Nemo keeps the silver compass.","first_mes":"Welcome aboard.",
    "character_book":{"entries":[{"keys":["lantern"],"content":"The lantern burns whale oil.","enabled":true,
    "insertion_order":1,"extensions":{}}]}}}"#;

impl World {
    /// A world with Captain Nemo; returns his id.
    pub(crate) async fn with_keeper() -> (Self, CharacterId) {
        let world = Self::with_api().await;
        let report = world
            .ask("POST", "/api/import?name=nemo.json", KEEPER.as_bytes())
            .await;
        let id = report.json()["imported"][0]["id"]
            .as_str()
            .unwrap()
            .parse()
            .unwrap();
        (world, id)
    }

    /// Adds an endpoint with one model.
    pub(crate) async fn add_raw_model(&self, name: &str) {
        let draft = json!({ "draft": {
            "id": null, "name": "Lab", "url": "http://127.0.0.1:9/v1", "model": name, "context": 8192, "key": null,
        } });
        let saved = self.call("save_endpoint", &draft.to_string()).await;
        assert_eq!(saved.status, 200, "{saved:?}");
    }

    pub(crate) async fn chat(&self, body: Value) -> Answer {
        self.ask("POST", "/v1/chat/completions", body.to_string().as_bytes())
            .await
    }

    async fn chats(&self) -> usize {
        self.call("list_chats", "{}")
            .await
            .json()
            .as_array()
            .unwrap()
            .len()
    }

    pub(crate) fn last_prompt(&self) -> Prompt {
        self.model.last_request().unwrap().prompt
    }
}

pub(crate) fn says(role: &str, text: &str) -> Value {
    json!({ "role": role, "content": text })
}

fn whole_text(prompt: &Prompt) -> String {
    prompt
        .messages
        .iter()
        .map(|message| message.text.as_str())
        .collect::<Vec<_>>()
        .join("\n")
}

pub(crate) fn content(answer: &Answer) -> String {
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()["choices"][0]["message"]["content"]
        .as_str()
        .unwrap()
        .to_owned()
}

pub(crate) fn error(answer: &Answer) -> (u16, Value, Value) {
    let error = &answer.json()["error"];
    assert!(
        error["message"].is_string() && error["type"].is_string(),
        "{answer:?}"
    );
    (answer.status, error["code"].clone(), error["param"].clone())
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_characters_and_raw_models() {
    let (world, id) = World::with_keeper().await;
    world.add_raw_model("lab/gpt-small").await;
    for path in ["/v1/models", "/api/v1/models"] {
        let list = world.ask("GET", path, b"").await.json();
        assert_eq!(list["object"], "list");
        let ids: Vec<&str> = list["data"]
            .as_array()
            .unwrap()
            .iter()
            .map(|model| model["id"].as_str().unwrap())
            .collect();
        for expected in ["mira", "captain-nemo", "lab/gpt-small"] {
            assert!(ids.contains(&expected), "{expected}: {ids:?}");
        }
    }
    let one = world
        .ask("GET", "/v1/models/captain-nemo", b"")
        .await
        .json();
    assert_eq!(
        (&one["object"], &one["owned_by"]),
        (&json!("model"), &json!("inglenook"))
    );
    assert!(one["created"].as_i64().unwrap() > 1_600_000_000, "{one}");
    assert_eq!(
        world
            .ask("GET", "/v1/models/lab/gpt-small", b"")
            .await
            .json()["owned_by"],
        "Lab"
    );
    assert_eq!(
        world
            .ask("GET", &format!("/v1/models/{id}"), b"")
            .await
            .status,
        200
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_model_is_404_with_near_names() {
    let world = World::with_api().await;
    let refused = world
        .chat(json!({ "model": "mra", "messages": [says("user", "Hello.")] }))
        .await;
    assert_eq!(
        error(&refused),
        (404, json!("model_not_found"), json!("model"))
    );
    assert!(
        refused.json()["error"]["message"]
            .as_str()
            .unwrap()
            .contains("Did you mean `mira`?"),
        "{refused:?}"
    );
    assert_eq!(error(&world.ask("GET", "/v1/models/mra", b"").await).0, 404);
    assert_eq!(world.model.requests().len(), 0);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_need_a_key() {
    let world = World::with_api().await;
    let host = world.addr().to_string();
    for path in [
        "/v1/models",
        "/v1/chat/completions",
        "/api/v1/embeddings",
        "/v1/no/such/route",
    ] {
        let without = request(world.addr(), "POST", path, &[("Host", &host)], b"{}").await;
        assert_eq!(error(&without), (401, Value::Null, Value::Null), "{path}");
        let headers = [
            ("Host", host.as_str()),
            ("Authorization", "Bearer sk-wrong"),
        ];
        let wrong = request(world.addr(), "POST", path, &headers, b"{}").await;
        assert_eq!(error(&wrong).1, json!("invalid_api_key"), "{path}");
    }
    let foreign = [
        ("Host", host.as_str()),
        ("Origin", "http://evil.example"),
        ("Authorization", &world.bearer()),
    ];
    assert_eq!(
        request(world.addr(), "GET", "/v1/models", &foreign, b"")
            .await
            .status,
        403
    );
    assert_eq!(
        error(&world.ask("GET", "/v1/no/such/route", b"").await).1,
        json!("unknown_url")
    );
    assert_eq!(
        error(&world.ask("GET", "/v1/chat/completions", b"").await).0,
        405
    );
    world.stop().await;
}

/// The request holds only one line, and the character, her lore, her memory and the stored history
/// come along.
#[tokio::test(flavor = "multi_thread")]
async fn one_message_joins_the_stored_chat() {
    let (world, id) = World::with_keeper().await;
    let memory = json!({ "draft": {
        "id": "", "type": "fact", "text": "The user fears deep water.", "importance": 9, "pinned": true, "scope": "pair",
        "world": null, "character": id, "persona": null, "chat": null,
    } });
    assert_eq!(
        world.call("save_memory", &memory.to_string()).await.status,
        200
    );
    let chats = world.chats().await;
    world
        .model
        .reply("The oil is nearly gone.")
        .reply("As you wish.");

    let body = |text: &str| json!({ "model": "captain-nemo", "messages": [says("user", text)] });
    let first = world.chat(body("Is the lantern lit?")).await;
    assert_eq!(content(&first), "The oil is nearly gone.");
    let sent = whole_text(&world.last_prompt());
    for expected in [
        "silver compass",
        "whale oil",
        "fears deep water",
        "Welcome aboard.",
        "Is the lantern lit?",
    ] {
        assert!(sent.contains(expected), "{expected} is missing: {sent}");
    }

    let second = world.chat(body("Then go below.")).await;
    assert!(whole_text(&world.last_prompt()).contains("The oil is nearly gone."));
    let place = |answer: &Answer| answer.json()["x_inglenook"].clone();
    assert_eq!(place(&first)["chat"], place(&second)["chat"]);
    assert_eq!(world.chats().await, chats + 1, "one chat for all requests");
    let swipe = json!({ "swipe": place(&second)["manifest"] });
    let report = world.call("manifest", &swipe.to_string()).await.json();
    assert!(
        report["text"].as_str().unwrap().contains("Then go below."),
        "{report}"
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn raw_model_gets_exactly_the_request() {
    let (world, _) = World::with_keeper().await;
    world.add_raw_model("gpt-small").await;
    let chats = world.chats().await;
    let messages = [
        says("system", "Be brief."),
        says("user", "Is the lantern lit?"),
        says("assistant", "Yes."),
        says("user", "Why?"),
    ];
    let answer = world
        .chat(json!({ "model": "gpt-small", "messages": messages }))
        .await;
    assert_eq!(content(&answer), "You said: Why?");
    assert_eq!(answer.json().get("x_inglenook"), None);
    let sent = world.last_prompt();
    let sent: Vec<_> = sent
        .messages
        .iter()
        .map(|message| (message.role, message.text.as_str()))
        .collect();
    assert_eq!(
        sent,
        [
            (PromptRole::System, "Be brief."),
            (PromptRole::User, "Is the lantern lit?"),
            (PromptRole::Character, "Yes."),
            (PromptRole::User, "Why?"),
        ]
    );
    let sampling = world.model.last_request().unwrap().sampling;
    assert_eq!(
        (
            sampling.temperature,
            sampling.top_p,
            sampling.top_k,
            sampling.repeat_penalty
        ),
        (1.0, 1.0, 0, 1.0)
    );
    assert_eq!(world.chats().await, chats);
    let named = json!({ "model": "gpt-small", "messages": [says("user", "Hi.")], "store": true });
    assert_eq!(world.chat(named).await.status, 400);
    world.stop().await;
}

/// The window is what the request brings, and nothing is stored.
#[tokio::test(flavor = "multi_thread")]
async fn given_history_is_the_window() {
    let (world, _) = World::with_keeper().await;
    let chats = world.chats().await;
    let messages = [
        says("user", "What have you got?"),
        says("assistant", "A lantern."),
        says("user", "Bring it, {{char}}."),
    ];
    world.model.reply("At once.");
    let answer = world
        .chat(json!({ "model": "captain-nemo", "messages": messages }))
        .await;
    assert_eq!(content(&answer), "At once.");
    let prompt = world.last_prompt();
    let sent = whole_text(&prompt);
    for expected in [
        "silver compass",
        "whale oil",
        "What have you got?",
        "A lantern.",
        "Bring it, {{char}}.",
    ] {
        assert!(sent.contains(expected), "{expected} is missing: {sent}");
    }
    assert!(
        !sent.contains("Welcome aboard."),
        "the greeting is not part of the request"
    );
    assert_eq!(world.chats().await, chats);
    let place = answer.json()["x_inglenook"].clone();
    assert_eq!((place.get("chat"), place.get("message")), (None, None));
    let report = world
        .call(
            "manifest",
            &json!({ "swipe": place["manifest"] }).to_string(),
        )
        .await;
    assert!(
        report.json()["text"]
            .as_str()
            .unwrap()
            .contains("A lantern."),
        "{report:?}"
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn stored_conversation_goes_on_in_one_chat() {
    let (world, _) = World::with_keeper().await;
    let chats = world.chats().await;
    world.model.reply("In my cabin.").reply("Here it is.");
    let mut messages = vec![
        says("user", "Ahoy."),
        says("assistant", "Ahoy!"),
        says("user", "Where is the lantern?"),
    ];
    let body = |messages: &[Value]| json!({ "model": "captain-nemo", "messages": messages, "store": true });
    let first = world.chat(body(&messages)).await;
    assert_eq!(content(&first), "In my cabin.");
    messages.extend([says("assistant", "In my cabin."), says("user", "Bring it.")]);
    let second = world.chat(body(&messages)).await;
    assert_eq!(
        first.json()["x_inglenook"]["chat"],
        second.json()["x_inglenook"]["chat"]
    );
    assert_eq!(world.chats().await, chats + 1);
    let chat = json!({ "id": first.json()["x_inglenook"]["chat"] });
    let page = world.call("open_chat", &chat.to_string()).await.json()["page"]["messages"].clone();
    let texts: Vec<&str> = page
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["swipes"][0]["text"].as_str().unwrap())
        .collect();
    assert_eq!(
        texts,
        [
            "Ahoy.",
            "Ahoy!",
            "Where is the lantern?",
            "In my cabin.",
            "Bring it.",
            "Here it is."
        ]
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn request_can_name_its_chat() {
    let (world, id) = World::with_keeper().await;
    let chat = world
        .call("new_chat", &json!({ "character": id }).to_string())
        .await
        .json()["id"]
        .clone();
    let name = chat.as_str().unwrap();
    let messages = [
        says("user", "Ignored."),
        says("assistant", "Ignored."),
        says("user", "Set sail."),
    ];
    let by_metadata =
        json!({ "model": "captain-nemo", "messages": messages, "metadata": { "chat": name } });
    let by_model =
        json!({ "model": format!("captain-nemo/{name}"), "messages": [says("user", "Faster.")] });
    for body in [by_metadata, by_model] {
        let answer = world.chat(body).await;
        assert_eq!(answer.json()["x_inglenook"]["chat"], chat, "{answer:?}");
    }
    let (host, bearer) = (world.addr().to_string(), world.bearer());
    let headers = [
        ("Host", host.as_str()),
        ("Authorization", &bearer),
        ("X-Inglenook-Chat", name),
    ];
    let body = json!({ "model": "captain-nemo", "messages": [says("user", "Dive.")] }).to_string();
    let answer = request(
        world.addr(),
        "POST",
        "/v1/chat/completions",
        &headers,
        body.as_bytes(),
    )
    .await;
    assert_eq!(answer.json()["x_inglenook"]["chat"], chat, "{answer:?}");
    let sent = whole_text(&world.last_prompt());
    assert!(
        sent.contains("Set sail.") && sent.contains("Faster.") && !sent.contains("Ignored."),
        "{sent}"
    );

    let wrong = |chat: &str| json!({ "model": "mira", "messages": [says("user", "Hi.")], "metadata": { "chat": chat } });
    assert_eq!(
        world.chat(wrong(name)).await.status,
        400,
        "another character's chat"
    );
    assert_eq!(
        world
            .chat(wrong("00000000-0000-7000-8000-000000000000"))
            .await
            .status,
        404
    );
    assert_eq!(world.chat(wrong("no id")).await.status, 400);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn system_message_is_an_instruction_of_the_prompt() {
    let (world, _) = World::with_keeper().await;
    let messages = [
        says("system", "Answer in rhymes."),
        says("user", "Ahoy."),
        says("system", "It is noon."),
    ];
    let answer = world
        .chat(json!({ "model": "captain-nemo", "messages": messages }))
        .await;
    let prompt = world.last_prompt();
    assert_eq!(prompt.messages[0].role, PromptRole::System);
    assert!(
        prompt.messages[0].text.contains("Answer in rhymes."),
        "{prompt:?}"
    );
    assert!(
        prompt.messages.last().unwrap().text.contains("It is noon."),
        "{prompt:?}"
    );
    let chat = json!({ "id": answer.json()["x_inglenook"]["chat"] });
    let page =
        world.call("open_chat", &chat.to_string()).await.json()["page"]["messages"].to_string();
    assert!(page.contains("Ahoy.") && !page.contains("rhymes"), "{page}");
    let next = world
        .chat(json!({ "model": "captain-nemo", "messages": [says("user", "Again.")] }))
        .await;
    assert_eq!(next.status, 200);
    assert!(
        !whole_text(&world.last_prompt()).contains("rhymes"),
        "it belongs to one request"
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn options_of_the_request_reach_the_model() {
    let (world, _) = World::with_keeper().await;
    world.add_raw_model("gpt-small").await;
    for model in ["captain-nemo", "gpt-small"] {
        let answer = world.chat(json!({
            "model": model, "messages": [says("user", "Ahoy.")], "temperature": 0.25, "top_p": 0.5, "seed": 7,
            "max_completion_tokens": 33, "frequency_penalty": 0.5, "presence_penalty": -0.5, "logit_bias": { "12": -100 },
            "stop": ["END"], "response_format": { "type": "json_object" }, "logprobs": true, "top_logprobs": 3,
        }));
        assert_eq!(answer.await.status, 200);
        let sent = world.model.last_request().unwrap();
        let sampling = sent.sampling;
        assert_eq!(
            (
                sampling.temperature,
                sampling.top_p,
                sampling.seed,
                sampling.max_tokens
            ),
            (0.25, 0.5, 7, 33)
        );
        assert_eq!(
            (
                sampling.frequency_penalty,
                sampling.presence_penalty,
                sampling.alternatives
            ),
            (0.5, -0.5, 3)
        );
        assert_eq!(sampling.rules.logit_bias.len(), 1);
        assert_eq!(
            sampling.rules.json_schema.as_deref(),
            Some(r#"{"type":"object"}"#)
        );
        assert_eq!(sent.prompt.stop.first().map(String::as_str), Some("END"));
    }
    let several = world
        .chat(json!({ "model": "mira", "messages": [says("user", "Ahoy.")], "n": 2 }))
        .await;
    assert_eq!(
        error(&several),
        (400, json!("unsupported_parameter"), json!("n"))
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_have_a_status_and_a_code() {
    let (world, _) = World::with_keeper().await;
    world.add_raw_model("gpt-small").await;
    let fails = |kind| ProviderError::new(kind, "it failed", "try again");
    for (kind, status, code) in [
        (
            ProviderErrorKind::ContextOverflow,
            400,
            "context_length_exceeded",
        ),
        (ProviderErrorKind::RateLimited, 429, "rate_limit_exceeded"),
        (ProviderErrorKind::Unreachable, 502, "upstream_unreachable"),
        (ProviderErrorKind::WorkerDied, 503, "model_failed"),
    ] {
        for model in ["gpt-small", "captain-nemo"] {
            for stream in [false, true] {
                world.model.fail(fails(kind));
                let body = json!({ "model": model, "messages": [says("user", "Ahoy.")], "stream": stream });
                let answer = world.chat(body).await;
                assert_eq!(
                    (answer.status, &answer.json()["error"]["code"]),
                    (status, &json!(code)),
                    "{model} {stream}"
                );
            }
        }
    }
    world.stop().await;
}

/// The shape of a reply, compared with the documented one.
#[tokio::test(flavor = "multi_thread")]
async fn whole_reply_has_the_documented_shape() {
    let (world, _) = World::with_keeper().await;
    world.add_raw_model("gpt-small").await;
    world.model.play(
        ReplyScript::new()
            .text("<think>Hm.</think>")
            .words("Aye.")
            .finish(FinishReason::Length),
    );
    let mut reply = world
        .chat(json!({ "model": "gpt-small", "messages": [says("user", "Ahoy.")] }))
        .await
        .json();
    assert!(
        reply["id"].as_str().unwrap().starts_with("chatcmpl-"),
        "{reply}"
    );
    assert!(
        reply["created"].as_u64().unwrap() > 1_600_000_000,
        "{reply}"
    );
    (reply["id"], reply["created"]) = (Value::Null, Value::Null);
    assert_eq!(
        reply,
        json!({
            "id": null, "object": "chat.completion", "created": null, "model": "gpt-small",
            "choices": [{
                "index": 0,
                "message": { "role": "assistant", "content": "Aye.", "refusal": null, "reasoning_content": "Hm." },
                "logprobs": null,
                "finish_reason": "length",
            }],
            "usage": {
                "prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3,
                "prompt_tokens_details": { "cached_tokens": 0 },
            },
        })
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn completions_continue_or_answer_a_text() {
    let (world, _) = World::with_keeper().await;
    world.add_raw_model("gpt-small").await;
    let ask = |body: Value| {
        let world = &world;
        async move {
            world
                .ask("POST", "/v1/completions", body.to_string().as_bytes())
                .await
        }
    };
    for (model, prompt) in [
        ("gpt-small", json!("Ahoy.")),
        ("captain-nemo", json!(["Ahoy."])),
    ] {
        world.model.reply("Aye.");
        let reply = ask(json!({ "model": model, "prompt": prompt, "max_tokens": 5 }))
            .await
            .json();
        assert_eq!(
            (&reply["object"], &reply["choices"][0]["text"]),
            (&json!("text_completion"), &json!("Aye."))
        );
        assert_eq!(reply["choices"][0]["finish_reason"], "stop");
    }
    for (field, value) in [
        ("suffix", json!("x")),
        ("echo", json!(true)),
        ("best_of", json!(3)),
        ("prompt", json!([1, 2])),
    ] {
        let mut body = json!({ "model": "gpt-small", "prompt": "Ahoy." });
        body[field] = value;
        let refused = ask(body).await;
        assert_eq!(
            (refused.status, &refused.json()["error"]["param"]),
            (400, &json!(field))
        );
    }
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_requests_run_in_parallel() {
    let (world, _) = World::with_keeper().await;
    world.add_raw_model("gpt-small").await;
    let one = |index: usize| {
        let model = ["gpt-small", "captain-nemo", "mira"][index % 3];
        let history = [
            says("user", "One."),
            says("assistant", "Two."),
            says("user", &format!("Number {index}.")),
        ];
        let messages = if index.is_multiple_of(2) {
            history[2..].to_vec()
        } else {
            history.to_vec()
        };
        let world = &world;
        async move {
            (
                index,
                world
                    .chat(json!({ "model": model, "messages": messages }))
                    .await,
            )
        }
    };
    let answers = futures_util::future::join_all((0..50).map(one)).await;
    for (index, answer) in answers {
        assert!(
            content(&answer).ends_with(&format!("Number {index}.")),
            "{answer:?}"
        );
    }
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn limited_key_expands_no_macros_and_forgets_nothing() {
    let (world, nemo) = World::with_keeper().await;
    let limits = ApiKeyLimits {
        characters: Some(vec![nemo]),
        raw_models: false,
        read_only: false,
    };
    let made = world
        .engine
        .create_api_key("Lamp".into(), limits)
        .await
        .unwrap();
    let (host, bearer) = (world.addr().to_string(), format!("Bearer {}", made.secret));
    let headers = [("Host", host.as_str()), ("Authorization", bearer.as_str())];
    for text in [
        "I am {{user}}, {{persona}}.",
        "Remember that I like tea.",
        "Forget that I like tea.",
    ] {
        let body = json!({ "model": "captain-nemo", "messages": [says("user", text)] }).to_string();
        let answer = request(
            world.addr(),
            "POST",
            "/v1/chat/completions",
            &headers,
            body.as_bytes(),
        )
        .await;
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(
            world
                .last_prompt()
                .messages
                .last()
                .unwrap()
                .text
                .ends_with(text),
            "{text}"
        );
    }
    let filter = engine::api::MemoryFilter::default();
    let found = world
        .engine
        .find_memories(nemo, String::new(), filter, 1)
        .await
        .unwrap()
        .memories;
    assert!(
        found
            .iter()
            .any(|memory| memory.text.contains("I like tea")),
        "{found:?}"
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_before_the_api_have_its_form() {
    let world = World::with_api().await;
    let (host, bearer) = (world.addr().to_string(), world.bearer());
    for path in [
        "/v1/models",
        "/api/v1/chat/completions",
        "/v1//models/",
        "/v1",
    ] {
        for wrong in [
            ("Host", "host.docker.internal:8000"),
            ("Origin", "https://evil.example"),
        ] {
            let own = [("Host", host.as_str()), ("Authorization", bearer.as_str())];
            let headers: Vec<_> = own
                .into_iter()
                .filter(|(name, _)| *name != wrong.0)
                .chain([wrong])
                .collect();
            let answer = request(world.addr(), "GET", path, &headers, b"").await;
            let error = &answer.json()["error"];
            assert_eq!(
                (answer.status, &error["type"]),
                (403, &json!("invalid_request_error")),
                "{path} {wrong:?}"
            );
            let message = error["message"].as_str().unwrap();
            assert!(
                message.contains(wrong.0) || message.contains("website"),
                "{message}"
            );
            assert!(!message.contains("printed when it started"), "{message}");
        }
    }
    let answer = world.ask("GET", "/v1/models/%FF", b"").await;
    assert_eq!(
        (answer.status, &answer.json()["error"]["param"]),
        (400, &json!("model"))
    );
    assert_eq!(
        world.ask("GET", "/v1", b"").await.json()["error"]["code"],
        "unknown_url"
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn addresses_may_have_more_slashes() {
    let (world, _) = World::with_keeper().await;
    for path in [
        "/v1/models/",
        "//v1/models",
        "/v1//models",
        "/api//v1/models//",
        "/v1/models/captain-nemo/",
    ] {
        assert_eq!(world.ask("GET", path, b"").await.status, 200, "{path}");
    }
    let body = json!({ "model": "captain-nemo", "messages": [says("user", "Ahoy.")] }).to_string();
    for path in ["/v1/chat/completions/", "/v1//chat/completions"] {
        assert_eq!(
            world.ask("POST", path, body.as_bytes()).await.status,
            200,
            "{path}"
        );
    }
    world.stop().await;
}
