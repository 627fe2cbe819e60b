//! From a frame to the prompt: lore, templates, plans and epochs.

#![allow(clippy::unwrap_used, reason = "a failed helper fails the test")]

mod assemble;
mod chat_template;
mod convert;
mod epochs;
mod hostile_templates;
mod invariants;
mod lore;
mod prompt_template;
mod reuse;
mod support;
mod tool_templates;
mod zones;
