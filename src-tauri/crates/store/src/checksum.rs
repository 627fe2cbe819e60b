//! Checksums of the texts that users write, which detect text that changed on disk. SQLite's own
//! check covers only the structure of the file. Messages have theirs in a column; triggers keep
//! those of other texts in `content_sum`.

use rusqlite::{Connection, params};
use sha2::{Digest, Sha256};

/// Maximum number of damaged texts that a report counts.
const COUNTED: usize = 1_000;

/// The first 8 bytes of the text's SHA-256.
pub(crate) fn of(text: &str) -> i64 {
    of_bytes(text.as_bytes())
}

/// Like [`of`], also for text that damage has made unreadable.
pub(crate) fn of_bytes(text: &[u8]) -> i64 {
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
        let mut lacking =
            transaction.prepare("SELECT id, text FROM swipe WHERE checksum IS NULL")?;
        let mut put = transaction.prepare("UPDATE swipe SET checksum = ?2 WHERE id = ?1")?;
        // The rows are collected first, because the update removes them from the index that the
        // query reads.
        let texts = lacking.query_map([], |row| {
            Ok((row.get::<_, [u8; 16]>(0)?, of(row.get_ref(1)?.as_str()?)))
        })?;
        for (id, sum) in texts.collect::<rusqlite::Result<Vec<_>>>()? {
            put.execute(params![id, sum])?;
        }
    }
    transaction.commit()
}

/// Texts besides messages: their names in reports, and the query that counts the changed ones.
const OTHERS: [(&str, &str, &str); 5] = [
    (
        "memory",
        "memories",
        "memory LEFT JOIN content_sum ON kind = 'memory' AND owner = memory.id WHERE sum IS NOT text_sum(text)",
    ),
    (
        "character",
        "characters",
        "character LEFT JOIN content_sum ON kind = 'character' AND owner = character.id
         WHERE sum IS NOT text_sum(card_json)",
    ),
    (
        "lorebook",
        "lorebooks",
        "lorebook LEFT JOIN content_sum ON kind = 'lorebook' AND owner = lorebook.id WHERE sum IS NOT text_sum(json)",
    ),
    (
        "persona",
        "personas",
        "persona LEFT JOIN content_sum ON kind = 'persona' AND owner = persona.id
         WHERE sum IS NOT text_sum(name || char(0) || description || char(0) || instructions)",
    ),
    (
        "note or setting",
        "notes and settings",
        "scoped_setting LEFT JOIN content_sum ON kind = 'note' AND content_sum.owner = scoped_setting.owner
             AND part = scope || ' ' || key
         WHERE sum IS NOT text_sum(value)",
    ),
];

/// Checks that every text matches its checksum. Databases of versions without checksums pass.
pub(crate) fn check(conn: &Connection) -> Result<(), String> {
    let mut found = changed_texts(conn).map_err(|error| error.to_string())?;
    found.retain(|(count, ..)| *count > 0);
    let named = |(count, one, several): &(usize, &str, &str)| match count {
        1 => format!("the text of 1 {one}"),
        count => format!("the texts of {count} {several}"),
    };
    let names = found.iter().map(named).collect::<Vec<_>>().join(", ");
    match found[..] {
        [] => Ok(()),
        [(1, ..)] => Err(format!("{names} has changed on disk")),
        _ => Err(format!("{names} have changed on disk")),
    }
}

/// Number of texts of each kind that do not match their checksums, with the names of one and of
/// several.
fn changed_texts(conn: &Connection) -> rusqlite::Result<Vec<(usize, &'static str, &'static str)>> {
    let mut found = Vec::new();
    if has_checksums(conn)? {
        found.push((changed(conn)?, "message", "messages"));
    }
    if has_sums(conn)? {
        for (one, several, rows) in OTHERS {
            let count: i64 =
                conn.query_row(&format!("SELECT count(*) FROM {rows}"), [], |row| {
                    row.get(0)
                })?;
            found.push((usize::try_from(count).unwrap_or(0), one, several));
        }
    }
    Ok(found)
}

fn has_sums(conn: &Connection) -> rusqlite::Result<bool> {
    conn.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'content_sum'")?
        .exists([])
}

fn has_checksums(conn: &Connection) -> rusqlite::Result<bool> {
    conn.prepare("SELECT 1 FROM pragma_table_info('swipe') WHERE name = 'checksum'")?
        .exists([])
}

fn changed(conn: &Connection) -> rusqlite::Result<usize> {
    let mut texts = conn.prepare("SELECT text, checksum FROM swipe WHERE checksum IS NOT NULL")?;
    let mut rows = texts.query([])?;
    let mut changed = 0;
    while let Some(row) = rows.next()? {
        let same = row
            .get_ref(0)?
            .as_str()
            .is_ok_and(|text| row.get_ref(1).is_ok_and(|sum| sum.as_i64() == Ok(of(text))));
        changed += usize::from(!same);
        if changed == COUNTED {
            break;
        }
    }
    Ok(changed)
}
