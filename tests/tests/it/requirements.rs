//! Checks `src-tauri/docs/requirements.md`: every requirement has one row, and every referenced
//! test exists. Comments name no requirement codes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Prefix of each group of codes with its first and last number. The numbers in the gaps were never
/// used.
const CODES: [(&str, u32, u32); 12] = [
    ("S0.", 1, 22),
    ("S1.", 1, 30),
    ("S2.", 1, 33),
    ("S3.", 1, 43),
    ("S4.", 1, 28),
    ("S4.", 30, 40),
    ("S4.", 50, 65),
    ("S4.", 70, 80),
    ("C", 1, 32),
    ("P-", 1, 12),
    ("R-", 1, 9),
    ("S-", 1, 9),
];

/// Prefixes of codes that comments must not name, including those of file formats. "C" is last,
/// because it begins others.
const PREFIXES: [&str; 15] = [
    "S0.", "S1.", "S2.", "S3.", "S4.", "P-", "R-", "S-", "V1-", "V2-", "V3-", "CT-", "MC-", "RT-",
    "C",
];

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}

/// Returns the paths of all files in `folder` that git does not ignore, relative to the repository.
pub(crate) fn files_in(folder: &str) -> Vec<String> {
    let list = [
        "ls-files",
        "--cached",
        "--others",
        "--exclude-standard",
        folder,
    ];
    let listed = Command::new("git")
        .current_dir(root())
        .args(list)
        .output()
        .unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    listed
        .lines()
        .filter(|path| root().join(path).is_file())
        .map(str::to_owned)
        .collect()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// A row of a table: the code in its first cell, and the last cell.
struct Row {
    code: String,
    proof: String,
}

fn rows() -> Vec<Row> {
    let document = read("src-tauri/docs/requirements.md");
    let cells = |line: &str| -> Option<Row> {
        let cells = line.strip_prefix("| ")?.strip_suffix(" |")?;
        let (code, _) = cells.split_once(" | ")?;
        let (_, proof) = cells.rsplit_once(" | ")?;
        (code != "Code").then(|| Row {
            code: code.to_owned(),
            proof: proof.to_owned(),
        })
    };
    document.lines().filter_map(cells).collect()
}

#[test]
fn every_requirement_has_one_row() {
    let mut found: Vec<String> = rows().into_iter().map(|row| row.code).collect();
    let numbers =
        |(prefix, first, last)| (first..=last).map(move |number| format!("{prefix}{number}"));
    let mut expected: Vec<String> = CODES.into_iter().flat_map(numbers).collect();
    found.sort();
    expected.sort();
    let missing: Vec<_> = expected
        .iter()
        .filter(|code| !found.contains(code))
        .collect();
    let unknown: Vec<_> = found
        .iter()
        .filter(|code| !expected.contains(code))
        .collect();
    assert!(
        missing.is_empty() && unknown.is_empty(),
        "missing {missing:?}, unknown {unknown:?}"
    );
    assert_eq!(found, expected, "a code has two rows");
}

#[test]
fn every_referenced_test_exists() {
    let files: Vec<String> = ["src-tauri", "tests", "ui"]
        .into_iter()
        .flat_map(files_in)
        .collect();
    let mut wrong = Vec::new();
    for Row { code, proof } in rows() {
        let references: Vec<&str> = proof
            .split('`')
            .skip(1)
            .step_by(2)
            .filter(|text| text.contains(": "))
            .collect();
        if references.is_empty() && !proof.starts_with("not yet: ") {
            wrong.push(format!("{code} has neither a test nor \"not yet\""));
        }
        let lost = references
            .into_iter()
            .filter(|reference| !exists(reference, &files));
        wrong.extend(lost.map(|reference| format!("{code}: no {reference}")));
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Whether the test or benchmark of `folder: module::test` or `folder: benches/name` exists.
fn exists(reference: &str, files: &[String]) -> bool {
    let (folder, rest) = reference.split_once(": ").unwrap();
    let folder = match folder {
        "tests" | "ui" => format!("{folder}/"),
        "inglenook" => "src-tauri/src/".to_owned(),
        name => format!("src-tauri/crates/{name}/"),
    };
    let mut inside = files
        .iter()
        .filter_map(|path| Some((path, path.strip_prefix(&folder)?)));
    match rest.split_once("::") {
        None => inside.any(|(_, below)| below == format!("{rest}.rs")),
        Some((module, test)) => inside
            .filter(|(_, below)| {
                below
                    .split('/')
                    .any(|part| part.strip_suffix(".rs").unwrap_or(part) == module)
            })
            .any(|(path, _)| declares(path, test)),
    }
}

fn declares(path: &str, test: &str) -> bool {
    let text = read(path);
    if !path.ends_with(".rs") {
        return ['"', '\'', '`']
            .iter()
            .any(|quote| text.contains(&format!("({quote}{test}{quote}")));
    }
    let (function, story) = (format!("fn {test}("), format!("{test}: stories::"));
    let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
    // A macro makes a test of each line of the desktop's list.
    lines.iter().any(|line| line.starts_with(&story))
        || lines
            .iter()
            .enumerate()
            .any(|(at, line)| line.contains(&function) && is_test(&lines[..at]))
}

/// Whether the attributes at the end of these lines include that of a test.
fn is_test(before: &[&str]) -> bool {
    let attributes = before
        .iter()
        .rev()
        .take_while(|line| line.starts_with("#[") || line.starts_with("//"));
    attributes
        .into_iter()
        .any(|line| line.starts_with("#[test]") || line.starts_with("#[tokio::test"))
}

#[test]
fn comments_name_no_requirement_code() {
    let ends = |path: &String| {
        [".rs", ".ts", ".svelte", ".mjs", ".toml"]
            .iter()
            .any(|ending| path.ends_with(ending))
    };
    let files: Vec<String> = files_in(".").into_iter().filter(ends).collect();
    assert!(files.len() > 500, "only {} files were found", files.len());
    let mut found = Vec::new();
    for path in files {
        for (at, comment) in comments(&read(&path), path.ends_with(".toml")) {
            found.extend(
                codes(comment)
                    .into_iter()
                    .map(|code| format!("{path}:{}: {code}", at + 1)),
            );
        }
    }
    assert!(
        found.is_empty(),
        "state the rule instead of its code:\n{}",
        found.join("\n")
    );
}

/// Returns the comments with their line numbers from 0. A comment mark inside a string starts a
/// comment, too.
fn comments(text: &str, is_toml: bool) -> Vec<(usize, &str)> {
    let marks: &[&str] = if is_toml {
        &["#"]
    } else {
        &["//", "/*", "<!--"]
    };
    let mut block_end = None;
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let started = marks.iter().filter_map(|mark| line.find(mark)).min();
        if block_end.is_none() {
            block_end = [("/*", "*/"), ("<!--", "-->")]
                .iter()
                .find(|(start, _)| !is_toml && line.trim_start().starts_with(start))
                .map(|(_, end)| *end);
        }
        let from = if block_end.is_some() {
            Some(0)
        } else {
            started
        };
        found.extend(from.map(|from| (at, &line[from..])));
        block_end = block_end.filter(|end| !line.contains(end));
    }
    found
}

fn codes(text: &str) -> Vec<&str> {
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.');
    let begins = |at: usize| !text[..at].ends_with(is_part);
    text.char_indices()
        .filter(|(at, _)| begins(*at))
        .filter_map(|(at, _)| code_at(&text[at..]))
        .collect()
}

/// Returns the code at the start of `text`. "C11" is also a language, so a code with "C" precedes
/// `)`, `:` or `;`.
fn code_at(text: &str) -> Option<&str> {
    let prefix = PREFIXES.iter().find(|prefix| text.starts_with(**prefix))?;
    let number = &text[prefix.len()..];
    let digits = number.len()
        - number
            .trim_start_matches(|letter: char| letter.is_ascii_digit())
            .len();
    let (code, rest) = text.split_at(prefix.len() + digits);
    let is_longer = rest.starts_with(|letter: char| letter.is_alphanumeric() || letter == '_')
        || rest
            .strip_prefix('-')
            .is_some_and(|rest| rest.starts_with(|letter: char| letter.is_ascii_digit()));
    let is_named = *prefix != "C" || rest.starts_with([')', ':', ';']);
    ((1..=2).contains(&digits) && !is_longer && is_named).then_some(code)
}

#[test]
fn recognizes_requirement_codes() {
    assert_eq!(
        codes("the rule (S2.31, C11); S4.1-S4.3"),
        ["S2.31", "C11", "S4.1"]
    );
    assert_eq!(
        codes("C5: as V2-06 and CT-13, within R-1."),
        ["C5", "V2-06", "CT-13", "R-1"]
    );
    let none: [&str; 0] = [];
    assert_eq!(
        codes("C11 and C17, S-1-5-18, P-256, S5.1, IPS0.1, S0.123, MIPS-2, UTF-16, C, CP-1252"),
        none
    );
}

#[test]
fn finds_line_and_block_comments() {
    let (line, block) = (
        ["/", "/ one"].concat(),
        ["/", "* two\nthree *", "/\ncode"].concat(),
    );
    let text = format!("code {line}\n{block}");
    assert_eq!(
        comments(&text, false),
        [(0, line.as_str()), (1, "/* two"), (2, "three */")]
    );
    assert_eq!(comments("a = 1 # why\nb = 2", true), [(0, "# why")]);
}
