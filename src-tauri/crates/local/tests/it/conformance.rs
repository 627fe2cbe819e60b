//! The suite that every provider passes, with the worker and a real model.

use provider::conformance;

use crate::support::*;

#[tokio::test]
async fn worker_conforms() {
    let host = host();
    let provider = host.provider(&model(), 2048);
    conformance::check(&*provider, &request(chat(&["Tell me a very long story."]), 40)).await.unwrap();
}
