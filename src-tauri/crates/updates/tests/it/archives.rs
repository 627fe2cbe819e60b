//! Hostile and damaged archives: the installed version still starts, and nothing is written outside
//! its folder.

use std::fs;

use proptest::prelude::*;
use tar::EntryType;
use updates::{InstallError, Version};

use crate::world::{Member, World, file, script, tar_zst, tree, zip};

/// Tries to install an archive of version 0.2.0.
#[track_caller]
fn refuse(what: &str, bytes: &[u8]) -> InstallError {
    let world = World::new();
    let version = Version::new(0, 2, 0);
    let archive = world.put(&version, bytes);
    let refused = world.folders().install(&version, &archive, &mut |_| ());
    assert_eq!(world.starts(), "0.1.0", "{what}");
    assert!(!world.root().join("evil").exists(), "{what}");
    let refused = refused.expect_err(what);
    let is_whole = matches!(refused, InstallError::File { .. });
    let left: &[&str] = if is_whole {
        &["0.1.0", "0.2.0.archive"]
    } else {
        &["0.1.0"]
    };
    assert_eq!(world.versions(), left, "{what}: {refused:?}");
    refused
}

#[test]
fn entries_stay_in_the_folder_of_their_version() {
    for name in [
        "../evil",
        "../../evil",
        "bin/../../../evil",
        "/tmp/evil",
        "bin\\..\\..\\evil",
        "C:evil",
        "bin/evil\n",
        "bin/evil.",
        "bin/..",
    ] {
        let mut members = tree("0.2.0");
        members.push(file(name, "evil"));
        let refused = refuse(name, &tar_zst(&members));
        assert!(
            matches!(refused, InstallError::Entry { .. }),
            "{name}: {refused:?}"
        );
        let refused = refuse(name, &zip(&[("bin/inglenook", "0.2.0"), (name, "evil")]));
        assert!(
            matches!(refused, InstallError::Entry { .. }),
            "{name}: {refused:?}"
        );
    }
}

#[test]
fn links_and_devices_are_refused() {
    for kind in [
        EntryType::symlink(),
        EntryType::hard_link(),
        EntryType::fifo(),
        EntryType::character_special(),
    ] {
        let mut members = tree("0.2.0");
        members.push(Member {
            name: "bin/link",
            kind,
            content: Vec::new(),
        });
        let refused = refuse("a link", &tar_zst(&members));
        assert!(
            matches!(refused, InstallError::Entry { .. }),
            "{kind:?}: {refused:?}"
        );
    }
}

#[test]
fn archive_cannot_say_that_it_is_complete() {
    let mut members = tree("0.2.0");
    members.insert(0, file("./complete", ""));
    let refused = refuse("complete", &tar_zst(&members));
    assert!(matches!(refused, InstallError::Entry { .. }), "{refused:?}");
}

#[test]
fn file_that_comes_twice_is_refused() {
    let mut members = tree("0.2.0");
    members.push(file("bin/inglenook", "other"));
    let refused = refuse("twice", &tar_zst(&members));
    assert!(matches!(refused, InstallError::File { .. }), "{refused:?}");
}

#[test]
fn damaged_archives_are_refused() {
    let whole = tar_zst(&tree("0.2.0"));
    let cut = &whole[..whole.len() / 2];
    for (what, bytes) in [
        ("cut", cut),
        ("empty", &[]),
        ("a web page", b"<html>Log in</html>"),
        ("only the mark of a ZIP file", b"PK\x03\x04"),
    ] {
        let refused = refuse(what, bytes);
        assert!(
            matches!(refused, InstallError::Damaged { .. }),
            "{what}: {refused:?}"
        );
    }
}

#[test]
fn archive_that_has_changed_is_refused() {
    let world = World::new();
    let version = Version::new(0, 2, 0);
    let archive = world.put(&version, &tar_zst(&tree("0.2.0")));
    let mut members = tree("0.2.0");
    members.push(file("bin/evil", "evil"));
    fs::write(world.folders().archive(&version), tar_zst(&members)).unwrap();
    let refused = world.folders().install(&version, &archive, &mut |_| ());
    assert!(
        matches!(refused, Err(InstallError::Checksum)),
        "{refused:?}"
    );
    assert!(!world.folders().archive(&version).exists());
    let refused = world.folders().install(&version, &archive, &mut |_| ());
    assert!(
        matches!(refused, Err(InstallError::Checksum)),
        "{refused:?}"
    );
    assert_eq!(world.starts(), "0.1.0");
}

#[test]
fn zip_archive_is_installed() {
    let world = World::new();
    let version = Version::new(0, 2, 0);
    let program = script("0.2.0");
    let bytes = zip(&[
        ("bin/inglenook", program.as_str()),
        ("lib/inglenook/ui/a.js", "1"),
    ]);
    let archive = world.put(&version, &bytes);
    let installed = world.folders().install(&version, &archive, &mut |_| ());
    installed.unwrap();
    assert_eq!(world.starts(), "0.2.0");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn changed_archives_never_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        is_zip in any::<bool>(),
    ) {
        let mut bytes = if is_zip {
            zip(&[("bin/inglenook", "0.2.0"), ("lib/inglenook/worker", "worker")])
        } else {
            tar_zst(&tree("0.2.0"))
        };
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        let world = World::new();
        let version = Version::new(0, 2, 0);
        let archive = world.put(&version, &bytes);
        let _ = world.folders().install(&version, &archive, &mut |_| ());
        prop_assert!(!world.root().join("evil").exists());
        let current = fs::read_to_string(world.root().join("current")).unwrap();
        prop_assert!(world.version(current.trim()).join("complete").is_file());
    }
}
