//! Duplicates across memories and messages are sent once, and the X-ray says why.

use domain::{CharacterId, ChatId, MemoryId};
use engine::api::{MemoryDraft, MemoryScope, Recollected, Recollection};
use serde_json::json;
use tests::headless::{Headless, fact};

const GREETING: &str = "Ada polishes the brass of the great lamp and hums.";

struct Pair {
    app: Headless,
    ada: CharacterId,
}

impl Pair {
    async fn open() -> Self {
        let app = Headless::new().await;
        let card = json!({ "spec": "chara_card_v2", "spec_version": "2.0", "data": {
            "name": "Ada", "description": "Keeps a lighthouse.", "first_mes": GREETING } });
        let report = app
            .engine
            .import_bytes("ada.json".into(), card.to_string().into_bytes())
            .await
            .unwrap();
        let ada = report.imported[0].id.parse().unwrap();
        Self { app, ada }
    }

    /// Starts a new chat with `text`. Returns the chat and all that the provider received.
    async fn chat(&self, text: &str) -> (ChatId, String) {
        let chat = self.app.engine.new_chat(self.ada).await.unwrap().id;
        self.app.model.reply("Hm.");
        self.app.send(chat, text).await;
        let prompt = self.app.model.last_request().expect("a request").prompt;
        let sent: Vec<&str> = prompt
            .messages
            .iter()
            .map(|message| message.text.as_str())
            .collect();
        (chat, sent.join("\n---\n"))
    }

    async fn recalled(&self, chat: ChatId) -> Recollection {
        self.app.engine.recalled(chat).await.unwrap()
    }

    async fn add(&self, text: &str, scope: MemoryScope) -> MemoryId {
        let draft = MemoryDraft {
            scope,
            ..fact(self.ada, text, 5)
        };
        self.app.engine.save_memory(draft).await.unwrap().id
    }
}

fn of(recalled: &Recollection, id: MemoryId) -> Vec<&Recollected> {
    let id = id.to_string();
    recalled.items.iter().filter(|item| item.id == id).collect()
}

#[tokio::test]
async fn fact_of_user_and_pair_is_sent_once() {
    let pair = Pair::open().await;
    let everywhere = pair
        .add("The user owns a boat.", MemoryScope::Profile)
        .await;
    let longer = pair
        .add("The user owns a boat called Zebulon.", MemoryScope::Pair)
        .await;
    let (chat, sent) = pair.chat("Where is my boat?").await;
    assert_eq!(sent.matches("owns a boat").count(), 1, "{sent}");
    assert!(sent.contains("Zebulon"), "{sent}");
    let recalled = pair.recalled(chat).await;
    assert!(
        of(&recalled, longer).iter().any(|item| item.kept),
        "{recalled:?}"
    );
    let why = of(&recalled, everywhere)[0]
        .dropped_reason
        .clone()
        .unwrap_or_default();
    assert!(why.contains("says the same"), "{recalled:?}");
}

#[tokio::test]
async fn pinned_memory_is_always_sent() {
    let pair = Pair::open().await;
    pair.add("The user owns a boat called Zebulon.", MemoryScope::Profile)
        .await;
    let pinned = MemoryDraft {
        pinned: true,
        ..fact(pair.ada, "The user owns a boat.", 5)
    };
    pair.app.engine.save_memory(pinned).await.unwrap();
    let (_, sent) = pair.chat("Where is my boat?").await;
    assert_eq!(sent.matches("owns a boat").count(), 2, "{sent}");
}

#[tokio::test]
async fn greetings_of_other_chats_are_not_recalled() {
    let pair = Pair::open().await;
    pair.chat("Good evening.").await;
    pair.chat("Good morning.").await;
    let (chat, sent) = pair
        .chat("What did you hum while you polished the brass of the lamp?")
        .await;
    assert_eq!(sent.matches("polishes the brass").count(), 1, "{sent}");
    let recalled = pair.recalled(chat).await;
    let greeting = recalled
        .items
        .iter()
        .find(|item| item.text.contains("polishes"))
        .unwrap();
    assert_eq!(
        (greeting.kept, greeting.chat),
        (false, Some(chat)),
        "{recalled:?}"
    );
}

#[tokio::test]
async fn repeated_text_is_recalled_once_with_a_note() {
    let pair = Pair::open().await;
    for _ in 0..3 {
        pair.chat("My uncle named his parrot ZEBULON.").await;
    }
    let (chat, sent) = pair.chat("What did my uncle call his parrot?").await;
    assert_eq!(sent.matches("ZEBULON").count(), 1, "{sent}");
    let recalled = pair.recalled(chat).await;
    let told = recalled
        .items
        .iter()
        .find(|item| item.text.contains("ZEBULON"))
        .unwrap();
    assert!(
        told.kept && told.reason.ends_with("said 3 times with the same text"),
        "{told:?}"
    );
}
