//! Downloads that end in the middle.

use engine::api::{ApiError, UpdatePhase};
use tests::scripted_hub::Quirk;

use super::world::{World, ended, reached};

/// A world that knows version 0.2.0.
async fn world() -> World {
    let world = World::new().await;
    world.publish(&world.offer("0.2.0", 7));
    world.engine.check_for_updates().await.unwrap();
    world
}

#[tokio::test]
async fn truncated_download_is_resumed() {
    let world = world().await;
    world.server.next([Quirk::Cut(50_000)]);
    let broken = world.download().await;
    assert_eq!(broken.phase, UpdatePhase::Available);
    assert!(broken.downloaded >= 50_000, "{broken:?}");
    assert!(
        matches!(broken.failure, Some(ApiError::Provider { .. })),
        "{broken:?}"
    );
    let refused = world.engine.install_update().await;
    assert!(refused.is_err(), "{refused:?}");
    assert_eq!(world.starts(), "0.1.0");
    assert_eq!(world.download().await.phase, UpdatePhase::Ready);
    let last = world.server.requests().pop().unwrap();
    assert!(last.contains("range: bytes="), "{last}");
    world.engine.install_update().await.unwrap();
    assert_eq!(world.starts(), "0.2.0");
}

#[tokio::test]
async fn stopped_download_is_resumed() {
    let world = world().await;
    world.server.next([Quirk::Stalls(60_000)]);
    let mut events = world.engine.subscribe();
    world.engine.download_update().await.unwrap();
    reached(&mut events, |status| status.downloaded >= 60_000).await;
    let busy = world.engine.install_update().await;
    assert!(matches!(busy, Err(ApiError::Busy { .. })), "{busy:?}");
    world.engine.stop_update_download().await.unwrap();
    let stopped = ended(&mut events).await;
    assert_eq!(
        (stopped.phase, stopped.failure),
        (UpdatePhase::Available, None)
    );
    assert_eq!(world.download().await.phase, UpdatePhase::Ready);
}

#[tokio::test]
async fn app_that_ends_in_a_download_resumes_it() {
    let world = world().await;
    world.server.next([Quirk::Stalls(60_000)]);
    let mut events = world.engine.subscribe();
    world.engine.download_update().await.unwrap();
    reached(&mut events, |status| status.downloaded >= 60_000).await;
    drop(events);
    let world = world.restart().await;
    assert_eq!(world.version(), "0.1.0");
    let status = world.status().await;
    assert_eq!(status.phase, UpdatePhase::Available);
    assert!(status.downloaded >= 60_000, "{status:?}");
    assert_eq!(world.download().await.phase, UpdatePhase::Ready);
    let world = world.restart().await;
    assert_eq!(world.status().await.phase, UpdatePhase::Ready);
    world.engine.install_update().await.unwrap();
    assert_eq!(world.starts(), "0.2.0");
}

#[tokio::test]
async fn changed_download_is_not_installed() {
    let world = world().await;
    assert_eq!(world.download().await.phase, UpdatePhase::Ready);
    let archive = world.versions_folder().join("0.2.0.archive");
    let mut bytes = std::fs::read(&archive).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(&archive, bytes).unwrap();
    let refused = world.engine.install_update().await.unwrap_err();
    assert!(refused.to_string().contains("not the one"), "{refused}");
    assert_eq!(world.starts(), "0.1.0");
    assert_eq!(world.download().await.phase, UpdatePhase::Ready);
    world.engine.install_update().await.unwrap();
    assert_eq!(world.starts(), "0.2.0");
}
