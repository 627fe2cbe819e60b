//! A copy of the data key, wrapped with XChaCha20-Poly1305 for one way to unlock it.
//!
//! Two values tell mistakes apart. The checksum finds accidental damage without any key. The
//! verifier is derived from the unlocking secret, so it is wrong for another secret. If both are
//! right and the copy does not open, somebody changed it.

use chacha20poly1305::XChaCha20Poly1305;
use chacha20poly1305::aead::{AeadInOut as _, KeyInit as _};
use secrecy::{ExposeSecret as _, ExposeSecretMut as _};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2_11::{Digest as _, Sha256};
use zeroize::Zeroizing;

use super::hex_bytes::HexBytes;
use super::{KeySlot, UnlockError};
use crate::keys::{DataKey, KEY_BYTES, Secret, derive};
use crate::passphrase_cost::{CostError, PassphraseCost};
use crate::random::{RandomError, random_bytes};

pub(super) const SALT_BYTES: usize = 16;
const NONCE_BYTES: usize = 24;
const TAG_BYTES: usize = 16;
const WRAPPED_BYTES: usize = KEY_BYTES + TAG_BYTES;

/// The fields of a wrapped copy, as in the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct WrappedCopy {
    /// Only for the passphrase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    argon2id: Option<StoredCost>,
    salt: HexBytes<SALT_BYTES>,
    nonce: HexBytes<NONCE_BYTES>,
    wrapped: HexBytes<WRAPPED_BYTES>,
    verifier: HexBytes<KEY_BYTES>,
    checksum: HexBytes<KEY_BYTES>,
}

/// Parameters of Argon2id as they are stored, within or outside the limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct StoredCost {
    memory_kib: u32,
    passes: u32,
}

impl WrappedCopy {
    /// Wraps the data key with `secret`.
    pub(super) fn wrap(
        slot: KeySlot,
        key: &DataKey,
        secret: &Secret,
        salt: [u8; SALT_BYTES],
        cost: Option<PassphraseCost>,
    ) -> Result<Self, RandomError> {
        let nonce: [u8; NONCE_BYTES] = random_bytes()?;
        let mut buffer = Zeroizing::new(Vec::<u8>::with_capacity(WRAPPED_BYTES));
        buffer.extend_from_slice(key.bytes());
        cipher(slot, secret)
            .encrypt_in_place((&nonce).into(), &associated_data(slot), &mut *buffer)
            .expect("the cipher encrypts any text of 32 bytes");
        let mut wrapped = [0; WRAPPED_BYTES];
        wrapped.copy_from_slice(&buffer);
        let mut copy = Self {
            argon2id: cost.map(StoredCost::from),
            salt: HexBytes(salt),
            nonce: HexBytes(nonce),
            wrapped: HexBytes(wrapped),
            verifier: HexBytes(verifier(slot, secret)),
            checksum: HexBytes([0; KEY_BYTES]),
        };
        copy.checksum = copy.computed_checksum(slot);
        Ok(copy)
    }

    /// Reads the copy. Returns `None` if a field or the checksum is wrong.
    pub(super) fn read(slot: KeySlot, stored: &Value) -> Option<Self> {
        let copy = Self::deserialize(stored).ok()?;
        (copy.checksum == copy.computed_checksum(slot)).then_some(copy)
    }

    /// Returns the data key if `secret` is the one that wrapped it.
    pub(super) fn open(&self, slot: KeySlot, secret: &Secret) -> Result<DataKey, UnlockError> {
        // Not compared in constant time: whoever sees the time can read the verifier in the file.
        if self.verifier.0 != verifier(slot, secret) {
            return Err(UnlockError::Wrong { slot });
        }
        let mut buffer = Zeroizing::new(self.wrapped.0.to_vec());
        cipher(slot, secret)
            .decrypt_in_place((&self.nonce.0).into(), &associated_data(slot), &mut *buffer)
            .map_err(|_| UnlockError::Damaged { slot })?;
        let mut key = Secret::default();
        key.expose_secret_mut().copy_from_slice(&buffer);
        Ok(DataKey::from_secret(key))
    }

    pub(super) fn salt(&self) -> &[u8; SALT_BYTES] {
        &self.salt.0
    }

    /// The stored cost of the passphrase, if there is one.
    pub(super) fn cost(&self) -> Option<Result<PassphraseCost, CostError>> {
        let stored = self.argon2id?;
        Some(PassphraseCost::new(stored.memory_kib, stored.passes))
    }

    fn computed_checksum(&self, slot: KeySlot) -> HexBytes<KEY_BYTES> {
        let mut hash = Sha256::new();
        hash.update(slot.field());
        if let Some(cost) = self.argon2id {
            hash.update(cost.memory_kib.to_be_bytes());
            hash.update(cost.passes.to_be_bytes());
        }
        hash.update(self.salt.0);
        hash.update(self.nonce.0);
        hash.update(self.wrapped.0);
        hash.update(self.verifier.0);
        HexBytes(hash.finalize().into())
    }
}

impl From<PassphraseCost> for StoredCost {
    fn from(cost: PassphraseCost) -> Self {
        Self {
            memory_kib: cost.memory_kib(),
            passes: cost.passes(),
        }
    }
}

fn cipher(slot: KeySlot, secret: &Secret) -> XChaCha20Poly1305 {
    let key = derive(secret.expose_secret(), &[], &purpose(slot));
    XChaCha20Poly1305::new(key.expose_secret().into())
}

fn verifier(slot: KeySlot, secret: &Secret) -> [u8; KEY_BYTES] {
    let purpose = format!("verifier {}", slot.field());
    *derive(secret.expose_secret(), &[], &purpose).expose_secret()
}

/// Purpose and version, so that a copy cannot be moved to another place.
fn associated_data(slot: KeySlot) -> Vec<u8> {
    format!("inglenook 1 {}", purpose(slot)).into_bytes()
}

fn purpose(slot: KeySlot) -> String {
    format!("wrap {}", slot.field())
}
