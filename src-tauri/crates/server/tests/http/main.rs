//! The server on a real loopback port.

mod matrix;
mod routes;
mod world;
