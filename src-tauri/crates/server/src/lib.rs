//! HTTP and WebSocket server: the engine's operations, events and pictures, the UI for a browser,
//! and the API for other programs (`openai_api`).
//!
//! Guarantees
//! - It listens on loopback only, and only after [`serve`] is called.
//! - It checks `Host`, then `Origin`, then the token. Requests from other sites, rebound names, and
//!   requests without the token never reach a handler with data.
//! - The token has 256 random bits and is compared in constant time. It is read only from
//!   `Authorization`, and from the first frame of a chat socket. There are no cookies and no CORS
//!   headers.
//! - The local API answers only while it is switched on. A program with a key reaches nothing else,
//!   and that as far as its key allows.
//! - A client that disconnects from a reply of that API stops the model.
//! - Bodies, connections, listeners and waiting times have limits. Connections without the token
//!   cannot block others. Malformed input is answered with an `ApiError`.
//!
//! Not in this crate: prompts, SQL, TLS, listening on other networks.

mod api_access;
mod archive;
mod body;
mod caller;
mod chat_socket;
mod events;
mod files;
mod guard;
mod openai_api;
mod operation;
mod respond;
mod root;
mod routes;
mod secret;
mod serving;
mod shares;
mod state;
mod transfer;
mod zip;

pub use files::find_ui;
pub use secret::{AccessToken, WeakToken};
pub use state::ApiSwitch;

pub use crate::serving::local_api_server::LocalApiServer;
pub use crate::serving::serve_error::ServeError;
pub use crate::serving::{RunningServer, ServeOptions, serve};
