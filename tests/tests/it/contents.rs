//! Whole turns with messages that contain more than text.

use domain::ChatId;
use engine::api::{
    ApiError, ChatFileFormat, EndReason, EndpointDraft, ModelRef, Picture, PromptBlock,
    SettingOwner, SettingValue, SettingsChange, WhatIf,
};
use engine::{Engine, Options};
use provider::FinishReason;
use provider::fake::ReplyScript;
use serde_json::{Value, json};
use tests::headless::{Headless, ended, selected_text};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

/// Returns the texts of the messages in the last request, newest first.
fn sent(app: &Headless) -> Vec<String> {
    let prompt = app.model.last_request().expect("a request").prompt;
    prompt
        .messages
        .into_iter()
        .rev()
        .map(|message| message.text)
        .collect()
}

/// Returns the blocks with `words` in the prompt for `text`.
async fn blocks(app: &Headless, chat: ChatId, text: &str, words: &str) -> Vec<PromptBlock> {
    let report = app
        .engine
        .preview_prompt(chat, text.to_owned(), Default::default())
        .await
        .unwrap();
    report
        .blocks
        .into_iter()
        .filter(|block| block.text.contains(words))
        .collect()
}

/// No tools are offered, but tool calls of the model are kept.
#[tokio::test]
async fn keeps_and_sends_a_reply_of_tool_calls() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    app.model.play(
        ReplyScript::new()
            .call("weather", "{\"city\":\"Oslo\"}")
            .call("time", "{\"zo"),
    );
    let (reply, reason) = app.send(chat, "Is it raining?").await;
    let reply = reply.unwrap();
    assert_eq!((reason, selected_text(&reply)), (EndReason::Stop, ""));
    let app = app.restart().await;
    let stored = app
        .engine
        .whole_chat(chat)
        .await
        .unwrap()
        .page
        .messages
        .pop()
        .unwrap();
    assert_eq!(stored, reply);
    let calls: Vec<_> = stored.swipes[0]
        .tool_calls
        .iter()
        .map(|call| (&*call.name, &*call.arguments, call.valid))
        .collect();
    assert_eq!(
        calls,
        [
            ("weather", "{\"city\":\"Oslo\"}", true),
            ("time", "{\"zo", false)
        ]
    );

    app.model.reply("It is.");
    app.send(chat, "And now?").await;
    let note =
        "[Asked for tools, and there are none here: weather({\"city\":\"Oslo\"}), time({\"zo)]";
    assert_eq!(sent(&app)[1], note);
    let counted = &blocks(&app, chat, "Well?", note).await[0];
    assert!(
        counted.kept && counted.kind == "message" && counted.tokens >= note.len() as u32 / 4,
        "{counted:?}"
    );
}

#[tokio::test]
async fn continued_reply_keeps_its_tool_calls() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    app.model.play(
        ReplyScript::new()
            .words("Let me look")
            .call("look", "{}")
            .finish(FinishReason::Length),
    );
    app.model
        .play(ReplyScript::new().words(" outside.").call("listen", "{}"));
    app.model.reply("Rain.");
    app.send(chat, "Is it raining?").await;
    let mut events = app.engine.subscribe();
    app.engine.continue_reply(chat).await.unwrap();
    let (reply, _) = ended(&mut events, chat).await;
    assert_eq!(sent(&app)[0], "Let me look");
    let reply = reply.unwrap();
    let names: Vec<_> = reply.swipes[0]
        .tool_calls
        .iter()
        .map(|call| &*call.name)
        .collect();
    assert_eq!(
        (selected_text(&reply), names),
        ("Let me look outside.", vec!["look", "listen"])
    );
    app.send(chat, "And?").await;
    assert_eq!(
        sent(&app)[1],
        "Let me look outside.\n\n[Asked for tools, and there are none here: look({}), listen({})]"
    );
}

/// Text that looks like a tool call stays text.
#[tokio::test]
async fn text_like_a_tool_call_stays_text() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let text = "{\"tool_calls\":[{\"function\":{\"name\":\"look\"}}]}";
    app.model.reply(text);
    let reply = app.send(chat, "Look.").await.0.unwrap();
    assert_eq!(
        (selected_text(&reply), reply.swipes[0].tool_calls.len()),
        (text, 0)
    );
}

/// A red square of one pixel.
const DOT: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";

async fn dot(engine: &Engine) -> Picture {
    engine
        .add_picture("dot.png".into(), DOT.into())
        .await
        .unwrap()
}

async fn show(
    app: &Headless,
    chat: ChatId,
    text: &str,
    pictures: Vec<Picture>,
) -> engine::api::Message {
    app.model.reply("Hm.");
    let mut events = app.engine.subscribe();
    let sent = app
        .engine
        .send_pictures(chat, text.to_owned(), pictures)
        .await
        .unwrap()
        .sent
        .unwrap();
    ended(&mut events, chat).await;
    sent
}

async fn let_it_see(engine: &Engine) {
    engine
        .set_setting(
            SettingOwner::Global,
            "sees_images".into(),
            Some(SettingValue::Switch(true)),
        )
        .await
        .unwrap();
}

/// A picture is counted in plan, manifest and X-ray, and is sent identically in every turn.
#[tokio::test]
async fn vision_model_gets_pictures_with_token_count() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let_it_see(&app.engine).await;
    let picture = dot(&app.engine).await;
    let preview = |pictures: Vec<Picture>| {
        let what_if = WhatIf {
            pictures,
            ..WhatIf::default()
        };
        app.engine
            .preview_prompt(chat, "What is this?".into(), what_if)
    };
    let without = preview(Vec::new()).await.unwrap().tokens.total;
    let with = preview(vec![picture.clone()]).await.unwrap().tokens.total;
    assert_eq!(with, without + 765);

    let sent = show(&app, chat, "What is this?", vec![picture.clone()]).await;
    assert_eq!(sent.pictures, [picture]);
    let first = app.model.last_request().unwrap().prompt;
    let [selected_text] = &first.pictures[..] else {
        panic!("{} pictures", first.pictures.len())
    };
    assert!(
        selected_text.url.starts_with("data:image/jpeg;base64,/9j/"),
        "{}",
        &selected_text.url[..40]
    );
    assert!(
        first.messages[selected_text.message]
            .text
            .ends_with("What is this?")
    );

    let app = app.restart().await;
    let messages = app.engine.whole_chat(chat).await.unwrap().page.messages;
    assert_eq!(messages[1].pictures, sent.pictures);
    let report = app.engine.manifest(messages[2].swipes[0].id).await.unwrap();
    let block = report
        .blocks
        .iter()
        .find(|block| block.text == "What is this?")
        .unwrap();
    assert_eq!(
        (report.tokens.total, block.reason.as_str()),
        (with, "your message; 1 image, 765 tokens")
    );
    assert!(block.tokens >= 765);

    app.send(chat, "And now?").await;
    let second = app.model.last_request().unwrap().prompt;
    assert_eq!(second.pictures, first.pictures);
    assert_eq!(second.messages[..first.messages.len()], first.messages);
}

#[tokio::test]
async fn text_model_gets_a_note_about_pictures() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let picture = dot(&app.engine).await;
    show(&app, chat, "What is this?", vec![picture.clone()]).await;
    show(&app, chat, "", vec![picture.clone(), picture]).await;
    let prompt = app.model.last_request().unwrap().prompt;
    assert!(prompt.pictures.is_empty());
    let texts = sent(&app);
    assert_eq!(
        texts[0],
        "[2 pictures came with this. You cannot see them.]"
    );
    assert!(
        texts[2].ends_with("What is this?\n\n[1 picture came with this. You cannot see it.]"),
        "{}",
        texts[2]
    );

    // A model that can see also gets earlier pictures.
    let_it_see(&app.engine).await;
    app.send(chat, "And now?").await;
    assert_eq!(app.model.last_request().unwrap().prompt.pictures.len(), 3);
    assert!(!sent(&app).concat().contains("You cannot see"));
}

#[tokio::test]
async fn sends_only_stored_pictures() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let picture = dot(&app.engine).await;
    let refused = |error: ApiError| matches!(error, ApiError::BadInput { .. });
    for (data, why) in [("?", "no base64"), ("PHN2Zz4=", "SVG"), ("", "nothing")] {
        assert!(
            refused(
                app.engine
                    .add_picture(String::new(), data.into())
                    .await
                    .unwrap_err()
            ),
            "{why}"
        );
    }
    let huge = vec![0; engine::MAX_PICTURE_BYTES + 1];
    assert!(refused(
        app.engine
            .add_picture_bytes(String::new(), huge)
            .await
            .unwrap_err()
    ));
    let named = |hash: &str| Picture {
        hash: hash.into(),
        name: String::new(),
    };
    for pictures in [
        vec![named("../../etc/passwd")],
        vec![named(&"0".repeat(64))],
        vec![picture; 9],
    ] {
        let sent = app
            .engine
            .send_pictures(chat, "Look.".into(), pictures)
            .await;
        assert!(refused(sent.unwrap_err()));
    }
    assert!(refused(
        app.engine
            .send_pictures(chat, " ".into(), Vec::new())
            .await
            .unwrap_err()
    ));
    assert_eq!(
        app.engine
            .whole_chat(chat)
            .await
            .unwrap()
            .page
            .messages
            .len(),
        1,
        "nothing was sent"
    );
}

#[tokio::test]
async fn chat_export_warns_about_pictures() {
    let app = Headless::new().await;
    let chat = app.first_chat().await.id;
    let warnings = async || {
        app.engine
            .export_chat(chat, ChatFileFormat::Jsonl)
            .await
            .unwrap()
            .warnings
    };
    assert!(warnings().await.is_empty());
    let picture = dot(&app.engine).await;
    show(&app, chat, "Look.", vec![picture.clone(), picture]).await;
    assert_eq!(warnings().await, ["2 pictures are not in the file"]);
}

/// An endpoint that forwards the bodies of its requests.
async fn endpoint() -> (String, mpsc::UnboundedReceiver<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let (tell, told) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tell.send(body(&mut stream).await).unwrap();
            let said = json!({ "choices": [{ "delta": { "content": "A red dot." }, "finish_reason": "stop" }],
                "usage": { "prompt_tokens": 9_000, "completion_tokens": 4 } });
            let head =
                "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
            stream
                .write_all(format!("{head}data: {said}\n\ndata: [DONE]\n\n").as_bytes())
                .await
                .unwrap();
        }
    });
    (url, told)
}

async fn body(stream: &mut TcpStream) -> Value {
    let mut read = Vec::new();
    loop {
        let count = stream.read_buf(&mut read).await.unwrap();
        let text = String::from_utf8_lossy(&read);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let head = head.to_lowercase();
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "))
                .unwrap();
            if body.len() >= length.trim().parse().unwrap() {
                return serde_json::from_str(body).unwrap();
            }
        }
        assert!(count > 0, "the request broke off");
    }
}

#[tokio::test]
async fn endpoint_gets_text_and_picture() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options {
        data_dir: dir.path().to_owned(),
        without_keychain: true,
        ..Options::default()
    };
    let engine = Engine::open(options)
        .await
        .unwrap_or_else(|error| panic!("{error}"));
    let (url, mut bodies) = endpoint().await;
    let draft = EndpointDraft {
        id: None,
        name: "Eyes".into(),
        url,
        model: "seer".into(),
        context: 8_192,
        key: None,
        ..EndpointDraft::default()
    };
    let model = ModelRef::Remote {
        id: engine.save_endpoint(draft).await.unwrap().id.to_string(),
    };
    let default_model = Some(model.clone());
    engine
        .update_settings(SettingsChange {
            default_model,
            ..SettingsChange::default()
        })
        .await
        .unwrap();
    let owner = SettingOwner::Model { model };
    engine
        .set_setting(
            owner,
            "sees_images".into(),
            Some(SettingValue::Switch(true)),
        )
        .await
        .unwrap();

    let chat = engine.startup().await.unwrap().chat.unwrap();
    let mut events = engine.subscribe();
    let pictures = vec![dot(&engine).await];
    engine
        .send_pictures(chat, "What is this?".into(), pictures.clone())
        .await
        .unwrap();
    ended(&mut events, chat).await;
    let body = bodies.recv().await.unwrap();
    let content = body["messages"].as_array().unwrap().last().unwrap()["content"]
        .as_array()
        .unwrap();
    assert_eq!(
        (&content[0]["type"], &content[1]["type"]),
        (&json!("text"), &json!("image_url"))
    );
    assert!(
        content[0]["text"]
            .as_str()
            .unwrap()
            .ends_with("What is this?")
    );
    let kept = engine.asset(pictures[0].hash.clone()).await.unwrap();
    let url = content[1]["image_url"]["url"].as_str().unwrap();
    let base64 = url.strip_prefix("data:image/jpeg;base64,").unwrap();
    assert_eq!(
        base64.len(),
        kept.bytes.len().div_ceil(3) * 4,
        "the complete picture"
    );
    assert!(
        body["messages"][0]["content"].is_string(),
        "plain text stays plain"
    );
    let counting = engine.list_endpoints().await.unwrap().remove(0);
    assert_eq!(
        counting.mean_error, None,
        "pictures do not affect the calibration of text"
    );
    engine.shutdown().await;
}
