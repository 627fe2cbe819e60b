//! The HTTP and WebSocket door: every operation of the engine, its events, its pictures, and the UI for a browser.
//!
//! Promises
//! - Bound to loopback only, and closed until [`serve`] is called.
//! - A request is looked at in this order: `Host`, `Origin`, token. A page of another site, a rebound name and a request
//!   without the token reach no handler that could tell or change anything.
//! - The token is 256 random bits, compared in constant time, read from `Authorization` alone. No cookies, no CORS headers.
//! - Bodies, connections, listeners and waiting times are capped. Connections without the token cannot block others.
//!   Malformed input gets an `ApiError` and nothing else.
//!
//! Absent: prompts, SQL, TLS, listening on other machines' networks.

mod archive;
mod body;
mod events;
mod files;
mod guard;
mod operation;
mod respond;
mod routes;
mod secret;
mod serving;
mod strangers;
mod transfer;
mod zip;

pub use files::find_ui;
pub use secret::{Token, WeakToken};
pub use serving::{ServeError, ServeOptions, Serving, serve};
