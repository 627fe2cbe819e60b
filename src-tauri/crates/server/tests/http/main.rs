//! Tests of the server on a real loopback port.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod connections;
mod matrix;
mod openai;
mod openai_bodies;
mod openai_streams;
mod routes;
mod world;
