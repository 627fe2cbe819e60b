//! Helpers shared by the whole-turn tests and benches.

pub mod headless;
pub mod recorder;
pub mod reuse;
