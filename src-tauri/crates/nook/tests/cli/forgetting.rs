//! Tests of `forget`: no file of the data folder contains the forgotten afterwards, nor a second
//! place that was away.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::world::{World, card};

const CANARY: &str = "the-canary-sings-at-dawn";

/// The files below a folder that contain the canary.
fn canary_in(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(canary_in(&path));
        } else if fs::read(&path)
            .unwrap()
            .windows(CANARY.len())
            .any(|window| window == CANARY.as_bytes())
        {
            found.push(path.display().to_string());
        }
    }
    found
}

/// A world with a character whose card and chat contain the canary, and the id of the chat.
fn with_canary() -> (World, String) {
    let world = World::without_model();
    let mut mira: Value = serde_json::from_str(&card("Mira Quay")).unwrap();
    for field in ["description", "first_mes"] {
        mira["data"][field] = json!(CANARY);
    }
    let file = world.file("cards/mira.json", mira.to_string());
    let imported = world.json(&["import", &file]);
    let id = imported["imported"][0]["id"].as_str().unwrap();
    let arguments = json!({ "character": id }).to_string();
    let chat = world.json(&["call", "new_chat", &arguments]);
    (world, chat["id"].as_str().unwrap().to_owned())
}

fn kinds(report: &Value) -> Vec<&str> {
    let left = report["left"].as_array().unwrap();
    left.iter()
        .map(|one| one["kind"].as_str().unwrap())
        .collect()
}

#[test]
fn forgotten_character_is_in_no_file() {
    let world = with_canary().0;
    let second = world.path("second");
    fs::create_dir(&second).unwrap();
    world.json(&["backup", "--second-place", second.to_str().unwrap()]);
    world.json(&["backup"]);
    assert!(!canary_in(&world.data_dir()).is_empty());
    assert!(!canary_in(&second).is_empty());
    let ours = second.join("Inglenook backups");
    let away = world.path("away");
    fs::rename(&ours, &away).unwrap();

    let report = world.json(&["forget", "--character", "Mira Quay", "--yes"]);
    assert_eq!(report["removed"]["characters"], 1, "{report}");
    assert_eq!(report["removed"]["chats"], 1, "{report}");
    assert_eq!(kinds(&report), ["secondPlaceAway"]);
    assert_eq!(canary_in(&world.data_dir()), [""; 0]);
    assert!(!canary_in(&away).is_empty());

    if ours.exists() {
        fs::remove_dir_all(&ours).unwrap();
    }
    fs::rename(&away, &ours).unwrap();
    world.json(&["backup"]);
    assert_eq!(canary_in(&second), [""; 0]);
    assert_eq!(canary_in(&world.data_dir()), [""; 0]);
    assert_eq!(world.json(&["check"])["ok"], true);
}

#[test]
fn forget_changes_nothing_without_a_yes() {
    let world = with_canary().0;
    let asked = world.run(&["forget", "--character", "Mira Quay"]);
    assert_eq!(asked.code, 1, "{asked:?}");
    assert!(asked.out.contains("characters: 1"), "{asked:?}");
    assert!(asked.err.contains("--yes"), "{asked:?}");
    let asked = world.run(&["forget", "--character", "Mira Quay", "--json"]);
    assert_eq!(
        (asked.code, &asked.json()["removed"]["chats"]),
        (1, &json!(1))
    );
    world.json(&["show", "character", "Mira Quay"]);
}

#[test]
fn forget_takes_one_subject() {
    let world = World::without_model();
    for args in [
        &["forget"][..],
        &["forget", "--from", "2026-01-01"],
        &["forget", "--to", "2026-01-01"],
        &["forget", "--character", "Mira", "--persona", "Sam"],
    ] {
        assert_eq!(world.run(args).code, 2, "{args:?}");
    }
    world
        .run(&["forget", "--character", "Nobody", "--yes", "--json"])
        .assert_failed("notFound");
    for span in [["yesterday", "2026-01-01"], ["2026-01-02", "2026-01-01"]] {
        world
            .run(&[
                "forget", "--from", span[0], "--to", span[1], "--yes", "--json",
            ])
            .assert_failed("badInput");
    }
}

#[test]
fn forgotten_days_take_their_chats_along() {
    let (world, chat) = with_canary();
    let none = [
        "forget",
        "--from",
        "1999-01-01",
        "--to",
        "1999-12-31",
        "--yes",
    ];
    assert_eq!(world.json(&none)["removed"]["messages"], 0);
    let all = [
        "forget",
        "--from",
        "2000-01-01",
        "--to",
        "2999-12-31",
        "--yes",
    ];
    let report = world.json(&all);
    assert!(report["removed"]["messages"].as_u64().unwrap() >= 1);
    let left = world.json(&["list", "chats"]);
    let chats = left["items"].as_array().unwrap();
    assert!(chats.iter().all(|one| one["id"] != json!(chat)));
    world.json(&["show", "character", "Mira Quay"]);
}

#[test]
fn kept_backups_are_reported() {
    let world = with_canary().0;
    world.json(&["backup"]);
    let report = world.json(&[
        "forget",
        "--character",
        "Mira Quay",
        "--keep-backups",
        "--yes",
    ]);
    assert_eq!(
        (kinds(&report), &report["backups"]),
        (vec!["backupsKept"], &json!(0))
    );
    assert!(
        canary_in(&world.data_dir())
            .iter()
            .all(|file| file.contains("backups"))
    );
}
