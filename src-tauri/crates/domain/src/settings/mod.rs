//! Layered settings for prompts and replies. Precedence: environment, chat, character, model, global, prompt template,
//! built-in.
//!
//! [`SETTINGS`] declares each setting with kind, unit, default and allowed layers. [`Values`] holds the resolved
//! settings as typed fields. Layers are read value by value, so that one bad value does not affect the others.

mod contradiction;
mod layers;
mod list;
mod owner;
mod silence;
mod value;

pub use contradiction::Contradiction;
pub use layers::{Layer, Layers, Problem, Resolved, resolve};
pub use list::{
    ChatTitles, ContentRating, ContextRetention, ContinueBy, ENVIRONMENT_PREFIX, Group, LoreProfile, LoreStrategy,
    MemoryLearning, NoteRole, Placement, SETTINGS, Setting, StartMode, Unit, Values, preset_setting, setting,
};
pub use owner::{Origin, Owner, Scope};
pub use silence::{Silencer, silencers};
pub use value::{Kind, Refusal, Value};
