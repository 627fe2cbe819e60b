//! Migrates any released format to the current one. Each step of an upgrade is one transaction.

use rusqlite::{Connection, TransactionBehavior};

use crate::StoreError;

/// Step 0 turns an empty file into format 1. Released steps are never edited.
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
    include_str!("migrations/0037_search.sql"),
    include_str!("migrations/0038_folders.sql"),
    include_str!("migrations/0039_branches.sql"),
    include_str!("migrations/0040_revisions.sql"),
    include_str!("migrations/0041_ratings.sql"),
    include_str!("migrations/0042_groups.sql"),
    include_str!("migrations/0043_presence.sql"),
    include_str!("migrations/0044_member_window.sql"),
    include_str!("migrations/0045_emotion.sql"),
    include_str!("migrations/0046_backgrounds.sql"),
    include_str!("migrations/0047_search_items.sql"),
    include_str!("migrations/0048_several_replies.sql"),
    include_str!("migrations/0049_quick_reply_bindings.sql"),
    include_str!("migrations/0050_persona_place.sql"),
    include_str!("migrations/0051_card_versions.sql"),
    include_str!("migrations/0052_downloads.sql"),
    include_str!("migrations/0053_model_adapters.sql"),
    include_str!("migrations/0054_token_choices.sql"),
    include_str!("migrations/0055_scene_words.sql"),
    include_str!("migrations/0056_api_keys.sql"),
    include_str!("migrations/0057_message_source.sql"),
    include_str!("migrations/0058_tools.sql"),
    include_str!("migrations/0059_tool_servers.sql"),
    include_str!("migrations/0060_api_chat.sql"),
    include_str!("migrations/0061_model_moves.sql"),
    include_str!("migrations/0062_several_adapters.sql"),
    include_str!("migrations/0063_model_projectors.sql"),
    include_str!("migrations/0064_group_leads.sql"),
    include_str!("migrations/0065_commits_and_sums.sql"),
    include_str!("migrations/0066_search_folding.sql"),
    include_str!("migrations/0067_swipe_variables.sql"),
    include_str!("migrations/0068_drafts.sql"),
    include_str!("migrations/0069_page_values.sql"),
    include_str!("migrations/0070_private_characters.sql"),
];

/// Returns the format number; 0 for an empty file.
pub(crate) fn format(conn: &Connection) -> rusqlite::Result<u32> {
    conn.pragma_query_value(None, "user_version", |row| row.get(0))
}

pub(crate) fn refuse_newer(found: u32, migrations: &[&str]) -> Result<(), StoreError> {
    let known = migrations.len() as u32;
    if found > known {
        Err(StoreError::TooNew { found, known })
    } else {
        Ok(())
    }
}

/// Runs the steps of `migrations` that `conn` does not have yet.
pub(crate) fn run(conn: &mut Connection, migrations: &[&str]) -> Result<(), StoreError> {
    let from = format(conn)?;
    let steps: Vec<(u32, &str)> = (1..)
        .zip(migrations.iter().copied())
        .skip(from as usize)
        .collect();
    // Each commit waits for the disk. A new file has no earlier format to keep, so one commit is
    // enough.
    let per_commit = if from == 0 { steps.len().max(1) } else { 1 };
    for steps in steps.chunks(per_commit) {
        let transaction = conn.transaction_with_behavior(TransactionBehavior::Immediate)?;
        for &(to, sql) in steps {
            step(&transaction, to, sql).map_err(|source| StoreError::Migration {
                from: to - 1,
                to,
                source,
            })?;
        }
        transaction.commit()?;
    }
    Ok(())
}

fn step(conn: &Connection, to: u32, sql: &str) -> rusqlite::Result<()> {
    conn.execute_batch(sql)?;
    conn.pragma_update(None, "user_version", to)
}
