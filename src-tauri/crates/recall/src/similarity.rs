//! Brute-force similarity search over vectors of bytes. Up to a hundred thousand rows, a scan costs
//! less than an index.

use std::num::NonZero;
use std::sync::LazyLock;
use std::thread;

use pulp::{Arch, Simd, WithSimd};

/// Largest absolute value of a quantized row.
const BYTE: f32 = 127.0;
/// Largest absolute value of a quantized query. It is finer than a row, so that nearly all rounding
/// error comes from the rows. A sum of 4,096 products fits into 32 bits.
const FINE: f32 = 2_047.0;
/// Rows per thread; below this, starting another thread does not pay.
const ROWS_A_THREAD: usize = 16_384;
/// Cached, because the query reads files.
pub(crate) static CORES: LazyLock<usize> =
    LazyLock::new(|| thread::available_parallelism().map_or(1, NonZero::get));

/// Quantized vectors of equal length.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VectorRows {
    /// The rows, one after the other.
    numbers: Vec<i8>,
    /// Scale of each row: the value of one unit.
    scales: Vec<f32>,
}

impl VectorRows {
    /// Appends a row; `scale` is the value of one unit. All rows must have the same length.
    pub fn push(&mut self, row: &[i8], scale: f32) {
        self.numbers.extend_from_slice(row);
        self.scales.push(scale);
    }

    /// Removes a row and moves the last row to its index.
    ///
    /// # Panics
    /// Panics if the row does not exist.
    pub fn swap_remove(&mut self, row: usize) {
        let dimensions = self.numbers.len() / self.len();
        let last = self.numbers.len() - dimensions;
        self.numbers.copy_within(last.., row * dimensions);
        self.numbers.truncate(last);
        self.scales.swap_remove(row);
    }

    pub fn len(&self) -> usize {
        self.scales.len()
    }

    pub fn is_empty(&self) -> bool {
        self.scales.is_empty()
    }

    /// The dot product of each row with `query`: the cosine if both have length 1. Empty if the
    /// lengths differ.
    pub fn products(&self, query: &[f32]) -> Vec<f32> {
        let dimensions = query.len();
        if dimensions == 0 || self.numbers.len() != self.len() * dimensions {
            return Vec::new();
        }
        let (query, scale) = rounded(query, FINE);
        let query: Vec<i16> = query.into_iter().map(|number| number as i16).collect();
        let mut products = vec![0.0; self.len()];
        let part = |rows: &[i8], scales: &[f32], products: &mut [f32]| {
            Arch::new().dispatch(Products {
                query: &query,
                rows,
                products,
            });
            for (product, of_row) in products.iter_mut().zip(scales) {
                *product *= scale * of_row;
            }
        };
        let threads = CORES.min(self.len() / ROWS_A_THREAD).max(1);
        let rows = self.len().div_ceil(threads);
        if threads == 1 {
            part(&self.numbers, &self.scales, &mut products);
            return products;
        }
        thread::scope(|scope| {
            let parts = self
                .numbers
                .chunks(rows * dimensions)
                .zip(self.scales.chunks(rows))
                .zip(products.chunks_mut(rows));
            for ((numbers, scales), products) in parts {
                scope.spawn(move || part(numbers, scales, products));
            }
        });
        products
    }
}

/// Quantizes a vector to bytes and returns the scale, the value of one unit. The largest component
/// becomes 127.
pub fn bytes(vector: &[f32]) -> (Vec<i8>, f32) {
    let (rounded, scale) = rounded(vector, BYTE);
    (
        rounded.into_iter().map(|number| number as i8).collect(),
        scale,
    )
}

/// For each vector in `query`, the largest dot product with any of `rows`. Both hold vectors of
/// `dimensions` numbers, one after the other. Without rows every result is 0.
///
/// The numbers of `query` are bytes too, but as 16 bits: each is multiplied with many rows.
pub fn best_products(query: &[i16], rows: &[i8], dimensions: NonZero<usize>) -> Vec<i32> {
    if rows.len() < dimensions.get() {
        return vec![0; query.len() / dimensions];
    }
    Arch::new().dispatch(BestProducts {
        query,
        rows,
        dimensions: dimensions.get(),
    })
}

struct Products<'a> {
    query: &'a [i16],
    rows: &'a [i8],
    products: &'a mut [f32],
}

/// `pulp` compiles `with_simd` for several instruction sets and runs the best one for the
/// processor.
impl WithSimd for Products<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for (row, product) in self.rows.chunks_exact(self.query.len()).zip(self.products) {
            *product = dot(self.query, row) as f32;
        }
    }
}

struct BestProducts<'a> {
    query: &'a [i16],
    rows: &'a [i8],
    dimensions: usize,
}

impl WithSimd for BestProducts<'_> {
    type Output = Vec<i32>;

    /// Widens each row once and compares it with every query vector.
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Vec<i32> {
        let mut best = vec![i32::MIN; self.query.len() / self.dimensions];
        let mut wide = vec![0_i16; self.dimensions];
        for row in self.rows.chunks_exact(self.dimensions) {
            for (wide, number) in wide.iter_mut().zip(row) {
                *wide = i16::from(*number);
            }
            for (best, query) in best
                .iter_mut()
                .zip(self.query.chunks_exact(self.dimensions))
            {
                *best = (*best).max(dot(query, &wide));
            }
        }
        best
    }
}

/// The dot product over the length of the shorter vector. A sum of 4,096 products of bytes fits
/// into 32 bits.
#[inline(always)]
fn dot<N: Copy + Into<i32>>(a: &[i16], b: &[N]) -> i32 {
    a.iter()
        .zip(b)
        .map(|(a, b)| i32::from(*a) * (*b).into())
        .sum()
}

/// Scales a vector to whole numbers with the largest absolute value `most`. Returns them with the
/// value of one unit.
fn rounded(vector: &[f32], most: f32) -> (Vec<f32>, f32) {
    let largest = vector
        .iter()
        .fold(0.0_f32, |largest, number| largest.max(number.abs()));
    if largest == 0.0 {
        return (vec![0.0; vector.len()], 0.0);
    }
    let scale = largest / most;
    (
        vector
            .iter()
            .map(|number| (number / scale).round())
            .collect(),
        scale,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pseudo-random vectors of length 1, the same in every run.
    fn vectors(count: usize, dimensions: usize) -> Vec<Vec<f32>> {
        let mut state = 0x9e37_79b9_u32;
        let mut number = || {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state as f32 / u32::MAX as f32 - 0.5
        };
        let mut vector = || {
            // A sum of several uniform numbers is approximately normal, as are the components of
            // real vectors.
            let vector: Vec<f32> = (0..dimensions)
                .map(|_| number() + number() + number() + number())
                .collect();
            let length = vector
                .iter()
                .map(|number| number * number)
                .sum::<f32>()
                .sqrt();
            vector.into_iter().map(|number| number / length).collect()
        };
        (0..count).map(|_| vector()).collect()
    }

    fn rows(vectors: &[Vec<f32>]) -> VectorRows {
        let mut rows = VectorRows::default();
        for vector in vectors {
            let (bytes, scale) = bytes(vector);
            rows.push(&bytes, scale);
        }
        rows
    }

    fn first(scores: &[f32], count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
        order.truncate(count);
        order
    }

    /// Random vectors are the hardest case, because the nearest one is hardly nearer than the next.
    /// This demands 98 % recall.
    #[test]
    fn bytes_find_same_neighbours_as_exact_numbers() {
        let vectors = vectors(4_050, 384);
        let (query, kept) = vectors.split_at(50);
        let rows = rows(kept);
        let mut same = 0;
        for query in query {
            let exact: Vec<f32> = kept
                .iter()
                .map(|row| row.iter().zip(query).map(|(a, b)| a * b).sum::<f32>())
                .collect();
            let found = first(&rows.products(query), 10);
            same += first(&exact, 10)
                .iter()
                .filter(|row| found.contains(row))
                .count();
        }
        assert!(same >= 490, "{same} of the 500 nearest");
    }

    #[test]
    fn threads_together_cover_all_rows() {
        let vectors = vectors(3, 8);
        let many: Vec<Vec<f32>> = vectors
            .iter()
            .cycle()
            .take(2 * ROWS_A_THREAD + 1)
            .cloned()
            .collect();
        let products = rows(&many).products(&vectors[0]);
        assert_eq!(products.len(), many.len());
        let few = rows(&vectors).products(&vectors[0]);
        assert!(
            products
                .iter()
                .enumerate()
                .all(|(row, product)| *product == few[row % 3])
        );
    }

    #[test]
    fn swap_remove_keeps_other_rows() {
        let vectors = vectors(4, 8);
        let mut rows = rows(&vectors);
        let before = rows.products(&vectors[0]);
        rows.swap_remove(1);
        assert_eq!(
            rows.products(&vectors[0]),
            [before[0], before[3], before[2]]
        );
        rows.swap_remove(2);
        assert_eq!(rows.products(&vectors[0]), [before[0], before[3]]);
    }

    #[test]
    fn zero_or_mismatched_vectors_match_nothing() {
        assert_eq!(bytes(&[0.0, 0.0]), (vec![0, 0], 0.0));
        assert_eq!(bytes(&[0.5, -1.0]).0, [64, -127]);
        let rows = rows(&vectors(2, 8));
        assert_eq!(rows.products(&[0.0; 8]), [0.0, 0.0]);
        assert!(rows.products(&[1.0; 7]).is_empty());
        assert!(rows.products(&[]).is_empty());
    }

    #[test]
    fn best_products_takes_best_row_for_each_vector() {
        let two = NonZero::new(2).unwrap();
        let rows = [127, 0, 0, 127, -128, -128];
        assert_eq!(
            best_products(&[127, -128, -1, -1, 0, 9], &rows, two),
            [127 * 127, 256, 9 * 127]
        );
        assert_eq!(best_products(&[1, 1], &[-3, -4], two), [-7]);
        assert_eq!(best_products(&[1, 1, 2, 2], &[], two), [0, 0]);
        assert!(best_products(&[], &rows, two).is_empty());
    }
}
