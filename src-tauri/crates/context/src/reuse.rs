//! Measures how much of a prompt is a prefix that the model has read before.

use crate::plan::Assembled;

/// The part of a prompt that is a prefix of the previous prompt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reuse {
    /// Length of the common prefix in bytes.
    pub bytes: usize,
    /// Tokens of the segments that lie entirely in the prefix.
    pub tokens: u32,
    /// For each block of the plan: true if its segment lies entirely in the prefix.
    pub blocks: Vec<bool>,
}

/// Compares `now` with the texts of the previous prompt: its segments, then the text of the reply.
pub fn reuse<'s>(before: impl IntoIterator<Item = &'s str>, now: &'s Assembled) -> Reuse {
    let bytes = common_prefix(
        before.into_iter(),
        now.segments.iter().map(|segment| segment.text.as_str()),
    );
    let mut end = 0;
    let mut tokens = 0;
    let mut whole = Vec::with_capacity(now.segments.len());
    for (segment, count) in now.segments.iter().zip(&now.segment_tokens) {
        end += segment.text.len();
        whole.push(end <= bytes);
        tokens += if end <= bytes { *count } else { 0 };
    }
    let reused = |segment: Option<usize>| segment.is_some_and(|at| whole[at]);
    Reuse {
        bytes,
        tokens,
        blocks: now
            .blocks
            .iter()
            .map(|block| reused(block.segment))
            .collect(),
    }
}

/// Length in bytes of the longest common prefix of two texts that are given in pieces.
fn common_prefix<'a>(
    mut left: impl Iterator<Item = &'a str>,
    mut right: impl Iterator<Item = &'a str>,
) -> usize {
    let mut a = "".as_bytes();
    let mut b = "".as_bytes();
    let mut common = 0;
    loop {
        while a.is_empty() {
            let Some(next) = left.next() else {
                return common;
            };
            a = next.as_bytes();
        }
        while b.is_empty() {
            let Some(next) = right.next() else {
                return common;
            };
            b = next.as_bytes();
        }
        let both = a.len().min(b.len());
        let equal = if a[..both] == b[..both] {
            both
        } else {
            a.iter().zip(b).take_while(|(a, b)| a == b).count()
        };
        common += equal;
        if equal < both {
            return common;
        }
        (a, b) = (&a[both..], &b[both..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_length_ignores_piece_boundaries() {
        let length = |left: &[&'static str], right: &[&'static str]| {
            common_prefix(left.iter().copied(), right.iter().copied())
        };
        assert_eq!(length(&["ab", "", "cd"], &["a", "bc", "x"]), 3);
        assert_eq!(length(&["abc"], &["abc", "d"]), 3);
        assert_eq!(length(&[], &["a"]), 0);
    }
}
