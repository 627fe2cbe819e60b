//! Keys for one command, from a file or a variable. Without a keychain, no key survives a command.

use std::env;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use engine::Engine;
use engine::api::{Endpoint, ModelRef};

use crate::failure::CommandError;
use crate::find;

/// Key of the endpoint that answers.
const KEY: &str = "INGLENOOK_KEY";
/// Access token of the model hub.
const HUB_TOKEN: &str = "INGLENOOK_HUB_TOKEN";

/// Said after a key was entered on a machine without a keychain.
pub(super) const KEY_IS_LOST: &str = "This machine has no keychain, so the key is gone when this command ends. Give it \
                                      again with --key-from for `chat` and `serve`, or in the variable INGLENOOK_KEY.";
pub(super) const TOKEN_IS_LOST: &str = "This machine has no keychain, so the access token is gone when this command \
                                        ends. Give it again with --token-from for `models download`, or in the variable \
                                        INGLENOOK_HUB_TOKEN.";
pub(super) const VALUES_ARE_LOST: &str = "This machine has no keychain, so the values are gone when this command ends, \
                                          and the server cannot start without them.";
/// Said if a stored token belongs to another hub than the one in the environment.
pub(super) const TOKEN_IS_NOT_SENT: &str = "The access token is stored, but it is not sent to the address in \
                                            INGLENOOK_HUB. Give one for that address in the variable \
                                            INGLENOOK_HUB_TOKEN.";

/// Reads a secret from a file, or from stdin for `-`. Other users of the machine can see
/// command-line arguments.
pub(super) fn secret(file: &Path) -> Result<String, CommandError> {
    let mut text = String::new();
    let read = if file.as_os_str() == "-" {
        std::io::stdin().read_to_string(&mut text).map(drop)
    } else {
        std::fs::read_to_string(file).map(|read| text = read)
    };
    read.map_err(|error| {
        CommandError::because(
            "badInput",
            format!("cannot read {}: {error}", file.display()),
        )
    })?;
    Ok(text.trim().to_owned())
}

/// Uses the access token in the environment.
pub(super) fn give_hub_token(engine: &Engine) -> Result<(), CommandError> {
    match variable(HUB_TOKEN) {
        Some(token) => Ok(engine.give_hub_token(&token)?),
        None => Ok(()),
    }
}

/// Uses the key in the environment for one endpoint.
pub(super) async fn give_to(engine: &Engine, endpoint: &Endpoint) -> Result<(), CommandError> {
    match variable(KEY) {
        Some(key) => Ok(engine.give_key(endpoint.id, key).await?),
        None => Ok(()),
    }
}

/// Uses the key in the environment, and those in files (`FILE` or `NAME=FILE`). A key without a
/// name is for the endpoint of `model`, or of the default model.
pub(super) async fn give(
    engine: &Engine,
    files: &[PathBuf],
    model: Option<ModelRef>,
) -> Result<(), CommandError> {
    let endpoints = engine.list_endpoints().await?;
    let chosen = match model {
        Some(model) => of_model(&endpoints, &model),
        None => endpoints.iter().find(|one| one.default),
    };
    if let Some(endpoint) = chosen {
        give_to(engine, endpoint).await?;
    }
    for file in files {
        let named = file.to_str().and_then(|text| text.split_once('='));
        let (endpoint, file) = match named {
            Some((name, path)) if !file.exists() => {
                (find::endpoint(engine, name).await?, Path::new(path))
            }
            _ => (chosen.cloned().ok_or_else(no_endpoint)?, file.as_path()),
        };
        engine.give_key(endpoint.id, secret(file)?).await?;
    }
    Ok(())
}

fn of_model<'e>(endpoints: &'e [Endpoint], model: &ModelRef) -> Option<&'e Endpoint> {
    let ModelRef::Remote { id } = model else {
        return None;
    };
    endpoints
        .iter()
        .find(|one| one.id.to_string() == *id || one.models.iter().any(|model| model.id == *id))
}

fn no_endpoint() -> CommandError {
    CommandError::because(
        "badInput",
        "the model that answers is not on an endpoint, so it needs no key; name the endpoint, such as NAME=FILE",
    )
}

fn variable(name: &str) -> Option<String> {
    env::var(name)
        .ok()
        .map(|text| text.trim().to_owned())
        .filter(|text| !text.is_empty())
}
