//! The public API: joins the layers. Only this folder names [`Engine`](engine::Engine).

pub(crate) mod by_name;
pub(crate) mod calls;
pub(crate) mod engine;
#[macro_use]
pub(crate) mod list;
pub(crate) mod local_api;
