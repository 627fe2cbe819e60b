//! Counts sizes of functions, and lists the largest ones.

use crate::house::code::functions::{FunctionSize, percentile};
use crate::house::code::source::{SourceFile, Sources};
use crate::house::limits::Count;
use crate::house::report::{Counted, List};
use std::cmp::Reverse;

/// Functions in a list.
const LISTED: usize = 10;

pub(crate) fn count(sources: &Sources) -> Counted {
    let functions: Vec<(&SourceFile, &FunctionSize)> = sources
        .files()
        .flat_map(|file| {
            file.parsed
                .functions
                .iter()
                .map(move |function| (file, function))
        })
        .collect();
    let lines: Vec<usize> = functions.iter().map(|(_, it)| it.lines).collect();
    let tokens: Vec<usize> = functions.iter().map(|(_, it)| it.tokens).collect();
    Counted {
        counts: vec![
            (
                Count::LongestFunction,
                lines.iter().copied().max().unwrap_or(0) as u64,
            ),
            (Count::P90Lines, percentile(lines, 90) as u64),
            (Count::MedianTokens, percentile(tokens.clone(), 50) as u64),
            (Count::P90Tokens, percentile(tokens, 90) as u64),
        ],
        lists: vec![
            largest("functions with the most lines", &functions, |it| it.lines),
            largest("functions with the most tokens", &functions, |it| it.tokens),
        ],
    }
}

fn largest(
    title: &str,
    functions: &[(&SourceFile, &FunctionSize)],
    size: fn(&FunctionSize) -> usize,
) -> List {
    let mut sorted = functions.to_vec();
    sorted.sort_by_key(|(_, function)| Reverse(size(function)));
    let lines = sorted
        .iter()
        .take(LISTED)
        .map(|(file, it)| format!("{:>5}  {}:{}  {}", size(it), file.path, it.line, it.name));
    List {
        title: title.to_owned(),
        lines: lines.collect(),
    }
}
