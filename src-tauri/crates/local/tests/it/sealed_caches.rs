//! Saved caches of a protected folder.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use local::{CacheKeys, LocalHost, WorkerSettings};
use protection::DataKey;
use tempfile::TempDir;
use worker::saved::has_sealed_name;

use crate::saved::{FIRST, files, is_cold, of, second_prompt, settings_with};
use crate::support::*;

fn keys() -> Arc<CacheKeys> {
    let key = DataKey::generate().unwrap();
    Arc::new(CacheKeys::new(key.cache_key(), key.name_key()))
}

fn host_with(folder: &TempDir, keys: Option<&Arc<CacheKeys>>) -> LocalHost {
    LocalHost::new(WorkerSettings {
        cache_keys: keys.cloned(),
        ..settings_with(folder)
    })
    .unwrap()
}

/// Runs the first turn of `chats`, which a shutdown saves. Returns the first reply.
async fn first_turn(host: &LocalHost, chats: &[&str]) -> Outcome {
    let provider = host.provider(&model(), 2048);
    let mut outcomes = Vec::new();
    for key in chats {
        outcomes.push(reply(&*provider, of(key, chat(&[FIRST]))).await);
    }
    host.shutdown().await;
    outcomes.remove(0)
}

/// Runs the second turn after `first`, without a shutdown.
async fn second_turn(host: &LocalHost, first: &Outcome) -> Outcome {
    let request = of("chat", second_prompt(first));
    reply(&*host.provider(&model(), 2048), request).await
}

#[tokio::test]
async fn chat_resumes_from_an_encrypted_cache() {
    let folder = tempfile::tempdir().unwrap();
    let keys = keys();
    let first = first_turn(&host_with(&folder, Some(&keys)), &["chat"]).await;
    let saved = files(&folder);
    assert_eq!(saved.len(), 1);
    assert!(has_sealed_name(&saved[0]), "{saved:?}");
    let mode = fs::metadata(&saved[0]).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let host = host_with(&folder, Some(&keys));
    let second = second_turn(&host, &first).await;
    let usage = second.usage();
    assert!(
        usage.reused >= first.usage().prompt,
        "{usage:?} after {:?}",
        first.usage()
    );
    assert!(usage.evaluated < Some(20), "{usage:?}");
    host.shutdown().await;
    assert_eq!(files(&folder), saved, "saved again under the same name");
    let cold = self::host();
    let cold = second_turn(&cold, &first).await;
    assert!(is_cold(cold.usage()));
    assert_eq!(second.text, cold.text);
}

#[tokio::test]
async fn encrypted_cache_has_no_bytes_of_a_plain_one() {
    const RUN: usize = 32;
    let [folder, plain_folder] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    first_turn(&host_with(&folder, Some(&keys())), &["chat"]).await;
    first_turn(&host_with(&plain_folder, None), &["chat"]).await;
    let sealed = fs::read(files(&folder).remove(0)).unwrap();
    let plain = fs::read(files(&plain_folder).remove(0)).unwrap();
    assert!(sealed.len() > plain.len() && plain.len() > 100_000);
    // Each run of 64 bytes has one of these.
    let runs: HashSet<&[u8]> = plain.chunks_exact(RUN).collect();
    assert!(!sealed.windows(RUN).any(|run| runs.contains(run)));
}

#[tokio::test]
async fn damaged_encrypted_caches_are_read_anew() {
    let folder = tempfile::tempdir().unwrap();
    let keys = keys();
    let first = first_turn(&host_with(&folder, Some(&keys)), &["other", "chat"]).await;
    // The latest is that of `chat`.
    let saved = files(&folder);
    let path = &saved[1];
    let other = fs::read(&saved[0]).unwrap();
    let whole = fs::read(path).unwrap();
    let flipped = |place: usize| {
        let mut bytes = whole.clone();
        bytes[place] ^= 1;
        bytes
    };
    let half = whole[..whole.len() / 2].to_vec();
    let plain = b"a plain file".to_vec();
    for (what, bytes) in [
        ("half", half),
        ("first byte", flipped(0)),
        ("one bit", flipped(whole.len() / 2)),
        ("last byte", flipped(whole.len() - 1)),
        ("another chat's", other),
        ("not encrypted", plain),
    ] {
        fs::write(path, bytes).unwrap();
        let host = host_with(&folder, Some(&keys));
        let outcome = second_turn(&host, &first).await;
        assert!(is_cold(outcome.usage()), "{what}: {outcome:?}");
        assert!(!path.exists(), "{what}");
        assert_eq!(host.status().deaths, 0, "{what}");
        host.shutdown().await;
    }
    assert!(path.exists(), "the rebuilt cache is saved");
}

#[tokio::test]
async fn worker_with_other_keys_ignores_the_cache() {
    let folder = tempfile::tempdir().unwrap();
    let first = first_turn(&host_with(&folder, Some(&keys())), &["chat"]).await;
    let saved = files(&folder);
    let host = host_with(&folder, Some(&keys()));
    assert!(is_cold(second_turn(&host, &first).await.usage()));
    assert_eq!(files(&folder), saved);
    host.forget_all_but(["chat"]);
    assert!(files(&folder).is_empty(), "nobody can read it");
    host.shutdown().await;
    assert_eq!(files(&folder).len(), 1);
}

#[tokio::test]
async fn forget_removes_encrypted_caches() {
    let folder = tempfile::tempdir().unwrap();
    let keys = keys();
    first_turn(&host_with(&folder, Some(&keys)), &["ada", "bob"]).await;
    let host = host_with(&folder, Some(&keys));
    host.forget_all_but(["ada", "bob"]);
    assert_eq!(files(&folder).len(), 2);
    host.exclude_from_saving(vec!["ada".into()]).await.unwrap();
    assert_eq!(files(&folder).len(), 1);
    host.forget_all_but(["ada"]);
    assert!(files(&folder).is_empty());
    host.shutdown().await;
}

#[tokio::test]
async fn protecting_a_folder_removes_its_plain_caches() {
    let folder = tempfile::tempdir().unwrap();
    let first = first_turn(&host_with(&folder, None), &["chat"]).await;
    let keys = keys();
    let host = host_with(&folder, Some(&keys));
    assert!(host.delete_unusable_caches());
    assert!(files(&folder).is_empty());
    assert!(is_cold(second_turn(&host, &first).await.usage()));
    host.shutdown().await;
    assert_eq!(files(&folder).len(), 1);

    let host = host_with(&folder, None);
    assert!(host.delete_unusable_caches());
    assert!(files(&folder).is_empty());
    assert!(is_cold(second_turn(&host, &first).await.usage()));
    host.shutdown().await;
}
