//! Keys, key files and sealed files for the tests.

use std::io::{Cursor, Write as _};

use protection::{
    DataKey, DatabaseKey, FileKey, KeyFile, Passphrase, PassphraseCost, RecoveryCode,
    SealedFileError, SealedName, SealedReader, SealedWriter,
};
use secrecy::ExposeSecret as _;
use serde_json::Value;
use sha2_11::{Digest as _, Sha256};

/// Bytes of the header of a sealed file.
pub(crate) const HEADER: usize = 28;
/// Content of a chunk, in bytes.
pub(crate) const CHUNK: usize = 65_536;
/// A chunk in a sealed file, in bytes.
pub(crate) const SEALED_CHUNK: usize = CHUNK + 16;

pub(crate) const PASSPHRASE: &str = "whale oil";

pub(crate) fn passphrase(typed: &str) -> Passphrase {
    Passphrase::new(typed).unwrap()
}

/// Far less than a real folder uses.
pub(crate) fn cheap() -> PassphraseCost {
    PassphraseCost::new(16, 1).unwrap()
}

/// A new protected folder: its data key, its key file and its recovery code.
pub(crate) struct Folder {
    pub(crate) key: DataKey,
    pub(crate) file: KeyFile,
    pub(crate) code: RecoveryCode,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self::with_passphrase(PASSPHRASE)
    }

    pub(crate) fn with_passphrase(typed: &str) -> Self {
        let key = DataKey::generate().unwrap();
        let code = RecoveryCode::generate().unwrap();
        let file = KeyFile::create(&key, &passphrase(typed), cheap(), &code).unwrap();
        Self { key, file, code }
    }

    /// The key file as JSON, to change it.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.file.to_json()).unwrap()
    }
}

pub(crate) fn key_file(json: &Value) -> KeyFile {
    KeyFile::parse(json.to_string().as_bytes()).unwrap()
}

/// Makes the checksum of a slot right again, as a program would that changes a key file on purpose.
pub(crate) fn correct_checksum(json: &mut Value, slot: &str) {
    let fields = &mut json[slot];
    let mut hash = Sha256::new();
    hash.update(slot);
    for number in ["memory_kib", "passes"] {
        if let Some(number) = fields["argon2id"][number].as_u64() {
            hash.update(u32::try_from(number).unwrap().to_be_bytes());
        }
    }
    for field in ["salt", "nonce", "wrapped", "verifier"] {
        hash.update(hex::decode(fields[field].as_str().unwrap()).unwrap());
    }
    fields["checksum"] = hex::encode(hash.finalize()).into();
}

/// A key without its secrecy, for comparisons.
pub(crate) fn bytes(key: &DataKey) -> [u8; 32] {
    let database: DatabaseKey = key.database_key();
    *database.expose()
}

pub(crate) fn code_text(code: &RecoveryCode) -> String {
    code.text().expose_secret().to_owned()
}

/// Content in which no two chunks are alike.
pub(crate) fn content(length: usize) -> Vec<u8> {
    (0..length)
        .map(|place| (place % 251 + place / CHUNK) as u8)
        .collect()
}

pub(crate) fn seal(content: &[u8], key: &FileKey, name: &SealedName) -> Vec<u8> {
    let mut writer = SealedWriter::new(Vec::new(), key, name).unwrap();
    writer.write_all(content).unwrap();
    writer.finish().unwrap()
}

/// Opens a sealed file and reads all of it.
pub(crate) fn unseal(
    file: &[u8],
    key: &FileKey,
    name: &SealedName,
) -> Result<Vec<u8>, SealedFileError> {
    let mut reader = SealedReader::open(Cursor::new(file), key, name)?;
    Ok(reader.read_all()?.to_vec())
}
