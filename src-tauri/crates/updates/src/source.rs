//! The source of updates, and the program that they update.

use std::io;
use std::path::{Path, PathBuf};

use minisign_verify::PublicKey;

use crate::download::FreeSpace;

/// Public half of the key in `keys/test.key`, which everybody knows. It is used only with a server
/// on this machine.
pub const TEST_KEY: &str = "RWSpMhC0us96ld6DILCq0Vb/6Vpzug9RmkRxHgErLbxOo85UTr26E/t2";

/// Address of the manifest. The release workflow sets it.
const ADDRESS: Option<&str> = option_env!("INGLENOOK_UPDATE_URL");
/// Public key of the releases, in base64. The release workflow sets it.
const RELEASE_KEY: Option<&str> = option_env!("INGLENOOK_UPDATE_KEY");

/// The server of updates, its keys, and the program that is updated.
#[derive(Debug, Clone)]
pub struct UpdateSource {
    /// Address of the manifest; `None` in a build that has none.
    pub address: Option<String>,
    /// Public keys in base64. One of them must have signed the manifest.
    pub keys: Vec<String>,
    /// Version of the running program.
    pub version: String,
    /// Path of the running program; `None` if the system does not tell it.
    pub program: Option<PathBuf>,
    pub free_space: FreeSpace,
}

impl Default for UpdateSource {
    /// The source of this build and this program.
    fn default() -> Self {
        let address = filled(ADDRESS);
        Self {
            keys: built_in_keys(filled(RELEASE_KEY), address.as_deref()),
            address,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            program: std::env::current_exe().ok(),
            free_space,
        }
    }
}

impl UpdateSource {
    /// The keys that can be read. An unreadable one can sign nothing.
    pub(crate) fn public_keys(&self) -> Vec<PublicKey> {
        let keys = self.keys.iter();
        keys.filter_map(|key| PublicKey::from_base64(key.trim()).ok())
            .collect()
    }
}

fn free_space(folder: &Path) -> io::Result<u64> {
    fs4::available_space(folder)
}

fn filled(variable: Option<&str>) -> Option<String> {
    variable
        .map(str::trim)
        .filter(|value| !value.is_empty())
        .map(str::to_owned)
}

/// A build without a release key accepts the test key, but only from this machine: other addresses
/// must begin with https.
fn built_in_keys(release: Option<String>, address: Option<&str>) -> Vec<String> {
    let is_local = address.is_some_and(|address| address.starts_with("http://"));
    release
        .or_else(|| is_local.then(|| TEST_KEY.to_owned()))
        .into_iter()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_key_is_for_this_machine_only() {
        let keys = |release: Option<&str>, address| {
            built_in_keys(release.map(str::to_owned), Some(address))
        };
        assert_eq!(keys(None, "http://127.0.0.1:9/manifest.json"), [TEST_KEY]);
        assert!(keys(None, "https://updates.example/manifest.json").is_empty());
        let release = keys(Some("RWrelease"), "http://127.0.0.1:9/manifest.json");
        assert_eq!(release, ["RWrelease"]);
        assert!(built_in_keys(None, None).is_empty());
    }

    #[test]
    fn test_key_is_that_of_the_file() {
        assert_eq!(
            include_str!("../keys/test.pub").lines().nth(1),
            Some(TEST_KEY)
        );
        assert!(PublicKey::from_base64(TEST_KEY).is_ok());
    }

    #[test]
    fn unreadable_key_can_sign_nothing() {
        let source = UpdateSource {
            keys: vec!["no key".to_owned(), TEST_KEY.to_owned()],
            ..UpdateSource::default()
        };
        assert_eq!(source.public_keys().len(), 1);
    }
}
