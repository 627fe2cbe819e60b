//! Helpers shared by the whole-turn tests and benches.

pub mod headless;
pub mod learning;
pub mod model_file;
pub mod pdf;
pub mod planted;
pub mod recorder;
pub mod reuse;
pub mod tavern;
