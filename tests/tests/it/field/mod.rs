//! Kinds of texts and files that have broken this app or others.

mod defects;
mod lore;
mod model_files;
mod presets;
mod texts;
