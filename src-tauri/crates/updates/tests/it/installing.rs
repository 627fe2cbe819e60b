//! Installations, kills in the middle of them, and the way back.

use std::path::Path;
use std::process::{Command, abort};
use std::{env, fs};

use updates::{InstallError, InstallStep, UpdateArchive, Version, VersionFolders};

use crate::world::{PROGRAM, World, tar_zst, tree};

fn world_with(version: &Version) -> (World, UpdateArchive) {
    let world = World::new();
    let archive = world.put(version, &tar_zst(&tree(&version.to_string())));
    (world, archive)
}

fn install(world: &World, version: &Version, archive: &UpdateArchive) -> Vec<InstallStep> {
    let mut steps = Vec::new();
    let installed = world
        .folders()
        .install(version, archive, &mut |step| steps.push(step));
    installed.unwrap();
    steps
}

#[test]
fn new_version_starts_and_the_old_one_stays() {
    let version = Version::new(0, 2, 0);
    let (world, archive) = world_with(&version);
    world.add_version("0.0.9");
    let steps = install(&world, &version, &archive);
    assert_eq!(steps.last(), Some(&InstallStep::OthersRemoved));
    assert_eq!(world.starts(), "0.2.0");
    assert_eq!(world.versions(), ["0.1.0", "0.2.0"]);
    let ui = world.version("0.2.0").join("lib/inglenook/ui/index.html");
    assert!(ui.is_file());
    let new = VersionFolders::of(&world.version("0.2.0").join(PROGRAM)).unwrap();
    assert_eq!(new.previous().as_deref(), Some("0.1.0"));
}

#[cfg(unix)]
#[test]
fn programs_are_executable() {
    use std::os::unix::fs::PermissionsExt as _;
    let version = Version::new(0, 2, 0);
    let (world, archive) = world_with(&version);
    install(&world, &version, &archive);
    let mode = |name: &str| {
        let about = fs::metadata(world.version("0.2.0").join(name)).unwrap();
        about.permissions().mode() & 0o111
    };
    assert_ne!(mode(PROGRAM), 0);
    assert_eq!(mode("lib/inglenook/ui/index.html"), 0);
}

/// Names of the variables for [`process_that_is_killed`].
const KILLED: [&str; 4] = [
    "KILLED_PROGRAM",
    "KILLED_VERSION",
    "KILLED_ARCHIVE",
    "KILLED_AFTER",
];

/// Installs in a process of its own, which dies after the step with the index `last`.
fn kill_after(world: &World, version: &Version, archive: &UpdateArchive, last: usize) {
    let program = world.version("0.1.0").join(PROGRAM);
    let values = [
        program.to_str().unwrap().to_owned(),
        version.to_string(),
        serde_json::to_string(archive).unwrap(),
        last.to_string(),
    ];
    let output = Command::new(env::current_exe().unwrap())
        .args(["--exact", "installing::process_that_is_killed", "--ignored"])
        .envs(KILLED.into_iter().zip(values))
        .output()
        .unwrap();
    let ended = output.status.code();
    assert!(!matches!(ended, Some(0 | 101)), "{output:?}");
}

#[test]
#[ignore = "killed_installation_leaves_a_version_that_starts starts it"]
fn process_that_is_killed() {
    let [program, version, archive, last] = KILLED.map(|name| env::var(name).unwrap());
    let folders = VersionFolders::of(Path::new(&program)).unwrap();
    let archive = serde_json::from_str(&archive).unwrap();
    let last: usize = last.parse().unwrap();
    let mut seen = 0;
    let mut die = |_: InstallStep| {
        if seen == last {
            // Nothing is cleaned up, as if the process were killed.
            abort();
        }
        seen += 1;
    };
    folders
        .install(&version.parse().unwrap(), &archive, &mut die)
        .unwrap();
}

#[test]
fn killed_installation_leaves_a_version_that_starts() {
    let version = Version::new(0, 2, 0);
    let (world, archive) = world_with(&version);
    let steps = install(&world, &version, &archive);
    assert!(steps.contains(&InstallStep::Unpacked { entries: 4 }));
    for last in 0..steps.len() {
        let (world, archive) = world_with(&version);
        kill_after(&world, &version, &archive, last);
        let replaced = steps[..=last].contains(&InstallStep::CurrentReplaced);
        let expected = if replaced { "0.2.0" } else { "0.1.0" };
        assert_eq!(world.starts(), expected, "after {:?}", steps[last]);
        install(&world, &version, &archive);
        assert_eq!(world.starts(), "0.2.0", "after {:?}", steps[last]);
        assert_eq!(world.versions(), ["0.1.0", "0.2.0"], "{:?}", steps[last]);
    }
}

#[test]
fn second_update_keeps_the_version_that_ran() {
    let world = World::new();
    for name in ["0.2.0", "0.3.0"] {
        let version = name.parse().unwrap();
        let archive = world.put(&version, &tar_zst(&tree(name)));
        install(&world, &version, &archive);
        assert_eq!(world.starts(), name);
        assert_eq!(world.versions(), ["0.1.0", name]);
    }
}

#[test]
fn going_back_can_be_undone() {
    let world = World::new();
    world.add_version("0.0.9");
    world.point("previous", "0.0.9");
    assert_eq!(world.folders().go_back().unwrap(), "0.0.9");
    assert_eq!(world.starts(), "0.0.9");
    let older = VersionFolders::of(&world.version("0.0.9").join(PROGRAM)).unwrap();
    assert_eq!(older.go_back().unwrap(), "0.1.0");
    assert_eq!(world.starts(), "0.1.0");
}

#[test]
fn nothing_incomplete_is_gone_back_to() {
    let world = World::new();
    let refuse = || {
        let refused = world.folders().go_back();
        assert!(
            matches!(refused, Err(InstallError::NoPrevious)),
            "{refused:?}"
        );
        assert_eq!(world.starts(), "0.1.0");
    };
    refuse();
    world.point("previous", "0.1.0");
    refuse();
    world.point("previous", "../../evil");
    refuse();
    world.add_version("0.0.9");
    fs::remove_file(world.version("0.0.9").join("complete")).unwrap();
    world.point("previous", "0.0.9");
    refuse();
}

#[test]
fn damaged_pointer_means_the_running_version() {
    let world = World::new();
    for damaged in ["", "9.9.9", "../0.1.0", &"0".repeat(10_000)] {
        world.point("current", damaged);
        assert_eq!(world.folders().next_version(), "0.1.0", "{damaged:.20}");
    }
    fs::remove_file(world.root().join("current")).unwrap();
    assert_eq!(world.folders().next_version(), "0.1.0");
}
