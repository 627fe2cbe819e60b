//! Choices of the window's page, such as the text size. The window of an encrypted folder has no
//! storage of its own, so they are in the database.

use crate::api::{ApiError, PageValue};
use crate::base::error::{ApiResult, bad_input};
use crate::base::handle::Base;

/// Maximum number of keys.
const MAX_KEYS: u32 = 500;
/// Maximum length of a key, in characters.
const MAX_KEY: usize = 100;
/// Maximum size of a value, in bytes.
const MAX_VALUE: usize = 64 << 10;

/// Choices that the page keeps for its next start. Clones share one state.
#[derive(Clone)]
pub(crate) struct PageValues {
    base: Base,
}

impl PageValues {
    pub(super) fn new(base: &Base) -> Self {
        Self { base: base.clone() }
    }

    pub(crate) async fn page_values(&self) -> ApiResult<Vec<PageValue>> {
        let all = self.base.store().read(|store| store.page_values().all());
        let values = all.await?.into_iter();
        Ok(values
            .map(|(key, value)| PageValue { key, value })
            .collect())
    }

    /// Replaces a value, or removes it.
    ///
    /// # Errors
    /// `BadInput` for an empty or long key, a long value, or too many keys. The stored value stays.
    pub(crate) async fn save_page_value(
        &self,
        key: String,
        value: Option<String>,
    ) -> ApiResult<()> {
        let store = self.base.store();
        let Some(value) = value else {
            let removed = store.write(move |store| store.page_values_mut().remove(&key));
            return Ok(removed.await?);
        };
        check(&key, &value)?;
        let saved = store.write(move |store| {
            let fits = store.page_values().count_others(&key)? < MAX_KEYS;
            if fits {
                store.page_values_mut().set(&key, &value)?;
            }
            Ok(fits)
        });
        if saved.await? {
            Ok(())
        } else {
            Err(too_many())
        }
    }
}

fn check(key: &str, value: &str) -> ApiResult<()> {
    if key.contains('\0') || !(1..=MAX_KEY).contains(&key.chars().count()) {
        return Err(bad_input(
            format!("The key of a choice must have 1 to {MAX_KEY} characters."),
            "Save the choice with another key.",
        ));
    }
    if value.len() > MAX_VALUE {
        return Err(bad_input(
            format!("The choice `{key}` was not saved: it is larger than {MAX_VALUE} bytes."),
            "Save a shorter one.",
        ));
    }
    Ok(())
}

fn too_many() -> ApiError {
    bad_input(
        format!("The choice was not saved: {MAX_KEYS} choices are stored already."),
        "Remove one that you do not need.",
    )
}
