//! Tests of importing from SillyTavern: single chats, and a whole folder.

use serde_json::{Value, json};

use crate::hostile::{png, text};
use crate::world::{World, card};

/// Lines in formats of several SillyTavern versions.
const CHAT: &str = r#"{"user_name":"unused","character_name":"unused","create_date":"2024-01-15@12h30m15s","chat_metadata":{"note_prompt":""}}
{"name":"Mira Quay","is_user":false,"is_system":false,"send_date":"2024-01-15T12:30:15.000Z","mes":"Who is there?","extra":{},"swipe_id":1,"swipes":["Hello?","Who is there?"],"swipe_info":[{"send_date":"2024-01-15T12:30:15.000Z","extra":{}},{"send_date":"2024-01-15T12:31:00.000Z","extra":{"model":"tiny","reasoning":"A stranger."}}]}
{"name":"Tom","is_user":true,"is_system":false,"send_date":"2024-01-15T12:32:00.000Z","mes":"It is me.","extra":{}}
{"name":"System","is_user":false,"is_system":true,"send_date":"2024-01-15T12:33:00.000Z","mes":"a note","extra":{"type":"comment"}}
not a line of it
{"name":"Bo","is_user":false,"is_system":true,"send_date":"","mes":"And me.","extra":{}}"#;

/// Returns speaker, time and text of the shown versions.
fn said(world: &World, chat: &str) -> Vec<(String, String, String)> {
    let chat = world.json(&["show", "chat", chat]);
    let one = |message: &Value| {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let swipe = &message["swipes"][message["selected"].as_u64().unwrap() as usize];
        let words = swipe["display"].get("text").unwrap_or(&swipe["text"]);
        (
            text(&message["name"]),
            text(words),
            text(&message["created"]),
        )
    };
    chat["page"]["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(one)
        .collect()
}

fn line(name: &str, text: &str, when: &str) -> (String, String, String) {
    (name.to_owned(), text.to_owned(), when.to_owned())
}

#[test]
fn chat_survives_import_and_export() {
    let world = World::without_model();
    let file = world.file("Harbour night.jsonl", CHAT);
    let early = world.run(&["import", &file, "--json"]);
    assert_eq!(
        (early.code, &early.json()["refused"][0]["kind"]),
        (1, &json!("noCharacter")),
        "{early:?}"
    );

    world.json(&["import", &world.file("mira.json", card("Mira Quay"))]);
    let report = world.json(&["import", &file]);
    let imported = &report["imported"][0];
    assert_eq!(
        (&imported["kind"], &imported["name"]),
        (&json!("chat"), &json!("Harbour night"))
    );
    let warnings: Vec<_> = imported["warnings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one.as_str().unwrap())
        .collect();
    assert!(
        warnings[0].starts_with("1 note ") && warnings[1].starts_with("1 hidden message "),
        "{warnings:?}"
    );
    assert!(warnings[2].contains("left out: 5"), "{warnings:?}");
    assert!(
        warnings[3].starts_with("no persona named \"Tom\", so the chat keeps this name"),
        "{warnings:?}"
    );
    let at = "2024-01-15T12:32:00Z";
    assert_eq!(
        said(&world, "Harbour night"),
        [
            line("Mira Quay", "Who is there?", "2024-01-15T12:30:15Z"),
            line("Tom", "It is me.", at),
            line("System", "a note", "2024-01-15T12:33:00Z"),
            line("Bo", "And me.", "")
        ]
    );
    let again = world.json(&["import", &file]);
    assert_eq!(
        (&again["imported"], &again["skipped"][0]["id"]),
        (&json!([]), &imported["id"])
    );

    let out = world.path("out.jsonl").to_str().unwrap().to_owned();
    world.json(&[
        "export",
        "chat",
        "Harbour night",
        "--as",
        "jsonl",
        "--out",
        &out,
    ]);
    let other = World::without_model();
    other.json(&["import", &other.file("mira.json", card("Mira Quay"))]);
    other.json(&["import", &out]);
    assert_eq!(said(&other, "out"), said(&world, "Harbour night"));
    let first = &other.json(&["show", "chat", "out"])["page"]["messages"][0]["swipes"];
    assert_eq!(first[1]["display"]["thoughts"], "A stranger.", "{first}");
    assert_eq!(
        (&first[0]["text"], &first[1]["model"]),
        (&json!("Hello?"), &json!("tiny"))
    );
}

#[test]
fn imports_a_folder_once_and_reports_skipped_files() {
    let world = World::without_model();
    let user = |name: &str, content: &str| {
        world.file(&format!("tavern/data/default-user/{name}"), content)
    };
    user("characters/Mira2.json", &card("Mira Quay"));
    user(
        "characters/Twin.json",
        &card("Mira Quay").replace("calm", "wild"),
    );
    user("chats/Mira2/Harbour night.jsonl", CHAT);
    user("chats/Gone/old.jsonl", &CHAT.replace("Mira Quay", "Nobody"));
    user(
        "TextGen Settings/Big O.json",
        r#"{"temp":0.87,"top_p":0.99}"#,
    );
    user("TextGen Settings/Shipped.json", r#"{"temp":1.5}"#);
    user(
        "QuickReplies/Default.json",
        r#"{"version":2,"name":"Default","qrList":[{"label":"Go on","message":"/continue"}]}"#,
    );
    let script = json!({"id": "1", "scriptName": "Dashes", "findRegex": "--", "replaceString": "—", "placement": [2]});
    let settings = json!({
        "power_user": {"personas": {"a.png": "Tom", "b.png": "Traveller", "c.png": "Abe"},
            "persona_descriptions": {"a.png": {"description": "A sailor."}}},
        "textgenerationwebui_settings": {"preset": "Big O"},
        "extension_settings": {"regex": [script]},
    });
    user("settings.json", &settings.to_string());
    let folder = world.path("tavern").to_str().unwrap().to_owned();

    let done = world.run(&["import", "--sillytavern", &folder, "--json"]);
    let report = done.json();
    let list = |report: &Value, part: &str, field: &str| -> Vec<String> {
        report[part]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one[field].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(
        list(&report, "imported", "kind"),
        [
            "persona",
            "persona",
            "character",
            "character",
            "chat",
            "regexScript",
            "samplerPreset",
            "samplerPreset",
            "quickReplies",
            "settings"
        ],
        "{report}"
    );
    let told = list(&report, "skipped", "reason");
    assert_eq!(list(&report, "skipped", "file"), ["settings.json"]);
    assert!(
        told[0].contains("already a persona \"Traveller\""),
        "{told:?}"
    );
    assert_eq!(
        (done.code, list(&report, "refused", "file")),
        (1, vec!["old.jsonl".to_owned()])
    );
    assert_eq!(
        said(&world, "Harbour night")[1].0,
        "Tom",
        "neither the first persona nor the newest"
    );
    assert_eq!(
        world.json(&["show", "persona", "Tom"])["description"],
        "A sailor."
    );
    let chat = world.json(&["show", "chat", "Harbour night"]);
    assert_eq!(
        chat["character"], report["imported"][2]["id"],
        "for a duplicate name, the folder decides"
    );

    let again = world
        .run(&["import", "--sillytavern", &folder, "--json"])
        .json();
    assert_eq!(again["imported"], json!([]), "{again}");
    let plain = World::without_model()
        .run(&["import", &folder, "--json"])
        .json();
    for part in ["imported", "skipped", "refused"] {
        assert_eq!(
            list(&plain, part, "file"),
            list(&report, part, "file"),
            "without the option: {part}"
        );
    }
    let other = world.path("nothing").to_str().unwrap().to_owned();
    world
        .run(&["import", "--sillytavern", &other, "--json"])
        .assert_failed("badInput");
}

/// Expressions belong to the card, and a persona's picture to the persona. Other files are refused
/// by name.
#[test]
fn imports_pictures_with_their_owner() {
    let world = World::without_model();
    let user = |name: &str, content: &[u8]| {
        world.file(&format!("tavern/data/default-user/{name}"), "");
        std::fs::write(
            world.path(&format!("tavern/data/default-user/{name}")),
            content,
        )
        .unwrap();
    };
    let picture = |shade: u8| png(1, 1, &[text("shade", &[shade])]);
    user("characters/Mira2.json", card("Mira Quay").as_bytes());
    user("characters/Mira2/joy.png", &picture(1));
    user("characters/Mira2/grief.webp", b"no picture");
    user("characters/Gone/joy.png", &picture(1));
    user("User Avatars/a.png", &picture(2));
    user("User Avatars/nobody.png", &picture(3));
    user("User Avatars/b.png", b"no picture");
    user("backgrounds/sea.png", &picture(4));
    user("backgrounds/same sea.png", &picture(4));
    let settings = json!({ "power_user": { "personas": { "a.png": "Tom", "b.png": "Abe", "../a.png": "Eve" } } });
    user("settings.json", settings.to_string().as_bytes());
    let folder = world.path("tavern").to_str().unwrap().to_owned();

    let run = world.run(&["import", "--sillytavern", &folder, "--json"]);
    let report = run.json();
    let told = |part: &str, file: &str| -> Value {
        let rows = report[part].as_array().unwrap().iter();
        rows.filter(|one| one["file"] == file)
            .cloned()
            .collect::<Vec<_>>()
            .into()
    };
    let faces = &told("imported", "characters/Mira2")[0];
    assert_eq!(
        (&faces["kind"], &faces["name"]),
        (&json!("faces"), &json!("Mira Quay")),
        "{report}"
    );
    assert!(
        faces["warnings"][0].as_str().unwrap().ends_with("files: 1"),
        "{faces}"
    );
    assert!(
        told("imported", "backgrounds")[0]["warnings"][0]
            .as_str()
            .unwrap()
            .ends_with("imported: 1"),
        "stored once"
    );
    assert_eq!(
        told("refused", "characters/Mira2/grief.webp")[0]["reason"],
        "it is not a picture"
    );
    assert!(
        told("skipped", "characters/Gone")[0]["reason"]
            .as_str()
            .unwrap()
            .contains("no imported character")
    );
    assert!(
        told("skipped", "User Avatars")[0]["reason"]
            .as_str()
            .unwrap()
            .contains("1 picture was skipped"),
        "{report}"
    );
    let personas = told("imported", "settings.json");
    let of = |name: &str| {
        personas
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["name"] == name)
            .unwrap()
    };
    assert!(
        of("Abe")["warnings"][0]
            .as_str()
            .unwrap()
            .contains("its picture b.png was not imported"),
        "{report}"
    );
    let has_picture = |name: &str| world.json(&["show", "persona", name])["picture"].is_string();
    assert_eq!(
        ["Tom", "Abe", "Eve"].map(has_picture),
        [true, false, false],
        "no name can escape the folder"
    );
    let out = world.path("mira.charx").to_str().unwrap().to_owned();
    world.json(&[
        "export",
        "character",
        "Mira Quay",
        "--as",
        "charx",
        "--out",
        &out,
    ]);
    let archive = std::fs::read(out).unwrap();
    assert!(
        archive
            .windows(28)
            .any(|part| part.starts_with(b"assets/emotion/images/joy-")),
        "the expression is exported too"
    );

    let out = world.path("sea.png").to_str().unwrap().to_owned();
    let kept = world.json(&["list", "backgrounds"]);
    let [sea] = &kept["items"].as_array().unwrap()[..] else {
        panic!("kept once: {kept}")
    };
    assert_eq!(
        sea["scene_words"], "",
        "imported backgrounds belong to no scene"
    );
    world.json(&[
        "export",
        "background",
        sea["name"].as_str().unwrap(),
        "--as",
        "original",
        "--out",
        &out,
    ]);
    assert_eq!(std::fs::read(out).unwrap(), picture(4), "byte for byte");

    let again = world
        .run(&["import", "--sillytavern", &folder, "--json"])
        .json();
    assert_eq!(again["imported"], json!([]), "{again}");
}

/// Chat lore, persona lore, character lore with its extra books, and global lore keep their
/// assignment.
#[test]
fn imports_lorebooks_with_their_assignment() {
    let world = World::without_model();
    let user = |name: &str, content: &str| {
        world.file(&format!("tavern/data/default-user/{name}"), content)
    };
    let mut linked: Value = serde_json::from_str(&card("Mira Quay")).unwrap();
    linked["data"]["extensions"] = json!({ "world": "Sea" });
    user("characters/Mira2.json", &linked.to_string());
    user(
        "chats/Mira2/Harbour night.jsonl",
        &CHAT.replace(r#""note_prompt":"""#, r#""world_info":"Night""#),
    );
    for name in ["Sea", "Sky", "Night", "Him", "Everywhere", "Loose"] {
        let entry =
            json!({ "uid": 0, "key": [name], "content": format!("Of {name}."), "position": 0 });
        user(
            &format!("worlds/{name}.json"),
            &json!({ "entries": { "0": entry } }).to_string(),
        );
    }
    user("worlds/broken.json", "{");
    let settings = json!({
        "power_user": { "personas": { "a.png": "Tom" }, "persona_descriptions": { "a.png": { "lorebook": "Him" } } },
        "world_info_settings": { "world_info": {
            "globalSelect": ["Everywhere", "Gone"], "charLore": [{ "name": "Mira2", "extraBooks": ["Sky"] }] } },
    });
    user("settings.json", &settings.to_string());
    let folder = world.path("tavern").to_str().unwrap().to_owned();
    let run = world.run(&["import", "--sillytavern", &folder, "--json"]);
    let report = run.json();
    assert_eq!(
        (run.code, &report["refused"][0]["file"]),
        (1, &json!("broken.json")),
        "{report}"
    );
    let told = |part: &str| report[part].as_array().unwrap().clone();
    assert!(
        told("skipped").iter().any(|one| one["file"] == "Gone.json"),
        "{report}"
    );
    let id = |kind: &str| {
        told("imported")
            .iter()
            .find(|one| one["kind"] == kind)
            .unwrap()["id"]
            .clone()
    };
    let bound = |name: &str| world.json(&["show", "lorebook", name])["bindings"].clone();
    assert_eq!(
        bound("Sea"),
        json!([{ "scope": "character", "id": id("character") }])
    );
    assert_eq!(bound("Sky"), bound("Sea"));
    assert_eq!(
        bound("Night"),
        json!([{ "scope": "chat", "id": id("chat") }])
    );
    assert_eq!(
        bound("Him"),
        json!([{ "scope": "persona", "id": id("persona") }])
    );
    assert_eq!(
        (bound("Everywhere"), bound("Loose")),
        (json!([{ "scope": "global" }]), json!([]))
    );

    let again = world
        .run(&["import", "--sillytavern", &folder, "--json"])
        .json();
    assert_eq!(again["imported"], json!([]), "{again}");
    let night = world.json(&["show", "lorebook", "night"]);
    assert_eq!(
        (&night["entries"][0]["content"], &night["entry_count"]),
        (&json!("Of Night."), &json!(1))
    );
    let out = world.path("night.json").to_str().unwrap().to_owned();
    world.json(&[
        "export", "lorebook", "Night", "--as", "native", "--out", &out,
    ]);
    let written: Value = serde_json::from_str(&std::fs::read_to_string(out).unwrap()).unwrap();
    assert_eq!(written["entries"]["0"]["key"], json!(["Night"]));
}

#[test]
fn tag_folders_are_imported_once() {
    let world = World::without_model();
    let user = |name: &str, content: &str| {
        world.file(&format!("tavern/data/default-user/{name}"), content)
    };
    for name in ["Ada", "Bo", "Cy"] {
        user(&format!("characters/{name}.json"), &card(name));
    }
    let tag = |id: &str, kind: &str| json!({ "id": id, "name": id, "folder_type": kind, "color": "rgba(20,60,200,1)" });
    let settings = json!({
        "tags": [tag("sea", "CLOSED"), tag("sky", "OPEN"), tag("land", "NONE")],
        "tag_map": { "Ada.json": ["sea", "sky"], "Bo.json": ["sea", "land"], "Cy.json": ["land"] },
    });
    user("settings.json", &settings.to_string());
    let folder = world.path("tavern").to_str().unwrap().to_owned();
    let import = || {
        world
            .run(&["import", "--sillytavern", &folder, "--json"])
            .json()
    };
    let report = import();
    let folders = world.json(&["folders", "list"])["items"]
        .as_array()
        .unwrap()
        .clone();
    let shown: Vec<_> = folders
        .iter()
        .map(|one| (&one["name"], &one["tag"], &one["color"]))
        .collect();
    let blue = json!("blue");
    assert_eq!(
        shown,
        [
            (&json!("sea"), &json!(null), &blue),
            (&json!("sky"), &json!("sky"), &blue)
        ],
        "{report}"
    );
    let place = |name: &str| {
        let listed = world.json(&["list", "characters"])["items"]
            .as_array()
            .unwrap()
            .clone();
        listed.iter().find(|one| one["name"] == name).unwrap()["place"]["folder"].clone()
    };
    assert_eq!(
        [place("Ada"), place("Bo"), place("Cy")],
        [
            folders[0]["id"].clone(),
            folders[0]["id"].clone(),
            json!(null)
        ]
    );

    // The user moves one out, and a new card arrives.
    world.json(&["folders", "move", "Bo", "--characters"]);
    user("characters/Di.json", &card("Di"));
    user(
        "settings.json",
        &settings
            .to_string()
            .replace("Cy.json", "Di.json")
            .replace(r#"["land"]"#, r#"["sea"]"#),
    );
    let again = import();
    assert!(
        again["imported"]
            .as_array()
            .unwrap()
            .iter()
            .all(|one| one["kind"] == "character"),
        "{again}"
    );
    assert_eq!(
        [place("Bo"), place("Di")],
        [json!(null), folders[0]["id"].clone()]
    );
}

/// In group chats, a picture identifies the speaker; older messages have only a name.
const TALK: &str = r#"{"user_name":"unused","character_name":"unused","chat_metadata":{"world_info":"Sea"}}
{"name":"Bo","is_user":false,"send_date":"2024-01-15T12:30:15.000Z","mes":"Ahoy?","original_avatar":"Bo.png","swipe_id":0,"swipes":["Ahoy?","Hoy."]}
{"name":"Mira Quay","is_user":false,"send_date":"2024-01-15T12:31:00.000Z","mes":"Evening.","original_avatar":"Mira2.json"}
{"name":"Tom","is_user":true,"send_date":"2024-01-15T12:32:00.000Z","mes":"Hello, you two."}
{"name":"Mira Quay","is_user":false,"send_date":"2024-01-15T12:33:00.000Z","mes":"Three."}
{"name":"Zed","is_user":false,"send_date":"2024-01-15T12:34:00.000Z","mes":"Four.","original_avatar":"Zed.png"}"#;

#[test]
fn imports_group_chats_with_speakers() {
    let world = World::without_model();
    let user = |name: &str, content: &str| {
        world.file(&format!("tavern/data/default-user/{name}"), content)
    };
    user("characters/Mira2.json", &card("Mira Quay"));
    user("characters/Bo.json", &card("Bo"));
    let group = json!({ "id": "1", "name": "The harbour", "members": ["Bo.png", "Mira2.png", "Zed.png"],
        "disabled_members": ["Mira2.png"], "chat_id": "night", "chats": ["night"] });
    user("groups/1.json", &group.to_string());
    user(
        "groups/2.json",
        r#"{"name":"Silent","members":["Bo.png"],"chats":["never"]}"#,
    );
    user("groups/broken.json", "{");
    user("group chats/night.jsonl", TALK);
    user("group chats/stray.jsonl", TALK);
    user(
        "group chats/nobody.jsonl",
        &TALK.replace("Bo", "Gone").replace("Mira2", "Away"),
    );
    user(
        "worlds/Sea.json",
        r#"{"entries":{"0":{"uid":0,"key":["sea"],"content":"Of the sea."}}}"#,
    );
    user(
        "settings.json",
        r#"{"tags":[{"id":"t","name":"salt"}],"tag_map":{"Bo.json":["t"]}}"#,
    );
    let folder = world.path("tavern").to_str().unwrap().to_owned();
    let run = world.run(&["import", "--sillytavern", &folder, "--json"]);
    let report = run.json();
    let refused = report["refused"].as_array().unwrap();
    let refused: Vec<_> = refused
        .iter()
        .map(|one| (one["file"].as_str().unwrap(), one["kind"].as_str().unwrap()))
        .collect();
    assert_eq!(
        (run.code, refused),
        (
            1,
            vec![
                ("broken.json", "malformed"),
                ("nobody.jsonl", "noCharacter")
            ]
        ),
        "{report}"
    );
    assert!(
        report["skipped"]
            .as_array()
            .unwrap()
            .iter()
            .any(|one| one["file"] == "Silent"),
        "{report}"
    );

    let chat = world.json(&["show", "chat", "The harbour"]);
    assert_eq!(chat["character_name"], "Bo");
    let members: Vec<_> = chat["members"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(members, ["Mira Quay"]);
    let names: Vec<_> = said(&world, "The harbour")
        .into_iter()
        .map(|(name, ..)| name)
        .collect();
    assert_eq!(names, ["Bo", "Mira Quay", "Tom", "Mira Quay", "Zed"]);
    let messages = chat["page"]["messages"].as_array().unwrap();
    assert_eq!(messages[0]["swipes"].as_array().unwrap().len(), 2);
    let mira = &chat["members"][0]["id"];
    assert_eq!(
        (&messages[1]["speaker"], &messages[3]["speaker"]),
        (mira, mira)
    );
    let imported = report["imported"].as_array().unwrap();
    let told = imported
        .iter()
        .find(|one| one["file"] == "night.jsonl")
        .unwrap()["warnings"]
        .to_string();
    for word in ["Zed.png takes part", "the library has no Zed"] {
        assert!(told.contains(word), "{told}");
    }
    assert_eq!(
        world.json(&["show", "chat", "stray"])["character_name"],
        "Bo",
        "every speaker is a participant"
    );
    let bound = &world.json(&["show", "lorebook", "Sea"])["bindings"];
    assert!(
        bound
            .as_array()
            .unwrap()
            .iter()
            .any(|one| one["id"] == chat["id"]),
        "{bound}"
    );
    assert_eq!(
        world.json(&["show", "character", "Bo"])["fields"]["tags"],
        json!(["quay", "salt"])
    );

    let again = world
        .run(&["import", "--sillytavern", &folder, "--json"])
        .json();
    assert_eq!(again["imported"], json!([]), "{again}");
}
