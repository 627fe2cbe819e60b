//! Builds the worker with the Vulkan backend. It is built in a target folder of its own, because a
//! build with other features would replace the usual worker.

use crate::process::{cargo, find, installed, root, run, target};
use anyhow::{Context, Result};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How to get what the backend needs.
pub(crate) const HOW: &str = "On Debian and Ubuntu: apt-get install glslc libvulkan-dev spirv-headers. Elsewhere install the Vulkan \
                   SDK from https://vulkan.lunarg.com and set VULKAN_SDK.";

/// Returns the missing part of the Vulkan SDK, or `None` if a build is possible.
pub(crate) fn missing() -> Option<&'static str> {
    if !installed("glslc") {
        return Some("the shader compiler glslc");
    }
    let has = |file: &str| {
        include_folders()
            .iter()
            .any(|folder| folder.join(file).is_file())
    };
    if !has("vulkan/vulkan.hpp") {
        return Some("the headers of Vulkan");
    }
    (!has("spirv/unified1/spirv.hpp")).then_some("the headers of SPIR-V")
}

fn include_folders() -> Vec<PathBuf> {
    let sdk = env::var_os("VULKAN_SDK").map(|sdk| Path::new(&sdk).join("include"));
    sdk.into_iter()
        .chain(["/usr/include", "/usr/local/include"].map(PathBuf::from))
        .collect()
}

/// Builds the worker with Vulkan, and returns its path. Without the SDK it says how to get it, and
/// returns `None`.
///
/// # Errors
/// The build fails.
pub(crate) fn worker(release: bool) -> Result<Option<PathBuf>> {
    if let Some(missing) = missing() {
        eprintln!("The worker uses the processor only, because {missing} is missing. {HOW}");
        return Ok(None);
    }
    let folder = target()?.join("vulkan");
    eprintln!("Building the worker with Vulkan; the first time takes a few minutes");
    let mut build = cargo("build");
    build.args([
        "--locked",
        "-p",
        "worker",
        "--bin",
        "inglenook-worker",
        "--features",
        "vulkan",
    ]);
    if release {
        build.arg("--release");
    }
    run(with_headers(&mut build)?.env("CARGO_TARGET_DIR", &folder))?;
    let profile = if release { "release" } else { "debug" };
    Ok(Some(folder.join(profile).join(format!(
        "inglenook-worker{}",
        env::consts::EXE_SUFFIX
    ))))
}

/// Puts our supplement to old headers before the system's.
pub(crate) fn with_headers(build: &mut Command) -> Result<&mut Command> {
    let mut folders = vec![root().join("src-tauri/crates/xtask/vulkan")];
    folders.extend(
        env::var_os("CPLUS_INCLUDE_PATH")
            .iter()
            .flat_map(env::split_paths),
    );
    Ok(build.env(
        "CPLUS_INCLUDE_PATH",
        env::join_paths(folders).context("a folder's name contains a colon")?,
    ))
}

/// The call that tests a reply through Mesa's software device, or through the first device of this
/// machine.
pub(crate) fn test(worker: &Path) -> Command {
    let mut call = cargo("test");
    call.args([
        "--locked",
        "-p",
        "local",
        "--test",
        "it",
        "vulkan",
        "--",
        "--ignored",
        "--nocapture",
    ]);
    call.env("INGLENOOK_VULKAN_WORKER", worker);
    // ggml skips software devices unless they are named.
    if env::var_os("GGML_VK_VISIBLE_DEVICES").is_none() && find("nvidia-smi").is_none() {
        call.env("GGML_VK_VISIBLE_DEVICES", "0");
    }
    call
}
