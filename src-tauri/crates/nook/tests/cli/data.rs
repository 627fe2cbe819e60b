//! Tests of backup, restore, check, archive and trash.

use serde_json::json;

use crate::world::{World, card};

fn names(world: &World) -> Vec<String> {
    let listed = world.json(&["list", "characters"]);
    listed["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn restore_brings_back_the_data() {
    let world = World::without_model();
    world.json(&["import", &world.file("mira.json", card("Mira Quay"))]);
    let made = world.json(&["backup"]);
    assert_eq!(
        made["bytes"],
        json!(
            std::fs::metadata(made["file"].as_str().unwrap())
                .unwrap()
                .len()
        )
    );
    let listed = world.json(&["backup", "--list"]);
    assert_eq!(listed["items"], json!([made]));
    world.json(&["import", &world.file("bo.json", card("Bo"))]);
    assert!(names(&world).contains(&"Bo".to_owned()));

    let restored = world.json(&["restore"]);
    let aside = restored["aside"].as_str().unwrap();
    assert!(
        std::path::Path::new(aside).join("inglenook.db").is_file(),
        "{aside}"
    );
    let now = names(&world);
    assert!(
        now.contains(&"Mira Quay".to_owned()) && !now.contains(&"Bo".to_owned()),
        "{now:?}"
    );

    let older = std::path::Path::new(aside).join("inglenook.db");
    world.json(&["restore", older.to_str().unwrap()]);
    assert!(
        names(&world).contains(&"Bo".to_owned()),
        "any complete database can be restored"
    );
}

#[test]
fn restore_of_another_file_changes_nothing() {
    let world = World::without_model();
    world.run(&["restore", "--json"]).assert_failed("storage");
    let before = names(&world);
    let other = world.file("other.db", "no database");
    world
        .run(&["restore", &other, "--json"])
        .assert_failed("storage");
    assert_eq!(names(&world), before);
}

#[test]
fn check_names_damaged_files() {
    let world = World::without_model();
    names(&world);
    world.json(&["backup"]);
    let whole = world.json(&["check"]);
    let of = |report: &serde_json::Value| -> Vec<(String, bool)> {
        let checks = report["checks"].as_array().unwrap();
        checks
            .iter()
            .map(|one| (one["name"].as_str().unwrap().to_owned(), one["ok"] == true))
            .collect()
    };
    assert_eq!(whole["ok"], true, "{whole}");
    assert_eq!(of(&whole).len(), 3);

    let folders = std::fs::read_dir(world.data_dir().join("assets")).unwrap();
    let folder = folders
        .flatten()
        .find(|entry| entry.path().is_dir())
        .unwrap()
        .path();
    let picture = std::fs::read_dir(&folder)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    std::fs::write(&picture, "something else").unwrap();
    let backups = std::fs::read_dir(world.data_dir().join("backups")).unwrap();
    let backup = backups
        .flatten()
        .find(|entry| entry.path().extension().is_some_and(|end| end == "db"))
        .unwrap()
        .path();
    std::fs::write(&backup, "something else").unwrap();
    let done = world.run(&["check", "--json"]);
    assert_eq!(done.code, 1, "{done:?}");
    let told = of(&done.json());
    assert_eq!(
        told.iter().map(|(_, ok)| *ok).collect::<Vec<_>>(),
        [true, false, false],
        "{told:?}"
    );
    let reason = done.json()["checks"][1]["reason"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        reason.contains(picture.file_name().unwrap().to_str().unwrap()),
        "{reason}"
    );
}

#[test]
fn missing_database_is_reported_and_restored() {
    let world = World::without_model();
    world.json(&["import", &world.file("mira.json", card("Mira Quay"))]);
    let before = names(&world);
    world.json(&["backup"]);
    let database = world.data_dir().join("inglenook.db");
    for lost in [true, false] {
        std::fs::remove_file(&database).unwrap();
        if !lost {
            std::fs::write(&database, "").unwrap();
        }
        world
            .run(&["list", "characters", "--json"])
            .assert_failed("damaged");
        world.json(&["restore"]);
        assert_eq!(names(&world), before);
    }
}

#[test]
fn fresh_start_must_be_requested() {
    let world = World::without_model();
    names(&world);
    std::fs::remove_file(world.data_dir().join("inglenook.db")).unwrap();
    world
        .run(&["list", "characters", "--json"])
        .assert_failed("damaged");
    world.json(&["restore", "--fresh"]);
    assert!(!names(&world).is_empty());
}

#[test]
fn archive_contains_everything() {
    let (here, there) = (World::without_model(), World::without_model());
    here.json(&["import", &here.file("mira.json", card("Mira Quay"))]);
    let archive = here.file("all.zip", "");
    here.json(&["backup", "--export", &archive]);
    let made = there.json(&["backup", "--import", &archive]);
    assert_eq!(made["kind"], "imported");
    let file = made["file"].as_str().unwrap();
    let preview = there.json(&["restore", "--preview", file]);
    let gained = preview["characters"]["names_gained"].as_array().unwrap();
    assert!(gained.contains(&json!("Mira Quay")), "{preview}");
    assert!(
        !names(&there).contains(&"Mira Quay".to_owned()),
        "a preview changes nothing"
    );
    there.json(&["restore", file]);
    assert!(names(&there).contains(&"Mira Quay".to_owned()));
    there
        .run(&[
            "backup",
            "--import",
            &there.file("no.zip", "hello"),
            "--json",
        ])
        .assert_failed("badInput");
}

#[test]
fn trash_starts_empty_and_refuses_unknown_ids() {
    let world = World::without_model();
    assert_eq!(world.json(&["trash"])["items"], json!([]));
    world
        .run(&["trash", "--restore", "nobody", "--json"])
        .assert_failed("notFound");
}

#[test]
fn build_from_source_only_shows_its_version() {
    let world = World::without_model();
    let status = world.json(&["update"]);
    assert_eq!(
        (&status["version"], &status["method"], &status["phase"]),
        (
            &json!(env!("CARGO_PKG_VERSION")),
            &json!("source"),
            &json!("idle")
        )
    );
    world
        .run(&["update", "--back", "--json"])
        .assert_failed("badInput");
}

#[cfg(unix)]
#[test]
fn update_goes_back_to_the_previous_version() {
    use std::fs;
    let world = World::without_model();
    // On the disk of the program, so that it can have a second name.
    let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    for name in [version, "0.0.9"] {
        let folder = root.path().join("versions").join(name);
        fs::create_dir_all(folder.join("bin")).unwrap();
        fs::write(folder.join("complete"), "").unwrap();
    }
    fs::write(root.path().join("current"), version).unwrap();
    fs::write(root.path().join("previous"), "0.0.9").unwrap();
    let program = root.path().join("versions").join(version).join("bin/nook");
    fs::hard_link(env!("CARGO_BIN_EXE_nook"), &program).unwrap();
    let done = std::process::Command::new(&program)
        .arg("--data-dir")
        .arg(world.data_dir())
        .args(["update", "--back", "--json"])
        .env("INGLENOOK_MODELS", world.path("no-models"))
        .env_remove("DBUS_SESSION_BUS_ADDRESS")
        .output()
        .unwrap();
    let status: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(status["next_version"], "0.0.9", "{done:?}");
    let warning = String::from_utf8(done.stderr).unwrap();
    assert!(warning.contains("may refuse data"), "{warning}");
    let current = fs::read_to_string(root.path().join("current")).unwrap();
    assert_eq!(current.trim(), "0.0.9");
}
