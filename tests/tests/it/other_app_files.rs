//! Files of other apps and tools: those with a counterpart are taken, the others are refused by
//! name, and none of them becomes an empty character.

use std::fs;
use std::io::{Cursor, Write as _};

use engine::api::{ImportReport, Role, SettingOwner, SettingValue};
use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use serde_json::{Value, json};
use tests::headless::Headless;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

async fn import(app: &Headless, file: &str, bytes: &[u8]) -> ImportReport {
    app.engine
        .import_bytes(file.to_owned(), bytes.to_vec())
        .await
        .unwrap()
}

async fn import_json(app: &Headless, file: &str, json: &Value) -> ImportReport {
    import(app, file, json.to_string().as_bytes()).await
}

fn kinds(report: &ImportReport) -> Vec<String> {
    report
        .imported
        .iter()
        .map(|one| format!("{} {}", one.kind, one.name))
        .collect()
}

#[tokio::test]
async fn description_alone_makes_no_character() {
    let app = Headless::new().await;
    let characters = app.engine.list_characters().await.unwrap().len();
    for file in [
        json!({"description":"Only that."}),
        json!({"name":"My tool","description":"Does a thing.","version":"1.0","scripts":{}}),
        json!({"title":"Site","description":"Only that.","openapi":"3.0"}),
        json!({"data":{"items":[1,2]},"status":"ok"}),
        json!({"persona":"x","memory":[]}),
        json!({"name":"Tavern","scenario":"A tavern.","prompt":"You enter."}),
        json!({"chat_template":"x","stop_str":"</s>","system_prompt":"You help.","stop_token_ids":[2]}),
        json!({"name":"Helper","description":"An agent.","system_prompt":"Be kind.","model":"m","tools":[]}),
        json!({"id": "a1", "name": "Live edit", "content": "import 'http://x/y.js'", "info": "", "buttons": []}),
        json!({"entries":[{"id":1,"title":"First day","date":"2026-01-01"}]}),
    ] {
        let report = import_json(&app, "file.json", &file).await;
        assert_eq!(
            (report.imported.len(), report.refused.len()),
            (0, 1),
            "{file}: {report:?}"
        );
    }
    for yaml in [
        "name: Bug report\ndescription: Tell us\nbody:\n  - type: textarea\n",
        "name: CI\non: push\njobs: {}\n",
    ] {
        let report = import(&app, "file.yml", yaml.as_bytes()).await;
        assert_eq!(
            (report.imported.len(), report.refused.len()),
            (0, 1),
            "{yaml}: {report:?}"
        );
        assert!(report.refused[0].reason.contains("GitHub"), "{report:?}");
    }
    assert_eq!(
        app.engine.list_characters().await.unwrap().len(),
        characters
    );
    let card = import(
        &app,
        "bram.yml",
        b"name: Bram\ncontext: Keeps a mill.\ngreeting: Good day.\n",
    )
    .await;
    assert_eq!(kinds(&card), ["character Bram"], "{card:?}");
}

#[tokio::test]
async fn preset_with_a_system_prompt_stays_a_preset() {
    let app = Headless::new().await;
    let manager = json!({"temperature":1,"prompts":[{"identifier":"main","name":"Main","content":"Write."}],
        "prompt_order":[],"system_prompt":"Hi"});
    let report = import_json(&app, "manager.json", &manager).await;
    assert!(
        report.imported.iter().any(|one| one.kind == "template"),
        "{report:?}"
    );
    let sampler =
        json!({"name":"Calm","description":"A calm preset.","temperature":0.7,"top_p":0.9});
    assert_eq!(
        kinds(&import_json(&app, "calm.json", &sampler).await),
        ["samplerPreset Calm"]
    );
}

#[tokio::test]
async fn files_with_a_counterpart_are_taken() {
    let app = Headless::new().await;
    for (file, value, expected) in [
        (
            "bias.json",
            json!([{"text":"shiver","value":-50,"id":"a"}]),
            "samplerPreset bias",
        ),
        (
            "chat.json",
            json!({"user_start":"<u>","assistant_start":"<c>","assistant_end":"</c>"}),
            "chatFormat chat",
        ),
        (
            "world.json",
            json!([{"keys":"mill,river","entry":"The mill.","hidden":false}]),
            "lorebook world",
        ),
        (
            "cards.json",
            json!([{"keys":"oven","value":"The oven.","type":"place","title":"Oven"}]),
            "lorebook cards",
        ),
        (
            "lore.json",
            json!([{"key":"mill","content":"It stands.","mode":"normal","insertorder":1,"alwaysActive":false}]),
            "lorebook lore",
        ),
        (
            "module.json",
            json!({"name":"Mill","description":"d","id":"m","regex":[1],"trigger":[],"lorebook":[
                {"key":"mill","content":"It stands.","mode":"normal","insertorder":1,"alwaysActive":false}]}),
            "lorebook Mill",
        ),
        (
            "scripts.json",
            json!({"type":"regex","data":[{"comment":"Stars","in":"\\*","out":"","type":"editdisplay"}]}),
            "regexScript Stars",
        ),
        (
            "ada.json",
            json!({"type":"marinara_character","version":1,"data":{"spec":"chara_card_v2","spec_version":"2.0",
                "data":{"name":"Ada","description":"A keeper."}}}),
            "character Ada",
        ),
        (
            "tom.json",
            json!({"type":"marinara_persona","version":1,"data":{"name":"Tom","description":"A sailor.","appearance":"Tall."}}),
            "persona Tom",
        ),
        (
            "book.json",
            json!({"type":"marinara_lorebook","version":1,"data":{"lorebook":{"name":"Harbour"},
                "entries":[{"name":"Quay","keys":["quay"],"content":"Stone.","order":5,"enabled":true}]}}),
            "lorebook Harbour",
        ),
    ] {
        let report = import_json(&app, file, &value).await;
        assert_eq!(kinds(&report), [expected], "{value}: {report:?}");
    }
    let tom = app
        .engine
        .list_personas()
        .await
        .unwrap()
        .into_iter()
        .find(|one| one.name == "Tom")
        .unwrap();
    assert_eq!(tom.description, "A sailor.\n\nAppearance: Tall.");
    let books = app.engine.list_lorebooks().await.unwrap();
    let world = books.iter().find(|one| one.name == "world").unwrap().id;
    let world = app.engine.get_lorebook(world).await.unwrap();
    assert_eq!(
        (
            world.entries[0].keys.join(" "),
            world.entries[0].content.as_str()
        ),
        ("mill river".into(), "The mill.")
    );
}

#[tokio::test]
async fn files_without_a_counterpart_are_named() {
    let app = Headless::new().await;
    for (value, what) in [
        (
            json!({"type":"marinara_preset","version":1,"data":{"name":"x"}}),
            "a prompt preset of Marinara Engine",
        ),
        (
            json!({"moonlitEchoesPreset":true,"presetName":"x","settings":{}}),
            "Moonlit Echoes",
        ),
        (
            json!({"user_prefix":"","user_suffix":"","char_prefix":"","squash_role":"user"}),
            "NoAss",
        ),
        (
            json!([{"title":"Cave","prompt":"You wake.","memory":"","storyCards":[]}]),
            "an AI Dungeon scenario",
        ),
        (
            json!({"id":"m","name":"x","lorebook":[],"regex":[],"trigger":[]}),
            "a RisuAI module",
        ),
    ] {
        let report = import_json(&app, "file.json", &value).await;
        assert!(
            report.imported.is_empty() && report.refused[0].reason.contains(what),
            "{value}: {report:?}"
        );
    }
    let pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n";
    for name in [
        "ada.png",
        "cards.zip",
        "book.json",
        "chat.jsonl",
        "talk.txt",
    ] {
        let report = import(&app, name, pointer).await;
        assert!(
            report.refused[0].reason.contains("Git LFS pointer")
                && report.refused[0].reason.contains("12345"),
            "{name}: {report:?}"
        );
    }
}

#[tokio::test]
async fn lorebook_with_other_names_works_or_warns() {
    let app = Headless::new().await;
    let book = json!({"entries":[{"name":"mill","keywords":["mill","river"],"content":"The mill.","priority":200},
        {"name":"oven","content":"Warm.","id":3}]});
    let report = import_json(&app, "book.json", &book).await;
    assert_eq!(
        report.imported[0].warnings,
        ["1 entry has no keys and is not constant, so it is never used: \"oven\""]
    );
}

#[tokio::test]
async fn own_group_files_bring_members_and_events_back() {
    let app = Headless::new().await;
    let mut members = Vec::new();
    for name in ["Ada", "Bo"] {
        let card = json!({"spec":"chara_card_v2","spec_version":"2.0","data":{"name":name,"description":"d","first_mes":"Hi."}});
        members.push(
            import_json(&app, &format!("{name}.json"), &card)
                .await
                .imported[0]
                .id
                .clone(),
        );
    }
    let lines = [
        json!({"user_name":"unused","character_name":"unused","create_date":"2025-03-01@10h00m00s","chat_metadata":{}}),
        json!({"name":"Ada","is_user":false,"mes":"Hi.","original_avatar":"Ada.png"}),
        json!({"name":"Tom","is_user":true,"mes":"Ada?"}),
        json!({"name":"Bo","is_user":false,"is_system":true,"mes":"(Bo's turn.)","extra":{"type":"comment"}}),
        json!({"name":"Bo","is_user":false,"mes":"Bo says.","original_avatar":"Bo.png"}),
    ];
    let jsonl = lines
        .iter()
        .map(Value::to_string)
        .collect::<Vec<_>>()
        .join("\n");
    let group = json!({"id":"Ferry","name":"Ferry","members":["Ada.png","Bo.png"],"disabled_members":["Bo.png"],
        "activation_strategy":1,"chat_id":"Ferry","chats":["Ferry"]});
    let alone = import_json(&app, "Ferry.json", &group).await;
    assert!(
        alone.refused[0]
            .reason
            .contains("Import its chat Ferry.jsonl first"),
        "{alone:?}"
    );
    let folder = app.dir.path().join("in");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("Ferry.json"), group.to_string()).unwrap();
    fs::write(folder.join("Ferry.jsonl"), jsonl).unwrap();
    let report = app
        .engine
        .import_paths(vec![folder.join("Ferry.json"), folder.join("Ferry.jsonl")])
        .await
        .unwrap();
    assert_eq!(kinds(&report), ["chat Ferry", "group Ferry"], "{report:?}");
    let opened = app
        .engine
        .open_chat(report.imported[0].id.parse().unwrap())
        .await
        .unwrap();
    assert_eq!(
        opened
            .members
            .iter()
            .map(|one| one.name.as_str())
            .collect::<Vec<_>>(),
        ["Bo"],
        "besides the chat's own"
    );
    let said: Vec<(Role, &str)> = opened
        .page
        .messages
        .iter()
        .map(|one| (one.role, one.name.as_str()))
        .collect();
    assert_eq!(said[2].0, Role::Event, "{said:?}");
    assert_eq!((said[0].1, said[3].1), ("Ada", "Bo"));
    assert_eq!(opened.page.messages[3].speaker, Some(members[1].clone()));
}

fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

#[tokio::test]
async fn assistant_export_brings_branches_and_pictures() {
    let app = Headless::new().await;
    let node = |parent: &str, role: &str, parts: Value| json!({"parent":parent,"message":{"author":{"role":role},"content":{"parts":parts},"recipient":"all"}});
    let pointer =
        json!({"content_type":"image_asset_pointer","asset_pointer":"file-service://file-AbC"});
    let talks = json!([{"title":"The mill","current_node":"a2","mapping":{"r":{"parent":null,"message":null},
        "u1":node("r","user",json!([pointer,"Look"])),"a1":node("u1","assistant",json!(["A mill."])),
        "u2":node("a1","user",json!(["And?"])),"a2":node("u2","assistant",json!(["Old."])),
        "u3":node("a1","user",json!(["Where?"])),"a3":node("u3","assistant",json!(["Here."]))}}]);
    let mut png = Cursor::new(Vec::new());
    DynamicImage::ImageRgb8(RgbImage::from_pixel(8, 6, Rgb([9, 9, 9])))
        .write_to(&mut png, ImageFormat::Png)
        .unwrap();
    let png = png.into_inner();
    let json = talks.to_string();
    let zip = archive(&[
        ("conversations.json", json.as_bytes()),
        ("file-AbC-mill.png", &png),
        ("user.json", b"{}"),
    ]);
    let report = import(&app, "export.zip", &zip).await;
    assert_eq!(
        kinds(&report),
        [
            "character ChatGPT",
            "chat The mill",
            "chat The mill (branch 1)"
        ],
        "{report:?}"
    );
    let main = app
        .engine
        .open_chat(report.imported[1].id.parse().unwrap())
        .await
        .unwrap();
    assert_eq!(main.page.messages.len(), 4);
    assert_eq!(main.page.messages[0].pictures.len(), 1);
    let again = import(&app, "export.zip", &zip).await;
    assert!(
        again.imported.is_empty() && !again.skipped.is_empty(),
        "{again:?}"
    );
    let claude = json!([{"uuid":"x","name":"Rain","chat_messages":[
        {"sender":"human","text":"Hi"},{"sender":"assistant","text":"Hello."}]}]);
    assert_eq!(
        kinds(&import_json(&app, "conversations.json", &claude).await),
        ["character Claude", "chat Rain"]
    );
}

#[tokio::test]
async fn presets_in_use_are_used_after_the_move() {
    let app = Headless::new().await;
    let root = app.dir.path().join("tavern");
    let write = |path: &str, value: Value| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, value.to_string()).unwrap();
    };
    fs::create_dir_all(root.join("chats")).unwrap();
    write(
        "characters/Ada.json",
        json!({"name":"Ada","description":"d","first_mes":"Hi."}),
    );
    write(
        "TextGen Settings/My Creative.json",
        json!({"temp":0.6,"top_p":0.8}),
    );
    write("TextGen Settings/My Other.json", json!({"temp":0.9}));
    write("TextGen Settings/Titanic.json", json!({"temp":0.1}));
    write(
        "context/My Roleplay.json",
        json!({"name":"My Roleplay","story_string":"{{#if system}}{{system}}{{/if}} {{description}}"}),
    );
    write(
        "sysprompt/Mine.json",
        json!({"name":"Mine","content":"Write as {{char}}."}),
    );
    write(
        "instruct/Own.json",
        json!({"name":"Own","input_sequence":"<u>","output_sequence":"<c>"}),
    );
    write(
        "QuickReplies/Default.json",
        json!({"version":2,"name":"Default","qrList":[{"id":1,"label":"Go","message":"Go on."}]}),
    );
    write(
        "settings.json",
        json!({"main_api":"textgenerationwebui","textgenerationwebui_settings":{"preset":"My Creative"},
            "power_user":{"instruct":{"enabled":true,"preset":"Own"},"context":{"preset":"My Roleplay"},
                "sysprompt":{"enabled":true,"name":"Mine"}},
            "extension_settings":{"quickReplyV2":{"isEnabled":true,"config":{"setList":[{"set":"Default","isVisible":true}]}}}}),
    );
    let report = app.engine.import_sillytavern(root.clone()).await.unwrap();
    let used = report
        .imported
        .iter()
        .find(|one| one.name == "Presets in use")
        .unwrap();
    assert_eq!(
        used.warnings,
        [
            "prompt template: My Roleplay, Mine",
            "sampler preset: My Creative",
            "chat format: Own",
            "quick replies in every chat: Default"
        ],
        "{report:?}"
    );
    assert!(
        report.imported.iter().any(|one| one.name == "My Other"),
        "own presets are all taken: {report:?}"
    );
    let shipped = report
        .skipped
        .iter()
        .find(|one| one.file == "TextGen Settings")
        .unwrap();
    assert!(shipped.reason.contains("Titanic"), "{shipped:?}");
    let chosen = app
        .engine
        .layered_settings(SettingOwner::Global)
        .await
        .unwrap()
        .settings;
    let chosen = chosen
        .into_iter()
        .find(|one| one.key == "sampler_preset")
        .unwrap()
        .value;
    let presets = app.engine.list_sampler_presets().await.unwrap();
    let mine = presets
        .into_iter()
        .find(|one| one.name == "My Creative")
        .unwrap()
        .id;
    assert_eq!(chosen, SettingValue::Text(mine));

    let again = app.engine.import_sillytavern(root.clone()).await.unwrap();
    assert!(
        again.choices.is_empty() && again.imported.is_empty(),
        "{again:?}"
    );
    app.engine
        .set_setting_in_words(SettingOwner::Global, "sampler_preset".into(), "none".into())
        .await
        .unwrap();
    let again = app.engine.import_sillytavern(root).await.unwrap();
    let offered: Vec<&str> = again.choices.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(offered, ["sampler preset My Creative"], "{again:?}");
}
