//! What one persona told a character, another one does not bring into the chat, even if nobody could tell the two apart
//! (memory.md, group F).

#![allow(clippy::unwrap_used, reason = "a failed helper fails the test")]

use engine::api::{Persona, SettingsChange};
use tests::headless::Headless;

const CANARY: &str = "ZEBULON";

/// Ada, whom the first of two personas of one name told a secret.
struct House {
    app: Headless,
    ada: String,
    first: String,
    second: String,
}

impl House {
    async fn open() -> Self {
        let app = Headless::new().await;
        let ada = app.character("Ada").await;
        let (first, second) = (tom(&app).await, tom(&app).await);
        let house = Self { app, ada, first, second };
        let chat = house.chat().await;
        house.app.engine.set_chat_persona(chat.clone(), house.first.clone()).await.unwrap();
        assert!(house.tells(&chat, "Remember that my boat is called ZEBULON.").await);
        house
    }

    async fn chat(&self) -> String {
        self.app.engine.new_chat(self.ada.clone()).await.unwrap().id
    }

    async fn tells(&self, chat: &str, text: &str) -> bool {
        self.app.model.reply("Hm.");
        self.app.say(chat, text).await;
        let prompt = self.app.model.last_request().unwrap().prompt;
        prompt.messages.iter().any(|message| message.text.contains(CANARY))
    }

    async fn default(&self, persona: &str) {
        let change = SettingsChange { default_persona: Some(persona.to_owned()), ..SettingsChange::default() };
        self.app.engine.update_settings(change).await.unwrap();
    }
}

async fn tom(app: &Headless) -> String {
    let nobody = app.engine.list_personas().await.unwrap().remove(0);
    let persona = Persona { id: String::new(), name: "Tom".into(), ..nobody };
    app.engine.save_persona(persona).await.unwrap().id
}

const QUESTION: &str = "What is my boat called?";

#[tokio::test]
async fn who_is_played_in_a_chat_takes_what_was_told_along() {
    let house = House::open().await;
    let chat = house.chat().await;
    house.app.engine.set_chat_persona(chat.clone(), house.first.clone()).await.unwrap();
    assert!(house.tells(&chat, QUESTION).await);
    house.app.engine.set_chat_persona(chat.clone(), house.second.clone()).await.unwrap();
    assert!(!house.tells(&chat, "Good evening.").await && !house.tells(&chat, QUESTION).await);
}

#[tokio::test]
async fn a_default_that_changes_or_goes_takes_it_along_too() {
    let house = House::open().await;
    let chat = house.chat().await;
    let third = tom(&house.app).await;
    house.app.engine.set_chat_persona(chat.clone(), third.clone()).await.unwrap();
    house.app.engine.delete_persona(third).await.unwrap();
    house.default(&house.first).await;
    assert!(house.tells(&chat, QUESTION).await);
    house.default(&house.second).await;
    assert!(!house.tells(&chat, "Good evening.").await && !house.tells(&chat, QUESTION).await);
    house.default(&house.first).await;
    assert!(house.tells(&chat, QUESTION).await);
    house.app.engine.delete_persona(house.first.clone()).await.unwrap();
    // Its chats are the default persona's from now on, who may ask for what was said there.
    assert!(!house.tells(&chat, "Good evening.").await);
}
