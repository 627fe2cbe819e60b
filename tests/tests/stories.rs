//! What a chat tells of its story: scene, setting, introductions, episodes, goal and rating, and who opens it.

#![allow(clippy::unwrap_used, reason = "a failed helper fails the test")]

use domain::prompt::PromptRole;
use engine::api::{Chat, EndReason, Message, SettingOwner, SettingValue, WhatIf};
use serde_json::json;
use tests::headless::{Headless, ended};

struct Story {
    app: Headless,
    chat: String,
}

impl Story {
    async fn open() -> Self {
        let app = Headless::new().await;
        let chat = app.first_chat().await.id;
        Self { app, chat }
    }

    async fn restart(self) -> Self {
        Self { app: self.app.restart().await, ..self }
    }

    fn owner(&self) -> SettingOwner {
        SettingOwner::Chat { id: self.chat.clone() }
    }

    async fn put(&self, owner: SettingOwner, key: &str, value: SettingValue) {
        self.app.engine.set_setting(owner, key.into(), Some(value)).await.unwrap();
    }

    async fn write(&self, key: &str, text: &str) {
        self.put(self.owner(), key, SettingValue::Text(text.into())).await;
    }

    async fn switch(&self, key: &str, on: bool) {
        self.put(self.owner(), key, SettingValue::Switch(on)).await;
    }

    async fn text_of(&self, key: &str) -> String {
        let all = self.app.engine.layered_settings(self.owner()).await.unwrap();
        let found = all.settings.into_iter().find(|setting| setting.key == key).unwrap();
        match found.value {
            SettingValue::Text(text) => text,
            other => panic!("{key} is {other:?}"),
        }
    }

    /// Says something and gives what was sent: the messages, with their roles.
    async fn say(&self, text: &str, reply: &str) -> Vec<(PromptRole, String)> {
        self.app.model.reply(reply);
        let (_, reason) = self.app.say(&self.chat, text).await;
        assert_eq!(reason, EndReason::Stop);
        self.sent()
    }

    fn sent(&self) -> Vec<(PromptRole, String)> {
        let prompt = self.app.model.last_request().expect("a request").prompt;
        prompt.messages.into_iter().map(|message| (message.role, message.text)).collect()
    }

    /// The head of what is sent next.
    async fn head(&self, text: &str) -> String {
        self.say(text, "Hm.").await.remove(0).1
    }

    async fn messages(&self) -> Vec<Message> {
        self.whole().await.page.messages
    }

    async fn whole(&self) -> Chat {
        self.app.engine.whole_chat(self.chat.clone()).await.unwrap()
    }

    async fn regenerate(&self, reply: &str) {
        self.app.model.reply(reply);
        let mut events = self.app.engine.subscribe();
        self.app.engine.regenerate(self.chat.clone()).await.unwrap();
        ended(&mut events, &self.chat).await;
    }
}

fn whole(sent: &[(PromptRole, String)]) -> String {
    sent.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("\n---\n")
}

/// S4.11, S4.23: what is set is told, the scene before the setting, and neither where the chat leaves them out.
#[tokio::test]
async fn the_scene_is_told_unless_the_chat_leaves_it_out() {
    let story = Story::open().await;
    assert!(!story.head("Hello.").await.contains("Scene:"));
    story.write("setting", "a harbour town").await;
    assert!(story.head("Hello.").await.contains("Setting: a harbour town"));
    story.write("scene", "{{user}} waits on the pier.").await;
    let head = story.head("Hello.").await;
    assert!(head.contains("Scene: Traveller waits on the pier.") && !head.contains("a harbour town"), "{head}");
    story.switch("include_scene", false).await;
    assert!(!story.head("Hello.").await.contains("pier"));
}

/// S4.23: `random` draws once for each chat; what was drawn is stored and stays.
#[tokio::test]
async fn a_random_setting_is_drawn_once_for_each_chat() {
    let mut story = Story::open().await;
    story.put(SettingOwner::Global, "setting", SettingValue::Text("random".into())).await;
    let preview =
        story.app.engine.preview_prompt(story.chat.clone(), "Where are we?".into(), WhatIf::default()).await.unwrap();
    assert_eq!(story.text_of("setting").await, "random", "a preview keeps nothing");
    let head = story.head("Where are we?").await;
    assert_eq!(head, preview.messages[0].text);
    let drawn = story.text_of("setting").await;
    assert!(drawn != "random" && head.contains(&format!("Setting: {drawn}")), "{head}");
    story = story.restart().await;
    assert_eq!(story.head("And now?").await, head);

    story.write("setting", "random").await;
    let again = story.text_of("setting").await;
    assert!(again != "random" && story.head("Elsewhere?").await.contains(&again));
}

/// S4.2, S4.77: two flows beside the system text, in front of the chat, and only where they are asked for.
#[tokio::test]
async fn introductions_stand_before_the_chat() {
    let story = Story::open().await;
    let roles = |sent: &[(PromptRole, String)]| sent.iter().map(|(role, _)| *role).take(4).collect::<Vec<_>>();
    let without = story.say("Hello.", "Hm.").await;
    assert_eq!(roles(&without), [PromptRole::System, PromptRole::Character, PromptRole::User]);
    story.switch("introductions", true).await;
    let with = story.say("Hello again.", "Hm.").await;
    assert_eq!(
        roles(&with),
        [PromptRole::System, PromptRole::User, PromptRole::Character, PromptRole::Character],
        "{with:?}"
    );
    assert!(with[1].1.starts_with("I am Traveller.") && with[2].1.starts_with("I am Mira."), "{with:?}");
    assert!(story.messages().await.iter().all(|message| !message.swipes[0].text.starts_with("I am")));
}

const PLAN: &str = "The storm: clouds; rain\nThe calm: repairs\n";

/// S4.22: a mark in a reply ends an episode: it is hidden, the next one is told of, and so until the plan is over.
#[tokio::test]
async fn a_reply_that_ends_an_episode_begins_the_next() {
    let story = Story::open().await;
    story.write("episodes", PLAN).await;
    let head = story.head("We sail.").await;
    assert!(head.contains("Episode: The storm\nStages: clouds; rain") && head.contains("#NEXT EPISODE#"), "{head}");

    story.say("Land!", "The sky clears.\n\n#NEXT EPISODE#").await;
    let reply = story.messages().await.pop().unwrap();
    let display = reply.swipes[0].display.clone().unwrap();
    assert!(display.ends_episode && display.text == "The sky clears.", "{display:?}");
    let sent = story.say("What is broken?", "The mast.").await;
    assert!(sent[0].1.contains("Episode: The calm\nStages: repairs\nBefore: The storm"), "{}", sent[0].1);
    assert!(!whole(&sent[1..]).contains("#NEXT"), "the mark is not sent again: {sent:?}");

    story.say("Done.", "Home at last. #next episode#").await;
    let head = story.head("And now?").await;
    assert!(!head.contains("Episode:") && !head.contains("#NEXT"), "the plan is over: {head}");
}

/// The transcript tells which episode is on: what is taken back is taken back whole.
#[tokio::test]
async fn an_episode_that_is_taken_back_is_on_again() {
    let story = Story::open().await;
    story.write("episodes", PLAN).await;
    story.say("Land!", "<think>Shall I write #NEXT EPISODE#?</think>Not yet.").await;
    assert!(story.head("Now?").await.contains("Episode: The storm"));
    story.say("Land!", "The sky clears. #NEXT EPISODE#").await;
    story.regenerate("It rains on.").await;
    assert!(story.head("Still?").await.contains("Episode: The storm"));
    story.say("Land!", "The sky clears. #NEXT EPISODE#").await;
    assert!(story.head("Now?").await.contains("Episode: The calm"));
    let ending = story.messages().await.into_iter().find(|message| {
        message
            .swipes
            .iter()
            .any(|one| one.display.as_ref().is_some_and(|shown| shown.ends_episode) && message.selected == 0)
    });
    story.app.engine.delete_message(ending.unwrap().id).await.unwrap();
    assert!(story.head("Was it so?").await.contains("Episode: The storm"));
    story.put(story.owner(), "episode", SettingValue::Whole(2)).await;
    assert!(story.head("Go on.").await.contains("Episode: The calm"), "the user has the last word");
}

/// S4.25, S4.26: a goal is a rule and a reminder, a rating is a line; unset, neither leaves a trace, and words stay as they are.
#[tokio::test]
async fn goal_and_rating_are_told_and_change_nobodys_words() {
    let story = Story::open().await;
    let without = whole(&story.say("Damn this rain.", "Hm.").await);
    assert!(!without.contains("steer") && !without.contains("Content rating"), "{without}");
    story.write("session_goal", "light the lamp").await;
    story.put(story.owner(), "remind_every_messages", SettingValue::Whole(1)).await;
    for (rating, line) in
        [("everyone", "Content rating: E (G), for everyone."), ("adult", "Content rating: AO (NC-17)")]
    {
        story.write("content_rating", rating).await;
        let sent = story.say("Damn this rain.", "Hm.").await;
        assert!(sent[0].1.contains("Gently steer the story towards this: light the lamp") && sent[0].1.contains(line));
        let (_, last) = sent.last().unwrap();
        assert!(last.contains("Keep in mind: light the lamp") && last.ends_with("Damn this rain."), "{last}");
    }
}

/// S4.34: every so many messages, never in the chat itself, and not at all where there is nothing to remind of.
#[tokio::test]
async fn a_reminder_comes_when_it_is_due() {
    let story = Story::open().await;
    story.write("context_retention", "ephemeral").await;
    story.write("reminder", "Stay in the tower.").await;
    let mut due = Vec::new();
    for turn in 0..6 {
        // The greeting is the first message: the words of this turn are number 2, 4, 6 ...
        let sent = story.say("Go on.", "Hm.").await;
        let reminded = sent.iter().filter(|(_, text)| text.contains("Stay in the tower.")).count();
        assert!(reminded <= 1, "gone from the turn after: {sent:?}");
        if reminded == 1 {
            due.push(2 * turn + 2);
        }
    }
    assert_eq!(due, [6, 12]);
    assert!(story.messages().await.iter().all(|message| !message.swipes[0].text.contains("tower.")));
    story.write("reminder", "").await;
    story.put(story.owner(), "remind_every_messages", SettingValue::Whole(1)).await;
    let sent = story.say("Go on.", "Hm.").await;
    assert!(!whole(&sent).contains("Reminder"), "{sent:?}");
}

/// However the messages are numbered: without a greeting the user's have the odd numbers, and six is never one of them.
#[tokio::test]
async fn a_reminder_comes_in_a_chat_that_began_without_a_greeting() {
    let mut story = Story::open().await;
    story.put(SettingOwner::Global, "start_mode", SettingValue::Text("empty".into())).await;
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
    assert_eq!(due, [7, 13], "the first after six messages, and after twelve");
}

/// The author's note counts the user's messages from the chat's first on, wherever the window begins.
#[tokio::test]
async fn the_authors_note_comes_as_often_as_it_should() {
    let story = Story::open().await;
    story.write("context_retention", "ephemeral").await;
    story.write("author_note", "It is foggy.").await;
    story.put(story.owner(), "author_note_every_messages", SettingValue::Whole(7)).await;
    story.put(story.owner(), "message_ceiling", SettingValue::Whole(10)).await;
    let mut due = Vec::new();
    for turn in 1..=14 {
        if whole(&story.say("Go on.", "Hm.").await).contains("It is foggy.") {
            due.push(turn);
        }
    }
    assert_eq!(due, [7, 14]);
}

/// S4.24: where the card has no greeting, the character can be asked to open, and that reply can be written anew.
#[tokio::test]
async fn a_character_without_a_greeting_opens_when_asked() {
    let mut story = Story::open().await;
    let card = json!({ "spec": "chara_card_v2", "spec_version": "2.0", "data": {
        "name": "Ada", "description": "A keeper of lamps.", "personality": "", "scenario": "", "first_mes": "",
        "mes_example": "", "creator_notes": "", "system_prompt": "", "post_history_instructions": "",
        "alternate_greetings": [], "tags": [], "creator": "", "character_version": "", "extensions": {} } });
    let report = story.app.engine.import_bytes("ada.json".into(), card.to_string().into_bytes()).await.unwrap();
    let chat = story.app.engine.new_chat(report.imported[0].id.clone()).await.unwrap();
    assert!(chat.page.messages.is_empty());
    story.chat = chat.id;
    story.regenerate("The lamp is lit.").await;
    assert_eq!(story.app.transcript(&story.chat).await, ["Ada: The lamp is lit."]);
    assert_eq!(story.sent().len(), 1);
    story.regenerate("Who goes there?").await;
    assert_eq!(story.messages().await[0].swipes.len(), 2);
    story.say("A friend.", "Come up.").await;
    assert_eq!(story.app.transcript(&story.chat).await[1..], ["Traveller: A friend.", "Ada: Come up."]);
}

/// S4.1, S4.17, S4.28: what is known of the two is told where a template asks for it; what is not leaves no trace.
#[tokio::test]
async fn details_are_told_where_a_template_asks_for_them() {
    let story = Story::open().await;
    story.switch("introductions", true).await;
    let without = whole(&story.say("Hello.", "Hm.").await);
    for trace in ["Ages:", "As a couple:", "Who leads:", "()", "years old"] {
        assert!(!without.contains(trace), "{trace:?} was sent:\n{without}");
    }
    story.write("details", "character.age: 40\nprofile.leader: Mira\nperson.age: 3").await;
    let with = story.say("And now?", "Hm.").await;
    assert!(with[0].1.contains("Who leads: Mira") && with[2].1.starts_with("I am Mira (40 years old)."), "{with:?}");
    let chat = story.whole().await;
    let swipe = chat.page.messages.last().unwrap().swipes[0].id.clone();
    let notices = story.app.engine.manifest(swipe).await.unwrap().notices;
    assert!(notices.iter().any(|notice| notice == "The details name what there is not: person.age"), "{notices:?}");

    story.write("template", "director").await;
    story.write("details", "command: a calm evening\nimageTags: smile, sea").await;
    let head = story.head("What next?").await;
    assert!(head.contains("a calm evening") && head.contains("by these tags: smile, sea"), "{head}");
}
