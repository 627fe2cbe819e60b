//! Checks whether a database is ours: its application id, its tables, and the code in it.

use rusqlite::Connection;

use crate::{StoreError, migrate, search};

/// "INGL" in ASCII, set by migration 32. Older files have no application id.
const OURS: i64 = 0x494E_474C;

pub(crate) const FOREIGN: &str = "it is not an Inglenook database";

/// Whether an open database is ours, in any version.
pub(crate) fn ours(conn: &Connection) -> rusqlite::Result<bool> {
    let id: i64 = conn.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let tables = "SELECT count(*) = 3 FROM sqlite_schema WHERE type = 'table' AND name IN ('character', 'swipe', 'setting')";
    let has_tables: bool = conn.query_row(tables, [], |row| row.get(0))?;
    Ok(migrate::format(conn)? > 0 && has_tables && (id == OURS || id == 0))
}

/// Whether tables, their columns, references, indexes, triggers and views match those that our
/// migrations create for this format. A file from outside must not bring its own code.
pub(crate) fn schema_is_ours(conn: &Connection) -> Result<bool, StoreError> {
    let format = migrate::format(conn)? as usize;
    let mut fresh = Connection::open_in_memory()?;
    search::register(&fresh)?;
    migrate::run(
        &mut fresh,
        migrate::MIGRATIONS
            .get(..format)
            .unwrap_or(migrate::MIGRATIONS),
    )?;
    Ok(schema(conn)? == schema(&fresh)?
        && references(conn)? == references(&fresh)?
        && columns(conn)? == columns(&fresh)?
        && uniqueness(conn)? == uniqueness(&fresh)?)
}

/// Names a trigger or view that the migrations do not create for the format of the database. It
/// would run with each change that it is about, so a database with one is never used. A missing one
/// is no danger.
pub(crate) fn foreign_code(
    conn: &Connection,
    migrations: &[&str],
) -> Result<Option<String>, StoreError> {
    let format = migrate::format(conn)? as usize;
    let mut fresh = Connection::open_in_memory()?;
    search::register(&fresh)?;
    migrate::run(&mut fresh, migrations.get(..format).unwrap_or(migrations))?;
    let ours = schema(&fresh)?;
    let is_code =
        |(kind, ..): &&(String, String, Option<String>)| kind == "trigger" || kind == "view";
    let foreign = schema(conn)?
        .iter()
        .filter(is_code)
        .find(|object| !ours.contains(object))
        .cloned();
    Ok(foreign.map(|(kind, name, _)| {
        format!("it contains a {kind} that Inglenook did not make, `{name}`")
    }))
}

/// The names of all objects, and the SQL of triggers and views. The SQL of tables and indexes is
/// left out, because it depends on the SQLite version that altered them.
fn schema(conn: &Connection) -> rusqlite::Result<Vec<(String, String, Option<String>)>> {
    let all = "SELECT type, name, iif(type IN ('trigger', 'view'), sql, NULL) FROM sqlite_schema
         WHERE name NOT LIKE 'sqlite_%' ORDER BY type, name";
    conn.prepare(all)?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect()
}

/// The references between tables. A stranger's reference could delete rows with others.
fn references(conn: &Connection) -> rusqlite::Result<Vec<[String; 5]>> {
    let all =
        "SELECT tables.name, link.\"from\", link.\"table\", ifnull(link.\"to\", ''), link.on_delete || link.on_update
         FROM sqlite_schema AS tables JOIN pragma_foreign_key_list(tables.name) AS link
         WHERE tables.type = 'table' ORDER BY 1, 2, 3, 4, 5";
    let row = |row: &rusqlite::Row<'_>| {
        Ok([
            row.get(0)?,
            row.get(1)?,
            row.get(2)?,
            row.get(3)?,
            row.get(4)?,
        ])
    };
    conn.prepare(all)?.query_map([], row)?.collect()
}

/// The columns of all tables: type, whether it may be null, place in the key, whether it is
/// computed.
fn columns(conn: &Connection) -> rusqlite::Result<Vec<String>> {
    let all = "SELECT tables.name || ' ' || column.name || ' ' || column.type || ' ' || column.\"notnull\" || column.pk
             || column.hidden
         FROM sqlite_schema AS tables JOIN pragma_table_xinfo(tables.name) AS column
         WHERE tables.type = 'table' ORDER BY 1";
    conn.prepare(all)?
        .query_map([], |row| row.get(0))?
        .collect()
}

/// The indexes behind UNIQUE and PRIMARY KEY, and how often each table has rules for conflicts. `ON
/// CONFLICT REPLACE` would delete rows without an error.
fn uniqueness(conn: &Connection) -> rusqlite::Result<Vec<String>> {
    let all = "SELECT tables.name || ' ' || list.name || ' ' || list.\"unique\"
         FROM sqlite_schema AS tables JOIN pragma_index_list(tables.name) AS list WHERE tables.type = 'table'
         UNION ALL SELECT name || ' ' || (length(sql) - length(replace(lower(sql), 'conflict', '')))
         FROM sqlite_schema WHERE type = 'table' ORDER BY 1";
    conn.prepare(all)?
        .query_map([], |row| row.get(0))?
        .collect()
}
