//! Points in time, as numbers. Nothing here reads a clock.

use serde::{Deserialize, Serialize};

/// Milliseconds since 1970-01-01 00:00 UTC. Order in a chat is by position, never by this.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);
