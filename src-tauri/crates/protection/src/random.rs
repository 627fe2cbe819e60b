//! Random bytes of the operating system.

use rand::TryRngCore as _;
use rand::rand_core::OsError;
use rand::rngs::OsRng;
use secrecy::ExposeSecretMut as _;

use crate::keys::Secret;

/// The operating system gave no random bytes. Without them no key and no nonce is safe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("nothing was encrypted, because the system gave no random bytes; restart the computer")]
pub struct RandomError(#[source] OsError);

pub(crate) fn random_bytes<const N: usize>() -> Result<[u8; N], RandomError> {
    let mut bytes = [0; N];
    OsRng.try_fill_bytes(&mut bytes).map_err(RandomError)?;
    Ok(bytes)
}

pub(crate) fn random_secret() -> Result<Secret, RandomError> {
    let mut secret = Secret::default();
    OsRng
        .try_fill_bytes(secret.expose_secret_mut())
        .map_err(RandomError)?;
    Ok(secret)
}
