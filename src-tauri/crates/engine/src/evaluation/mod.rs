//! Benchmarks and scenario tests of recall.

pub mod corpus;
pub mod scenario;
