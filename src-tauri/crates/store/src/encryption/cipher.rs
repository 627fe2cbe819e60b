//! Encryption of database files: how a connection gets its key, and which files need one.
//!
//! A database with a key is encrypted page by page, together with its log and its temporary files.
//! `src-tauri/docs/protection.md` has the format. A folder is protected if it has a key file, or if
//! its database is encrypted. Without the key, nothing of it is opened, moved or replaced.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use percent_encoding::{NON_ALPHANUMERIC, percent_encode};
use protection::{KEY_FILE_NAME, KeyFile};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use zeroize::Zeroizing;

use crate::{FolderKeys, StoreError, files, search};

/// The first bytes of a database without a key.
const PLAIN_HEADER: &[u8] = b"SQLite format 3\0";
/// Bytes that are not encrypted: the page size at 16, and from 20 the reserved bytes of a page and
/// three constants. Only a key reserves 32 bytes.
const PAGE_SIZE: [u8; 2] = [16, 0];
const ENCRYPTED: [u8; 4] = [32, 64, 32, 32];
const HEADER_BYTES: u64 = 24;

/// How the pages of a database file are stored, as its header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileForm {
    Plain,
    Encrypted,
    /// Empty, damaged, or no database.
    Unknown,
}

impl FileForm {
    /// Reads the header of a file.
    pub(crate) fn of(database: &Path) -> io::Result<Self> {
        let mut header = Vec::new();
        File::open(database)?
            .take(HEADER_BYTES)
            .read_to_end(&mut header)?;
        let has = |at: usize, bytes: &[u8]| header.get(at..at + bytes.len()) == Some(bytes);
        Ok(if has(0, PLAIN_HEADER) {
            Self::Plain
        } else if has(16, &PAGE_SIZE) && has(20, &ENCRYPTED) {
            Self::Encrypted
        } else {
            Self::Unknown
        })
    }
}

/// Whether the database of a folder begins like one without a key. `None` if there is no database, or
/// an empty one.
pub(crate) fn has_plain_header(dir: &Path) -> Option<bool> {
    let mut header = Vec::new();
    let database = File::open(dir.join(files::DATABASE)).ok()?;
    let limit = PLAIN_HEADER.len() as u64;
    database.take(limit).read_to_end(&mut header).ok()?;
    (!header.is_empty()).then_some(header == PLAIN_HEADER)
}

/// Gives a new connection its key, before anything else reads the file.
///
/// # Errors
/// Another SQLite is linked, which would ignore the key and write plain text.
pub(crate) fn unlock(conn: &Connection, keys: Option<&FolderKeys>) -> rusqlite::Result<()> {
    let Some(keys) = keys else { return Ok(()) };
    require_cipher(conn)?;
    conn.execute_batch(&statement("key", keys))
        .map_err(without_sql)
}

/// Rewrites an open file with another key, or without one.
pub(crate) fn change_key(conn: &Connection, keys: Option<&FolderKeys>) -> rusqlite::Result<()> {
    require_cipher(conn)?;
    match keys {
        Some(keys) => conn
            .execute_batch(&statement("rekey", keys))
            .map_err(without_sql),
        None => conn.execute_batch("PRAGMA rekey = ''"),
    }
}

/// SQLite ignores pragmas that it does not know.
fn require_cipher(conn: &Connection) -> rusqlite::Result<()> {
    conn.pragma_query_value(None, "cipher", |_| Ok(()))
}

/// The SQL has the key, and errors are logged.
fn without_sql(error: rusqlite::Error) -> rusqlite::Error {
    match error {
        rusqlite::Error::SqlInputError { error, .. } => rusqlite::Error::SqliteFailure(error, None),
        other => other,
    }
}

/// Copies of the key in our memory are overwritten. SQLite frees its own without overwriting them.
fn statement(pragma: &str, keys: &FolderKeys) -> Zeroizing<String> {
    let digits = Zeroizing::new(hex::encode(keys.database().expose()));
    let mut sql = Zeroizing::new(String::with_capacity(128));
    for part in ["PRAGMA ", pragma, " = 'raw:", digits.as_str(), "'"] {
        sql.push_str(part);
    }
    sql
}

/// The key that a file needs. Copies from before the folder was protected need none.
pub(crate) fn key_of<'k>(database: &Path, keys: Option<&'k FolderKeys>) -> Option<&'k FolderKeys> {
    keys.filter(|_| !matches!(FileForm::of(database), Ok(FileForm::Plain)))
}

/// # Errors
/// `Protected` if the folder needs a key and there is none.
pub(crate) fn require_key(dir: &Path, keys: Option<&FolderKeys>) -> Result<(), StoreError> {
    if keys.is_none() && is_protected(dir) {
        return Err(StoreError::Protected {
            dir: dir.to_owned(),
        });
    }
    Ok(())
}

/// Whether the folder has a key file, or nobody can say.
pub(crate) fn has_key_file(dir: &Path) -> bool {
    match fs::metadata(dir.join(KEY_FILE_NAME)) {
        Ok(_) => true,
        Err(error) => !matches!(
            error.kind(),
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
        ),
    }
}

fn is_protected(dir: &Path) -> bool {
    has_key_file(dir)
        || matches!(
            FileForm::of(&dir.join(files::DATABASE)),
            Ok(FileForm::Encrypted)
        )
}

/// Whether no readable key file says that the key is the one of this folder. The answer is only
/// about the key file: if the key opens the database, it is the right one.
pub(crate) fn is_unconfirmed(dir: &Path, keys: &FolderKeys) -> bool {
    let file = fs::read(dir.join(KEY_FILE_NAME)).ok();
    file.and_then(|json| KeyFile::parse(&json).ok())
        .is_none_or(|file| !file.belongs_to_database_key(keys.database()))
}

/// # Errors
/// `WrongKey` if the key file does not confirm the key, and the key does not open the database.
pub(crate) fn refuse_wrong_key(dir: &Path, keys: Option<&FolderKeys>) -> Result<(), StoreError> {
    match keys {
        Some(keys) if is_unconfirmed(dir, keys) && !opens(&dir.join(files::DATABASE), keys) => {
            Err(StoreError::WrongKey {
                dir: dir.to_owned(),
            })
        }
        _ => Ok(()),
    }
}

/// Leaves the log as it is when a connection closes whose key may be wrong.
pub(crate) fn keep_log(conn: &Connection) -> rusqlite::Result<()> {
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(())
}

/// Whether the key decrypts the first page of a file. The log and the journal are not read: after a
/// kill, only a connection that may write can apply them, and the key may be wrong.
pub(crate) fn opens(database: &Path, keys: &FolderKeys) -> bool {
    matches!(FileForm::of(database), Ok(FileForm::Encrypted))
        && unchanging(database)
            .and_then(|conn| {
                unlock(&conn, Some(keys))?;
                conn.query_row("PRAGMA schema_version", [], |row| row.get::<_, i64>(0))
            })
            .is_ok()
}

/// A connection that reads a database as if no program had ever written to it.
fn unchanging(database: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let path = percent_encode(database.as_os_str().as_encoded_bytes(), NON_ALPHANUMERIC);
    Connection::open_with_flags(format!("file:{path}?immutable=1"), flags)
}

/// Encrypts a plain copy that is about to become a part of a protected folder. Returns whether it
/// was plain.
pub(crate) fn adopt(copy: &Path, keys: Option<&FolderKeys>) -> rusqlite::Result<bool> {
    let is_plain = matches!(FileForm::of(copy), Ok(FileForm::Plain));
    if keys.is_none() || !is_plain {
        return Ok(false);
    }
    convert_copy(copy, None, keys)?;
    Ok(true)
}

/// Rewrites a copy that can be made again. A kill leaves it damaged.
pub(crate) fn convert_copy(
    copy: &Path,
    from: Option<&FolderKeys>,
    to: Option<&FolderKeys>,
) -> rusqlite::Result<()> {
    let conn = Connection::open(copy)?;
    unlock(&conn, from)?;
    search::register(&conn)?;
    // The rewrite sorts and journals all texts: in memory, so that none reaches another file.
    conn.pragma_update(None, "temp_store", "MEMORY")?;
    conn.pragma_update(None, "journal_mode", "MEMORY")?;
    conn.pragma_update(None, "synchronous", "OFF")?;
    change_key(&conn, to)
}
