//! The hint after the first week that the chats are not encrypted.

use domain::Timestamp;

use crate::base::error::ApiResult;
use crate::base::handle::Base;

/// Row of the settings table: the user has seen the hint.
const SEEN: &str = "encryption_hint_seen";
/// The first chat is older, in milliseconds.
const FIRST_WEEK: i64 = 7 * 24 * 3_600_000;
/// The user has written as many messages.
const MESSAGES: u32 = 20;

/// The hint that the data folder can be encrypted. Clones share one state.
#[derive(Clone)]
pub(crate) struct EncryptionHint {
    base: Base,
}

impl EncryptionHint {
    pub(super) fn new(base: &Base) -> Self {
        Self { base: base.clone() }
    }

    /// Whether to say that the chats are not encrypted. Somebody who only tries the app is not
    /// asked.
    pub(crate) async fn hints_at_encryption(&self) -> ApiResult<bool> {
        if self.base.keys().is_some() {
            return Ok(false);
        }
        let week_ago = Timestamp(self.base.now().0 - FIRST_WEEK);
        let hints = self.base.store().read(move |store| {
            Ok(store.settings().get(SEEN)?.is_none()
                && store.chats().any_before(week_ago)?
                && store.messages().by_user_reach(MESSAGES)?)
        });
        Ok(hints.await?)
    }

    pub(crate) async fn dismiss_encryption_hint(&self) -> ApiResult<()> {
        let seen = self
            .base
            .store()
            .write(|store| store.settings_mut().set(SEEN, "true"));
        Ok(seen.await?)
    }
}
