//! What a passage is about: its meaning among what was said right before and right behind it (memory.md, section 3, item 5).
//!
//! The encoder would have to read every message three times over, once by itself and with each of its neighbours. The mean of
//! vectors that it made of each by itself says nearly the same, and costs no reading.

use local::Embedding;

/// Pieces of a neighbour that are next to the passage: some 240 letters. A whole neighbour would crowd it out.
const BESIDE: usize = 60;

/// A vector of length 1.
pub(super) fn among(passage: &Embedding, [before, behind]: [Option<&Embedding>; 2]) -> Vec<f32> {
    let dimensions = passage.mean.len().max(1);
    let mut sum = vec![0.0; dimensions];
    let mut add = |vectors: &[i8]| {
        for vector in vectors.chunks_exact(dimensions) {
            sum.iter_mut().zip(vector).for_each(|(sum, number)| *sum += f32::from(*number));
        }
    };
    let most = BESIDE * dimensions;
    if let Some(before) = before {
        add(&before.vectors[before.vectors.len().saturating_sub(most)..]);
    }
    add(&passage.vectors);
    if let Some(behind) = behind {
        add(&behind.vectors[..most.min(behind.vectors.len())]);
    }
    let length = sum.iter().map(|number| number * number).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
    sum.iter().map(|number| number / length).collect()
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
        assert!(other_way[1] > 0.9, "{other_way:?}");
    }
}
