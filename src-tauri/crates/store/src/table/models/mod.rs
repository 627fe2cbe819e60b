//! Model files, endpoints, presets and tools, with token counts and calibrations.
//!
//! Guarantees
//! - Rows of a model or an endpoint are removed with it.
//! - Keys and other secrets are not stored here. The OS keychain has them.

mod calibration;
mod download;
mod endpoint;
mod endpoint_dialect;
mod endpoint_model;
mod model;
mod model_adapter;
mod model_move;
mod model_projector;
mod preset;
mod token_count;
mod tool_grant;
mod tool_server;

pub use model_adapter::ModelAdapter;
pub use model_projector::ProjectorChoice;
pub use preset::{Preset, PresetKind};
pub use token_count::TextHash;
pub use tool_grant::ToolGrant;
pub use tool_server::StoredGrant;
