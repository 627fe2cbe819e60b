//! Keys of encrypted caches. They reach the worker in a frame, never in an argument, a variable or
//! a file.

use std::fmt;

use protection::{FileKey, NameKey, SealedName};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use zeroize::Zeroizing;

/// Keys of a protected folder for its saved caches. They are overwritten when they are dropped, and
/// [`Debug`](fmt::Debug) does not show them.
#[derive(Debug)]
pub struct CacheKeys {
    content: FileKey,
    names: NameKey,
}

impl CacheKeys {
    /// `content` is the folder's [`cache_key`](protection::DataKey::cache_key).
    pub fn new(content: FileKey, names: NameKey) -> Self {
        Self { content, names }
    }

    /// Key that seals the content of a file.
    pub fn content(&self) -> &FileKey {
        &self.content
    }

    /// Name of the encrypted file whose plain name in the folder `folder` is `file_name`. It
    /// depends on the folder, so a file does not open in that of another model.
    pub fn sealed_name(&self, folder: &str, file_name: &str) -> SealedName {
        self.names
            .sealed_name(&format!("cache/{folder}/{file_name}"))
    }
}

/// Not in constant time: only this app compares its own keys.
impl PartialEq for CacheKeys {
    fn eq(&self, other: &Self) -> bool {
        self.content.expose() == other.content.expose()
            && self.names.expose() == other.names.expose()
    }
}

impl Eq for CacheKeys {}

impl Serialize for CacheKeys {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let wire = WireKeys {
            content: HexKey(Zeroizing::new(*self.content.expose())),
            names: HexKey(Zeroizing::new(*self.names.expose())),
        };
        wire.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for CacheKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wire = WireKeys::deserialize(deserializer)?;
        Ok(Self {
            content: FileKey::from_bytes(&wire.content.0),
            names: NameKey::from_bytes(&wire.names.0),
        })
    }
}

#[derive(Serialize, Deserialize)]
struct WireKeys {
    content: HexKey,
    names: HexKey,
}

/// A key as hexadecimal digits.
struct HexKey(Zeroizing<[u8; 32]>);

impl Serialize for HexKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let digits = Zeroizing::new(hex::encode(self.0.as_slice()));
        serializer.serialize_str(&digits)
    }
}

impl<'de> Deserialize<'de> for HexKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(HexVisitor)
    }
}

struct HexVisitor;

impl Visitor<'_> for HexVisitor {
    type Value = HexKey;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key of 64 hexadecimal digits")
    }

    /// The error does not repeat the digits.
    fn visit_str<E: de::Error>(self, digits: &str) -> Result<HexKey, E> {
        let mut bytes = Zeroizing::new([0_u8; 32]);
        hex::decode_to_slice(digits, bytes.as_mut_slice())
            .map_err(|_| E::custom("a key does not have 64 hexadecimal digits"))?;
        Ok(HexKey(bytes))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::frame;
    use crate::protocol::{Load, LoadPurpose, SavedCacheFolder, Tuning, WorkerRequest};

    fn keys(first: u8) -> CacheKeys {
        let content = FileKey::from_bytes(&[first; 32]);
        CacheKeys::new(content, NameKey::from_bytes(&[first + 1; 32]))
    }

    fn load_with(keys: CacheKeys) -> WorkerRequest {
        WorkerRequest::Load(Load {
            path: "/models/a.gguf".into(),
            context: 2_048,
            threads: 1,
            gpu_layers: 0,
            purpose: LoadPurpose::Replies,
            aside: 0,
            saved: Some(SavedCacheFolder {
                folder: "/cache/model".into(),
                budget: 1,
                keys: Some(Arc::new(keys)),
            }),
            tuning: Tuning::default(),
            projector: None,
        })
    }

    #[test]
    fn keys_travel_in_a_load_request() {
        let sent = load_with(keys(0x4b));
        let bytes = frame::encode(&sent).unwrap();
        let read: WorkerRequest = frame::read(&mut bytes.as_slice()).unwrap().unwrap();
        assert_eq!(read, sent);
        assert_ne!(read, load_with(keys(0x4c)));
    }

    #[test]
    fn keys_are_not_printed() {
        let printed = format!("{:?}", load_with(keys(0x4b)));
        assert!(printed.contains("REDACTED"), "{printed}");
        for part in ["4b4b", "4c4c", "75, 75", "76, 76"] {
            assert!(!printed.contains(part), "{printed}");
        }
    }

    #[test]
    fn damaged_key_is_an_error_without_its_digits() {
        let digits = "4b".repeat(31);
        let json = format!(r#"{{"content":"{digits}","names":"{digits}"}}"#);
        let error = frame::decode::<CacheKeys>(json.as_bytes()).unwrap_err();
        assert!(!error.to_string().contains("4b4b"), "{error}");
    }

    #[test]
    fn sealed_name_depends_on_key_folder_and_file() {
        let name = |key, folder, file| keys(key).sealed_name(folder, file);
        let first = name(1, "model", "a.kv");
        assert_eq!(name(1, "model", "a.kv"), first);
        assert_ne!(name(2, "model", "a.kv"), first);
        assert_ne!(name(1, "other", "a.kv"), first);
        assert_ne!(name(1, "model", "b.kv"), first);
    }
}
