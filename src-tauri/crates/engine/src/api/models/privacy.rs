//! The space of stored prompts and of the log.

use serde::{Deserialize, Serialize};
use specta::Type;

/// The space that stored prompts and the log take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub struct PrivacySpace {
    /// Number of stored prompts of past turns.
    #[specta(type = u32)]
    pub prompts: u64,
    /// Bytes of the stored prompts.
    #[specta(type = u32)]
    pub prompt_bytes: u64,
    /// Bytes of the log files.
    #[specta(type = u32)]
    pub log_bytes: u64,
}
