//! Settings, models, endpoints, presets and formats. Each feature has a room of its own; rooms use
//! those below them.

pub(crate) mod access;
pub(crate) mod app_settings;
pub(crate) mod counting;
pub(crate) mod encryption_hint;
pub(crate) mod endpoints;
pub(crate) mod environment;
pub(crate) mod handle;
pub(crate) mod health;
pub(crate) mod hub;
pub(crate) mod keychain;
pub(crate) mod layers;
pub(crate) mod licences;
pub(crate) mod model_handles;
pub(crate) mod model_lookup;
pub(crate) mod model_moves;
pub(crate) mod model_speeds;
pub(crate) mod models;
pub(crate) mod page_values;
pub(crate) mod privacy;
pub(crate) mod prompts;
pub(crate) mod protection;
pub(crate) mod speed_test;
pub(crate) mod token_counts;
pub(crate) mod tool_servers;
