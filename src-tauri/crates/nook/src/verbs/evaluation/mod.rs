//! Verbs that measure recall.

pub(crate) mod rank;
pub(crate) mod scenario;
