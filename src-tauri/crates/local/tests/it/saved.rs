use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use domain::prompt::Segment;
use local::{LocalHost, WorkerSettings};
use provider::{Request, Usage};
use rustix::process::Signal;
use tempfile::TempDir;
use worker::saved::Part;

use crate::support::*;

pub(crate) const FIRST: &str = "Tell me about the sea, the ships, the harbour, the lamps on the quay and the people who light them.";

pub(crate) fn settings_with(folder: &TempDir) -> WorkerSettings {
    WorkerSettings {
        state_dir: Some(folder.path().join("cache")),
        ..settings()
    }
}

fn host_with(folder: &TempDir) -> LocalHost {
    LocalHost::new(settings_with(folder)).unwrap()
}

pub(crate) fn of(chat: &str, segments: Vec<Segment>) -> Request {
    Request {
        cache_key: chat.into(),
        ..request(segments, 20)
    }
}

/// Runs a first turn that ends with a shutdown. Returns the reply.
async fn first_turn(folder: &TempDir, chats: &[&str]) -> Outcome {
    let host = host_with(folder);
    let provider = host.provider(&model(), 2048);
    let mut outcomes = Vec::new();
    for key in chats {
        outcomes.push(reply(&*provider, of(key, chat(&[FIRST]))).await);
    }
    host.shutdown().await;
    outcomes.remove(0)
}

pub(crate) fn second_prompt(first: &Outcome) -> Vec<Segment> {
    chat(&[FIRST, &first.text, "And the moon?"])
}

async fn second_turn(folder: &TempDir, key: &str, first: &Outcome) -> Outcome {
    let host = host_with(folder);
    let outcome = reply(
        &*host.provider(&model(), 2048),
        of(key, second_prompt(first)),
    )
    .await;
    host.shutdown().await;
    outcome
}

/// Returns the saved caches, oldest first.
pub(crate) fn files(folder: &TempDir) -> Vec<PathBuf> {
    let entries = |folder: &Path| {
        fs::read_dir(folder)
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().path())
            .collect::<Vec<_>>()
    };
    let mut files: Vec<_> = entries(&folder.path().join("cache"))
        .iter()
        .flat_map(|folder| entries(folder))
        .collect();
    files.sort_by_key(|file| fs::metadata(file).unwrap().modified().unwrap());
    files
}

pub(crate) fn is_cold(usage: Usage) -> bool {
    usage.reused == Some(0)
}

#[tokio::test]
async fn chat_resumes_from_a_saved_cache() {
    let folder = tempfile::tempdir().unwrap();
    let first = first_turn(&folder, &["chat"]).await;
    let saved = files(&folder);
    assert_eq!(saved.len(), 1);
    assert_eq!(
        fs::metadata(&saved[0]).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert_eq!(
        fs::metadata(saved[0].parent().unwrap())
            .unwrap()
            .permissions()
            .mode()
            & 0o777,
        0o700
    );

    let second = second_turn(&folder, "chat", &first).await;
    let usage = second.usage();
    assert!(
        usage.reused >= first.usage().prompt,
        "{usage:?} after {:?}",
        first.usage()
    );
    assert!(
        usage.evaluated < Some(20),
        "only the reply's end and the new message: {usage:?}"
    );
    let cold = host();
    let cold = reply(
        &*cold.provider(&model(), 2048),
        of("chat", second_prompt(&first)),
    )
    .await;
    assert!(is_cold(cold.usage()));
    assert_eq!(second.text, cold.text);
}

#[tokio::test]
async fn caches_are_saved_per_context_size() {
    let folder = tempfile::tempdir().unwrap();
    let first = first_turn(&folder, &["ada", "bob"]).await;
    assert_eq!(files(&folder).len(), 2);
    let host = host_with(&folder);
    let (ada, narrow) = (
        of("ada", second_prompt(&first)),
        host.provider(&model(), 1024),
    );
    assert!(
        is_cold(reply(&*narrow, ada.clone()).await.usage()),
        "another context size"
    );
    let usage = reply(&*host.provider(&model(), 2048), ada).await.usage();
    assert!(usage.reused >= first.usage().prompt, "{usage:?}");
    assert_eq!(
        files(&folder).len(),
        3,
        "changing the context size saved the unloaded cache"
    );
    host.shutdown().await;
}

#[tokio::test]
async fn caches_without_room_in_memory_go_to_disk() {
    let folder = tempfile::tempdir().unwrap();
    let host = LocalHost::new(WorkerSettings {
        cache_budget: 0,
        ..settings_with(&folder)
    })
    .unwrap();
    let provider = host.provider(&model(), 2048);
    let first = reply(&*provider, of("ada", chat(&[FIRST]))).await;
    reply(&*provider, of("bob", chat(&["Who are you?"]))).await;
    let again = reply(&*provider, of("ada", second_prompt(&first)))
        .await
        .usage();
    assert!(again.reused >= first.usage().prompt, "{again:?}");
}

#[tokio::test]
async fn deletes_damaged_or_foreign_cache_files() {
    let folder = tempfile::tempdir().unwrap();
    let first = first_turn(&folder, &["chat", "other"]).await;
    let saved = files(&folder);
    let (path, other) = (&saved[0], fs::read(&saved[1]).unwrap());
    let whole = fs::read(path).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    let half = whole[..whole.len() / 2].to_vec();
    for (what, bytes) in [
        ("empty", Vec::new()),
        ("half", half),
        ("one bit", flipped),
        ("another chat's", other),
    ] {
        fs::write(path, bytes).unwrap();
        let host = host_with(&folder);
        let outcome = reply(
            &*host.provider(&model(), 2048),
            of("chat", second_prompt(&first)),
        )
        .await;
        assert!(is_cold(outcome.usage()), "{what}: {outcome:?}");
        assert!(!path.exists(), "{what}");
        assert_eq!(host.status().deaths, 0, "{what}");
        host.shutdown().await;
    }
    let usage = second_turn(&folder, "chat", &first).await.usage();
    assert!(
        usage.reused > first.usage().prompt,
        "the rebuilt cache is saved: {usage:?}"
    );
}

#[tokio::test]
async fn cache_file_that_kills_the_worker_is_not_reused() {
    let folder = tempfile::tempdir().unwrap();
    let first = first_turn(&folder, &["chat"]).await;
    let path = files(&folder).remove(0);
    let whole = fs::read(&path).unwrap();
    // The seal is valid but llama.cpp's data is not, so llama.cpp may abort on it.
    for bytes in [
        &b"no state"[..],
        &whole[..8],
        &whole[..whole.len() / 2],
        &[&whole[..12], &[0xff; 9_000][..]].concat(),
    ] {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        let place = path
            .strip_prefix(folder.path().join("cache"))
            .unwrap()
            .to_str()
            .unwrap();
        worker::saved::append_checksum(&path, place).unwrap();
        let host = host_with(&folder);
        let provider = host.provider(&model(), 2048);
        let outcome = reply(&*provider, of("chat", second_prompt(&first))).await;
        assert!(
            outcome.end.is_ok() || outcome.error().message.contains("SIGABRT"),
            "{outcome:?}"
        );
        assert!(!path.exists());
        let outcome = reply(
            &*provider,
            of("chat", chat(&["What is the capital of France?"])),
        )
        .await;
        assert!(outcome.text.contains("Paris"), "{outcome:?}");
        assert_eq!(files(&folder), Vec::<PathBuf>::new());
        host.shutdown().await;
    }
}

#[tokio::test]
async fn deletes_the_oldest_caches_beyond_the_budget() {
    let folder = tempfile::tempdir().unwrap();
    first_turn(&folder, &["ada", "bob"]).await;
    let sizes: u64 = files(&folder)
        .iter()
        .map(|file| fs::metadata(file).unwrap().len())
        .sum();
    let (ada, bob) = (files(&folder).remove(0), files(&folder).remove(1));
    let settings = WorkerSettings {
        state_budget: sizes + 1_000,
        ..settings_with(&folder)
    };
    let host = LocalHost::new(settings).unwrap();
    reply(&*host.provider(&model(), 2048), of("cleo", chat(&[FIRST]))).await;
    host.shutdown().await;
    assert!(!ada.exists() && bob.exists());
    assert_eq!(files(&folder).len(), 2, "the latest remains");

    let none = LocalHost::new(WorkerSettings {
        state_budget: 0,
        ..settings_with(&folder)
    })
    .unwrap();
    assert!(is_cold(
        reply(&*none.provider(&model(), 2048), of("bob", chat(&[FIRST])))
            .await
            .usage()
    ));
}

#[tokio::test]
async fn forget_removes_a_chat_from_disk_and_memory() {
    let folder = tempfile::tempdir().unwrap();
    let first = first_turn(&folder, &["ada", "bob"]).await;
    let host = host_with(&folder);
    let provider = host.provider(&model(), 2048);
    assert!(!is_cold(
        reply(&*provider, of("ada", second_prompt(&first)))
            .await
            .usage()
    ));
    host.forget("ada");
    host.forget("never seen");
    assert!(is_cold(
        reply(&*provider, of("ada", second_prompt(&first)))
            .await
            .usage()
    ));
    host.forget("ada");
    host.shutdown().await;
    assert_eq!(files(&folder).len(), 1, "bob's");
    host.forget_all_but(["ada"]);
    assert!(files(&folder).is_empty());
}

/// Returns the chats with a saved cache for any model.
fn saved_chats<'c>(folder: &TempDir, chats: &[&'c str]) -> Vec<&'c str> {
    let saved = files(folder);
    let is_saved = |chat: &str| {
        saved
            .iter()
            .any(|file| file.ends_with(Part::Whole.file_name(chat)))
    };
    chats
        .iter()
        .copied()
        .filter(|chat| is_saved(chat))
        .collect()
}

#[tokio::test]
async fn withdrawn_text_leaves_the_disk_for_every_model() {
    let folder = tempfile::tempdir().unwrap();
    let first = first_turn(&folder, &["ada", "bob"]).await;
    let host = host_with(&folder);
    let provider = host.provider(&model(), 2048);
    reply(&*provider, of("ada", second_prompt(&first))).await;
    reply(&*provider, of("bob", chat(&[FIRST]))).await;
    host.exclude_from_saving(vec!["ada".into(), "bob".into(), "never seen".into()])
        .await
        .unwrap();
    assert_eq!(saved_chats(&folder, &["ada", "bob"]), [""; 0]);
    // Loading another context size saves both caches: ada's in memory and bob's, the last one used.
    reply(&*host.provider(&model(), 1024), of("cleo", chat(&[FIRST]))).await;
    host.shutdown().await;
    assert_eq!(saved_chats(&folder, &["ada", "bob", "cleo"]), ["cleo"]);
}

#[tokio::test]
async fn withdrawn_cache_is_saved_after_another_prompt() {
    let folder = tempfile::tempdir().unwrap();
    let host = host_with(&folder);
    let provider = host.provider(&model(), 2048);
    let first = reply(&*provider, of("ada", chat(&[FIRST]))).await;
    reply(&*provider, of("bob", chat(&[FIRST]))).await;
    host.exclude_from_saving(vec!["ada".into(), "bob".into()])
        .await
        .unwrap();
    let usage = reply(&*provider, of("ada", second_prompt(&first)))
        .await
        .usage();
    assert!(usage.reused >= first.usage().prompt, "{usage:?}");
    host.shutdown().await;
    assert_eq!(saved_chats(&folder, &["ada", "bob"]), ["ada"]);
}

#[tokio::test]
async fn withdrawn_text_is_not_saved_when_memory_is_full() {
    let folder = tempfile::tempdir().unwrap();
    let host = LocalHost::new(WorkerSettings {
        cache_budget: 0,
        ..settings_with(&folder)
    })
    .unwrap();
    let provider = host.provider(&model(), 2048);
    reply(&*provider, of("ada", chat(&[FIRST]))).await;
    host.exclude_from_saving(vec!["ada".into()]).await.unwrap();
    reply(&*provider, of("bob", chat(&[FIRST]))).await;
    reply(&*provider, of("cleo", chat(&[FIRST]))).await;
    assert_eq!(saved_chats(&folder, &["ada", "bob"]), ["bob"]);
    host.shutdown().await;
}

/// Returns the outcome of `request` if `leave` runs once 500 tokens are processed.
async fn left_half_read(
    host: &LocalHost,
    request: &Request,
    leave: impl Future<Output = ()>,
) -> Outcome {
    let provider = host.provider(&model(), 4096);
    let stream = provider::Provider::stream(
        &*provider,
        request.clone(),
        tokio_util::sync::CancellationToken::new(),
    );
    let (begun, reading) = tokio::sync::oneshot::channel();
    let mut begun = Some(begun);
    let watch = |_, event: &provider::GenerationEvent| {
        if let provider::GenerationEvent::Prefill { done: 500.., .. } = event {
            begun
                .take()
                .into_iter()
                .for_each(|begun| begun.send(()).unwrap());
        }
    };
    let leave = async {
        reading.await.unwrap();
        leave.await;
    };
    tokio::join!(follow(stream, watch), leave).0
}

#[tokio::test]
async fn shutdown_during_a_reply_saves_the_cache() {
    let folder = tempfile::tempdir().unwrap();
    let host = host_with(&folder);
    // Longer than what is read at once, and short enough for the second host to read the rest soon.
    let text = "The lamplighter walks along the quay and counts the ships. ".repeat(90);
    let long = Request {
        cache_key: "chat".into(),
        ..request(chat(&[&text]), 400)
    };
    let outcome = left_half_read(&host, &long, host.shutdown()).await;
    assert!(outcome.end.is_err());
    let host = host_with(&folder);
    let usage = reply(
        &*host.provider(&model(), 4096),
        Request {
            sampling: greedy(1),
            ..long
        },
    )
    .await
    .usage();
    assert!(usage.reused >= Some(500), "{usage:?}");
}

#[tokio::test]
async fn shutdown_after_a_withdrawal_saves_nothing_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let host = host_with(&folder);
    let long = Request {
        cache_key: "chat".into(),
        ..request(long_chat(), 4_000)
    };
    let leave = async {
        let gone = host.exclude_from_saving(vec!["chat".into()]);
        host.shutdown().await;
        gone.await.unwrap();
    };
    left_half_read(&host, &long, leave).await;
    assert_eq!(files(&folder), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn worker_that_does_not_exit_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = settings_with(&folder);
    settings.policy.shutdown_timeout = Duration::from_millis(300);
    let host = LocalHost::new(settings).unwrap();
    is_well(&*host.provider(&model(), 512)).await;
    let pid = host.status().pid.unwrap();
    signal(pid, Signal::STOP);
    let start = SystemTime::now();
    host.shutdown().await;
    assert!(start.elapsed().unwrap() < Duration::from_secs(2));
    assert!(!is_running(pid));
    assert!(files(&folder).is_empty());
}
