//! Personas: text from one persona is not used for another one in the same chat, even if both have
//! the same name.

use engine::api::{Persona, SettingsChange};
use tests::headless::Headless;

const CANARY: &str = "ZEBULON";

/// Ada, and two personas of the same name, the first of which told a secret.
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
        let house = Self {
            app,
            ada,
            first,
            second,
        };
        let chat = house.chat().await;
        house
            .app
            .engine
            .set_chat_persona(chat.clone(), house.first.clone())
            .await
            .unwrap();
        assert!(
            house
                .tells(&chat, "Remember that my boat is called ZEBULON.")
                .await
        );
        house
    }

    async fn chat(&self) -> String {
        self.app.engine.new_chat(self.ada.clone()).await.unwrap().id
    }

    async fn tells(&self, chat: &str, text: &str) -> bool {
        self.app.model.reply("Hm.");
        self.app.send(chat, text).await;
        let prompt = self.app.model.last_request().unwrap().prompt;
        prompt
            .messages
            .iter()
            .any(|message| message.text.contains(CANARY))
    }

    async fn default(&self, persona: &str) {
        let change = SettingsChange {
            default_persona: Some(persona.to_owned()),
            ..SettingsChange::default()
        };
        self.app.engine.update_settings(change).await.unwrap();
    }
}

async fn tom(app: &Headless) -> String {
    let nobody = app.engine.list_personas().await.unwrap().remove(0);
    let persona = Persona {
        id: String::new(),
        name: "Tom".into(),
        ..nobody
    };
    app.engine.save_persona(persona).await.unwrap().id
}

const QUESTION: &str = "What is my boat called?";

#[tokio::test]
async fn changing_the_persona_changes_recall() {
    let house = House::open().await;
    let chat = house.chat().await;
    house
        .app
        .engine
        .set_chat_persona(chat.clone(), house.first.clone())
        .await
        .unwrap();
    assert!(house.tells(&chat, QUESTION).await);
    house
        .app
        .engine
        .set_chat_persona(chat.clone(), house.second.clone())
        .await
        .unwrap();
    assert!(!house.tells(&chat, "Good evening.").await && !house.tells(&chat, QUESTION).await);
}

#[tokio::test]
async fn changing_the_default_persona_changes_recall() {
    let house = House::open().await;
    let chat = house.chat().await;
    let third = tom(&house.app).await;
    house
        .app
        .engine
        .set_chat_persona(chat.clone(), third.clone())
        .await
        .unwrap();
    house.app.engine.delete_persona(third).await.unwrap();
    house.default(&house.first).await;
    assert!(house.tells(&chat, QUESTION).await);
    house.default(&house.second).await;
    assert!(!house.tells(&chat, "Good evening.").await && !house.tells(&chat, QUESTION).await);
    house.default(&house.first).await;
    assert!(house.tells(&chat, QUESTION).await);
    house
        .app
        .engine
        .delete_persona(house.first.clone())
        .await
        .unwrap();
    // Its chats now belong to the default persona, which may recall their messages.
    assert!(!house.tells(&chat, "Good evening.").await);
}
