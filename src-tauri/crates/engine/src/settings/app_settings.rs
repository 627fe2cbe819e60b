//! Settings of the app, in one database row each. Settings of prompts and replies are layered (see
//! `layered.rs`).

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use domain::ChatId;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::api::{Changed, ModelRef, Settings, SettingsChange};
use crate::base::error::{ApiResult, bad_input, internal};
use crate::base::handle::Base;
use crate::base::records::user_names::{self, unless_chosen};
use crate::settings::access::local_api;
use crate::settings::environment::Environment;

/// Rows of the settings table.
const THEME: &str = "theme";
const LANGUAGE: &str = "language";
const DEFAULT_MODEL: &str = "default_model";
const DEFAULT_PERSONA: &str = "default_persona";
const NOTIFICATIONS: &str = "notifications";
const LOCAL_API: &str = "local_api";
const WEEKLY_UPDATE_CHECK: &str = "weekly_update_check";
const LOCK_AFTER_MINUTES: &str = "lock_after_minutes";
const LOCK_ON_SUSPEND: &str = "lock_on_suspend";
const FINISH_REPLIES_BEFORE_LOCK: &str = "finish_replies_before_lock";
pub(crate) const OPEN_CHAT: &str = "open_chat";
pub(crate) const WELCOMED: &str = "welcomed";

/// Settings of the app, and what its environment overrides. Clones share one state.
#[derive(Clone)]
pub(crate) struct AppSettings {
    base: Base,
    settings: Arc<RwLock<Settings>>,
    environment: Arc<Environment>,
    encoder_model: Arc<RwLock<Option<String>>>,
}

impl AppSettings {
    pub(super) fn new(
        base: &Base,
        settings: Arc<RwLock<Settings>>,
        environment: Arc<Environment>,
        encoder_model: Arc<RwLock<Option<String>>>,
    ) -> Self {
        Self {
            base: base.clone(),
            settings,
            environment,
            encoder_model,
        }
    }

    fn base(&self) -> &Base {
        &self.base
    }

    pub(crate) fn settings(&self) -> Settings {
        self.settings
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Applies `change` and returns the settings after it.
    pub(crate) fn change_settings(&self, change: impl FnOnce(&mut Settings)) -> Settings {
        let mut settings = self
            .settings
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        change(&mut settings);
        settings.clone()
    }

    pub(crate) fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Identifies the embedding model; `None` if there is none.
    pub(crate) fn encoder_model(&self) -> Option<String> {
        self.encoder_model
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(crate) fn set_encoder_model(&self, model: Option<String>) {
        *self
            .encoder_model
            .write()
            .unwrap_or_else(PoisonError::into_inner) = model;
    }

    pub(crate) async fn get_settings(&self) -> ApiResult<Settings> {
        Ok(self.settings())
    }

    /// Writes the fields that `change` holds and no others.
    pub(crate) async fn update_settings(&self, change: SettingsChange) -> ApiResult<Settings> {
        change.local_api.map_or(Ok(()), local_api::check)?;
        change.lock_after_minutes.map_or(Ok(()), check_lock_time)?;
        let rows = change.rows()?;
        let played = &change.default_persona;
        let anew = played.is_some() && *played != self.settings().default_persona;
        let before = self.settings().default_persona;
        self.base()
            .store()
            .write(move |store| {
                if anew {
                    let personas = store.personas().list()?;
                    let name = unless_chosen(&personas, before).map(|persona| persona.name.clone());
                    name.map_or(Ok(()), |name| user_names::keep_of_default(store, &name))?;
                }
                let chosen = rows
                    .iter()
                    .filter_map(|(key, json)| Some((key, json.as_deref()?)));
                chosen
                    .into_iter()
                    .try_for_each(|(key, json)| store.settings_mut().set(key, json))?;
                if anew {
                    crate::base::records::retraction::retract_recalled(store, None)
                } else {
                    Ok(())
                }
            })
            .await?;
        let settings = self.change_settings(|settings| change.apply(settings));
        self.base().events().changed(Changed::Settings, None);
        Ok(settings)
    }

    /// Clears the default model if it was removed.
    pub(crate) async fn forget_default(&self, gone: &ModelRef) -> ApiResult<()> {
        if self.settings().default_model.as_ref() == Some(gone) {
            self.base()
                .store()
                .write(|store| store.settings_mut().remove(DEFAULT_MODEL))
                .await?;
            self.change_settings(|settings| settings.default_model = None);
            self.base().events().changed(Changed::Settings, None);
        }
        Ok(())
    }

    /// Stores which chat the next start opens. Does not wait for the result, so that a full disk
    /// does not prevent opening a chat.
    pub(crate) fn remember_open(&self, chat: ChatId) {
        let json = serde_json::Value::from(chat.to_string()).to_string();
        let kept = self
            .base()
            .store()
            .checkpoint(move |store| store.settings_mut().set(OPEN_CHAT, &json));
        tokio::spawn(async move {
            if let Err(error) = kept.await {
                tracing::warn!(%error, "the id of the open chat could not be stored");
            }
        });
    }
}

impl SettingsChange {
    /// The rows of the settings table, with the JSON of the fields that are present.
    fn rows(&self) -> ApiResult<[(&'static str, Option<String>); 10]> {
        Ok([
            (THEME, json(&self.theme)?),
            (LANGUAGE, json(&self.language)?),
            (DEFAULT_MODEL, json(&self.default_model)?),
            (DEFAULT_PERSONA, json(&self.default_persona)?),
            (NOTIFICATIONS, json(&self.notifications)?),
            (LOCAL_API, json(&self.local_api)?),
            (WEEKLY_UPDATE_CHECK, json(&self.weekly_update_check)?),
            (LOCK_AFTER_MINUTES, json(&self.lock_after_minutes)?),
            (LOCK_ON_SUSPEND, json(&self.lock_on_suspend)?),
            (
                FINISH_REPLIES_BEFORE_LOCK,
                json(&self.finish_replies_before_lock)?,
            ),
        ])
    }

    fn apply(self, settings: &mut Settings) {
        let Self {
            theme,
            language,
            default_model,
            default_persona,
            notifications,
            local_api,
            weekly_update_check,
            lock_after_minutes,
            lock_on_suspend,
            finish_replies_before_lock,
        } = self;
        settings.theme = theme.unwrap_or(settings.theme);
        settings.language = language.unwrap_or_else(|| std::mem::take(&mut settings.language));
        settings.default_model = default_model.or_else(|| settings.default_model.take());
        settings.default_persona = default_persona.or_else(|| settings.default_persona.take());
        settings.notifications = notifications.unwrap_or(settings.notifications);
        settings.local_api = local_api.unwrap_or(settings.local_api);
        settings.weekly_update_check = weekly_update_check.unwrap_or(settings.weekly_update_check);
        settings.lock_after_minutes = lock_after_minutes.unwrap_or(settings.lock_after_minutes);
        settings.lock_on_suspend = lock_on_suspend.unwrap_or(settings.lock_on_suspend);
        settings.finish_replies_before_lock =
            finish_replies_before_lock.unwrap_or(settings.finish_replies_before_lock);
    }
}

/// # Errors
/// `BadInput` for more than a day.
fn check_lock_time(minutes: u32) -> ApiResult<()> {
    if minutes <= Settings::MAX_LOCK_MINUTES {
        return Ok(());
    }
    Err(bad_input(
        format!("{minutes} minutes are too long until the app locks itself."),
        format!(
            "Enter a number from 1 to {}, or 0 for never.",
            Settings::MAX_LOCK_MINUTES
        ),
    ))
}

fn json<T: Serialize>(value: &Option<T>) -> ApiResult<Option<String>> {
    let json = value.as_ref().map(serde_json::to_string).transpose();
    json.map_err(|error| internal(&error.to_string()))
}

/// Parses the stored settings. An unreadable value falls back to its default without affecting
/// others.
pub(crate) fn parse(rows: &BTreeMap<String, String>) -> Settings {
    let defaults = Settings::default();
    Settings {
        theme: field(rows, THEME, defaults.theme),
        language: field(rows, LANGUAGE, defaults.language),
        default_model: field(rows, DEFAULT_MODEL, defaults.default_model),
        default_persona: field(rows, DEFAULT_PERSONA, defaults.default_persona),
        notifications: field(rows, NOTIFICATIONS, defaults.notifications),
        local_api: field(rows, LOCAL_API, defaults.local_api),
        weekly_update_check: field(rows, WEEKLY_UPDATE_CHECK, defaults.weekly_update_check),
        lock_after_minutes: field(rows, LOCK_AFTER_MINUTES, defaults.lock_after_minutes),
        lock_on_suspend: field(rows, LOCK_ON_SUSPEND, defaults.lock_on_suspend),
        finish_replies_before_lock: field(
            rows,
            FINISH_REPLIES_BEFORE_LOCK,
            defaults.finish_replies_before_lock,
        ),
    }
}

fn field<T: DeserializeOwned>(rows: &BTreeMap<String, String>, key: &str, default: T) -> T {
    let Some(json) = rows.get(key) else {
        return default;
    };
    match serde_json::from_str(json) {
        Ok(value) => value,
        Err(error) => {
            tracing::warn!(%error, key, "a stored setting cannot be read; its default is used");
            default
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::{ApiError, Theme};

    #[test]
    fn unreadable_row_does_not_affect_others() {
        let rows = [
            (THEME, "\"dark\""),
            (LANGUAGE, "7"),
            (DEFAULT_MODEL, "{}"),
            (LOCK_ON_SUSPEND, "\"no\""),
            (FINISH_REPLIES_BEFORE_LOCK, "false"),
            (LOCK_AFTER_MINUTES, "15"),
            (DEFAULT_PERSONA, "\"0190a0a0-0000-7000-8000-000000000001\""),
        ];
        let settings = parse(
            &rows
                .map(|(key, json)| (key.to_owned(), json.to_owned()))
                .into(),
        );
        let expected = Settings {
            theme: Theme::Dark,
            default_persona: "0190a0a0-0000-7000-8000-000000000001".parse().ok(),
            lock_after_minutes: 15,
            lock_on_suspend: true,
            finish_replies_before_lock: false,
            ..Settings::default()
        };
        assert_eq!(settings, expected);
    }

    #[test]
    fn app_locks_itself_after_a_day_at_most() {
        for minutes in [0, 1, 1440] {
            check_lock_time(minutes).unwrap();
        }
        let refused = check_lock_time(1441).unwrap_err();
        assert!(matches!(refused, ApiError::BadInput { .. }), "{refused:?}");
    }

    #[test]
    fn change_touches_only_its_fields() {
        let mut settings = Settings {
            theme: Theme::Dark,
            language: "de".into(),
            ..Settings::default()
        };
        SettingsChange {
            language: Some("en".into()),
            ..SettingsChange::default()
        }
        .apply(&mut settings);
        assert_eq!(
            settings,
            Settings {
                theme: Theme::Dark,
                language: "en".into(),
                ..Settings::default()
            }
        );
    }
}
