//! Builds Windows programs on Linux, and runs them.

pub(crate) mod tests;
pub(crate) mod toolchain;
mod wine;
