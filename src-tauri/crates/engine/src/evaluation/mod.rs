//! Benchmarks and scenario tests of recall, and a benchmark of the emotion guess.

pub mod corpus;
pub mod emotion;
pub mod scenario;
