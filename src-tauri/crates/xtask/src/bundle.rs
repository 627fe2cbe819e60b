//! The installers: app, command line, worker and default models in one package.

use crate::process::{command, root, run, target};
use crate::run::{prepare, profile, programs};
use crate::system::Need;
use anyhow::{Context, Result};
use clap::Args;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

#[derive(Args)]
pub(crate) struct Options {
    /// Bundles the debug build: quick to make, slow to use.
    #[arg(long)]
    debug: bool,
    /// Makes an AppImage as well; the bundler downloads its parts from GitHub.
    #[arg(long)]
    appimage: bool,
}

/// What the worker and the window link to beyond what the bundler finds out itself.
const DEB_DEPENDS: [&str; 3] = ["libgomp1", "libstdc++6", "libdbus-1-3"];
const RPM_DEPENDS: [&str; 3] = ["libgomp", "libstdc++", "dbus-libs"];

/// Builds everything, then the packages, into `target/<profile>/bundle`.
///
/// # Errors
/// When a step fails.
pub(crate) fn bundle(options: &Options) -> Result<()> {
    prepare(&[Need::Build])?;
    programs(!options.debug)?;
    let built = target()?.join(profile(!options.debug));
    let models = crate::models::ensure_defaults()?;

    // The binary itself and not npm's script: Windows has another name for the latter, and `npx` might download.
    let mut tauri = command("node");
    tauri.arg(root().join("ui/node_modules/@tauri-apps/cli/tauri.js"));
    tauri.args(["bundle", "--ci", "--bundles", if options.appimage { "deb,rpm,appimage" } else { "deb,rpm" }]);
    tauri.arg("--config").arg(configuration(&built, &models)?.to_string());
    if options.debug {
        tauri.arg("--debug");
    }
    run(&mut tauri)?;
    eprintln!("The packages are in {}", built.join("bundle").display());
    Ok(())
}

/// What is laid over src-tauri/tauri.conf.json: only here is it known where the built programs and the models are.
fn configuration(built: &Path, models: &[PathBuf]) -> Result<Value> {
    let files = files(built, models)?;
    Ok(json!({ "bundle": { "active": true, "linux": {
        "deb": { "depends": DEB_DEPENDS, "files": files },
        "rpm": { "depends": RPM_DEPENDS, "files": files },
        "appimage": { "files": files },
    }}}))
}

/// Path on the user's machine -> file here. The app looks for the worker and the models in `../lib/inglenook` beside
/// the folder it was started from.
fn files(built: &Path, models: &[PathBuf]) -> Result<Map<String, Value>> {
    let mut files = vec![
        ("/usr/bin/nook".to_owned(), built.join("nook")),
        ("/usr/lib/inglenook/inglenook-worker".to_owned(), built.join("inglenook-worker")),
    ];
    for name in ["LICENSE-MIT", "LICENSE-APACHE", "models/LICENCES.md"] {
        let path = root().join(name);
        let file = path.file_name().context("a licence without a name")?.to_string_lossy();
        files.push((format!("/usr/share/doc/inglenook/{file}"), path.clone()));
    }
    for path in models {
        let file = path.file_name().context("a model without a name")?.to_string_lossy();
        files.push((format!("/usr/lib/inglenook/models/{file}"), path.clone()));
    }
    Ok(files.into_iter().map(|(there, here)| (there, json!(here))).collect())
}
