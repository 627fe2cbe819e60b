//! Layered settings for prompts and replies. Precedence: environment, chat, character, model,
//! global, prompt template, built-in.
//!
//! [`SETTINGS`] declares each setting with kind, unit, default and allowed layers. [`Values`] holds
//! the resolved settings as typed fields. Layers are read value by value, so that one bad value
//! does not affect the others.

mod contradiction;
mod disabled_by;
mod layers;
mod list;
mod owner;
mod sampling;
mod value;
mod words;

pub use contradiction::Contradiction;
pub use disabled_by::{Disabler, disablers};
pub use layers::{IgnoredValue, Layer, Layers, Resolved, resolve};
pub use list::{
    ENVIRONMENT_PREFIX, SETTINGS, Setting, SettingSection, Unit, Values, preset_setting, setting,
};
pub use owner::{Owner, Scope, SettingOrigin};
pub use value::{ConfigValue, InvalidValue, Syntax, ValueType};
pub use words::{
    CharacterNotePlace, ChatTitles, ContentRating, ContextRetention, ContinueBy, ContinuePostfix,
    FlashAttention, GroupTexts, KvCacheType, LoreProfile, LoreStrategy, MemoryLearning, NotePlace,
    NoteRole, PlacementMode, PromptKeeping, SpritePlace, StartMode,
};
