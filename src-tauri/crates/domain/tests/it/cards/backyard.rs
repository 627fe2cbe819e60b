//! BYAF: converts a Backyard character to a card, and its scenarios to chats.

use domain::backyard::{BackyardSampling, Scenario, sampling, scenarios};
use domain::card::{Card, CardError, CardVersion, Warning, picture as picture_of};
use domain::chat_file::ChatFileAuthor;
use serde_json::{Value, json};

use super::archives::{archive, members};
use super::support::{leaves, picture, v3};

fn character() -> Value {
    json!({"schemaVersion": 1, "id": "c1", "name": "Wren", "displayName": "Wren Hollow", "isNSFW": false,
        "persona": "{character} keeps {user}'s letters.", "createdAt": "2025-06-12T19:03:56.873Z",
        "updatedAt": "2025-06-12T19:03:56.873Z", "odd": {"deep": [1]},
        "loreItems": [{"key": "lamp, oil", "value": "Lit by {character}."}],
        "images": [{"path": "images/a.png", "label": "first"}, {"path": "images/b.webp", "label": "hat"},
            {"path": "images/gone.png", "label": "gone"}]})
}

fn scenario(title: &str, greeting: &str) -> Value {
    json!({"schemaVersion": 1, "title": title, "formattingInstructions": "Write as {character}.", "minP": 0.1,
        "minPEnabled": true, "temperature": 1.3, "repeatPenalty": 1.1, "repeatLastN": 128, "topK": 40, "topP": 0.9,
        "exampleMessages": [{"characterID": "u", "text": "Who is there?"}, {"characterID": "c1", "text": "Me, {user}."}],
        "canDeleteExampleMessages": true, "firstMessages": [{"characterID": "c1", "text": greeting}],
        "narrative": format!("{{user}} comes to the {title}."), "promptTemplate": null, "grammar": null, "messages": []})
}

fn chat() -> Value {
    let at = |minute: u32| format!("2025-06-12T19:{minute:02}:00.000Z");
    let output = |text: &str, written: u32, active: u32| json!({"text": text, "createdAt": at(written), "updatedAt": at(written), "activeTimestamp": at(active)});
    json!([{"type": "human", "createdAt": at(1), "updatedAt": at(1), "text": "Hello."},
        {"type": "ai", "outputs": [output("One.", 2, 2), output("Two.", 3, 9), output("Three.", 4, 4)]},
        {"type": "narrator", "text": "?"}])
}

fn byaf(scenarios: &[Value]) -> Vec<u8> {
    let paths: Vec<String> = (1..=scenarios.len())
        .map(|at| format!("scenarios/s{at}.json"))
        .collect();
    let manifest = json!({"schemaVersion": 1, "createdAt": "2025-06-12T19:03:56.873Z", "author": {"name": "Ann"},
        "characters": ["characters/c1/character.json"], "scenarios": paths});
    let mut members = vec![
        (
            "manifest.json".to_owned(),
            manifest.to_string().into_bytes(),
        ),
        (
            "characters/c1/character.json".to_owned(),
            character().to_string().into_bytes(),
        ),
        ("characters/c1/images/a.png".to_owned(), picture(&[])),
        ("characters/c1/images/b.webp".to_owned(), b"webp".to_vec()),
    ];
    members.extend(
        paths
            .into_iter()
            .zip(scenarios)
            .map(|(path, one)| (path, one.to_string().into_bytes())),
    );
    let members: Vec<(&str, &[u8])> = members
        .iter()
        .map(|(path, bytes)| (path.as_str(), bytes.as_slice()))
        .collect();
    archive(&members)
}

fn with(mut scenario: Value, key: &str, value: Value) -> Value {
    scenario[key] = value;
    scenario
}

#[test]
fn the_character_becomes_a_card_with_our_macros() {
    let (card, warnings) = Card::read(&byaf(&[scenario("mill", "Come in, {user}.")])).unwrap();
    assert_eq!((card.version(), warnings), (CardVersion::V3, vec![]));
    assert_eq!(
        (card.name(), card.display_name(), card.creator()),
        ("Wren Hollow", "Wren", "Ann")
    );
    assert_eq!(card.description(), "{{char}} keeps {{user}}'s letters.");
    assert_eq!(
        (card.scenario(), card.system_prompt()),
        ("{{user}} comes to the mill.", "Write as {{char}}.")
    );
    assert_eq!(
        (card.first_mes(), card.alternate_greetings()),
        ("Come in, {{user}}.", vec![])
    );
    assert_eq!(
        card.mes_example(),
        "<START>\n{{user}}: Who is there?\n{{char}}: Me, {{user}}."
    );
    let entry = &card.character_book().unwrap()["entries"][0];
    assert_eq!(
        (&entry["keys"], &entry["content"]),
        (&json!(["lamp", "oil"]), &json!("Lit by {{char}}."))
    );
}

#[test]
fn every_scenario_gives_its_greeting_once() {
    let all = [
        scenario("mill", "A"),
        scenario("pier", "B"),
        scenario("wood", "A"),
        scenario("moor", " "),
    ];
    let (card, _) = Card::read(&byaf(&all)).unwrap();
    assert_eq!(
        (card.first_mes(), card.alternate_greetings()),
        ("A", vec!["B"])
    );
    assert_eq!(card.scenario(), "{{user}} comes to the mill.");
}

#[test]
fn the_card_keeps_every_leaf_of_all_documents() {
    let talked = with(scenario("pier", "B"), "messages", chat());
    let (card, _) = Card::read(&byaf(&[scenario("mill", "A"), talked.clone()])).unwrap();
    let kept = &card.extensions().unwrap()["backyard"];
    assert_eq!(leaves(&kept["character"]), leaves(&character()));
    assert_eq!(kept["manifest"]["author"], json!({"name": "Ann"}));
    let mut expected = talked;
    expected.as_object_mut().unwrap().remove("messages");
    assert_eq!(kept["scenarios"][1], expected);
    let (again, _) = Card::read(card.to_json_v3().as_bytes()).unwrap();
    assert_eq!(again, card);
}

#[test]
fn chats_include_replies_that_were_not_chosen() {
    let file = byaf(&[
        scenario("mill", "A"),
        with(
            scenario("pier", "Ahoy, {user}, says {character}."),
            "messages",
            chat(),
        ),
    ]);
    let all: Vec<Scenario> = scenarios(&file).unwrap().unwrap().collect();
    let [pier] = &all[..] else { panic!("{all:?}") };
    assert_eq!(
        (pier.title.as_str(), pier.scenario.as_str()),
        ("pier", "{{user}} comes to the pier.")
    );

    let chat = pier.clone().into_chat("Wren", "Ann");
    let told: Vec<_> = chat
        .messages
        .iter()
        .map(|said| (said.by, said.shown().text.as_str()))
        .collect();
    assert_eq!(
        told,
        [
            (ChatFileAuthor::Character, "Ahoy, Ann, says Wren."),
            (ChatFileAuthor::User, "Hello."),
            (ChatFileAuthor::Character, "Two.")
        ]
    );
    let texts: Vec<_> = chat.messages[2]
        .versions
        .iter()
        .map(|version| version.text.as_str())
        .collect();
    assert_eq!(texts, ["One.", "Two.", "Three."]);
    assert_eq!(
        chat.messages[2].versions[0].date,
        "2025-06-12T19:02:00.000Z"
    );
}

#[test]
fn sampler_values_are_read_and_min_p_can_be_off() {
    let (card, _) = Card::read(&byaf(&[scenario("mill", "A")])).unwrap();
    let values: Vec<_> = sampling(&card).unwrap().values().collect();
    let expected = [
        ("temperature", 1.3),
        ("top_k", 40.0),
        ("top_p", 0.9),
        ("min_p", 0.1),
        ("repeat_penalty", 1.1),
    ];
    assert_eq!(values, [&expected[..], &[("repeat_range", 128.0)]].concat());
    let off = with(
        with(scenario("mill", "A"), "minPEnabled", json!(false)),
        "temperature",
        json!("hot"),
    );
    let found = sampling(&Card::read(&byaf(&[off])).unwrap().0).unwrap();
    assert_eq!((found.min_p, found.temperature), (Some(0.0), None));
    let other = Card::new("Mira").unwrap();
    assert_eq!(sampling(&other), None::<BackyardSampling>);
}

#[test]
fn exports_contain_pictures_but_no_chats() {
    let file = byaf(&[with(scenario("mill", "A"), "messages", chat())]);
    let (card, _) = Card::read(&file).unwrap();
    let named: Vec<_> = card
        .assets()
        .iter()
        .map(|asset| (&asset["type"], &asset["name"], &asset["ext"]))
        .collect();
    let (icon, main, hat) = (json!("icon"), json!("main"), json!("hat"));
    assert_eq!(
        named,
        [(&icon, &main, &json!("png")), (&icon, &hat, &json!("webp"))]
    );
    assert_eq!(
        picture_of(&file, &card).unwrap().as_deref(),
        Some(&picture(&[])[..])
    );

    let charx = card.to_charx(Some(&file), None).unwrap();
    let names: Vec<_> = members(&charx).into_keys().collect();
    assert_eq!(
        names,
        [
            "card.json",
            "characters/c1/images/a.png",
            "characters/c1/images/b.webp"
        ]
    );
    assert!(!String::from_utf8_lossy(&members(&charx)["card.json"]).contains("Hello."));
}

#[test]
fn a_bad_scenario_does_not_fail_the_character() {
    let mut bad = byaf(&[scenario("mill", "A"), json!("no object")]);
    let (card, warnings) = Card::read(&bad).unwrap();
    assert_eq!(card.first_mes(), "A");
    assert!(
        matches!(&warnings[..], [Warning::ScenarioLeftOut { path, .. }] if path == "scenarios/s2.json")
    );
    assert_eq!(scenarios(&bad).unwrap().unwrap().count(), 0);
    bad = archive(&[(
        "manifest.json",
        br#"{"characters": ["characters/x/character.json"]}"#,
    )]);
    let error = Card::read(&bad).unwrap_err();
    assert_eq!(
        error,
        CardError::MissingMember {
            path: "characters/x/character.json".into()
        }
    );
    bad = archive(&[("manifest.json", b"{}")]);
    assert!(matches!(
        Card::read(&bad).unwrap_err(),
        CardError::UnknownFormat { .. }
    ));
}

#[test]
fn refuses_documents_above_the_limit() {
    let long = with(
        scenario("mill", "A"),
        "grammar",
        json!(
            (0..800_000)
                .map(|at: u32| at.to_string())
                .collect::<String>()
        ),
    );
    assert!(matches!(
        Card::read(&byaf(&[long])).unwrap_err(),
        CardError::TooLarge { .. }
    ));
    let deep = format!(r#"{{"a": {}1{}}}"#, "[".repeat(98), "]".repeat(98));
    let deep = with(
        scenario("mill", "A"),
        "grammar",
        serde_json::from_str(&deep).unwrap(),
    );
    assert!(
        matches!(
            Card::read(&byaf(&[deep])).unwrap_err(),
            CardError::TooComplex { .. }
        ),
        "it could not be read again"
    );
}

#[test]
fn other_files_have_no_scenarios() {
    let charx = archive(&[
        ("card.json", v3("Mira").as_bytes()),
        ("manifest.json", b"{}"),
    ]);
    for bytes in [&b"{}"[..], &picture(&[]), &charx] {
        assert!(scenarios(bytes).unwrap().is_none());
    }
    assert_eq!(Card::read(&charx).unwrap().0.name(), "Mira");
}
