//! Licence files and their texts.

use super::component::Component;
use crate::process::file_name;
use anyhow::{Context, Result};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Beginnings of the names of licence files, in lower case.
const NAMES: [&str; 5] = ["licen", "copying", "notice", "unlicense", "copyright"];

/// Endings of files that are no texts, although their names begin like those of licences.
const NO_TEXTS: [&str; 9] = [
    ".rs", ".c", ".h", ".py", ".js", ".json", ".toml", ".html", ".cmake",
];

/// A licence text, and the labels of the components that it covers.
pub(super) struct LicenceText {
    pub(super) text: String,
    pub(super) covers: BTreeSet<String>,
    /// SPDX ids of which it is the text.
    ids: BTreeSet<String>,
}

/// All texts, by their words without the space between them.
#[derive(Default)]
pub(super) struct LicenceTexts(BTreeMap<String, LicenceText>);

impl LicenceTexts {
    pub(super) fn add(&mut self, component: &Component, file: &Path, text: &str) {
        let words: Vec<&str> = text.split_whitespace().collect();
        let entry = self.0.entry(words.join(" "));
        let known = entry.or_insert_with(|| LicenceText {
            text: tidy(text),
            covers: BTreeSet::new(),
            ids: BTreeSet::new(),
        });
        known.covers.insert(component.label());
        known.ids.extend(id_of(component, file));
    }

    /// The texts in the order of what they cover.
    pub(super) fn sorted(&self) -> Vec<&LicenceText> {
        let mut texts: Vec<&LicenceText> = self.0.values().collect();
        texts.sort_by(|one, other| one.covers.cmp(&other.covers));
        texts
    }

    /// The most frequent text of a licence, without the copyright lines of those that use it.
    pub(super) fn standard(&self, id: &str) -> Option<String> {
        let texts = self.0.values().filter(|text| text.ids.contains(id));
        let most_used = texts.min_by_key(|text| Reverse(text.covers.len()))?;
        let lines = most_used.text.lines().filter(|line| !is_copyright(line));
        Some(tidy(&lines.collect::<Vec<_>>().join("\n")))
    }
}

/// The licence in a file, by the file's name or because the package has one licence in one file.
fn id_of(component: &Component, file: &Path) -> Option<String> {
    let name = lower_name(file);
    let named = match name.split(['.', '_']).next()? {
        "unlicense" => Some("Unlicense"),
        "license-mit" => Some("MIT"),
        "license-apache" if !name.contains("with") => Some("Apache-2.0"),
        _ => None,
    };
    let only = || {
        let mut ids = ids(component.licence.as_deref()?);
        let id = ids.next()?;
        (ids.next().is_none() && component.licence_files.len() == 1).then_some(id)
    };
    named.or_else(only).map(str::to_owned)
}

/// The ids in an SPDX expression, also with the old separator `/`.
pub(super) fn ids(expression: &str) -> impl Iterator<Item = &str> {
    expression
        .split(|letter: char| letter.is_whitespace() || "()/".contains(letter))
        .filter(|word| !["", "OR", "AND", "WITH"].contains(word))
}

/// Whether a line says who has the copyright, such as `Copyright (c) 2020 Ida Quay`.
fn is_copyright(line: &str) -> bool {
    line.trim_start()
        .strip_prefix("Copyright ")
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit() || "(©[".contains(c)))
}

/// Reads a text; bytes that are not UTF-8 are replaced.
///
/// # Errors
/// The file cannot be read.
pub(super) fn read(file: &Path) -> Result<String> {
    let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let text = String::from_utf8_lossy(&bytes);
    Ok(text.trim_start_matches('\u{feff}').to_owned())
}

/// Lists the licence files directly in `folder`, by name.
///
/// # Errors
/// The folder cannot be listed.
pub(super) fn licence_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| is_licence(&lower_name(path)) && path.is_file())
        .collect();
    paths.sort();
    Ok(paths)
}

fn is_licence(lower_name: &str) -> bool {
    let is_text = !NO_TEXTS.iter().any(|ending| lower_name.ends_with(ending));
    is_text && NAMES.iter().any(|name| lower_name.starts_with(name))
}

fn lower_name(file: &Path) -> String {
    file_name(file).to_lowercase()
}

/// Removes space at the ends of lines, empty lines around the text, and repeated empty lines.
fn tidy(text: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for line in text.lines().map(str::trim_end) {
        let is_repeated = line.is_empty() && lines.last().is_none_or(|last| last.is_empty());
        if !is_repeated {
            lines.push(line);
        }
    }
    lines.join("\n").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognises_licence_files_by_name() {
        for name in [
            "license-mit",
            "licence.txt",
            "copying",
            "notice",
            "unlicense",
        ] {
            assert!(is_licence(name), "{name}");
        }
        for name in ["license.rs", "readme.md", "licenses.json", "lib.rs"] {
            assert!(!is_licence(name), "{name}");
        }
    }

    #[test]
    fn expression_has_one_id_per_licence() {
        let found = |expression| ids(expression).collect::<Vec<_>>();
        assert_eq!(found("MIT/Apache-2.0"), ["MIT", "Apache-2.0"]);
        assert_eq!(
            found("(MIT OR Zlib) AND Apache-2.0 WITH LLVM-exception"),
            ["MIT", "Zlib", "Apache-2.0", "LLVM-exception"]
        );
    }

    #[test]
    fn only_lines_about_owners_are_copyright_lines() {
        for line in [
            "Copyright (c) 2020 Ida",
            "  Copyright 2019 Ida",
            "Copyright © Ida",
        ] {
            assert!(is_copyright(line), "{line}");
        }
        for line in [
            "copyright license to reproduce",
            "The above copyright notice",
        ] {
            assert!(!is_copyright(line), "{line}");
        }
    }

    #[test]
    fn tidy_text_has_single_empty_lines() {
        assert_eq!(tidy("\n\nMIT  \n\n\n\nGranted.\n\n"), "MIT\n\nGranted.");
    }
}
