//! Token ids of a picture in a sequence.
//!
//! A picture takes one KV cell for each of its tokens, like text, but has no token ids. It gets ids
//! of its own: negative ones, which no vocabulary has. They are derived from the picture's
//! checksum, so that comparing tokens also compares pictures, in memory and in saved caches. A
//! picture is read as a whole, so a sequence ends before or after it, never within.
//!
//! | id | bits 0 to 29 |
//! |---|---|
//! | first | a part of the checksum; bit 30 marks the start |
//! | second | number of positions |
//! | others | a part of the checksum |

use llama_cpp_2::token::LlamaToken;
use sha2::{Digest, Sha256};

const SIGN: u32 = 1 << 31;
const START: u32 = 1 << 30;
/// Bits that are free for content.
const CONTENT: u32 = START - 1;

/// Space that a picture takes in a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PictureSize {
    /// KV cells, at least one.
    pub(crate) tokens: usize,
    /// Positions. A model with two-dimensional positions (M-RoPE) has fewer of them than tokens.
    pub(crate) positions: usize,
}

/// Returns the ids of a picture: one for each token. `identity` differs between pictures.
pub(crate) fn ids(identity: &str, size: PictureSize) -> Vec<LlamaToken> {
    let content = |index: usize| {
        let hash = Sha256::new()
            .chain_update(identity)
            .chain_update(index.to_le_bytes())
            .finalize();
        u32::from_le_bytes([hash[0], hash[1], hash[2], hash[3]]) & CONTENT
    };
    let bits = |index| match index {
        0 => START | content(0),
        1 => u32::try_from(size.positions).unwrap_or(CONTENT) & CONTENT,
        index => content(index),
    };
    (0..size.tokens)
        .map(|index| LlamaToken((SIGN | bits(index)).cast_signed()))
        .collect()
}

/// Whether the token is a part of a picture.
pub(crate) fn is_picture(token: LlamaToken) -> bool {
    token.0 < 0
}

fn is_start(token: LlamaToken) -> bool {
    is_picture(token) && token.0.cast_unsigned() & START != 0
}

/// Returns the number of positions that `tokens` take. They end outside of a picture.
pub(crate) fn positions(tokens: &[LlamaToken]) -> usize {
    let mut count = 0;
    let mut rest = tokens;
    while let Some((first, after)) = rest.split_first() {
        if !is_start(*first) {
            (count, rest) = (count + 1, after);
            continue;
        }
        let length = 1 + after
            .iter()
            .take_while(|token| is_picture(**token) && !is_start(**token))
            .count();
        count += after
            .first()
            .filter(|_| length > 1)
            .map_or(1, |second| (second.0.cast_unsigned() & CONTENT) as usize);
        rest = &rest[length..];
    }
    count
}

/// Returns `position`, or the start of the picture in `tokens` that contains it.
pub(crate) fn boundary_at(tokens: &[LlamaToken], position: usize) -> usize {
    let within = |at: usize| {
        tokens
            .get(at)
            .is_some_and(|token| is_picture(*token) && !is_start(*token))
    };
    (0..=position).rev().find(|at| !within(*at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(length: i32) -> Vec<LlamaToken> {
        (0..length).map(LlamaToken).collect()
    }

    fn size(tokens: usize, positions: usize) -> PictureSize {
        PictureSize { tokens, positions }
    }

    #[test]
    fn positions_follow_the_size_of_each_picture() {
        for (tokens, positions_of_it) in [(64, 64), (64, 8), (1, 1), (2, 2), (4_096, 70)] {
            let picture = ids("a", size(tokens, positions_of_it));
            assert_eq!(picture.len(), tokens);
            let all = [&text(5)[..], &picture, &ids("b", size(9, 3)), &text(2)].concat();
            assert_eq!(positions(&all), 5 + positions_of_it + 3 + 2);
        }
        assert_eq!(positions(&[]), 0);
    }

    #[test]
    fn other_picture_differs_from_its_first_token_on() {
        let (one, other) = (ids("a", size(64, 8)), ids("b", size(64, 8)));
        assert!(one[0] != other[0] && one[2..] != other[2..]);
        assert_eq!(one, ids("a", size(64, 8)), "the same picture in every turn");
        assert!(one.iter().all(|token| is_picture(*token)));
    }

    #[test]
    fn boundary_is_never_within_a_picture() {
        let tokens = [
            &text(3)[..],
            &ids("a", size(4, 4)),
            &ids("b", size(2, 2)),
            &text(2),
        ]
        .concat();
        let boundaries: Vec<usize> = (0..=tokens.len())
            .map(|at| boundary_at(&tokens, at))
            .collect();
        assert_eq!(boundaries, [0, 1, 2, 3, 3, 3, 3, 7, 7, 9, 10, 11]);
    }
}
