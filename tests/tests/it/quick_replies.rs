//! Quick replies of imported sets: where they are shown, and what they may do.

use domain::ChatId;
use engine::api::{
    CommandOutcome, CommandSetting, Event, QuickReplyForm, QuickReplyRow, QuickReplyScope,
    QuickReplySet,
};
use serde_json::{Value, json};
use tests::headless::{Headless, ended, selected_text};

struct Replies {
    app: Headless,
    chat: ChatId,
    set: String,
}

impl Replies {
    /// A chat that shows a set with these replies.
    async fn of(replies: Value) -> Self {
        let all = Self::unbound(json!({ "version": 2, "name": "Tavern", "qrList": replies })).await;
        all.bind(QuickReplyScope::Chat, true).await;
        all
    }

    async fn unbound(set: Value) -> Self {
        let app = Headless::new().await;
        let chat = app.first_chat().await.id;
        let report = app
            .engine
            .import_bytes("Tavern.json".into(), set.to_string().into_bytes())
            .await
            .unwrap();
        let set = report.imported[0].id.parse().unwrap();
        Self { app, chat, set }
    }

    async fn bind(&self, scope: QuickReplyScope, bound: bool) {
        self.app
            .engine
            .bind_quick_replies(self.set.clone(), self.chat, scope, bound)
            .await
            .unwrap();
    }

    async fn shown_in(&self, chat: ChatId) -> Vec<QuickReplySet> {
        self.app.engine.quick_replies(chat).await.unwrap()
    }

    async fn run(
        &self,
        index: u32,
        typed: &str,
    ) -> Result<Vec<CommandOutcome>, engine::api::ApiError> {
        let run = self
            .app
            .engine
            .run_quick_reply(self.chat, self.set.clone(), index, typed.into())
            .await;
        run.map(|run| run.outcomes)
    }
}

#[tokio::test]
async fn sets_are_shown_where_they_are_bound() {
    let replies = Replies::unbound(
        json!({ "name": "Old", "quickReplySlots": [{ "mes": "Hi", "label": "Greet" }] }),
    )
    .await;
    let character = replies.app.first_chat().await.character;
    let other = replies.app.engine.new_chat(character).await.unwrap().id;
    let third = replies.app.character("Captain").await;
    let third = replies.app.engine.new_chat(third).await.unwrap().id;
    assert!(replies.shown_in(replies.chat).await.is_empty());
    for (scope, shown) in [
        (QuickReplyScope::Chat, [true, false, false]),
        (QuickReplyScope::Character, [true, true, false]),
        (QuickReplyScope::Everywhere, [true, true, true]),
    ] {
        replies.bind(scope, true).await;
        for (chat, shown) in [&replies.chat, &other, &third].into_iter().zip(shown) {
            assert_eq!(
                replies.shown_in(*chat).await.len(),
                usize::from(shown),
                "{scope:?}"
            );
        }
    }
    replies.bind(QuickReplyScope::Everywhere, false).await;
    assert!(replies.shown_in(third).await.is_empty());
    let label = &replies.shown_in(other).await[0].replies[0].label;
    assert_eq!(label, "Greet");
}

#[tokio::test]
async fn branch_shows_the_sets_of_its_chat() {
    let replies = Replies::of(json!([{ "label": "Hi", "message": "Hi" }])).await;
    let text = "/branch Another evening".to_owned();
    let outcome = replies
        .app
        .engine
        .run_command(replies.chat, text, Vec::new())
        .await
        .unwrap();
    let CommandOutcome::Opened { chat, title } = outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(title, "Another evening");
    assert_eq!(replies.shown_in(chat).await.len(), 1);
}

#[tokio::test]
async fn edited_set_keeps_what_the_editor_hides() {
    let reply = json!({ "id": 3, "label": "Hi", "message": "Hello", "color": "red", "executeOnUser": true });
    let replies = Replies::of(json!([reply, { "id": 4, "label": "Bye", "message": "Bye" }])).await;
    let engine = &replies.app.engine;
    let mut form = engine.quick_reply_form(replies.set.clone()).await.unwrap();
    form.name = "Inn".into();
    form.replies.swap(0, 1);
    form.replies[1].message = "/note Rain.".into();
    assert_eq!(engine.save_quick_replies(form).await.unwrap(), replies.set);
    let stored = &engine.list_quick_replies().await.unwrap()[0];
    let second = &stored.set["qrList"][1];
    assert_eq!(
        (stored.name.as_str(), &second["message"], &second["color"]),
        ("Inn", &json!("/note Rain."), &json!("red"))
    );
    assert_eq!(
        replies.shown_in(replies.chat).await[0].replies[0].label,
        "Bye"
    );
}

#[tokio::test]
async fn own_set_runs_and_leaves_with_its_buttons() {
    let replies = Replies::of(json!([{ "label": "Hi", "message": "Hi" }])).await;
    let engine = &replies.app.engine;
    let row = |message: &str| QuickReplyRow {
        from: None,
        label: "Study".into(),
        title: String::new(),
        message: message.into(),
        hidden: false,
    };
    let form = |message: &str| QuickReplyForm {
        id: None,
        name: "Tavern".into(),
        replies: vec![row(message)],
    };
    let set = engine
        .save_quick_replies(form("/mode study"))
        .await
        .unwrap();
    assert_ne!(set, replies.set, "the name is taken");
    let (chat, scope) = (replies.chat, QuickReplyScope::Chat);
    engine
        .bind_quick_replies(set.clone(), chat, scope, true)
        .await
        .unwrap();
    let run = engine
        .run_quick_reply(chat, set.clone(), 0, String::new())
        .await
        .unwrap();
    assert!(matches!(
        run.outcomes.as_slice(),
        [CommandOutcome::Set {
            setting: CommandSetting::Mode,
            ..
        }]
    ));
    engine.delete_quick_replies(set.clone()).await.unwrap();
    assert_eq!(replies.shown_in(chat).await.len(), 1);
    assert_eq!(engine.save_quick_replies(form("Hi")).await.unwrap(), set);
    assert_eq!(
        replies.shown_in(chat).await.len(),
        1,
        "a later set of that name is not shown by itself"
    );
}

#[tokio::test]
async fn bad_sets_are_refused_with_the_reason() {
    let replies = Replies::of(json!([])).await;
    let engine = &replies.app.engine;
    let row = |message: String| QuickReplyRow {
        from: None,
        label: String::new(),
        title: String::new(),
        message,
        hidden: false,
    };
    let refused = async |id: Option<&str>, name: &str, message: String| {
        let form = QuickReplyForm {
            id: id.map(str::to_owned),
            name: name.into(),
            replies: vec![row(message)],
        };
        engine
            .save_quick_replies(form)
            .await
            .unwrap_err()
            .to_string()
    };
    assert!(refused(None, " ", "Hi".into()).await.contains("name"));
    assert!(
        refused(None, "A", " \n".into())
            .await
            .contains("Quick reply 1 is empty")
    );
    assert!(
        refused(None, "A", "x".repeat(100_001))
            .await
            .contains("too long")
    );
    assert!(
        refused(Some("none"), "A", "Hi".into())
            .await
            .contains("no longer exists")
    );
}

#[tokio::test]
async fn text_is_sent_and_commands_run() {
    let replies = Replies::of(json!([
        { "label": "Look", "message": "I look at {{input}}." },
        { "label": "Rain", "message": "/note Rain. |\n/mode study" },
    ]))
    .await;
    let mut events = replies.app.engine.subscribe();
    let outcomes = replies.run(0, "the lamp").await.unwrap();
    let [CommandOutcome::Started { started }] = outcomes.as_slice() else {
        panic!("{outcomes:?}")
    };
    assert_eq!(
        selected_text(started.sent.as_ref().unwrap()),
        "I look at the lamp."
    );
    ended(&mut events, replies.chat).await;
    let set = |setting, value: &str| CommandOutcome::Set {
        setting,
        value: value.into(),
    };
    let expected = [
        set(CommandSetting::Note, "Rain."),
        set(CommandSetting::Mode, "study"),
    ];
    assert_eq!(replies.run(1, "").await.unwrap(), expected);
}

#[tokio::test]
async fn sending_a_quick_reply_keeps_the_draft() {
    let replies = Replies::of(json!([{ "label": "Hi", "message": "Hello" }])).await;
    let mut events = replies.app.engine.subscribe();
    replies.run(0, "Half a sentence").await.unwrap();
    ended(&mut events, replies.chat).await;
    assert_eq!(
        replies
            .app
            .engine
            .open_chat(replies.chat)
            .await
            .unwrap()
            .draft,
        "Half a sentence"
    );
}

#[tokio::test]
async fn unsupported_script_runs_no_part() {
    let replies =
        Replies::of(json!([{ "label": "Var", "message": "/note Rain. |\n/setvar key=x 1" }])).await;
    let shown = replies.shown_in(replies.chat).await;
    let unsupported = shown[0].replies[0].unsupported.clone().unwrap();
    assert_eq!(
        (unsupported.line, unsupported.text.as_str()),
        (2, "/setvar key=x 1")
    );
    let before = replies.app.transcript(replies.chat).await;
    let refused = replies.run(0, "").await.unwrap_err().to_string();
    assert!(refused.contains("line 2: /setvar key=x 1"), "{refused}");
    assert_eq!(replies.app.transcript(replies.chat).await, before);
    let note = replies
        .app
        .engine
        .run_command(replies.chat, "/note".into(), Vec::new())
        .await
        .unwrap();
    assert!(matches!(note, CommandOutcome::Shown { value, .. } if value.is_empty()));
}

#[tokio::test]
async fn replies_run_by_themselves_only_when_allowed() {
    let replies = Replies::of(json!([
        { "label": "Mine", "message": "/sys You spoke.", "executeOnUser": true },
        { "label": "Theirs", "message": "/sys A reply.", "executeOnAi": true },
        { "label": "Open", "message": "/note Opened.", "executeOnStartup": true },
        { "label": "Loop", "message": "Again!", "executeOnAi": true },
        { "label": "Endless", "message": "/continue", "executeOnAi": true },
        { "label": "Told", "message": "/narrate {{input}}", "executeOnUser": true },
        { "label": "Called", "message": "/as name=\"Bob Lee\"", "executeOnUser": true },
    ]))
    .await;
    let ran = |transcript: Vec<String>| {
        transcript
            .iter()
            .filter(|line| line.ends_with("You spoke."))
            .count()
    };
    replies.app.send(replies.chat, "Hello").await;
    assert_eq!(ran(replies.app.transcript(replies.chat).await), 0);

    replies
        .app
        .engine
        .allow_quick_replies(replies.set.clone(), true)
        .await
        .unwrap();
    let summary = replies
        .app
        .engine
        .quick_reply_sets(replies.chat)
        .await
        .unwrap()
        .remove(0);
    assert_eq!(
        (summary.automatic, summary.allowed),
        (3, true),
        "texts and replies are never automatic"
    );
    let mut events = replies.app.engine.subscribe();
    replies.app.send(replies.chat, "Hello again").await;
    let mut labels = Vec::new();
    while labels.len() < 2 {
        if let Event::QuickReplyRan {
            label, outcomes, ..
        } = events.next().await.unwrap()
        {
            assert!(
                matches!(outcomes.as_slice(), [CommandOutcome::Added { .. }]),
                "{outcomes:?}"
            );
            labels.push(label);
        }
    }
    assert_eq!(labels, ["Mine", "Theirs"]);
    let transcript = replies.app.transcript(replies.chat).await;
    let ends: Vec<&str> = transcript
        .iter()
        .rev()
        .take(4)
        .map(String::as_str)
        .collect();
    assert!(
        ends[0].ends_with("A reply.") && ends[2].ends_with("You spoke."),
        "{transcript:?}"
    );
    replies
        .app
        .engine
        .run_opening_quick_replies(replies.chat)
        .await
        .unwrap();
    let note = replies
        .app
        .engine
        .run_command(replies.chat, "/note".into(), Vec::new())
        .await
        .unwrap();
    assert!(matches!(note, CommandOutcome::Shown { value, .. } if value == "Opened."));
}

#[tokio::test]
async fn hostile_set_stays_within_limits() {
    let mut many: Vec<Value> = (0..3_000)
        .map(|n| json!({ "label": format!("{n}\n\u{202e}x"), "message": "Hi" }))
        .collect();
    many.insert(
        0,
        json!({ "label": "W".repeat(1_000_000), "title": 7, "message": ["no text"] }),
    );
    let replies = Replies::of(Value::Array(many)).await;
    let shown = replies.shown_in(replies.chat).await;
    assert!(shown[0].replies.len() <= 1_000);
    assert!(shown[0].replies.iter().all(
        |reply| reply.label.chars().count() <= 80 && !reply.label.contains(['\n', '\u{202e}'])
    ));
    assert!(
        replies.run(0, "").await.is_err(),
        "an empty text is not sent"
    );
    assert!(replies.run(9_999, "").await.is_err());
}

/// The model writes into an empty composer only: a button or a chain never erases what the user has
/// typed.
#[tokio::test]
async fn impersonation_keeps_the_typed_text() {
    let replies = Replies::of(json!([
        { "message": "/impersonate", "label": "Write" },
        { "message": "/note Rain. | /impersonate", "label": "Chain" },
    ]))
    .await;
    let draft = async || {
        replies
            .app
            .engine
            .open_chat(replies.chat)
            .await
            .unwrap()
            .draft
    };
    let typed = "My long unsent paragraph.";
    for index in [0, 1] {
        replies
            .app
            .engine
            .save_draft(replies.chat, typed.into())
            .await
            .unwrap();
        assert!(replies.run(index, typed).await.is_err());
        assert_eq!(draft().await, typed);
        // The composer may not have stored its text yet.
        replies
            .app
            .engine
            .save_draft(replies.chat, String::new())
            .await
            .unwrap();
        assert!(replies.run(index, typed).await.is_err());
        assert_eq!(draft().await, typed);
        replies
            .app
            .engine
            .save_draft(replies.chat, "/impersonate now".into())
            .await
            .unwrap();
        assert!(
            replies.run(index, "/impersonate now").await.is_err(),
            "another text than the command"
        );
    }
    // A typed command makes room for its own result.
    replies
        .app
        .engine
        .save_draft(replies.chat, "/impersonate".into())
        .await
        .unwrap();
    replies.app.model.reply("Written by the model.");
    let mut events = replies.app.engine.subscribe();
    replies
        .app
        .engine
        .run_command(replies.chat, "/impersonate".into(), Vec::new())
        .await
        .unwrap();
    loop {
        if let Event::Drafted { .. } = events.next().await.unwrap() {
            break;
        }
    }
    assert_eq!(draft().await, "Written by the model.");
}
