//! Tests of `memory`: add, search, edit, export, import and forget.

use serde_json::{Value, json};

use crate::world::{World, card};

struct Remembering {
    world: World,
}

impl Remembering {
    fn open() -> Self {
        let world = World::without_model();
        for name in ["Runa", "Bo"] {
            let file = world.file(&format!("{name}.json"), card(name));
            world.json(&["import", &file]);
        }
        Self { world }
    }

    fn add(&self, text: &str, more: &[&str]) -> Value {
        self.world
            .json(&[&["memory", "add", "--character", "Runa", text], more].concat())
    }

    fn texts(&self, args: &[&str]) -> Vec<String> {
        let answer = self.world.json(&[&["memory"], args].concat());
        let items = answer["items"].as_array().unwrap();
        items
            .iter()
            .map(|item| item["text"].as_str().unwrap().to_owned())
            .collect()
    }
}

#[test]
fn adds_finds_edits_pins_and_forgets_memories() {
    let runa = Remembering::open();
    let tea = runa.add(
        "Likes green tea.",
        &["--type", "preference", "--importance", "7"],
    );
    for key in [
        "id",
        "type",
        "text",
        "importance",
        "scope",
        "sources",
        "created",
        "score",
    ] {
        assert!(tea.get(key).is_some(), "{key} is missing: {tea}");
    }
    assert_eq!(
        (&tea["type"], &tea["importance"], &tea["scope"]),
        (&json!("preference"), &json!(7), &json!("pair"))
    );
    runa.add("Has a sister called Ida.", &["--scope", "character"]);
    runa.add("Owns a boat.", &["--scope", "profile"]);

    let hers = ["list", "--character", "Runa"];
    assert_eq!(
        runa.texts(&hers),
        [
            "Likes green tea.",
            "Owns a boat.",
            "Has a sister called Ida."
        ]
    );
    assert_eq!(runa.texts(&["list", "--character", "Bo"]), ["Owns a boat."]);
    assert_eq!(
        runa.texts(&["search", "--character", "Runa", "Which teas?"]),
        ["Likes green tea."]
    );
    assert!(
        runa.texts(&["search", "--character", "Bo", "Which teas?"])
            .is_empty()
    );

    let id = tea["id"].as_str().unwrap();
    let changed = runa.world.json(&[
        "memory",
        "edit",
        id,
        "--character",
        "Runa",
        "--text",
        "Likes black tea.",
    ]);
    assert_eq!(
        (&changed["text"], &changed["importance"]),
        (&json!("Likes black tea."), &json!(7))
    );
    assert_eq!(
        runa.world.json(&["memory", "pin", id])["pinned"],
        json!(true)
    );
    assert_eq!(
        runa.world.json(&["memory", "pin", id, "--off"])["pinned"],
        json!(false)
    );
    assert_eq!(
        runa.world.json(&["memory", "forget", id])["forgotten"],
        json!(id)
    );
    assert_eq!(
        runa.texts(&hers),
        ["Owns a boat.", "Has a sister called Ida."]
    );
    runa.world
        .run(&["memory", "forget", id, "--json"])
        .assert_failed("notFound");
    runa.world
        .run(&["memory", "edit", id, "--character", "Runa", "--json"])
        .assert_failed("notFound");
}

#[test]
fn world_memory_requires_a_lorebook() {
    let runa = Remembering::open();
    let file = runa
        .world
        .file("coast.json", br#"{"name":"The coast","entries":{}}"#);
    runa.world.json(&["import", &file]);
    let known = runa.add(
        "The harbour freezes in winter.",
        &["--scope", "world", "--world", "the coast"],
    );
    assert_eq!(
        (&known["scope"], &known["character"]),
        (&json!("world"), &json!(null))
    );
    assert!(known["world"].is_string(), "{known}");
    assert!(
        runa.texts(&["list", "--character", "Runa"]).is_empty(),
        "its lorebook is not used anywhere yet"
    );
    let args = [
        "memory",
        "add",
        "--character",
        "Runa",
        "x",
        "--scope",
        "world",
        "--json",
    ];
    assert_eq!(
        runa.world.run(&args).code,
        2,
        "scope world requires a lorebook"
    );
    runa.world
        .run(&[&args[..], &["--world", "The town"]].concat())
        .assert_failed("notFound");
}

#[test]
fn exports_every_memory_of_a_character() {
    let runa = Remembering::open();
    runa.add("Likes green tea.", &[]);
    let file = runa.world.path("runa-memory.json");
    let written = runa.world.json(&[
        "memory",
        "export",
        "--character",
        "Runa",
        "--out",
        file.to_str().unwrap(),
    ]);
    let content = std::fs::read(&file).unwrap();
    assert_eq!(written["bytes"], json!(content.len()));
    let content: Value = serde_json::from_slice(&content).unwrap();
    assert_eq!(content["items"][0]["text"], "Likes green tea.");
}

#[test]
fn exported_memories_survive_an_import() {
    let runa = Remembering::open();
    let tea = runa.add(
        "Likes green tea.",
        &["--type", "preference", "--importance", "7"],
    );
    runa.add("Owns a boat.", &["--scope", "profile"]);
    let export = |world: &World, name: &str| {
        let file = world.path(name);
        world.json(&[
            "memory",
            "export",
            "--character",
            "Runa",
            "--out",
            file.to_str().unwrap(),
        ]);
        (
            file.to_str().unwrap().to_owned(),
            std::fs::read(&file).unwrap(),
        )
    };
    let (file, exported) = export(&runa.world, "one.json");
    let again = runa
        .world
        .json(&["memory", "import", "--character", "Runa", &file]);
    assert_eq!((&again["added"], &again["known"]), (&json!(0), &json!(2)));

    let other = Remembering::open();
    let taken = other
        .world
        .json(&["memory", "import", "--character", "Runa", &file]);
    assert_eq!(
        (&taken["added"], &taken["refused"]),
        (&json!(2), &json!([]))
    );
    let (_, there) = export(&other.world, "other.json");
    let said = |bytes: &[u8]| {
        let file: Value = serde_json::from_slice(bytes).unwrap();
        let all = file["items"].as_array().unwrap().iter();
        let keys = [
            "id",
            "type",
            "text",
            "importance",
            "scope",
            "pinned",
            "origin",
            "confidence",
            "created",
            "archived",
        ];
        all.map(|item| keys.map(|key| item[key].clone()).to_vec())
            .collect::<Vec<_>>()
    };
    assert_eq!(said(&there), said(&exported));
    assert_eq!(
        (&tea["origin"], &tea["confidence"]),
        (&json!("user"), &json!(10))
    );
    runa.world
        .run(&[
            "memory",
            "import",
            "--character",
            "Runa",
            "nowhere.json",
            "--json",
        ])
        .assert_failed("badInput");
}

#[test]
fn consolidates_and_restores_memories() {
    let runa = Remembering::open();
    let learned = |number: u32, text: &str| {
        json!({ "id": format!("00000000-0000-0000-0000-00000000000{number}"), "type": "fact", "text": text,
            "importance": 5, "scope": "pair", "pinned": false, "sources": [], "origin": "model", "confidence": 7,
            "created": format!("2026-05-0{number}T12:00:00Z"), "updated": format!("2026-05-0{number}T12:00:00Z") })
    };
    let items = [
        learned(1, "The user lives in Lisbon."),
        learned(2, "The user owns a boat."),
        learned(3, "The user now lives in Porto."),
        learned(4, "The user owns a boat."),
    ];
    let file = runa
        .world
        .file("learned.json", json!({ "items": items }).to_string());
    runa.world
        .json(&["memory", "import", "--character", "Runa", &file]);
    let done = runa.world.json(&["memory", "consolidate"]);
    let of = |list: &str| {
        done[list]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["text"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (of("merged"), of("superseded")),
        (
            vec![json!("The user owns a boat.")],
            vec![json!("The user lives in Lisbon.")]
        )
    );
    let since = &done["superseded"][0]["archived"];
    assert_eq!(
        (&since["why"], &since["since"]),
        (&json!("superseded"), &json!("2026-05-03T12:00:00Z"))
    );
    let again = runa.world.json(&["memory", "consolidate"]);
    assert_eq!(
        again,
        json!({ "merged": [], "superseded": [], "retired": [], "crowded": [] })
    );

    let all = ["list", "--character", "Runa"];
    let archived = [&all[..], &["--archived"]].concat();
    assert_eq!(
        (runa.texts(&all).len(), runa.texts(&archived).len()),
        (2, 2)
    );
    let id = done["superseded"][0]["id"].as_str().unwrap();
    runa.world.json(&["memory", "restore", id]);
    runa.world.json(&["memory", "consolidate"]);
    assert_eq!(
        (runa.texts(&all).len(), runa.texts(&archived).len()),
        (3, 1),
        "restored memories stay"
    );
}

#[test]
#[cfg_attr(not(feature = "evaluation"), ignore = "the packages are without it")]
fn ranks_a_corpus_without_a_data_folder() {
    let world = World::without_model();
    let line = |id, speaker, text| json!({ "conversation_id": "c", "id": id, "session": 1, "time": null, "speaker": speaker, "text": text, "caption": null });
    let messages = [
        line("1", "Ann", "It rained."),
        line("2", "Bea", "I sold my boat to a man from Lisbon."),
        line("3", "Ann", "Good."),
        line("4", "Bea", "It is."),
    ];
    let messages = world.file(
        "turns.jsonl",
        messages.map(|line| format!("{line}\n")).concat(),
    );
    let query = json!({ "conversation_id": "c", "question_id": "q1", "question": "Who bought the boat that Bea sold?" });
    let queries = world.file("questions.jsonl", query.to_string());
    let ranked = world.path("run.jsonl");
    let rank = [
        "memory",
        "rank",
        "--messages",
        &messages,
        "--queries",
        &queries,
        "--out",
        ranked.to_str().unwrap(),
    ];
    assert_eq!(world.json(&rank)["queries"], json!(1));
    let run: Value = serde_json::from_slice(&std::fs::read(&ranked).unwrap()).unwrap();
    assert_eq!(
        (&run["question_id"], &run["ranked_ids"][0]),
        (&json!("q1"), &json!("2"))
    );
    assert_eq!(run["ranked_ids"].as_array().unwrap().len(), 4);
    assert!(!world.data_dir().exists());
    // "Bea: I sold my boat to a man from Lisbon." takes 11 tokens. One of the others fits too; they
    // take 3 or 4 each.
    world.json(&[&rank[..], &["--budget", "15"]].concat());
    let run: Value = serde_json::from_slice(&std::fs::read(&ranked).unwrap()).unwrap();
    assert_eq!(
        (
            &run["ranked_ids"][0],
            run["ranked_ids"].as_array().unwrap().len()
        ),
        (&json!("2"), 2)
    );

    world.file("questions.jsonl", "{}");
    world
        .run(&[&rank[..], &["--json"]].concat())
        .assert_failed("badInput");
}

#[test]
#[cfg_attr(not(feature = "evaluation"), ignore = "the packages are without it")]
fn scenario_prints_the_memories_of_its_probes() {
    let world = World::without_model();
    let (of, chat) = (json!("p"), json!("one"));
    let steps = [
        json!({ "step": "pair", "pair": of, "persona": "Tom", "character": "Ada" }),
        json!({ "step": "say", "pair": of, "chat": chat, "who": "user", "text": "Remember that I am allergic to nuts.", "id": "wish" }),
        json!({ "step": "probe", "id": "q", "pair": of, "chat": "two", "text": "What may I eat?" }),
    ];
    let file = world.file(
        "story.jsonl",
        steps.map(|step| format!("{step}\n")).concat(),
    );
    let out = world.path("answers.jsonl");
    let scenario = ["memory", "scenario", &file, "--out", out.to_str().unwrap()];
    assert_eq!(world.json(&scenario)["probes"], json!(1));
    let answer: Value = serde_json::from_slice(&std::fs::read(&out).unwrap()).unwrap();
    assert!(
        answer["memory"]
            .as_str()
            .unwrap()
            .contains("allergic to nuts"),
        "{answer}"
    );
    assert_eq!(
        (&answer["id"], &answer["items"][0]["sources"]),
        (&json!("q"), &json!(["wish"]))
    );
    let printed = world.json(&["memory", "scenario", &file]);
    assert_eq!(
        (&printed["id"], &printed["limit"]),
        (&answer["id"], &answer["limit"])
    );

    world.file(
        "story.jsonl",
        json!({ "step": "delete", "message": "nobody" }).to_string(),
    );
    world
        .run(&["memory", "scenario", &file, "--json"])
        .assert_failed("badInput");
}

#[test]
fn forgets_all_memories_of_a_chat_or_a_character() {
    let runa = Remembering::open();
    let chat = runa.world.json(&["list", "chats"])["items"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    runa.add("Said in a chat.", &["--scope", "chat", "--chat", &chat]);
    runa.add("Likes green tea.", &[]);
    runa.world
        .json(&["memory", "add", "--character", "Bo", "Owns a boat."]);
    let forgotten = runa
        .world
        .json(&["memory", "forget", "--all", "--chat", &chat]);
    assert_eq!(forgotten["forgotten"].as_array().unwrap().len(), 1);
    assert_eq!(
        runa.texts(&["list", "--character", "Runa"]),
        ["Likes green tea."]
    );
    let forgotten = runa
        .world
        .json(&["memory", "forget", "--all", "--character", "Runa"]);
    assert_eq!(forgotten["forgotten"].as_array().unwrap().len(), 1);
    assert!(runa.texts(&["list", "--character", "Runa"]).is_empty());
    assert_eq!(runa.texts(&["list", "--character", "Bo"]), ["Owns a boat."]);
    for wrong in [
        &["memory", "forget"][..],
        &["memory", "forget", "--all"],
        &["memory", "forget", "--chat", &chat],
    ] {
        assert_eq!(runa.world.run(wrong).code, 2, "{wrong:?}");
    }
}
