//! Builds the installers: app, command line, worker and default models in one package.

use crate::process::{FEATURES, cargo, command, output, root, run, target};
use crate::run::{prepare, programs};
use crate::system::Need;
use crate::vulkan;
use anyhow::{Context, Result};
use clap::Args;
use serde_json::{Map, Value, json};
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub(crate) struct Options {
    /// Bundles the debug build as a .deb: fast to build, slow to run, with a worker for CPUs with
    /// AVX2 only.
    #[arg(long)]
    debug: bool,
    /// Also builds an AppImage; the bundler downloads its parts from GitHub.
    #[arg(long)]
    appimage: bool,
}

impl Options {
    /// Package formats as the bundler names them. The debug build skips .rpm, which no test opens
    /// and which takes 250 MB.
    fn packages(&self) -> String {
        let kinds = ["deb"]
            .into_iter()
            .chain((!self.debug).then_some("rpm"))
            .chain(self.appimage.then_some("appimage"));
        kinds.collect::<Vec<_>>().join(",")
    }
}

/// Folder of the worker, the models and the web UI; the programs look in `../lib/inglenook`
/// relative to their own folder.
const LIBRARY: &str = "/usr/lib/inglenook";

/// Licences of this project, of the models, of the encodings and of the fonts.
const LICENCES: [&str; 6] = [
    "LICENSE-MIT",
    "LICENSE-APACHE",
    "models/LICENCES.md",
    "src-tauri/crates/tokenizer/data/LICENSE-tiktoken",
    "ui/public/licences/OFL-Literata.txt",
    "ui/public/licences/OFL-Atkinson-Hyperlegible.txt",
];

/// Builds the package of the debug build, for its test.
///
/// # Errors
/// A step fails.
pub(crate) fn debug() -> Result<()> {
    bundle(&Options {
        debug: true,
        appimage: false,
    })
}

/// Builds everything and then the packages, in `target/package/<profile>/bundle`.
///
/// # Errors
/// A step fails.
pub(crate) fn bundle(options: &Options) -> Result<()> {
    prepare(&[Need::Build])?;
    let profile = if options.debug { "debug" } else { "release" };
    let built = target()?.join(profile);
    let libraries = if options.debug {
        programs(false)?;
        Vec::new()
    } else {
        run(cargo("build")
            .args([
                "--locked",
                "--release",
                "-p",
                "nook",
                "-p",
                "inglenook",
                "--no-default-features",
            ])
            .args(FEATURES))?;
        portable_worker()?
    };
    let configuration = configuration(&files(&built, &libraries)?);

    // The bundler modifies the program that it packs, so it gets a copy in a separate target
    // folder.
    let package = target()?.join("package");
    // Old packages must not hide a failure of this run.
    let old = package.join(profile).join("bundle");
    if old.exists() {
        fs::remove_dir_all(&old).with_context(|| format!("cannot remove {}", old.display()))?;
    }
    fs::create_dir_all(package.join(profile))?;
    fs::copy(
        built.join("inglenook"),
        package.join(profile).join("inglenook"),
    )
    .context("cannot copy the app")?;

    // npm's script has another name on Windows, and `npx` might download.
    let mut tauri = command("node");
    tauri.arg(root().join("ui/node_modules/@tauri-apps/cli/tauri.js"));
    tauri.args(["bundle", "--ci", "--bundles", &options.packages()]);
    tauri.arg("--config").arg(configuration.to_string());
    if options.debug {
        tauri.arg("--debug");
    }
    run(tauri.env("CARGO_TARGET_DIR", &package))?;
    eprintln!(
        "The packages are in {}",
        package.join(profile).join("bundle").display()
    );
    Ok(())
}

/// Builds the worker that runs on any CPU and selects its kernel libraries at startup. Returns
/// these libraries.
fn portable_worker() -> Result<Vec<PathBuf>> {
    let mut build = cargo("rustc");
    let features = if vulkan::missing().is_none() {
        "portable,vulkan"
    } else {
        "portable"
    };
    build.args([
        "--locked",
        "--release",
        "-p",
        "worker",
        "--bin",
        "inglenook-worker",
        "--features",
        features,
    ]);
    build.args(["--message-format", "json-render-diagnostics"]);
    // With the old tag, the search path also applies to the libraries' own dependencies.
    build.args([
        "--",
        "-C",
        "link-arg=-Wl,--disable-new-dtags,-rpath,$ORIGIN",
    ]);
    eprintln!("Building the portable worker");
    let build = vulkan::with_headers(&mut build)?;
    let messages = output(build.stderr(std::process::Stdio::inherit()))
        .context("cannot build the portable worker")?;
    let built = PathBuf::from(
        llama_build_folder(&messages)
            .context("cargo did not report the build folder of llama.cpp")?,
    );
    let mut libraries = files_of(&built.join("lib"), is_loaded_by_name)?;
    libraries.extend(files_of(&built.join("backends"), |name| {
        name.ends_with(".so")
    })?);
    Ok(libraries)
}

/// Finds the build folder of llama-cpp-sys-2 in cargo's JSON messages.
fn llama_build_folder(messages: &str) -> Option<String> {
    let messages = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut of_llama = messages.filter(|message| {
        message["reason"] == "build-script-executed"
            && message["package_id"]
                .as_str()
                .is_some_and(|id| id.contains("llama-cpp-sys-2"))
    });
    Some(of_llama.next()?["out_dir"].as_str()?.to_owned())
}

/// Programs load the second of the names `libllama.so`, `libllama.so.0` and `libllama.so.0.0.7`.
fn is_loaded_by_name(file: &str) -> bool {
    let version = file.split_once(".so.").map(|(_, version)| version);
    version.is_some_and(|version| version.bytes().all(|byte| byte.is_ascii_digit()))
}

fn files_of(folder: &Path, wanted: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut paths: Vec<_> = paths.filter(|path| wanted(&file_name(path))).collect();
    paths.sort();
    Ok(paths)
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

/// Overrides for src-tauri/tauri.conf.json with the places of the built programs and the models.
fn configuration(files: &Map<String, Value>) -> Value {
    json!({ "bundle": { "active": true, "linux": {
        "deb": { "files": files },
        "rpm": { "files": files },
        "appimage": { "files": files },
    }}})
}

/// Folder of a library of the worker. The worker loads graphics backends only if it may use
/// graphics devices.
fn library_folder(path: &Path) -> String {
    let graphics = ["vulkan", "cuda", "hip", "metal", "sycl"];
    let is_graphics = graphics
        .iter()
        .any(|backend| file_name(path).starts_with(&format!("libggml-{backend}")));
    if is_graphics {
        format!("{LIBRARY}/graphics")
    } else {
        LIBRARY.to_owned()
    }
}

/// Maps the path on the user's machine to the file here, for everything except the app itself.
fn files(built: &Path, libraries: &[PathBuf]) -> Result<Map<String, Value>> {
    let into =
        |folder: &str, path: PathBuf| (format!("{folder}/{}", file_name(&path)), json!(path));
    let models = format!("{LIBRARY}/models");
    let licences = LICENCES.map(|name| root().join(name));
    let mut files = Map::new();
    files.extend([
        into("/usr/bin", built.join("nook")),
        into(LIBRARY, built.join("inglenook-worker")),
    ]);
    files.insert(format!("{LIBRARY}/ui"), json!(root().join("ui/dist")));
    files.extend(
        libraries
            .iter()
            .map(|path| into(&library_folder(path), path.clone())),
    );
    files.extend(
        crate::models::ensure_defaults()?
            .into_iter()
            .map(|path| into(&models, path)),
    );
    files.extend(licences.map(|path| into("/usr/share/doc/inglenook", path)));
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ships_one_name_per_library() {
        let names = [
            "libllama.so",
            "libllama.so.0",
            "libllama.so.0.0.7",
            "libllama.a",
        ];
        assert_eq!(names.map(is_loaded_by_name), [false, true, false, false]);
    }

    #[test]
    fn graphics_backends_have_a_folder_of_their_own() {
        let folders = [
            "libggml-cpu-haswell.so",
            "libggml-vulkan.so",
            "libllama.so.0",
        ]
        .map(|name| library_folder(&Path::new("/built").join(name)));
        assert_eq!(folders, [LIBRARY, "/usr/lib/inglenook/graphics", LIBRARY]);
    }

    #[test]
    fn finds_the_build_folder_of_llama() {
        let messages = r#"{"reason":"compiler-artifact","package_id":"registry#serde@1.0.0"}
{"reason":"build-script-executed","package_id":"registry#ring@0.17.0","out_dir":"/t/ring/out"}
{"reason":"build-script-executed","package_id":"registry#llama-cpp-sys-2@0.1.161","out_dir":"/t/llama/out"}"#;
        assert_eq!(
            llama_build_folder(messages).as_deref(),
            Some("/t/llama/out")
        );
    }
}
