//! Tests of the client against a scripted server that plays every known fault of an endpoint.
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
