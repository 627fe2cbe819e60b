//! The usual way, the weekly check, and installations that do not update themselves.

use std::fs;

use engine::api::{ApiError, BackupKind, SettingsChange, UpdateMethod, UpdatePhase};
use updates::UpdateSource;

use super::world::{World, open};

#[tokio::test]
async fn update_is_installed_and_taken_back() {
    let world = World::new().await;
    world.publish(&world.offer("0.2.0", 7));
    let found = world.engine.check_for_updates().await.unwrap();
    let available = found.available.unwrap();
    assert_eq!(found.phase, UpdatePhase::Available);
    assert_eq!(available.version, "0.2.0");
    assert_eq!(available.notes.en, "- Faster replies.");
    assert_eq!(
        available.notes.de.as_deref(),
        Some("- Schnellere Antworten.")
    );
    assert_eq!(available.published.as_deref(), Some("2026-11-20T09:00:00Z"));
    assert_eq!((available.command, found.next_version), (None, None));

    let ready = world.download().await;
    assert_eq!((ready.phase, ready.failure), (UpdatePhase::Ready, None));
    assert_eq!(Some(ready.downloaded), available.bytes);
    assert_eq!(world.starts(), "0.1.0");
    let installed = world.engine.install_update().await.unwrap();
    assert_eq!(installed.phase, UpdatePhase::Restart);
    assert_eq!(installed.next_version.as_deref(), Some("0.2.0"));
    assert_eq!(world.starts(), "0.2.0");
    let backups = world.engine.list_backups().await.unwrap();
    let before: Vec<_> = backups
        .iter()
        .filter(|backup| backup.kind == BackupKind::Upgrade)
        .collect();
    assert_eq!(before.len(), 1, "{backups:?}");

    let world = world.restart().await;
    assert_eq!(world.version(), "0.2.0");
    let updated = world.status().await;
    assert_eq!(
        (updated.phase, updated.available),
        (UpdatePhase::Idle, None)
    );
    let previous = updated.previous.unwrap();
    assert_eq!(previous.version, "0.1.0");
    assert_eq!(previous.backup.as_ref(), Some(before[0]));
    let checked = world.engine.check_for_updates().await.unwrap();
    assert_eq!(checked.phase, UpdatePhase::Idle);

    let back = world.engine.go_back_to_previous_version().await.unwrap();
    assert_eq!(back.next_version.as_deref(), Some("0.1.0"));
    assert_eq!(back.phase, UpdatePhase::Restart);
    let world = world.restart().await;
    assert_eq!(world.version(), "0.1.0");
    assert_eq!(world.status().await.phase, UpdatePhase::Available);
}

#[tokio::test]
async fn nothing_is_contacted_before_the_button() {
    let world = World::new().await;
    world.publish(&world.offer("0.2.0", 7));
    let status = world.status().await;
    assert_eq!((status.phase, status.last_check), (UpdatePhase::Idle, None));
    assert!(status.has_address && status.method == UpdateMethod::App);
    assert!(!world.engine.check_for_updates_if_due().await.unwrap());
    for refused in [
        world.engine.download_update().await,
        world.engine.install_update().await,
        world.engine.go_back_to_previous_version().await,
    ] {
        assert!(
            matches!(refused, Err(ApiError::BadInput { .. })),
            "{refused:?}"
        );
    }
    let world = world.restart().await;
    assert!(world.server.requests().is_empty());
}

#[tokio::test]
async fn weekly_check_needs_its_switch_and_a_week() {
    let world = World::new().await;
    world.publish(&world.offer("0.2.0", 7));
    let change = SettingsChange {
        weekly_update_check: Some(true),
        ..SettingsChange::default()
    };
    world.engine.update_settings(change).await.unwrap();
    assert!(world.engine.check_for_updates_if_due().await.unwrap());
    assert_eq!(world.status().await.phase, UpdatePhase::Available);
    assert_eq!(world.server.requests().len(), 2, "manifest and signature");
    assert!(!world.engine.check_for_updates_if_due().await.unwrap());
    let world = world.restart().await;
    assert!(!world.engine.check_for_updates_if_due().await.unwrap());
    assert_eq!(world.server.requests().len(), 2);
    assert_eq!(world.status().await.phase, UpdatePhase::Available);
}

#[tokio::test]
async fn request_tells_only_the_version() {
    let world = World::new().await;
    world.publish(&world.offer("0.2.0", 7));
    world.engine.check_for_updates().await.unwrap();
    for request in world.server.requests() {
        let mut names: Vec<&str> = request
            .lines()
            .skip(1)
            .filter_map(|line| line.split_once(':'))
            .map(|(name, _)| name)
            .collect();
        names.sort_unstable();
        assert_eq!(
            names,
            ["accept", "accept-encoding", "host", "user-agent"],
            "{request}"
        );
    }
}

#[tokio::test]
async fn package_manager_gets_a_command() {
    let world = World::new().await;
    world.publish(&world.offer("0.2.0", 7));
    let prefix = tempfile::tempdir().unwrap();
    fs::create_dir_all(prefix.path().join("lib/inglenook")).unwrap();
    for (name, method, command) in [
        (
            "deb",
            UpdateMethod::Deb,
            "sudo apt install ./inglenook_0.2.0_amd64.deb",
        ),
        (
            "rpm",
            UpdateMethod::Rpm,
            "sudo dnf install ./inglenook-0.2.0.x86_64.rpm",
        ),
    ] {
        fs::write(prefix.path().join("lib/inglenook/package"), name).unwrap();
        let source = UpdateSource {
            program: Some(prefix.path().join("bin/nook")),
            ..world.source()
        };
        let data = tempfile::tempdir().unwrap();
        let engine = open(data.path(), source).await;
        let found = engine.check_for_updates().await.unwrap();
        let available = found.available.unwrap();
        assert_eq!(found.method, method);
        assert_eq!(available.command.as_deref(), Some(command));
        assert_eq!(available.bytes, None);
        for refused in [
            engine.download_update().await,
            engine.install_update().await,
            engine.go_back_to_previous_version().await,
        ] {
            assert!(
                matches!(refused, Err(ApiError::BadInput { .. })),
                "{refused:?}"
            );
        }
    }
}

#[tokio::test]
async fn build_without_an_address_says_so() {
    let data = tempfile::tempdir().unwrap();
    let source = UpdateSource {
        address: None,
        ..UpdateSource::default()
    };
    let engine = open(data.path(), source).await;
    let status = engine.updates_status().await.unwrap();
    assert!(!status.has_address && status.method == UpdateMethod::Source);
    let refused = engine.check_for_updates().await.unwrap_err();
    assert_eq!(refused.to_string(), "This build has no update address.");
}
