//! Tests of importing and exporting cards, finding items by name, models, settings and health.

use serde_json::{Value, json};

use crate::world::{World, card};

#[test]
fn imports_good_files_and_refuses_bad_ones() {
    let world = World::without_model();
    let good = world.file("mira.json", card("Mira Quay"));
    let files = [
        ("broken.png", b"\x89PNG\r\n\x1a\nbroken".as_slice()),
        (
            "nameless.json",
            br#"{"spec":"chara_card_v2","spec_version":"2.0","data":{"name":"  "}}"#,
        ),
        ("notes.txt", b"no card at all"),
        ("broken.gguf", b"GGUF\x03\x00\x00\x00garbage"),
        ("empty.json", b""),
    ];
    let bad = files.map(|(name, content)| world.file(name, content));
    let missing = world.path("missing.png").to_str().unwrap().to_owned();

    let mut args = vec!["import", "--json", &good, &missing];
    args.extend(bad.iter().map(String::as_str));
    let done = world.run(&args);

    assert_eq!(done.code, 1, "{done:?}");
    let report = done.json();
    assert_eq!(report["imported"].as_array().unwrap().len(), 1);
    assert_eq!(report["imported"][0]["name"], "Mira Quay");
    assert_eq!(report["imported"][0]["kind"], "character");
    assert_eq!(report["imported"][0]["file"], "mira.json");
    assert!(report["imported"][0]["warnings"].is_array());
    assert_eq!(report["skipped"], json!([]));
    let refused = report["refused"].as_array().unwrap();
    let names: Vec<_> = refused
        .iter()
        .map(|one| one["file"].as_str().unwrap())
        .collect();
    // A possible chat comes last, because chats are imported after the characters.
    assert_eq!(
        names,
        [
            "missing.png",
            "broken.png",
            "nameless.json",
            "broken.gguf",
            "empty.json",
            "notes.txt"
        ]
    );
    for one in refused {
        assert!(
            !one["kind"].as_str().unwrap().is_empty()
                && !one["reason"].as_str().unwrap().is_empty(),
            "{one}"
        );
    }
}

#[test]
fn skips_a_known_file() {
    let world = World::without_model();
    let file = world.file("mira.json", card("Mira Quay"));
    world.json(&["import", &file]);
    let again = world.json(&["import", &file]);
    assert_eq!(again["imported"], json!([]));
    assert_eq!(again["skipped"][0]["file"], "mira.json");
}

#[test]
fn imports_a_folder_of_cards() {
    let world = World::without_model();
    for name in ["Ada", "Bo", "Cleo"] {
        world.file(&format!("cards/{name}.json"), card(name));
    }
    world.file("cards/readme.txt", "not looked at");
    let report = world.json(&["import", world.path("cards").to_str().unwrap()]);
    let names: Vec<_> = report["imported"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].clone())
        .collect();
    assert_eq!(names, ["Ada", "Bo", "Cleo"]);
    assert_eq!(report["refused"], json!([]));
}

/// Shows a character without ids and times, which differ between data folders.
fn shown(world: &World, name: &str) -> Value {
    let mut character = world.json(&["show", "character", name]);
    for own in ["id", "created", "updated", "picture"] {
        character.as_object_mut().unwrap().remove(own);
    }
    character
}

#[test]
fn card_survives_export_and_import_in_every_format() {
    let world = World::without_model();
    let original: Value = serde_json::from_str(&card("Mira Quay")).unwrap();
    world.json(&["import", &world.file("mira.json", card("Mira Quay"))]);
    for (format, file) in [
        ("png", "out.png"),
        ("json-v2", "v2.json"),
        ("json-v3", "v3.json"),
        ("charx", "out.charx"),
    ] {
        let out = world.path(file).to_str().unwrap().to_owned();
        let written = world.json(&[
            "export",
            "character",
            "mira quay",
            "--as",
            format,
            "--out",
            &out,
        ]);
        assert_eq!(written["file"], out.as_str());
        assert_eq!(written["bytes"], std::fs::metadata(&out).unwrap().len());
        assert!(written["warnings"].is_array());

        let other = World::without_model();
        other.json(&["import", &out]);
        assert_eq!(
            shown(&other, "Mira Quay")["fields"],
            shown(&world, "Mira Quay")["fields"],
            "{format}"
        );
        let back = other.path("back.json").to_str().unwrap().to_owned();
        other.json(&[
            "export",
            "character",
            "Mira Quay",
            "--as",
            "json-v2",
            "--out",
            &back,
        ]);
        let back: Value = serde_json::from_slice(&std::fs::read(&back).unwrap()).unwrap();
        assert_eq!(
            back["data"]["extensions"], original["data"]["extensions"],
            "{format}"
        );
    }
}

#[test]
fn failed_export_names_the_path() {
    let world = World::without_model();
    world.json(&["import", &world.file("mira.json", card("Mira Quay"))]);
    let out = world
        .path("no/such/folder/mira.png")
        .to_str()
        .unwrap()
        .to_owned();
    let done = world.run(&[
        "export",
        "character",
        "Mira Quay",
        "--as",
        "png",
        "--out",
        &out,
        "--json",
    ]);
    done.assert_failed("storage");
    assert!(done.err.contains(&out), "{done:?}");
}

#[test]
fn verbs_accept_names_and_ids() {
    let world = World::without_model();
    let imported = world.json(&["import", &world.file("mira.json", card("Mira Quay"))]);
    let id = imported["imported"][0]["id"].as_str().unwrap();
    for name in ["Mira Quay", "MIRA quay", id] {
        assert_eq!(
            world.json(&["show", "character", name])["fields"]["name"],
            "Mira Quay",
            "{name}"
        );
    }
    world
        .run(&["show", "character", "Nobody", "--json"])
        .assert_failed("notFound");
}

#[test]
fn ambiguous_name_lists_the_candidates() {
    let world = World::without_model();
    let twins = [card("Twin"), card("Twin").replace("calm", "wild")];
    let ids: Vec<String> = twins
        .iter()
        .enumerate()
        .map(|(at, card)| {
            let report = world.json(&["import", &world.file(&format!("{at}.json"), card)]);
            report["imported"][0]["id"].as_str().unwrap().to_owned()
        })
        .collect();
    let done = world.run(&["show", "character", "twin", "--json"]);
    done.assert_failed("ambiguous");
    assert!(ids.iter().all(|id| done.err.contains(id)), "{done:?}");
}

#[test]
fn every_list_has_ids_and_names() {
    let world = World::with_model();
    for kind in ["characters", "chats", "personas", "models"] {
        let items = world.json(&["list", kind])["items"]
            .as_array()
            .unwrap()
            .clone();
        assert!(!items.is_empty(), "{kind}");
        for item in items {
            assert!(item["id"].is_string() && item["name"].is_string(), "{item}");
        }
    }
    let persona = &world.json(&["list", "personas"])["items"][0];
    assert_eq!(
        &world.json(&["show", "persona", persona["name"].as_str().unwrap()]),
        persona
    );
}

#[test]
fn output_replaces_control_characters_of_a_card() {
    let world = World::without_model();
    world.json(&[
        "import",
        &world.file(
            "evil.json",
            card("Evil").replace("calm", "\\u001b[2Jcalm\\u0007"),
        ),
    ]);
    let done = world.run(&["show", "character", "Evil"]);
    assert!(done.out.contains("calm"), "{done:?}");
    assert!(
        !done.out.chars().any(|c| c.is_control() && c != '\n'),
        "{done:?}"
    );
}

#[test]
fn lists_selects_checks_and_removes_models() {
    let world = World::with_model();
    let listed = world.json(&["models", "list"]);
    let model = &listed["items"][0];
    for field in [
        "id",
        "name",
        "path",
        "bytes",
        "sha256",
        "architecture",
        "context",
        "fits",
    ] {
        assert!(!model[field].is_null(), "{field}: {model}");
    }
    assert_eq!(world.json(&["list", "models"]), listed);
    assert_eq!(
        world.json(&["models", "default", "smollm2-135m-instruct.q4_1"])["default"],
        true
    );
    let checked = world.json(&["models", "check"]);
    assert_eq!(
        (&checked["items"][0]["ok"], &checked["items"][0]["reason"]),
        (&json!(true), &json!(""))
    );
    let removed = world.json(&["models", "remove", model["id"].as_str().unwrap()]);
    assert_eq!(removed["id"], model["id"]);
}

#[test]
fn check_reports_changed_and_missing_models() {
    let source = World::with_model().json(&["models", "list"])["items"][0]["path"]
        .as_str()
        .unwrap()
        .to_owned();
    let world = World::without_model();
    let copy = world.path("copy.gguf");
    std::fs::copy(source, &copy).unwrap();
    world.json(&["models", "add", copy.to_str().unwrap()]);

    let mut bytes = std::fs::read(&copy).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&copy, bytes).unwrap();
    let done = world.run(&["models", "check", "--json"]);
    assert_eq!(
        (done.code, &done.json()["items"][0]["ok"]),
        (1, &json!(false)),
        "{done:?}"
    );
    assert!(
        done.json()["items"][0]["reason"]
            .as_str()
            .unwrap()
            .contains("has changed since it was added")
    );

    std::fs::remove_file(&copy).unwrap();
    let done = world.run(&["models", "check", "--json"]);
    assert!(
        done.json()["items"][0]["reason"]
            .as_str()
            .unwrap()
            .contains("is missing"),
        "{done:?}"
    );
}

#[test]
fn refuses_a_file_that_is_not_a_model() {
    let world = World::without_model();
    let file = world.file("broken.gguf", b"GGUF\x03\x00\x00\x00garbage");
    world
        .run(&["models", "add", &file, "--json"])
        .assert_failed("badInput");
}

#[test]
fn doctor_gives_a_reason_for_each_failure() {
    let healthy = World::with_model().json(&["doctor"]);
    assert_eq!(healthy["ok"], true, "{healthy}");

    let done = World::without_model().run(&["doctor", "--json"]);
    assert_eq!(
        (done.code, &done.json()["ok"]),
        (1, &json!(false)),
        "{done:?}"
    );
    for check in done.json()["checks"].as_array().unwrap() {
        assert!(
            check["ok"] == true || !check["reason"].as_str().unwrap().is_empty(),
            "{check}"
        );
    }
}

/// We do not support this pre-tokenizer, so the worker counts, and the doctor reports it.
#[test]
fn doctor_reports_how_tokens_are_counted() {
    let world = World::with_model();
    let source = world.json(&["models", "list"])["items"][0]["path"]
        .as_str()
        .unwrap()
        .to_owned();
    let mut bytes = std::fs::read(source).unwrap();
    let rule = b"tokenizer.ggml.pre\x08\0\0\0\x06\0\0\0\0\0\0\0smollm";
    let at = bytes
        .windows(rule.len())
        .position(|window| window == rule)
        .unwrap()
        + rule.len()
        - 6;
    bytes[at..at + 6].copy_from_slice(b"jais-2");
    let other = world.file("other.gguf", bytes);
    world.json(&["models", "add", &other]);

    let text = world.file("text.txt", "a lamp");
    let count = world.json(&["tokens", "--model", "other", &text]);
    assert_eq!(
        (&count["tokens"], &count["exact"]),
        (&json!(2), &json!(true))
    );
    let health = world.json(&["doctor"]);
    let checks = health["checks"].as_array().unwrap();
    let check = checks
        .iter()
        .find(|check| check["name"] == "token counts of other")
        .unwrap();
    assert_eq!(check["ok"], true);
    let why = "this process does not support the pre-tokenizer \"jais-2\"";
    assert_eq!(
        check["reason"],
        format!("exact, by the model process ({why})")
    );
}

/// Answers every request with these bytes.
fn serve(bytes: Vec<u8>) -> String {
    use std::io::{BufRead as _, BufReader, Write as _};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/tiny.gguf", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let lines = BufReader::new(stream.try_clone().unwrap())
                .lines()
                .map_while(Result::ok);
            lines.take_while(|line| !line.is_empty()).for_each(drop);
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                bytes.len()
            );
            stream
                .write_all(&[head.as_bytes(), &bytes].concat())
                .unwrap();
        }
    });
    address
}

#[test]
fn downloads_a_model_and_verifies_its_checksum() {
    let world = World::with_model();
    let default = world.json(&["models", "list"])["items"][0].clone();
    let address = serve(std::fs::read(default["path"].as_str().unwrap()).unwrap());
    let place = world.data_dir().join("models").join("tiny.gguf");
    let other = "0".repeat(64);
    world
        .run(&["models", "get", &address, "--sha256", &other, "--json"])
        .assert_failed("badInput");
    assert!(!place.exists());
    let model = world.json(&[
        "models",
        "get",
        &address,
        "--sha256",
        default["sha256"].as_str().unwrap(),
    ]);
    assert_eq!(
        (&model["sha256"], &model["path"]),
        (&default["sha256"], &json!(place.to_str().unwrap()))
    );
    world
        .run(&["models", "get", &address, "--json"])
        .assert_failed("badInput");

    let page = serve(b"<!DOCTYPE html>".to_vec());
    let page = page.replace("tiny", "page");
    world
        .run(&["models", "get", &page, "--json"])
        .assert_failed("badInput");
    let left: Vec<_> = std::fs::read_dir(world.data_dir().join("models"))
        .unwrap()
        .flatten()
        .collect();
    assert_eq!(left.len(), 1, "{left:?}");
    world
        .run(&["models", "get", "http://models.example/a.gguf", "--json"])
        .assert_failed("badInput");
}

#[test]
fn doctor_explains_an_unusable_data_folder() {
    let world = World::without_model();
    world.file("data", "a file where the folder should be");
    let done = world.run(&["doctor", "--json"]);
    assert_eq!(
        (done.code, &done.json()["ok"]),
        (1, &json!(false)),
        "{done:?}"
    );
    assert!(
        !done.json()["checks"][0]["reason"]
            .as_str()
            .unwrap()
            .is_empty()
    );
    world
        .run(&["list", "chats", "--json"])
        .assert_failed("storage");
}

#[test]
fn shows_and_sets_settings_with_their_origin() {
    let world = World::without_model();
    let chat = world.json(&["list", "chats"])["items"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let set = world.json(&["set", "history_cap", "3000", "--chat", &chat]);
    assert_eq!(
        (&set["value"], &set["origin"]),
        (&json!(3000), &json!("chat"))
    );

    let shown = world.run(&["show", "settings", "--chat", &chat]);
    assert!(
        shown
            .out
            .contains("history_cap = 3000 tokens (set for the chat)\n"),
        "{shown:?}"
    );
    assert!(
        shown
            .out
            .contains("min_tail_messages = 10 messages (built in)\n"),
        "{shown:?}"
    );
    let shown = world.run(&["show", "settings"]);
    assert!(
        shown.out.contains("history_cap = auto (built in)\n"),
        "{shown:?}"
    );

    world.json(&["set", "mirostat", "2"]);
    let told = world.run(&["set", "top_k", "30"]);
    assert_eq!(
        told.out,
        "top_k = 30 (set for the whole app)\n    no effect while mirostat = 2\n"
    );

    let reset = world.json(&["set", "history_cap", "--reset", "--chat", &chat]);
    assert_eq!(
        (&reset["value"], &reset["origin"]),
        (&json!("auto"), &json!("builtIn"))
    );
    let refused = world.run(&["set", "temperature", "warm"]);
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains("a number from 0 to 2"), "{refused:?}");
}

#[test]
fn sets_which_prompts_and_logs_are_kept() {
    let world = World::without_model();
    let set = world.json(&["set", "keep_prompts", "30-days"]);
    assert_eq!(
        (&set["value"], &set["origin"]),
        (&json!("30-days"), &json!("global"))
    );
    let refused = world.run(&["set", "keep_prompts", "sometimes"]);
    assert_eq!(refused.code, 1);

    let set = world.run(&["set", "write_log", "off"]);
    assert_eq!(set.out, "write_log = off (set for the whole app)\n");
    assert!(world.data_dir().join("logs/off").exists());
    world.json(&["set", "write_log", "--reset"]);
    assert!(!world.data_dir().join("logs/off").exists());
}

/// Settings that the environment overrides appear in the health report and in the settings.
#[test]
fn shows_overrides_by_the_environment() {
    let world = World::without_model();
    let run = |args: &[&str], limit: &str| {
        let mut command = world.command(args);
        let output = command
            .env("INGLENOOK_CONTEXT_LIMIT", limit)
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(
        run(&["show", "settings"], "4096")
            .contains("context_limit = 4096 tokens (from INGLENOOK_CONTEXT_LIMIT)\n")
    );
    assert!(
        run(&["doctor"], "4096")
            .contains("ok  settings: INGLENOOK_CONTEXT_LIMIT=4096 overrides context_limit\n")
    );
    let told = run(&["doctor"], "lots");
    assert!(
        told.contains(
            "NO  settings: INGLENOOK_CONTEXT_LIMIT is set, but \"lots\" is not a whole number"
        ),
        "{told}"
    );
}

#[test]
fn lists_shows_and_exports_presets() {
    let world = World::without_model();
    let file = world.file(
        "Big O.json",
        serde_json::json!({"temp": 0.87, "top_p": 0.99, "tfs": 0.9}).to_string(),
    );
    world.json(&["import", &file]);
    let listed = world.json(&["list", "presets"]);
    let kinds: Vec<_> = listed["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["kind"].as_str().unwrap())
        .collect();
    assert!(
        ["samplerPreset", "chatFormat", "mode"]
            .iter()
            .all(|kind| kinds.contains(kind)),
        "{listed}"
    );
    assert_eq!(
        world.json(&["show", "preset", "big o"])["values"]["temperature"],
        0.87
    );
    assert_eq!(world.json(&["show", "preset", "ChatML"])["built_in"], true);
    assert_eq!(
        world.json(&["show", "template", "title"])["summary"]["kind"],
        "utility"
    );

    let out = world.path("out.json").to_str().unwrap().to_owned();
    world.json(&[
        "export",
        "preset",
        "Big O",
        "--as",
        "sillytavern",
        "--out",
        &out,
    ]);
    let written: serde_json::Value = serde_json::from_slice(&std::fs::read(&out).unwrap()).unwrap();
    assert_eq!(
        (&written["temp"], &written["tfs"]),
        (&0.87.into(), &0.9.into())
    );
    assert_ne!(
        world
            .run(&["export", "preset", "Big O", "--as", "png", "--out", &out])
            .code,
        0
    );
}

#[test]
fn folders_are_made_filled_and_deleted() {
    let world = World::without_model();
    let files = [
        world.file("mira.json", card("Mira Quay")),
        world.file("bo.json", card("Bo")),
    ];
    world.json(&["import", &files[0], &files[1]]);
    let outer = world.json(&[
        "folders",
        "add",
        "Harbour",
        "--color",
        "blue",
        "--characters",
    ]);
    world.json(&[
        "folders",
        "add",
        "Pier",
        "--inside",
        "Harbour",
        "--characters",
    ]);
    let moved = world.json(&[
        "folders",
        "move",
        "Mira Quay",
        "Bo",
        "--to",
        "Pier",
        "--characters",
    ]);
    assert_eq!(moved["changed"].as_array().unwrap().len(), 2);
    let again = world.run(&["folders", "move", "Bo", "--to", "Pier", "--characters"]);
    assert_eq!(again.out.trim(), "nothing changed");
    let listed = world.run(&["folders", "list"]).out;
    assert!(
        listed.contains("Pier (characters, inside Harbour)"),
        "{listed}"
    );
    assert_eq!(
        world.run(&["folders", "move", "Bo", "--to", "Pier"]).code,
        1,
        "chats have no such folder"
    );

    world.json(&["folders", "delete", "Pier", "--characters"]);
    let items = world.json(&["list", "characters"])["items"]
        .as_array()
        .unwrap()
        .clone();
    let bo = items.iter().find(|one| one["name"] == "Bo").unwrap();
    assert_eq!(bo["place"]["folder"], outer["id"]);
}

#[test]
fn chats_are_pinned_and_archived() {
    let world = World::without_model();
    let place = || world.json(&["list", "chats"])["items"][0].clone();
    let id = place()["id"].as_str().unwrap().to_owned();
    world.json(&["folders", "pin", &id]);
    world.json(&["folders", "archive", &id]);
    assert_eq!(
        place()["place"],
        json!({ "folder": null, "pinned": true, "archived": true })
    );
    assert_eq!(
        world.run(&["folders", "archive", &id, "--undo"]).out.trim(),
        "1 item taken out of the archive"
    );
    world.json(&["folders", "pin", &id, "--undo"]);
    assert_eq!(
        place()["place"],
        json!({ "folder": null, "pinned": false, "archived": false })
    );
}

#[test]
fn copies_cards_and_restores_versions() {
    let world = World::without_model();
    world.json(&["import", &world.file("mira.json", card("Mira Quay"))]);
    let persona = world.json(&["character", "to-persona", "Mira Quay"]);
    assert_eq!(persona["name"], "Mira Quay");
    world.json(&["character", "persona", "Mira Quay", "Mira Quay"]);
    assert_eq!(
        world.json(&["character", "versions", "Mira Quay"])["items"],
        json!([])
    );
    let copy = world.json(&["character", "duplicate", "Mira Quay"]);
    assert_eq!(copy["name"], "Mira Quay (2)");
    assert_eq!(
        world
            .run(&["character", "restore", copy["id"].as_str().unwrap(), "7"])
            .code,
        1
    );
    let back = world.json(&["character", "from-persona", "Mira Quay"]);
    assert_ne!(back["id"], copy["id"]);
}
