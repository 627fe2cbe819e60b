//! Tools of models: calls, results and the servers that run them.

pub mod tool_call;
pub mod tool_server;
