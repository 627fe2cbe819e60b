//! Parts of chats: branching, splitting and joining them, and the earlier texts of their messages.

use domain::ChatId;
use engine::api::{
    ApiError, Change, Chat, GroupOptions, Message, Rating, SettingOwner, SettingValue, TurnOrder,
};
use tests::headless::{Headless, ended, selected_text};

struct Branching {
    app: Headless,
    chat: ChatId,
}

impl Branching {
    async fn open() -> Self {
        let app = Headless::new().await;
        let chat = app.first_chat().await.id;
        Self { app, chat }
    }

    /// A chat with a greeting and so many exchanges.
    async fn talk(exchanges: usize) -> Self {
        let branching = Self::open().await;
        for number in 1..=exchanges {
            branching
                .say(&format!("Question {number}"), &format!("Answer {number}"))
                .await;
        }
        branching
    }

    async fn say(&self, text: &str, reply: &str) -> Message {
        self.app.model.reply(reply);
        self.app.send(self.chat, text).await.0.unwrap()
    }

    async fn regenerate(&self, reply: &str) -> Message {
        self.app.model.reply(reply);
        let mut events = self.app.engine.subscribe();
        self.app.engine.regenerate(self.chat).await.unwrap();
        ended(&mut events, self.chat).await.0.unwrap()
    }

    async fn messages(&self, chat: ChatId) -> Vec<Message> {
        self.app
            .engine
            .whole_chat(chat)
            .await
            .unwrap()
            .page
            .messages
    }

    async fn texts(&self, chat: ChatId) -> Vec<String> {
        self.messages(chat)
            .await
            .iter()
            .map(|message| selected_text(message).to_owned())
            .collect()
    }

    async fn branch_at_end(&self) -> Chat {
        let last = self.messages(self.chat).await.pop().unwrap();
        self.app
            .engine
            .branch_chat(last.id, None, None)
            .await
            .unwrap()
    }

    async fn split_at(&self, index: usize) -> engine::api::SplitChat {
        let message = self.messages(self.chat).await.swap_remove(index).id;
        self.app.engine.split_chat(message).await.unwrap()
    }

    async fn join(&self, other: ChatId) -> Result<engine::api::JoinedChat, ApiError> {
        self.app.engine.join_chats(self.chat, other).await
    }

    /// The text of a setting in a chat.
    async fn note(&self, chat: ChatId) -> SettingValue {
        let all = self
            .app
            .engine
            .layered_settings(SettingOwner::Chat { id: chat })
            .await
            .unwrap();
        all.settings
            .into_iter()
            .find(|setting| setting.key == "author_note")
            .unwrap()
            .value
    }
}

#[tokio::test]
async fn branch_copies_everything_but_prompts_and_draft() {
    let world = Branching::talk(1).await;
    let engine = &world.app.engine;
    let reply = world.regenerate("<emotion=joy>Another answer").await;
    let [greeting, question, ..] = &world.messages(world.chat).await[..] else {
        panic!("too short")
    };
    engine
        .edit_message(question.id, "A better question".into())
        .await
        .unwrap();
    engine.hide_message(greeting.id, true).await.unwrap();
    engine.pin_message(question.id, true).await.unwrap();
    engine
        .set_checkpoint(question.id, Some("The door".into()))
        .await
        .unwrap();
    engine
        .rate_swipe(reply.swipes[1].id, Some(Rating::Up))
        .await
        .unwrap();
    engine
        .save_draft(world.chat, "Not sent".into())
        .await
        .unwrap();
    let (owner, note) = (
        SettingOwner::Chat { id: world.chat },
        SettingValue::Text("Be kind.".into()),
    );
    engine
        .set_setting(owner, "author_note".into(), Some(note.clone()))
        .await
        .unwrap();

    let branch = world.branch_at_end().await;
    let (own, copied) = (
        world.messages(world.chat).await,
        world.messages(branch.id).await,
    );
    assert_eq!(own.len(), copied.len());
    for (own, copy) in own.iter().zip(&copied) {
        assert_ne!(own.id, copy.id);
        let texts = |message: &Message| {
            message
                .swipes
                .iter()
                .map(|swipe| swipe.text.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!((texts(own), own.selected), (texts(copy), copy.selected));
        assert_eq!(
            (own.hidden, own.pinned, &own.created),
            (copy.hidden, copy.pinned, &copy.created)
        );
        let emotions = |message: &Message| {
            message
                .swipes
                .iter()
                .map(|swipe| swipe.emotion.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(emotions(own), emotions(copy));
    }
    assert!(
        copied[2].swipes[1]
            .emotion
            .as_ref()
            .is_some_and(|emotion| emotion.label == "joy")
    );
    let marks = engine.chat_marks(branch.id).await.unwrap();
    assert_eq!(
        (marks.checkpoints.len(), marks.checkpoints[0].name.as_str()),
        (1, "The door")
    );
    assert_eq!(marks.edited, [copied[1].id]);
    assert_eq!(
        (marks.ratings.len(), &marks.ratings[0].swipe),
        (1, &copied[2].swipes[1].id)
    );
    assert_eq!(
        engine.revisions(copied[1].id).await.unwrap()[0].text,
        "Question 1"
    );
    assert_eq!(world.note(branch.id).await, note);
    assert_eq!(
        marks.origin.map(|origin| (origin.chat, origin.number)),
        Some((world.chat, 3))
    );

    assert_eq!(branch.draft, "", "a draft stays in its chat");
    let manifest = engine.manifest(copied[2].swipes[1].id).await;
    assert!(
        matches!(manifest, Err(ApiError::NotFound { .. })),
        "the prompt was sent by the other chat"
    );
}

#[tokio::test]
async fn branch_shows_the_chosen_version() {
    let world = Branching::talk(1).await;
    let reply = world.regenerate("Another answer").await;
    let branch = world
        .app
        .engine
        .branch_chat(reply.id, Some(0), Some("First".into()))
        .await
        .unwrap();
    assert_eq!(
        (
            branch.title.as_str(),
            world.texts(branch.id).await[2].as_str()
        ),
        ("First", "Answer 1")
    );
    let none = world.app.engine.branch_chat(reply.id, Some(2), None).await;
    assert!(matches!(none, Err(ApiError::BadInput { .. })));
}

#[tokio::test]
async fn branch_copies_group_and_presence() {
    let app = Headless::new().await;
    let ids = [
        app.character("Mira").await,
        app.character("Ada").await,
        app.character("Bo").await,
    ];
    let chat = app
        .engine
        .new_group("The table".into(), ids.to_vec())
        .await
        .unwrap()
        .id;
    let world = Branching { app, chat };
    let engine = &world.app.engine;
    let options = GroupOptions {
        order: TurnOrder::Pooled,
        self_responses: false,
        auto_delay: 7,
        several_replies: false,
    };
    engine.set_group(world.chat, options).await.unwrap();
    world.say("Good evening.", "Hm.").await;
    engine
        .set_member(world.chat, ids[1], false, true)
        .await
        .unwrap();
    engine
        .set_member(world.chat, ids[2], true, false)
        .await
        .unwrap();
    world.say("A secret.", "I see.").await;
    let branch = world.branch_at_end().await;
    let own = engine.open_chat(world.chat).await.unwrap();
    assert!(
        own.group
            .as_ref()
            .unwrap()
            .members
            .iter()
            .any(|member| member.away && member.missed == 2),
        "{:?}",
        own.group
    );
    assert_eq!((own.group, own.members), (branch.group, branch.members));
    let speakers = |messages: Vec<Message>| {
        messages
            .into_iter()
            .map(|message| message.name)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        speakers(world.messages(world.chat).await),
        speakers(world.messages(branch.id).await)
    );
}

#[tokio::test]
async fn split_moves_the_end_and_can_be_undone() {
    let world = Branching::talk(2).await;
    let whole = world.texts(world.chat).await;
    let split = world.split_at(3).await;
    assert_eq!(world.texts(world.chat).await, whole[..3]);
    assert_eq!(world.texts(split.chat.id).await, whole[3..]);
    assert_eq!(
        (split.moved.len(), split.chat.character_name.as_str()),
        (2, "Mira")
    );
    world.app.engine.delete_chat(split.chat.id).await.unwrap();
    world
        .app
        .engine
        .restore_messages(split.moved)
        .await
        .unwrap();
    assert_eq!(world.texts(world.chat).await, whole);
}

#[tokio::test]
async fn split_then_join_gives_the_same_texts() {
    let world = Branching::talk(2).await;
    world.regenerate("Another answer").await;
    let whole = world.texts(world.chat).await;
    for at in 1..whole.len() {
        let split = world.split_at(at).await;
        let joined = world.join(split.chat.id).await.unwrap();
        assert_eq!(
            world.texts(world.chat).await,
            whole,
            "split before message {at}"
        );
        assert_eq!(
            (joined.added.len(), joined.joined),
            (whole.len() - at, split.chat.id)
        );
        let last = world.messages(world.chat).await.pop().unwrap();
        assert_eq!(last.swipes.len(), 2, "all versions are joined");
        let listed = world.app.engine.list_chats().await.unwrap();
        assert!(
            listed.iter().all(|chat| chat.id != split.chat.id),
            "the other chat is in the trash"
        );
    }
    let reply = world.say("And then?", "The lamp goes out.").await;
    assert_eq!(selected_text(&reply), "The lamp goes out.");
    let prompt = world.app.model.last_request().unwrap().prompt;
    assert!(
        prompt
            .messages
            .iter()
            .any(|message| message.text.contains("Another answer")),
        "joined messages are sent"
    );
}

#[tokio::test]
async fn join_can_be_undone() {
    let world = Branching::talk(1).await;
    let character = world
        .app
        .engine
        .open_chat(world.chat)
        .await
        .unwrap()
        .character;
    let other = world.app.engine.new_chat(character).await.unwrap().id;
    let (own, others) = (world.texts(world.chat).await, world.texts(other).await);
    let joined = world.join(other).await.unwrap();
    assert_eq!(
        world.texts(world.chat).await.len(),
        own.len() + others.len()
    );
    world.app.engine.delete_from(joined.added[0]).await.unwrap();
    world.app.engine.restore_chat(joined.joined).await.unwrap();
    assert_eq!(
        (world.texts(world.chat).await, world.texts(other).await),
        (own, others)
    );
}

#[tokio::test]
async fn join_refuses_chats_that_do_not_fit() {
    let world = Branching::talk(1).await;
    let stranger = world.app.character("Bo").await;
    let foreign = world.app.engine.new_chat(stranger).await.unwrap().id;
    let before = world.texts(world.chat).await;
    for other in [world.chat, foreign] {
        assert!(
            matches!(world.join(other).await, Err(ApiError::BadInput { .. })),
            "{other}"
        );
    }
    let missing = world.join(ChatId(uuid::Uuid::nil())).await;
    assert!(matches!(missing, Err(ApiError::NotFound { .. })));
    assert_eq!(world.texts(world.chat).await, before);
}

#[tokio::test]
async fn earlier_texts_show_what_changed() {
    let world = Branching::talk(1).await;
    let engine = &world.app.engine;
    let question = world.messages(world.chat).await[1].id;
    for text in ["Question 2", "A question 2"] {
        engine.edit_message(question, text.into()).await.unwrap();
    }
    let parts = engine.revision_changes(question, 1).await.unwrap();
    let changed = |change| {
        parts
            .iter()
            .filter(|part| part.change == change)
            .map(|part| part.text.clone())
            .collect()
    };
    let (removed, added): (String, String) = (changed(Change::Removed), changed(Change::Added));
    assert_eq!((removed.as_str(), added.as_str()), ("1", "2"));
    let missing = engine.revision_changes(question, 2).await;
    assert!(matches!(missing, Err(ApiError::NotFound { .. })));
}
