//! Several characters of a group answer one message, one after the other.

use domain::{CharacterId, ChatId};
use engine::Events;
use engine::api::{
    ApiError, CharacterFields, EndReason, Event, GroupOptions, Message, ReplyTurn, TurnOrder,
};
use provider::{ReplyGate, ReplyScript};
use tests::headless::Headless;

const NAMES: [&str; 3] = ["Mira", "Ada", "Bo"];

/// Three talkative characters.
struct Table {
    app: Headless,
    chat: ChatId,
    ids: Vec<CharacterId>,
}

/// The events that listeners receive about one reply.
struct Heard {
    turn: Option<ReplyTurn>,
    message: Option<Message>,
    reason: EndReason,
    following: u32,
}

impl Heard {
    fn name(&self) -> &str {
        self.message
            .as_ref()
            .map_or("nobody", |message| &message.name)
    }

    fn number(&self) -> (u32, u32) {
        self.turn.map_or((0, 0), |turn| (turn.number, turn.of))
    }
}

impl Table {
    async fn open() -> Self {
        let app = Headless::new().await;
        let mut ids = Vec::new();
        for name in NAMES {
            let fields = CharacterFields {
                name: name.into(),
                talkativeness: Some(1.0),
                ..CharacterFields::default()
            };
            ids.push(app.engine.create_character(fields).await.unwrap().id);
        }
        let chat = app
            .engine
            .new_group("The table".into(), ids.clone())
            .await
            .unwrap()
            .id;
        Self { app, chat, ids }
    }

    async fn set(&self, order: TurnOrder, several_replies: bool) {
        let options = GroupOptions {
            order,
            self_responses: false,
            several_replies,
            auto_delay: 0,
        };
        self.app.engine.set_group(self.chat, options).await.unwrap();
    }

    async fn say(&self, text: &str) -> Events {
        let events = self.app.engine.subscribe();
        self.app
            .engine
            .send_message(self.chat, text.into())
            .await
            .unwrap();
        events
    }

    /// All replies to a message.
    async fn replies(&self, text: &str) -> Vec<Heard> {
        let mut events = self.say(text).await;
        let mut heard = Vec::new();
        loop {
            heard.push(self.reply(&mut events).await);
            if heard.last().is_some_and(|last| last.following == 0) {
                return heard;
            }
        }
    }

    async fn reply(&self, events: &mut Events) -> Heard {
        let mut begun = None;
        loop {
            match events.next().await.expect("the engine lives") {
                Event::Started { chat, turn, .. } if chat == self.chat => begun = turn,
                Event::Ended {
                    chat,
                    message,
                    reason,
                    following,
                    ..
                } if chat == self.chat => {
                    return Heard {
                        turn: begun,
                        message,
                        reason,
                        following,
                    };
                }
                _ => {}
            }
        }
    }
}

#[tokio::test]
async fn everyone_named_or_talkative_replies() {
    let table = Table::open().await;
    for text in ["Me first.", "Then I.", "And I."] {
        table.app.model.reply(text);
    }
    let heard = table.replies("Bo, and all of you?").await;
    assert_eq!(heard[0].name(), "Bo", "the one that is named begins");
    let mut names: Vec<&str> = heard.iter().map(Heard::name).collect();
    names.sort_unstable();
    assert_eq!(names, ["Ada", "Bo", "Mira"]);
    let numbers: Vec<_> = heard
        .iter()
        .map(|reply| (reply.number(), reply.following))
        .collect();
    assert_eq!(numbers, [((1, 3), 2), ((2, 3), 1), ((3, 3), 0)]);
    let last = table.app.model.last_request().unwrap().prompt;
    let sent = last
        .messages
        .iter()
        .map(|message| message.text.as_str())
        .collect::<Vec<_>>()
        .join("\n");
    assert!(
        sent.contains("Me first.") && sent.contains("Then I."),
        "each hears those before:\n{sent}"
    );
    let requests = table.app.model.requests();
    for pair in requests.windows(2) {
        let (before, after) = (&pair[0].prompt.messages, &pair[1].prompt.messages);
        assert_eq!(
            after[..before.len()],
            before[..],
            "prompts stay append-only"
        );
    }
}

#[tokio::test]
async fn stop_ends_all_replies() {
    let table = Table::open().await;
    let gate = ReplyGate::new();
    table.app.model.reply("Me first.");
    table
        .app
        .model
        .play(ReplyScript::new().words("Then ").gate(&gate).words("I."));
    let mut events = table.say("Everyone?").await;
    assert_eq!(table.reply(&mut events).await.following, 2);
    gate.reached().await;
    let busy = table
        .app
        .engine
        .send_message(table.chat, "Wait.".into())
        .await;
    assert!(
        matches!(busy, Err(ApiError::Busy { .. })),
        "nothing comes between the replies"
    );
    let joined = table
        .app
        .engine
        .open_chat(table.chat)
        .await
        .unwrap()
        .generating
        .unwrap();
    assert_eq!(
        joined.turn,
        Some(ReplyTurn { number: 2, of: 3 }),
        "a reloaded window shows the number"
    );
    table.app.engine.stop(table.chat).await.unwrap();
    let stopped = table.reply(&mut events).await;
    assert_eq!(
        (stopped.reason, stopped.following),
        (EndReason::Cancelled, 0)
    );
    table.set(TurnOrder::List, true).await;
    table.app.model.reply("Yes.");
    assert_eq!(
        table.replies("Mira?").await[0].name(),
        "Mira",
        "the chat is free again"
    );
    assert_eq!(table.app.model.requests().len(), 3);
}

#[tokio::test]
async fn failed_reply_ends_the_others() {
    let table = Table::open().await;
    table.app.model.reply("   ");
    let heard = table.replies("Everyone?").await;
    assert_eq!(heard.len(), 1);
    assert!(
        matches!(heard[0].reason, EndReason::Failed { .. }),
        "{:?}",
        heard[0].reason
    );
}

#[tokio::test]
async fn one_replies_if_several_are_off_or_away() {
    let table = Table::open().await;
    table.set(TurnOrder::Natural, false).await;
    assert_eq!(table.replies("Ada, Bo, Mira?").await.len(), 1);
    for order in [TurnOrder::List, TurnOrder::Pooled] {
        table.set(order, true).await;
        assert_eq!(table.replies("Everyone?").await.len(), 1, "{order:?}");
    }
    table.set(TurnOrder::Natural, true).await;
    let engine = &table.app.engine;
    engine
        .set_member(table.chat, table.ids[0], true, false)
        .await
        .unwrap();
    engine
        .set_member(table.chat, table.ids[1], false, true)
        .await
        .unwrap();
    let heard = table.replies("Everyone?").await;
    assert_eq!(
        (heard.len(), heard[0].name(), heard[0].turn),
        (1, "Bo", None)
    );
}
