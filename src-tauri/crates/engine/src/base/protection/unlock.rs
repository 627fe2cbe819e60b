//! Unlocks a data folder: a passphrase, a recovery code or a key in the keychain gives the data
//! key, and the keys of the store and of the worker are derived from it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use local::CacheKeys;
use protection::{DataKey, KeyFile, KeySlot, KeychainKey, Passphrase, RecoveryCode};
use store::FolderKeys;

use crate::api::SecretText;
use crate::base::protection::blocking;
use crate::base::protection::error::UnlockError;
use crate::base::protection::key_files::{FoundKeyFile, KeyFiles, key_files_in};
use crate::base::secrets::{Secret, Secrets};

/// A way to unlock a data folder.
#[derive(Debug, Clone)]
pub enum UnlockSecret {
    Passphrase(SecretText),
    RecoveryCode(SecretText),
    /// The key that the system's keychain keeps for the user's log-in.
    Keychain,
}

/// The keys of an unlocked data folder. They are overwritten when the last clone is dropped.
#[derive(Debug, Clone)]
pub struct UnlockedFolder {
    keys: Arc<FolderKeys>,
    cache_keys: Arc<CacheKeys>,
    key_file: Arc<KeyFile>,
}

/// A data key, and the key file that it came from.
pub(crate) struct UnwrappedKey {
    pub(crate) key: DataKey,
    pub(crate) file: KeyFile,
}

impl UnlockedFolder {
    pub(crate) fn of(key: &DataKey, file: &KeyFile) -> Self {
        Self {
            keys: Arc::new(FolderKeys::of(key)),
            cache_keys: Arc::new(CacheKeys::new(key.cache_key(), key.name_key())),
            key_file: Arc::new(file.clone()),
        }
    }

    /// Unlocks an encrypted backup with the key file next to it, or in the folder above.
    /// [`Engine::restore`](crate::Engine::restore) gives a data folder without data this key file.
    ///
    /// # Errors
    /// `NotProtected` if there is no key file, and the other errors.
    pub async fn for_backup(backup: PathBuf, secret: UnlockSecret) -> Result<Self, UnlockError> {
        blocking(move || unlock_backup(&backup, &secret).map(Self::from)).await
    }

    pub(crate) fn keys(&self) -> &Arc<FolderKeys> {
        &self.keys
    }

    pub(crate) fn cache_keys(&self) -> Arc<CacheKeys> {
        Arc::clone(&self.cache_keys)
    }

    /// The key file as it was when it unlocked the folder.
    pub(crate) fn key_file(&self) -> &KeyFile {
        &self.key_file
    }
}

impl From<UnwrappedKey> for UnlockedFolder {
    fn from(unwrapped: UnwrappedKey) -> Self {
        Self::of(&unwrapped.key, &unwrapped.file)
    }
}

/// A secret that was read once, for several key files.
enum ParsedSecret {
    Passphrase(Passphrase),
    RecoveryCode(RecoveryCode),
    Keychain(KeychainKey),
}

impl ParsedSecret {
    fn open(&self, file: &KeyFile) -> Result<DataKey, protection::UnlockError> {
        match self {
            Self::Passphrase(passphrase) => file.unlock_with_passphrase(passphrase),
            Self::RecoveryCode(code) => file.unlock_with_recovery_code(code),
            Self::Keychain(key) => file.unlock_with_keychain(key),
        }
    }
}

/// Unlocks a data folder. Blocks while the key is derived.
///
/// # Errors
/// [`UnlockError`].
pub(crate) fn unlock(
    files: &KeyFiles,
    secret: &UnlockSecret,
    find_secrets: impl FnOnce() -> Secrets,
) -> Result<UnwrappedKey, UnlockError> {
    let found = files.all();
    if found.is_empty() {
        return Err(match files.exists().then(|| files.main()) {
            Some(Err(error)) => error,
            _ => UnlockError::NotProtected {
                dir: files.dir().to_owned(),
            },
        });
    }
    let parsed = parse(secret, &found, find_secrets)?;
    unwrap_first(found, &parsed)
}

/// Checks the passphrase of the open folder. Blocks while the key is derived.
///
/// # Errors
/// [`UnlockError`]. A key file of another folder makes every passphrase wrong.
pub(crate) fn check_passphrase(
    files: &KeyFiles,
    passphrase: SecretText,
    unlocked: &UnlockedFolder,
) -> Result<(), UnlockError> {
    let secret = UnlockSecret::Passphrase(passphrase);
    let found = unlock(files, &secret, Secrets::for_session)?;
    if unlocked.key_file().belongs_to(&found.key) {
        Ok(())
    } else {
        Err(UnlockError::Wrong {
            slot: KeySlot::Passphrase,
        })
    }
}

fn unlock_backup(backup: &Path, secret: &UnlockSecret) -> Result<UnwrappedKey, UnlockError> {
    let folders = backup.ancestors().skip(1).take(2);
    let found: Vec<FoundKeyFile> = folders.flat_map(key_files_in).collect();
    if found.is_empty() {
        return Err(UnlockError::NotProtected {
            dir: backup.to_owned(),
        });
    }
    let parsed = parse(secret, &found, Secrets::for_session)?;
    unwrap_first(found, &parsed)
}

fn parse(
    secret: &UnlockSecret,
    found: &[FoundKeyFile],
    find_secrets: impl FnOnce() -> Secrets,
) -> Result<ParsedSecret, UnlockError> {
    Ok(match secret {
        UnlockSecret::Passphrase(typed) => {
            ParsedSecret::Passphrase(Passphrase::new(typed.expose())?)
        }
        UnlockSecret::RecoveryCode(typed) => {
            ParsedSecret::RecoveryCode(RecoveryCode::parse(typed.expose())?)
        }
        UnlockSecret::Keychain => {
            let id = found.iter().find_map(|one| one.file.folder_id());
            ParsedSecret::Keychain(key_in_keychain(id, &find_secrets())?)
        }
    })
}

fn key_in_keychain(id: Option<u32>, secrets: &Secrets) -> Result<KeychainKey, UnlockError> {
    let missing = UnlockError::Missing {
        slot: KeySlot::Keychain,
    };
    let Some(id) = id else { return Err(missing) };
    let text = secrets
        .get(Secret::DataFolder(id))
        .map_err(|error| UnlockError::Keychain {
            problem: error.to_string(),
        })?;
    let text = SecretText::new(text.unwrap_or_default());
    KeychainKey::parse(text.expose()).ok_or(missing)
}

/// Tries one key file after the other. A key file that refuses the secret excludes all other copies
/// of its folder: an old copy would accept a passphrase that was replaced.
fn unwrap_first(
    found: Vec<FoundKeyFile>,
    secret: &ParsedSecret,
) -> Result<UnwrappedKey, UnlockError> {
    let mut refused = Vec::new();
    let mut failure = None;
    for FoundKeyFile { path, file } in found {
        let id = file.folder_id();
        if refused.contains(&id) {
            continue;
        }
        match secret.open(&file) {
            Ok(key) => return Ok(UnwrappedKey { key, file }),
            Err(error) => {
                let error = UnlockError::of(error, &path);
                if !matches!(error, UnlockError::Damaged { .. }) {
                    refused.push(id);
                }
                failure = Some(clearer(failure, error));
            }
        }
    }
    Err(failure.unwrap_or(UnlockError::NotProtected {
        dir: PathBuf::new(),
    }))
}

/// The user can do more about a wrong secret than about a damaged copy.
fn clearer(before: Option<UnlockError>, error: UnlockError) -> UnlockError {
    match before {
        Some(before) if !matches!(before, UnlockError::Damaged { .. }) => before,
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use protection::PassphraseCost;
    use tempfile::TempDir;

    use super::*;

    /// A folder that the keychain unlocks.
    struct Folder {
        _dir: TempDir,
        files: KeyFiles,
        keychain: KeychainKey,
        code: RecoveryCode,
        id: u32,
    }

    impl Folder {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            let key = DataKey::generate().unwrap();
            let code = RecoveryCode::generate().unwrap();
            let keychain = KeychainKey::generate().unwrap();
            let passphrase = Passphrase::new("whale oil").unwrap();
            let cost = PassphraseCost::new(16, 1).unwrap();
            let mut file = KeyFile::create(&key, &passphrase, cost, &code).unwrap();
            file.set_keychain_key(&key, &keychain).unwrap();
            let files = KeyFiles::of(dir.path());
            files.create(&file).unwrap();
            Self {
                _dir: dir,
                files,
                keychain,
                code,
                id: file.folder_id().unwrap(),
            }
        }

        /// A keychain with this key for the folder.
        fn keychain_with(&self, key: &KeychainKey) -> Secrets {
            let secrets = Secrets::for_session();
            let text = SecretText::from(key.text());
            let stored = secrets.set(Secret::DataFolder(self.id), text.expose());
            assert!(stored.is_ok());
            secrets
        }

        fn unlock(&self, secret: &UnlockSecret, keychain: Secrets) -> Result<(), UnlockError> {
            unlock(&self.files, secret, || keychain).map(drop)
        }

        /// Whether the passphrase and the code unlock it without a keychain.
        fn has_other_ways(&self) -> bool {
            let passphrase = SecretText::new("whale oil".to_owned());
            let ways = [
                UnlockSecret::Passphrase(passphrase),
                UnlockSecret::RecoveryCode(self.code.text().into()),
            ];
            ways.iter()
                .all(|way| self.unlock(way, Secrets::for_session()).is_ok())
        }
    }

    const WAY_OUT: &str = "Use the passphrase or the recovery code.";

    #[test]
    fn key_in_the_keychain_unlocks() {
        let folder = Folder::new();
        let keychain = folder.keychain_with(&folder.keychain);
        assert!(folder.unlock(&UnlockSecret::Keychain, keychain).is_ok());
    }

    #[test]
    fn vanished_keychain_leaves_the_other_ways() {
        let folder = Folder::new();
        let refused = folder.unlock(&UnlockSecret::Keychain, Secrets::for_session());
        let error = refused.unwrap_err();
        assert!(matches!(error, UnlockError::Missing { .. }), "{error}");
        assert_eq!(error.hint(), WAY_OUT);
        let silent = UnlockError::Keychain {
            problem: "The keychain of this system did not answer.".to_owned(),
        };
        assert_eq!(silent.hint(), WAY_OUT);
        assert!(folder.has_other_ways());
    }

    #[test]
    fn another_key_in_the_keychain_is_wrong() {
        let folder = Folder::new();
        let other = KeychainKey::generate().unwrap();
        let keychain = folder.keychain_with(&other);
        let error = folder
            .unlock(&UnlockSecret::Keychain, keychain)
            .unwrap_err();
        assert!(matches!(error, UnlockError::Wrong { .. }), "{error}");
        assert!(folder.has_other_ways());
    }
}
