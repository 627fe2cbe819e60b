//! Operations of the memory panel: filter, merge, forget in bulk, export, import and statistics.

use domain::{CharacterId, ChatId};
use engine::api::{
    ApiError, MadeFrom, Memory, MemoryDraft, MemoryFilter, MemoryOwner, MemoryScope,
};
use serde_json::{Value, json};
use tests::headless::{Headless, fact};

const TOLD: &str = "Remember that I am allergic to nuts.";
const CANARY: &str = "allergic to nuts";

struct Panel {
    app: Headless,
    character: CharacterId,
    chat: ChatId,
}

impl Panel {
    async fn open() -> Self {
        let app = Headless::new().await;
        let first = app.first_chat().await;
        Self {
            app,
            character: first.character,
            chat: first.id,
        }
    }

    async fn add(&self, text: &str, scope: MemoryScope, importance: u32) -> Memory {
        let draft = MemoryDraft {
            scope,
            chat: Some(self.chat),
            ..fact(self.character, text, importance)
        };
        self.app.engine.save_memory(draft).await.unwrap()
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

    async fn found(&self, query: &str, filter: MemoryFilter) -> Vec<String> {
        let found = self
            .app
            .engine
            .find_memories(self.character, query.into(), filter, 1)
            .await
            .unwrap();
        found
            .memories
            .into_iter()
            .map(|memory| memory.text)
            .collect()
    }

    async fn all(&self) -> Vec<Memory> {
        self.app
            .engine
            .list_memories(self.character, String::new())
            .await
            .unwrap()
    }

    async fn texts(&self) -> Vec<String> {
        self.all()
            .await
            .into_iter()
            .map(|memory| memory.text)
            .collect()
    }
}

#[tokio::test]
async fn filters_memories_with_and_without_a_query() {
    let panel = Panel::open().await;
    panel.say(panel.chat, TOLD).await;
    panel
        .add("Eats nuts on Sundays, says Ida.", MemoryScope::Profile, 3)
        .await;
    let said = MemoryFilter {
        made: Some(MadeFrom::Words),
        ..MemoryFilter::default()
    };
    let everywhere = MemoryFilter {
        scope: Some(MemoryScope::Profile),
        ..MemoryFilter::default()
    };
    for query in ["", "nuts?"] {
        assert_eq!(
            panel.found(query, MemoryFilter::default()).await.len(),
            2,
            "{query}"
        );
        assert!(
            panel.found(query, said.clone()).await[0].contains(CANARY),
            "{query}"
        );
        assert_eq!(
            panel.found(query, everywhere.clone()).await,
            ["Eats nuts on Sundays, says Ida."],
            "{query}"
        );
        let rules = MemoryFilter {
            kind: Some("rule".into()),
            ..MemoryFilter::default()
        };
        assert!(panel.found(query, rules).await.is_empty(), "{query}");
    }
}

#[tokio::test]
async fn pages_report_that_more_follow() {
    let panel = Panel::open().await;
    for lamp in 0..51 {
        panel
            .add(
                &format!("Lamp {lamp} stands on the quay."),
                MemoryScope::Character,
                5,
            )
            .await;
    }
    let found = async |pages| {
        let filter = MemoryFilter::default();
        panel
            .app
            .engine
            .find_memories(panel.character, "lamp".into(), filter, pages)
            .await
            .unwrap()
    };
    let (first, both) = (found(1).await, found(2).await);
    assert_eq!((first.memories.len(), first.more), (50, true));
    assert_eq!((both.memories.len(), both.more), (51, false));
}

#[tokio::test]
async fn merge_combines_sources_and_can_be_undone() {
    let panel = Panel::open().await;
    let engine = &panel.app.engine;
    panel.say(panel.chat, TOLD).await;
    panel
        .say(panel.chat, "Remember that almonds make me sneeze.")
        .await;
    let [one, other] = <[Memory; 2]>::try_from(panel.all().await).unwrap();
    let text = "Allergic to nuts; almonds make them sneeze.";
    let merged = engine
        .merge_memories(one.id, other.id, format!(" {text} "))
        .await
        .unwrap();
    assert_eq!(merged.text, text);
    let mut sources = [one.sources.clone(), other.sources.clone()].concat();
    sources.sort();
    let mut united = merged.sources.clone();
    united.sort();
    assert_eq!(
        (united, merged.importance, merged.scope),
        (sources, one.importance, one.scope)
    );
    assert_eq!(panel.texts().await, [text]);
    let next = engine.new_chat(panel.character).await.unwrap().id;
    let sent = panel.say(next, "What should I order?").await;
    assert!(sent.contains(text) && !sent.contains(CANARY), "{sent}");

    engine
        .unmerge_memories(merged.id, vec![one.id, other.id])
        .await
        .unwrap();
    assert_eq!(panel.all().await.len(), 2);
    let sent = panel.say(next, "And now, which nuts?").await;
    assert!(sent.contains(CANARY) && !sent.contains(text), "{sent}");
    let same = engine.merge_memories(one.id, one.id, "x".into()).await;
    assert!(matches!(same, Err(ApiError::BadInput { .. })), "{same:?}");
    assert!(
        engine
            .merge_memories(one.id, other.id, "  ".into())
            .await
            .is_err()
    );
}

/// Memories that are forgotten together are in no later prompt, and can be restored.
#[tokio::test]
async fn bulk_forget_by_scope_can_be_undone() {
    let panel = Panel::open().await;
    let engine = &panel.app.engine;
    panel.say(panel.chat, TOLD).await;
    panel.add("Mira hums.", MemoryScope::Character, 5).await;
    panel
        .add("The user owns a boat.", MemoryScope::Profile, 5)
        .await;
    panel.add("Tonight it rains.", MemoryScope::Chat, 5).await;
    let persona = panel
        .all()
        .await
        .iter()
        .find(|memory| memory.text.contains(CANARY))
        .unwrap()
        .persona;
    let character = panel.character;
    let owners = [
        (MemoryOwner::Pair { character, persona }, 3),
        (MemoryOwner::Character { character }, 1),
        (MemoryOwner::Everybody, 0),
    ];
    for (owner, left) in owners {
        let forgotten = engine.forget_memories(owner.clone()).await.unwrap();
        assert_eq!(
            (forgotten.len(), panel.all().await.len()),
            (4 - left, left),
            "{owner:?}"
        );
        let next = engine.new_chat(panel.character).await.unwrap().id;
        assert!(
            !panel
                .say(next, "Which nuts may I eat, being allergic?")
                .await
                .contains(CANARY),
            "{owner:?}"
        );
        engine.restore_memories(forgotten).await.unwrap();
        assert_eq!(panel.all().await.len(), 4, "{owner:?}");
        engine.delete_chat(next).await.unwrap();
    }
}

#[tokio::test]
async fn exported_memories_are_imported_once() {
    let panel = Panel::open().await;
    panel.say(panel.chat, TOLD).await;
    panel.add("Likes green tea.", MemoryScope::Pair, 9).await;
    panel.add("Tonight it rains.", MemoryScope::Chat, 2).await;
    let exported = panel
        .app
        .engine
        .export_memories(panel.character)
        .await
        .unwrap();
    let json = String::from_utf8(exported.bytes).unwrap();
    assert!(
        exported.file_name.ends_with("memories.json"),
        "{}",
        exported.file_name
    );
    let again = panel
        .app
        .engine
        .import_memories(panel.character, json.clone())
        .await
        .unwrap();
    assert_eq!((again.added, again.known, again.refused.len()), (0, 3, 0));

    let other = Panel::open().await;
    let taken = other
        .app
        .engine
        .import_memories(other.character, json.clone())
        .await
        .unwrap();
    assert_eq!((taken.added, taken.known, taken.refused.len()), (3, 0, 0));
    let all = other.all().await;
    assert_eq!(
        (all[0].text.as_str(), all[0].importance),
        ("Likes green tea.", 9)
    );
    assert!(
        all.iter()
            .all(|memory| memory.sources.is_empty() && memory.scope == MemoryScope::Pair),
        "{all:?}"
    );
    assert!(
        other
            .say(other.chat, "What tea do I like?")
            .await
            .contains("Likes green tea.")
    );

    let forgotten = other
        .app
        .engine
        .forget_memories(MemoryOwner::Everybody)
        .await
        .unwrap();
    assert_eq!(forgotten.len(), 3);
    let back = other
        .app
        .engine
        .import_memories(other.character, json.replace("Likes green tea.", " "))
        .await
        .unwrap();
    assert_eq!(
        (back.added, back.known, back.refused.len()),
        (2, 0, 1),
        "{back:?}"
    );
    for broken in [
        "",
        "{}",
        "[1]",
        r#"{"items":7}"#,
        r#"{"items":[{}]}"#,
        r#"{"items":[{"a":1},"b"]}"#,
    ] {
        let refused = other
            .app
            .engine
            .import_memories(other.character, broken.into())
            .await;
        assert!(
            matches!(refused, Err(ApiError::BadInput { .. })),
            "{broken}: {refused:?}"
        );
    }
}

#[tokio::test]
async fn odd_memories_of_a_file_cost_only_themselves() {
    let panel = Panel::open().await;
    panel.add("Likes green tea.", MemoryScope::Pair, 9).await;
    panel.add("Owns a boat.", MemoryScope::Pair, 9).await;
    let exported = panel.app.engine.export_memories(panel.character).await;
    let mut file: Value = serde_json::from_slice(&exported.unwrap().bytes).unwrap();
    let items = file["items"].as_array_mut().unwrap();
    for field in ["id", "character", "persona", "chat", "world"] {
        items[0][field] = json!("no id");
    }
    items[0]["sources"] = json!(["no id", 7]);
    items[0]["archived"] =
        json!({ "why": "merged", "since": "2026-11-01T00:00:00Z", "by": "no id" });
    items.insert(1, json!({}));
    items.insert(2, json!("a text"));

    let other = Panel::open().await;
    let import = other
        .app
        .engine
        .import_memories(other.character, file.to_string());
    let imported = import.await.unwrap();
    assert_eq!(imported.added, 2, "{imported:?}");
    assert_eq!(imported.refused.len(), 2, "{imported:?}");
    assert!(
        imported.refused[0].starts_with("memory 2: "),
        "{imported:?}"
    );
    assert!(
        imported.refused[1].starts_with("memory 3: "),
        "{imported:?}"
    );
    assert_eq!(other.all().await.len(), 2);
}

#[tokio::test]
async fn reports_the_storage_of_memories() {
    let panel = Panel::open().await;
    let before = panel.app.engine.memory_storage().await.unwrap();
    panel.add("Likes green tea.", MemoryScope::Pair, 9).await;
    let after = panel.app.engine.memory_storage().await.unwrap();
    assert_eq!(
        (
            after.memories - before.memories,
            after.memory_bytes - before.memory_bytes
        ),
        (1, 16)
    );
    assert_eq!(
        (after.vectors, after.vector_bytes),
        (0, 0),
        "no encoder is available"
    );
    assert!(!after.by_meaning);
    let health = panel.app.engine.health().await.unwrap();
    let memory = health
        .checks
        .iter()
        .find(|check| check.name == "memory")
        .unwrap();
    assert!(
        memory.ok && memory.reason.contains("by words only"),
        "{}",
        memory.reason
    );
}
