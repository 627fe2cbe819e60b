//! Characters, personas, chats, models, endpoints, settings, token counts, manifests.

use domain::chat::{Role, WindowState};
use domain::model::{Endpoint, EndpointDialect, LocalModel, ModelChoice};
use domain::overrides::CardText;
use domain::persona::{Persona, PersonaPlace, PersonaPosition};
use domain::prompt::PromptRole;
use domain::settings::Owner;
use domain::{CharacterId, ChatId, EndpointId, ModelId, PersonaId, Timestamp};
use uuid::Uuid;

use super::{
    CHARACTER, CHAT, character, chat, emptied, furnished, message, message_id, say, swipe_id,
};
use crate::{
    AssetHash, ModelAdapter, Preset, PresetKind, ProjectorChoice, Store, StoreError, TextHash,
};

fn uuid(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

async fn names(store: &Store) -> Vec<String> {
    let list = store.read(|r| r.characters().list()).await.unwrap();
    list.into_iter()
        .map(|listed| listed.character.name)
        .collect()
}

#[tokio::test]
async fn characters_are_listed_by_last_chat_then_by_name() {
    let store = Store::in_memory().unwrap();
    store
        .write(|w| {
            for (number, name) in [(1, "zoe"), (2, "Bea"), (3, "Ada"), (4, "Cleo")] {
                w.characters_mut()
                    .insert(&character(CharacterId(uuid(number)), name))?;
            }
            w.chats_mut()
                .insert(&chat(ChatId(uuid(1)), CharacterId(uuid(4)), 10))?;
            w.chats_mut()
                .insert(&chat(ChatId(uuid(2)), CharacterId(uuid(1)), 20))?;
            w.chats_mut()
                .insert(&chat(ChatId(uuid(3)), CharacterId(uuid(1)), 5))
        })
        .await
        .unwrap();

    assert_eq!(names(&store).await, ["zoe", "Cleo", "Ada", "Bea"]);
    let list = store.read(|r| r.characters().list()).await.unwrap();
    assert_eq!((list[0].last_chat, list[0].chats), (Some(Timestamp(20)), 2));
    assert_eq!((list[2].last_chat, list[2].chats), (None, 0));
}

#[tokio::test]
async fn a_deleted_character_hides_her_chats_until_restored() {
    let store = furnished().await;
    say(&store, 1, "hello").await;

    store
        .write(|w| w.characters_mut().soft_delete(CHARACTER, Timestamp(9)))
        .await
        .unwrap();
    let (listed, chats, found) = store
        .read(|r| {
            Ok((
                r.characters().list()?,
                r.chats().list()?,
                r.chats().get(CHAT)?,
            ))
        })
        .await
        .unwrap();
    assert!(listed.is_empty() && chats.is_empty() && found.is_none());
    let again = store
        .write(|w| w.characters_mut().soft_delete(CHARACTER, Timestamp(10)))
        .await;
    assert!(matches!(
        again,
        Err(StoreError::NotFound { what: "character" })
    ));

    store
        .write(|w| w.characters_mut().restore(CHARACTER))
        .await
        .unwrap();
    assert_eq!(names(&store).await, ["Ada"]);
    assert_eq!(super::shown(&store).await, ["hello"]);
}

#[tokio::test]
async fn an_edited_card_keeps_every_byte() {
    let store = furnished().await;
    let mut edited = character(CHARACTER, "Ada \u{1F980}");
    edited.card_json = "{\"extensions\":{\"x\":[1.0,\"\\u0000\"]}}\n".into();
    edited.updated = Timestamp(5);
    let expected = edited.clone();
    store
        .write(move |w| w.characters_mut().update(&edited))
        .await
        .unwrap();
    assert_eq!(
        store.read(|r| r.characters().get(CHARACTER)).await.unwrap(),
        Some(expected)
    );
}

#[tokio::test]
async fn a_chat_survives_the_deletion_of_its_persona() {
    let store = furnished().await;
    let id = PersonaId(uuid(1));
    let mut persona = Persona {
        id,
        name: "Kit".into(),
        description: "a smith".into(),
        instructions: String::new(),
        place: Default::default(),
    };
    let first = persona.clone();
    store
        .write(move |w| {
            w.personas_mut().insert(&first)?;
            w.chats_mut().set_persona(CHAT, Some(id))
        })
        .await
        .unwrap();
    persona.description = "a retired smith".into();
    persona.instructions = "Speak slowly.".into();
    persona.place = PersonaPlace {
        position: PersonaPosition::InChat,
        depth: 7,
        role: PromptRole::User,
    };
    let second = persona.clone();
    store
        .write(move |w| w.personas_mut().update(&second))
        .await
        .unwrap();
    let (list, one) = store
        .read(move |r| Ok((r.personas().list()?, r.personas().get(id)?)))
        .await
        .unwrap();
    assert_eq!((list, one), (vec![persona.clone()], Some(persona)));

    store
        .write(move |w| w.personas_mut().delete(id))
        .await
        .unwrap();
    assert_eq!(
        store
            .read(|r| r.chats().get(CHAT))
            .await
            .unwrap()
            .unwrap()
            .persona,
        None
    );
}

#[tokio::test]
async fn a_chat_stores_draft_model_title_and_window() {
    let store = furnished().await;
    let choice = ModelChoice::Remote(EndpointId(uuid(3)));
    let window = WindowState {
        epoch: 4,
        anchor: Some(message_id(2)),
        fingerprint: "f".into(),
        frozen: "[]".into(),
    };
    let set = window.clone();
    store
        .write(move |w| {
            w.chats_mut().set_draft(CHAT, "I was about to")?;
            w.chats_mut().set_title(CHAT, "The inn")?;
            w.chats_mut().set_model(CHAT, Some(choice))?;
            w.chats_mut().set_window(CHAT, &set)?;
            w.chats_mut().touch(CHAT, Timestamp(50))?;
            w.chats_mut().touch(CHAT, Timestamp(40))
        })
        .await
        .unwrap();
    let found = store.read(|r| r.chats().get(CHAT)).await.unwrap().unwrap();
    assert_eq!(
        (found.draft.as_str(), found.title.as_str()),
        ("I was about to", "The inn")
    );
    assert_eq!(
        (found.model, found.window, found.updated),
        (Some(choice), window, Timestamp(50))
    );

    let gone = store
        .write(|w| w.chats_mut().set_draft(ChatId(uuid(99)), "x"))
        .await;
    assert!(matches!(gone, Err(StoreError::NotFound { what: "chat" })));
}

#[tokio::test]
async fn chat_list_shows_selected_swipe_of_last_message() {
    let store = furnished().await;
    say(&store, 1, "first").await;
    let long = "é".repeat(300);
    let mut reply = message(2, Role::Character, "shown no more");
    reply.swipes.push(super::swipe(3, &long));
    reply.selected = 1;
    store
        .write(move |w| w.messages_mut().append(&reply))
        .await
        .unwrap();
    let older = ChatId(uuid(70));
    store
        .write(move |w| w.chats_mut().insert(&chat(older, CHARACTER, 0)))
        .await
        .unwrap();

    let list = store.read(|r| r.chats().list()).await.unwrap();
    assert_eq!(
        list.iter().map(|chat| chat.id).collect::<Vec<_>>(),
        [CHAT, older]
    );
    assert_eq!(list[0].last_line.as_deref(), Some("é".repeat(200).as_str()));
    assert_eq!(
        (list[0].message_count, list[0].character_name.as_str()),
        (2, "Ada")
    );
    assert_eq!((list[1].message_count, &list[1].last_line), (0, &None));
    let latest = store
        .read(|r| r.chats().latest_of_character(CHARACTER))
        .await
        .unwrap();
    assert_eq!(latest.unwrap().id, CHAT);

    store
        .write(|w| w.chats_mut().soft_delete(CHAT, Timestamp(9)))
        .await
        .unwrap();
    assert_eq!(store.read(|r| r.chats().list()).await.unwrap().len(), 1);
    store.write(|w| w.chats_mut().restore(CHAT)).await.unwrap();
    assert_eq!(store.read(|r| r.chats().list()).await.unwrap().len(), 2);
}

#[tokio::test]
async fn an_adapter_is_removed_with_its_model() {
    let store = Store::in_memory().unwrap();
    let model = LocalModel {
        id: ModelId(uuid(1)),
        name: "SmolLM2".into(),
        path: "/models/smol.gguf".into(),
        bytes: 1,
        sha256: "ab".into(),
        architecture: "llama".into(),
        context: 8192,
    };
    let adapter = |name: &str, weight| ModelAdapter {
        path: format!("/models/{name}.gguf"),
        weight,
    };
    let (id, adapters) = (model.id, vec![adapter("pirate", 0.5), adapter("calm", 1.0)]);
    let stored = adapters.clone();
    let first = adapter("pirate", 1.0);
    store
        .write(move |w| {
            w.models_mut().insert(&model)?;
            w.model_adapters_mut().set(id, &[first])?;
            w.model_adapters_mut().set(id, &stored)
        })
        .await
        .unwrap();
    assert_eq!(
        store
            .read(move |r| r.model_adapters().of(id))
            .await
            .unwrap(),
        adapters
    );
    store
        .write(move |w| w.models_mut().delete(id))
        .await
        .unwrap();
    assert_eq!(
        store
            .read(move |r| r.model_adapters().of(id))
            .await
            .unwrap(),
        []
    );
}

#[tokio::test]
async fn choice_of_projector_is_removed_with_its_model() {
    let store = Store::in_memory().unwrap();
    let model = LocalModel {
        id: ModelId(uuid(1)),
        name: "Eyes".into(),
        path: "/models/eyes.gguf".into(),
        bytes: 1,
        sha256: "ab".into(),
        architecture: "llama".into(),
        context: 8192,
    };
    let (id, row) = (model.id, model.clone());
    let choice = async || {
        store
            .read(move |r| r.model_projectors().get(id))
            .await
            .unwrap()
    };
    store
        .write(move |w| w.models_mut().insert(&row))
        .await
        .unwrap();
    assert_eq!(choice().await, ProjectorChoice::Automatic);
    let file = ProjectorChoice::File("/models/mmproj.gguf".into());
    for next in [
        ProjectorChoice::None,
        file.clone(),
        ProjectorChoice::Automatic,
        file,
    ] {
        let chosen = next.clone();
        store
            .write(move |w| w.model_projectors_mut().set(id, &chosen))
            .await
            .unwrap();
        assert_eq!(choice().await, next);
    }
    store
        .write(move |w| w.models_mut().delete(id))
        .await
        .unwrap();
    assert_eq!(choice().await, ProjectorChoice::Automatic);
}

#[tokio::test]
async fn models_and_endpoints_are_stored_unchanged() {
    let store = Store::in_memory().unwrap();
    let model = LocalModel {
        id: ModelId(uuid(1)),
        name: "SmolLM2".into(),
        path: "/models/smol.gguf".into(),
        bytes: 5_000_000_000,
        sha256: "ab".into(),
        architecture: "llama".into(),
        context: 8192,
    };
    let endpoint = Endpoint {
        id: EndpointId(uuid(2)),
        name: "home".into(),
        url: "http://127.0.0.1:8080/v1".into(),
        model: String::new(),
        context: 4096,
        dialect: EndpointDialect::OpenAi,
        headers: vec!["x-team".into()],
    };
    let (first, second) = (model.clone(), endpoint.clone());
    store
        .write(move |w| {
            w.models_mut().insert(&first)?;
            w.endpoints_mut().insert(&second)?;
            w.models_mut().update(&LocalModel {
                name: "Smol".into(),
                ..first
            })?;
            w.endpoints_mut().update(&Endpoint {
                context: 8192,
                ..second
            })
        })
        .await
        .unwrap();
    let (models, endpoints) = store
        .read(|r| Ok((r.models().list()?, r.endpoints().list()?)))
        .await
        .unwrap();
    assert_eq!(
        models,
        [LocalModel {
            name: "Smol".into(),
            ..model.clone()
        }]
    );
    assert_eq!(
        endpoints,
        [Endpoint {
            context: 8192,
            ..endpoint.clone()
        }]
    );

    let (model, endpoint) = (model.id, endpoint.id);
    store
        .write(move |w| {
            w.models_mut().delete(model)?;
            w.endpoints_mut().delete(endpoint)
        })
        .await
        .unwrap();
    let left = store
        .read(move |r| Ok((r.models().get(model)?, r.endpoints().get(endpoint)?)))
        .await
        .unwrap();
    assert_eq!(left, (None, None));
}

#[tokio::test]
async fn settings_hold_json_only() {
    let store = Store::in_memory().unwrap();
    store
        .write(|w| {
            w.settings_mut().set("theme", "\"dark\"")?;
            w.settings_mut().set("theme", "\"light\"")?;
            w.settings_mut().set("zoom", "1.25")?;
            w.settings_mut().set("gone", "1")?;
            w.settings_mut().remove("gone")
        })
        .await
        .unwrap();
    let (theme, all) = store
        .read(|r| Ok((r.settings().get("theme")?, r.settings().all()?)))
        .await
        .unwrap();
    assert_eq!(theme.as_deref(), Some("\"light\""));
    assert_eq!(all.into_keys().collect::<Vec<_>>(), ["theme", "zoom"]);
    let bad = store.write(|w| w.settings_mut().set("theme", "dark")).await;
    assert!(matches!(bad, Err(StoreError::Conflict { .. })));
}

#[tokio::test]
async fn token_counts_belong_to_a_tokenizer() {
    let store = Store::in_memory().unwrap();
    let (hello, bye, new) = (
        TextHash::of("hello"),
        TextHash::of("bye"),
        TextHash::of("new"),
    );
    store
        .checkpoint(move |w| {
            w.token_counts_mut()
                .insert_many("smol", &[(hello, 1), (bye, 2)])?;
            w.token_counts_mut().insert_many("other", &[(hello, 7)])
        })
        .await
        .unwrap();
    let known = store
        .read(move |r| r.token_counts().get_many("smol", &[hello, bye, new]))
        .await
        .unwrap();
    assert_eq!(known, [(hello, 1), (bye, 2)].into());
    let known = store
        .read(move |r| r.token_counts().get_many("other", &[hello, bye]))
        .await
        .unwrap();
    assert_eq!(known, [(hello, 7)].into());
}

#[tokio::test]
async fn a_manifest_belongs_to_its_swipe() {
    let store = furnished().await;
    say(&store, 1, "hi").await;
    say(&store, 2, "ho").await;
    store
        .write(|w| {
            w.manifests_mut()
                .insert(swipe_id(1), r#"{"blocks":[]}"#, "{\"tokens\":1}")
        })
        .await
        .unwrap();
    store
        .write(|w| {
            w.manifests_mut()
                .insert(swipe_id(1), r#"{"blocks":[1]}"#, "{\"tokens\":2}")
        })
        .await
        .unwrap();
    let (json, figures) = store
        .read(|r| {
            Ok((
                r.manifests().get(swipe_id(1))?,
                r.manifests().figures(&[swipe_id(1), swipe_id(2)])?,
            ))
        })
        .await
        .unwrap();
    assert_eq!(json.as_deref(), Some(r#"{"blocks":[1]}"#));
    assert_eq!(figures, [(swipe_id(1), "{\"tokens\":2}".to_owned())].into());
    let stray = store
        .write(|w| w.manifests_mut().insert(swipe_id(99), "{}", "{}"))
        .await;
    assert!(matches!(stray, Err(StoreError::Conflict { .. })));
}

#[tokio::test]
async fn presets_are_replaced_by_key() {
    let store = furnished().await;
    let preset = |key: &str, position, character| Preset {
        kind: PresetKind::RegexScript,
        key: key.into(),
        character,
        name: key.into(),
        position,
        json: "{}".into(),
        source: None,
        updated: Timestamp(1),
    };
    let (own, of_card) = (preset("own", 2, None), preset("card", 1, Some(CHARACTER)));
    let changed = Preset {
        name: "renamed".into(),
        ..own.clone()
    };
    let (first, second, third) = (own, of_card.clone(), changed.clone());
    store
        .write(move |w| {
            [first, second, third]
                .iter()
                .try_for_each(|preset| w.presets_mut().put(preset))
        })
        .await
        .unwrap();
    let list = || store.read(|r| r.presets().list(PresetKind::RegexScript));
    assert_eq!(list().await.unwrap(), [of_card, changed.clone()]);
    assert!(
        store
            .read(|r| r.presets().list(PresetKind::Mode))
            .await
            .unwrap()
            .is_empty()
    );

    store
        .write(|w| w.characters_mut().soft_delete(CHARACTER, Timestamp(2)))
        .await
        .unwrap();
    store
        .purge(crate::Before::all(Timestamp(2)), emptied)
        .await
        .unwrap();
    assert_eq!(list().await.unwrap(), [changed]);
    store
        .write(|w| w.presets_mut().delete(PresetKind::RegexScript, "own"))
        .await
        .unwrap();
    assert!(list().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_setting_belongs_to_its_layer() {
    let store = furnished().await;
    let (chat, other) = (Owner::Chat(CHAT), Owner::Character(CHARACTER));
    store
        .write(move |w| {
            w.scoped_settings_mut()
                .set(Owner::Global, "history_cap", "8000")?;
            w.scoped_settings_mut().set(chat, "history_cap", "4000")?;
            w.scoped_settings_mut().set(chat, "history_cap", "3000")?;
            w.scoped_settings_mut().set(other, "mode", "\"chill\"")?;
            w.scoped_settings_mut().set(other, "template", "\"sms\"")?;
            w.scoped_settings_mut().remove(other, "template")
        })
        .await
        .unwrap();
    let of = |owner| store.read(move |r| r.scoped_settings().of(owner));
    assert_eq!(
        of(Owner::Global).await.unwrap(),
        [("history_cap".to_owned(), "8000".to_owned())].into()
    );
    assert_eq!(
        of(chat).await.unwrap(),
        [("history_cap".to_owned(), "3000".to_owned())].into()
    );
    assert_eq!(
        of(other).await.unwrap(),
        [("mode".to_owned(), "\"chill\"".to_owned())].into()
    );
    let bad = store
        .write(move |w| w.scoped_settings_mut().set(chat, "mode", "chill"))
        .await;
    assert!(matches!(bad, Err(StoreError::Conflict { .. })));
}

/// A chat's own settings may contain the user's text. They are removed with the chat, and with its
/// character.
#[tokio::test]
async fn settings_are_removed_with_their_owners() {
    let store = furnished().await;
    let (chat, character) = (Owner::Chat(CHAT), Owner::Character(CHARACTER));
    store
        .write(move |w| {
            w.scoped_settings_mut()
                .set(chat, "author_note", "\"rain\"")?;
            w.scoped_settings_mut()
                .set(character, "mode", "\"chill\"")?;
            w.scoped_settings_mut()
                .set(Owner::Global, "mode", "\"study\"")?;
            w.characters_mut().soft_delete(CHARACTER, Timestamp(5))
        })
        .await
        .unwrap();
    store
        .purge(crate::Before::all(Timestamp(6)), emptied)
        .await
        .unwrap();
    let left = store
        .read(move |r| {
            let layers = r.scoped_settings();
            Ok([
                layers.of(chat)?.len(),
                layers.of(character)?.len(),
                layers.of(Owner::Global)?.len(),
            ])
        })
        .await
        .unwrap();
    assert_eq!(left, [0, 0, 1]);
}

#[tokio::test]
async fn a_calibration_is_removed_with_its_endpoint() {
    let store = Store::in_memory().unwrap();
    let endpoint = Endpoint {
        id: EndpointId(Uuid::now_v7()),
        name: "elsewhere".into(),
        url: "https://api.example.com/v1".into(),
        model: "large".into(),
        context: 32_768,
        dialect: EndpointDialect::OpenAi,
        headers: Vec::new(),
    };
    let id = endpoint.id;
    store
        .write(move |w| {
            w.endpoints_mut().insert(&endpoint)?;
            w.calibrations_mut().set(id, "large", "{\"a\": 1}")?;
            w.endpoint_dialects_mut().set(id, "large", "{\"b\": 1}")?;
            w.calibrations_mut().set(id, "large", "{\"a\": 2}")
        })
        .await
        .unwrap();
    let get = move |model: &'static str| store_get(id, model);
    assert_eq!(
        store.read(get("large")).await.unwrap().as_deref(),
        Some("{\"a\": 2}")
    );
    assert_eq!(store.read(get("small")).await.unwrap(), None);
    let dialect = move || store_dialect(id, "large");
    assert_eq!(
        store.read(dialect()).await.unwrap().as_deref(),
        Some("{\"b\": 1}")
    );
    store
        .write(move |w| w.endpoints_mut().delete(id))
        .await
        .unwrap();
    assert_eq!(store.read(get("large")).await.unwrap(), None);
    assert_eq!(store.read(dialect()).await.unwrap(), None);
}

fn store_dialect(
    id: EndpointId,
    model: &'static str,
) -> impl FnOnce(&crate::ReadTransaction<'_>) -> Result<Option<String>, StoreError> {
    move |read| read.endpoint_dialects().get(id, model)
}

fn store_get(
    id: EndpointId,
    model: &'static str,
) -> impl FnOnce(&crate::ReadTransaction<'_>) -> Result<Option<String>, StoreError> {
    move |read| read.calibrations().get(id, model)
}

#[tokio::test]
async fn a_tokenizer_survives_edits_of_its_endpoint() {
    let dir = tempfile::tempdir().unwrap();
    let store = super::open(dir.path()).store;
    let endpoint = Endpoint {
        id: EndpointId(Uuid::now_v7()),
        name: "elsewhere".into(),
        url: "https://api.example.com/v1".into(),
        model: "large".into(),
        context: 32_768,
        dialect: EndpointDialect::OpenAi,
        headers: Vec::new(),
    };
    let (id, renamed) = (
        endpoint.id,
        Endpoint {
            name: "far away".into(),
            ..endpoint.clone()
        },
    );
    let hash = store
        .write(move |w| {
            w.endpoints_mut().insert(&endpoint)?;
            let hash = w
                .assets_mut()
                .put(b"{}", "application/json", Timestamp(1))?;
            w.endpoints_mut().set_tokenizer(id, Some(hash))?;
            w.endpoints_mut().update(&renamed)?;
            Ok(hash)
        })
        .await
        .unwrap();
    assert_eq!(
        store
            .purge(crate::Before::all(Timestamp(5)), emptied)
            .await
            .unwrap()
            .assets,
        0
    );
    assert_eq!(
        store
            .read(move |r| r.endpoints().tokenizer(id, "large"))
            .await
            .unwrap(),
        Some(hash)
    );
    let unknown = AssetHash::of(b"never kept");
    store
        .write(move |w| w.endpoints_mut().set_tokenizer(id, Some(unknown)))
        .await
        .unwrap_err();
    store
        .write(move |w| w.endpoints_mut().delete(id))
        .await
        .unwrap();
    assert_eq!(
        store
            .read(move |r| r.endpoints().tokenizer(id, "large"))
            .await
            .unwrap(),
        None
    );
    assert_eq!(
        store
            .purge(crate::Before::all(Timestamp(5)), emptied)
            .await
            .unwrap()
            .assets,
        1
    );
}

#[tokio::test]
async fn a_chat_keeps_its_texts_until_reset_or_purged() {
    let store = furnished().await;
    let of = async |chat| store.read(move |r| r.chat_texts().of(chat)).await.unwrap();
    let set = async |field, text: Option<&'static str>| {
        store
            .write(move |w| w.chat_texts_mut().set(CHAT, field, text))
            .await
            .unwrap();
    };
    set(CardText::Scenario, Some("an inn")).await;
    set(CardText::Scenario, Some("a ship")).await;
    set(CardText::Examples, Some("")).await;
    let texts = of(CHAT).await;
    assert_eq!(
        (texts.get(CardText::Scenario), texts.get(CardText::Examples)),
        (Some("a ship"), Some(""))
    );
    assert!(of(ChatId(uuid(70))).await.is_empty());
    set(CardText::Scenario, None).await;
    assert_eq!(of(CHAT).await.get(CardText::Scenario), None);

    store
        .write(|w| w.chats_mut().soft_delete(CHAT, Timestamp(9)))
        .await
        .unwrap();
    assert!(
        !of(CHAT).await.is_empty(),
        "a deletion that can be undone keeps them"
    );
    store
        .purge(crate::Before::all(Timestamp(9)), emptied)
        .await
        .unwrap();
    assert!(of(CHAT).await.is_empty());
}

#[tokio::test]
async fn deleted_api_chat_is_not_continued() {
    let store = furnished().await;
    store
        .write(|w| w.api_chats_mut().set(CHARACTER, CHAT))
        .await
        .unwrap();
    assert_eq!(
        store.read(|r| r.api_chats().of(CHARACTER)).await.unwrap(),
        Some(CHAT)
    );
    store
        .write(|w| w.chats_mut().soft_delete(CHAT, Timestamp(9)))
        .await
        .unwrap();
    assert_eq!(
        store.read(|r| r.api_chats().of(CHARACTER)).await.unwrap(),
        None
    );
    let stray = store
        .write(|w| w.api_chats_mut().set(CHARACTER, ChatId(uuid(99))))
        .await;
    assert!(
        matches!(stray, Err(StoreError::Conflict { .. })),
        "{stray:?}"
    );
}
