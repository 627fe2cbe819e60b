//! Tests of folders and file names that some system treats specially.

use crate::world::{World, card};

/// Names that Windows reserves or cannot write, and names that are paths.
const ODD_NAMES: [&str; 12] = [
    "CON",
    "aux.txt",
    "LPT1",
    "com9.card",
    "a:b",
    "ends with a dot.",
    "ends with a blank ",
    "..",
    "../up",
    "C:\\Windows",
    "what? <a|b> \"c\" *",
    "Zoë née Ørsted 灯",
];

#[test]
fn cards_with_odd_names_are_exported_and_imported() {
    let world = World::without_model();
    for (number, name) in ODD_NAMES.iter().enumerate() {
        let file = world.file(&format!("{number}.json"), card(name));
        let id = world.json(&["import", &file])["imported"][0]["id"]
            .as_str()
            .unwrap()
            .to_owned();
        for (format, file) in [
            ("png", "card.png"),
            ("charx", "card.charx"),
            ("json-v3", "card.json"),
        ] {
            let out = world.file(file, "");
            world.json(&["export", "character", &id, "--as", format, "--out", &out]);
            let other = World::without_model();
            let imported = other.json(&["import", &out]);
            assert_eq!(imported["imported"][0]["name"], name.trim(), "{format}");
        }
    }
}

#[test]
fn data_folder_may_have_any_name_and_300_characters() {
    let deep = format!(
        "Zoë's chats (2)/灯/{}",
        ["forty letters of one folder in a row 1234"; 7].join("/")
    );
    let world = World::without_model().in_folder(&deep);
    assert!(world.data_dir().to_str().unwrap().chars().count() > 300);
    world.json(&[
        "import",
        &world.file("née Ørsted/mira quay.json", card("Mira Quay")),
    ]);
    let backup = world.json(&["backup"]);
    world.json(&["import", &world.file("bo.json", card("Bo"))]);
    world.json(&["restore", backup["file"].as_str().unwrap()]);
    let listed = world.json(&["list", "characters"]);
    let names: Vec<_> = listed["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert!(
        names.contains(&"Mira Quay") && !names.contains(&"Bo"),
        "{names:?}"
    );
    assert_eq!(world.json(&["check"])["ok"], true);
}
