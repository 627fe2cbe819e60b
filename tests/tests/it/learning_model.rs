//! The model for learning: the chat's own, or the selected one. No other model gets any text of the
//! chat.

use domain::{ChatId, EndpointId};
use engine::api::{ModelRef, SettingOwner, SettingValue};
use tests::headless::{Headless, ended};
use tests::recorder::Recorder;

const LEARNS: &str = "worth remembering";

struct Wired {
    app: Headless,
    chat: ChatId,
    talks: Recorder,
    learns: Recorder,
    talker: EndpointId,
    learner: EndpointId,
}

impl Wired {
    async fn open() -> Self {
        let app = Headless::without_provider().await;
        let chat = app.first_chat().await.id;
        let (talks, learns) = (Recorder::start().await, Recorder::start().await);
        let joined = (
            talks.join(&app.engine, "talker").await,
            learns.join(&app.engine, "learner").await,
        );
        let (ModelRef::Remote { id: talker }, ModelRef::Remote { id: learner }) = joined else {
            panic!("endpoints")
        };
        app.engine
            .set_chat_model(chat, Some(ModelRef::Remote { id: talker.clone() }))
            .await
            .unwrap();
        Self {
            app,
            chat,
            talks,
            learns,
            talker: talker.parse().unwrap(),
            learner: learner.parse().unwrap(),
        }
    }

    async fn set(&self, owner: SettingOwner, key: &str, value: &str) {
        let value = Some(SettingValue::Text(value.to_owned()));
        self.app
            .engine
            .set_setting(owner, key.into(), value)
            .await
            .unwrap();
    }

    /// Runs five exchanges, which trigger fact extraction.
    async fn talk(&self) {
        let mut events = self.app.engine.subscribe();
        for number in 0..5 {
            self.app
                .engine
                .send_message(self.chat, format!("The lamp number {number} is lit."))
                .await
                .unwrap();
            ended(&mut events, self.chat).await;
            self.app.engine.settle().await;
        }
    }

    /// Returns whether the chat's model and the learning model were called for facts.
    fn asked(&self) -> (bool, bool) {
        (
            self.talks.body_with(LEARNS).is_some(),
            self.learns.body_with(LEARNS).is_some(),
        )
    }
}

#[tokio::test]
async fn chat_model_learns_by_default() {
    let wired = Wired::open().await;
    wired.set(SettingOwner::Global, "memory_learn", "on").await;
    wired.talk().await;
    assert_eq!(wired.asked(), (true, false));
}

#[tokio::test]
async fn selected_model_learns_and_chat_setting_wins() {
    let wired = Wired::open().await;
    wired
        .set(
            SettingOwner::Global,
            "memory_model",
            &wired.talker.to_string(),
        )
        .await;
    wired
        .set(
            SettingOwner::Chat { id: wired.chat },
            "memory_model",
            &wired.learner.to_string(),
        )
        .await;
    wired.talk().await;
    assert_eq!(
        wired.asked(),
        (false, true),
        "an endpoint too, because the user selected it"
    );
    assert!(wired.learns.body_with("\"model\":\"learner\"").is_some());
}

#[tokio::test]
async fn falls_back_if_the_selected_model_is_gone() {
    let wired = Wired::open().await;
    wired
        .set(
            SettingOwner::Global,
            "memory_model",
            &wired.learner.to_string(),
        )
        .await;
    wired.set(SettingOwner::Global, "memory_learn", "off").await;
    wired.talk().await;
    assert_eq!(wired.asked(), (false, false));
    wired
        .app
        .engine
        .delete_endpoint(wired.learner)
        .await
        .unwrap();
    wired.set(SettingOwner::Global, "memory_learn", "on").await;
    wired.talk().await;
    assert_eq!(wired.asked(), (true, false));
}
