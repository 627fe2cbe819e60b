//! The benchmarks that run the engine, in one program: each program that links the engine costs a
//! newcomer's build half a minute. `cargo xtask bench NAME` runs one.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "measurements that print their figures"
)]

mod api;
mod assembly;
mod decode;
mod embed;
mod first_token;
mod library;
mod memory;
mod planted;
mod protection;
mod reuse;
mod search;
mod start;
mod tavern;

#[tokio::main]
async fn main() {
    let name = std::env::args().nth(1).unwrap_or_default();
    match name.as_str() {
        "api" => api::run().await,
        "assembly" => assembly::run().await,
        "decode" => decode::run().await,
        "embed" => embed::run().await,
        "first-token" => first_token::run().await,
        "library" => library::run().await,
        "memory" => memory::run().await,
        "planted" => planted::run().await,
        "protection" => protection::run().await,
        "reuse" => reuse::run().await,
        "search" => search::run().await,
        "start" => start::run().await,
        "tavern" => tavern::run().await,
        _ => panic!("`{name}` is no benchmark; `cargo xtask bench --help` lists them"),
    }
}
