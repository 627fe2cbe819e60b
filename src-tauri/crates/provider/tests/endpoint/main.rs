//! The client against a scripted byte-level server: every fault of an endpoint, and what becomes of the reply.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say so at once")]

mod cancel;
mod careless;
mod connect;
mod cuts;
mod generated;
mod matrix;
mod probe;
mod refusals;
mod request;
mod silence;
mod support;
mod tools;
