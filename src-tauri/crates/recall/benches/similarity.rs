//! Similarity of one query with a hundred thousand vectors of 384 bytes, and selection of the ten
//! nearest. Run with `cargo bench -p recall --bench similarity`. The tests of the module check the
//! recall.

use std::num::NonZero;

use divan::{Bencher, black_box};
use recall::similarity::{VectorRows, best_products, bytes};

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

fn rows() -> VectorRows {
    let mut rows = VectorRows::default();
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
        let (nearest, ..) =
            order.select_nth_unstable_by(10, |a, b| products[*b].total_cmp(&products[*a]));
        nearest.to_vec()
    });
}

/// The physical limit for comparison: reads every byte once.
#[divan::bench(sample_count = 200)]
fn the_same_bytes_only_read(bencher: Bencher<'_, '_>) {
    let numbers: Vec<i64> = (0..(VECTORS * DIMENSIONS / 8) as i64).collect();
    bencher.bench_local(|| {
        black_box(&numbers)
            .iter()
            .fold(0_i64, |sum, number| sum ^ number)
    });
}

/// Late interaction of one turn: 40 vectors for each of 120 candidates, for the eight of a query.
#[divan::bench(sample_count = 200)]
fn a_question_against_the_pieces_of_120_messages(bencher: Bencher<'_, '_>) {
    let pieces = |first: usize, count: usize| -> Vec<i8> {
        (first..first + count)
            .flat_map(|seed| bytes(&vector(seed)).0)
            .collect()
    };
    let asked: Vec<i16> = pieces(1, 8).into_iter().map(i16::from).collect();
    let messages: Vec<Vec<i8>> = (0..120).map(|message| pieces(100 * message, 40)).collect();
    let dimensions = NonZero::new(DIMENSIONS).unwrap_or(NonZero::<usize>::MIN);
    bencher.bench_local(|| -> i32 {
        let meet = |message: &Vec<i8>| {
            best_products(black_box(&asked), message, dimensions)
                .into_iter()
                .sum::<i32>()
        };
        messages.iter().map(meet).sum()
    });
}
