//! Tests of group chats without a model.

use crate::world::{World, card};

fn names(shown: &serde_json::Value, key: &str) -> Vec<(String, bool)> {
    let members = shown["group"]["members"].as_array().unwrap();
    members
        .iter()
        .map(|one| {
            (
                one["id"].as_str().unwrap().to_owned(),
                one[key].as_bool().unwrap(),
            )
        })
        .collect()
}

#[test]
fn group_is_made_and_changed() {
    let world = World::without_model();
    for (file, name) in [("a.json", "Ada"), ("b.json", "Bo"), ("c.json", "Cy")] {
        world.json(&["import", &world.file(file, card(name))]);
    }
    let made = world.json(&["group", "create", "Ada", "Bo", "--title", "The table"]);
    assert_eq!(
        (&made["title"], &made["character_name"]),
        (&"The table".into(), &"Ada".into())
    );
    world.json(&["group", "add", "The table", "Cy"]);
    world.json(&["group", "mute", "The table", "Bo"]);
    let away = world.json(&["group", "away", "The table", "Cy"]);
    assert_eq!(
        names(&away, "muted")
            .iter()
            .map(|(_, is)| *is)
            .collect::<Vec<_>>(),
        [false, true, false]
    );
    assert_eq!(
        names(&away, "away")
            .iter()
            .map(|(_, is)| *is)
            .collect::<Vec<_>>(),
        [false, false, true]
    );
    let order = world.json(&[
        "group",
        "order",
        "The table",
        "pooled",
        "--several",
        "false",
        "--self-responses",
        "true",
    ]);
    let options = &order["group"]["options"];
    assert_eq!(
        (&options["order"], &options["several_replies"]),
        (&"pooled".into(), &false.into())
    );
    assert_eq!(options["self_responses"], true);
    let text = world.run(&["group", "show", "The table"]);
    assert!(
        text.out.contains("Bo: muted")
            && text.out.contains("Cy: away")
            && text.out.contains("pooled"),
        "{text:?}"
    );
    world.json(&["group", "tell", "The table", "Cy"]);
    world.json(&["group", "back", "The table", "Cy"]);
    world.json(&["group", "unmute", "The table", "Bo"]);
    let left = world.json(&["group", "remove", "The table", "Cy"]);
    assert_eq!(left["members"].as_array().unwrap().len(), 1);
}

#[test]
fn speaking_needs_a_member_and_a_model() {
    let world = World::without_model();
    for (file, name) in [("a.json", "Ada"), ("b.json", "Bo"), ("c.json", "Cy")] {
        world.json(&["import", &world.file(file, card(name))]);
    }
    assert_eq!(
        world.run(&["group", "create", "Ada"]).code,
        2,
        "a group needs two"
    );
    world.json(&["group", "create", "Ada", "Bo", "--title", "Two"]);
    world
        .run(&["group", "mute", "Two", "Cy", "--json"])
        .assert_failed("badInput");
    world
        .run(&["group", "speak", "Two", "Cy", "--json"])
        .assert_failed("badInput");
    for whom in [&["Bo"][..], &["--narrator"], &[]] {
        let done = world.run(&[&["group", "speak", "Two", "--json"], whom].concat());
        assert_eq!(
            done.ends()[0]["error"]["kind"],
            "noModel",
            "{whom:?}: {done:?}"
        );
    }
    world.json(&["group", "order", "Two", "manual"]);
    world
        .run(&["group", "speak", "Two", "--json"])
        .assert_failed("badInput");
    let kept = world.run(&["chat", "--chat", "Two", "--message", "Hello?", "--json"]);
    assert_eq!(
        kept.code, 0,
        "nobody answers, and the message is kept: {kept:?}"
    );
}
