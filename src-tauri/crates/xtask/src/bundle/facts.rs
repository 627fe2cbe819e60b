//! Facts that all packages share.

use crate::process::{command, output};

/// Folder of internal files below `/`; the programs look in `../lib/inglenook` relative to their
/// own folder.
pub(super) const LIBRARY_IN_USR: &str = "usr/lib/inglenook";

pub(super) const SUMMARY: &str = "Private character chat, offline";
pub(super) const DESCRIPTION: [&str; 2] = [
    "Import a character card and talk, offline, on a local model that comes",
    "with the app.",
];

/// Start of 1980, the earliest time that a ZIP archive can hold.
const EARLIEST: u64 = 315_532_800;

/// Facts about one run.
pub(super) struct Release {
    pub(super) version: String,
    /// Unix time that all files get, so that equal sources give equal bytes.
    pub(super) date: u64,
    pub(super) is_debug: bool,
}

impl Release {
    pub(super) fn now(is_debug: bool) -> Self {
        Self {
            // All crates share the workspace's version.
            version: env!("CARGO_PKG_VERSION").to_owned(),
            date: source_date(),
            is_debug,
        }
    }
}

/// Returns `SOURCE_DATE_EPOCH`, else the time of the last commit.
pub(super) fn source_date() -> u64 {
    let set = std::env::var("SOURCE_DATE_EPOCH").ok();
    let of_commit = || output(command("git").args(["log", "-1", "--format=%ct"]));
    set.or_else(of_commit)
        .and_then(|seconds| seconds.trim().parse().ok())
        .unwrap_or(EARLIEST)
}
