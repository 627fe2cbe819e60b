//! The client against scripted servers, and against llama.cpp's own server.

#![allow(clippy::unwrap_used, reason = "a failed helper fails the test")]

mod apis;
mod downloads;
mod endpoint;
mod real_model;
