//! Checks that the Rust files that the documentation names exist.

use std::fs;
use std::path::Path;

use crate::requirements::{files_in, root};

/// The paths in backticks that end with `.rs`, such as `turn/sending/send.rs`.
fn rust_paths(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2).filter(|text| {
        let is_path = |letter: char| letter.is_alphanumeric() || "/._-".contains(letter);
        text.len() > ".rs".len() && text.ends_with(".rs") && text.chars().all(is_path)
    })
}

#[test]
fn every_rust_file_in_the_docs_exists() {
    let files = files_in(".");
    let docs = files_in("src-tauri/docs");
    let mut missing = Vec::new();
    for doc in docs.iter().map(String::as_str).chain(["README.md"]) {
        let text = fs::read_to_string(Path::new(&root()).join(doc)).unwrap();
        for (number, line) in text.lines().enumerate() {
            let unknown = rust_paths(line).filter(|path| {
                let ending = format!("/{path}");
                !files
                    .iter()
                    .any(|file| file == path || file.ends_with(&ending))
            });
            missing.extend(unknown.map(|path| format!("{doc}:{}: {path}", number + 1)));
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn paths_are_found_between_backticks() {
    let line = "| idle | `on_reply` in `turn/replies/hooks.rs`, `a b.rs` | `mod.rs` |";
    let found: Vec<&str> = rust_paths(line).collect();
    assert_eq!(found, ["turn/replies/hooks.rs", "mod.rs"]);
}
