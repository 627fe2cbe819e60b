//! Changes after recall: a recalled text stays in the next prompts of its chat, and is removed once
//! it no longer applies.

use domain::ChatId;
use engine::api::{Event, SettingOwner, SettingValue};
use tests::headless::{Headless, ended, selected_text};

const TOLD: &str = "My uncle named his parrot ZEBULON.";
const ASKED: &str = "What is my uncle's parrot called?";
const CANARY: &str = "ZEBULON";

/// Two chats of one pair.
struct Pair {
    app: Headless,
    first: ChatId,
    second: ChatId,
}

impl Pair {
    async fn open() -> Self {
        let app = Headless::new().await;
        let ada = app.character("Ada").await;
        let first = app.engine.new_chat(ada).await.unwrap().id;
        let second = app.engine.new_chat(ada).await.unwrap().id;
        Self { app, first, second }
    }

    /// Whether the prompt for `text` contains the canary.
    async fn tells(&self, chat: ChatId, text: &str) -> bool {
        self.app.model.reply("Hm.");
        self.app.send(chat, text).await;
        let prompt = self.app.model.last_request().unwrap().prompt;
        prompt
            .messages
            .iter()
            .any(|message| message.text.contains(CANARY))
    }

    async fn switch(&self, owner: SettingOwner, key: &str, on: bool) {
        self.app
            .engine
            .set_setting(owner, key.into(), Some(SettingValue::Switch(on)))
            .await
            .unwrap();
    }

    fn second(&self) -> SettingOwner {
        SettingOwner::Chat { id: self.second }
    }
}

#[tokio::test]
async fn regenerated_reply_is_no_longer_quoted() {
    let pair = Pair::open().await;
    pair.app.model.reply(TOLD);
    pair.app.send(pair.first, "Tell me something.").await;
    assert!(pair.tells(pair.second, ASKED).await);
    assert!(
        pair.tells(pair.second, "I see.").await,
        "it is in the window"
    );

    let mut events = pair.app.engine.subscribe();
    pair.app.model.reply("The wind turns.");
    pair.app.engine.regenerate(pair.first).await.unwrap();
    ended(&mut events, pair.first).await;
    assert!(!pair.tells(pair.second, ASKED).await);
}

#[tokio::test]
async fn memory_off_withdraws_recalled_text() {
    let pair = Pair::open().await;
    pair.tells(pair.first, TOLD).await;
    for (owner, key) in [
        (pair.second(), "memory"),
        (SettingOwner::Global, "memory"),
        (pair.second(), "memory_other_chats"),
    ] {
        assert!(pair.tells(pair.second, ASKED).await, "before {key}");
        pair.switch(owner.clone(), key, false).await;
        assert!(!pair.tells(pair.second, "I see.").await, "{key}");
        pair.switch(owner, key, true).await;
    }
    assert!(pair.tells(pair.second, ASKED).await);
    pair.app.engine.delete_chat(pair.second).await.unwrap();
    pair.switch(SettingOwner::Global, "memory", false).await;
    pair.app.engine.restore_chat(pair.second).await.unwrap();
    assert!(
        !pair.tells(pair.second, "I see.").await,
        "recalled from a chat that was then deleted"
    );
}

/// A command added by an edit applies too.
#[tokio::test]
async fn command_added_by_an_edit_applies() {
    let pair = Pair::open().await;
    pair.app.model.reply("Hm.");
    let said = pair
        .app
        .send(pair.first, "The parrot is called Zebu.")
        .await;
    assert!(said.0.is_some());
    let chat = pair.app.engine.whole_chat(pair.first).await.unwrap();
    let message = chat.page.messages.iter().rev().nth(1).unwrap().id;
    for more in ["", "", " It was in spring."] {
        let wish = format!("Remember that {TOLD}{more}");
        pair.app.engine.edit_message(message, wish).await.unwrap();
        let known = pair
            .app
            .engine
            .list_memories(chat.character, String::new())
            .await
            .unwrap();
        assert_eq!(
            known.len(),
            1,
            "stored once, however often the message is saved: {known:?}"
        );
        assert!(known[0].text.contains(CANARY));
    }
}

/// A message that is hidden from the model is not told by a memory either.
#[tokio::test]
async fn hidden_message_is_not_remembered_until_it_is_shown() {
    let pair = Pair::open().await;
    let engine = &pair.app.engine;
    pair.tells(pair.first, &format!("Remember that {TOLD}"))
        .await;
    let page = engine.whole_chat(pair.first).await.unwrap().page;
    let said = page
        .messages
        .iter()
        .find(|message| selected_text(message).contains(CANARY))
        .unwrap()
        .id;
    assert!(pair.tells(pair.second, ASKED).await);
    for hidden in [true, false, true] {
        engine.hide_messages(vec![said], hidden).await.unwrap();
        assert_eq!(pair.tells(pair.second, ASKED).await, !hidden);
        engine.hide_message(said, hidden).await.unwrap();
        assert_eq!(pair.tells(pair.second, ASKED).await, !hidden);
    }
}

/// Text that was never learned can be forgotten too, and remembered again.
#[tokio::test]
async fn forget_command_applies_to_unlearned_text() {
    let pair = Pair::open().await;
    let engine = &pair.app.engine;
    pair.tells(pair.first, TOLD).await;
    pair.tells(pair.first, "My uncle lives in Porto.").await;
    let parrots = "The parrots of my uncle are loud.";
    pair.tells(pair.first, parrots).await;
    let page = engine.whole_chat(pair.first).await.unwrap().page;
    let again = page
        .messages
        .iter()
        .find(|message| selected_text(message) == parrots)
        .unwrap()
        .id;
    assert!(pair.tells(pair.second, ASKED).await);
    let mut events = engine.subscribe();
    pair.tells(pair.first, "Please forget about my uncle's parrot.")
        .await;
    let forgotten = loop {
        if let Event::Forgot { memory, .. } = events.next().await.unwrap() {
            break memory;
        }
    };
    assert!(
        forgotten.text.contains("parrots") && forgotten.sources.len() == 2,
        "{forgotten:?}"
    );
    assert!(!pair.tells(pair.second, ASKED).await);

    // Two messages have the text, and one of them is deleted before the restore. The other is
    // recalled again by its own text, not as a learned fact.
    engine.delete_message(again).await.unwrap();
    engine.restore_memory(forgotten.id).await.unwrap();
    let ada = engine.whole_chat(pair.first).await.unwrap().character;
    assert!(
        engine
            .list_memories(ada, String::new())
            .await
            .unwrap()
            .is_empty()
    );
    assert!(pair.tells(pair.second, ASKED).await);
}

/// Many users type no question mark.
#[tokio::test]
async fn question_without_a_mark_is_recognised() {
    let pair = Pair::open().await;
    pair.tells(pair.first, TOLD).await;
    assert!(
        !pair
            .tells(pair.second, "The parrot of my uncle flew away.")
            .await,
        "a statement is not a question"
    );
    assert!(
        pair.tells(pair.second, "Tell me what my uncle's parrot is called.")
            .await
    );
}

/// Deleting a chat may keep its learned memories. Restoring the chat restores the links to their
/// sources.
#[tokio::test]
async fn memories_may_outlive_their_chat() {
    let pair = Pair::open().await;
    let engine = &pair.app.engine;
    assert_eq!(engine.learned_in(vec![pair.first]).await.unwrap(), 0);
    pair.tells(pair.first, &format!("Remember that {TOLD}"))
        .await;
    assert_eq!(engine.learned_in(vec![pair.first]).await.unwrap(), 1);
    let ada = engine.whole_chat(pair.first).await.unwrap().character;
    let known = async || engine.list_memories(ada, String::new()).await.unwrap();

    engine.delete_chats(vec![pair.first], true).await.unwrap();
    assert!(matches!(&known().await[..], [kept] if kept.sources.is_empty()));
    assert!(pair.tells(pair.second, ASKED).await);
    pair.switch(pair.second(), "memory_other_chats", false)
        .await;
    assert!(
        !pair.tells(pair.second, ASKED).await,
        "it was learned in another chat, whether that is still there or not"
    );
    pair.switch(pair.second(), "memory_other_chats", true).await;
    engine.restore_chat(pair.first).await.unwrap();
    assert!(matches!(&known().await[..], [kept] if kept.sources.len() == 1));

    engine.delete_chat(pair.first).await.unwrap();
    assert!(known().await.is_empty());
    engine.restore_chat(pair.first).await.unwrap();
    engine.delete_chats(vec![pair.first], true).await.unwrap();
    let Pair { app, second, .. } = pair;
    let app = app.restart().await;
    let pair = Pair {
        app,
        first: second,
        second,
    };
    assert!(
        pair.tells(pair.second, "What was the parrot called?").await,
        "the chat is gone for good; what was learned is not"
    );
}
