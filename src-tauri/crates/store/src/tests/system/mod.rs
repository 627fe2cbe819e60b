//! Settings, choices of the page and keys of the local API.

mod api_keys;
mod page_values;
mod settings;
