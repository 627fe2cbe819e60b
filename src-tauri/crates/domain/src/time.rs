//! Points in time, as numbers. This crate reads no clock.

use serde::{Deserialize, Serialize};

/// Milliseconds since 1970-01-01 00:00 UTC. Sort messages by position, never by this.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(pub i64);
