//! What a passage is about: its meaning among what was said right before and right behind it (memory.md, section 3, item 5).
//!
//! The encoder would have to read every message three times over, once by itself and with each of its neighbours. The
//! vectors that it made of each by itself, put together, say nearly the same, and cost no reading.

use local::Embedding;

/// Pieces of a neighbour that are next to the passage: some 240 letters.
const BESIDE: usize = 60;
/// What a neighbour counts, however long it is: a line among long ones is about what itself says.
const NEIGHBOUR: f32 = 0.5;

/// A vector of length 1.
pub(super) fn among(passage: &Embedding, [before, behind]: [Option<&Embedding>; 2]) -> Vec<f32> {
    let dimensions = passage.mean.len().max(1);
    let most = BESIDE * dimensions;
    let mut sum = direction(&passage.vectors, dimensions);
    let mut add = |vectors: &[i8]| {
        let direction = direction(vectors, dimensions);
        sum.iter_mut().zip(direction).for_each(|(sum, number)| *sum += NEIGHBOUR * number);
    };
    if let Some(before) = before {
        add(&before.vectors[before.vectors.len().saturating_sub(most)..]);
    }
    if let Some(behind) = behind {
        add(&behind.vectors[..most.min(behind.vectors.len())]);
    }
    of_length_one(sum)
}

/// Of the sum of `vectors`.
fn direction(vectors: &[i8], dimensions: usize) -> Vec<f32> {
    let mut sum = vec![0.0; dimensions];
    for vector in vectors.chunks_exact(dimensions) {
        sum.iter_mut().zip(vector).for_each(|(sum, number)| *sum += f32::from(*number));
    }
    of_length_one(sum)
}

fn of_length_one(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
    vector.iter_mut().for_each(|number| *number /= length);
    vector
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of two numbers a piece.
    fn embedding(vectors: &[[i8; 2]]) -> Embedding {
        Embedding { tokens: vec![0; vectors.len()], vectors: vectors.concat(), mean: vec![1.0, 0.0] }
    }

    #[test]
    fn a_passage_alone_means_what_it_says() {
        assert_eq!(among(&embedding(&[[3, 4], [3, 4]]), [None, None]), [0.6, 0.8]);
        assert_eq!(among(&embedding(&[]), [None, None]), [0.0, 0.0]);
    }

    #[test]
    fn of_a_neighbour_the_end_that_is_next_to_the_passage_counts() {
        let far_then_near = embedding(&[vec![[0, 100]; 100], vec![[100, 0]; BESIDE]].concat());
        let near_then_far = embedding(&[vec![[100, 0]; BESIDE], vec![[0, 100]; 100]].concat());
        let passage = embedding(&[[100, 0]]);
        assert_eq!(among(&passage, [Some(&far_then_near), Some(&near_then_far)]), [1.0, 0.0]);
        let other_way = among(&passage, [Some(&near_then_far), None]);
        assert!(other_way[1] > 0.4, "{other_way:?}");
    }

    #[test]
    fn a_short_line_among_long_ones_is_about_what_itself_says() {
        let long = embedding(&[[0, 100]; BESIDE]);
        let line = among(&embedding(&[[100, 0]]), [Some(&long), Some(&long)]);
        assert_eq!(line, among(&embedding(&[[50, 0]; 9]), [Some(&long), Some(&long)]));
        assert!((line[0] - line[1]).abs() < 1e-6, "both of them together count as much as it does: {line:?}");
    }
}
