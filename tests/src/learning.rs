//! Test setup for learning in idle time, for whole turns with the scripted provider.

#![allow(clippy::unwrap_used, reason = "a failed helper fails the test")]
#![allow(clippy::missing_panics_doc, reason = "a failed helper fails the test")]

use domain::{CharacterId, ChatId, MessageId};
use engine::api::{Memory, SettingOwner, SettingValue, WhatIf};
use provider::Request;
use serde_json::json;

use crate::headless::Headless;

pub const FACT: &str = "You own a boat called Zebulon.";
pub const TOLD: &str = "I own a boat that is called Zebulon.";

/// An app with learning enabled, and a chat with one character.
pub struct LearningSetup {
    pub app: Headless,
    pub character: CharacterId,
    pub chat: ChatId,
}

impl LearningSetup {
    pub async fn learning(how: &str) -> Self {
        let app = Headless::new().await;
        let character = card(&app, "Ada").await;
        let chat = app.engine.new_chat(character).await.unwrap().id;
        let how = SettingValue::Text(how.to_owned());
        app.engine
            .set_setting(SettingOwner::Global, "memory_learn".into(), Some(how))
            .await
            .unwrap();
        Self {
            app,
            character,
            chat,
        }
    }

    /// Runs one exchange. The user says `said`; `answers` are the model's answers to the background
    /// jobs after it.
    pub async fn exchange(&self, said: &str, answers: &[&str]) {
        self.app.model.reply("Is that so.");
        answers
            .iter()
            .for_each(|answer| _ = self.app.model.reply(answer));
        self.app.send(self.chat, said).await;
        self.app.engine.settle().await;
    }

    pub async fn exchanges(&self, count: usize) {
        for number in 0..count {
            self.exchange(&format!("The lamp number {number} is lit now."), &[])
                .await;
        }
    }

    /// Runs ten exchanges, the first with [`TOLD`]. The model finds no facts and returns `summary`.
    pub async fn summed_up(summary: &str) -> Self {
        let stage = Self::learning("on").await;
        stage.exchange(TOLD, &[]).await;
        stage.exchanges(3).await;
        stage.exchange("Fine.", &["[]"]).await;
        stage.exchanges(4).await;
        stage.exchange("Fine.", &[&keyframe(summary), "[]"]).await;
        stage
    }

    pub fn asked(&self, template: &str) -> Vec<Request> {
        let asks = |request: &Request| {
            request
                .prompt
                .messages
                .iter()
                .any(|message| message.text.contains(template))
        };
        self.app
            .model
            .requests()
            .into_iter()
            .filter(|request| request.response_schema.is_some() && asks(request))
            .collect()
    }

    pub async fn memories(&self) -> Vec<Memory> {
        self.app
            .engine
            .list_memories(self.character, String::new())
            .await
            .unwrap()
    }

    /// Returns the next prompt of a chat for the message `words`.
    pub async fn prompt(&self, chat: ChatId, words: &str) -> String {
        self.app
            .engine
            .preview_prompt(chat, words.to_owned(), WhatIf::default())
            .await
            .unwrap()
            .text
    }

    /// Returns the first and last message of each keyframe, from 0, and whether it was made without
    /// a model.
    pub fn keyframes(&self) -> Vec<(i64, i64, bool)> {
        let conn = crate::open_database(self.app.dir.path());
        let mut rows = conn
            .prepare("SELECT first, last, fallback FROM keyframe ORDER BY first")
            .unwrap();
        let rows = rows
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .unwrap();
        rows.collect::<Result<_, _>>().unwrap()
    }

    pub async fn ceiling(&self, messages: u32) {
        let owner = SettingOwner::Chat { id: self.chat };
        let ceiling = Some(SettingValue::Whole(messages));
        self.app
            .engine
            .set_setting(owner, "message_ceiling".into(), ceiling)
            .await
            .unwrap();
    }

    /// Returns the id of the message with `text`.
    pub async fn message(&self, text: &str) -> MessageId {
        let chat = self.app.engine.whole_chat(self.chat).await.unwrap();
        let says =
            |message: &&engine::api::Message| message.swipes.iter().any(|swipe| swipe.text == text);
        chat.page.messages.iter().find(says).unwrap().id
    }
}

pub async fn card(app: &Headless, name: &str) -> CharacterId {
    let card = json!({ "spec": "chara_card_v3", "spec_version": "3.0", "data": {
        "name": name, "description": "Keeps a lighthouse.", "personality": "", "scenario": "", "first_mes": "Good evening.",
        "mes_example": "", "creator_notes": "", "system_prompt": "", "post_history_instructions": "",
        "alternate_greetings": [], "tags": [], "creator": "", "character_version": "", "group_only_greetings": [],
        "extensions": {} } });
    let report = app
        .engine
        .import_bytes(format!("{name}.json"), card.to_string().into_bytes())
        .await
        .unwrap();
    report.imported[0].id.parse().unwrap()
}

pub fn fact(text: &str, importance: u8) -> String {
    json!([{ "person": "You", "text": text, "type": "fact", "importance": importance }]).to_string()
}

pub fn keyframe(summary: &str) -> String {
    json!({ "summary": summary, "analysis": "All is calm.", "rating": 8, "characters": ["Ada"] })
        .to_string()
}
