//! Lorebooks outside cards over whole turns: assignment, order, and edits.

use domain::{CharacterId, ChatId, LorebookId};
use engine::api::{
    ApiError, LoreFound, LoreLogic, Lorebook, LorebookBinding, LorebookEntry, LorebookFormat,
    Origin, PersonaDraft, SettingOwner, SettingValue,
};
use serde_json::{Value, json};
use tests::headless::Headless;

/// Ada, whose card has its own lorebook, and another character.
struct House {
    app: Headless,
    ada: CharacterId,
    chat: ChatId,
    other: ChatId,
}

fn entry(key: &str, content: &str, order: i64) -> Value {
    json!({ "keys": [key], "content": content, "extensions": {}, "enabled": true, "insertion_order": order })
}

fn card(name: &str, book: Value, extensions: Value) -> Value {
    json!({ "spec": "chara_card_v3", "spec_version": "3.0", "data": {
        "name": name, "description": format!("{name} keeps the lighthouse."), "personality": "", "scenario": "",
        "first_mes": "Hello.", "mes_example": "", "creator_notes": "", "system_prompt": "",
        "post_history_instructions": "", "alternate_greetings": [], "tags": [], "creator": "",
        "character_version": "1", "group_only_greetings": [], "extensions": extensions, "character_book": book } })
}

/// A lorebook in SillyTavern's format; each entry is `key: text`.
fn world(entries: &[&str]) -> Vec<u8> {
    let entry = |(uid, line): (usize, &&str)| {
        let (key, content) = line.split_once(": ").unwrap();
        let entry = json!({ "uid": uid, "key": [key], "content": content, "position": 0, "selective": true,
            "useProbability": true, "probability": 100, "order": 100 });
        (uid.to_string(), entry)
    };
    let entries: serde_json::Map<String, Value> = entries.iter().enumerate().map(entry).collect();
    json!({ "entries": entries }).to_string().into_bytes()
}

impl House {
    async fn open() -> Self {
        let book = json!({ "name": "Rocks", "extensions": {}, "entries": [entry("reef", "OWN the reef is sharp.", 10)] });
        Self::with(card("Ada", book, json!({}))).await
    }

    async fn with(card: Value) -> Self {
        let app = Headless::new().await;
        let other = app.first_chat().await.id;
        let report = app
            .engine
            .import_bytes("ada.json".into(), card.to_string().into_bytes())
            .await
            .unwrap();
        let ada = report.imported[0].id.parse().unwrap();
        let chat = app.engine.new_chat(ada).await.unwrap().id;
        Self {
            app,
            ada,
            chat,
            other,
        }
    }

    /// Imports a lorebook and assigns it.
    async fn book(&self, name: &str, entries: &[&str], bindings: &[LorebookBinding]) -> LorebookId {
        let file = format!("{name}.json");
        let report = self
            .app
            .engine
            .import_bytes(file, world(entries))
            .await
            .unwrap();
        assert_eq!(
            (report.imported.len(), report.imported[0].kind.as_str()),
            (1, "lorebook"),
            "{report:?}"
        );
        let id = report.imported[0].id.parse().unwrap();
        self.app
            .engine
            .bind_lorebook(id, bindings.to_vec())
            .await
            .unwrap();
        id
    }

    /// Returns all that the provider received for the next message of a chat.
    async fn say_in(&self, chat: ChatId, text: &str) -> String {
        self.app.model.reply("Aye.");
        self.app.send(chat, text).await;
        let prompt = self.app.model.last_request().unwrap().prompt;
        prompt
            .messages
            .iter()
            .map(|message| message.text.as_str())
            .collect::<Vec<_>>()
            .join("\n---\n")
    }

    async fn say(&self, text: &str) -> String {
        self.say_in(self.chat, text).await
    }

    /// Returns the id of the lorebook in Ada's card.
    fn card_book(&self) -> LorebookId {
        LorebookId(self.ada.0)
    }

    async fn whole(&self, id: LorebookId) -> Lorebook {
        self.app.engine.get_lorebook(id).await.unwrap()
    }

    /// Returns source and reason of the last turn's lorebook blocks, as in the X-ray.
    async fn blocks(&self) -> Vec<(String, String)> {
        let chat = self.app.engine.whole_chat(self.chat).await.unwrap();
        let reply = chat.page.messages.last().unwrap();
        let report = self
            .app
            .engine
            .manifest(reply.swipes[reply.selected as usize].id)
            .await
            .unwrap();
        let lore = report
            .blocks
            .into_iter()
            .filter(|block| matches!(block.origin, Origin::Lore { .. }));
        lore.map(|block| (block.source, block.reason)).collect()
    }
}

fn character(id: CharacterId) -> LorebookBinding {
    LorebookBinding::Character { id }
}

/// Returns the texts that occur in `sent`, in order of position.
fn order<'t>(sent: &str, texts: &[&'t str]) -> Vec<&'t str> {
    let mut found: Vec<(usize, &str)> = texts
        .iter()
        .filter_map(|text| Some((sent.find(text)?, *text)))
        .collect();
    found.sort_unstable();
    found.into_iter().map(|(_, text)| text).collect()
}

#[tokio::test]
async fn lorebooks_apply_only_where_assigned() {
    let house = House::open().await;
    let persona = house.app.engine.list_personas().await.unwrap().remove(0);
    house
        .book(
            "World",
            &["reef: GLOBAL the sea is old."],
            &[LorebookBinding::Global],
        )
        .await;
    house
        .book(
            "Hers",
            &["reef: HERS she fears it."],
            &[character(house.ada)],
        )
        .await;
    house
        .book(
            "Here",
            &["reef: HERE it is night."],
            &[LorebookBinding::Chat { id: house.chat }],
        )
        .await;
    house
        .book(
            "His",
            &["reef: HIS he knows it."],
            &[LorebookBinding::Persona { id: persona.id }],
        )
        .await;
    house
        .book("Loose", &["reef: LOOSE nobody asked."], &[])
        .await;

    let sent = house.say("Tell me of the reef.").await;
    let all = ["OWN", "GLOBAL", "HERS", "HERE", "HIS"];
    assert_eq!(order(&sent, &all).len(), all.len(), "{sent}");
    assert!(!sent.contains("LOOSE"), "{sent}");
    let blocks = house.blocks().await;
    assert_eq!(blocks.len(), 5, "{blocks:?}");
    for book in ["World", "Hers", "Here", "His", "Rocks"] {
        let (source, reason) = blocks
            .iter()
            .find(|(source, _)| source.contains(book))
            .unwrap();
        assert_eq!(
            reason, "key \"reef\" in the message of Traveller",
            "{source}"
        );
    }

    let elsewhere = house.say_in(house.other, "Tell me of the reef.").await;
    assert_eq!(
        order(&elsewhere, &["GLOBAL", "HIS"]).len(),
        2,
        "{elsewhere}"
    );
    assert!(
        ["OWN", "HERS", "HERE", "LOOSE"]
            .iter()
            .all(|text| !elsewhere.contains(text)),
        "{elsewhere}"
    );
}

/// A lorebook with two assignments is used once. If the budget decides, the order is chat, persona,
/// character, global. At the same position, the first in the list comes last.
#[tokio::test]
async fn lorebook_with_two_assignments_is_used_once() {
    let house = House::open().await;
    let everywhere = [
        LorebookBinding::Global,
        character(house.ada),
        LorebookBinding::Chat { id: house.chat },
    ];
    let twice = house
        .book("World", &["reef: TWICE the sea is old."], &everywhere)
        .await;
    house
        .book(
            "Here",
            &["reef: HERE it is night."],
            &[LorebookBinding::Chat { id: house.chat }],
        )
        .await;
    house
        .app
        .engine
        .try_lore(None, "x".into(), Some(house.chat))
        .await
        .unwrap();
    let trial = house
        .app
        .engine
        .try_lore(Some(twice), "The reef!".into(), Some(house.chat))
        .await
        .unwrap();
    let books: Vec<&str> = trial.told.iter().map(|told| told.book.as_str()).collect();
    assert_eq!(
        books,
        ["Here", "Rocks", "World"],
        "global lorebooks come last"
    );
    assert_eq!(house.say("The reef!").await.matches("TWICE").count(), 1);
}

/// The chat's strategy decides which lorebooks come first, also among entries of the same order.
#[tokio::test]
async fn strategy_orders_character_and_global_lorebooks() {
    let house = House::open().await;
    let engine = &house.app.engine;
    let world = house
        .book(
            "World",
            &["reef: GLOBAL the sea is old."],
            &[LorebookBinding::Global],
        )
        .await;
    house
        .book(
            "Hers",
            &["reef: HERS she fears it."],
            &[character(house.ada)],
        )
        .await;
    let choose = async |strategy: &str| {
        let chat = engine.new_chat(house.ada).await.unwrap().id;
        let value = Some(SettingValue::Text(strategy.into()));
        engine
            .set_setting(
                SettingOwner::Chat { id: chat },
                "lore_strategy".into(),
                value,
            )
            .await
            .unwrap();
        chat
    };
    for (strategy, expected) in [
        ("character-first", ["HERS", "GLOBAL"]),
        ("global-first", ["GLOBAL", "HERS"]),
    ] {
        let chat = choose(strategy).await;
        let sent = house.say_in(chat, "The reef!").await;
        assert_eq!(order(&sent, &expected), expected, "{strategy}: {sent}");
    }

    // Between her two entries, of orders 100 and 10.
    let mut entry = house.whole(world).await.entries.remove(0);
    entry.order = 50.0;
    engine.save_lore_entry(world, entry).await.unwrap();
    for (strategy, expected) in [
        ("character-first", ["Hers", "Rocks", "World"]),
        ("global-first", ["World", "Hers", "Rocks"]),
        ("evenly", ["Hers", "World", "Rocks"]),
    ] {
        let chat = choose(strategy).await;
        let trial = engine
            .try_lore(None, "The reef!".into(), Some(chat))
            .await
            .unwrap();
        let books: Vec<&str> = trial.told.iter().map(|told| told.book.as_str()).collect();
        assert_eq!(books, expected, "{strategy}");
    }
    let odd = engine.set_setting(
        SettingOwner::Global,
        "lore_strategy".into(),
        Some(SettingValue::Text("x".into())),
    );
    assert!(matches!(odd.await, Err(ApiError::BadInput { .. })));
}

#[tokio::test]
async fn disabled_or_deleted_lorebook_is_not_used() {
    let house = House::open().await;
    let id = house
        .book(
            "World",
            &["oil: GLOBAL it burns."],
            &[LorebookBinding::Global],
        )
        .await;
    let engine = &house.app.engine;
    engine.enable_lorebook(id, false).await.unwrap();
    assert!(!house.say("The oil?").await.contains("GLOBAL"));
    engine.enable_lorebook(id, true).await.unwrap();
    engine.delete_lorebook(id).await.unwrap();
    assert!(matches!(
        engine.get_lorebook(id).await,
        Err(ApiError::NotFound { .. })
    ));
    assert!(!house.say("The oil!").await.contains("GLOBAL"));
    engine.restore_lorebook(id).await.unwrap();
    assert!(house.say("Oil again.").await.contains("GLOBAL it burns."));
}

/// SillyTavern copies the linked lorebook into the card; only the linked one is used then.
#[tokio::test]
async fn copy_of_a_linked_lorebook_is_not_used() {
    let copy =
        json!({ "name": "Sea", "extensions": {}, "entries": [entry("reef", "OLD copy.", 10)] });
    let house = House::with(card("Ada", copy, json!({ "world": "Sea" }))).await;
    assert!(
        house.say("The reef.").await.contains("OLD copy."),
        "nothing is assigned yet"
    );
    let book = house
        .book("Sea", &["reef: NEW words."], &[LorebookBinding::Global])
        .await;
    let sent = house.say("The reef?").await;
    assert_eq!(
        order(&sent, &["OLD copy.", "NEW words."]).len(),
        2,
        "another book may have that name"
    );
    house
        .app
        .engine
        .bind_lorebook(book, vec![character(house.ada)])
        .await
        .unwrap();
    house.app.engine.new_scene(house.chat).await.unwrap();
    let sent = house.say("The reef!").await;
    assert!(
        sent.contains("NEW words.") && !sent.contains("OLD copy."),
        "{sent}"
    );
}

#[tokio::test]
async fn identical_lorebooks_are_used_once() {
    let house = House::open().await;
    let exported = house
        .app
        .engine
        .export_lorebook(house.card_book(), LorebookFormat::Native)
        .await
        .unwrap();
    let report = house
        .app
        .engine
        .import_bytes("copy.json".into(), exported.bytes)
        .await
        .unwrap();
    assert_eq!(report.imported[0].name, "Rocks");
    house
        .app
        .engine
        .bind_lorebook(
            report.imported[0].id.parse().unwrap(),
            vec![LorebookBinding::Global],
        )
        .await
        .unwrap();
    assert_eq!(
        house
            .say("The reef.")
            .await
            .matches("OWN the reef is sharp.")
            .count(),
        1
    );
}

#[tokio::test]
async fn import_never_overwrites_another_lorebook() {
    let house = House::open().await;
    let engine = &house.app.engine;
    let first = house.book("Sea", &["a: One."], &[]).await;
    let again = engine
        .import_bytes("Sea.json".into(), world(&["a: One."]))
        .await
        .unwrap();
    let skipped: LorebookId = again.skipped[0].id.parse().unwrap();
    assert_eq!((again.imported.len(), skipped), (0, first));
    let beside = engine
        .import_bytes("Sea.json".into(), world(&["a: Two."]))
        .await
        .unwrap();
    assert_eq!(beside.imported[0].name, "Sea (2)");
    let v3 = json!({ "spec": "lorebook_v3", "data": { "name": "Sky", "entries": [entry("b", "Blue.", 1), 7] } });
    let v3 = engine
        .import_bytes("x.json".into(), v3.to_string().into_bytes())
        .await
        .unwrap();
    assert_eq!(
        (v3.imported[0].name.as_str(), v3.imported[0].warnings.len()),
        ("Sky", 1)
    );
    let names: Vec<_> = engine
        .list_lorebooks()
        .await
        .unwrap()
        .into_iter()
        .map(|book| book.name)
        .collect();
    assert_eq!(names[..3], ["Sea", "Sea (2)", "Sky"]);
    assert_eq!(house.whole(first).await.entries[0].content, "One.");
    let sky = v3.imported[0].id.parse().unwrap();
    let unread = house.whole(sky).await.unread;
    assert_eq!(unread, ["entry 1 was skipped: it is not an object"]);
    let out = engine
        .export_lorebook(sky, LorebookFormat::V3)
        .await
        .unwrap();
    let out: Value = serde_json::from_slice(&out.bytes).unwrap();
    assert_eq!(
        out["data"]["entries"][1], 7,
        "unknown entries are exported unchanged"
    );
}

/// An edit changes only the edited fields, in lorebooks outside and inside cards.
#[tokio::test]
async fn edited_entry_keeps_unknown_fields() {
    let house = House::open().await;
    let engine = &house.app.engine;
    let file = json!({ "own": 7, "entries": { "3": { "uid": 3, "key": ["oil"], "content": "OLD.", "position": 0,
        "probability": 100, "useProbability": true, "selective": true, "strange": [1], "depth": 99999999999i64 } } });
    let report = engine
        .import_bytes("Sea.json".into(), file.to_string().into_bytes())
        .await
        .unwrap();
    let id = report.imported[0].id.parse().unwrap();
    engine
        .bind_lorebook(id, vec![LorebookBinding::Global])
        .await
        .unwrap();
    assert!(house.say("The oil.").await.contains("OLD."));

    let before = house.whole(id).await.entries.remove(0);
    let edited = LorebookEntry {
        content: "NEW.".into(),
        title: "Oil".into(),
        secondary_keys: vec!["lamp".into()],
        logic: LoreLogic::NotAny,
        ..before
    };
    assert_eq!(
        engine.save_lore_entry(id, edited.clone()).await.unwrap(),
        edited
    );
    let exported = engine
        .export_lorebook(id, LorebookFormat::Native)
        .await
        .unwrap();
    let exported: Value = serde_json::from_slice(&exported.bytes).unwrap();
    let kept = &exported["entries"]["3"];
    assert_eq!(
        (&exported["own"], &kept["strange"], &kept["depth"]),
        (&json!(7), &json!([1]), &json!(99_999_999_999i64))
    );
    assert_eq!(
        (&kept["content"], &kept["selectiveLogic"], &kept["comment"]),
        (&json!("NEW."), &json!(2), &json!("Oil"))
    );
    engine.new_scene(house.chat).await.unwrap();
    assert!(house.say("The oil!").await.contains("NEW."));
    assert!(!house.say("The lamp and its oil.").await.ends_with("NEW."));

    let own = house.whole(house.card_book()).await.entries.remove(0);
    engine
        .save_lore_entry(
            house.card_book(),
            LorebookEntry {
                content: "MENDED.".into(),
                ..own.clone()
            },
        )
        .await
        .unwrap();
    let new = engine
        .save_lore_entry(
            house.card_book(),
            LorebookEntry {
                id: String::new(),
                ..own
            },
        )
        .await
        .unwrap();
    assert_eq!(new.id, "1", "a new entry has a unique id");
    assert!(house.say("The reef.").await.contains("MENDED."));
    assert_eq!(engine.card_lore(house.ada).await.unwrap().len(), 2);
    assert!(
        engine
            .enable_lorebook(house.card_book(), false)
            .await
            .is_err(),
        "a card's own lorebook is part of the card"
    );
}

#[tokio::test]
async fn entries_can_be_toggled_sorted_moved_and_restored() {
    let house = House::open().await;
    let engine = &house.app.engine;
    let from = house
        .book("From", &["a: One.", "b: Two.", "c: Three."], &[])
        .await;
    let texts = |book: Lorebook| -> Vec<String> {
        book.entries
            .into_iter()
            .map(|entry| {
                format!(
                    "{}{}",
                    entry.content,
                    if entry.enabled { "" } else { " off" }
                )
            })
            .collect()
    };
    let ids = |ids: &[&str]| {
        ids.iter()
            .map(|id| (*id).to_owned())
            .collect::<Vec<String>>()
    };
    let ordered = engine
        .order_lore_entries(from, ids(&["2", "0"]))
        .await
        .unwrap();
    assert_eq!(texts(ordered), ["Three.", "One.", "Two."]);
    // SillyTavern's list has a separate index, independent of the position in the prompt.
    let file = engine
        .export_lorebook(from, LorebookFormat::Native)
        .await
        .unwrap();
    let file: serde_json::Value = serde_json::from_slice(&file.bytes).unwrap();
    let places = ["0", "1", "2"].map(|uid| file["entries"][uid]["displayIndex"].as_i64());
    assert_eq!(
        (places, file["entries"]["0"].get("order")),
        ([Some(1), Some(2), Some(0)], Some(&json!(100)))
    );
    let off = engine
        .enable_lore_entries(from, ids(&["0", "1"]), false)
        .await
        .unwrap();
    assert_eq!(texts(off), ["Three.", "One. off", "Two. off"]);

    let before = house.whole(from).await;
    let deleted = engine
        .delete_lore_entries(from, ids(&["0", "2"]))
        .await
        .unwrap();
    assert_eq!(texts(house.whole(from).await), ["Two. off"]);
    assert_eq!(
        engine
            .restore_lore_entries(from, deleted)
            .await
            .unwrap()
            .entries,
        before.entries
    );
    assert!(matches!(
        engine.restore_lore_entries(from, "[7]".into()).await,
        Err(ApiError::BadInput { .. })
    ));

    engine
        .copy_lore_entries(from, ids(&["1", "2"]), house.card_book(), true)
        .await
        .unwrap();
    assert_eq!(texts(house.whole(from).await), ["One. off"]);
    assert_eq!(
        texts(house.whole(house.card_book()).await),
        ["OWN the reef is sharp.", "Two. off", "Three."]
    );
    assert!(
        house.say("c").await.contains("Three."),
        "an entry moved into the card is active there"
    );
    assert!(matches!(
        engine.delete_lore_entries(from, ids(&["9"])).await,
        Err(ApiError::NotFound { .. })
    ));
}

#[tokio::test]
async fn test_run_shows_entries_reasons_and_cost() {
    let house = House::open().await;
    let engine = &house.app.engine;
    let book = house
        .book(
            "World",
            &[
                "lamp: The lamps burn oil.",
                "oil: Oil is dear.",
                "fog: Grey.",
            ],
            &[],
        )
        .await;
    let alone = engine
        .try_lore(Some(book), "Light the lamp.".into(), None)
        .await
        .unwrap();
    let told: Vec<_> = alone
        .told
        .iter()
        .map(|told| (told.entry.as_str(), told.reason.as_str(), told.pass))
        .collect();
    assert_eq!(told, [("0", "key", 0), ("1", "key", 1)]);
    assert_eq!(
        alone.told[0].found,
        Some(LoreFound::Message {
            speaker: "Traveller".into(),
            ago: 0
        })
    );
    assert_eq!(
        (alone.told[1].key.as_deref(), &alone.told[1].found),
        (Some("oil"), &Some(LoreFound::Entry))
    );
    assert_eq!(
        alone.tokens,
        alone.told.iter().map(|told| told.tokens).sum::<u32>()
    );
    assert!(
        alone.told.iter().all(|told| told.tokens > 0)
            && alone.counted
            && alone.budget > alone.tokens
    );
    let silent: Vec<_> = alone
        .silent
        .iter()
        .map(|one| (one.entry.as_str(), one.rule.as_str()))
        .collect();
    assert_eq!(
        (silent, alone.silent_count),
        (vec![("2", "key_not_found")], 1)
    );

    let chat = Some(house.chat);
    let there = engine
        .try_lore(Some(book), "Fog on the reef.".into(), chat)
        .await
        .unwrap();
    let books: Vec<_> = there.told.iter().map(|told| told.book.as_str()).collect();
    assert_eq!(
        books,
        ["Rocks", "World"],
        "includes the chat's lorebooks and the tested one"
    );
    let without = engine
        .try_lore(None, "Fog on the reef.".into(), chat)
        .await
        .unwrap();
    assert_eq!(without.told.len(), 1);
    assert!(house.say("Fog on the reef.").await.contains("OWN"));
    let last = engine
        .try_lore(Some(book), String::new(), chat)
        .await
        .unwrap();
    assert_eq!(
        last.told.len(),
        2,
        "without a message, the entries of the last ones"
    );
    assert!(engine.try_lore(None, "x".into(), None).await.is_err());
}

#[tokio::test]
async fn assignments_survive_restart_and_end_with_owner() {
    let house = House::open().await;
    let persona = house.app.engine.list_personas().await.unwrap().remove(0);
    let wren = PersonaDraft {
        id: None,
        name: "Wren".into(),
        ..persona.into()
    };
    let wren = house.app.engine.save_persona(wren).await.unwrap().id;
    let both = [character(house.ada), LorebookBinding::Persona { id: wren }];
    let id = house.book("World", &["a: One."], &both).await;
    let app = house.app.restart().await;
    assert_eq!(
        app.engine.get_lorebook(id).await.unwrap().about.bindings,
        both
    );
    app.engine.delete_persona(wren).await.unwrap();
    assert_eq!(
        app.engine.get_lorebook(id).await.unwrap().about.bindings,
        both[..1]
    );
}

#[tokio::test]
async fn copies_of_lorebooks_have_names_of_their_own() {
    let app = Headless::new().await;
    let entry = json!({ "keys": ["mine"], "content": "Deep.", "enabled": true, "insertion_order": 1, "extensions": { "x": 1 } });
    let file = json!({ "name": "Mine", "entries": [entry], "extensions": {} });
    let report = app
        .engine
        .import_bytes("Mine.json".into(), file.to_string().into_bytes())
        .await
        .unwrap();
    let id = report.imported[0].id.parse().unwrap();
    app.engine
        .bind_lorebook(id, vec![LorebookBinding::Global])
        .await
        .unwrap();
    let original = app.engine.get_lorebook(id).await.unwrap();
    let copy = app.engine.duplicate_lorebook(id).await.unwrap();
    let second = app.engine.duplicate_lorebook(copy.about.id).await.unwrap();
    assert_eq!(
        (copy.about.name.as_str(), second.about.name.as_str()),
        ("Mine (2)", "Mine (3)")
    );
    assert_eq!(copy.entries, original.entries);
    assert!(
        copy.about.bindings.is_empty(),
        "the same entries are not sent twice"
    );
    app.engine.delete_lorebook(id).await.unwrap();
    assert_eq!(
        app.engine
            .get_lorebook(copy.about.id)
            .await
            .unwrap()
            .entries
            .len(),
        1,
        "the copy is independent"
    );
}
