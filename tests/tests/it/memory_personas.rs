//! Personas: text from one persona is not used for another one in the same chat, even if both have
//! the same name.

use domain::{CharacterId, ChatId, PersonaId};
use engine::api::{PersonaDraft, SettingsChange};
use tests::headless::Headless;

const CANARY: &str = "ZEBULON";

/// Ada, and two personas of the same name, the first of which told a secret.
struct House {
    app: Headless,
    ada: CharacterId,
    first: PersonaId,
    second: PersonaId,
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
            .set_chat_persona(chat, house.first)
            .await
            .unwrap();
        assert!(
            house
                .tells(chat, "Remember that my boat is called ZEBULON.")
                .await
        );
        house
    }

    async fn chat(&self) -> ChatId {
        self.app.engine.new_chat(self.ada).await.unwrap().id
    }

    async fn tells(&self, chat: ChatId, text: &str) -> bool {
        self.app.model.reply("Hm.");
        self.app.send(chat, text).await;
        let prompt = self.app.model.last_request().unwrap().prompt;
        prompt
            .messages
            .iter()
            .any(|message| message.text.contains(CANARY))
    }

    async fn default(&self, persona: PersonaId) {
        let change = SettingsChange {
            default_persona: Some(persona),
            ..SettingsChange::default()
        };
        self.app.engine.update_settings(change).await.unwrap();
    }
}

async fn tom(app: &Headless) -> PersonaId {
    let nobody = app.engine.list_personas().await.unwrap().remove(0);
    let persona = PersonaDraft {
        id: None,
        name: "Tom".into(),
        ..nobody.into()
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
        .set_chat_persona(chat, house.first)
        .await
        .unwrap();
    assert!(house.tells(chat, QUESTION).await);
    house
        .app
        .engine
        .set_chat_persona(chat, house.second)
        .await
        .unwrap();
    assert!(!house.tells(chat, "Good evening.").await && !house.tells(chat, QUESTION).await);
}

#[tokio::test]
async fn changing_the_default_persona_changes_recall() {
    let house = House::open().await;
    let chat = house.chat().await;
    let third = tom(&house.app).await;
    house
        .app
        .engine
        .set_chat_persona(chat, third)
        .await
        .unwrap();
    house.app.engine.delete_persona(third).await.unwrap();
    house.default(house.first).await;
    assert!(house.tells(chat, QUESTION).await);
    house.default(house.second).await;
    assert!(!house.tells(chat, "Good evening.").await && !house.tells(chat, QUESTION).await);
    house.default(house.first).await;
    assert!(house.tells(chat, QUESTION).await);
    house.app.engine.delete_persona(house.first).await.unwrap();
    // Its chats now belong to the default persona, which may recall their messages.
    assert!(!house.tells(chat, "Good evening.").await);
}
