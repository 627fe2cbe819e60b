//! From any released format to the present one, step by step, each step whole or not at all.

use rusqlite::{Connection, TransactionBehavior};

use crate::StoreError;

/// Position 0 leads from an empty file to format 1. What has shipped is never edited.
pub(crate) const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001_tables.sql"),
    include_str!("migrations/0002_memory.sql"),
    include_str!("migrations/0003_endpoint_tokenizer.sql"),
    include_str!("migrations/0004_tool_calls.sql"),
    include_str!("migrations/0005_group.sql"),
    include_str!("migrations/0006_message_pictures.sql"),
    include_str!("migrations/0007_chat_text.sql"),
    include_str!("migrations/0008_turn_indexes.sql"),
    include_str!("migrations/0009_documents.sql"),
    include_str!("migrations/0010_lorebooks.sql"),
    include_str!("migrations/0011_library.sql"),
    include_str!("migrations/0012_sources.sql"),
    include_str!("migrations/0013_vectors.sql"),
    include_str!("migrations/0014_pictures.sql"),
    include_str!("migrations/0015_windows.sql"),
    include_str!("migrations/0016_keyframes.sql"),
    include_str!("migrations/0017_meanings.sql"),
    include_str!("migrations/0018_consolidation.sql"),
    include_str!("migrations/0019_document_owners.sql"),
    include_str!("migrations/0020_vector_groups.sql"),
    include_str!("migrations/0021_text_groups.sql"),
    include_str!("migrations/0022_untold.sql"),
    include_str!("migrations/0023_world_memory.sql"),
    include_str!("migrations/0024_forgotten.sql"),
    include_str!("migrations/0025_outlived.sql"),
    include_str!("migrations/0026_learn_anew.sql"),
    include_str!("migrations/0027_stale_cache.sql"),
    include_str!("migrations/0028_beginnings.sql"),
    include_str!("migrations/0029_endpoint_dialect.sql"),
    include_str!("migrations/0030_hidden.sql"),
    include_str!("migrations/0031_foreign.sql"),
    include_str!("migrations/0032_identity.sql"),
    include_str!("migrations/0033_checksums.sql"),
    include_str!("migrations/0034_endpoint_models.sql"),
    include_str!("migrations/0035_import_reports.sql"),
    include_str!("migrations/0036_stopped.sql"),
];

/// 0 in an empty file.
pub(crate) fn format(conn: &Connection) -> rusqlite::Result<u32> {
    conn.pragma_query_value(None, "user_version", |row| row.get(0))
}

pub(crate) fn refuse_newer(found: u32, migrations: &[&str]) -> Result<(), StoreError> {
    let known = migrations.len() as u32;
    if found > known { Err(StoreError::TooNew { found, known }) } else { Ok(()) }
}

/// Runs what `conn` lacks of `migrations`.
pub(crate) fn run(conn: &mut Connection, migrations: &[&str]) -> Result<(), StoreError> {
    let from = format(conn)?;
    for (to, sql) in (1..).zip(migrations).skip(from as usize) {
        step(conn, to, sql).map_err(|source| StoreError::Migration { from: to - 1, to, source })?;
    }
    Ok(())
}

fn step(conn: &mut Connection, to: u32, sql: &str) -> rusqlite::Result<()> {
    let transaction = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(sql)?;
    transaction.pragma_update(None, "user_version", to)?;
    transaction.commit()
}
