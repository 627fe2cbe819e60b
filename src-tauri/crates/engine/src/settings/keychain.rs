//! Keeps keys and other secrets outside the database.

use std::sync::Arc;

use crate::base::error::{ApiResult, internal};
use crate::base::secrets::{Secret, Secrets};

/// Secrets of endpoints, the hub and tool servers. Clones share one state.
#[derive(Clone)]
pub(crate) struct Keychain {
    secrets: Arc<Secrets>,
}

impl Keychain {
    pub(super) fn new(secrets: Arc<Secrets>) -> Self {
        Self { secrets }
    }

    pub(super) fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    pub(crate) async fn keep_secret(&self, secret: Secret, text: String) -> ApiResult<()> {
        self.with_secrets(move |secrets| {
            if text.is_empty() {
                secrets.remove(secret)
            } else {
                secrets.set(secret, &text)
            }
        })
        .await
    }

    /// Runs `work` on a blocking thread, because a keychain can wait for the user to unlock it.
    pub(crate) async fn with_secrets<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Secrets) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        let keychain = self.clone();
        tokio::task::spawn_blocking(move || work(keychain.secrets()))
            .await
            .map_err(|_| internal("the keychain did not answer"))?
    }
}
