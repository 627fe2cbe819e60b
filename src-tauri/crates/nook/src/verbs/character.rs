//! `character`: copies, earlier versions and personas of characters.

use engine::Engine;
use engine::api::{CardVersion, Change, ChangedText, FieldChanges};
use serde_json::json;

use crate::cli::CharacterVerb;
use crate::failure::CommandError;
use crate::find;
use crate::output::Output;
use crate::verbs::item_list::{ItemList, lines};

pub(crate) async fn character(
    engine: &Engine,
    verb: CharacterVerb,
    out: &Output,
) -> Result<(), CommandError> {
    match verb {
        CharacterVerb::Duplicate { name } => duplicate(engine, &name, out).await,
        CharacterVerb::Versions {
            name,
            version: None,
        } => {
            let items = engine
                .card_versions(find::character(engine, &name).await?.id)
                .await?;
            lines(ItemList { items }, out, version)
        }
        CharacterVerb::Versions {
            name,
            version: Some(version),
        } => {
            let id = find::character(engine, &name).await?.id;
            let items = engine.card_version_changes(id, version).await?;
            lines(ItemList { items }, out, changes)
        }
        CharacterVerb::Restore { name, version } => restore(engine, &name, version, out).await,
        CharacterVerb::Persona { name, persona } => bind_persona(engine, &name, persona, out).await,
        CharacterVerb::ToPersona { name } => to_persona(engine, &name, out).await,
        CharacterVerb::FromPersona { persona } => from_persona(engine, &persona, out).await,
    }
}

async fn from_persona(engine: &Engine, persona: &str, out: &Output) -> Result<(), CommandError> {
    let added = engine
        .character_from_persona(find::persona(engine, persona).await?.id)
        .await?;
    out.answer(
        &json!({ "id": added.id, "name": added.fields.name }),
        |_| added.id.to_string(),
    )
}

async fn to_persona(engine: &Engine, name: &str, out: &Output) -> Result<(), CommandError> {
    let persona = engine
        .persona_from_character(find::character(engine, name).await?.id)
        .await?;
    out.answer(&json!({ "id": persona.id, "name": persona.name }), |_| {
        persona.id.to_string()
    })
}

async fn bind_persona(
    engine: &Engine,
    name: &str,
    persona: Option<String>,
    out: &Output,
) -> Result<(), CommandError> {
    let id = find::character(engine, name).await?.id;
    let persona = match persona {
        Some(persona) => Some(find::persona(engine, &persona).await?),
        None => None,
    };
    engine
        .bind_persona(id, persona.as_ref().map(|persona| persona.id))
        .await?;
    let played = persona.map_or_else(|| "the default persona".to_owned(), |persona| persona.name);
    out.answer(&json!({ "id": id }), |_| {
        format!("new chats begin with {played}")
    })
}

async fn restore(
    engine: &Engine,
    name: &str,
    version: String,
    out: &Output,
) -> Result<(), CommandError> {
    let id = find::character(engine, name).await?.id;
    let restored = engine.restore_card_version(id, version).await?;
    out.answer(&json!({ "id": restored.id }), |_| {
        format!("restored {}", restored.fields.name)
    })
}

async fn duplicate(engine: &Engine, name: &str, out: &Output) -> Result<(), CommandError> {
    let copy = engine
        .duplicate_character(find::character(engine, name).await?.id)
        .await?;
    out.answer(&json!({ "id": copy.id, "name": copy.fields.name }), |_| {
        copy.id.to_string()
    })
}

fn version(version: &CardVersion) -> String {
    let differs = if version.changed.is_empty() {
        "same as now".to_owned()
    } else {
        version.changed.join(", ")
    };
    format!("{}  until {}  {differs}", version.id, version.replaced)
}

/// Removed words as `[-words-]`, added words as `{+words+}`.
fn changes(changes: &FieldChanges) -> String {
    let part = |part: &ChangedText| match part.change {
        Change::Same => part.text.clone(),
        Change::Added => format!("{{+{}+}}", part.text),
        Change::Removed => format!("[-{}-]", part.text),
    };
    let text: String = changes.parts.iter().map(part).collect();
    format!("{}: {text}", changes.field)
}
