//! An installation in a temporary folder, and archives for it.

use std::fs;
use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};

use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use sha2::{Digest as _, Sha256};
use tar::{EntryType, Header};
use tempfile::TempDir;
use updates::{UpdateArchive, Version, VersionFolders};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// The program, relative to the folder of its version.
pub(crate) const PROGRAM: &str = "bin/inglenook";

/// Version 0.1.0 is installed and runs.
pub(crate) struct World {
    root: TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let world = Self {
            root: tempfile::tempdir().unwrap(),
        };
        world.add_version("0.1.0");
        world.point("current", "0.1.0");
        world
    }

    pub(crate) fn root(&self) -> &Path {
        self.root.path()
    }

    pub(crate) fn version(&self, name: &str) -> PathBuf {
        self.root().join("versions").join(name)
    }

    /// Adds a complete version without an archive.
    pub(crate) fn add_version(&self, name: &str) {
        let folder = self.version(name);
        fs::create_dir_all(folder.join("bin")).unwrap();
        fs::write(folder.join(PROGRAM), script(name)).unwrap();
        fs::write(folder.join("complete"), "").unwrap();
    }

    pub(crate) fn point(&self, pointer: &str, version: &str) {
        fs::write(self.root().join(pointer), format!("{version}\n")).unwrap();
    }

    /// The folders as the program of version 0.1.0 sees them.
    pub(crate) fn folders(&self) -> VersionFolders {
        VersionFolders::of(&self.version("0.1.0").join(PROGRAM)).unwrap()
    }

    /// Stores a downloaded archive of `version`.
    pub(crate) fn put(&self, version: &Version, bytes: &[u8]) -> UpdateArchive {
        fs::write(self.folders().archive(version), bytes).unwrap();
        UpdateArchive {
            url: "https://updates.example/archive".to_owned(),
            size: bytes.len() as u64,
            sha256: hex::encode(Sha256::digest(bytes)),
        }
    }

    /// Starts the version that `current` names, and returns what it says.
    #[track_caller]
    pub(crate) fn starts(&self) -> String {
        let current = fs::read_to_string(self.root().join("current")).unwrap();
        let folder = self.version(current.trim());
        assert!(folder.join("complete").is_file(), "{current} is complete");
        if cfg!(unix) {
            let program = std::process::Command::new("sh")
                .arg(folder.join(PROGRAM))
                .output()
                .unwrap();
            assert!(program.status.success(), "{program:?}");
        }
        let said = fs::read_to_string(folder.join(PROGRAM)).unwrap();
        assert_eq!(said, script(current.trim()), "the program is whole");
        current.trim().to_owned()
    }

    /// Names in the folder of versions.
    pub(crate) fn versions(&self) -> Vec<String> {
        let entries = fs::read_dir(self.root().join("versions")).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }
}

/// A program that says its version.
pub(crate) fn script(version: &str) -> String {
    format!("#!/bin/sh\necho {version}\n")
}

/// An entry of an archive, with any name and type.
pub(crate) struct Member<'a> {
    pub(crate) name: &'a str,
    pub(crate) kind: EntryType,
    pub(crate) content: Vec<u8>,
}

pub(crate) fn file(name: &str, content: impl Into<Vec<u8>>) -> Member<'_> {
    Member {
        name,
        kind: EntryType::file(),
        content: content.into(),
    }
}

/// The tree of a version.
pub(crate) fn tree(version: &str) -> Vec<Member<'_>> {
    vec![
        Member {
            name: "./",
            kind: EntryType::dir(),
            content: Vec::new(),
        },
        Member {
            name: "./bin/",
            kind: EntryType::dir(),
            content: Vec::new(),
        },
        file("./bin/inglenook", script(version)),
        file("lib/inglenook/ui/index.html", "<html></html>"),
    ]
}

pub(crate) fn tar_zst(members: &[Member<'_>]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for member in members {
        let mut header = Header::new_gnu();
        // `set_path` would refuse hostile names.
        let name = member.name.as_bytes();
        header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name);
        header.set_entry_type(member.kind);
        header.set_mode(if member.name.contains("bin/") {
            0o755
        } else {
            0o644
        });
        header.set_size(member.content.len() as u64);
        header.set_cksum();
        builder.append(&header, member.content.as_slice()).unwrap();
    }
    compress_to_vec(
        builder.into_inner().unwrap().as_slice(),
        CompressionLevel::Fastest,
    )
}

/// A ZIP archive with these files.
pub(crate) fn zip(files: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        archive
            .start_file(*name, SimpleFileOptions::default())
            .unwrap();
        archive.write_all(content.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}
