//! Prompt templates: one schema for all prompts, with conditional sections, inheritance,
//! automatically numbered rules, and `${variables}` with a declared dependency graph.
//!
//! `JSON -> from_json -> PromptTemplate -> resolve -> ResolvedTemplate -> compose -> Composed`
//!
//! `{{macros}}` are plain text here; the macro engine expands them in the composed text.

mod builtin;
mod check;
mod compose;
mod compose_error;
mod condition;
mod flags;
mod graph;
mod legacy;
mod lint;
mod load;
mod modes;
mod page;
mod recalls;
mod reference;
mod resolve;
mod resolved;
mod schema;
mod text;
mod variables;

pub use crate::prompt_template::variables::Given;
pub use crate::prompt_template::variables::TemplateVariables;
pub use crate::prompt_template::variables::UnknownVariable;
pub use crate::prompt_template::variables::derive::sentences;
pub use builtin::built_in;
pub use check::{Problem, Severity, check};
pub use compose::{Composed, ComposedSection, OmitReason, Omitted, compose};
pub use compose_error::{ComposeError, MAX_COMPOSED};
pub use condition::ConditionError;
pub use flags::{Flag, TemplateFlags};
pub use graph::Cycle;
pub use load::{LoadError, Loaded, MAX_BYTES, MAX_SECTIONS, MAX_VARIABLES, from_json};
pub use modes::{Mode, ModeError, UnknownMode, built_in_modes, find_mode, modes_from_json};
pub use recalls::{Heading, Recalls};
pub use reference::{
    FlagDoc, VariableDoc, VariableSource, flag_reference, reference, variable_groups,
};
pub use resolve::{MAX_DEPTH, ResolveError, TemplateLibrary, resolve};
pub use resolved::ResolvedTemplate;
pub use schema::{
    Defaults, OwnVariable, Postfix, PromptTemplate, RoleBlock, Roles, SCHEMA, Section, SectionKind,
    SectionPlacement, SectionRole, Slot, Style, TemplateKind, TemplateLine, VERSION,
};
pub use text::Malformed;

pub use load::slug;
pub(crate) use text::escape;
