//! Settings and keys of the local API.

mod api_keys;
mod settings;
