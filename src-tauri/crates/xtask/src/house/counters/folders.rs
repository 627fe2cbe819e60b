//! Counts files per folder, and lines per file.

use crate::house::code::source::Sources;
use crate::house::limits::Count;
use crate::house::report::{Counted, List};
use std::cmp::Reverse;
use std::collections::BTreeMap;

const LISTED: usize = 5;

/// Lines that a file may have, its unit tests included.
const MOST_LINES: usize = 450;

pub(crate) fn count(sources: &Sources) -> Counted {
    let mut counted = largest_folder(sources.files().map(|file| file.path.as_str()));
    let production = sources.files().map(|file| (file.lines, file.path.as_str()));
    counted.list(
        Count::LongFiles,
        "production files over 450 lines",
        long(production),
    );
    let tests = sources
        .tests
        .iter()
        .map(|file| (file.lines, file.path.as_str()));
    counted.list(
        Count::LongTestFiles,
        "test files over 450 lines",
        long(tests),
    );
    counted
}

fn largest_folder<'a>(paths: impl Iterator<Item = &'a str>) -> Counted {
    let mut folders: BTreeMap<&str, u64> = BTreeMap::new();
    for path in paths {
        *folders
            .entry(path.rsplit_once('/').map_or("", |(folder, _)| folder))
            .or_default() += 1;
    }
    let mut sorted: Vec<(u64, &str)> = folders.into_iter().map(|(name, it)| (it, name)).collect();
    sorted.sort_by_key(|(files, _)| Reverse(*files));
    let lines = sorted
        .iter()
        .take(LISTED)
        .map(|(files, name)| format!("{files:>5}  {name}"));
    Counted {
        counts: vec![(
            Count::LargestFolder,
            sorted.first().map_or(0, |(files, _)| *files),
        )],
        lists: vec![List {
            title: "folders with the most files".to_owned(),
            lines: lines.collect(),
        }],
    }
}

/// The files over the limit, the longest first.
fn long<'a>(files: impl Iterator<Item = (usize, &'a str)>) -> Vec<String> {
    let mut long: Vec<_> = files.filter(|(lines, _)| *lines > MOST_LINES).collect();
    long.sort_by_key(|(lines, _)| Reverse(*lines));
    long.iter()
        .map(|(lines, path)| format!("{lines:>5}  {path}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_files_of_the_folder_itself() {
        let counted = largest_folder(["a/b.rs", "a/c/d.rs", "a/c/e.rs", "f.rs"].into_iter());
        assert_eq!(counted.counts, [(Count::LargestFolder, 2)]);
        assert_eq!(counted.lists[0].lines[0].trim(), "2  a/c");
    }

    #[test]
    fn lists_files_over_the_limit() {
        let lines = long([(450, "a.rs"), (451, "b.rs"), (900, "c.rs")].into_iter());
        assert_eq!(lines, ["  900  c.rs", "  451  b.rs"]);
    }
}
