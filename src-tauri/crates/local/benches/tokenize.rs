//! Benchmarks of token counting: in this process with a cold and a warm cache, on one and on all
//! threads, and in the worker (llama.cpp). Run `cargo bench -p local --bench tokenize`; requires
//! the files that `cargo xtask setup` provides.

#![allow(clippy::unwrap_used, reason = "a bench that cannot start fails")]

#[path = "../tests/it/corpus.rs"]
mod corpus;
#[path = "../tests/it/support.rs"]
#[allow(dead_code, reason = "the tests use all of it")]
mod support;

use divan::Bencher;
use divan::counter::BytesCount;
use domain::prompt::Segment;
use local::Tokenizer;
use support::{host, model, plain};

const TWO_MEGABYTES: usize = 2_000_000;

fn main() {
    divan::main();
}

fn texts() -> Vec<Segment> {
    corpus::corpus(1, TWO_MEGABYTES)
        .iter()
        .map(|text| plain(text))
        .collect()
}

fn bytes(texts: &[Segment]) -> BytesCount {
    BytesCount::new(texts.iter().map(|text| text.text.len()).sum::<usize>())
}

fn open() -> Tokenizer {
    local::open_tokenizer(model().path.as_ref()).unwrap()
}

#[divan::bench(sample_count = 10)]
fn open_the_vocabulary(bencher: Bencher) {
    bencher.bench(open);
}

/// The cache is empty.
#[divan::bench(sample_count = 10)]
fn cold_one_thread(bencher: Bencher) {
    let texts = texts();
    bencher
        .counter(bytes(&texts))
        .with_inputs(open)
        .bench_values(|tokenizer| texts.iter().map(|text| tokenizer.count(text)).sum::<u32>());
}

#[divan::bench(sample_count = 10)]
fn cold_all_threads(bencher: Bencher) {
    let texts = texts();
    bencher
        .counter(bytes(&texts))
        .with_inputs(open)
        .bench_values(|tokenizer| tokenizer.count_all(&texts));
}

#[divan::bench(sample_count = 20)]
fn warm_one_thread(bencher: Bencher) {
    let (texts, tokenizer) = (texts(), open());
    bencher
        .counter(bytes(&texts))
        .bench(|| texts.iter().map(|text| tokenizer.count(text)).sum::<u32>());
}

#[divan::bench(sample_count = 3)]
fn the_worker(bencher: Bencher) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let (texts, host) = (texts(), host());
    runtime.block_on(host.count(&model(), &texts[..1])).unwrap();
    bencher
        .counter(bytes(&texts))
        .bench(|| runtime.block_on(host.count(&model(), &texts)).unwrap());
}
