//! Private characters: in no list, search and prompt of others until the passphrase is typed.

use domain::{CharacterId, ChatId};
use engine::api::{
    ApiError, Changed, EndReason, Event, MemoryDraft, MemoryFilter, MemoryScope, SecretText,
};
use provider::fake::{ReplyGate, ReplyScript};
use tests::headless::{Headless, ended, fact, first_token};

const PASSPHRASE: &str = "whale oil";
const TOLD: &str = "Remember that I am allergic to nuts.";
const CANARY: &str = "allergic to nuts";

fn secret(text: &str) -> SecretText {
    SecretText::new(text.to_owned())
}

/// An encrypted folder with Ada, who has a memory in the profile from her chat, and Bo.
struct House {
    app: Headless,
    ada: CharacterId,
    adas: ChatId,
    bos: ChatId,
}

impl House {
    async fn open() -> Self {
        let app = Headless::protected(PASSPHRASE).await;
        let (ada, bo) = (app.character("Ada").await, app.character("Bo").await);
        let chat = async |of: CharacterId| app.engine.new_chat(of).await.unwrap().id;
        let (adas, bos) = (chat(ada).await, chat(bo).await);
        let house = Self {
            app,
            ada,
            adas,
            bos,
        };
        house.say(adas, TOLD).await;
        house.share_memory().await;
        house
    }

    /// Lets the memory from Ada's chat apply to all characters. It keeps its source.
    async fn share_memory(&self) {
        let engine = &self.app.engine;
        let memories = engine.find_memories(self.ada, String::new(), MemoryFilter::default(), 1);
        let memory = memories.await.unwrap().memories.remove(0);
        let draft = MemoryDraft {
            id: Some(memory.id),
            scope: MemoryScope::Profile,
            ..fact(self.ada, &memory.text, 9)
        };
        engine.save_memory(draft).await.unwrap();
    }

    /// The prompt that the model received.
    async fn say(&self, chat: ChatId, text: &str) -> String {
        self.app.model.reply("Hm.");
        self.app.send(chat, text).await;
        let prompt = self.app.model.last_request().unwrap().prompt;
        let texts = prompt.messages.iter().map(|message| message.text.as_str());
        texts.collect::<Vec<_>>().join("\n")
    }

    async fn make_private(&self) {
        let made = self.app.engine.set_character_private(self.ada, true);
        made.await.unwrap();
    }

    async fn show(&self) {
        let shown = self.app.engine.show_private(secret(PASSPHRASE));
        shown.await.unwrap();
    }

    /// Whether Ada is in the list of characters, her chat in that of chats, and both are found.
    async fn traces(&self) -> [bool; 4] {
        let engine = &self.app.engine;
        let characters = engine.list_characters().await.unwrap();
        let chats = engine.list_chats().await.unwrap();
        let found = engine.find_characters("Ada".into()).await.unwrap();
        let results = engine.search("nuts".into(), None, false).await.unwrap();
        [
            characters.iter().any(|one| one.id == self.ada),
            chats.iter().any(|one| one.id == self.adas),
            found.contains(&self.ada),
            !results.messages.hits.is_empty() || !results.groups.is_empty(),
        ]
    }
}

fn is_not_found<T>(result: Result<T, ApiError>) -> bool {
    matches!(result, Err(ApiError::NotFound { .. }))
}

#[tokio::test]
async fn a_private_character_is_hidden_until_shown() {
    let house = House::open().await;
    assert_eq!(house.traces().await, [true; 4]);
    house.make_private().await;
    assert_eq!(house.traces().await, [false; 4]);
    house.show().await;
    assert_eq!(house.traces().await, [true; 4]);
    let list = house.app.engine.list_characters().await.unwrap();
    assert!(list.iter().all(|one| one.private == (one.id == house.ada)));
    house.app.engine.hide_private().await.unwrap();
    assert_eq!(house.traces().await, [false; 4]);
}

#[tokio::test]
async fn hidden_items_look_deleted() {
    let house = House::open().await;
    house.make_private().await;
    let engine = &house.app.engine;
    assert!(is_not_found(engine.get_character(house.ada).await));
    assert!(is_not_found(engine.open_chat(house.adas).await));
    assert!(is_not_found(engine.new_chat(house.ada).await));
    let sent = engine.send_message(house.adas, "Hello?".into()).await;
    assert!(is_not_found(sent));
    let revealed = engine.set_character_private(house.ada, false).await;
    assert!(is_not_found(revealed));
}

#[tokio::test]
async fn hidden_memories_leave_the_prompts_of_others() {
    let house = House::open().await;
    let question = "What am I allergic to?";
    assert!(house.say(house.bos, question).await.contains(CANARY));
    house.make_private().await;
    assert!(!house.say(house.bos, question).await.contains(CANARY));
    house.show().await;
    assert!(house.say(house.bos, question).await.contains(CANARY));
    house.app.engine.hide_private().await.unwrap();
    assert!(!house.say(house.bos, question).await.contains(CANARY));
}

#[tokio::test]
async fn a_restart_hides_and_cleans_prompts() {
    let mut house = House::open().await;
    house.show().await;
    house.make_private().await;
    let question = "What am I allergic to?";
    assert!(house.say(house.bos, question).await.contains(CANARY));
    house.app = house.app.restart().await;
    assert_eq!(house.traces().await, [false; 4]);
    assert!(!house.say(house.bos, question).await.contains(CANARY));
}

#[tokio::test]
async fn groups_with_a_private_member_are_hidden() {
    let house = House::open().await;
    let engine = &house.app.engine;
    engine
        .set_members(house.bos, vec![house.ada])
        .await
        .unwrap();
    house.make_private().await;
    assert!(is_not_found(engine.open_chat(house.bos).await));
    house.show().await;
    engine.open_chat(house.bos).await.unwrap();
}

#[tokio::test]
async fn a_running_reply_ends_before_its_chat_is_hidden() {
    let house = House::open().await;
    house.show().await;
    house.make_private().await;
    let gate = ReplyGate::new();
    house
        .app
        .model
        .play(ReplyScript::new().words("Once upon").gate(&gate));
    let engine = &house.app.engine;
    let mut events = engine.subscribe();
    engine
        .send_message(house.adas, "Tell me.".into())
        .await
        .unwrap();
    first_token(&mut events, house.adas).await;
    engine.hide_private().await.unwrap();
    let (_, reason) = ended(&mut events, house.adas).await;
    assert_eq!(reason, EndReason::Cancelled);
    house.show().await;
    let transcript = house.app.transcript(house.adas).await;
    assert!(
        transcript.last().unwrap().contains("Once"),
        "{transcript:?}"
    );
}

#[tokio::test]
async fn wrong_passphrases_show_nothing_and_then_wait() {
    let house = House::open().await;
    house.make_private().await;
    let engine = &house.app.engine;
    for _ in 0..5 {
        let wrong = engine.show_private(secret("sperm oil")).await.unwrap_err();
        assert!(!wrong.to_string().contains("seconds"), "{wrong}");
    }
    let early = engine.show_private(secret(PASSPHRASE)).await.unwrap_err();
    assert!(early.to_string().contains("seconds"), "{early}");
    assert!(!engine.private_characters().await.unwrap().shown);
}

#[tokio::test]
async fn pages_hear_when_characters_are_hidden() {
    let house = House::open().await;
    let mut events = house.app.engine.subscribe();
    house.make_private().await;
    loop {
        if let Event::Changed {
            what: Changed::PrivateCharacters,
            ..
        } = events.next().await.unwrap()
        {
            return;
        }
    }
}

#[tokio::test]
async fn a_plain_folder_has_no_private_characters() {
    let app = Headless::new().await;
    let ada = app.character("Ada").await;
    let refused = app.engine.set_character_private(ada, true).await;
    assert!(matches!(refused, Err(ApiError::BadInput { .. })));
    let state = app.engine.private_characters().await.unwrap();
    assert_eq!((state.available, state.shown), (false, true));
}

#[tokio::test]
async fn a_copy_of_a_private_character_is_private() {
    let house = House::open().await;
    house.show().await;
    house.make_private().await;
    let engine = &house.app.engine;
    let copy = engine.duplicate_character(house.ada).await.unwrap().id;
    engine.hide_private().await.unwrap();
    assert!(is_not_found(engine.get_character(copy).await));
}
