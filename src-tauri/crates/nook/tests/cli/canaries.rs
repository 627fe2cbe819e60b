//! A protected folder keeps no text readable: each kind of content has a text of its own, and no
//! file contains it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use serde_json::{Value, json};

use crate::scripted_endpoint;
use crate::world::{Done, World};

/// Every text begins with it, so one search finds all of them.
const PREFIX: &str = "canaryzq";

fn canary(kind: &str) -> String {
    format!("{PREFIX}{kind}")
}

/// A data folder, a second place and a temporary folder of their own.
struct Aviary {
    world: World,
    unlock: Vec<String>,
}

impl Aviary {
    fn new() -> Self {
        let world = World::without_model();
        for name in ["second", "tmp"] {
            fs::create_dir(world.path(name)).unwrap();
        }
        Self {
            world,
            unlock: Vec::new(),
        }
    }

    fn run(&self, args: &[&str]) -> Done {
        let unlock = self.unlock.iter().map(String::as_str);
        let args: Vec<&str> = args
            .iter()
            .copied()
            .chain(unlock)
            .chain(["--json"])
            .collect();
        let tmp = self.world.path("tmp");
        let mut command = self.world.command(&args);
        for variable in ["TMPDIR", "TMP", "TEMP"] {
            command.env(variable, &tmp);
        }
        Done::from(command.output().unwrap())
    }

    fn json(&self, args: &[&str]) -> Value {
        let done = self.run(args);
        assert_eq!(done.code, 0, "{args:?}: {done:?}");
        done.json()
    }

    fn call(&self, operation: &str, arguments: &Value) -> Value {
        self.json(&["call", operation, &arguments.to_string()])
    }

    fn import(&self, name: &str, content: &Value) -> Value {
        let file = self
            .world
            .file(&format!("imports/{name}"), content.to_string());
        self.json(&["import", &file])
    }

    /// The files that the program has written.
    fn files(&self) -> Vec<PathBuf> {
        let folders = [
            self.world.data_dir(),
            self.world.path("second"),
            self.world.path("tmp"),
        ];
        folders.iter().flat_map(|folder| below(folder)).collect()
    }

    /// The kinds of content whose text is readable in a file.
    fn readable_kinds(&self) -> BTreeSet<String> {
        let mut kinds = BTreeSet::new();
        for file in self.files() {
            let bytes = fs::read(&file).unwrap();
            for place in places(&bytes, PREFIX.as_bytes()) {
                let kind = bytes[place + PREFIX.len()..].iter();
                let letters = kind.take_while(|byte| byte.is_ascii_lowercase());
                kinds.insert(letters.map(|byte| char::from(*byte)).collect());
            }
        }
        kinds
    }

    /// The files with a text in UTF-8, UTF-16 or base64.
    fn readable_files(&self) -> Vec<String> {
        let patterns = patterns();
        let is_readable = |file: &PathBuf| {
            let bytes = fs::read(file).unwrap();
            let named = file.to_string_lossy().contains(PREFIX);
            named || patterns.iter().any(|one| !places(&bytes, one).is_empty())
        };
        let files = self.files().into_iter().filter(is_readable);
        files.map(|file| file.display().to_string()).collect()
    }
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(below(&path));
        } else {
            files.push(path);
        }
    }
    files
}

fn places(bytes: &[u8], pattern: &[u8]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(step) = bytes[from..].iter().position(|byte| *byte == pattern[0]) {
        if bytes[from + step..].starts_with(pattern) {
            found.push(from + step);
        }
        from += step + 1;
    }
    found
}

/// The prefix in each encoding. In base64, its letters depend on its place in a group of three.
fn patterns() -> Vec<Vec<u8>> {
    let utf16 = PREFIX.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let base64 = (0..3).map(|before| {
        let text = [vec![0; before], PREFIX.as_bytes().to_vec()].concat();
        let encoded = STANDARD_NO_PAD.encode(&text);
        let sure = (before * 8).div_ceil(6)..text.len() * 8 / 6;
        encoded[sure].as_bytes().to_vec()
    });
    [PREFIX.as_bytes().to_vec(), utf16]
        .into_iter()
        .chain(base64)
        .collect()
}

fn card() -> Value {
    json!({
        "spec": "chara_card_v2",
        "spec_version": "2.0",
        "data": {
            "name": canary("cardname"),
            "description": canary("description"),
            "personality": canary("personality"),
            "scenario": canary("scenario"),
            "first_mes": canary("greeting"),
            "mes_example": canary("example"),
            "creator_notes": canary("creatornotes"),
            "system_prompt": canary("systemprompt"),
            "post_history_instructions": canary("posthistory"),
            "alternate_greetings": [canary("othergreeting")],
            "tags": [canary("tag")],
            "creator": canary("creator"),
            "character_version": "1",
            "extensions": { "lamp/oil": canary("extension") },
        },
    })
}

/// Stores a text of each kind. Returns the chat.
fn fill(aviary: &Aviary) -> String {
    let imported = aviary.import("card.json", &card());
    let character = imported["imported"][0]["id"].as_str().unwrap().to_owned();
    let chat = aviary.call("new_chat", &json!({ "character": character }));
    let chat = chat["id"].as_str().unwrap().to_owned();
    fill_chat(aviary, &chat);
    fill_library(aviary, &character);
    fill_settings(aviary);
    chat
}

fn fill_chat(aviary: &Aviary, chat: &str) {
    let message = canary("message");
    // No model answers, and the message stays.
    aviary.run(&["chat", "--chat", chat, "--message", &message]);
    let shown = aviary.json(&["show", "chat", chat]);
    let sent = &shown["page"]["messages"][1]["id"];
    aviary.call(
        "edit_message",
        &json!({ "message": sent, "text": canary("edited") }),
    );
    aviary.call(
        "rename_chat",
        &json!({ "id": chat, "title": canary("title") }),
    );
    aviary.call(
        "save_draft",
        &json!({ "chat": chat, "text": canary("composer") }),
    );
    aviary.call(
        "write_draft",
        &json!({
            "place": { "kind": "hint", "owner": chat, "target": "" },
            "text": canary("draft"), "base": "", "before": null,
        }),
    );
    aviary.call(
        "attach_document",
        &json!({
            "owner": { "of": "chat", "id": chat },
            "name": format!("{}.txt", canary("documentname")),
            "data": base64::engine::general_purpose::STANDARD.encode(canary("document")),
        }),
    );
    aviary.json(&["story", "checkpoint", chat, &canary("checkpoint")]);
    aviary.json(&["story", "branch", chat, "--title", &canary("branch")]);
}

fn fill_library(aviary: &Aviary, character: &str) {
    let name = canary("cardname");
    aviary.json(&["memory", "add", "--character", &name, &canary("memory")]);
    aviary.json(&["folders", "add", &canary("folder")]);
    aviary.import("other.json", &json!({
        "spec": "chara_card_v2", "spec_version": "2.0", "data": { "name": "Bo", "first_mes": "Hm." },
    }));
    aviary.json(&[
        "group",
        "create",
        character,
        "Bo",
        "--title",
        &canary("group"),
    ]);
    aviary.call(
        "save_persona",
        &json!({ "persona": {
            "id": null, "name": canary("persona"), "description": canary("personatext"),
            "instructions": canary("instructions"),
            "place": { "position": "template", "depth": 2, "role": "system" },
        }}),
    );
    aviary.import("book.json", &json!({ "entries": { "0": {
        "uid": 0, "key": [canary("lorekey")], "keysecondary": [], "comment": canary("lorename"),
        "content": canary("lore"), "constant": false, "selective": false, "order": 100, "position": 0,
    }}}));
    aviary.import(
        "script.json",
        &json!({
            "id": "1", "scriptName": canary("script"), "findRegex": canary("pattern"),
            "replaceString": canary("replacement"), "placement": [2],
        }),
    );
    aviary.call(
        "save_quick_replies",
        &json!({ "form": { "id": null, "name": canary("replyset"), "replies": [{
            "from": null, "label": canary("replylabel"), "title": canary("replytitle"),
            "message": canary("replytext"), "hidden": false,
        }]}}),
    );
}

fn fill_settings(aviary: &Aviary) {
    let preset = format!("{}.json", canary("preset"));
    aviary.import(&preset, &json!({ "temp": 0.87, "top_p": 0.99, "tfs": 0.9 }));
    let url = scripted_endpoint::start(&canary("reply"));
    let name = canary("endpoint");
    let model = canary("model");
    aviary.json(&[
        "endpoints",
        "add",
        "--url",
        &url,
        "--name",
        &name,
        "--model",
        &model,
    ]);
    aviary.json(&[
        "tool-servers",
        "add",
        &canary("toolserver"),
        "--url",
        "http://127.0.0.1:1/",
    ]);
    aviary.json(&["api-key", "add", &canary("apikey")]);
}

#[test]
fn no_file_of_a_protected_folder_is_readable() {
    let mut aviary = Aviary::new();
    let second = aviary.world.path("second");
    let chat = fill(&aviary);
    aviary.json(&["backup", "--second-place", second.to_str().unwrap()]);
    aviary.json(&["backup"]);
    let kinds = aviary.readable_kinds();
    assert!(kinds.len() >= 25, "{} kinds: {kinds:?}", kinds.len());
    assert!(!aviary.readable_files().is_empty());

    let passphrase = aviary.world.file("passphrase", "whale oil");
    let code = aviary.world.path("code");
    aviary.unlock = vec!["--passphrase-from".to_owned(), passphrase];
    aviary.json(&["protect", "on", "--code-to", code.to_str().unwrap()]);
    assert_eq!(aviary.readable_files(), [""; 0], "after protecting");

    let endpoint = canary("endpoint");
    let said = aviary.run(&[
        "chat",
        "--chat",
        &chat,
        "--endpoint",
        &endpoint,
        "--message",
        &canary("later"),
    ]);
    assert_eq!(said.ends()[0]["text"], canary("reply"), "{said:?}");
    aviary.json(&["endpoints", "default", &endpoint]);
    aviary.json(&["prompt", "--chat", &chat, "--message", &canary("preview")]);
    aviary.json(&["search", &canary("later")]);
    aviary.import("again.json", &card());
    aviary.json(&["backup"]);
    assert_eq!(
        aviary.readable_files(),
        [""; 0],
        "after a turn and a backup"
    );

    aviary.json(&["restore"]);
    aviary.json(&["list", "chats"]);
    assert_eq!(aviary.readable_files(), [""; 0], "after a restore");
}

#[test]
fn every_encoding_of_a_text_is_found() {
    let aviary = Aviary::new();
    let encoded = base64::engine::general_purpose::STANDARD.encode(format!("a{PREFIX}b"));
    let utf16: Vec<u8> = format!("<{PREFIX}>")
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    for (name, bytes) in [
        ("tmp/plain", format!("x{PREFIX}").into_bytes()),
        ("second/base64", encoded.into_bytes()),
        ("data/utf16", utf16),
    ] {
        aviary.world.file(name, bytes);
    }
    assert_eq!(aviary.readable_files().len(), 3);
}
