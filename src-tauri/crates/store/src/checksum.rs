//! Checksums of swipe texts, which detect text that changed on disk. SQLite's own check covers only the structure of
//! the file.

use rusqlite::{Connection, params};
use sha2::{Digest, Sha256};

/// Maximum number of damaged texts that a report counts.
const COUNTED: usize = 1_000;

/// The first 8 bytes of the text's SHA-256.
pub(crate) fn of(text: &str) -> i64 {
    let [a, b, c, d, e, f, g, h, ..]: [u8; 32] = Sha256::digest(text).into();
    i64::from_be_bytes([a, b, c, d, e, f, g, h])
}

/// Adds checksums to texts that earlier versions wrote without one.
pub(crate) fn fill(conn: &mut Connection) -> rusqlite::Result<()> {
    if !has_checksums(conn)? {
        return Ok(());
    }
    let transaction = conn.transaction()?;
    {
        let mut lacking = transaction.prepare("SELECT id, text FROM swipe WHERE checksum IS NULL")?;
        let mut put = transaction.prepare("UPDATE swipe SET checksum = ?2 WHERE id = ?1")?;
        // The rows are collected first, because the update removes them from the index that the query reads.
        let texts = lacking.query_map([], |row| Ok((row.get::<_, [u8; 16]>(0)?, of(row.get_ref(1)?.as_str()?))))?;
        for (id, sum) in texts.collect::<rusqlite::Result<Vec<_>>>()? {
            put.execute(params![id, sum])?;
        }
    }
    transaction.commit()
}

/// Checks that every text matches its checksum. Databases of versions without checksums pass.
pub(crate) fn check(conn: &Connection) -> Result<(), String> {
    if !has_checksums(conn).map_err(|error| error.to_string())? {
        return Ok(());
    }
    match changed(conn).map_err(|error| error.to_string())? {
        0 => Ok(()),
        1 => Err("the text of 1 message has changed on disk".into()),
        count => Err(format!("the texts of {count} messages have changed on disk")),
    }
}

fn has_checksums(conn: &Connection) -> rusqlite::Result<bool> {
    conn.prepare("SELECT 1 FROM pragma_table_info('swipe') WHERE name = 'checksum'")?.exists([])
}

fn changed(conn: &Connection) -> rusqlite::Result<usize> {
    let mut texts = conn.prepare("SELECT text, checksum FROM swipe WHERE checksum IS NOT NULL")?;
    let mut rows = texts.query([])?;
    let mut changed = 0;
    while let Some(row) = rows.next()? {
        let same =
            row.get_ref(0)?.as_str().is_ok_and(|text| row.get_ref(1).is_ok_and(|sum| sum.as_i64() == Ok(of(text))));
        changed += usize::from(!same);
        if changed == COUNTED {
            break;
        }
    }
    Ok(changed)
}
