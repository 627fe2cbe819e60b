//! Tests of the client against a scripted server that plays every known fault of an endpoint.

mod cancel;
mod careless;
mod connect;
mod cuts;
mod generated;
mod matrix;
mod pictures;
mod probe;
mod refusals;
mod request;
mod silence;
pub(crate) mod support;
mod thoughts_back;
mod tools;
