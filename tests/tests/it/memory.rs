//! Memory in requests: remembered facts are in the bytes of later prompts, and forgotten ones in
//! none.

use domain::{CharacterId, ChatId};
use engine::api::{
    ApiError, DocumentOwner, Event, Memory, MemoryDraft, MemoryScope, Recollection, SettingOwner,
    SettingValue, SignalKind, WhatIf,
};
use serde_json::{Value, json};
use tests::headless::{Headless, fact, selected_text};

const TOLD: &str = "Remember that I am allergic to nuts.";
const CANARY: &str = "allergic to nuts";

struct Pair {
    app: Headless,
    ada: CharacterId,
    bo: CharacterId,
}

impl Pair {
    async fn open() -> Self {
        let app = Headless::new().await;
        let (ada, bo) = (card(&app, "Ada").await, card(&app, "Bo").await);
        Self { app, ada, bo }
    }

    async fn chat(&self, character: CharacterId) -> ChatId {
        self.app.engine.new_chat(character).await.unwrap().id
    }

    /// Sends `text` and returns all that the provider received.
    async fn say(&self, chat: ChatId, text: &str) -> String {
        self.app.model.reply("Hm.");
        self.app.send(chat, text).await;
        let prompt = self.app.model.last_request().expect("a request").prompt;
        prompt
            .messages
            .iter()
            .map(|message| message.text.as_str())
            .collect::<Vec<_>>()
            .join("\n---\n")
    }

    async fn memories(&self, of: CharacterId) -> Vec<Memory> {
        self.app
            .engine
            .list_memories(of, String::new())
            .await
            .unwrap()
    }

    async fn set(&self, chat: ChatId, key: &str, value: SettingValue) {
        let owner = SettingOwner::Chat { id: chat };
        self.app
            .engine
            .set_setting(owner, key.into(), Some(value))
            .await
            .unwrap();
    }

    async fn add(&self, text: &str) -> Memory {
        let draft = fact(self.ada, text, 5);
        self.app.engine.save_memory(draft).await.unwrap()
    }

    /// The notices of the turn that wrote the chat's last message.
    async fn notices(&self, chat: ChatId) -> Vec<String> {
        let chat = self.app.engine.whole_chat(chat).await.unwrap();
        let reply = chat.page.messages.last().unwrap();
        let swipe = reply.swipes[reply.selected as usize].id;
        self.app.engine.manifest(swipe).await.unwrap().notices
    }
}

async fn card(app: &Headless, name: &str) -> CharacterId {
    let card = json!({ "spec": "chara_card_v3", "spec_version": "3.0", "data": {
        "name": name, "description": "Keeps a lighthouse.", "personality": "", "scenario": "", "first_mes": "Evening.",
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

/// The pair's next chat gets the fact, and no other pair's chat does.
#[tokio::test]
async fn pairs_next_chat_gets_the_fact() {
    let pair = Pair::open().await;
    let first = pair.chat(pair.ada).await;
    let mut events = pair.app.engine.subscribe();
    pair.say(first, TOLD).await;
    let remembered = async {
        loop {
            if let Event::Remembered { chat, memory } = events.next().await.unwrap() {
                return (chat, memory);
            }
        }
    };
    let (chat, memory) = remembered.await;
    assert_eq!(
        (chat, memory.sources.len(), memory.scope),
        (first, 1, MemoryScope::Pair)
    );
    assert!(memory.text.contains(CANARY), "{}", memory.text);

    let second = pair.chat(pair.ada).await;
    let sent = pair.say(second, "What should I order?").await;
    assert_eq!(sent.matches(CANARY).count(), 1, "{sent}");
    let other = pair.chat(pair.bo).await;
    let sent = pair
        .say(other, "Am I allergic to nuts, or to something else? Nuts!")
        .await;
    assert_eq!(
        sent.matches(CANARY).count(),
        1,
        "only the question itself:\n{sent}"
    );
    assert!(pair.memories(pair.bo).await.is_empty());
}

/// A template may define the heading of memories.
#[tokio::test]
async fn template_heading_precedes_memories() {
    let pair = Pair::open().await;
    pair.add("The sailor lives by the sea.").await;
    let chat = pair.chat(pair.ada).await;
    let with = async |section: Value| {
        let template = json!({ "schema": "inglenook.promptTemplate", "version": 2, "id": "own", "name": "Own",
            "extends": "base-roleplay", "sections": [section] });
        let what_if = WhatIf {
            template_json: Some(template.to_string()),
            ..WhatIf::default()
        };
        pair.app
            .engine
            .preview_prompt(chat, "Where do I live?".into(), what_if)
            .await
            .unwrap()
            .text
    };
    let prompt = with(json!({ "name": "memory", "heading": "What {{char}} knows:" })).await;
    let line = "- 21 November 2026, 5/10: The sailor lives by the sea.";
    assert!(
        prompt.contains(&format!("What Ada knows:\nFacts:\n{line}")),
        "{prompt}"
    );
    let facts = json!({ "name": "memory", "override": true, "heading": "Known:", "lines": ["${memory.facts}"] });
    let prompt = with(facts).await;
    assert!(
        prompt.contains(&format!("Known:\n{line}")) && !prompt.contains("Facts:"),
        "{prompt}"
    );
}

/// While the source message is in the window, its memory is not sent.
#[tokio::test]
async fn memory_is_not_sent_with_its_source_message() {
    let pair = Pair::open().await;
    let chat = pair.chat(pair.ada).await;
    pair.say(chat, TOLD).await;
    let sent = pair
        .say(chat, "So which nuts may I eat, being allergic?")
        .await;
    assert_eq!(sent.matches(CANARY).count(), 1, "{sent}");
}

/// Forgotten, deleted or edited text is in no later prompt, and an undo restores it.
#[tokio::test]
async fn forgotten_text_is_in_no_later_prompt() {
    let pair = Pair::open().await;
    let (first, second) = (pair.chat(pair.ada).await, pair.chat(pair.ada).await);
    pair.say(first, TOLD).await;
    assert!(pair.say(second, "Dinner?").await.contains(CANARY));
    let engine = &pair.app.engine;
    let id = pair.memories(pair.ada).await[0].id;
    engine.delete_memory(id).await.unwrap();
    assert!(
        !pair
            .say(second, "And now, any nuts?")
            .await
            .contains(CANARY)
    );
    engine.restore_memory(id).await.unwrap();
    assert!(pair.say(second, "Nuts again?").await.contains(CANARY));

    let told = engine.whole_chat(first).await.unwrap().page.messages;
    let told = told
        .iter()
        .find(|message| selected_text(message) == TOLD)
        .unwrap()
        .id;
    engine.delete_message(told).await.unwrap();
    assert!(
        !pair
            .say(second, "Are there nuts in it?")
            .await
            .contains(CANARY)
    );
    engine.restore_message(told).await.unwrap();
    assert!(pair.say(second, "Nuts, once more?").await.contains(CANARY));
    engine
        .edit_message(told, "I like tea.".into())
        .await
        .unwrap();
    assert!(
        !pair
            .say(second, "Nuts, for the last time?")
            .await
            .contains(CANARY)
    );
    assert!(pair.memories(pair.ada).await.is_empty());
}

/// Forgetting works without a model and removes only the intended memory.
#[tokio::test]
async fn forget_command_removes_the_memory() {
    let pair = Pair::open().await;
    pair.add("Likes green tea.").await;
    pair.add("Has a sister called Ida.").await;
    let chat = pair.chat(pair.ada).await;
    pair.say(chat, "Forget that I like coffee.").await;
    assert_eq!(pair.memories(pair.ada).await.len(), 2);
    pair.say(chat, "Please forget about my sister.").await;
    let left: Vec<_> = pair
        .memories(pair.ada)
        .await
        .into_iter()
        .map(|memory| memory.text)
        .collect();
    assert_eq!(left, ["Likes green tea."]);
}

/// Text that has left the window is recalled when the user asks about it.
#[tokio::test]
async fn old_message_is_recalled_by_a_question() {
    let pair = Pair::open().await;
    let chat = pair.chat(pair.ada).await;
    pair.set(chat, "context_limit", SettingValue::Whole(2_000))
        .await;
    pair.say(chat, "My uncle named his parrot ZEBULON.").await;
    let mut sent = String::new();
    for number in 0..99 {
        sent = pair
            .say(
                chat,
                &format!(
                    "Evening {number}: the sea was calm and the gulls were loud over the pier."
                ),
            )
            .await;
    }
    assert!(
        !sent.contains("ZEBULON"),
        "the message never left the window, so the test proves nothing"
    );
    let told = pair
        .say(
            chat,
            "My uncle would love the pier, and his parrot the gulls.",
        )
        .await;
    assert!(
        !told.contains("ZEBULON"),
        "recalled without a question:\n{told}"
    );
    let asked = pair.say(chat, "What did my uncle call his parrot?").await;
    assert_eq!(asked.matches("ZEBULON").count(), 1, "{asked}");
    assert!(
        asked.contains("21 November 2026: My uncle named"),
        "the excerpt needs its speaker and day:\n{asked}"
    );
    let again = pair
        .say(chat, "A parrot, of all birds, my uncle's parrot!")
        .await;
    assert_eq!(again.matches("ZEBULON").count(), 1, "{again}");
}

/// Other text in a message with a command is not lost.
#[tokio::test]
async fn recalls_other_text_of_a_command_message() {
    let pair = Pair::open().await;
    let chat = pair.chat(pair.ada).await;
    pair.say(
        chat,
        "Remember that I am allergic to nuts. My sister's dog is called ZEBULON.",
    )
    .await;
    pair.say(chat, "Remember that I live at St. James Street 5.")
        .await;
    assert!(
        pair.memories(pair.ada)
            .await
            .iter()
            .any(|memory| memory.text.contains("St. James Street 5"))
    );
    pair.app.engine.new_scene(chat).await.unwrap();
    assert!(!pair.say(chat, "A new morning.").await.contains("ZEBULON"));
    assert!(
        pair.say(chat, "What is my sister's dog called?")
            .await
            .contains("ZEBULON")
    );
}

/// A chat that is limited to itself gets no memories of other chats, except those that the user
/// entered.
#[tokio::test]
async fn isolated_chat_gets_no_memories_of_others() {
    let pair = Pair::open().await;
    pair.add("The sailor lives by the sea.").await;
    let (first, second) = (pair.chat(pair.ada).await, pair.chat(pair.ada).await);
    pair.say(first, TOLD).await;
    pair.set(second, "memory_other_chats", SettingValue::Switch(false))
        .await;
    let sent = pair
        .say(second, "What must I not eat, am I allergic?")
        .await;
    assert!(
        !sent.contains(CANARY) && sent.contains("lives by the sea"),
        "{sent}"
    );
    pair.say(second, "Remember that my boat is called ZEBULON.")
        .await;
    pair.app.engine.new_scene(second).await.unwrap();
    assert!(
        pair.say(second, "What is my boat called?")
            .await
            .contains("ZEBULON"),
        "it uses its own messages"
    );
    assert!(
        pair.say(first, "What must I not eat, am I allergic?")
            .await
            .contains(CANARY)
    );
}

/// A correction within one message removes the old value, but not the rest of the message.
#[tokio::test]
async fn forget_command_keeps_the_rest_of_its_message() {
    let pair = Pair::open().await;
    let chat = pair.chat(pair.ada).await;
    pair.say(chat, "Remember that my dog is called Bruno.")
        .await;
    pair.say(
        chat,
        "Remember that my dog is called Rex. Forget what I said about my dog.",
    )
    .await;
    let memories = pair.memories(pair.ada).await;
    assert_eq!(memories.len(), 1, "{memories:?}");
    assert!(memories[0].text.contains("Rex"), "{memories:?}");
}

/// The command names the forgotten text, so the message is not recalled either, not even when its
/// other facts are restored.
#[tokio::test]
async fn forget_command_itself_is_not_recalled() {
    let pair = Pair::open().await;
    let bruno = pair.add("My dog is called Bruno.").await.id;
    let chat = pair.chat(pair.ada).await;
    let wish = "Forget that my dog is called Bruno. Remember that my dog is called Rex. Rex snores like a mill.";
    pair.say(chat, wish).await;
    let rex = pair.memories(pair.ada).await.remove(0);
    assert!(rex.text.contains("Rex"), "{rex:?}");
    let sent = async || {
        pair.say(pair.chat(pair.ada).await, "What did I say about my dog?")
            .await
    };
    pair.app.engine.delete_memory(rex.id).await.unwrap();
    pair.app.engine.restore_memory(rex.id).await.unwrap();
    let told = sent().await;
    assert!(told.contains("Rex") && !told.contains("Bruno"), "{told}");
    pair.app.engine.restore_memory(bruno).await.unwrap();
    pair.app.engine.delete_memory(bruno).await.unwrap();
    let told = sent().await;
    assert!(told.contains("Rex") && !told.contains("Bruno"), "{told}");
}

/// Messages of earlier scenes are recalled too.
#[tokio::test]
async fn earlier_scene_is_recalled_by_a_question() {
    let pair = Pair::open().await;
    let chat = pair.chat(pair.ada).await;
    pair.say(chat, "My uncle named his parrot ZEBULON.").await;
    pair.app.engine.new_scene(chat).await.unwrap();
    assert!(!pair.say(chat, "A new morning.").await.contains("ZEBULON"));
    assert!(
        pair.say(chat, "What was the parrot called?")
            .await
            .contains("ZEBULON")
    );
}

/// Chats of a pair share memories, unless the user disables it; chats of other pairs never do.
#[tokio::test]
async fn message_is_recalled_in_the_pairs_next_chat() {
    let pair = Pair::open().await;
    let (first, second, other) = (
        pair.chat(pair.ada).await,
        pair.chat(pair.ada).await,
        pair.chat(pair.bo).await,
    );
    pair.say(first, "My uncle named his parrot ZEBULON.").await;
    assert!(
        !pair
            .say(other, "What is my uncle's parrot called?")
            .await
            .contains("ZEBULON")
    );
    pair.set(second, "memory_other_chats", SettingValue::Switch(false))
        .await;
    assert!(
        !pair
            .say(second, "What is my uncle's parrot called?")
            .await
            .contains("ZEBULON")
    );
    pair.set(second, "memory_other_chats", SettingValue::Switch(true))
        .await;
    let sent = pair.say(second, "What did my uncle call his parrot?").await;
    assert_eq!(sent.matches("ZEBULON").count(), 1, "{sent}");
    let again = pair.say(second, "So what is the parrot's name?").await;
    assert_eq!(
        again.matches("ZEBULON").count(),
        1,
        "it is in the window already"
    );

    pair.app.engine.delete_chat(first).await.unwrap();
    let sent = pair
        .say(second, "Tell me once more: what is that parrot called?")
        .await;
    assert!(!sent.contains("ZEBULON"), "{sent}");
}

/// Memory off applies to recall and learning.
#[tokio::test]
async fn memory_off_disables_recall_and_learning() {
    let pair = Pair::open().await;
    pair.add("The canary of the pair.").await;
    let chat = pair.chat(pair.ada).await;
    pair.set(chat, "memory", SettingValue::Switch(false)).await;
    assert!(
        !pair
            .say(chat, "Where is the canary?")
            .await
            .contains("canary of the pair")
    );
    pair.say(chat, TOLD).await;
    assert_eq!(pair.memories(pair.ada).await.len(), 1);
    pair.set(chat, "memory", SettingValue::Switch(true)).await;
    assert!(
        pair.say(chat, "And the canary now?")
            .await
            .contains("canary of the pair")
    );
}

/// An unreadable memory is skipped, and the reply still comes. If memory is off, it is not read at
/// all.
#[tokio::test]
async fn unreadable_memory_does_not_stop_the_chat() {
    let Pair { app, ada, bo } = Pair::open().await;
    let app = app
        .restart_after(|dir| {
            let conn = tests::open_database(dir);
            conn.execute_batch("ALTER TABLE memory RENAME COLUMN importance TO broken")
                .unwrap();
        })
        .await;
    let pair = Pair { app, ada, bo };
    let chat = pair.chat(pair.ada).await;
    assert!(
        pair.say(chat, "Hello there.")
            .await
            .contains("Hello there.")
    );
    assert_eq!(
        pair.notices(chat).await,
        ["Memories were not searched: reading them failed."]
    );
    pair.set(chat, "memory", SettingValue::Switch(false)).await;
    pair.say(chat, "And off?").await;
    assert!(pair.notices(chat).await.is_empty());
}

/// Each memory lists its source messages, in any chat.
#[tokio::test]
async fn memory_lists_its_existing_source_messages() {
    let pair = Pair::open().await;
    let chat = pair.chat(pair.ada).await;
    pair.app
        .engine
        .rename_chat(chat, "A first evening".into())
        .await
        .unwrap();
    pair.say(chat, TOLD).await;
    let memory = pair.memories(pair.ada).await.remove(0);
    let receipts = pair
        .app
        .engine
        .receipts(memory.sources.clone())
        .await
        .unwrap();
    let [receipt] = receipts.as_slice() else {
        panic!("not one receipt: {receipts:?}")
    };
    assert_eq!(
        (receipt.chat, receipt.title.as_str(), receipt.line.as_str()),
        (chat, "A first evening", TOLD)
    );
    assert_eq!(
        (&receipt.message, receipt.name.is_empty()),
        (&memory.sources[0], false)
    );
    pair.app.engine.delete_chat(chat).await.unwrap();
    assert!(
        pair.app
            .engine
            .receipts(memory.sources)
            .await
            .unwrap()
            .is_empty()
    );
}

/// Importance decides the order of memories.
#[tokio::test]
async fn user_can_list_edit_and_pin_memories() {
    let pair = Pair::open().await;
    let tea = pair.add("Likes green tea.").await;
    pair.add("Has a sister called Ida.").await;
    let engine = &pair.app.engine;
    let found = engine
        .list_memories(pair.ada, "what tea does he like?".into())
        .await
        .unwrap();
    assert_eq!(
        (found.len(), found[0].id, found[0].score),
        (1, tea.id, Some(1.0))
    );
    assert!(engine.pin_memory(tea.id, true).await.unwrap().pinned);
    assert_eq!(pair.memories(pair.ada).await[0].id, tea.id);
    let draft = MemoryDraft {
        id: Some(tea.id),
        kind: "prophecy".into(),
        pinned: true,
        persona: tea.persona,
        ..fact(pair.ada, "  Likes black tea. ", 99)
    };
    let saved = engine.save_memory(draft.clone()).await.unwrap();
    assert_eq!(
        (saved.text.as_str(), saved.kind.as_str(), saved.importance),
        ("Likes black tea.", "note", 10)
    );
    let chat = pair.chat(pair.ada).await;
    assert!(pair.say(chat, "Hm?").await.contains("Likes black tea."));
    assert!(
        engine
            .save_memory(MemoryDraft {
                text: " ".into(),
                ..draft
            })
            .await
            .is_err()
    );
}

fn told(recollection: &Recollection) -> Vec<&str> {
    recollection
        .items
        .iter()
        .filter(|item| item.kept)
        .map(|item| item.id.as_str())
        .collect()
}

/// The recall test shows exactly what a turn would use, from every source, with reasons.
#[tokio::test]
async fn recall_test_matches_a_turn_and_gives_reasons() {
    let pair = Pair::open().await;
    let engine = &pair.app.engine;
    let parrot = pair.add("The sailor keeps a parrot in the galley.").await;
    let (first, second) = (pair.chat(pair.ada).await, pair.chat(pair.ada).await);
    pair.say(first, "My uncle named his parrot ZEBULON.").await;
    let seeds = b"A parrot lives on seeds.".to_vec();
    engine
        .attach_document_bytes(DocumentOwner::Chat { id: second }, "birds.md".into(), seeds)
        .await
        .unwrap();
    let words = "What did my uncle call his parrot?";
    let before = engine.whole_chat(second).await.unwrap().page.messages.len();
    let tried = engine.try_recall(second, words.into()).await.unwrap();

    let of = |kind: &str| {
        tried
            .items
            .iter()
            .find(|item| item.kind == kind)
            .unwrap_or_else(|| panic!("no {kind}: {tried:?}"))
    };
    let (fact, message, document) = (of("fact"), of("message"), of("document"));
    assert_eq!(
        (fact.id.as_str(), fact.importance),
        (parrot.id.to_string().as_str(), Some(5))
    );
    assert_eq!(
        (message.chat, message.created.is_some()),
        (Some(first), true)
    );
    assert!(
        message.text.contains("ZEBULON") && document.text.contains("seeds"),
        "{tried:?}"
    );
    let signals = |kinds: &[SignalKind], item: &engine::api::Recollected| {
        kinds.iter().all(|kind| {
            item.signals
                .iter()
                .any(|signal| signal.of == *kind && (0.0..=1.0).contains(&signal.value))
        })
    };
    assert!(
        signals(
            &[
                SignalKind::Words,
                SignalKind::Importance,
                SignalKind::Recency
            ],
            fact
        ),
        "{fact:?}"
    );
    assert!(
        signals(&[SignalKind::Words, SignalKind::Who], message)
            && signals(&[SignalKind::Words], document)
    );
    assert!(tried.tokens > 0 && tried.tokens <= tried.budget);
    assert_eq!(
        engine.whole_chat(second).await.unwrap().page.messages.len(),
        before,
        "nothing is stored"
    );

    let sent = pair.say(second, words).await;
    assert!(
        tried
            .items
            .iter()
            .filter(|item| item.kept)
            .all(|item| sent.contains(&item.text)),
        "{sent}\n{tried:?}"
    );
    let recalled = engine.recalled(second).await.unwrap();
    assert_eq!(
        told(&recalled),
        told(&tried),
        "the turn uses what the test showed"
    );
    assert!(signals(
        &[SignalKind::Words, SignalKind::Who],
        recalled
            .items
            .iter()
            .find(|item| item.kind == "message")
            .unwrap()
    ));
    assert!(matches!(
        engine.try_recall(second, "  ".into()).await,
        Err(ApiError::BadInput { .. })
    ));
    assert_eq!(
        engine.recalled(pair.chat(pair.bo).await).await.unwrap(),
        Recollection::default()
    );
}

/// The limit of recall is a number of tokens, not of items.
#[tokio::test]
async fn recall_is_limited_by_tokens_not_by_items() {
    let pair = Pair::open().await;
    for number in 0..500 {
        pair.add(&format!("The user paints lamp {number} red."))
            .await;
    }
    let chat = pair.chat(pair.ada).await;
    pair.set(chat, "context_limit", SettingValue::Whole(32_768))
        .await;
    pair.set(chat, "retrieval_cap", SettingValue::Whole(5_000))
        .await;
    let report = pair
        .app
        .engine
        .preview_prompt(chat, "Which lamps are red?".into(), WhatIf::default())
        .await
        .unwrap();
    let told: Vec<_> = report
        .blocks
        .iter()
        .filter(|block| block.kept && block.kind == "fact")
        .collect();
    assert!(told.len() > 15, "{} notes", told.len());
    let tokens: u32 = told.iter().map(|block| block.tokens).sum();
    assert!(tokens <= 5_000, "{tokens} tokens");
}
