//! Models, endpoints, presets and tool servers.

mod endpoint_models;
mod local_and_remote;
mod presets;
mod tool_servers;
