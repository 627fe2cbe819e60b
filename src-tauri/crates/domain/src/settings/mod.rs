//! Settings of prompts and replies, in layers: chat over character over model over global over the prompt template over
//! built-in, and the environment over all of them (S2.4, S4.76).
//!
//! [`SETTINGS`] is the one list: key, kind, unit, default and the layers a setting may be set on. [`Values`] are the same
//! settings resolved, one typed field each. A layer is read value by value, so that one bad value takes nothing else with it.

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
