//! The chat socket: requests, typed events, keys and limits.

use std::time::{Duration, Instant};

use domain::{CharacterId, ChatId};
use engine::api::{
    ApiKeyLimits, CharacterFields, LocalApiSettings, SettingOwner, SettingValue, SettingsChange,
};
use futures_util::{SinkExt as _, StreamExt as _};
use provider::fake::{ReplyGate, ReplyScript};
use provider::{ProviderError, ProviderErrorKind};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::world::World;

struct ChatSocket(WebSocketStream<MaybeTlsStream<TcpStream>>);

async fn switch_on(world: &World) {
    let local_api = Some(LocalApiSettings {
        enabled: true,
        port: 8000,
    });
    world
        .engine
        .update_settings(SettingsChange {
            local_api,
            ..SettingsChange::default()
        })
        .await
        .unwrap();
}

async fn character(world: &World, name: &str) -> CharacterId {
    let fields = CharacterFields {
        name: name.to_owned(),
        ..CharacterFields::default()
    };
    world.engine.create_character(fields).await.unwrap().id
}

/// A world with the local API on, and a socket with the server's token.
async fn opened() -> (World, ChatSocket) {
    let world = World::new().await;
    switch_on(&world).await;
    let socket = ChatSocket::open(&world, Some(&world.bearer()))
        .await
        .unwrap();
    (world, socket)
}

impl ChatSocket {
    async fn open(world: &World, authorization: Option<&str>) -> Result<Self, Error> {
        let mut request = format!("ws://{}/ws/chat", world.addr()).into_client_request()?;
        if let Some(value) = authorization {
            request
                .headers_mut()
                .insert("authorization", value.parse().unwrap());
        }
        Ok(Self(connect_async(request).await?.0))
    }

    async fn send(&mut self, frame: &Value) {
        self.send_text(&frame.to_string()).await;
    }

    async fn send_text(&mut self, text: &str) {
        self.0.send(Message::text(text)).await.unwrap();
    }

    /// The next event; `None` once the socket is closed.
    async fn next(&mut self) -> Option<Value> {
        loop {
            let frame = tokio::time::timeout(Duration::from_secs(60), self.0.next()).await;
            match frame.expect("an event comes within a minute") {
                Some(Ok(Message::Text(text))) => return Some(serde_json::from_str(&text).unwrap()),
                Some(Ok(Message::Close(_)) | Err(_)) | None => return None,
                Some(Ok(_)) => {}
            }
        }
    }

    async fn one(&mut self) -> Value {
        self.next().await.expect("the socket stays open")
    }

    /// The events of one turn, including its end.
    async fn turn(&mut self, message: &str) -> Vec<Value> {
        self.send(&json!({ "message": message })).await;
        let mut events = Vec::new();
        loop {
            let event = self.one().await;
            let is_end = event["event"] == "end";
            events.push(event);
            if is_end {
                return events;
            }
        }
    }
}

fn names(events: &[Value]) -> Vec<&str> {
    events
        .iter()
        .map(|event| event["event"].as_str().unwrap())
        .collect()
}

fn tokens(events: &[Value]) -> String {
    events
        .iter()
        .filter(|event| event["event"] == "token")
        .map(|event| event["text"].as_str().unwrap())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn turn_has_tokens_in_order_and_one_end() {
    let (world, mut socket) = opened().await;
    world.model.reply("one two three");
    let events = socket.turn("Count.").await;
    assert_eq!(tokens(&events), "one two three");
    let end = events.last().unwrap();
    assert_eq!(
        (&end["reason"], &end["text"], &end["following"]),
        (&json!("stop"), &json!("one two three"), &json!(0))
    );
    let usage = &end["usage"];
    assert!(usage["prompt_tokens"].as_u64().unwrap() > 0, "{usage}");
    assert_eq!(
        names(&events).iter().filter(|name| **name == "end").count(),
        1
    );
    let chat = world
        .engine
        .whole_chat(end["chat"].as_str().unwrap().parse().unwrap())
        .await
        .unwrap();
    let sent = &chat.page.messages[chat.page.messages.len() - 2];
    assert_eq!(
        (
            sent.swipes[0].text.as_str(),
            serde_json::to_value(sent.source).unwrap()
        ),
        ("Count.", json!("api"))
    );
    world.stop().await;
}

/// The delay between the model's first piece of text and the client's first token event.
#[tokio::test(flavor = "multi_thread")]
async fn first_token_arrives_within_200_ms() {
    let (world, mut socket) = opened().await;
    socket.turn("Hello.").await;
    let mut delays = Vec::new();
    for _ in 0..5 {
        let gate = ReplyGate::new();
        world
            .model
            .play(ReplyScript::new().gate(&gate).words("Here I am."));
        socket.send(&json!({ "message": "Are you there?" })).await;
        gate.reached().await;
        let started = Instant::now();
        gate.open();
        assert_eq!(socket.one().await["event"], "token");
        delays.push(started.elapsed());
        while socket.one().await["event"] != "end" {}
    }
    delays.sort();
    assert!(delays[2] < Duration::from_millis(200), "{delays:?}");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn text_of_a_model_never_becomes_an_event() {
    let (world, mut socket) = opened().await;
    let text = r#"[END] [EMOTION]happy [MODE CHANGED] [VISION]data {"event":"end"}"#;
    world.model.reply(text);
    let events = socket.turn("Say strange things.").await;
    assert_eq!(tokens(&events), text);
    let others: Vec<_> = names(&events)
        .into_iter()
        .filter(|name| *name != "token")
        .collect();
    assert_eq!(others, ["emotion", "end"]);
    assert_eq!(events[events.len() - 2]["emotion"], "neutral");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn emotion_comes_once_before_the_end() {
    let (world, mut socket) = opened().await;
    let (key, value) = ("emotion_tags".to_owned(), Some(SettingValue::Switch(true)));
    world
        .engine
        .set_setting(SettingOwner::Global, key, value)
        .await
        .unwrap();
    world.model.reply("<emotion=joy> What a day!");
    let events = socket.turn("Hello.").await;
    let ends: Vec<_> = names(&events)
        .into_iter()
        .filter(|name| *name != "token")
        .collect();
    assert_eq!(ends, ["emotion", "end"]);
    assert_eq!(events[events.len() - 2]["emotion"], "joy");
    assert!(!tokens(&events).contains("emotion"), "the tag is no text");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mode_command_calls_no_model() {
    let (world, mut socket) = opened().await;
    let before = world.engine.list_chats().await.unwrap();
    socket.send(&json!({ "message": "/mode study" })).await;
    let changed = socket.one().await;
    assert_eq!(
        (&changed["event"], &changed["mode"]),
        (&json!("mode_changed"), &json!("study"))
    );
    socket.send(&json!({ "message": "/mode stduy" })).await;
    let refused = socket.one().await;
    assert_eq!(
        (&refused["code"], &refused["near"]),
        (&json!("command_refused"), &json!(["study"]))
    );
    socket.send(&json!({ "message": "/help mode" })).await;
    assert_eq!(socket.one().await["event"], "command");
    assert!(world.model.requests().is_empty());
    let counts = |chats: &[engine::api::ChatSummary]| {
        chats
            .iter()
            .map(|chat| chat.message_count)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        counts(&world.engine.list_chats().await.unwrap()),
        counts(&before)
    );
    socket.turn("//mode study").await;
    let request = world.model.last_request().unwrap();
    assert!(
        request
            .prompt
            .messages
            .last()
            .unwrap()
            .text
            .ends_with("/mode study")
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hundred_malformed_frames_leave_it_open() {
    let (world, mut socket) = opened().await;
    let frames = [
        "Hello",
        "[END]",
        "{",
        "{}",
        "null",
        "7",
        "[]",
        "{\"message\":7}",
        "{\"message\":\"a\",\"x\":1}",
        "",
    ];
    for _ in 0..10 {
        for frame in frames {
            socket.send_text(frame).await;
            let error = socket.one().await;
            assert_eq!(
                (&error["event"], &error["code"]),
                (&json!("error"), &json!("bad_frame")),
                "{frame}"
            );
        }
    }
    socket.0.send(Message::binary(vec![0xff; 8])).await.unwrap();
    assert_eq!(socket.one().await["code"], "bad_frame");
    assert!(world.model.requests().is_empty(), "raw text is no message");
    assert_eq!(names(&socket.turn("Hello.").await).last(), Some(&"end"));
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn flood_is_limited_and_leaves_it_open() {
    let (world, mut socket) = opened().await;
    for _ in 0..300 {
        socket.send_text("x").await;
    }
    let mut limited = 0;
    for _ in 0..300 {
        limited += usize::from(socket.one().await["code"] == "rate_limited");
    }
    assert!(limited > 50, "{limited}");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn frame_that_is_too_large_ends_the_socket() {
    let (world, mut socket) = opened().await;
    socket
        .send(&json!({ "message": "x".repeat(300 * 1024) }))
        .await;
    assert_eq!(socket.next().await, None);
    assert!(world.is_alive().await);
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_turn_has_an_error_and_an_end() {
    let (world, mut socket) = opened().await;
    world.model.fail(ProviderError::new(
        ProviderErrorKind::Server,
        "the lamp is out",
        "light it",
    ));
    let events = socket.turn("Hello.").await;
    assert_eq!(names(&events), ["error", "end"]);
    assert_eq!(
        (&events[0]["code"], &events[1]["reason"]),
        (&json!("provider"), &json!("failed"))
    );
    assert_eq!(tokens(&socket.turn("Again.").await), "You said: Again.");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn reply_can_be_stopped_and_is_kept() {
    let (world, mut socket) = opened().await;
    let gate = ReplyGate::new();
    world.model.play(
        ReplyScript::new()
            .words("The first words")
            .gate(&gate)
            .words("and more"),
    );
    socket.send(&json!({ "message": "Tell me." })).await;
    gate.reached().await;
    socket.send(&json!({ "message": "And?" })).await;
    socket.send(&json!({ "stop": true })).await;
    let mut events = Vec::new();
    while events
        .last()
        .is_none_or(|event: &Value| event["event"] != "end")
    {
        events.push(socket.one().await);
    }
    assert!(
        events.iter().any(|event| event["code"] == "busy"),
        "{events:?}"
    );
    let end = events.last().unwrap();
    assert_eq!(
        (&end["reason"], &end["text"]),
        (&json!("cancelled"), &json!("The first words"))
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn client_that_leaves_stops_the_reply() {
    let (world, mut socket) = opened().await;
    let gate = ReplyGate::new();
    world.model.play(
        ReplyScript::new()
            .words("Once")
            .gate(&gate)
            .words("upon a time"),
    );
    let mut events = world.engine.subscribe();
    socket.send(&json!({ "message": "Tell me." })).await;
    gate.reached().await;
    socket.0.close(None).await.unwrap();
    loop {
        if let engine::api::Event::Ended { message, .. } = events.next().await.unwrap() {
            assert_eq!(message.unwrap().swipes[0].text, "Once");
            break;
        }
    }
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn characters_and_chats_are_found_by_name() {
    let (world, mut socket) = opened().await;
    character(&world, "Osei").await;
    socket
        .send(&json!({ "message": "Ahoy.", "character": "osei" }))
        .await;
    while socket.one().await["event"] != "end" {}
    let chats = world.engine.list_chats().await.unwrap();
    let chat = chats
        .iter()
        .find(|chat| chat.character_name == "Osei")
        .unwrap();
    let end = socket.turn("Still there?").await.pop().unwrap();
    assert_eq!(
        end["chat"],
        chat.id.to_string(),
        "the chat of the frame before goes on"
    );
    for frame in [
        json!({ "message": "a", "character": "Nobody" }),
        json!({ "message": "a", "chat": "no such chat" }),
        json!({ "message": "a", "chat": chat.id, "character": "Mira" }),
    ] {
        socket.send(&frame).await;
        assert_eq!(socket.one().await["code"], "not_found", "{frame}");
    }
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn vision_is_off_until_the_settings_allow_it() {
    let (world, mut socket) = opened().await;
    let report = json!({ "vision": { "state": "focused", "text": "waves" } });
    socket.send(&report).await;
    assert_eq!(socket.one().await["code"], "bad_input");
    let (key, value) = ("vision".to_owned(), Some(SettingValue::Switch(true)));
    world
        .engine
        .set_setting(SettingOwner::Global, key, value)
        .await
        .unwrap();
    socket.send(&report).await;
    let seen = socket.one().await;
    assert_eq!(
        (&seen["event"], &seen["state"], &seen["text"]),
        (&json!("vision"), &json!("focused"), &json!("waves"))
    );
    socket.turn("Hello.").await;
    let prompt = world.model.last_request().unwrap().prompt;
    assert!(
        prompt
            .messages
            .last()
            .unwrap()
            .text
            .contains("is looking at the screen. waves")
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn socket_needs_a_valid_key() {
    let world = World::new().await;
    switch_on(&world).await;
    let wrong = ChatSocket::open(&world, Some("Bearer inglenook_nonsense")).await;
    assert!(matches!(wrong.err(), Some(Error::Http(answer)) if answer.status() == 401));

    let mut silent = ChatSocket::open(&world, None).await.unwrap();
    silent.send(&json!({ "message": "Hello" })).await;
    assert_eq!(silent.one().await["code"], "unauthorized");
    silent.send(&json!({ "key": "wrong" })).await;
    assert_eq!(silent.one().await["code"], "unauthorized");
    assert_eq!(silent.next().await, None, "a wrong key ends the socket");

    let limits = ApiKeyLimits {
        characters: None,
        raw_models: false,
        read_only: false,
    };
    let made = world
        .engine
        .create_api_key("Lamp".into(), limits)
        .await
        .unwrap();
    let mut socket = ChatSocket::open(&world, None).await.unwrap();
    socket.send(&json!({ "key": made.secret })).await;
    let welcome = socket.one().await;
    assert_eq!(
        (&welcome["event"], &welcome["name"]),
        (&json!("authorized"), &json!("Lamp"))
    );
    socket.turn("Hello.").await;
    world.engine.revoke_api_key(made.key.id).await.unwrap();
    socket.send(&json!({ "message": "Again" })).await;
    assert_eq!(socket.one().await["code"], "unauthorized");
    assert_eq!(socket.next().await, None, "a revoked key ends the socket");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_of_a_key_apply() {
    let world = World::new().await;
    switch_on(&world).await;
    let osei = character(&world, "Osei").await;
    let key = async |name: &str, characters, read_only| {
        let limits = ApiKeyLimits {
            characters,
            raw_models: false,
            read_only,
        };
        format!(
            "Bearer {}",
            world
                .engine
                .create_api_key(name.into(), limits)
                .await
                .unwrap()
                .secret
        )
    };
    let mut reader = ChatSocket::open(&world, Some(&key("Reader", None, true).await))
        .await
        .unwrap();
    reader.send(&json!({ "message": "Hello" })).await;
    assert_eq!(reader.one().await["code"], "forbidden");

    let chat = world.engine.list_chats().await.unwrap().remove(0);
    let mut limited = ChatSocket::open(&world, Some(&key("Ferry", Some(vec![osei]), false).await))
        .await
        .unwrap();
    for frame in [
        json!({ "message": "a", "character": "Mira" }),
        json!({ "message": "a", "chat": chat.id }),
    ] {
        limited.send(&frame).await;
        assert_eq!(limited.one().await["code"], "not_found", "{frame}");
    }
    limited
        .send(&json!({ "message": "Ahoy", "character": "Osei" }))
        .await;
    while limited.one().await["event"] != "end" {}
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn socket_is_missing_while_the_api_is_off() {
    let world = World::new().await;
    let refused = ChatSocket::open(&world, Some(&world.bearer())).await;
    assert!(matches!(refused.err(), Some(Error::Http(answer)) if answer.status() == 404));
    world.stop().await;
}

/// A world with a character Wanda, her private chat, and a key that may use only her.
async fn limited_to_wanda() -> (World, ChatSocket, ChatId) {
    let world = World::new().await;
    switch_on(&world).await;
    let wanda = character(&world, "Wanda").await;
    let private = world.engine.new_chat(wanda).await.unwrap().id;
    let limits = ApiKeyLimits {
        characters: Some(vec![wanda]),
        raw_models: false,
        read_only: false,
    };
    let made = world
        .engine
        .create_api_key("Ferry".into(), limits)
        .await
        .unwrap();
    let socket = ChatSocket::open(&world, Some(&format!("Bearer {}", made.secret)))
        .await
        .unwrap();
    (world, socket, private)
}

#[tokio::test(flavor = "multi_thread")]
async fn limited_key_runs_no_command_beyond_its_limits() {
    let (world, mut socket, private) = limited_to_wanda().await;
    let before = world.engine.whole_chat(private).await.unwrap();
    for command in [
        "/persona",
        "/persona Traveller",
        "/model",
        "/template",
        "/note Be cruel.",
        "/hide 2",
        "/unhide",
        "/forget lamp",
        "/branch",
        "/checkpoint here",
        "/as Wanda I hate you.",
        "/sendas Wanda I hate you.",
        "/narrate It rains.",
        "/sys The war is over.",
        "/impersonate",
        "/scene",
        "/search lamp",
        "/export",
    ] {
        socket
            .send(&json!({ "message": command, "chat": private }))
            .await;
        let refused = socket.one().await;
        assert_eq!(
            (&refused["event"], &refused["code"]),
            (&json!("error"), &json!("forbidden")),
            "{command}"
        );
        assert!(!refused.to_string().contains("Traveller"), "{refused}");
    }
    assert_eq!(
        world
            .engine
            .whole_chat(private)
            .await
            .unwrap()
            .page
            .messages,
        before.page.messages
    );
    assert!(world.model.requests().is_empty());
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn limited_key_may_talk_and_choose_a_mode() {
    let (world, mut socket, private) = limited_to_wanda().await;
    socket
        .send(&json!({ "message": "/help", "chat": private }))
        .await;
    let help = socket.one().await;
    let names: Vec<_> = help["outcome"]["commands"]
        .as_array()
        .unwrap()
        .iter()
        .map(|command| command["name"].clone())
        .collect();
    assert_eq!(
        names,
        [
            "continue",
            "regenerate",
            "swipe",
            "roll",
            "mode",
            "remember",
            "help"
        ]
    );
    socket.send(&json!({ "message": "/mode study" })).await;
    assert_eq!(socket.one().await["event"], "mode_changed");
    assert_eq!(
        self::names(&socket.turn("Ahoy.").await).last(),
        Some(&"end")
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn character_means_its_api_chat() {
    let (world, mut socket, private) = limited_to_wanda().await;
    for frame in [
        json!({ "message": "Ahoy." }),
        json!({ "message": "Ahoy.", "character": "Wanda" }),
    ] {
        socket.send(&frame).await;
        let end = loop {
            let event = socket.one().await;
            if event["event"] == "end" {
                break event;
            }
        };
        assert_ne!(end["chat"], private.to_string(), "{frame}");
        let chats = world.engine.list_chats().await.unwrap();
        let used = chats
            .iter()
            .find(|chat| end["chat"] == chat.id.to_string())
            .unwrap();
        assert_eq!(used.title, "Wanda (API)");
    }
    assert!(
        world
            .engine
            .whole_chat(private)
            .await
            .unwrap()
            .page
            .messages
            .iter()
            .all(|one| one.swipes[0].text != "Ahoy.")
    );
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn macros_of_a_limited_key_stay_text() {
    let (world, mut socket, _) = limited_to_wanda().await;
    socket
        .turn("I am {{user}}, {{persona}} {{setvar::gold::9}}{{getvar::gold}}.")
        .await;
    let prompt = world.model.last_request().unwrap().prompt;
    assert!(
        prompt
            .messages
            .last()
            .unwrap()
            .text
            .ends_with("I am {{user}}, {{persona}} {{setvar::gold::9}}{{getvar::gold}}.")
    );
    let mut owner = ChatSocket::open(&world, Some(&world.bearer()))
        .await
        .unwrap();
    owner.turn("{{char}} has {{getvar::gold}} coins.").await;
    let prompt = world.model.last_request().unwrap().prompt;
    let text = &prompt.messages.last().unwrap().text;
    assert!(text.contains("Wanda has ") && !text.contains('9'), "{text}");
    world.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sockets_of_a_key_leave_places_for_others() {
    let (world, first, _) = limited_to_wanda().await;
    let wanda = world
        .engine
        .list_characters()
        .await
        .unwrap()
        .into_iter()
        .find(|one| one.name == "Wanda")
        .unwrap()
        .id;
    let key = async |name: &str| {
        let limits = ApiKeyLimits {
            characters: Some(vec![wanda]),
            raw_models: false,
            read_only: true,
        };
        format!(
            "Bearer {}",
            world
                .engine
                .create_api_key(name.into(), limits)
                .await
                .unwrap()
                .secret
        )
    };
    let greedy = key("Greedy").await;
    let mut held = vec![first];
    loop {
        match ChatSocket::open(&world, Some(&greedy)).await {
            Ok(socket) => held.push(socket),
            Err(Error::Http(answer)) => {
                assert_eq!(answer.status(), 503);
                break;
            }
            Err(error) => panic!("{error}"),
        }
        assert!(held.len() < 64, "one key took every place");
    }
    let _other = ChatSocket::open(&world, Some(&key("Other").await))
        .await
        .unwrap();
    let _owner = ChatSocket::open(&world, Some(&world.bearer()))
        .await
        .unwrap();
    drop(held);
    world.stop().await;
}
