//! Tests of the server on a real loopback port.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod chat_socket;
mod connections;
mod local_api;
mod matrix;
mod openai;
mod openai_bodies;
mod openai_replies;
mod openai_streams;
mod routes;
mod world;
