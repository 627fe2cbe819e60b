//! Counts what a build compiles: lines of Rust, and packages.

use crate::house::code::source::Sources;
use crate::house::limits::Count;
use crate::house::report::Counted;
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// # Errors
/// `Cargo.lock` cannot be read.
pub(crate) fn count(root: &Path, sources: &Sources) -> Result<Counted> {
    let lock = fs::read_to_string(root.join("Cargo.lock")).context("cannot read Cargo.lock")?;
    let production: usize = sources.files().map(|file| file.lines).sum();
    let tests: usize = sources.tests.iter().map(|file| file.lines).sum();
    Ok(Counted {
        counts: vec![
            (Count::Packages, packages(&lock)),
            (Count::Lines, production as u64),
            (Count::TestLines, tests as u64),
        ],
        lists: Vec::new(),
    })
}

fn packages(lock: &str) -> u64 {
    lock.lines().filter(|line| *line == "[[package]]").count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_packages_of_a_lock_file() {
        assert_eq!(
            packages("version = 4\n\n[[package]]\nname = \"a\"\n\n[[package]]\n"),
            2
        );
    }
}
