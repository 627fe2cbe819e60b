//! Kinds of texts and files that have broken this app or others.

#![allow(clippy::unwrap_used, reason = "a failed helper fails the test")]

mod defects;
mod lore;
mod model_files;
mod presets;
mod texts;
