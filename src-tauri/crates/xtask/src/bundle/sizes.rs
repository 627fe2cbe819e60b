//! The table of what weighs how much in the packages.

use super::tree::PackagedFile;
use crate::process::file_name;
use anyhow::Result;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Prints the sizes of programs, libraries and folders, then of the packages in `folder`, in MB of
/// 10^6 bytes.
///
/// # Errors
/// A file is missing.
pub(super) fn print(files: &[PackagedFile], folder: &Path) -> Result<()> {
    let mut groups: BTreeMap<String, u64> = BTreeMap::new();
    for file in files {
        *groups.entry(group(file)).or_default() += file.bytes()?;
    }
    let mut rows: Vec<(String, u64)> = groups.into_iter().collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.1));
    rows.push(("together".to_owned(), rows.iter().map(|row| row.1).sum()));
    for package in packages(folder)? {
        rows.push((file_name(&package), fs::metadata(&package)?.len()));
    }
    for row in rows {
        eprintln!("{:>8.2} MB  {}", row.1 as f64 / 1e6, row.0);
    }
    Ok(())
}

/// Lists the finished packages by name.
fn packages(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?;
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let name = file_name(path);
            [".deb", ".rpm", ".tar.zst", ".exe", ".zip"]
                .iter()
                .any(|ending| name.ends_with(ending))
        })
        .collect();
    paths.sort();
    Ok(paths)
}

/// Programs, libraries and models stand alone; other files are counted by folder.
fn group(file: &PackagedFile) -> String {
    let names: Vec<_> = file.to.iter().map(|name| name.to_string_lossy()).collect();
    match names.as_slice() {
        [first, _, ..] if first == "share" => format!("share/{}", names[1]),
        [_, _, folder, _, ..] if folder == "ui" => "lib/inglenook/ui".to_owned(),
        _ => file.to.display().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_ui_are_one_row() {
        let groups = [
            "bin/nook",
            "lib/inglenook/ui/assets/a.js",
            "lib/inglenook/libllama.so.0",
            "share/man/man1/nook.1",
        ]
        .map(|to| group(&PackagedFile::new(to, "/built")));
        let wanted = [
            "bin/nook",
            "lib/inglenook/ui",
            "lib/inglenook/libllama.so.0",
            "share/man",
        ];
        assert_eq!(groups, wanted);
    }
}
