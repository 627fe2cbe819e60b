//! Manifests and archives that are refused.

use engine::api::{ApiError, UpdatePhase, UpdateStatus};
use minisign::KeyPair;
use serde_json::{Value, json};
use tests::scripted_hub::{Quirk, ScriptedFile, ScriptedHub};
use updates::platform;

use super::world::{World, pack, script, tree};

/// A world that has seen the manifest 7 of version 0.1.0.
async fn world() -> World {
    let world = World::new().await;
    world.publish(&world.offer("0.1.0", 7));
    let status = world.engine.check_for_updates().await.unwrap();
    assert_eq!(status.phase, UpdatePhase::Idle);
    world
}

/// Checks that the published manifest is refused, and that nothing else happens.
#[track_caller]
fn assert_refused(world: &World, checked: Result<UpdateStatus, ApiError>, reason: &str) {
    let refused = checked.expect_err(reason).to_string();
    assert!(refused.contains(reason), "{refused}");
    assert_eq!(world.starts(), "0.1.0", "{reason}");
}

#[tokio::test]
async fn manifest_without_our_signature_is_refused() {
    let world = world().await;
    let bytes = world.offer("0.2.0", 8).to_string().into_bytes();
    let other = KeyPair::generate_unencrypted_keypair().unwrap();
    let theirs = minisign::sign(None, &other.sk, bytes.as_slice(), None, None);
    let changed = world.offer("0.3.0", 8).to_string().into_bytes();
    for (bytes, signature) in [
        (bytes.clone(), theirs.unwrap().into_string()),
        (changed, world.sign(&bytes)),
        (bytes.clone(), "\n".to_owned()),
        (bytes, "untrusted comment: none\nAAAA\n".to_owned()),
    ] {
        world.publish_signed(bytes, signature);
        let checked = world.engine.check_for_updates().await;
        assert_refused(&world, checked, "signature of the manifest is not valid");
    }
    let status = world.status().await;
    assert!(status.available.is_none() && status.failure.is_some());
}

#[tokio::test]
async fn older_manifests_and_versions_are_refused() {
    let world = world().await;
    for (version, serial, reason) in [
        ("0.2.0", 6, "older manifest"),
        ("0.0.9", 8, "older than this one"),
    ] {
        world.publish(&world.offer(version, serial));
        let checked = world.engine.check_for_updates().await;
        assert_refused(&world, checked, reason);
    }
    let world = world.restart().await;
    world.publish(&world.offer("0.2.0", 6));
    let checked = world.engine.check_for_updates().await;
    assert_refused(&world, checked, "older manifest");
}

#[tokio::test]
async fn manifest_for_others_is_refused() {
    let world = world().await;
    for (field, value, reason) in [
        ("product", json!("fireside"), "another product"),
        ("channel", json!("nightly"), "another channel"),
        ("archives", json!({}), "has no archive for"),
    ] {
        let mut manifest = world.offer("0.2.0", 8);
        manifest[field] = value;
        world.publish(&manifest);
        let checked = world.engine.check_for_updates().await;
        assert_refused(&world, checked, reason);
    }
}

#[tokio::test]
async fn manifest_is_not_fetched_from_elsewhere() {
    let world = world().await;
    world.publish(&world.offer("0.2.0", 8));
    let elsewhere = ScriptedHub::start();
    let file = format!("{}/a/b/resolve/main/stable.json", elsewhere.address);
    world.server.next([Quirk::Redirect(file)]);
    let checked = world.engine.check_for_updates().await;
    assert_refused(&world, checked, "redirects to another server");
    assert!(elsewhere.requests().is_empty());
    for quirk in [Quirk::WebPage, Quirk::Status(500, ""), Quirk::Cut(10)] {
        world.server.next([quirk.clone()]);
        let checked = world.engine.check_for_updates().await;
        assert!(checked.is_err(), "{quirk:?}: {checked:?}");
        assert_eq!(world.starts(), "0.1.0");
    }
    let checked = world.engine.check_for_updates().await.unwrap();
    assert_eq!(checked.phase, UpdatePhase::Available);
}

/// Publishes the manifest and tries to download its archive. Returns the failure.
async fn failed_download(world: &World, manifest: &Value) -> String {
    world.publish(manifest);
    world.engine.check_for_updates().await.unwrap();
    let status = world.download().await;
    assert_eq!(status.phase, UpdatePhase::Available, "{status:?}");
    let refused = world.engine.install_update().await;
    assert!(refused.is_err(), "{refused:?}");
    assert_eq!(world.starts(), "0.1.0");
    status.failure.expect("a failure").to_string()
}

#[tokio::test]
async fn archive_of_another_size_is_refused() {
    let world = world().await;
    for longer in [-1, 1] {
        let mut manifest = world.offer("0.2.0", 8);
        let archive = &mut manifest["archives"][platform()];
        archive["size"] = json!(archive["size"].as_i64().unwrap() + longer);
        let failure = failed_download(&world, &manifest).await;
        assert!(failure.contains("but the manifest states"), "{failure}");
    }
}

#[tokio::test]
async fn archive_with_another_checksum_is_deleted() {
    let world = world().await;
    let mut changed = tree("0.2.0");
    let manifest = world.offer("0.2.0", 8);
    let last = changed.len() - 1;
    changed[last] ^= 1;
    world.put_archive(changed);
    let failure = failed_download(&world, &manifest).await;
    assert!(failure.contains("another checksum"), "{failure}");
    assert_eq!(world.status().await.downloaded, 0);
}

#[tokio::test]
async fn archive_is_not_fetched_from_elsewhere() {
    let world = world().await;
    let elsewhere = ScriptedHub::start();
    elsewhere.put("a/b", "evil", ScriptedFile::new(tree("0.2.0")));
    world.publish(&world.offer("0.2.0", 8));
    world.engine.check_for_updates().await.unwrap();
    let file = format!("{}/a/b/resolve/main/evil", elsewhere.address);
    world.server.next([Quirk::Redirect(file)]);
    let status = world.download().await;
    let failure = status.failure.expect("a failure").to_string();
    assert!(failure.contains("redirects to another server"), "{failure}");
    assert!(elsewhere.requests().is_empty());
    assert_eq!(world.starts(), "0.1.0");
}

#[tokio::test]
async fn full_disk_is_noticed_before_the_download() {
    let world = World::with_free_space(|_| Ok(1_000_000)).await;
    let manifest = world.offer("0.2.0", 8);
    let failure = failed_download(&world, &manifest).await;
    assert!(failure.contains("the disk has 0.0 GB free"), "{failure}");
    assert_eq!(world.server.requests().len(), 2, "manifest and signature");
}

#[tokio::test]
async fn hostile_archive_is_not_installed() {
    let world = world().await;
    let program = script("0.2.0");
    let hostile = pack(&[("bin/nook", program.as_str()), ("../../../evil", "evil")]);
    world.publish(&world.offer_archive("0.2.0", 8, hostile));
    world.engine.check_for_updates().await.unwrap();
    assert_eq!(world.download().await.phase, UpdatePhase::Ready);
    let refused = world.engine.install_update().await.unwrap_err();
    assert!(refused.to_string().contains("not allowed"), "{refused}");
    assert_eq!(world.starts(), "0.1.0");
    let status = world.status().await;
    assert_eq!((status.next_version, status.previous), (None, None));
    assert!(!world.versions_folder().join("0.2.0").exists());
    assert!(!world.versions_folder().join("0.2.0.partial").exists());
}

#[tokio::test]
async fn foreign_backup_cannot_offer_an_update() {
    let world = world().await;
    let mut manifest = world.offer("0.2.0", 8);
    manifest["archives"][platform()]["url"] = json!("https://evil.example/update");
    let forged = json!({
        "last_check": null,
        "manifest": { "text": manifest.to_string(), "signature": world.sign(b"something else") },
        "backup": null,
    });
    let world = world
        .restart_after(|data| {
            let database = tests::open_database(data);
            let changed = database.execute(
                "UPDATE setting SET value = ?1 WHERE key = 'updates'",
                [forged.to_string()],
            );
            assert_eq!(changed.unwrap(), 1);
        })
        .await;
    let status = world.status().await;
    assert_eq!((status.phase, status.available), (UpdatePhase::Idle, None));
    assert!(world.engine.download_update().await.is_err());
}
