//! Finds items by the name or id that the user entered.

use std::path::Path;
use std::str::FromStr;

use domain::CharacterId;
use domain::id::NotAnId;
use engine::api::{
    ApiError, ApiKey, CharacterSummary, ChatSummary, Endpoint, Folder, FolderKind, LorebookSummary,
    Model, ModelRef, Persona, ToolServer,
};
use engine::{Engine, TurnOptions};

use crate::cli::ModelArgs;
use crate::failure::{CommandError, ErrorReason};

/// Maximum number of candidates in an error.
const LISTED: usize = 8;

pub(crate) async fn character(
    engine: &Engine,
    wanted: &str,
) -> Result<CharacterSummary, CommandError> {
    pick(
        "character",
        engine.list_characters().await?,
        wanted,
        |one| (one.id.to_string(), vec![&one.name]),
    )
}

pub(crate) async fn chat(engine: &Engine, wanted: &str) -> Result<ChatSummary, CommandError> {
    pick("chat", engine.list_chats().await?, wanted, |one| {
        (one.id.to_string(), vec![&one.title])
    })
}

pub(crate) async fn folder(
    engine: &Engine,
    kind: FolderKind,
    wanted: &str,
) -> Result<Folder, CommandError> {
    let mut all = engine.list_folders().await?;
    all.retain(|folder| folder.kind == kind);
    pick("folder", all, wanted, |one| {
        (one.id.to_string(), vec![&one.name])
    })
}

/// A lorebook's own name takes precedence over its character's.
pub(crate) async fn lorebook(
    engine: &Engine,
    wanted: &str,
) -> Result<LorebookSummary, CommandError> {
    let all = engine.list_lorebooks().await?;
    let named = |name: fn(&LorebookSummary) -> &str| {
        pick("lorebook", all.clone(), wanted, move |one| {
            (one.id.to_string(), vec![name(one)])
        })
    };
    match named(|one| &one.name) {
        Err(CommandError::Because(ErrorReason { kind, .. })) if kind == "notFound" => {
            named(|one| &one.character_name)
        }
        found => found,
    }
}

pub(crate) async fn persona(engine: &Engine, wanted: &str) -> Result<Persona, CommandError> {
    pick("persona", engine.list_personas().await?, wanted, |one| {
        (one.id.to_string(), vec![&one.name])
    })
}

pub(crate) async fn model(engine: &Engine, wanted: &str) -> Result<Model, CommandError> {
    pick("model", engine.list_models().await?, wanted, |one| {
        let file = Path::new(&one.path);
        let names = [file.file_name(), file.file_stem()]
            .into_iter()
            .flatten()
            .filter_map(|name| name.to_str());
        (
            one.id.to_string(),
            names.chain([one.name.as_str()]).collect(),
        )
    })
}

pub(crate) async fn api_key(engine: &Engine, wanted: &str) -> Result<ApiKey, CommandError> {
    pick("API key", engine.list_api_keys().await?, wanted, |one| {
        (one.id.to_string(), vec![&one.name])
    })
}

pub(crate) async fn endpoint(engine: &Engine, wanted: &str) -> Result<Endpoint, CommandError> {
    pick("endpoint", engine.list_endpoints().await?, wanted, |one| {
        (one.id.to_string(), vec![&one.name])
    })
}

pub(crate) async fn tool_server(engine: &Engine, wanted: &str) -> Result<ToolServer, CommandError> {
    pick(
        "tool server",
        engine.list_tool_servers().await?,
        wanted,
        |one| (one.id.to_string(), vec![&one.name]),
    )
}

/// Reads an id that the user entered.
pub(crate) fn id<T: FromStr<Err = NotAnId>>(text: &str) -> Result<T, CommandError> {
    Ok(text.parse().map_err(ApiError::from)?)
}

/// Returns the endpoint that `wanted` names, and the id to select: its own, or that of the model
/// after a slash.
pub(crate) async fn endpoint_model(
    engine: &Engine,
    wanted: &str,
) -> Result<(Endpoint, String), CommandError> {
    let whole = endpoint(engine, wanted).await;
    let (Err(_), Some((name, model))) = (&whole, wanted.split_once('/')) else {
        let endpoint = whole?;
        let id = endpoint.id.to_string();
        return Ok((endpoint, id));
    };
    let endpoint = endpoint(engine, name).await?;
    let model = pick("model", endpoint.models.clone(), model, |one| {
        (one.id.to_string(), vec![&one.name])
    })?;
    Ok((endpoint, model.id))
}

pub(crate) async fn answering(
    engine: &Engine,
    who: &ModelArgs,
) -> Result<Option<ModelRef>, CommandError> {
    Ok(match (&who.model, &who.endpoint) {
        (Some(name), _) => Some(ModelRef::Local {
            id: model(engine, name).await?.id,
        }),
        (None, Some(name)) => Some(ModelRef::Remote {
            id: endpoint_model(engine, name).await?.1,
        }),
        (None, None) => None,
    })
}

/// Returns the character with this name or id, else the one in this card file, which is imported if
/// necessary.
pub(crate) async fn character_or_card(
    engine: &Engine,
    wanted: &str,
) -> Result<CharacterId, CommandError> {
    match character(engine, wanted).await {
        Ok(found) => Ok(found.id),
        Err(_) if Path::new(wanted).is_file() => import_card(engine, Path::new(wanted)).await,
        Err(failure) => Err(failure),
    }
}

async fn import_card(engine: &Engine, file: &Path) -> Result<CharacterId, CommandError> {
    let report = engine.import_paths(vec![file.to_owned()]).await?;
    if let Some(refused) = report.refused.first() {
        return Err(CommandError::because(
            &refused.kind,
            format!("{}: {}", refused.file, refused.reason),
        ));
    }
    let imported = report.imported.iter().find(|one| one.kind == "character");
    let known = report.skipped.first().map(|known| &known.id);
    let id = imported.map(|one| &one.id).or(known);
    match id.and_then(|id| id.parse().ok()) {
        Some(id) => Ok(id),
        None => Err(CommandError::because(
            "noCard",
            format!("{} does not contain a character card", file.display()),
        )),
    }
}

/// Returns the item with this id, else the only one with this name, ignoring case.
pub(crate) fn pick<T>(
    kind: &str,
    mut items: Vec<T>,
    wanted: &str,
    named: impl Fn(&T) -> (String, Vec<&str>),
) -> Result<T, CommandError> {
    if let Some(index) = items.iter().position(|item| named(item).0 == wanted) {
        return Ok(items.swap_remove(index));
    }
    let folded = wanted.to_lowercase();
    items.retain(|item| {
        named(item)
            .1
            .iter()
            .any(|name| name.to_lowercase() == folded)
    });
    match items.len() {
        0 => Err(CommandError::not_found(format!(
            "there is no {kind} named \"{wanted}\""
        ))),
        1 => Ok(items.remove(0)),
        count => {
            let list = |item| {
                let (id, names) = named(item);
                format!("{} ({id})", names.last().copied().unwrap_or_default())
            };
            let listed = items
                .iter()
                .take(LISTED)
                .map(list)
                .collect::<Vec<_>>()
                .join(", ");
            Err(CommandError::because(
                "ambiguous",
                format!("{count} {kind}s are named \"{wanted}\": {listed}; use an id"),
            ))
        }
    }
}

/// Converts the flags of a turn to options: model, template and mode.
pub(crate) async fn options(
    engine: &Engine,
    model_args: &ModelArgs,
) -> Result<TurnOptions, CommandError> {
    let template = match &model_args.template {
        Some(name) => Some(template(engine, name).await?),
        None => None,
    };
    let model = answering(engine, model_args).await?;
    Ok(TurnOptions {
        model,
        template,
        mode: model_args.mode.clone(),
        ..TurnOptions::default()
    })
}

pub(crate) async fn template(engine: &Engine, name: &str) -> Result<String, CommandError> {
    let known = engine.list_templates().await?;
    let found = known
        .iter()
        .find(|one| one.id == name || one.name.eq_ignore_ascii_case(name));
    found
        .map(|one| one.id.clone())
        .ok_or_else(|| CommandError::not_found(format!("there is no template {name}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(wanted: &str) -> Result<&'static str, String> {
        let items = vec![
            ("1", "Mira"),
            ("2", "Ärger"),
            ("3", "Twin"),
            ("4", "twin"),
            ("5", "1"),
        ];
        pick("character", items, wanted, |one| {
            (one.0.to_owned(), vec![one.1])
        })
        .map(|one| one.0)
        .map_err(|failure| match failure {
            CommandError::Because(reason) => reason.message,
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn id_wins_over_name() {
        assert_eq!(check("1"), Ok("1"));
    }

    #[test]
    fn ignores_case_in_every_script() {
        assert_eq!(check("mIRA"), Ok("1"));
        assert_eq!(check("ärger"), Ok("2"));
    }

    #[test]
    fn ambiguous_name_lists_the_candidates() {
        let message = check("twin").unwrap_err();
        assert!(message.contains("Twin (3), twin (4)"), "{message}");
    }

    #[test]
    fn error_contains_the_unknown_name() {
        assert_eq!(
            check("Nobody").unwrap_err(),
            "there is no character named \"Nobody\""
        );
    }
}
