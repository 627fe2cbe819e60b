//! Merges neighbouring symbols until no pair forms a token, for byte-pair encoding and
//! SentencePiece.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Result of merging two neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Merge {
    /// The highest rank merges first, the left-most among equals.
    pub(super) rank: u32,
    pub(super) token: u32,
}

/// A part of a word: its bytes, and its token or [`NO_TOKEN`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Symbol {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) token: u32,
}

pub(super) const NO_TOKEN: u32 = u32::MAX;

/// Maximum symbols for the simple search. Longer words use a queue; for shorter ones, scanning all
/// pairs is faster.
const SHORT: usize = 48;

/// Merges `symbols`; `joined` returns the result of merging two neighbours.
pub(super) fn merge(symbols: &mut Vec<Symbol>, joined: impl Fn(&Symbol, &Symbol) -> Option<Merge>) {
    if symbols.len() <= SHORT {
        by_scan(symbols, joined)
    } else {
        by_queue(symbols, joined)
    }
}

fn by_scan(symbols: &mut Vec<Symbol>, joined: impl Fn(&Symbol, &Symbol) -> Option<Merge>) {
    let mut joins: Vec<Option<Merge>> = symbols
        .windows(2)
        .map(|pair| joined(&pair[0], &pair[1]))
        .collect();
    loop {
        let mut best: Option<(usize, Merge)> = None;
        for (at, merge) in joins.iter().enumerate() {
            if let Some(merge) = merge
                && best.is_none_or(|(_, best)| merge.rank > best.rank)
            {
                best = Some((at, *merge));
            }
        }
        let Some((at, merge)) = best else { return };
        symbols[at] = Symbol {
            start: symbols[at].start,
            end: symbols[at + 1].end,
            token: merge.token,
        };
        symbols.remove(at + 1);
        joins.remove(at);
        if at > 0 {
            joins[at - 1] = joined(&symbols[at - 1], &symbols[at]);
        }
        if at + 1 < symbols.len() {
            joins[at] = joined(&symbols[at], &symbols[at + 1]);
        }
    }
}

/// A queued pair of neighbours. It is small, because a word of a million letters has a million of
/// them.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct MergeCandidate {
    rank: u32,
    /// Index of the left symbol.
    left: Reverse<u32>,
    /// Bytes of both symbols; if either has grown since, the entry is stale.
    length: u32,
    token: u32,
}

/// `before` and `after` hold the neighbours by index. At both ends they hold an index that no
/// symbol has.
fn by_queue(symbols: &mut Vec<Symbol>, joined: impl Fn(&Symbol, &Symbol) -> Option<Merge>) {
    let count = symbols.len() as u32;
    let mut before: Vec<u32> = (0..count).map(|at| at.wrapping_sub(1)).collect();
    let mut after: Vec<u32> = (1..=count).collect();
    let pair = |symbols: &[Symbol], left: u32, right: u32| {
        let from = symbols.get(left as usize)?;
        let to = symbols.get(right as usize)?;
        let Merge { rank, token } = joined(from, to)?;
        Some(MergeCandidate {
            rank,
            left: Reverse(left),
            length: (to.end - from.start) as u32,
            token,
        })
    };
    let mut queue: BinaryHeap<MergeCandidate> = (1..count)
        .filter_map(|right| pair(symbols, right - 1, right))
        .collect();
    while let Some(MergeCandidate {
        left: Reverse(left),
        length,
        token,
        ..
    }) = queue.pop()
    {
        let at = left as usize;
        let right = after[left as usize];
        let (from, Some(to)) = (symbols[at], symbols.get_mut(right as usize)) else {
            continue;
        };
        if from.start == from.end || to.end - from.start != length as usize {
            continue;
        }
        symbols[at] = Symbol {
            start: from.start,
            end: std::mem::replace(&mut to.end, to.start),
            token,
        };
        after[at] = after[right as usize];
        if let Some(next) = before.get_mut(after[at] as usize) {
            *next = left;
        }
        queue.extend(pair(symbols, before[at], left));
        queue.extend(pair(symbols, left, after[at]));
    }
    symbols.retain(|symbol| symbol.end > symbol.start);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns single letters.
    fn letters(count: usize) -> Vec<Symbol> {
        (0..count)
            .map(|at| Symbol {
                start: at,
                end: at + 1,
                token: NO_TOKEN,
            })
            .collect()
    }

    proptest! {
        #[test]
        fn scan_and_queue_agree(word in "[abc]{1,90}", known in proptest::collection::hash_map("[abc]{2,5}", 0..9u32, 0..40)) {
            let joined = |left: &Symbol, right: &Symbol| {
                known.get(&word[left.start..right.end]).map(|rank| Merge { rank: *rank, token: *rank })
            };
            let (mut looking, mut queue) = (letters(word.len()), letters(word.len()));
            by_scan(&mut looking, joined);
            by_queue(&mut queue, joined);
            prop_assert_eq!(looking, queue);
        }
    }

    #[test]
    fn merges_a_long_word_in_linear_time() {
        let mut symbols = letters(200_000);
        merge(&mut symbols, |left, right| {
            (right.end - left.start <= 16).then_some(Merge { rank: 1, token: 0 })
        });
        assert_eq!(symbols.len(), 12_500);
    }
}
