//! The public API: joins the layers. Only this folder names [`Engine`](engine::Engine).
//!
//! Operations return boxed futures. The body of an `async fn` is compiled in each crate that awaits
//! it, so every program and test would compile the whole engine again.

pub(crate) mod by_name;
pub(crate) mod calls;
pub(crate) mod engine;
pub(crate) mod model_calls;
#[macro_use]
pub(crate) mod list;
pub(crate) mod local_api;
pub(crate) mod protection;
