//! Builds the programs, opens the window, and takes screenshots.

use crate::process::{FEATURES, cargo, command, root, run as execute, target, with_clippy};
use crate::{models, system, ui, vulkan};
use anyhow::{Result, bail};
use std::env;
use std::process::Command;

/// Sets up, builds and opens the window.
///
/// # Errors
/// A step fails, or there is no display.
pub(crate) fn window(release: bool) -> Result<()> {
    prepare(&[system::Need::Build])?;
    programs(release)?;
    if !has_display() {
        bail!(
            "everything is built, but there is no display to open the window on. Start this from a desktop, or under\n\
             `xvfb-run -a`; `cargo run -p nook` is the same engine without a window"
        );
    }
    let program = target()?
        .join(if release { "release" } else { "debug" })
        .join("inglenook");
    let mut window = command(program);
    window.env(models::FOLDER_VARIABLE, models::folder()?);
    if let Some(worker) = vulkan::worker(release)? {
        window.env("INGLENOOK_WORKER", worker);
    }
    execute(&mut window)
}

/// Takes screenshots of every screen of the UI with its scripted engine.
///
/// # Errors
/// A step fails.
pub(crate) fn screenshots() -> Result<()> {
    system::ensure(&[system::Need::Build, system::Need::Test])?;
    ui::install()?;
    execute(with_test_environment(&mut ui::npm("screenshots"))?)?;
    eprintln!(
        "The screenshots are in {}",
        root().join("ui/test-results/screenshots").display()
    );
    Ok(())
}

/// Prepares every build: packages, models, and the built UI that Tauri embeds.
///
/// # Errors
/// A requirement is missing and cannot be installed.
pub(crate) fn prepare(needs: &[system::Need]) -> Result<()> {
    system::ensure(needs)?;
    models::ensure_defaults()?;
    ui::install()?;
    ui::build()
}

/// Builds the app, the command line and the worker in `<target>/<profile>`.
///
/// # Errors
/// The build fails.
pub(crate) fn programs(release: bool) -> Result<()> {
    let mut build = cargo("build");
    build.arg("--locked").args(FEATURES);
    if release {
        build.args(["--release", "-p", "worker", "-p", "nook", "-p", "inglenook"]);
    } else {
        // Including a test gives the crates the same features as in `cargo xtask test`, which
        // otherwise would build Tauri a second time. This is the smallest test.
        build.args(["--workspace", "--bins", "--test", "architecture"]);
    }
    if !release {
        with_clippy(&mut build);
    }
    execute(&mut build)
}

/// Sets the variables with the places of the default models, our programs and a browser.
///
/// # Errors
/// A place cannot be determined.
pub(crate) fn with_test_environment(command: &mut Command) -> Result<&mut Command> {
    if let Some(browser) = system::browser() {
        command.env("CHROMIUM", browser);
    }
    Ok(command
        .env(models::FOLDER_VARIABLE, models::folder()?)
        .env("INGLENOOK_BIN_DIR", target()?.join("debug")))
}

fn has_display() -> bool {
    let set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
    !cfg!(target_os = "linux") || set("DISPLAY") || set("WAYLAND_DISPLAY")
}
