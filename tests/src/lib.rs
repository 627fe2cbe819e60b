//! Helpers shared by the whole-turn tests.

pub mod headless;
