//! Messages, their texts, manifests, and search in them.

mod manifests;
mod message;
mod searching;
mod texts;
