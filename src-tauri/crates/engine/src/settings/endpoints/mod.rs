//! Endpoints: their addresses, keys, models and tokenizers.

pub(crate) mod dialect;
pub(crate) mod edit;
pub(crate) mod models;
pub(crate) mod secrets;
pub(crate) mod tokenizer;

use crate::base::handle::Base;
use crate::settings::app_settings::AppSettings;
use crate::settings::keychain::Keychain;
use crate::settings::token_counts::TokenCounts;

/// Endpoints and their models. Clones share one state.
#[derive(Clone)]
pub(crate) struct Endpoints {
    base: Base,
    app_settings: AppSettings,
    keychain: Keychain,
    token_counts: TokenCounts,
}

impl Endpoints {
    pub(super) fn new(
        base: &Base,
        app_settings: &AppSettings,
        keychain: &Keychain,
        token_counts: &TokenCounts,
    ) -> Self {
        Self {
            base: base.clone(),
            app_settings: app_settings.clone(),
            keychain: keychain.clone(),
            token_counts: token_counts.clone(),
        }
    }

    fn base(&self) -> &Base {
        &self.base
    }
}
