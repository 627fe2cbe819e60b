//! Rigs that measure recall.

pub mod corpus;
pub mod scenario;
