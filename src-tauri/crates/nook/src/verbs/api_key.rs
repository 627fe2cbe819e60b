//! `api-key`: keys of the local API.

use engine::Engine;
use engine::api::{ApiKey, ApiKeyLimits};
use serde_json::json;

use crate::cli::{ApiKeyArgs, ApiKeyVerb};
use crate::failure::CommandError;
use crate::find;
use crate::output::Output;
use crate::verbs::item_list::{ItemList, lines};

pub(super) async fn api_key(
    engine: &Engine,
    verb: ApiKeyVerb,
    out: &Output,
) -> Result<(), CommandError> {
    match verb {
        ApiKeyVerb::Add { name, limits } => {
            let made = engine
                .create_api_key(name, chosen(engine, limits).await?)
                .await?;
            let answer = json!({ "name": made.key.name, "id": made.key.id, "key": made.secret });
            out.answer(&answer, |_| made.secret.clone())?;
            out.print_note("copy the key now; it is not stored and cannot be shown again");
            Ok(())
        }
        ApiKeyVerb::List => lines(
            ItemList {
                items: engine.list_api_keys().await?,
            },
            out,
            line,
        ),
        ApiKeyVerb::Limit { name, limits } => {
            let key = find::api_key(engine, &name).await?;
            let limits = chosen(engine, limits).await?;
            out.answer(
                &engine.update_api_key(key.id, key.name, limits).await?,
                line,
            )
        }
        ApiKeyVerb::Revoke { name } => {
            let key = find::api_key(engine, &name).await?;
            engine.revoke_api_key(key.id).await?;
            out.answer(&key, |key| format!("revoked {}", key.name))
        }
    }
}

async fn chosen(engine: &Engine, args: ApiKeyArgs) -> Result<ApiKeyLimits, CommandError> {
    let ApiKeyArgs {
        characters,
        raw,
        read_only,
    } = args;
    let mut ids = Vec::with_capacity(characters.len());
    for character in &characters {
        ids.push(find::character(engine, character).await?.id);
    }
    let characters = Some(ids).filter(|ids| !ids.is_empty());
    Ok(ApiKeyLimits {
        characters,
        raw_models: raw,
        read_only,
    })
}

fn line(key: &ApiKey) -> String {
    let ApiKeyLimits {
        characters,
        raw_models,
        read_only,
    } = &key.limits;
    let characters = match characters {
        None => "all characters".to_owned(),
        Some(ids) if ids.len() == 1 => "1 character".to_owned(),
        Some(ids) => format!("{} characters", ids.len()),
    };
    let raw = if *raw_models {
        ", models without a character"
    } else {
        ""
    };
    let read_only = if *read_only { ", read-only" } else { "" };
    let used = key
        .last_used
        .as_deref()
        .map_or_else(|| "never used".to_owned(), |at| format!("last used {at}"));
    format!(
        "{}  {} ({}...; {characters}{raw}{read_only}; {used})",
        key.id, key.name, key.start
    )
}
