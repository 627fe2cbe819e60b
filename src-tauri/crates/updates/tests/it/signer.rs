//! Signs manifests.

use std::io::Cursor;

use minisign::{KeyPair, SecretKey};
use minisign_verify::PublicKey;

pub(crate) struct Signer(KeyPair);

impl Signer {
    pub(crate) fn new() -> Self {
        Self(KeyPair::generate_unencrypted_keypair().unwrap())
    }

    pub(crate) fn public(&self) -> PublicKey {
        PublicKey::from_base64(&self.0.pk.to_base64()).unwrap()
    }

    pub(crate) fn sign(&self, bytes: &[u8]) -> String {
        sign(&self.0.sk, bytes)
    }
}

/// Returns a detached signature, as in a file `.minisig`.
pub(crate) fn sign(key: &SecretKey, bytes: &[u8]) -> String {
    let signature = minisign::sign(None, key, Cursor::new(bytes), None, None);
    signature.unwrap().into_string()
}
