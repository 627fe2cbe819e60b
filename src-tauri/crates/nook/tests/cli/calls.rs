//! Tests of `nook call`.

use serde_json::{Value, json};

use crate::world::{World, card};

#[test]
fn any_operation_is_called_by_its_name() {
    let world = World::without_model();
    world.json(&["import", &world.file("mira.json", card("Mira Quay"))]);
    let listed: Value = serde_json::from_str(&world.run(&["call", "list_characters"]).out).unwrap();
    let mira = listed
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["name"] == "Mira Quay")
        .unwrap();
    assert!(
        mira.get("lastChat").is_some() || mira.get("picture").is_some(),
        "names are those of the page: {mira}"
    );

    let arguments = json!({ "id": mira["id"] }).to_string();
    let deleted = world.run_with_stdin(&["call", "delete_character", "-"], &arguments);
    assert_eq!(
        (deleted.code, deleted.out.trim()),
        (0, "null"),
        "{deleted:?}"
    );
    let left: Value =
        serde_json::from_str(&world.run(&["call", "list_characters", "{}"]).out).unwrap();
    assert!(
        left.as_array()
            .unwrap()
            .iter()
            .all(|one| one["name"] != "Mira Quay"),
        "{left}"
    );

    world
        .run(&["call", "list_dragons", "--json"])
        .assert_failed("notFound");
    world
        .run(&["call", "delete_character", r#"{"name":"Mira"}"#, "--json"])
        .assert_failed("badInput");
}
