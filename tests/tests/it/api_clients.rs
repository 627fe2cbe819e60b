//! Rights of a key of the local API, and the chats of its requests.

use std::time::Duration;

use domain::{ChatId, MessageId, ToolDefinition};
use engine::ToolOutput;
use engine::api::client::{
    ClientError, ClientMessage, ClientOptions, ClientRequest, ClientRole, ModelKind, ReplyEvent,
    ReplyFinish,
};
use engine::api::{ApiError, ApiGrant, CharacterFields, EndpointDraft, GroupOptions, TurnOrder};
use provider::fake::{ReplyGate, ReplyScript};
use serde_json::json;
use tests::headless::Headless;
use tokio::time::timeout;

use crate::tools::{Lab, switch_on, used};

fn full() -> ApiGrant {
    ApiGrant {
        name: "all".into(),
        characters: None,
        raw_models: true,
        read_only: false,
    }
}

fn request(model: &str, texts: &[(ClientRole, &str)]) -> ClientRequest {
    let messages = texts
        .iter()
        .map(|(role, text)| ClientMessage::new(*role, *text))
        .collect();
    ClientRequest {
        model: model.into(),
        messages,
        ..ClientRequest::default()
    }
}

fn says(model: &str, text: &str) -> ClientRequest {
    request(model, &[(ClientRole::User, text)])
}

async fn add_raw_model(app: &Headless, name: &str) {
    let draft = EndpointDraft {
        name: "Lab".into(),
        url: "http://127.0.0.1:9/v1".into(),
        model: name.into(),
        context: 8_192,
        ..EndpointDraft::default()
    };
    app.engine.save_endpoint(draft).await.unwrap();
}

/// The whole reply to a client, and the chat that holds it.
async fn reply(
    app: &Headless,
    grant: &ApiGrant,
    request: ClientRequest,
) -> Result<(String, Option<ChatId>), ClientError> {
    let mut reply = app.engine.api_reply(grant.clone(), request).await?;
    let mut text = String::new();
    while let Some(event) = reply.next().await {
        match event? {
            ReplyEvent::Text(piece) => text.push_str(&piece),
            ReplyEvent::Ended(_) => break,
            _ => {}
        }
    }
    Ok((text, reply.place.chat))
}

#[tokio::test]
async fn key_is_limited_to_its_characters() {
    let app = Headless::new().await;
    add_raw_model(&app, "gpt-small").await;
    let mira = app.first_chat().await.character;
    app.character("Nemo").await;
    let limited = ApiGrant {
        characters: Some(vec![mira]),
        raw_models: false,
        ..full()
    };
    let names = |grant: ApiGrant| {
        let engine = app.engine.clone();
        async move {
            engine
                .api_models(&grant)
                .await
                .unwrap()
                .into_iter()
                .map(|model| model.id)
                .collect::<Vec<_>>()
        }
    };
    assert_eq!(names(limited.clone()).await, ["mira"]);
    let all = names(full()).await;
    assert!(
        all.contains(&"nemo".to_owned()) && all.contains(&"gpt-small".to_owned()),
        "{all:?}"
    );
    for forbidden in ["nemo", "gpt-small"] {
        let refused = reply(&app, &limited, says(forbidden, "Ahoy.")).await;
        assert!(
            matches!(refused, Err(ClientError::UnknownModel { .. })),
            "{forbidden}: {refused:?}"
        );
    }
    assert_eq!(app.model.requests().len(), 0);
    let kind = app
        .engine
        .api_model(&full(), "gpt-small")
        .await
        .unwrap()
        .kind;
    assert_eq!(kind, ModelKind::Endpoint);
}

#[tokio::test]
async fn read_only_key_stores_nothing() {
    let app = Headless::new().await;
    let read_only = ApiGrant {
        read_only: true,
        ..full()
    };
    let chats = app.engine.list_chats().await.unwrap();
    let (text, place) = reply(&app, &read_only, says("mira", "Good evening."))
        .await
        .unwrap();
    assert!(
        text.ends_with("Good evening.") && place.is_none(),
        "{text} {place:?}"
    );
    assert_eq!(app.engine.list_chats().await.unwrap(), chats);

    let chat = app.first_chat().await.id;
    let before = app.transcript(chat).await;
    let named = ClientRequest {
        chat: Some(chat.to_string()),
        ..says("mira", "Which lamp?")
    };
    reply(&app, &read_only, named).await.unwrap();
    let prompt = app.model.last_request().unwrap().prompt;
    let greeting = before[0]
        .split_once(": ")
        .unwrap()
        .1
        .lines()
        .next()
        .unwrap();
    assert!(
        prompt
            .messages
            .iter()
            .any(|message| message.text.contains(greeting)),
        "the stored history is sent"
    );
    assert_eq!(app.transcript(chat).await, before);

    let store = ClientRequest {
        store: true,
        ..says("mira", "Remember this.")
    };
    let refused = reply(&app, &read_only, store).await;
    assert!(
        matches!(refused, Err(ClientError::Forbidden(_))),
        "{refused:?}"
    );
}

#[tokio::test]
async fn client_message_is_stored_before_the_model() {
    let app = Headless::new().await;
    let gate = ReplyGate::new();
    app.model
        .play(ReplyScript::new().gate(&gate).words("Late."));
    let mut reply = app
        .engine
        .api_reply(full(), says("mira", "Are you there?"))
        .await
        .unwrap();
    gate.reached().await;
    let chat = reply.place.chat.unwrap();
    assert_eq!(
        app.transcript(chat).await.last().unwrap(),
        "Traveller: Are you there?"
    );
    gate.open();
    let mut last = None;
    while let Some(event) = reply.next().await {
        last = Some(event.unwrap());
    }
    let Some(ReplyEvent::Ended(end)) = last else {
        panic!("{last:?}")
    };
    assert_eq!(
        (end.finish, end.text.as_deref()),
        (ReplyFinish::Stop, Some("Late."))
    );
}

#[tokio::test]
async fn requests_for_one_chat_wait_for_each_other() {
    let app = Headless::new().await;
    let gate = ReplyGate::new();
    app.model
        .play(ReplyScript::new().gate(&gate).words("First."))
        .reply("Second.");
    let grant = full();
    let first = reply(&app, &grant, says("mira", "One."));
    let second = async {
        gate.reached().await;
        let second = app.engine.api_reply(full(), says("mira", "Two."));
        gate.open();
        second.await.unwrap().place.chat
    };
    let (first, second) = tokio::join!(first, second);
    let (text, chat) = first.unwrap();
    assert_eq!((text.as_str(), chat), ("First.", second));
    let transcript = app.transcript(chat.unwrap()).await;
    assert_eq!(
        transcript[1..4],
        ["Traveller: One.", "Mira: First.", "Traveller: Two."]
    );
}

#[tokio::test]
async fn client_that_gives_up_waiting_stores_nothing() {
    let app = Headless::new().await;
    let gate = ReplyGate::new();
    app.model
        .play(ReplyScript::new().gate(&gate).words("First."))
        .reply("Third.");
    let mut first = app
        .engine
        .api_reply(full(), says("mira", "One."))
        .await
        .unwrap();
    gate.reached().await;
    let second = app.engine.api_reply(full(), says("mira", "Two."));
    tokio::select! {
        biased;
        reply = second => panic!("{reply:?}"),
        () = std::future::ready(()) => {}
    }
    gate.open();
    while first.next().await.is_some() {}
    let (_, chat) = reply(&app, &full(), says("mira", "Three.")).await.unwrap();
    let transcript = app.transcript(chat.unwrap()).await;
    assert_eq!(
        transcript[1..],
        [
            "Traveller: One.",
            "Mira: First.",
            "Traveller: Three.",
            "Mira: Third."
        ]
    );
}

#[tokio::test]
async fn deleted_api_chat_is_started_anew() {
    let app = Headless::new().await;
    let (_, first) = reply(&app, &full(), says("mira", "One.")).await.unwrap();
    let (_, again) = reply(&app, &full(), says("mira", "Two.")).await.unwrap();
    assert_eq!(first, again);
    let app = app.restart().await;
    let (_, later) = reply(&app, &full(), says("mira", "Three.")).await.unwrap();
    assert_eq!(first, later);
    app.engine.delete_chat(later.unwrap()).await.unwrap();
    let (_, anew) = reply(&app, &full(), says("mira", "Four.")).await.unwrap();
    assert_ne!(first, anew);
}

#[tokio::test]
async fn request_without_a_message_is_refused() {
    let app = Headless::new().await;
    for messages in [
        &[][..],
        &[(ClientRole::System, "Be brief.")],
        &[(ClientRole::User, " ")],
    ] {
        let refused = reply(&app, &full(), request("mira", messages)).await;
        assert!(
            matches!(refused, Err(ClientError::Failed(ApiError::BadInput { .. }))),
            "{messages:?}: {refused:?}"
        );
    }
}

#[tokio::test]
async fn group_replies_come_in_one_message_with_names() {
    let app = Headless::new().await;
    let mut ids = Vec::new();
    for name in ["Ada", "Bo"] {
        let fields = CharacterFields {
            name: name.into(),
            talkativeness: Some(1.0),
            ..CharacterFields::default()
        };
        ids.push(app.engine.create_character(fields).await.unwrap().id);
    }
    let chat = app
        .engine
        .new_group("The table".into(), ids)
        .await
        .unwrap()
        .id;
    let options = GroupOptions {
        order: TurnOrder::Natural,
        self_responses: false,
        several_replies: true,
        auto_delay: 0,
    };
    app.engine.set_group(chat, options).await.unwrap();
    app.model.reply("Evening.").reply("Aye.");
    let named = ClientRequest {
        chat: Some(chat.to_string()),
        ..says("ada", "Good evening, Ada and all of you.")
    };
    let mut reply = app.engine.api_reply(full(), named).await.unwrap();
    let (mut text, mut speakers) = (String::new(), Vec::new());
    let end = loop {
        match reply.next().await.unwrap().unwrap() {
            ReplyEvent::Text(piece) => text.push_str(&piece),
            ReplyEvent::Speaker(speaker) => speakers.push(speaker),
            ReplyEvent::Ended(end) => break end,
            _ => {}
        }
    };
    assert_eq!(
        (text.as_str(), end.text.as_deref()),
        (
            "Ada: Evening.\n\nBo: Aye.",
            Some("Ada: Evening.\n\nBo: Aye.")
        )
    );
    let stored = app.engine.whole_chat(chat).await.unwrap().page.messages;
    let said = |text: &str| {
        stored
            .iter()
            .find(|message| message.swipes[0].text == text)
            .unwrap()
    };
    let last = [said("Evening."), said("Aye.")].map(|message| (message.name.as_str(), message.id));
    let told: Vec<(&str, MessageId)> = speakers
        .iter()
        .map(|speaker| (speaker.name.as_str(), speaker.message))
        .collect();
    assert_eq!(told, last);
    assert_eq!(reply.place.message, Some(last[0].1));
}

#[tokio::test]
async fn reply_in_the_window_does_not_end_a_clients() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let gate = ReplyGate::new();
    app.model
        .play(ReplyScript::new().text("For the window.").gate(&gate))
        .reply("For the client.");
    app.engine
        .send_message(chat, "Hello.".into())
        .await
        .unwrap();
    app.model.wait_for_requests(1).await;
    let (engine, named) = (
        app.engine.clone(),
        ClientRequest {
            chat: Some(chat.to_string()),
            ..says("mira", "And me?")
        },
    );
    let mut asking = tokio::spawn(async move { engine.api_reply(full(), named).await });
    assert!(
        timeout(Duration::from_millis(200), &mut asking)
            .await
            .is_err(),
        "the request waits for the window"
    );
    gate.open();
    let mut reply = asking.await.unwrap().unwrap();
    let mut text = String::new();
    while let Some(event) = reply.next().await {
        if let ReplyEvent::Text(piece) = event.unwrap() {
            text.push_str(&piece);
        }
    }
    assert_eq!(text, "For the client.");
}

#[tokio::test]
async fn stored_reply_runs_allowed_tools_and_asks_nobody() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    switch_on(&app, chat, &["tool_clock"]).await;
    let lab = Lab::with(&app, &["look"], |_, _| ToolOutput::text("waves"));
    app.model.play(
        ReplyScript::new()
            .call("get_time", "{}")
            .call("lab__look", "{}"),
    );
    app.model.reply("Late.");
    let named = ClientRequest {
        chat: Some(chat.to_string()),
        ..says("mira", "What time is it?")
    };
    let (text, _) = reply(&app, &full(), named).await.unwrap();
    assert_eq!(text, "Late.");
    let stored = app.engine.whole_chat(chat).await.unwrap().page.messages;
    let used: Vec<bool> = used(stored.last().unwrap())
        .iter()
        .map(|call| call.error)
        .collect();
    assert_eq!(
        (used, lab.calls().len()),
        (vec![false, true], 0),
        "nobody could allow the second tool"
    );

    let tool = ToolDefinition {
        name: "own".into(),
        description: "The client's.".into(),
        parameters: json!({}),
    };
    let options = ClientOptions {
        tools: vec![tool],
        ..ClientOptions::default()
    };
    let own = ClientRequest {
        chat: Some(chat.to_string()),
        options,
        ..says("mira", "And now?")
    };
    reply(&app, &full(), own).await.unwrap();
    let offered = app.model.last_request().unwrap().prompt.tools.definitions;
    assert_eq!(
        offered
            .iter()
            .map(|tool| tool.name.as_str())
            .collect::<Vec<_>>(),
        ["own"],
        "a client runs its own"
    );
}
