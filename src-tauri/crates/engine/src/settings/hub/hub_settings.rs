//! Address of the hub, access token, and folders of model files.

use std::path::{Path, PathBuf};

use provider::hub::{DEFAULT_HUB, HubClient, HubError, HubFault};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use crate::api::{self, ApiError, Changed, ProviderClass};
use crate::base::error::{ApiResult, bad_input, internal};
use crate::base::secrets::Secret;
use crate::settings::hub::Hub;

/// Row of the settings table.
const HUB: &str = "hub";
/// Folder of downloaded models inside the data folder.
const FOLDER: &str = "models";
/// Maximum number of model folders.
const MAX_FOLDERS: usize = 32;

/// The values that the user has changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct StoredHub {
    pub(crate) address: Option<String>,
    pub(crate) folders: Vec<String>,
    pub(crate) download_folder: Option<String>,
}

impl Hub {
    pub(crate) async fn hub_settings(&self) -> ApiResult<api::HubSettings> {
        let stored = self.stored_hub().await?;
        let (has_token, for_session) = self
            .keychain()
            .with_secrets(|secrets| {
                Ok((
                    secrets.get(Secret::HubToken)?.is_some(),
                    secrets.is_for_session(),
                ))
            })
            .await?;
        Ok(api::HubSettings {
            address: self.hub_address(&stored),
            address_is_fixed: self.app_settings().environment().hub.is_some(),
            has_token,
            token_is_for_session: has_token && for_session,
            download_folder: self.download_folder(&stored).display().to_string(),
            folders: stored.folders,
        })
    }

    /// Sets the address of the hub; an empty one restores the default.
    ///
    /// # Errors
    /// `BadInput` unless it begins with https:// or is on this machine.
    pub(crate) async fn set_hub_address(&self, address: String) -> ApiResult<api::HubSettings> {
        let address = match address.trim() {
            "" => None,
            text => Some(HubClient::new(text, None)?.address()),
        };
        let changed = address.as_ref() != self.stored_hub().await?.address.as_ref();
        if changed {
            // A token belongs to the hub for which the user entered it.
            self.keychain()
                .keep_secret(Secret::HubToken, String::new())
                .await?;
            self.known_repos().clear();
        }
        self.change_hub(|hub| hub.address = address).await
    }

    /// Stores the access token in the keychain; an empty one removes it.
    ///
    /// # Errors
    /// `BadInput` if it cannot be sent; `Keychain`.
    pub(crate) async fn set_hub_token(&self, token: String) -> ApiResult<api::HubSettings> {
        self.keychain()
            .keep_secret(Secret::HubToken, checked_token(&token)?)
            .await?;
        self.hub_settings().await
    }

    /// Uses an access token until the app ends, without storing it. It is sent to the hub in use,
    /// also to one from the environment.
    ///
    /// # Errors
    /// `BadInput` if it cannot be sent.
    pub(crate) fn give_hub_token(&self, token: &str) -> ApiResult<()> {
        self.keychain()
            .secrets()
            .give(Secret::HubToken, checked_token(token)?);
        Ok(())
    }

    /// Adds the model files in a folder and its subfolders to the library, without copying them,
    /// and remembers the folder.
    ///
    /// # Errors
    /// `BadInput` if it is not a folder.
    pub(crate) async fn add_model_folder(&self, folder: PathBuf) -> ApiResult<api::AddedModels> {
        let folder = std::path::absolute(&folder).unwrap_or(folder);
        if !folder.is_dir() {
            let message = format!("{} is not a folder.", folder.display());
            return Err(bad_input(message, "Choose a folder with GGUF files."));
        }
        let name = text_of(&folder)?;
        if self.stored_hub().await?.folders.len() >= MAX_FOLDERS {
            return Err(bad_input(
                format!("There can be {MAX_FOLDERS} model folders."),
                "Remove one of them.",
            ));
        }
        let added = self.add_models_below(&folder).await?;
        self.change_hub(|hub| {
            if !hub.folders.contains(&name) {
                hub.folders.push(name);
            }
        })
        .await?;
        Ok(added)
    }

    /// Forgets a model folder. Its models stay in the library, and its files stay where they are.
    pub(crate) async fn forget_model_folder(&self, folder: String) -> ApiResult<api::HubSettings> {
        self.change_hub(|hub| {
            hub.folders.retain(|known| *known != folder);
            hub.download_folder = hub.download_folder.take().filter(|known| *known != folder);
        })
        .await
    }

    /// Chooses one of the model folders for later downloads; an empty text chooses the folder
    /// inside the data folder.
    ///
    /// # Errors
    /// `BadInput` if it is not one of the model folders.
    pub(crate) async fn set_download_folder(&self, folder: String) -> ApiResult<api::HubSettings> {
        if !folder.is_empty() && !self.stored_hub().await?.folders.contains(&folder) {
            return Err(bad_input(
                "This is not one of the model folders.",
                "Add the folder first.",
            ));
        }
        self.change_hub(|hub| {
            hub.download_folder = Some(folder).filter(|folder| !folder.is_empty())
        })
        .await
    }

    pub(crate) async fn stored_hub(&self) -> ApiResult<StoredHub> {
        let rows = self
            .base()
            .store()
            .read(|store| store.settings().all())
            .await?;
        Ok(rows
            .get(HUB)
            .and_then(|json| serde_json::from_str(json).ok())
            .unwrap_or_default())
    }

    async fn change_hub(&self, change: impl FnOnce(&mut StoredHub)) -> ApiResult<api::HubSettings> {
        let mut stored = self.stored_hub().await?;
        change(&mut stored);
        let json = serde_json::to_string(&stored)
            .map_err(|_| internal("the hub's settings could not be stored"))?;
        self.base()
            .store()
            .write(move |store| store.settings_mut().set(HUB, &json))
            .await?;
        self.base().events().changed(Changed::Models, None);
        self.hub_settings().await
    }

    /// The hub with the user's token. A stored token is not sent to an address from the
    /// environment.
    pub(crate) async fn hub(&self) -> ApiResult<HubClient> {
        let stored = self.stored_hub().await?;
        let token = match self.app_settings().environment().hub {
            Some(_) => self
                .keychain()
                .secrets()
                .given(Secret::HubToken)
                .map(SecretString::from),
            None => self
                .keychain()
                .with_secrets(|secrets| secrets.get(Secret::HubToken))
                .await?
                .map(SecretString::from),
        };
        Ok(HubClient::new(&self.hub_address(&stored), token)?)
    }

    fn hub_address(&self, stored: &StoredHub) -> String {
        let set = self
            .app_settings()
            .environment()
            .hub
            .clone()
            .or_else(|| stored.address.clone());
        set.unwrap_or_else(|| DEFAULT_HUB.to_owned())
    }

    pub(crate) fn download_folder(&self, stored: &StoredHub) -> PathBuf {
        stored
            .download_folder
            .as_ref()
            .map_or_else(|| self.own_model_folder(), PathBuf::from)
    }

    /// The model folder inside the data folder.
    pub(crate) fn own_model_folder(&self) -> PathBuf {
        self.base().store().dir().join(FOLDER)
    }
}

fn checked_token(token: &str) -> ApiResult<String> {
    let token = token.trim();
    if token.len() > 500 || token.chars().any(|letter| !letter.is_ascii_graphic()) {
        return Err(bad_input(
            "This is not an access token.",
            "Copy the whole token from the hub's settings page.",
        ));
    }
    Ok(token.to_owned())
}

/// # Errors
/// `BadInput` for a path that is not Unicode.
pub(crate) fn text_of(path: &Path) -> ApiResult<String> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        bad_input(
            format!("{} has a name that is not Unicode.", path.display()),
            "Rename the folder or the file.",
        )
    })
}

impl From<HubError> for ApiError {
    fn from(error: HubError) -> Self {
        let class = match error.fault {
            HubFault::Unreachable => ProviderClass::Unreachable,
            HubFault::Timeout => ProviderClass::Timeout,
            HubFault::Unauthorized | HubFault::Gated => ProviderClass::Unauthorized,
            HubFault::NotFound => ProviderClass::NotFound,
            HubFault::RateLimited(_) => ProviderClass::RateLimited,
            HubFault::Server(_) => ProviderClass::Server,
            HubFault::Refused(_) => ProviderClass::BadRequest,
            HubFault::NotAHub | HubFault::TooLarge => ProviderClass::Malformed,
        };
        let message = crate::base::error::sentence(&error.to_string());
        Self::Provider {
            message,
            hint: error.hint().to_owned(),
            class,
        }
    }
}
