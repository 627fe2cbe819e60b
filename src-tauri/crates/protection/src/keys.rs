//! The data key of a folder, and the keys derived from it.

use hkdf::Hkdf;
use secrecy::{ExposeSecret as _, ExposeSecretMut as _, SecretBox};
use sha2_11::Sha256;

use crate::random::{RandomError, random_secret};

pub(crate) const KEY_BYTES: usize = 32;

/// 256 secret bits: overwritten when dropped, and hidden from [`Debug`].
pub(crate) type Secret = SecretBox<[u8; KEY_BYTES]>;

/// Derives a key with HKDF-SHA256. `purpose` separates the uses of one secret.
pub(crate) fn derive(secret: &[u8; KEY_BYTES], salt: &[u8], purpose: &str) -> Secret {
    let mut derived = Secret::default();
    expand(
        secret,
        salt,
        format!("inglenook 1 {purpose}").as_bytes(),
        derived.expose_secret_mut(),
    );
    derived
}

fn expand(secret: &[u8], salt: &[u8], info: &[u8], derived: &mut [u8; KEY_BYTES]) {
    Hkdf::<Sha256>::new(Some(salt), secret)
        .expand(info, derived)
        .expect("a key is shorter than HKDF's limit of 8,160 bytes");
}

/// The random key of a protected folder. Every other key of the folder is derived from it.
#[derive(Debug)]
pub struct DataKey(Secret);

/// Raw 256-bit key of the database.
#[derive(Debug)]
pub struct DatabaseKey {
    secret: Secret,
    /// Public check value of the data key, which tells a wrong key from a damaged database.
    check: [u8; KEY_BYTES],
}

/// Key that seals the content of files.
#[derive(Debug)]
pub struct FileKey(Secret);

/// Key that makes the names of sealed files.
#[derive(Debug)]
pub struct NameKey(Secret);

impl DataKey {
    /// Makes the key of a new protected folder.
    ///
    /// # Errors
    /// The system has no random bytes.
    pub fn generate() -> Result<Self, RandomError> {
        random_secret().map(Self)
    }

    pub(crate) fn from_secret(secret: Secret) -> Self {
        Self(secret)
    }

    pub(crate) fn bytes(&self) -> &[u8; KEY_BYTES] {
        self.0.expose_secret()
    }

    #[must_use]
    pub fn database_key(&self) -> DatabaseKey {
        DatabaseKey {
            secret: self.derive("database"),
            check: self.check(),
        }
    }

    /// Key of assets, documents, backups, and other files that must survive.
    #[must_use]
    pub fn file_key(&self) -> FileKey {
        FileKey(self.derive("files"))
    }

    /// Key of files that can be computed again, such as saved KV caches.
    #[must_use]
    pub fn cache_key(&self) -> FileKey {
        FileKey(self.derive("caches"))
    }

    #[must_use]
    pub fn name_key(&self) -> NameKey {
        NameKey(self.derive("names"))
    }

    /// Key of what is marked private. Its database, file and name keys differ from those of the
    /// folder.
    #[must_use]
    pub fn private_folder_key(&self) -> Self {
        Self(self.derive("private folder"))
    }

    /// Public value that only this key gives. It does not reveal the key.
    pub(crate) fn check(&self) -> [u8; KEY_BYTES] {
        *self.derive("check").expose_secret()
    }

    fn derive(&self, purpose: &str) -> Secret {
        derive(self.bytes(), &[], purpose)
    }
}

impl DatabaseKey {
    /// The bytes for the database's raw key. Do not copy them into memory that is not overwritten.
    #[must_use]
    pub fn expose(&self) -> &[u8; KEY_BYTES] {
        self.secret.expose_secret()
    }

    pub(crate) fn check(&self) -> [u8; KEY_BYTES] {
        self.check
    }
}

impl FileKey {
    /// Takes the bytes of a key that another process has exposed.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; KEY_BYTES]) -> Self {
        Self(copied(bytes))
    }

    /// The bytes for another process of this app. Do not copy them into memory that is not
    /// overwritten.
    #[must_use]
    pub fn expose(&self) -> &[u8; KEY_BYTES] {
        self.0.expose_secret()
    }
}

impl NameKey {
    /// Takes the bytes of a key that another process has exposed.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; KEY_BYTES]) -> Self {
        Self(copied(bytes))
    }

    /// The bytes for another process of this app. Do not copy them into memory that is not
    /// overwritten.
    #[must_use]
    pub fn expose(&self) -> &[u8; KEY_BYTES] {
        self.0.expose_secret()
    }
}

fn copied(bytes: &[u8; KEY_BYTES]) -> Secret {
    let mut secret = Secret::default();
    secret.expose_secret_mut().copy_from_slice(bytes);
    secret
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted() -> DataKey {
        let mut secret = Secret::default();
        for (byte, value) in secret.expose_secret_mut().iter_mut().zip(1..) {
            *byte = value;
        }
        DataKey::from_secret(secret)
    }

    #[test]
    fn derivation_follows_rfc_5869() {
        let mut derived = [0; KEY_BYTES];
        let salt: Vec<u8> = (0x00..=0x0c).collect();
        let info: Vec<u8> = (0xf0..=0xf9).collect();
        expand(&[0x0b; 22], &salt, &info, &mut derived);
        // Test case 1 has 42 bytes; these are its first 32.
        assert_eq!(
            hex::encode(derived),
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"
        );
    }

    /// Computed with Python's `hmac` and, for `files`, with the Python package `cryptography`.
    #[test]
    fn each_purpose_has_its_key() {
        let key = counted();
        for (derived, expected) in [
            (
                key.database_key().secret,
                "5bda67b1e1d85dd67e8f19b52020c4a96499acb0036e0003e223d73d9a645538",
            ),
            (
                key.file_key().0,
                "31e4e3c2f9df1c18341f75cd8296260de82eb18ff828466f2f5fe40862a66f7d",
            ),
            (
                key.name_key().0,
                "2cd11f8f2592441c8c8e2640b61aec2aed7d56ca6cb59b04d754f37e637f239a",
            ),
            (
                key.cache_key().0,
                "943148f3d9e4c5221b9ce71ba9ea5d93740c77d59ce9fe7327cb347f561fa340",
            ),
            (
                key.private_folder_key().0,
                "56a4c9f8116e21cee7741caf557ca1447daccf22315892d0c01123a315990067",
            ),
        ] {
            assert_eq!(hex::encode(derived.expose_secret()), expected);
        }
    }

    #[test]
    fn exposed_keys_are_taken_again() {
        let content = counted().cache_key();
        let names = counted().name_key();
        assert_eq!(
            FileKey::from_bytes(content.expose()).expose(),
            content.expose()
        );
        assert_eq!(
            NameKey::from_bytes(names.expose()).sealed_name("lamp"),
            names.sealed_name("lamp")
        );
    }

    #[test]
    fn keys_are_random_and_not_printed() {
        let [first, second] = [(); 2].map(|()| DataKey::generate().unwrap());
        assert_ne!(first.bytes(), second.bytes());
        let printed = format!("{:?} {:?}", counted(), counted().file_key());
        assert!(printed.contains("REDACTED"), "{printed}");
        assert!(!printed.contains("1, 2, 3"), "{printed}");
    }
}
