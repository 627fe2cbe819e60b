//! The installers: app, command line, worker and default models in one package.

use crate::process::{FEATURES, cargo, command, output, root, run, target};
use crate::run::{prepare, programs};
use crate::system::Need;
use anyhow::{Context, Result};
use clap::Args;
use serde_json::{Map, Value, json};
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub(crate) struct Options {
    /// Bundles the debug build as a .deb: quick to make, slow to use, and its worker runs on CPUs with AVX2 only.
    #[arg(long)]
    debug: bool,
    /// Makes an AppImage as well; the bundler downloads its parts from GitHub.
    #[arg(long)]
    appimage: bool,
}

impl Options {
    /// The bundler's names of the packages. Nothing opens an .rpm of the debug build, and each takes a quarter of a gigabyte.
    fn packages(&self) -> String {
        let kinds =
            ["deb"].into_iter().chain((!self.debug).then_some("rpm")).chain(self.appimage.then_some("appimage"));
        kinds.collect::<Vec<_>>().join(",")
    }
}

/// Where the programs look for the worker, the models and the web UI: `../lib/inglenook` beside the folder it was started from.
const LIBRARY: &str = "/usr/lib/inglenook";

/// Licences of ours, of the models and of the fonts.
const LICENCES: [&str; 5] = [
    "LICENSE-MIT",
    "LICENSE-APACHE",
    "models/LICENCES.md",
    "ui/public/licences/OFL-Literata.txt",
    "ui/public/licences/OFL-Atkinson-Hyperlegible.txt",
];

/// The package of the debug build, for its test.
///
/// # Errors
/// When a step fails.
pub(crate) fn debug() -> Result<()> {
    bundle(&Options { debug: true, appimage: false })
}

/// Builds everything, then the packages, into `target/package/<profile>/bundle`.
///
/// # Errors
/// When a step fails.
pub(crate) fn bundle(options: &Options) -> Result<()> {
    prepare(&[Need::Build])?;
    let profile = if options.debug { "debug" } else { "release" };
    let built = target()?.join(profile);
    let libraries = if options.debug {
        programs(false)?;
        Vec::new()
    } else {
        run(cargo("build").args(["--locked", "--release", "-p", "nook", "-p", "inglenook"]).args(FEATURES))?;
        portable_worker()?
    };
    let configuration = configuration(&files(&built, &libraries)?);

    // The bundler writes into the program it packs, so it gets a copy, in a target folder of its own.
    let package = target()?.join("package");
    // What an earlier run made must not pass for what this one failed to make.
    let old = package.join(profile).join("bundle");
    if old.exists() {
        fs::remove_dir_all(&old).with_context(|| format!("cannot remove {}", old.display()))?;
    }
    fs::create_dir_all(package.join(profile))?;
    fs::copy(built.join("inglenook"), package.join(profile).join("inglenook")).context("cannot copy the app")?;

    // npm's own script has another name on Windows, and `npx` might download.
    let mut tauri = command("node");
    tauri.arg(root().join("ui/node_modules/@tauri-apps/cli/tauri.js"));
    tauri.args(["bundle", "--ci", "--bundles", &options.packages()]);
    tauri.arg("--config").arg(configuration.to_string());
    if options.debug {
        tauri.arg("--debug");
    }
    run(tauri.env("CARGO_TARGET_DIR", &package))?;
    eprintln!("The packages are in {}", package.join(profile).join("bundle").display());
    Ok(())
}

/// Builds the worker that runs on any CPU: its kernels are libraries, chosen when it starts. Returns these libraries.
fn portable_worker() -> Result<Vec<PathBuf>> {
    let mut build = cargo("rustc");
    build.args(["--locked", "--release", "-p", "worker", "--bin", "inglenook-worker", "--features", "portable"]);
    build.args(["--message-format", "json-render-diagnostics"]);
    // The old tag reaches the libraries' own libraries too.
    build.args(["--", "-C", "link-arg=-Wl,--disable-new-dtags,-rpath,$ORIGIN"]);
    eprintln!("Building the portable worker");
    let messages =
        output(build.stderr(std::process::Stdio::inherit())).context("the portable worker does not build")?;
    let built = PathBuf::from(llama_build_folder(&messages).context("cargo did not say where llama.cpp was built")?);
    let mut libraries = files_of(&built.join("lib"), is_loaded_by_name)?;
    libraries.extend(files_of(&built.join("backends"), |name| name.ends_with(".so"))?);
    Ok(libraries)
}

/// The build script's folder of llama-cpp-sys-2, out of cargo's JSON messages.
fn llama_build_folder(messages: &str) -> Option<String> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut of_llama = messages.filter(|message| {
        message["reason"] == "build-script-executed"
            && message["package_id"].as_str().is_some_and(|id| id.contains("llama-cpp-sys-2"))
    });
    Some(of_llama.next()?["out_dir"].as_str()?.to_owned())
}

/// Of the names `libllama.so`, `libllama.so.0` and `libllama.so.0.0.7` of one library, programs ask for the second.
fn is_loaded_by_name(file: &str) -> bool {
    let version = file.split_once(".so.").map(|(_, version)| version);
    version.is_some_and(|version| version.bytes().all(|byte| byte.is_ascii_digit()))
}

fn files_of(folder: &Path, wanted: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut paths: Vec<_> = paths.filter(|path| wanted(&file_name(path))).collect();
    paths.sort();
    Ok(paths)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// What is laid over src-tauri/tauri.conf.json: only here is it known where the built programs and the models are.
fn configuration(files: &Map<String, Value>) -> Value {
    json!({ "bundle": { "active": true, "linux": {
        "deb": { "files": files },
        "rpm": { "files": files },
        "appimage": { "files": files },
    }}})
}

/// Path on the user's machine -> file here, for all but the app itself.
fn files(built: &Path, libraries: &[PathBuf]) -> Result<Map<String, Value>> {
    let into = |folder: &str, path: PathBuf| (format!("{folder}/{}", file_name(&path)), json!(path));
    let models = format!("{LIBRARY}/models");
    let licences = LICENCES.map(|name| root().join(name));
    let mut files = Map::new();
    files.extend([into("/usr/bin", built.join("nook")), into(LIBRARY, built.join("inglenook-worker"))]);
    files.insert(format!("{LIBRARY}/ui"), json!(root().join("ui/dist")));
    files.extend(libraries.iter().map(|path| into(LIBRARY, path.clone())));
    files.extend(crate::models::ensure_defaults()?.into_iter().map(|path| into(&models, path)));
    files.extend(licences.map(|path| into("/usr/share/doc/inglenook", path)));
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_a_librarys_three_names_is_shipped() {
        let names = ["libllama.so", "libllama.so.0", "libllama.so.0.0.7", "libllama.a"];
        assert_eq!(names.map(is_loaded_by_name), [false, true, false, false]);
    }

    #[test]
    fn cargo_says_where_llama_was_built() {
        let messages = r#"{"reason":"compiler-artifact","package_id":"registry#serde@1.0.0"}
{"reason":"build-script-executed","package_id":"registry#ring@0.17.0","out_dir":"/t/ring/out"}
{"reason":"build-script-executed","package_id":"registry#llama-cpp-sys-2@0.1.161","out_dir":"/t/llama/out"}"#;
        assert_eq!(llama_build_folder(messages).as_deref(), Some("/t/llama/out"));
    }
}
