//! Story features of a chat: scene, setting, introductions, episodes, goal, rating, and who starts.

use domain::ChatId;
use domain::prompt::PromptRole;
use engine::api::{Chat, EndReason, Message, SettingOwner, SettingValue, WhatIf};
use serde_json::json;
use tests::headless::{Headless, ended};

struct Story {
    app: Headless,
    chat: ChatId,
}

impl Story {
    async fn open() -> Self {
        let app = Headless::new().await;
        let chat = app.first_chat().await.id;
        Self { app, chat }
    }

    async fn restart(self) -> Self {
        Self {
            app: self.app.restart().await,
            ..self
        }
    }

    fn owner(&self) -> SettingOwner {
        SettingOwner::Chat { id: self.chat }
    }

    async fn put(&self, owner: SettingOwner, key: &str, value: SettingValue) {
        self.app
            .engine
            .set_setting(owner, key.into(), Some(value))
            .await
            .unwrap();
    }

    async fn write(&self, key: &str, text: &str) {
        self.put(self.owner(), key, SettingValue::Text(text.into()))
            .await;
    }

    async fn switch(&self, key: &str, on: bool) {
        self.put(self.owner(), key, SettingValue::Switch(on)).await;
    }

    async fn text_of(&self, key: &str) -> String {
        let all = self
            .app
            .engine
            .layered_settings(self.owner())
            .await
            .unwrap();
        let found = all
            .settings
            .into_iter()
            .find(|setting| setting.key == key)
            .unwrap();
        match found.value {
            SettingValue::Text(text) => text,
            other => panic!("{key} is {other:?}"),
        }
    }

    /// Sends a message and returns the sent messages with their roles.
    async fn say(&self, text: &str, reply: &str) -> Vec<(PromptRole, String)> {
        self.app.model.reply(reply);
        let (_, reason) = self.app.send(self.chat, text).await;
        assert_eq!(reason, EndReason::Stop);
        self.sent()
    }

    fn sent(&self) -> Vec<(PromptRole, String)> {
        let prompt = self.app.model.last_request().expect("a request").prompt;
        prompt
            .messages
            .into_iter()
            .map(|message| (message.role, message.text))
            .collect()
    }

    /// Returns the head of the next prompt.
    async fn head(&self, text: &str) -> String {
        self.say(text, "Hm.").await.remove(0).1
    }

    async fn messages(&self) -> Vec<Message> {
        self.whole().await.page.messages
    }

    async fn whole(&self) -> Chat {
        self.app.engine.whole_chat(self.chat).await.unwrap()
    }

    async fn regenerate(&self, reply: &str) {
        self.app.model.reply(reply);
        let mut events = self.app.engine.subscribe();
        self.app.engine.regenerate(self.chat).await.unwrap();
        ended(&mut events, self.chat).await;
    }
}

fn whole(sent: &[(PromptRole, String)]) -> String {
    sent.iter()
        .map(|(_, text)| text.as_str())
        .collect::<Vec<_>>()
        .join("\n---\n")
}

/// Scene and setting are sent in this order, unless the chat omits them.
#[tokio::test]
async fn scene_is_sent_unless_the_chat_omits_it() {
    let story = Story::open().await;
    assert!(!story.head("Hello.").await.contains("Scene:"));
    story.write("setting", "a harbour town").await;
    assert!(
        story
            .head("Hello.")
            .await
            .contains("Setting: a harbour town")
    );
    story.write("scene", "{{user}} waits on the pier.").await;
    let head = story.head("Hello.").await;
    assert!(
        head.contains("Scene: Traveller waits on the pier.") && !head.contains("a harbour town"),
        "{head}"
    );
    story.switch("include_scene", false).await;
    assert!(!story.head("Hello.").await.contains("pier"));
}

/// `random` selects once per chat, and the choice is stored.
#[tokio::test]
async fn random_setting_is_selected_once_per_chat() {
    let mut story = Story::open().await;
    story
        .put(
            SettingOwner::Global,
            "setting",
            SettingValue::Text("random".into()),
        )
        .await;
    let preview = story
        .app
        .engine
        .preview_prompt(story.chat, "Where are we?".into(), WhatIf::default())
        .await
        .unwrap();
    assert_eq!(
        story.text_of("setting").await,
        "random",
        "a preview stores nothing"
    );
    let head = story.head("Where are we?").await;
    assert_eq!(head, preview.messages[0].text);
    let drawn = story.text_of("setting").await;
    assert!(
        drawn != "random" && head.contains(&format!("Setting: {drawn}")),
        "{head}"
    );
    story = story.restart().await;
    assert_eq!(story.head("And now?").await, head);

    story.write("setting", "random").await;
    let again = story.text_of("setting").await;
    assert!(again != "random" && story.head("Elsewhere?").await.contains(&again));
}

/// Two introductions next to the system text, before the chat, only on request.
#[tokio::test]
async fn introductions_precede_the_chat() {
    let story = Story::open().await;
    let roles = |sent: &[(PromptRole, String)]| {
        sent.iter()
            .map(|(role, _)| *role)
            .take(4)
            .collect::<Vec<_>>()
    };
    let without = story.say("Hello.", "Hm.").await;
    assert_eq!(
        roles(&without),
        [PromptRole::System, PromptRole::Character, PromptRole::User]
    );
    story.switch("introductions", true).await;
    let with = story.say("Hello again.", "Hm.").await;
    assert_eq!(
        roles(&with),
        [
            PromptRole::System,
            PromptRole::User,
            PromptRole::Character,
            PromptRole::Character
        ],
        "{with:?}"
    );
    assert!(
        with[1].1.starts_with("I am Traveller.") && with[2].1.starts_with("I am Mira."),
        "{with:?}"
    );
    assert!(
        story
            .messages()
            .await
            .iter()
            .all(|message| !message.swipes[0].text.starts_with("I am"))
    );
}

const PLAN: &str = "The storm: clouds; rain\nThe calm: repairs\n";

/// A hidden marker in a reply ends an episode and starts the next one, until the plan ends.
#[tokio::test]
async fn end_of_an_episode_starts_the_next() {
    let story = Story::open().await;
    story.write("episodes", PLAN).await;
    let head = story.head("We sail.").await;
    assert!(
        head.contains("Episode: The storm\nStages: clouds; rain")
            && head.contains("#NEXT EPISODE#"),
        "{head}"
    );

    story
        .say("Land!", "The sky clears.\n\n#NEXT EPISODE#")
        .await;
    let reply = story.messages().await.pop().unwrap();
    let display = reply.swipes[0].display.clone().unwrap();
    assert!(
        display.ends_episode && display.text == "The sky clears.",
        "{display:?}"
    );
    let sent = story.say("What is broken?", "The mast.").await;
    assert!(
        sent[0]
            .1
            .contains("Episode: The calm\nStages: repairs\nBefore: The storm"),
        "{}",
        sent[0].1
    );
    assert!(
        !whole(&sent[1..]).contains("#NEXT"),
        "the mark is not sent again: {sent:?}"
    );

    story.say("Done.", "Home at last. #next episode#").await;
    let head = story.head("And now?").await;
    assert!(
        !head.contains("Episode:") && !head.contains("#NEXT"),
        "the plan is over: {head}"
    );
}

/// The transcript determines the current episode, so an undo restores it completely.
#[tokio::test]
async fn undo_restores_the_previous_episode() {
    let story = Story::open().await;
    story.write("episodes", PLAN).await;
    story
        .say(
            "Land!",
            "<think>Shall I write #NEXT EPISODE#?</think>Not yet.",
        )
        .await;
    assert!(story.head("Now?").await.contains("Episode: The storm"));
    story.say("Land!", "The sky clears. #NEXT EPISODE#").await;
    story.regenerate("It rains on.").await;
    assert!(story.head("Still?").await.contains("Episode: The storm"));
    story.say("Land!", "The sky clears. #NEXT EPISODE#").await;
    assert!(story.head("Now?").await.contains("Episode: The calm"));
    let ending = story.messages().await.into_iter().find(|message| {
        message.swipes.iter().any(|one| {
            one.display.as_ref().is_some_and(|shown| shown.ends_episode) && message.selected == 0
        })
    });
    story
        .app
        .engine
        .delete_message(ending.unwrap().id)
        .await
        .unwrap();
    assert!(
        story
            .head("Was it so?")
            .await
            .contains("Episode: The storm")
    );
    story
        .put(story.owner(), "episode", SettingValue::Whole(2))
        .await;
    assert!(
        story.head("Go on.").await.contains("Episode: The calm"),
        "the last message is the user's"
    );
}

/// A goal is a rule and a reminder, a rating is one line. Without them the prompt contains neither,
/// and texts never change.
#[tokio::test]
async fn goal_and_rating_are_sent_and_change_no_text() {
    let story = Story::open().await;
    let without = whole(&story.say("Damn this rain.", "Hm.").await);
    assert!(
        !without.contains("steer") && !without.contains("Content rating"),
        "{without}"
    );
    story.write("session_goal", "light the lamp").await;
    story
        .put(
            story.owner(),
            "remind_every_messages",
            SettingValue::Whole(1),
        )
        .await;
    for (rating, line) in [
        ("everyone", "Content rating: E (G), for everyone."),
        ("adult", "Content rating: AO (NC-17)"),
    ] {
        story.write("content_rating", rating).await;
        let sent = story.say("Damn this rain.", "Hm.").await;
        assert!(
            sent[0]
                .1
                .contains("Gently steer the story towards this: light the lamp")
                && sent[0].1.contains(line)
        );
        let (_, last) = sent.last().unwrap();
        assert!(
            last.contains("Keep in mind: light the lamp") && last.ends_with("Damn this rain."),
            "{last}"
        );
    }
}

/// A reminder is sent every n messages, is not part of the chat, and is omitted if it is empty.
#[tokio::test]
async fn reminder_is_sent_when_due() {
    let story = Story::open().await;
    story.write("context_retention", "ephemeral").await;
    story.write("reminder", "Stay in the tower.").await;
    let mut due = Vec::new();
    for turn in 0..6 {
        // The greeting is the first message, so the messages of these turns are number 2, 4, 6 ...
        let sent = story.say("Go on.", "Hm.").await;
        let reminded = sent
            .iter()
            .filter(|(_, text)| text.contains("Stay in the tower."))
            .count();
        assert!(reminded <= 1, "not repeated in the next turn: {sent:?}");
        if reminded == 1 {
            due.push(2 * turn + 2);
        }
    }
    assert_eq!(due, [6, 12]);
    assert!(
        story
            .messages()
            .await
            .iter()
            .all(|message| !message.swipes[0].text.contains("tower."))
    );
    story.write("reminder", "").await;
    story
        .put(
            story.owner(),
            "remind_every_messages",
            SettingValue::Whole(1),
        )
        .await;
    let sent = story.say("Go on.", "Hm.").await;
    assert!(!whole(&sent).contains("Reminder"), "{sent:?}");
}

/// Without a greeting the user's messages have odd numbers, so none of them is number six.
#[tokio::test]
async fn reminder_works_without_a_greeting() {
    let mut story = Story::open().await;
    story
        .put(
            SettingOwner::Global,
            "start_mode",
            SettingValue::Text("empty".into()),
        )
        .await;
    let character = story.whole().await.character;
    story.chat = story.app.engine.new_chat(character).await.unwrap().id;
    story.write("context_retention", "ephemeral").await;
    story.write("reminder", "Stay in the tower.").await;
    let mut due = Vec::new();
    for turn in 0..7 {
        if whole(&story.say("Go on.", "Hm.").await).contains("Stay in the tower.") {
            due.push(2 * turn + 1);
        }
    }
    assert_eq!(
        due,
        [7, 13],
        "the first after six messages, and after twelve"
    );
}

/// The author's note counts the user's messages from the start of the chat, not of the window.
#[tokio::test]
async fn authors_note_follows_its_interval() {
    let story = Story::open().await;
    story.write("context_retention", "ephemeral").await;
    story.write("author_note", "It is foggy.").await;
    story
        .put(
            story.owner(),
            "author_note_every_messages",
            SettingValue::Whole(7),
        )
        .await;
    story
        .put(story.owner(), "message_ceiling", SettingValue::Whole(10))
        .await;
    let mut due = Vec::new();
    for turn in 1..=14 {
        if whole(&story.say("Go on.", "Hm.").await).contains("It is foggy.") {
            due.push(turn);
        }
    }
    assert_eq!(due, [7, 14]);
}

/// If the card has no greeting, the character can start on request, and that reply can be
/// regenerated.
#[tokio::test]
async fn character_without_greeting_starts_on_request() {
    let mut story = Story::open().await;
    let card = json!({ "spec": "chara_card_v2", "spec_version": "2.0", "data": {
        "name": "Ada", "description": "A keeper of lamps.", "personality": "", "scenario": "", "first_mes": "",
        "mes_example": "", "creator_notes": "", "system_prompt": "", "post_history_instructions": "",
        "alternate_greetings": [], "tags": [], "creator": "", "character_version": "", "extensions": {} } });
    let report = story
        .app
        .engine
        .import_bytes("ada.json".into(), card.to_string().into_bytes())
        .await
        .unwrap();
    let chat = story
        .app
        .engine
        .new_chat(report.imported[0].id.parse().unwrap())
        .await
        .unwrap();
    assert!(chat.page.messages.is_empty());
    story.chat = chat.id;
    story.regenerate("The lamp is lit.").await;
    assert_eq!(
        story.app.transcript(story.chat).await,
        ["Ada: The lamp is lit."]
    );
    assert_eq!(story.sent().len(), 1);
    story.regenerate("Who goes there?").await;
    assert_eq!(story.messages().await[0].swipes.len(), 2);
    story.say("A friend.", "Come up.").await;
    assert_eq!(
        story.app.transcript(story.chat).await[1..],
        ["Traveller: A friend.", "Ada: Come up."]
    );
}

/// Details of user and character are sent where a template uses them; missing ones leave no trace.
#[tokio::test]
async fn details_are_sent_where_a_template_uses_them() {
    let story = Story::open().await;
    story.switch("introductions", true).await;
    let without = whole(&story.say("Hello.", "Hm.").await);
    for trace in ["Ages:", "As a couple:", "Who leads:", "()", "years old"] {
        assert!(!without.contains(trace), "{trace:?} was sent:\n{without}");
    }
    story
        .write(
            "details",
            "character.age: 40\nprofile.leader: Mira\nperson.age: 3",
        )
        .await;
    let with = story.say("And now?", "Hm.").await;
    assert!(
        with[0].1.contains("Who leads: Mira") && with[2].1.starts_with("I am Mira (40 years old)."),
        "{with:?}"
    );
    let chat = story.whole().await;
    let swipe = chat.page.messages.last().unwrap().swipes[0].id;
    let notices = story.app.engine.manifest(swipe).await.unwrap().notices;
    assert!(
        notices
            .iter()
            .any(|notice| notice == "The details contain unknown names: person.age"),
        "{notices:?}"
    );

    story.write("template", "director").await;
    story
        .write("details", "command: a calm evening\nimageTags: smile, sea")
        .await;
    let head = story.head("What next?").await;
    assert!(
        head.contains("a calm evening") && head.contains("by these tags: smile, sea"),
        "{head}"
    );
}
