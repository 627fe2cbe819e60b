//! The files of the packages: which file of this machine goes where.

use super::facts::Release;
use super::tree::{PackagedFile, add_folder};
use super::worker::is_graphics;
use super::{licences, sbom};
use crate::process::{command, installed, output, root, run};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// Folder of internal files, relative to the prefix.
pub(super) const LIBRARY: &str = "lib/inglenook";

/// Licences of this project, of the models, of the encodings and of the fonts.
const LICENCES: [&str; 6] = [
    "LICENSE-MIT",
    "LICENSE-APACHE",
    "models/LICENCES.md",
    "src-tauri/crates/tokenizer/data/LICENSE-tiktoken",
    "ui/public/licences/OFL-Literata.txt",
    "ui/public/licences/OFL-Atkinson-Hyperlegible.txt",
];

const DESKTOP_FILE: &str = "src-tauri/linux/org.inglenook.app.desktop";
const METAINFO: &str = "src-tauri/linux/org.inglenook.app.metainfo.xml";

/// The programs of one system, ready for packages.
pub(super) struct Built {
    /// Target triple, such as `x86_64-unknown-linux-gnu`.
    pub(super) target: String,
    /// Folder of the programs.
    pub(super) folder: PathBuf,
    /// Libraries that the worker needs beside it.
    pub(super) libraries: Vec<PathBuf>,
}

impl Built {
    /// Returns the file name of a program, with the system's ending.
    pub(super) fn file(&self, name: &str) -> String {
        let suffix = if self.target.contains("windows") {
            ".exe"
        } else {
            ""
        };
        format!("{name}{suffix}")
    }

    fn program(&self, to: &str, name: &str) -> PackagedFile {
        let to = Path::new(to).join(self.file(name));
        PackagedFile::program(to, self.folder.join(self.file(name)))
    }
}

/// Everything that packages contain.
pub(super) struct Contents {
    /// Programs and internal files, in every package.
    programs: Vec<PackagedFile>,
    /// Files for the desktop, the shell and `man`, in packages of a package manager.
    integration: Vec<PackagedFile>,
    models: Vec<PathBuf>,
    launchers: Vec<PackagedFile>,
    /// Folder for files that are made for the packages.
    made: PathBuf,
}

impl Contents {
    /// Gathers the built programs and makes lists of licences in `folder`.
    ///
    /// # Errors
    /// A file is missing, or a step fails.
    pub(super) fn gather(release: &Release, built: &Built, folder: &Path) -> Result<Self> {
        let made = folder.join("made");
        fs::create_dir_all(&made)?;
        let mut programs = vec![
            built.program("bin", "inglenook"),
            built.program("bin", "nook"),
            built.program(LIBRARY, "inglenook-worker"),
        ];
        programs.extend(
            built
                .libraries
                .iter()
                .map(|path| PackagedFile::into_folder(library_folder(path), path)),
        );
        let ui = Path::new(LIBRARY).join("ui");
        add_folder(&mut programs, &ui, &root().join("ui/dist"))?;
        programs.extend(make_lists(release, &built.target, &made)?);
        Ok(Self {
            programs,
            integration: Vec::new(),
            models: crate::models::ensure_defaults()?,
            launchers: launchers(built),
            made,
        })
    }

    /// Adds what desktops, shells and `man` of Linux read, partly written by the built `nook`.
    ///
    /// # Errors
    /// A file is missing, or `nook` fails.
    pub(super) fn with_integration(mut self, built: &Built) -> Result<Self> {
        self.integration = desktop_files()?;
        self.integration
            .extend(shell_files(&built.folder, &self.made)?);
        self.integration.extend(
            LICENCES
                .map(|name| PackagedFile::into_folder("share/doc/inglenook", root().join(name))),
        );
        Ok(self)
    }

    /// Returns the files of a package of a package manager, which the programs recognise by the
    /// file `package`.
    ///
    /// # Errors
    /// The file `package` cannot be written.
    pub(super) fn system_package(&self, kind: &str, models: bool) -> Result<Vec<PackagedFile>> {
        let marker = self.made.join(kind);
        fs::write(&marker, kind)?;
        let mut files = self.programs.clone();
        files.extend(self.integration.iter().cloned());
        files.push(PackagedFile::new(format!("{LIBRARY}/package"), marker));
        if models {
            files.extend(self.models(&format!("{LIBRARY}/models")));
        }
        Ok(files)
    }

    /// Returns the files of one version of an installation that updates itself.
    pub(super) fn version(&self) -> Vec<PackagedFile> {
        self.programs.clone()
    }

    /// Returns the programs in the root folder of an installation that updates itself.
    pub(super) fn launchers(&self) -> Vec<PackagedFile> {
        self.launchers.clone()
    }

    pub(super) fn models(&self, folder: &str) -> Vec<PackagedFile> {
        let models = self.models.iter();
        models
            .map(|model| PackagedFile::into_folder(folder, model))
            .collect()
    }

    /// Checks the files that desktops and software centres read.
    ///
    /// # Errors
    /// A file is invalid.
    pub(super) fn check_metadata(&self) -> Result<()> {
        if installed("desktop-file-validate") {
            run(command("desktop-file-validate").arg(DESKTOP_FILE))?;
        }
        if installed("appstreamcli") {
            run(command("appstreamcli").args(["validate", "--no-net", METAINFO]))?;
        }
        Ok(())
    }
}

fn launchers(built: &Built) -> Vec<PackagedFile> {
    ["inglenook", "nook"]
        .map(|name| {
            let launcher = built.file(&format!("{name}-launcher"));
            PackagedFile::program(built.file(name), built.folder.join(launcher))
        })
        .into()
}

/// The worker loads graphics backends only if it may use graphics devices.
fn library_folder(library: &Path) -> &'static str {
    if is_graphics(library) {
        "lib/inglenook/graphics"
    } else {
        LIBRARY
    }
}

fn make_lists(release: &Release, target: &str, made: &Path) -> Result<[PackagedFile; 2]> {
    let third_party = made.join("third-party-licences.txt");
    let sbom = made.join("sbom.cdx.json");
    let components = licences::components::gather(target)?;
    licences::write_third_party(&components, &third_party)?;
    sbom::write_sbom(&components, &sbom, &release.version)?;
    Ok([third_party, sbom].map(|path| PackagedFile::into_folder(LIBRARY, path)))
}

fn desktop_files() -> Result<Vec<PackagedFile>> {
    let mut files = vec![
        PackagedFile::into_folder("share/applications", root().join(DESKTOP_FILE)),
        PackagedFile::into_folder("share/metainfo", root().join(METAINFO)),
        PackagedFile::new(
            "share/mime/packages/org.inglenook.app.xml",
            root().join("src-tauri/linux/inglenook-mime.xml"),
        ),
        PackagedFile::new(
            "share/icons/hicolor/scalable/apps/org.inglenook.app.svg",
            root().join("src-tauri/icons/icon.svg"),
        ),
    ];
    let mut icons = Vec::new();
    let folder = root().join("src-tauri/icons/hicolor");
    add_folder(&mut icons, Path::new(""), &folder)?;
    files.extend(icons.into_iter().filter_map(|icon| {
        let size = icon.to.parent()?.to_owned();
        let to = Path::new("share/icons/hicolor").join(size).join("apps");
        Some(PackagedFile::new(to.join(icon.to.file_name()?), icon.from))
    }));
    Ok(files)
}

/// Name of the shell in `nook completions`, folder and file of its completions.
const COMPLETIONS: [[&str; 3]; 3] = [
    ["bash", "share/bash-completion/completions", "nook"],
    ["zsh", "share/zsh/site-functions", "_nook"],
    ["fish", "share/fish/vendor_completions.d", "nook.fish"],
];

/// Lets the built `nook` write its manual pages and completions.
fn shell_files(built: &Path, made: &Path) -> Result<Vec<PackagedFile>> {
    let nook = built.join("nook");
    let pages = made.join("man");
    fs::create_dir_all(&pages)?;
    run(command(&nook).arg("man").arg("--into").arg(&pages))?;
    run(command("gzip").args(["-9", "-n", "-r"]).arg(&pages))?;
    let mut files = Vec::new();
    add_folder(&mut files, Path::new("share/man/man1"), &pages)?;
    for [shell, folder, name] in COMPLETIONS {
        let text = output(command(&nook).args(["completions", shell]))
            .with_context(|| format!("nook printed no completions for {shell}"))?;
        let path = made.join(shell).with_extension("completion");
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        files.push(PackagedFile::new(Path::new(folder).join(name), path));
    }
    Ok(files)
}
