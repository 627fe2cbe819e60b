use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use local::{LocalHost, Policy, WorkerSettings, WorkerState};
use provider::{FinishReason, GenerationEvent, Provider, ProviderErrorKind};
use rustix::process::Signal;
use tokio_util::sync::CancellationToken;
use worker::protocol::{
    Generate, Load, LoadPurpose, Tuning, WireSampling, WireSegment, WorkerReply, WorkerRequest,
};

use crate::support::*;
use crate::tiny_models;

/// Sends a signal to the worker in an endless reply, as [`killed_during`] does.
async fn killed(host: &LocalHost, provider: &dyn Provider, with: Signal, at: usize) -> Outcome {
    killed_during(endless(), host, provider, with, at).await
}

#[tokio::test]
async fn recovers_from_a_death_at_any_moment() {
    let host = host();
    let provider = host.provider(&model(), 512);
    for round in 0..20 {
        let (with, name) = if round % 2 == 0 {
            (Signal::KILL, "SIGKILL")
        } else {
            (Signal::ABORT, "SIGABRT")
        };
        // Multiplying by 7 modulo 31 spreads the kills over loading, prompt processing and
        // generation.
        let outcome = killed(&host, &*provider, with, round * 7 % 31).await;
        assert_eq!(
            outcome.error().kind,
            ProviderErrorKind::WorkerDied,
            "{outcome:?}"
        );
        assert!(
            outcome.error().message.contains(name),
            "{}",
            outcome.error()
        );
        assert!(!outcome.error().hint.is_empty());
        if round % 3 == 0 {
            is_well(&*provider).await;
        }
    }
    is_well(&*provider).await;
    assert_eq!(host.status().deaths, 20);
}

/// A hybrid model makes checkpoints while it reads and writes, and saves two files for the chat.
#[tokio::test]
async fn recovers_from_deaths_between_checkpoints() {
    let rounds: usize =
        std::env::var("INGLENOOK_DEATHS").map_or(20, |rounds| rounds.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let settings = WorkerSettings {
        state_dir: Some(folder.path().join("cache")),
        ..settings()
    };
    let host = LocalHost::new(settings).unwrap();
    let path = tiny_models::write("qwen35", folder.path());
    let provider = host.provider(&model_at(path), 2048);
    let asked = |tokens| {
        request(
            chat(&[&"The lamplighter counts the ships. ".repeat(30)]),
            tokens,
        )
    };
    for round in 0..rounds {
        // Multiplying by 37 modulo 101 spreads the kills over loading, prompt processing and
        // generation.
        let outcome = killed_during(
            asked(900),
            &host,
            &*provider,
            Signal::KILL,
            round * 37 % 101,
        )
        .await;
        assert_eq!(
            outcome.error().kind,
            ProviderErrorKind::WorkerDied,
            "{outcome:?}"
        );
        if round % 5 == 0 {
            assert_eq!(
                reply(&*provider, asked(20)).await.reason(),
                FinishReason::Length
            );
        }
    }
    assert_eq!(host.status().deaths as usize, rounds);
}

#[tokio::test]
async fn recovers_from_a_death_between_requests() {
    let host = host();
    let provider = host.provider(&model(), 512);
    is_well(&*provider).await;
    signal(host.status().pid.unwrap(), Signal::KILL);
    host.watch()
        .wait_for(|status| status.state == WorkerState::Dead)
        .await
        .unwrap();
    is_well(&*provider).await;
    assert_eq!(host.status().deaths, 1);
}

#[tokio::test]
async fn gives_up_after_three_deaths_per_context_size() {
    let policy = Policy {
        backoff: Duration::from_millis(1),
        ..Policy::default()
    };
    let host = LocalHost::new(WorkerSettings {
        policy,
        ..settings()
    })
    .unwrap();
    let provider = host.provider(&model(), 1024);
    for _ in 0..3 {
        let outcome = killed(&host, &*provider, Signal::ABORT, 2).await;
        assert!(
            outcome
                .error()
                .message
                .starts_with("the inference worker died: SIGABRT"),
            "{outcome:?}"
        );
    }
    let outcome = reply(&*provider, endless()).await;
    assert_eq!(outcome.error().kind, ProviderErrorKind::WorkerDied);
    assert!(
        outcome
            .error()
            .message
            .contains("died 3 times within 5 minutes"),
        "{}",
        outcome.error()
    );
    assert!(
        outcome.error().hint.contains("smaller context size"),
        "{}",
        outcome.error().hint
    );
    assert_eq!(host.status().pid, None);
    is_well(&*host.provider(&model(), 512)).await;
}

#[tokio::test]
async fn silent_worker_is_reported_then_killed() {
    let policy = Policy {
        stall_notice: Duration::from_secs(1),
        reply_timeout: Duration::from_secs(4),
        ..settings().policy
    };
    let host = LocalHost::new(WorkerSettings {
        policy,
        ..settings()
    })
    .unwrap();
    let provider = host.provider(&model(), 512);
    is_well(&*provider).await;
    let outcome = killed(&host, &*provider, Signal::STOP, 2).await;
    assert_eq!(outcome.error().kind, ProviderErrorKind::WorkerDied);
    assert!(
        outcome
            .error()
            .message
            .contains("it sent nothing for 4 seconds"),
        "{}",
        outcome.error()
    );
    assert!(
        outcome
            .events
            .iter()
            .any(|event| matches!(event, GenerationEvent::Stalled { .. })),
        "{outcome:?}"
    );
    is_well(&*provider).await;
}

#[tokio::test]
async fn no_worker_outlives_its_host() {
    let idle = host();
    is_well(&*idle.provider(&model(), 512)).await;
    let pid = idle.status().pid.unwrap();
    drop(idle);
    until("the end of the idle worker", || !is_running(pid)).await;

    let busy = host();
    let mut status = busy.watch();
    let stream = busy
        .provider(&model(), 512)
        .stream(endless(), CancellationToken::new());
    let pid = status
        .wait_for(|status| status.state == WorkerState::Busy)
        .await
        .unwrap()
        .pid
        .unwrap();
    drop(busy);
    let outcome = follow(stream, |_, _| {}).await;
    assert_eq!(outcome.error().kind, ProviderErrorKind::Cut);
    until("the end of the busy worker", || !is_running(pid)).await;

    let shut_down = host();
    let provider = shut_down.provider(&model(), 512);
    is_well(&*provider).await;
    let pid = shut_down.status().pid.unwrap();
    shut_down.shutdown().await;
    assert!(!is_running(pid));
    assert_eq!(
        reply(&*provider, endless()).await.error().kind,
        ProviderErrorKind::Cut
    );
    assert!(shut_down.count(&model(), &[plain("a")]).await.is_err());
}

/// Child process for `no_worker_outlives_a_killed_app`: prints its worker's id and generates until
/// it is killed.
#[tokio::test]
#[ignore = "run by no_worker_outlives_a_killed_app"]
async fn killed_app_child() {
    let host = host();
    let provider = host.provider(&model(), 512);
    is_well(&*provider).await;
    println!("worker {}", host.status().pid.unwrap());
    reply(&*provider, endless()).await;
}

#[tokio::test]
async fn no_worker_outlives_a_killed_app() {
    let mut app = Command::new(std::env::current_exe().unwrap())
        .args([
            "--ignored",
            "--exact",
            "--nocapture",
            "death::killed_app_child",
        ])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(app.stdout.take().unwrap()).lines();
    let pid = lines
        .map(Result::unwrap)
        .find_map(|line| line.split_once("worker ")?.1.trim().parse().ok())
        .unwrap();
    assert!(is_running(pid));
    app.kill().unwrap();
    app.wait().unwrap();
    until("the end of the worker", || !is_running(pid)).await;
}

#[test]
fn worker_exits_when_stdin_closes() {
    let settings = settings();
    let mut child = Command::new(&settings.worker)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut pipe, mut frames) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let path = model_path().to_str().unwrap().to_owned();
    let load = Load {
        path,
        context: 4096,
        threads: 1,
        gpu_layers: 0,
        purpose: LoadPurpose::Replies,
        aside: 0,
        saved: None,
        tuning: Tuning::default(),
        projector: None,
    };
    let sampling = WireSampling {
        seed: 1,
        ..WireSampling::default()
    };
    let segments = vec![WireSegment {
        text: "1, 2, 3, 4,".into(),
        control: false,
    }];
    let (stop, max_tokens) = (vec![], 4_000);
    let generate = Generate {
        id: 1,
        cache_key: "k".into(),
        background: false,
        segments,
        pictures: Vec::new(),
        sampling,
        stop,
        max_tokens,
        rules: Box::default(),
    };
    worker::frame::write(&mut pipe, &WorkerRequest::Load(load)).unwrap();
    worker::frame::write(&mut pipe, &WorkerRequest::Generate(generate)).unwrap();
    while !matches!(
        worker::frame::read(&mut frames).unwrap().unwrap(),
        WorkerReply::Text { .. }
    ) {}
    drop(pipe);
    // A worker that continued would write 4,000 pieces.
    let mut rest = 0;
    while let Ok(Some(WorkerReply::Text { .. })) = worker::frame::read(&mut frames) {
        rest += 1;
    }
    assert!(rest < 200, "{rest} more pieces");
    assert!(child.wait().unwrap().success());
}

#[test]
fn worker_answers_invalid_frames_with_errors() {
    let settings = settings();
    let mut child = Command::new(&settings.worker)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut pipe, mut frames) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut next = || {
        worker::frame::read::<WorkerReply>(&mut frames)
            .unwrap()
            .unwrap()
    };
    assert!(matches!(next(), WorkerReply::Ready { .. }));
    pipe.write_all(b"\x02\0\0\0{]").unwrap();
    assert!(matches!(next(), WorkerReply::Error { id: None, .. }));
    worker::frame::write(
        &mut pipe,
        &WorkerRequest::Count {
            id: 5,
            texts: vec![],
        },
    )
    .unwrap();
    assert!(matches!(next(), WorkerReply::Error { id: Some(5), .. }));
    drop(pipe);
    assert!(child.wait().unwrap().success());
}

/// Writes a program that does not speak the worker protocol.
fn bogus(folder: &tempfile::TempDir, name: &str, script: &str) -> WorkerSettings {
    let path = folder.path().join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let policy = Policy {
        handshake: Duration::from_millis(500),
        ..settings().policy
    };
    WorkerSettings {
        worker: path,
        policy,
        ..settings()
    }
}

#[tokio::test]
async fn other_programs_give_a_typed_error() {
    let folder = tempfile::tempdir().unwrap();
    let old = WorkerReply::Ready {
        protocol: 0,
        build: String::new(),
        devices: Vec::new(),
    };
    std::fs::write(
        folder.path().join("old.frame"),
        worker::frame::encode(&old).unwrap(),
    )
    .unwrap();
    let other = format!(
        "it speaks version 0 of the protocol, not {}",
        worker::protocol::PROTOCOL
    );
    for (name, script, why) in [
        (
            "garbage",
            "echo garbage garbage; exec /bin/cat",
            "a frame of 1651663207 bytes",
        ),
        (
            "exits",
            "echo lost a library >&2; exit 3",
            "it exited with code 3; its last output: lost a library",
        ),
        ("silent", "exec /bin/cat", "it sent nothing for 0.5 seconds"),
        (
            "cut",
            "printf '\\012\\0\\0\\0{'",
            "the pipe ended inside a frame, after 1 of 10 bytes",
        ),
        ("old", "exec /bin/cat old.frame", &other),
    ] {
        let host = LocalHost::new(bogus(&folder, name, script)).unwrap();
        let outcome = reply(&*host.provider(&model(), 512), endless()).await;
        assert_eq!(
            outcome.error().kind,
            ProviderErrorKind::Malformed,
            "{outcome:?}"
        );
        assert!(
            outcome.error().message.contains(why),
            "{name}: {}",
            outcome.error()
        );
        assert!(
            host.count(&model(), &[plain("a")]).await.is_err(),
            "{name}: counting fails too"
        );
    }
    let missing = WorkerSettings {
        worker: folder.path().join("none"),
        ..settings()
    };
    let host = LocalHost::new(missing).unwrap();
    let outcome = reply(&*host.provider(&model(), 512), endless()).await;
    assert!(
        outcome
            .error()
            .message
            .contains("cannot start the inference worker")
            && outcome.error().message.contains("none"),
        "{outcome:?}"
    );
}
