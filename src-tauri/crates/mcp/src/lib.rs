//! A client for tool servers that speak the Model Context Protocol (MCP), over the pipes of a child
//! process or over streamable HTTP. The protocol itself is the crate `rmcp`.
//!
//! Guarantees
//! - A server is hostile. Everything that it sends is bounded: messages, lists, texts, time. It
//!   causes an error, never a panic or a hang.
//! - An odd tool, an odd part of a result or too deep nesting costs that item, not the server.
//! - A process starts with a clean environment and in a folder of its own. It and the processes of
//!   its group end with its [`Server`], at the latest when the app ends. A process that starts a
//!   session of its own (`setsid`) stays.
//! - It is offered nothing: no model, no folders, no questions to the user.
//! - A server that keeps dying is not started again for a while.
//!
//! Not in this crate: storage, settings, keychains, permissions. Callers decide which tool may be
//! called.

mod connection;
mod error;
mod host;
mod http;
mod http_client;
mod limits;
mod names;
mod nesting;
mod output;
mod paste;
mod process;
mod schema;
mod server;
mod text;
mod tool_list;
mod traffic;

pub use connection::{Connection, ServerAbout, ServerResource};
pub use error::McpError;
pub use http::{check_address, same_origin};
pub use limits::Limits;
pub use names::{MAX_NAME, digest, model_names};
pub use output::ToolOutput;
pub use paste::{PasteError, Pasted, PastedServer, read_servers};
pub use server::{Server, ServerState};
pub use tool_list::{LeftOutTool, ToolList};

use std::path::PathBuf;

use secrecy::SecretString;

/// Transport to a server.
#[derive(Debug, Clone)]
pub enum ServerConfig {
    /// A program that speaks the protocol on its standard input and output.
    Process {
        /// A name on the `PATH`, or a path.
        command: String,
        args: Vec<String>,
        /// Added to the clean environment.
        env: Vec<(String, SecretString)>,
        /// Its working folder, which is created if needed.
        folder: PathBuf,
    },
    /// A server at an address (streamable HTTP).
    Http {
        url: String,
        /// Sent with every request, to the origin of `url` only.
        headers: Vec<(String, SecretString)>,
    },
}
