//! The hint of the first days that a larger model talks better.

use crate::base::error::ApiResult;
use crate::settings::hub::Hub;

/// Row of the settings table: the user has dismissed the hint.
const DISMISSED: &str = "larger_model_dismissed";
/// Files up to this size are models for a first test, such as the one that comes with the app.
const FOR_A_TEST: u64 = 300_000_000;

impl Hub {
    /// Whether to say that a larger model talks better: only small models can answer, and the user
    /// has not dismissed the hint.
    pub(crate) async fn hints_at_larger_model(&self) -> ApiResult<bool> {
        let (dismissed, models, endpoints) = self
            .base()
            .store()
            .read(|store| {
                Ok((
                    store.settings().get(DISMISSED)?.is_some(),
                    store.models().list()?,
                    store.endpoints().list()?,
                ))
            })
            .await?;
        let small = !models.is_empty() && models.iter().all(|model| model.bytes <= FOR_A_TEST);
        Ok(small && endpoints.is_empty() && !dismissed && self.downloads().list().is_empty())
    }

    pub(crate) async fn dismiss_larger_model_hint(&self) -> ApiResult<()> {
        Ok(self
            .base()
            .store()
            .write(|store| store.settings_mut().set(DISMISSED, "true"))
            .await?)
    }
}
