//! Prompts of past turns and the log: the settings `keep_prompts` and `write_log`, and the deletion
//! of what they do not allow.

use domain::settings::{
    Layer, Layers, Owner, PromptKeeping, Scope, Setting, SettingOrigin, SettingSection, Values,
    resolve,
};
use store::{ReadTransaction, StoreError, WriteTransaction};

use crate::api::{ApiError, PrivacySpace};
use crate::base::error::{ApiResult, internal};
use crate::base::handle::Base;
use crate::base::log_folder::LogFolder;
use crate::settings::app_settings::AppSettings;

/// Row of the settings table: prompts were removed, and the database file may still contain their
/// text. A crash between both steps leaves the row.
const TO_ERASE: &str = "prompts_to_erase";

/// Stored prompts and the log. Clones share one state.
#[derive(Clone)]
pub(crate) struct Privacy {
    base: Base,
    app_settings: AppSettings,
}

/// The settings of the whole app, for use in a transaction.
#[derive(Clone)]
pub(crate) struct GlobalSettings {
    environment: Layer,
}

impl GlobalSettings {
    /// The values as they are stored now.
    pub(crate) fn values(&self, store: &ReadTransaction<'_>) -> Result<Values, StoreError> {
        let stored = store.scoped_settings().of(Owner::Global)?;
        let pairs = stored
            .iter()
            .map(|(key, json)| (key.as_str(), json.as_str()));
        let (global, _) = Layer::read(Scope::Global, pairs);
        let mut layers = Layers::default();
        layers.put(SettingOrigin::Global, global);
        layers.put(SettingOrigin::Environment, self.environment.clone());
        Ok(resolve(&layers).values)
    }
}

/// Notes in the transaction that removes prompts that their text has to be erased.
pub(crate) fn note_removed(store: &mut WriteTransaction<'_>) -> Result<(), StoreError> {
    store.settings_mut().set(TO_ERASE, "true")
}

/// Notes that the text of removed prompts was erased.
pub(crate) fn note_erased(store: &mut WriteTransaction<'_>) -> Result<(), StoreError> {
    store.settings_mut().remove(TO_ERASE)
}

impl Privacy {
    pub(super) fn new(base: &Base, app_settings: &AppSettings) -> Self {
        Self {
            base: base.clone(),
            app_settings: app_settings.clone(),
        }
    }

    fn base(&self) -> &Base {
        &self.base
    }

    pub(crate) fn global_settings(&self) -> GlobalSettings {
        GlobalSettings {
            environment: self.app_settings.environment().layer.clone(),
        }
    }

    pub(crate) async fn privacy_space(&self) -> ApiResult<PrivacySpace> {
        let kept = self
            .base()
            .store()
            .read(|store| store.manifests().space())
            .await?;
        Ok(PrivacySpace {
            prompts: kept.prompts,
            prompt_bytes: kept.bytes,
            log_bytes: self.log_folder().bytes(),
        })
    }

    /// Deletes what a changed setting no longer allows, except for old prompts, which idle time
    /// removes.
    ///
    /// # Errors
    /// `Storage` if files cannot be deleted or the database file cannot be rebuilt.
    pub(super) async fn apply_privacy(&self, setting: &Setting) -> ApiResult<()> {
        if setting.group != SettingSection::Privacy {
            return Ok(());
        }
        self.apply_log_setting().await?;
        self.delete_unwanted_prompts().await?;
        self.erase_removed_prompts().await
    }

    /// Deletes all prompts if none are to be kept. Returns how many.
    pub(crate) async fn delete_unwanted_prompts(&self) -> ApiResult<usize> {
        let global = self.global_settings();
        let store = self.base().store();
        let is_unwanted = move |store: &ReadTransaction<'_>| {
            let keeping = global.values(store)?.keep_prompts;
            Ok(keeping == PromptKeeping::Nothing && store.manifests().space()?.prompts > 0)
        };
        if !store.read(is_unwanted).await? {
            return Ok(0);
        }
        let delete = |store: &mut WriteTransaction<'_>| {
            note_removed(store)?;
            store.manifests_mut().remove_all()
        };
        Ok(store.write(delete).await?)
    }

    /// Erases the text of removed prompts from the database file, also after a crash.
    pub(crate) async fn erase_removed_prompts(&self) -> ApiResult<()> {
        let store = self.base().store();
        let noted = store.read(|store| store.settings().get(TO_ERASE)).await?;
        if noted.is_none() {
            return Ok(());
        }
        if store.erase_removed_text().await? {
            store.write(note_erased).await?;
        }
        Ok(())
    }

    /// Switches the window's log as the setting says. If it is off, deletes the log files.
    pub(crate) async fn apply_log_setting(&self) -> ApiResult<()> {
        let global = self.global_settings();
        let read = move |store: &ReadTransaction<'_>| Ok(global.values(store)?.write_log);
        let is_on = self.base().store().read(read).await?;
        let folder = self.log_folder();
        let switch = move || switch_log(&folder, is_on);
        tokio::task::spawn_blocking(switch)
            .await
            .map_err(|_| internal("the log could not be switched"))?
    }

    fn log_folder(&self) -> LogFolder {
        LogFolder::in_data(self.base().store().dir())
    }
}

fn switch_log(folder: &LogFolder, is_on: bool) -> ApiResult<()> {
    let switched = if is_on {
        folder.switch_on()
    } else {
        folder.switch_off().and_then(|()| {
            // The window closes its file when it is about to write this line.
            tracing::info!("the log is off");
            folder.delete_files()
        })
    };
    switched.map_err(|error| ApiError::Storage {
        message: format!(
            "The log files in {} could not be changed: {error}.",
            folder.path().display()
        ),
        hint: "Make the folder writable, and close programs that read the log. Then try again."
            .to_owned(),
    })
}
