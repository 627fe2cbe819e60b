//! Holds our own code to the limits.

use super::{Report, process, report};
use crate::house::code::source::{CrateSource, Sources};
use crate::house::counters::circles::largest_of;
use crate::house::counters::layers::{layer_of, upward_uses};
use crate::house::limits::{CIRCLE_GOAL, LAYERS, LIMITS};
use crate::house::uses::{Use, units};

/// The named crates.
fn sources(names: &[&str]) -> Sources {
    let root = process::root();
    let mut sources = Sources::default();
    for name in names {
        let folder = root.join("src-tauri/crates").join(name);
        sources.read_crate(&root, &folder).unwrap();
    }
    sources
}

fn engine() -> CrateSource {
    sources(&["engine"]).crates.remove(0)
}

#[test]
fn counts_stay_within_limits() {
    let measured = Report::measure(&process::root()).unwrap();
    let crates = measured.rows.len() - LIMITS.len();
    assert!(crates > 14, "only {crates} crates were found");
    let exceeded: Vec<_> = measured
        .rows
        .into_iter()
        .filter(|row| row.exceeds_limit())
        .collect();
    assert!(
        exceeded.is_empty(),
        "`cargo xtask house --list` shows the places:\n{}",
        report::table(&exceeded)
    );
}

#[test]
fn finds_our_code() {
    let sources = sources(&["engine"]);
    let files = sources.files().count();
    assert!(files > 150, "only {files} files of the engine were found");
    assert!(sources.files().all(|file| !file.path.contains("/tests")));
    assert!(!sources.tests.is_empty());
}

#[test]
fn crates_use_no_layer_above() {
    let names: Vec<_> = LAYERS.iter().map(|layers| layers.name).collect();
    let upward = upward_uses(&sources(&names));
    assert!(upward.is_empty(), "{upward:#?}");
}

#[test]
fn every_engine_folder_is_a_layer() {
    let order = LAYERS
        .iter()
        .find(|layers| layers.name == "engine")
        .unwrap()
        .order;
    let engine = engine();
    let names = engine.files.iter().map(|file| file.below_src.as_str());
    let outside: Vec<_> = names
        .filter(|name| layer_of(name, order).is_none())
        .collect();
    assert_eq!(outside, ["lib.rs", "typescript.rs"]);
}

#[test]
fn engine_layers_form_no_large_circle() {
    let engine = engine();
    let between_folders = |it: &Use| it.written.starts_with("crate::");
    for unit in units(&engine) {
        let circle = largest_of(&unit, between_folders).unwrap_or_default();
        assert!(
            circle.len() as u64 <= CIRCLE_GOAL,
            "these files form a circle: {circle:#?}"
        );
    }
}

#[test]
fn only_operations_name_the_engine() {
    let allowed = ["operations", "evaluation", "lib.rs", "typescript.rs"];
    let engine = engine();
    let is_allowed = |name: &str| allowed.iter().any(|start| name.starts_with(start));
    let files = engine.files.iter();
    for file in files.filter(|file| !is_allowed(&file.below_src)) {
        for module in &file.parsed.modules {
            let imported = module.imports.iter().map(|import| &import.path);
            let mut paths = imported.chain(&module.mentions);
            let named = paths.any(|path| names_engine(path));
            assert!(!named, "{} names the engine", file.path);
        }
    }
}

fn names_engine(path: &[String]) -> bool {
    match path {
        [only] => only == "Engine",
        [first, rest @ ..] => {
            ["crate", "self", "super"].contains(&first.as_str())
                && rest.contains(&"Engine".to_owned())
        }
        [] => false,
    }
}
