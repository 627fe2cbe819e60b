//! Neighbour pooling: the vector of a passage in its context, made with those of the messages right
//! before and after it.
//!
//! The encoder would have to read every message three times to embed it with each of its
//! neighbours. The sum of the separate embeddings is nearly the same and costs nothing.

use crate::weights::embeddings;
use domain::embedding::Embedding;

/// Number of a neighbour's tokens that are used, those next to the passage: about 240 characters.
const NEIGHBOUR_TOKENS: usize = 60;

/// The pooled vector, of length 1.
pub fn among(passage: &Embedding, [before, behind]: [Option<&Embedding>; 2]) -> Vec<f32> {
    let dimensions = passage.mean.len().max(1);
    let most = NEIGHBOUR_TOKENS * dimensions;
    let mut sum = direction(&passage.vectors, dimensions);
    let mut add = |vectors: &[i8]| {
        let direction = direction(vectors, dimensions);
        sum.iter_mut()
            .zip(direction)
            .for_each(|(sum, number)| *sum += embeddings::NEIGHBOUR * number);
    };
    if let Some(before) = before {
        add(&before.vectors[before.vectors.len().saturating_sub(most)..]);
    }
    if let Some(behind) = behind {
        add(&behind.vectors[..most.min(behind.vectors.len())]);
    }
    normalized(sum)
}

/// The direction of the sum of `vectors`.
fn direction(vectors: &[i8], dimensions: usize) -> Vec<f32> {
    let mut sum = vec![0.0; dimensions];
    for vector in vectors.chunks_exact(dimensions) {
        sum.iter_mut()
            .zip(vector)
            .for_each(|(sum, number)| *sum += f32::from(*number));
    }
    normalized(sum)
}

fn normalized(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector
        .iter()
        .map(|number| number * number)
        .sum::<f32>()
        .sqrt()
        .max(f32::MIN_POSITIVE);
    vector.iter_mut().for_each(|number| *number /= length);
    vector
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An embedding with two dimensions.
    fn embedding(vectors: &[[i8; 2]]) -> Embedding {
        Embedding {
            tokens: vec![0; vectors.len()],
            vectors: vectors.concat(),
            mean: vec![1.0, 0.0],
        }
    }

    #[test]
    fn passage_without_neighbours_keeps_its_vector() {
        assert_eq!(
            among(&embedding(&[[3, 4], [3, 4]]), [None, None]),
            [0.6, 0.8]
        );
        assert_eq!(among(&embedding(&[]), [None, None]), [0.0, 0.0]);
    }

    #[test]
    fn uses_adjacent_end_of_neighbours() {
        let far_then_near =
            embedding(&[vec![[0, 100]; 100], vec![[100, 0]; NEIGHBOUR_TOKENS]].concat());
        let near_then_far =
            embedding(&[vec![[100, 0]; NEIGHBOUR_TOKENS], vec![[0, 100]; 100]].concat());
        let passage = embedding(&[[100, 0]]);
        assert_eq!(
            among(&passage, [Some(&far_then_near), Some(&near_then_far)]),
            [1.0, 0.0]
        );
        let other_way = among(&passage, [Some(&near_then_far), None]);
        assert!(other_way[1] > 0.4, "{other_way:?}");
    }

    #[test]
    fn short_line_keeps_its_direction() {
        let long = embedding(&[[0, 100]; NEIGHBOUR_TOKENS]);
        let line = among(&embedding(&[[100, 0]]), [Some(&long), Some(&long)]);
        assert_eq!(
            line,
            among(&embedding(&[[50, 0]; 9]), [Some(&long), Some(&long)])
        );
        assert!(
            (line[0] - line[1]).abs() < 1e-6,
            "both neighbours together weigh as much as the line: {line:?}"
        );
    }
}
