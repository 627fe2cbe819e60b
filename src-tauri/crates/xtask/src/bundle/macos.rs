//! The disk image for macOS, with programs for both processors. The project has no Mac: no part of
//! this file but the list of files has been run.

use super::contents::{Built, Contents};
use super::facts::Release;
use super::tree::{self, PackagedFile};
use super::{empty_folder, sizes};
use crate::process::{FEATURES, cargo, command, root, run, target};
use crate::run::prepare;
use crate::system::Need;
use anyhow::{Context, Result};
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

const TARGETS: [&str; 2] = ["aarch64-apple-darwin", "x86_64-apple-darwin"];
const PROGRAMS: [&str; 3] = ["inglenook", "nook", "inglenook-worker"];

/// Name of the certificate in the keychain. Without it, nothing is signed.
const IDENTITY: &str = "INGLENOOK_APPLE_IDENTITY";
/// Name under which `notarytool` stored its credentials. Without it, nothing is notarised.
const PROFILE: &str = "INGLENOOK_APPLE_PROFILE";

/// Builds everything and then the disk image, in `target/package/macos`.
///
/// # Errors
/// A step fails, or this is no Mac.
pub(super) fn bundle() -> Result<()> {
    prepare(&[Need::Build])?;
    let release = Release::now(false);
    let folder = empty_folder("macos")?;
    let built = Built {
        target: TARGETS[0].to_owned(),
        folder: build(&folder.join("universal"))?,
        libraries: Vec::new(),
    };
    let contents = Contents::gather(&release, &built, &folder)?;
    let app = folder.join("image/Inglenook.app");
    stage(&release, &contents, &app)?;
    sign(&app)?;
    let image = folder.join(format!("inglenook-{}-macos-universal.dmg", release.version));
    run(command("hdiutil")
        .args(["create", "-volname", "Inglenook", "-format", "ULFO"])
        .arg("-srcfolder")
        .args([&folder.join("image"), &image]))?;
    notarise(&image)?;
    sizes::print(&files(&contents), &folder)
}

/// Builds the programs for each processor, and joins them in `folder`.
fn build(folder: &Path) -> Result<PathBuf> {
    fs::create_dir_all(folder)?;
    for triple in TARGETS {
        // The worker's libraries could not be joined, so it is one program.
        run(cargo("build")
            .args(["--locked", "--release", "--target", triple])
            .args(["-p", "nook", "-p", "inglenook", "-p", "worker"])
            .args(FEATURES))?;
    }
    let built = target()?;
    for name in PROGRAMS {
        let parts = TARGETS.map(|triple| built.join(triple).join("release").join(name));
        run(command("lipo")
            .arg("-create")
            .arg("-output")
            .arg(folder.join(name))
            .args(parts))?;
    }
    Ok(folder.to_owned())
}

/// Places the files where macOS expects programs, and where the programs look for their files.
fn files(contents: &Contents) -> Vec<PackagedFile> {
    let mut files: Vec<PackagedFile> = contents.version();
    files.extend(contents.models("lib/inglenook/models"));
    for file in &mut files {
        let name = file.to.file_name().map(OsString::from);
        file.to = match name.filter(|_| file.is_program) {
            Some(name) => Path::new("Contents/MacOS").join(name),
            None => Path::new("Contents").join(&file.to),
        };
    }
    files.push(PackagedFile::into_folder(
        "Contents/Resources",
        root().join("src-tauri/icons/icon.icns"),
    ));
    files
}

fn stage(release: &Release, contents: &Contents, app: &Path) -> Result<()> {
    tree::stage(&files(contents), app)?;
    let information = fs::read_to_string(root().join("src-tauri/macos/Info.plist"))
        .context("cannot read src-tauri/macos/Info.plist")?;
    let information = information.replace("VERSION", &release.version);
    Ok(fs::write(app.join("Contents/Info.plist"), information)?)
}

/// Signs the programs inside first, as Apple's tool demands.
fn sign(app: &Path) -> Result<()> {
    let Some(identity) = env::var_os(IDENTITY) else {
        eprintln!("{IDENTITY} is not set, so the app is not signed");
        return Ok(());
    };
    let programs = PROGRAMS.map(|name| app.join("Contents/MacOS").join(name));
    for path in programs.iter().map(PathBuf::as_path).chain([app]) {
        run(command("codesign")
            .args(["--force", "--timestamp", "--options", "runtime", "--sign"])
            .arg(&identity)
            .arg(path))?;
    }
    Ok(())
}

fn notarise(image: &Path) -> Result<()> {
    let Some(profile) = env::var_os(PROFILE) else {
        eprintln!("{PROFILE} is not set, so the image is not notarised");
        return Ok(());
    };
    run(command("xcrun")
        .args(["notarytool", "submit", "--wait", "--keychain-profile"])
        .arg(profile)
        .arg(image))?;
    run(command("xcrun").args(["stapler", "staple"]).arg(image))
}
