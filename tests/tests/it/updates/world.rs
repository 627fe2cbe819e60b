//! An installation of version 0.1.0 in a temporary folder, its data, and a scripted server of
//! updates.

use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use engine::api::{Event, UpdatePhase, UpdateStatus};
use engine::{Clock, Engine, Events, MemoryMeter, Options};
use minisign::KeyPair;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use serde_json::{Value, json};
use tar::Header;
use tempfile::TempDir;
use tests::headless::NOW;
use tests::scripted_hub::{ScriptedFile, ScriptedHub, sha256};
use updates::{FreeSpace, UpdateSource, platform};

const REPO: &str = "inglenook/releases";
const MANIFEST: &str = "stable.json";
const ARCHIVE: &str = "update.tar.zst";
/// The program, relative to the folder of its version.
const PROGRAM: &str = "bin/nook";

pub(crate) struct World {
    pub(crate) engine: Engine,
    pub(crate) server: ScriptedHub,
    source: UpdateSource,
    root: TempDir,
    data: TempDir,
    keys: KeyPair,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with_free_space(|_| Ok(u64::MAX)).await
    }

    pub(crate) async fn with_free_space(free_space: FreeSpace) -> Self {
        let root = tempfile::tempdir().unwrap();
        let data = tempfile::tempdir().unwrap();
        let server = ScriptedHub::start();
        let keys = KeyPair::generate_unencrypted_keypair().unwrap();
        let folder = root.path().join("versions/0.1.0");
        fs::create_dir_all(folder.join("bin")).unwrap();
        fs::write(folder.join(PROGRAM), script("0.1.0")).unwrap();
        fs::write(folder.join("complete"), "").unwrap();
        fs::write(root.path().join("current"), "0.1.0\n").unwrap();
        let source = UpdateSource {
            address: Some(address(&server, MANIFEST)),
            keys: vec![keys.pk.to_base64()],
            version: "0.1.0".to_owned(),
            program: Some(folder.join(PROGRAM)),
            free_space,
        };
        Self {
            engine: open(data.path(), source.clone()).await,
            source,
            server,
            root,
            data,
            keys,
        }
    }

    /// Ends the app, and starts the version that `current` names.
    pub(crate) async fn restart(self) -> Self {
        self.restart_after(|_| ()).await
    }

    /// Works like [`Self::restart`], but runs `meanwhile` on the data folder between the two.
    pub(crate) async fn restart_after(self, meanwhile: impl FnOnce(&Path)) -> Self {
        let version = self.starts();
        let program = self.versions_folder().join(&version).join(PROGRAM);
        let Self {
            engine,
            source,
            server,
            root,
            data,
            keys,
        } = self;
        engine.shutdown().await;
        drop(engine);
        meanwhile(data.path());
        let source = UpdateSource {
            version,
            program: Some(program),
            ..source
        };
        Self {
            engine: open(data.path(), source.clone()).await,
            source,
            server,
            root,
            data,
            keys,
        }
    }

    /// The version that runs.
    pub(crate) fn version(&self) -> &str {
        &self.source.version
    }

    pub(crate) fn source(&self) -> UpdateSource {
        self.source.clone()
    }

    pub(crate) fn versions_folder(&self) -> PathBuf {
        self.root.path().join("versions")
    }

    /// A manifest of `version` with an archive that the server has.
    pub(crate) fn offer(&self, version: &str, serial: u64) -> Value {
        self.offer_archive(version, serial, tree(version))
    }

    pub(crate) fn offer_archive(&self, version: &str, serial: u64, archive: Vec<u8>) -> Value {
        let manifest = json!({
            "product": "inglenook",
            "channel": "stable",
            "serial": serial,
            "version": version,
            "published": "2026-11-20T10:00:00+01:00",
            "notes": { "en": "- Faster replies.", "de": "- Schnellere Antworten." },
            "archives": { platform(): {
                "url": address(&self.server, ARCHIVE),
                "size": archive.len(),
                "sha256": sha256(&archive),
            }},
        });
        self.put(ARCHIVE, archive);
        manifest
    }

    /// Publishes a manifest with our signature.
    pub(crate) fn publish(&self, manifest: &Value) {
        let bytes = manifest.to_string().into_bytes();
        let signature = sign(&self.keys, &bytes);
        self.publish_signed(bytes, signature);
    }

    pub(crate) fn publish_signed(&self, manifest: Vec<u8>, signature: String) {
        self.put(MANIFEST, manifest);
        self.put("stable.json.minisig", signature.into_bytes());
    }

    pub(crate) fn sign(&self, bytes: &[u8]) -> String {
        sign(&self.keys, bytes)
    }

    /// Replaces the archive on the server.
    pub(crate) fn put_archive(&self, archive: Vec<u8>) {
        self.put(ARCHIVE, archive);
    }

    fn put(&self, name: &str, content: Vec<u8>) {
        self.server.put(REPO, name, ScriptedFile::new(content));
    }

    /// Starts the version that `current` names, and returns what it says.
    #[track_caller]
    pub(crate) fn starts(&self) -> String {
        let current = fs::read_to_string(self.root.path().join("current")).unwrap();
        let folder = self.versions_folder().join(current.trim());
        assert!(folder.join("complete").is_file(), "{current} is complete");
        let said = std::process::Command::new("sh")
            .arg(folder.join(PROGRAM))
            .output()
            .unwrap();
        assert!(said.status.success(), "{said:?}");
        String::from_utf8(said.stdout).unwrap().trim().to_owned()
    }

    pub(crate) async fn status(&self) -> UpdateStatus {
        self.engine.updates_status().await.unwrap()
    }

    /// Downloads the known update, until that ends or fails.
    pub(crate) async fn download(&self) -> UpdateStatus {
        let mut events = self.engine.subscribe();
        self.engine.download_update().await.unwrap();
        ended(&mut events).await
    }
}

/// An engine without a model.
pub(crate) async fn open(data: &Path, updates: UpdateSource) -> Engine {
    let options = Options {
        data_dir: data.to_owned(),
        without_keychain: true,
        clock: Clock::stopped(NOW),
        memory_meter: MemoryMeter::fixed(50_000_000_000),
        updates,
        ..Options::default()
    };
    Engine::open(options)
        .await
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Waits until no work is in progress.
pub(crate) async fn ended(events: &mut Events) -> UpdateStatus {
    reached(events, |status| {
        !matches!(
            status.phase,
            UpdatePhase::Checking | UpdatePhase::Downloading | UpdatePhase::Installing
        )
    })
    .await
}

pub(crate) async fn reached(
    events: &mut Events,
    is_wanted: impl Fn(&UpdateStatus) -> bool,
) -> UpdateStatus {
    loop {
        match events.next().await.expect("the engine lives") {
            Event::UpdateChanged { status } if is_wanted(&status) => return *status,
            _ => {}
        }
    }
}

/// The tree of a version as an archive.
pub(crate) fn tree(version: &str) -> Vec<u8> {
    let program = script(version);
    pack(&[
        (PROGRAM, program.as_str()),
        ("lib/inglenook/worker", "worker"),
    ])
}

pub(crate) fn pack(files: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (name, content) in files {
        let mut header = Header::new_gnu();
        // `set_path` would refuse hostile names.
        header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_mode(0o755);
        header.set_size(content.len() as u64);
        header.set_cksum();
        archive.append(&header, content.as_bytes()).unwrap();
    }
    let tar = archive.into_inner().unwrap();
    compress_to_vec(tar.as_slice(), CompressionLevel::Fastest)
}

/// A program that says its version, and some words that do not compress well.
pub(crate) fn script(version: &str) -> String {
    let words: Vec<String> = (0..4_000_u32)
        .map(|number| sha256(&number.to_le_bytes()))
        .collect();
    format!("#!/bin/sh\necho {version}\nexit\n{}\n", words.join("\n"))
}

fn sign(keys: &KeyPair, bytes: &[u8]) -> String {
    let signature = minisign::sign(None, &keys.sk, Cursor::new(bytes), None, None);
    signature.unwrap().into_string()
}

fn address(server: &ScriptedHub, name: &str) -> String {
    format!("{}/{REPO}/resolve/main/{name}", server.address)
}
