//! `cargo xtask house`: counts about the structure of our own Rust code, each with a goal.
//!
//! [`limits`] has the table of goals. A count may not exceed its limit: the goal, or the count of
//! the day on which the limit was set. The test `counts_stay_within_limits` fails otherwise.
//!
//! Production code is what is below `src-tauri/src` and `src-tauri/crates/*/src`, without test
//! files and items under `#[cfg(test)]`.

mod code;
mod counters;
mod limits;
mod report;
mod uses;

#[cfg(test)]
mod tests;

use crate::process;
use anyhow::{Result, ensure};
use code::source::Sources;
use counters::{circles, folders, handles, ids, layers, shapes, sizes, type_names, volume};
use report::{List, Row};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Prints the places behind the counts as well.
    #[arg(long)]
    list: bool,
    /// The workspace to measure, instead of this one.
    #[arg(long, value_name = "PATH")]
    root: Option<PathBuf>,
}

/// Prints the counts.
///
/// # Errors
/// A file cannot be read or parsed, or a count exceeds its limit.
pub(crate) fn house(options: &Options) -> Result<()> {
    let root = options.root.clone().unwrap_or_else(process::root);
    let report = Report::measure(&root)?;
    let mut text = report::table(&report.rows);
    if options.list {
        text.extend(report.lists.iter().map(report::list));
    }
    io::stdout().write_all(text.as_bytes())?;
    let exceeded = report.rows.iter().filter(|row| row.exceeds_limit()).count();
    ensure!(exceeded == 0, "{exceeded} counts exceed their limits");
    Ok(())
}

/// All counts of a workspace.
struct Report {
    rows: Vec<Row>,
    lists: Vec<List>,
}

impl Report {
    fn measure(root: &Path) -> Result<Self> {
        let sources = Sources::read(root)?;
        let counters = [
            handles::count,
            folders::count,
            sizes::count,
            shapes::count,
            type_names::count,
            layers::count,
        ];
        let mut all = Vec::from(counters.map(|count| count(&sources)));
        all.extend([ids::count(root, &sources)?, volume::count(root, &sources)?]);
        let (mut rows, circles) = circles::rows(&sources);
        let counts: Vec<_> = all
            .iter()
            .flat_map(|it| it.counts.iter().copied())
            .collect();
        rows.extend(report::rows(&counts));
        let mut lists = vec![circles];
        lists.extend(all.into_iter().flat_map(|counted| counted.lists));
        Ok(Self { rows, lists })
    }
}
