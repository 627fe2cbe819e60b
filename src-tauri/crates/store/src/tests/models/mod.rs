//! Models, endpoints, presets and tool servers.

mod endpoint_models;
mod models;
mod presets;
mod tool_servers;
