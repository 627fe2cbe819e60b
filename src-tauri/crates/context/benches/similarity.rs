//! A hundred thousand vectors of 384 bytes against one (memory.md, section 2): all of them, and the ten nearest.
//! `cargo bench -p context --bench similarity`. How many of those that exact numbers find are among them, the module's tests say.

use context::similarity::{Rows, bytes};
use divan::{Bencher, black_box};

const VECTORS: usize = 100_000;
const DIMENSIONS: usize = 384;

fn main() {
    divan::main();
}

fn vector(seed: usize) -> Vec<f32> {
    let mut state = u32::try_from(seed).unwrap_or(0).wrapping_mul(0x9e37_79b9) | 1;
    let number = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        (state as f32 / u32::MAX as f32 - 0.5) / 5.66
    };
    std::iter::repeat_with(number).take(DIMENSIONS).collect()
}

fn rows() -> Rows {
    let mut rows = Rows::default();
    for number in 1..=VECTORS {
        let (bytes, scale) = bytes(&vector(number));
        rows.push(&bytes, scale);
    }
    rows
}

#[divan::bench(sample_count = 200)]
fn the_ten_nearest_of_a_hundred_thousand(bencher: Bencher<'_, '_>) {
    let (rows, asked) = (rows(), vector(7_919));
    bencher.bench_local(|| {
        let products = black_box(&rows).products(black_box(&asked));
        let mut order: Vec<usize> = (0..products.len()).collect();
        let (nearest, ..) = order.select_nth_unstable_by(10, |a, b| products[*b].total_cmp(&products[*a]));
        nearest.to_vec()
    });
}

/// The physical limit beside it: every byte read once.
#[divan::bench(sample_count = 200)]
fn the_same_bytes_only_read(bencher: Bencher<'_, '_>) {
    let numbers: Vec<i64> = (0..(VECTORS * DIMENSIONS / 8) as i64).collect();
    bencher.bench_local(|| black_box(&numbers).iter().fold(0_i64, |sum, number| sum ^ number));
}
