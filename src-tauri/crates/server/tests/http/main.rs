//! The server on a real loopback port.

#![expect(clippy::unwrap_used, reason = "a test fails where it is surprised")]

mod matrix;
mod routes;
mod strangers;
mod world;
