//! The public API: joins the layers. Only this folder names [`Engine`](engine::Engine).

pub(crate) mod calls;
pub(crate) mod engine;
#[macro_use]
pub(crate) mod list;
pub(crate) mod local_api;
pub(crate) mod local_api_keys;
