//! Checks the architecture: dependencies between crates, and what each crate must not use.

#![allow(clippy::unwrap_used, reason = "a failed helper fails the test")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Layers. A crate may depend on crates of the rows above its own, never on one of the same row.
const FLOORS: [&[&str]; 9] = [
    &[
        "jinja",
        "domain",
        "installation",
        "launcher",
        "protection",
        "libsqlite3-sys",
    ],
    &["tokenizer", "worker"],
    &["context", "documents", "store", "provider"],
    &["recall", "mcp", "updates"],
    &["local"],
    &["engine"],
    &["server"],
    &["nook", "inglenook"],
    &["tests", "xtask"],
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}

fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .current_dir(root())
        .args(arguments)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "cargo {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// Returns our crates, each with its dependencies on other crates of ours (without
/// dev-dependencies).
fn our_arrows() -> BTreeMap<String, BTreeSet<String>> {
    let metadata = cargo(&[
        "metadata",
        "--offline",
        "--locked",
        "--no-deps",
        "--format-version",
        "1",
    ]);
    let metadata: serde_json::Value = serde_json::from_str(&metadata).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    packages
        .iter()
        .map(|package| {
            let dependencies = package["dependencies"].as_array().unwrap().iter();
            let ours = dependencies
                .filter(|it| it["path"].is_string() && it["kind"].as_str() != Some("dev"));
            (
                text(&package["name"]),
                ours.map(|it| text(&it["name"])).collect(),
            )
        })
        .collect()
}

/// Returns every crate that is compiled into `package` when it is built separately.
fn reached_by(package: &str) -> BTreeSet<String> {
    // `cargo metadata` merges the features of the whole workspace, so the worker's features would
    // hide a violation.
    let tree = cargo(&[
        "tree",
        "--offline",
        "--locked",
        "-p",
        package,
        "-e",
        "normal,build",
        "--prefix",
        "none",
    ]);
    tree.lines()
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

#[track_caller]
fn assert_free_of(package: &str, forbidden: &[&str]) {
    let reached = reached_by(package);
    let found: Vec<_> = forbidden
        .iter()
        .filter(|name| reached.contains(**name))
        .collect();
    assert!(
        found.is_empty(),
        "{package} reaches {found:?}; `cargo tree -p {package} -i CRATE` says how"
    );
}

#[test]
fn dependencies_go_down_only() {
    let floor_of = |name: &str| FLOORS.iter().position(|floor| floor.contains(&name));
    for (name, dependencies) in our_arrows() {
        let Some(floor) = floor_of(&name) else {
            continue;
        };
        for dependency in dependencies {
            assert!(
                floor_of(&dependency).is_some_and(|below| below < floor),
                "{name} must not depend on {dependency}"
            );
        }
    }
}

#[test]
fn every_crate_has_a_layer() {
    let crates: BTreeSet<String> = our_arrows().into_keys().collect();
    let on_floors = FLOORS.iter().copied().flatten().copied();
    let expected = on_floors.map(str::to_owned).collect();
    assert_eq!(crates, expected);
}

#[test]
fn pure_crates_do_no_io() {
    for package in [
        "jinja",
        "domain",
        "tokenizer",
        "context",
        "recall",
        "documents",
        "protection",
    ] {
        assert_free_of(package, &["tokio", "rusqlite", "reqwest", "tauri"]);
    }
    // `documents` reaches it through `lopdf`, which encrypts files with it. `protection` draws its
    // own keys and nonces, so that no caller can repeat one.
    for package in ["jinja", "domain", "tokenizer", "context"] {
        assert_free_of(package, &["rand"]);
    }
}

#[test]
fn store_and_network_are_independent() {
    assert_free_of("store", &["reqwest", "hyper", "tauri"]);
    assert_free_of("provider", &["rusqlite", "tauri"]);
    assert_free_of("local", &["rusqlite", "tauri"]);
    assert_free_of("mcp", &["rusqlite", "tauri", "axum"]);
    assert_free_of("updates", &["rusqlite", "tauri", "axum"]);
}

#[test]
fn engine_does_not_depend_on_window_or_server() {
    assert_free_of("engine", &["tauri", "axum"]);
}

#[test]
fn only_the_worker_builds_llama_cpp() {
    assert!(reached_by("worker").contains("llama-cpp-2"));
    for package in [
        "domain",
        "context",
        "store",
        "provider",
        "local",
        "engine",
        "server",
        "nook",
        "inglenook",
    ] {
        assert_free_of(package, &["llama-cpp-2", "llama-cpp-sys-2"]);
    }
}

/// `cargo build --workspace` merges features, so the library of `worker` must not use llama.cpp
/// itself. Otherwise every program would link it.
#[test]
fn worker_protocol_does_not_use_llama_cpp() {
    let source = "src-tauri/crates/worker/src/";
    let library = fs::read_to_string(root().join(source).join("lib.rs")).unwrap();
    let modules: Vec<_> = library
        .lines()
        .filter_map(|line| line.trim().strip_prefix("pub mod ")?.strip_suffix(';'))
        .collect();
    let of_library = |name: &str| {
        let name = name.strip_prefix(source).unwrap_or(name);
        let module = name
            .split_once('/')
            .map_or_else(|| name.trim_end_matches(".rs"), |(folder, _)| folder);
        module == "lib" || modules.contains(&module)
    };
    let files: Vec<_> = files_in(source, &["rs"])
        .into_iter()
        .filter(|(name, _)| of_library(name))
        .collect();
    assert!(files.len() > modules.len(), "{modules:?}");
    for (name, text) in files {
        assert!(!text.contains("llama_cpp_2"), "{name} names llama_cpp_2");
    }
}

#[test]
fn workspace_links_one_sqlite_and_one_tls() {
    let lock = fs::read_to_string(root().join("Cargo.lock")).unwrap();
    let count = |name: &str| {
        lock.lines()
            .filter(|line| *line == format!("name = \"{name}\""))
            .count()
    };
    assert_eq!(count("libsqlite3-sys"), 1);
    assert_eq!(count("rustls"), 1);
    assert_eq!(
        count("openssl-sys") + count("native-tls") + count("aws-lc-sys"),
        0
    );
}

#[test]
fn top_folder_has_the_expected_entries() {
    let tracked = Command::new("git")
        .current_dir(root())
        .args(["ls-files"])
        .output()
        .unwrap();
    let tracked = String::from_utf8(tracked.stdout).unwrap();
    let folders: BTreeSet<&str> = tracked
        .lines()
        .filter_map(|path| path.split_once('/'))
        .map(|(top, _)| top)
        .collect();
    let rooms: BTreeSet<&str> = folders
        .into_iter()
        .filter(|name| !name.starts_with('.'))
        .collect();
    assert_eq!(
        rooms,
        BTreeSet::from(["models", "presets", "src-tauri", "tests", "ui"])
    );
}

/// Turn markers of chat formats; only `context` builds prompts.
const TURN_MARKS: [&str; 5] = [
    "<|im_start|>",
    "[INST]",
    "<start_of_turn>",
    "<|start_header_id|>",
    "### Instruction",
];

/// The UI contains no prompt text and no chat format.
#[test]
fn ui_contains_no_prompt_text() {
    let sentences: Vec<String> = files_in("presets/prompts", &["json"])
        .iter()
        .flat_map(|(_, text)| sentences(&serde_json::from_str(text).unwrap()))
        .collect();
    assert!(
        sentences.len() > 50,
        "only {} sentences in the built-in prompts",
        sentences.len()
    );
    let sources = files_in("ui/src", &["ts", "svelte", "json", "js"]);
    assert!(
        sources.len() > 100,
        "only {} files in the window's code",
        sources.len()
    );
    for (name, code) in sources {
        for told in sentences.iter().map(String::as_str).chain(TURN_MARKS) {
            assert!(!code.contains(told), "{name} contains {told:?} of a prompt");
        }
    }
}

/// Returns the lines of a template's texts that are long enough to be unique.
fn sentences(template: &serde_json::Value) -> Vec<String> {
    match template {
        serde_json::Value::String(text) if text.contains(' ') => text
            .lines()
            .map(str::trim)
            .filter(|line| line.len() > 40)
            .map(str::to_owned)
            .collect(),
        serde_json::Value::Array(items) => items.iter().flat_map(sentences).collect(),
        serde_json::Value::Object(fields) => {
            let texts = fields
                .iter()
                .filter(|(key, _)| !["description", "name", "label"].contains(&key.as_str()));
            texts.flat_map(|(_, value)| sentences(value)).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the tracked files below `folder` with these extensions, each with its text.
fn files_in(folder: &str, endings: &[&str]) -> Vec<(String, String)> {
    let tracked = Command::new("git")
        .current_dir(root())
        .args(["ls-files", folder])
        .output()
        .unwrap();
    let tracked = String::from_utf8(tracked.stdout).unwrap();
    let ends = |name: &str| {
        name.rsplit_once('.')
            .is_some_and(|(_, ending)| endings.contains(&ending))
    };
    tracked
        .lines()
        .filter(|name| ends(name))
        .map(|name| {
            (
                name.to_owned(),
                fs::read_to_string(root().join(name)).unwrap(),
            )
        })
        .collect()
}

/// Files that may estimate tokens from a length, with the reason.
const ESTIMATES: [(&str, &str); 4] = [
    (
        "crates/context/src/count.rs",
        "the one fallback, for models whose tokens nobody knows",
    ),
    (
        "crates/context/src/lore/cases.rs",
        "recorded cases name the counter they were recorded with",
    ),
    (
        "crates/context/src/plan/price.rs",
        "a low bound, until the count is known",
    ),
    (
        "crates/context/src/plan/fill.rs",
        "a low bound: what cannot fit is not counted",
    ),
];

/// Only the counting trait's fallback estimates tokens from a length.
#[test]
fn tokens_are_estimated_in_one_place() {
    let (mut traits, mut estimating) = (Vec::new(), BTreeSet::new());
    for (name, code) in product_code() {
        let declared = code.lines().filter_map(|line| {
            line.trim_start()
                .trim_start_matches("pub ")
                .strip_prefix("trait ")
        });
        let names =
            declared.filter_map(|rest| rest.split(|letter: char| !letter.is_alphanumeric()).next());
        traits.extend(
            names
                .filter(|name| name.contains("Count") || name.contains("Token"))
                .map(str::to_owned),
        );
        if estimates_tokens(&code) {
            estimating.insert(name);
        }
    }
    assert_eq!(traits, ["CountTokens"]);
    assert_eq!(
        estimating,
        ESTIMATES
            .iter()
            .map(|(name, _)| (*name).to_owned())
            .collect()
    );
}

#[test]
fn detects_token_estimates_from_lengths() {
    for guess in [
        "let tokens = text.len() / 4;",
        "text.chars().count().div_ceil(3)",
        "text\n    .chars()\n    .count() as f32 / 3.5",
        "let guess = segment.text.len() / BYTES_A_TOKEN;",
        "(text.len() as f64 * 0.25) as u32",
        "text.len() >> 2",
    ] {
        assert!(estimates_tokens(guess), "{guess}");
    }
    for harmless in [
        "list.len() / 2;",
        "let half = size / 4; text.len()",
        "left(text.len()), share / 4",
        "a.len() + 4",
    ] {
        assert!(!estimates_tokens(harmless), "{harmless}");
    }
}

/// Whether the code divides a length by about the number of letters per token.
fn estimates_tokens(code: &str) -> bool {
    let joined: String = code
        .lines()
        .map(str::trim)
        .fold(String::new(), |joined, line| {
            if line.starts_with('.') {
                joined + line
            } else {
                joined + "\n" + line
            }
        });
    [".len()", ".count()"]
        .iter()
        .flat_map(|length| joined.split(length).skip(1))
        .any(|behind| {
            let expression = behind
                .split([';', ',', '{', '\n', '('])
                .next()
                .unwrap_or_default();
            let by_hand = ["3", "4", "5", "6", "BYTES_", "CHARS_", "LETTERS_"]
                .map(|divisor| format!("/ {divisor}"));
            let opened = [3, 4, 5, 6].map(|divisor| format!(".div_ceil({divisor}"));
            by_hand.iter().any(|divided| expression.contains(divided))
                || opened.iter().any(|call| behind.starts_with(call))
                || expression.contains("* 0.")
                || expression.trim_end_matches(')').ends_with(">> 2")
        })
}

/// Returns every source file of the product by its path below `src-tauri`, without comments and
/// tests.
fn product_code() -> Vec<(String, String)> {
    let tracked = Command::new("git")
        .current_dir(root())
        .args(["ls-files", "src-tauri"])
        .output()
        .unwrap();
    let tracked = String::from_utf8(tracked.stdout).unwrap();
    let product = |path: &&str| {
        let of_tests = ["/tests/", "/benches/", "/xtask/"]
            .iter()
            .any(|part| path.contains(part));
        path.contains("/src/") && path.ends_with(".rs") && !of_tests && !path.contains("/tests")
    };
    let read = |path: &str| {
        let text = fs::read_to_string(root().join(path)).unwrap();
        let code = text
            .split("#[cfg(test)]\nmod tests {")
            .next()
            .unwrap_or_default();
        let lines = code
            .lines()
            .map(|line| line.split("//").next().unwrap_or_default());
        (
            path.trim_start_matches("src-tauri/").to_owned(),
            lines.collect::<Vec<_>>().join("\n"),
        )
    };
    let files: Vec<_> = tracked.lines().filter(product).map(read).collect();
    assert!(files.len() > 200, "only {} files were found", files.len());
    files
}
