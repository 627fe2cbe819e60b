//! Checks the layers inside the engine crate: no file uses a layer above its own, and files form no
//! large cycle.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Folders of `engine/src`, lowest first. Code uses its own layer and those before it.
const LAYERS: [&str; 10] = [
    "api",
    "base",
    "settings",
    "library",
    "recall_service",
    "turn",
    "learn",
    "import",
    "operations",
    "evaluation",
];

/// Files that use each other in a circle, at most.
const LARGEST_CYCLE: usize = 5;

/// Files by path below `engine/src`, each with the modules of the crate that it names.
type Uses = BTreeMap<String, BTreeSet<String>>;

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .join("src-tauri/crates/engine/src")
}

fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files_below(&path, found),
            false if path.extension().is_some_and(|ending| ending == "rs") => found.push(path),
            false => {}
        }
    }
}

/// Code without comments and without the unit tests at the end of the file.
fn code(text: &str) -> String {
    let code = text
        .split("#[cfg(test)]\nmod tests")
        .next()
        .unwrap_or_default();
    code.lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n")
}

/// Every `crate::` path in `code`; a group in braces gives one path for each of its members.
fn crate_paths(code: &str) -> Vec<String> {
    let mut paths = Vec::new();
    for rest in code.split("crate::").skip(1) {
        let end =
            rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_' && letter != ':');
        let path = &rest[..end.unwrap_or(rest.len())];
        match rest[path.len()..].strip_prefix('{') {
            Some(group) => {
                let members = group.split('}').next().unwrap_or_default().split(',');
                paths.extend(members.map(|member| format!("{path}{}", member.trim())));
            }
            None => paths.push(path.to_owned()),
        }
    }
    paths
}

/// The file that a path such as `turn::lore::Lore` leads to.
fn file_of(path: &str, files: &BTreeSet<String>) -> Option<String> {
    let parts: Vec<&str> = path.split("::").filter(|part| !part.is_empty()).collect();
    let candidates = (1..=parts.len())
        .rev()
        .map(|count| parts[..count].join("/"));
    candidates
        .flat_map(|name| [format!("{name}.rs"), format!("{name}/mod.rs")])
        .find(|name| files.contains(name))
}

fn engine_uses() -> Uses {
    let (root, mut paths) = (source(), Vec::new());
    files_below(&root, &mut paths);
    let name = |path: &PathBuf| {
        path.strip_prefix(&root)
            .unwrap()
            .to_str()
            .unwrap()
            .replace('\\', "/")
    };
    let is_tests = |name: &str| name.ends_with("tests.rs");
    let texts: BTreeMap<String, String> = paths
        .iter()
        .filter(|path| !is_tests(&name(path)))
        .map(|path| (name(path), code(&fs::read_to_string(path).unwrap())))
        .collect();
    let files: BTreeSet<String> = texts.keys().cloned().collect();
    assert!(files.len() > 150, "only {} files were found", files.len());
    let used = |file: &String, code: &String| {
        let targets = crate_paths(code)
            .into_iter()
            .filter_map(|path| file_of(&path, &files));
        targets.filter(|target| target != file).collect()
    };
    texts
        .iter()
        .map(|(file, code)| (file.clone(), used(file, code)))
        .collect()
}

fn layer_of(file: &str) -> Option<usize> {
    LAYERS
        .iter()
        .position(|layer| file.split('/').next() == Some(layer))
}

#[test]
fn every_engine_folder_is_a_layer() {
    let outside: Vec<String> = engine_uses()
        .into_keys()
        .filter(|file| layer_of(file).is_none())
        .collect();
    assert_eq!(outside, ["lib.rs", "typescript.rs"]);
}

#[test]
fn engine_modules_use_no_layer_above() {
    let mut upward = Vec::new();
    for (file, targets) in engine_uses() {
        let Some(own) = layer_of(&file) else { continue };
        let above = targets
            .into_iter()
            .filter(|target| layer_of(target).is_some_and(|layer| layer > own));
        upward.extend(above.map(|target| format!("{file} uses {target}")));
    }
    assert!(upward.is_empty(), "{upward:#?}");
}

#[test]
fn only_operations_name_the_engine() {
    let (root, mut paths) = (source(), Vec::new());
    files_below(&root, &mut paths);
    let allowed = ["operations", "evaluation", "lib.rs", "typescript.rs"];
    for path in paths {
        let name = path
            .strip_prefix(&root)
            .unwrap()
            .to_str()
            .unwrap()
            .replace('\\', "/");
        if allowed.iter().any(|start| name.starts_with(start)) {
            continue;
        }
        let code = code(&fs::read_to_string(&path).unwrap());
        let mut words =
            code.split(|letter: char| !letter.is_alphanumeric() && letter != '_' && letter != ':');
        assert!(
            !words.any(|word| word == "Engine" || word == "crate::Engine"),
            "{name} names the engine"
        );
    }
}

#[test]
fn engine_modules_form_no_large_cycle() {
    let uses = engine_uses();
    let reached: BTreeMap<&String, BTreeSet<&String>> = uses
        .keys()
        .map(|file| (file, reachable(file, &uses)))
        .collect();
    for (file, targets) in &reached {
        let cycle: Vec<&&String> = targets
            .iter()
            .filter(|target| reached[**target].contains(file))
            .collect();
        assert!(
            cycle.len() <= LARGEST_CYCLE,
            "{} files use each other in a circle: {cycle:#?}",
            cycle.len()
        );
    }
}

/// Every file that `from` uses, directly or through others. `lib.rs` names every module, so it is
/// left out.
fn reachable<'u>(from: &'u String, uses: &'u Uses) -> BTreeSet<&'u String> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(file) = open.pop() {
        let next = uses
            .get(file)
            .into_iter()
            .flatten()
            .filter(|target| *target != "lib.rs");
        for target in next {
            if seen.insert(target) {
                open.push(target);
            }
        }
    }
    seen
}
