//! Builds the worker of the packages: it runs on any CPU and selects its kernels at startup.

use crate::process::{cargo, file_name, output};
use crate::vulkan;
use crate::windows::toolchain::Toolchain;
use anyhow::{Context, Result};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The kernels with tile instructions, which Wine does not permit, so that they cannot be tested.
/// Processors that have these instructions use the next fastest kernels.
const WITH_TILES: &str = "ggml-cpu-sapphirerapids.dll";

/// Builds the worker for this machine's system, and returns the libraries that it needs beside it.
///
/// # Errors
/// The build fails.
pub(super) fn build_for_linux() -> Result<Vec<PathBuf>> {
    let mut build = cargo("rustc");
    build.arg("--locked");
    let build = vulkan::with_headers(arguments(&mut build, features()))?;
    // With the old tag, the search path also applies to the libraries' own dependencies.
    build.args([
        "--",
        "-C",
        "link-arg=-Wl,--disable-new-dtags,-rpath,$ORIGIN",
    ]);
    let built = llama_folder(build)?;
    // CMake's name for the folder depends on the system.
    let folder = ["lib64", "lib"]
        .map(|name| built.join(name))
        .into_iter()
        .find(|folder| folder.is_dir())
        .context("llama.cpp was built without libraries")?;
    let mut libraries = files_of(&folder, is_loaded_by_name)?;
    libraries.extend(files_of(&built.join("backends"), |name| {
        name.ends_with(".so")
    })?);
    Ok(libraries)
}

/// Builds the worker for Windows, and returns the libraries that it needs, in its folder.
///
/// # Errors
/// The build fails.
pub(super) fn build_for_windows(toolchain: &Toolchain) -> Result<Vec<PathBuf>> {
    let built = llama_folder(arguments(&mut toolchain.cargo("rustc")?, "portable"))?;
    let is_library = |name: &str| name.ends_with(".dll");
    let mut libraries = files_of(&built.join("bin"), is_library)?;
    libraries.extend(files_of(&built.join("backends"), |name| {
        is_library(name) && name != WITH_TILES
    })?);
    libraries.extend(toolchain.runtime_libraries()?);
    let programs = toolchain.programs()?;
    // The worker would load those of an earlier build.
    let earlier = programs.join(WITH_TILES);
    if earlier.is_file() {
        fs::remove_file(earlier)?;
    }
    libraries
        .iter()
        .map(|library| toolchain.strip(library, &programs))
        .collect()
}

fn arguments<'c>(build: &'c mut Command, features: &str) -> &'c mut Command {
    build
        .args(["--release", "-p", "worker", "--bin", "inglenook-worker"])
        .args(["--features", features])
        .args(["--message-format", "json-render-diagnostics"])
}

/// Runs the build, and returns the folder into which it built llama.cpp.
fn llama_folder(build: &mut Command) -> Result<PathBuf> {
    let messages =
        output(build.stderr(Stdio::inherit())).context("cannot build the portable worker")?;
    let built = llama_build_folder(&messages)
        .context("cargo did not report the build folder of llama.cpp")?;
    Ok(built.into())
}

/// Chooses the backends, and says which.
fn features() -> &'static str {
    match vulkan::missing() {
        None => {
            eprintln!("Building the worker for any CPU and for graphics cards by Vulkan");
            "portable,vulkan"
        }
        Some(missing) => {
            eprintln!(
                "Building the worker for any CPU, without graphics cards, because {missing} is missing. {}",
                vulkan::HOW
            );
            "portable"
        }
    }
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

/// Returns whether a library is a graphics backend, which the worker loads only if it may use
/// graphics devices.
pub(super) fn is_graphics(library: &Path) -> bool {
    let name = file_name(library);
    ["vulkan", "cuda", "hip", "metal", "sycl"]
        .iter()
        .any(|backend| {
            let name = name.strip_prefix("lib").unwrap_or(&name);
            name.starts_with(&format!("ggml-{backend}"))
        })
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
    fn recognises_graphics_backends() {
        let graphics = [
            "libggml-cpu-haswell.so",
            "libggml-vulkan.so",
            "ggml-vulkan.dll",
            "libllama.so.0",
        ]
        .map(|name| is_graphics(&Path::new("/built").join(name)));
        assert_eq!(graphics, [false, true, true, false]);
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
