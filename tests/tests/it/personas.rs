//! Personas bound to characters, the place of their descriptions, and conversions between personas
//! and characters.

use domain::{CharacterId, PersonaId};
use engine::api::{
    CharacterFields, ChatFileFormat, NoteRole, PersonaDraft, PersonaPlace, PersonaPosition,
};
use serde_json::json;
use tests::headless::Headless;

async fn character(app: &Headless, name: &str, description: &str) -> CharacterId {
    let card = json!({ "spec": "chara_card_v2", "spec_version": "2.0", "data": {
        "name": name, "description": description, "personality": "patient", "scenario": "A calm night.",
        "first_mes": "Hello, {{user}}.", "mes_example": "", "creator_notes": "", "system_prompt": "",
        "post_history_instructions": "", "alternate_greetings": [], "tags": [], "creator": "",
        "character_version": "", "extensions": {} } });
    let report = app
        .engine
        .import_bytes(format!("{name}.json"), card.to_string().into_bytes())
        .await
        .unwrap();
    report.imported[0].id.parse().unwrap()
}

async fn persona(app: &Headless, name: &str, place: PersonaPlace) -> PersonaId {
    let persona = PersonaDraft {
        id: None,
        name: name.into(),
        description: format!("{name} draws maps."),
        instructions: String::new(),
        place,
    };
    app.engine.save_persona(persona).await.unwrap().id
}

/// Sends a message in a new chat and returns the role and text of each message of the prompt.
async fn prompt(
    app: &Headless,
    character: CharacterId,
    persona: PersonaId,
) -> Vec<(&'static str, String)> {
    let chat = app.engine.new_chat(character).await.unwrap().id;
    app.engine.set_chat_persona(chat, persona).await.unwrap();
    for _ in 0..3 {
        app.model.reply("Hm.");
        app.send(chat, "And then?").await;
    }
    let sent = app.model.last_request().unwrap().prompt.messages;
    sent.into_iter()
        .map(|message| (message.role.as_str(), message.text))
        .collect()
}

fn place(position: PersonaPosition) -> PersonaPlace {
    PersonaPlace {
        position,
        depth: 2,
        role: NoteRole::User,
    }
}

#[tokio::test]
async fn new_chat_begins_with_the_bound_persona() {
    let app = Headless::new().await;
    let (ada, bo) = (
        character(&app, "Ada", "A keeper.").await,
        character(&app, "Bo", "A baker.").await,
    );
    let wren = persona(&app, "Wren", PersonaPlace::default()).await;
    let before = app.engine.new_chat(ada).await.unwrap();
    app.engine.bind_persona(ada, Some(wren)).await.unwrap();

    let chat = app.engine.new_chat(ada).await.unwrap();
    assert_eq!(chat.persona.id, wren);
    assert_eq!(chat.page.messages[0].swipes[0].text, "Hello, Wren.");
    assert_ne!(app.engine.new_chat(bo).await.unwrap().persona.id, wren);
    // A group takes the persona of the first member that has one. A chat that exists keeps its own.
    assert_eq!(
        app.engine
            .new_group(String::new(), vec![bo, ada])
            .await
            .unwrap()
            .persona
            .id,
        wren
    );
    assert_eq!(
        app.engine.open_chat(before.id).await.unwrap().persona.id,
        before.persona.id
    );

    let bound = app
        .engine
        .list_personas()
        .await
        .unwrap()
        .into_iter()
        .find(|persona| persona.id == wren)
        .unwrap();
    assert_eq!(bound.characters, [ada]);
    app.engine.bind_persona(ada, None).await.unwrap();
    assert_ne!(app.engine.new_chat(ada).await.unwrap().persona.id, wren);
}

#[tokio::test]
async fn deleting_a_bound_persona_restores_the_default() {
    let app = Headless::new().await;
    let ada = character(&app, "Ada", "A keeper.").await;
    let wren = persona(&app, "Wren", PersonaPlace::default()).await;
    app.engine.bind_persona(ada, Some(wren)).await.unwrap();
    app.engine.delete_persona(wren).await.unwrap();
    assert_ne!(app.engine.new_chat(ada).await.unwrap().persona.id, wren);
    assert!(app.engine.bind_persona(ada, Some(wren)).await.is_err());
}

#[tokio::test]
async fn persona_decides_where_its_description_is() {
    let app = Headless::new().await;
    let ada = character(&app, "Ada", "A keeper.").await;
    let about = "Wren draws maps.";

    let after = persona(&app, "Wren", place(PersonaPosition::AfterCard)).await;
    let head = prompt(&app, ada, after).await.remove(0).1;
    assert!(
        head.find("A calm night.").unwrap() < head.find(about).unwrap(),
        "{head}"
    );

    let in_chat = persona(&app, "Wren", place(PersonaPosition::InChat)).await;
    let sent = prompt(&app, ada, in_chat).await;
    let at = sent
        .iter()
        .position(|(_, text)| text.contains(about))
        .unwrap();
    assert!(at > 0 && sent[at].0 == "user", "{sent:?}");

    let absent = persona(&app, "Wren", place(PersonaPosition::Absent)).await;
    let sent = prompt(&app, ada, absent).await;
    assert!(
        sent.iter().all(|(_, text)| !text.contains(about)),
        "{sent:?}"
    );
}

#[tokio::test]
async fn impossible_depth_is_refused() {
    let app = Headless::new().await;
    let nobody = app.engine.list_personas().await.unwrap().remove(0);
    let place = PersonaPlace {
        depth: u32::MAX,
        ..place(PersonaPosition::InChat)
    };
    let draft = PersonaDraft {
        place,
        ..nobody.into()
    };
    assert!(app.engine.save_persona(draft).await.is_err());
}

#[tokio::test]
async fn character_becomes_a_persona_and_comes_back() {
    let app = Headless::new().await;
    let ada = character(&app, "Ada", "{{char}} waits for {{user}}.").await;
    let persona = app.engine.persona_from_character(ada).await.unwrap();
    assert_eq!(
        (persona.name.as_str(), persona.description.as_str()),
        ("Ada", "{{user}} waits for {{char}}.\n\npatient")
    );

    let back = app.engine.character_from_persona(persona.id).await.unwrap();
    assert_ne!(back.id, ada);
    let CharacterFields {
        name, description, ..
    } = back.fields;
    assert_eq!(
        (name.as_str(), description.as_str()),
        ("Ada", "{{char}} waits for {{user}}.\n\npatient")
    );
    assert!(
        app.engine
            .call("character_from_persona", br#"{"persona":"nobody"}"#)
            .await
            .is_err()
    );
}

/// Messages keep the name of their persona: shown, exported and sent.
#[tokio::test]
async fn messages_keep_the_name_of_their_time() {
    let app = Headless::new().await;
    let ada = character(&app, "Ada", "keeps the lighthouse").await;
    let (tom, rosa) = (
        persona(&app, "Tom", PersonaPlace::default()).await,
        persona(&app, "Rosa", PersonaPlace::default()).await,
    );
    let chat = app.engine.new_chat(ada).await.unwrap().id;
    for (id, name) in [(tom, "Tom"), (rosa, "Rosa")] {
        app.engine.set_chat_persona(chat, id).await.unwrap();
        app.model.reply("Hm.");
        app.send(chat, &format!("I am {name}.")).await;
    }
    let said = |transcript: Vec<String>| {
        transcript
            .into_iter()
            .filter(|line| line.contains("I am"))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        said(app.transcript(chat).await),
        ["Tom: I am Tom.", "Rosa: I am Rosa."]
    );
    let sent = app.model.last_request().unwrap().prompt.messages;
    let ends = |end: &str| sent.iter().any(|message| message.text.ends_with(end));
    assert!(
        ends("Tom: I am Tom.") && ends("I am Rosa.") && !ends("Rosa: I am Rosa."),
        "{sent:?}"
    );
    // A new name and a deleted persona change nothing that was said.
    let mut renamed = app
        .engine
        .list_personas()
        .await
        .unwrap()
        .into_iter()
        .find(|one| one.id == rosa)
        .unwrap();
    renamed.name = "Rose".into();
    app.engine.save_persona(renamed.into()).await.unwrap();
    assert_eq!(
        said(app.transcript(chat).await),
        ["Tom: I am Tom.", "Rosa: I am Rosa."]
    );
    app.model.reply("Hm.");
    app.send(chat, "I am Rose.").await;
    app.engine.delete_persona(rosa).await.unwrap();
    let all = ["Tom: I am Tom.", "Rosa: I am Rosa.", "Rose: I am Rose."];
    assert_eq!(said(app.transcript(chat).await), all);
    for format in [
        ChatFileFormat::Jsonl,
        ChatFileFormat::Text,
        ChatFileFormat::Html,
        ChatFileFormat::Markdown,
    ] {
        let file = app.engine.export_chat(chat, format).await.unwrap();
        let text = String::from_utf8(file.bytes).unwrap();
        for name in ["Tom", "Rosa", "Rose"] {
            assert!(text.contains(name), "{format:?} lacks {name}: {text}");
        }
    }
    let found = app
        .engine
        .search_messages("Rosa".into(), Some(chat), 0)
        .await
        .unwrap();
    assert!(
        found
            .hits
            .iter()
            .any(|hit| hit.name.as_deref() == Some("Rosa")),
        "{found:?}"
    );
}
