//! Counts the inherent methods of each type. A type with many methods has many tasks.

use crate::house::code::source::{CrateSource, Sources};
use crate::house::limits::Count;
use crate::house::report::{Counted, List};
use std::cmp::Reverse;
use std::collections::BTreeMap;

const LISTED: usize = 10;

pub(crate) fn count(sources: &Sources) -> Counted {
    let mut handles = Vec::new();
    for part in &sources.crates {
        let methods = methods(part).into_iter();
        handles.extend(methods.map(|(owner, count)| (count, format!("{}::{owner}", part.name))));
    }
    handles.sort_by_key(|(count, _)| Reverse(*count));
    let largest = handles.first().map_or(0, |(count, _)| *count);
    let lines = handles
        .iter()
        .take(LISTED)
        .map(|(count, name)| format!("{count:>5}  {name}"));
    Counted {
        counts: vec![(Count::LargestHandle, largest)],
        lists: vec![List {
            title: "types with the most methods".to_owned(),
            lines: lines.collect(),
        }],
    }
}

/// The number of methods of each type, over all `impl` blocks of a crate.
fn methods(part: &CrateSource) -> BTreeMap<&str, u64> {
    let mut counts = BTreeMap::new();
    for method in part
        .files
        .iter()
        .flat_map(|file| &file.parsed.definitions.methods)
    {
        *counts.entry(method.owner.as_str()).or_default() += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_up_all_blocks_of_a_type() {
        let files = [
            ("a.rs", "struct A; impl A { fn a() {} }"),
            (
                "b.rs",
                "impl<'a> A { fn b() {} } impl B { fn c() {} } impl T for A { fn d() {} }",
            ),
        ];
        let part = CrateSource::of("x", &files);
        let counts = methods(&part);
        assert_eq!(counts.into_iter().collect::<Vec<_>>(), [("A", 2), ("B", 1)]);
    }
}
