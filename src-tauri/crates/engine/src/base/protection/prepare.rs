//! Makes the keys of a folder that is about to be protected. Nothing is written.

use std::time::Duration;

use protection::{DataKey, KeyFile, Passphrase, PassphraseCost, RecoveryCode};

use crate::api::SecretText;
use crate::base::protection::error::UnlockError;
use crate::base::protection::protect_error::ProtectError;
use crate::base::protection::unlock::UnlockedFolder;

/// How long it takes to derive a key from a passphrase.
const TARGET: Duration = Duration::from_millis(500);

/// New keys for a data folder. Without [`Engine::protect`](crate::Engine::protect), they are lost
/// and nothing has changed.
#[derive(Debug)]
pub struct PreparedProtection {
    pub(super) file: KeyFile,
    pub(super) keys: UnlockedFolder,
    code: RecoveryCode,
}

impl PreparedProtection {
    /// The recovery code, which the user must keep. It is stored nowhere.
    #[must_use]
    pub fn recovery_code(&self) -> SecretText {
        self.code.text().into()
    }

    /// Checks that the user has the recovery code.
    ///
    /// # Errors
    /// `OtherCode`, or the typed text is no recovery code.
    pub fn check_code(&self, typed: &SecretText) -> Result<(), ProtectError> {
        let code = RecoveryCode::parse(typed.expose()).map_err(UnlockError::from)?;
        self.file
            .unlock_with_recovery_code(&code)
            .map(drop)
            .map_err(|_| ProtectError::OtherCode)
    }
}

/// Makes a data key, its key file and a recovery code. Blocks for about a second.
///
/// # Errors
/// The text is no passphrase, or memory or random bytes are missing.
pub(crate) fn prepare(typed: &SecretText) -> Result<PreparedProtection, UnlockError> {
    let passphrase = Passphrase::new(typed.expose())?;
    let key = DataKey::generate()?;
    let code = RecoveryCode::generate()?;
    let file = KeyFile::create(&key, &passphrase, measured_cost()?, &code)?;
    Ok(PreparedProtection {
        keys: UnlockedFolder::of(&key, &file),
        file,
        code,
    })
}

pub(super) fn measured_cost() -> Result<PassphraseCost, UnlockError> {
    PassphraseCost::measure(TARGET).map_err(|error| UnlockError::failed(&error.to_string()))
}
