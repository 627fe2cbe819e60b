//! Settings of the product, all of them in the database.

use crate::Engine;
use crate::api::{Changed, SamplerSettings, Settings};
use crate::error::{Answer, bad_input, internal};

/// Rows of the table of settings.
pub(crate) const SETTINGS: &str = "settings";
pub(crate) const OPEN_CHAT: &str = "open_chat";
pub(crate) const WELCOMED: &str = "welcomed";

impl Engine {
    pub async fn get_settings(&self) -> Answer<Settings> {
        Ok(self.settings())
    }

    pub async fn update_settings(&self, settings: Settings) -> Answer<Settings> {
        check(&settings.sampler)?;
        let json = serde_json::to_string(&settings).map_err(|error| internal(&error.to_string()))?;
        self.store().write(move |store| store.settings_mut().set(SETTINGS, &json)).await?;
        self.keep_settings(settings.clone());
        self.events().changed(Changed::Settings, None);
        Ok(settings)
    }

    /// Remembers which chat the next start opens. Nobody waits for it, and a full disk does not keep a chat from opening.
    pub(crate) fn remember_open(&self, chat: &str) {
        let json = serde_json::Value::from(chat).to_string();
        let kept = self.store().checkpoint(move |store| store.settings_mut().set(OPEN_CHAT, &json));
        tokio::spawn(async move {
            if let Err(error) = kept.await {
                tracing::warn!(%error, "which chat is open was not kept");
            }
        });
    }
}

fn check(sampler: &SamplerSettings) -> Answer<()> {
    let ranges = [
        ("temperature", sampler.temperature, 0.0, 5.0),
        ("top-p", sampler.top_p, 0.0, 1.0),
        ("min-p", sampler.min_p, 0.0, 1.0),
        ("repeat penalty", sampler.repeat_penalty, 0.5, 3.0),
    ];
    for (name, value, low, high) in ranges {
        if !(low..=high).contains(&value) {
            return Err(bad_input(format!("The {name} is {value}."), format!("It goes from {low} to {high}.")));
        }
    }
    if sampler.max_tokens == 0 {
        return Err(bad_input("A reply of no tokens at all.", "Allow at least one."));
    }
    Ok(())
}

/// The stored settings; what cannot be read falls back to the defaults, field by field.
pub(crate) fn parse(json: Option<&str>) -> Settings {
    let Some(json) = json else { return Settings::default() };
    serde_json::from_str(json).unwrap_or_else(|error| {
        tracing::warn!(%error, "the stored settings cannot be read; the defaults are used");
        Settings::default()
    })
}
