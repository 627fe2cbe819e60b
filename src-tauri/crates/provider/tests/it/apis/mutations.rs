//! Damaged streams of every API: cut, garbled and reordered. Each reply ends exactly once, without
//! a panic or a hang.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use provider::Provider;
use tokio_util::sync::CancellationToken;

use super::service::{Answer, Service, client, services};
use crate::endpoint::support::{FaultServer, request, stream, timeouts, watch};

/// Damaged streams per API.
const CASES: u32 = 500;
/// No damaged stream may keep a reply open for longer.
const LONGEST: Duration = Duration::from_secs(20);

fn sample(service: &dyn Service) -> String {
    let pieces = ["The ", "lämp ", "is 🔥."].map(str::to_owned).to_vec();
    service.write(&Answer {
        thought: "Hm.",
        pieces,
        calls: true,
        limited: false,
    })
}

#[derive(Debug, Clone)]
enum Damage {
    Cut(prop::sample::Index),
    Replace(prop::sample::Index, u8),
    Insert(prop::sample::Index, &'static str),
    /// Swaps two lines.
    Swap(prop::sample::Index, prop::sample::Index),
    /// Repeats a line.
    Repeat(prop::sample::Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    use prop::sample::Index;
    let odd = prop::sample::select(vec![
        "null",
        "{",
        "}",
        "[",
        "\"",
        "\\ud83d",
        "-1e999",
        "\n\n",
        "\r",
        "data: ",
        "event: error\n",
        "{}",
        "[[[[[[",
        "\0",
        "true",
    ]);
    prop_oneof![
        any::<Index>().prop_map(Damage::Cut),
        (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Damage::Replace(at, byte)),
        (any::<Index>(), odd).prop_map(|(at, text)| Damage::Insert(at, text)),
        (any::<Index>(), any::<Index>()).prop_map(|(one, other)| Damage::Swap(one, other)),
        any::<Index>().prop_map(Damage::Repeat),
    ]
}

fn damaged(sample: &str, damages: &[Damage]) -> Vec<u8> {
    let mut bytes = sample.as_bytes().to_vec();
    for damage in damages {
        let mut lines: Vec<Vec<u8>> = bytes
            .split_inclusive(|byte| *byte == b'\n')
            .map(<[u8]>::to_vec)
            .collect();
        match damage {
            Damage::Cut(at) => bytes.truncate(at.index(bytes.len() + 1)),
            Damage::Replace(at, byte) if !bytes.is_empty() => {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            Damage::Insert(at, text) => {
                let at = at.index(bytes.len() + 1);
                bytes.splice(at..at, text.bytes());
            }
            Damage::Swap(one, other) if !lines.is_empty() => {
                let (one, other) = (one.index(lines.len()), other.index(lines.len()));
                lines.swap(one, other);
                bytes = lines.concat();
            }
            Damage::Repeat(at) if !lines.is_empty() => {
                let at = at.index(lines.len());
                lines.insert(at, lines[at].clone());
                bytes = lines.concat();
            }
            _ => {}
        }
    }
    bytes
}

#[test]
fn damaged_streams_end_exactly_once() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    for service in services() {
        let sample = sample(service.as_ref());
        let config = Config {
            cases: CASES,
            failure_persistence: None,
            ..Config::default()
        };
        let checked =
            TestRunner::new(config).run(&prop::collection::vec(damage(), 1..6), |damages| {
                let bytes = damaged(&sample, &damages);
                runtime.block_on(async {
                    let server = FaultServer::start(vec![stream(&bytes); 3]).await;
                    let reply = watch(
                        client(service.as_ref(), server.port)
                            .stream(request(), CancellationToken::new()),
                    );
                    let ended = tokio::time::timeout(LONGEST, reply).await;
                    prop_assert!(ended.is_ok(), "a reply that does not end");
                    Ok(())
                })
            });
        checked.unwrap_or_else(|error| panic!("{:?}: {error}", service.kind()));
    }
}

/// A service whose stream stops in the middle and stays open is reported by the timeout between
/// texts.
#[tokio::test]
async fn endless_silence_is_a_timeout() {
    use crate::endpoint::support::Step;
    for service in services() {
        let whole = sample(service.as_ref());
        let half = whole.find("lämp").unwrap();
        let begun = whole[..half].rfind('\n').unwrap() + 1;
        let play = [stream(&whole[..begun]), vec![Step::UntilHungUp]].concat();
        let server = FaultServer::start(vec![play]).await;
        let short = Duration::from_millis(50);
        let timeouts = provider::Timeouts {
            between_texts: short,
            first_text: short,
            ..timeouts()
        };
        let config = super::service::config(service.as_ref(), server.port).with_timeouts(timeouts);
        let client = provider::EndpointClient::new(config).unwrap();
        let seen = watch(client.stream(request(), CancellationToken::new())).await;
        assert!(
            seen.line.ends_with("[Timeout]"),
            "{:?}: {}",
            service.kind(),
            seen.line
        );
        server.client_hung_up().await;
    }
}

/// Reads the stream as slowly as a network can deliver it.
#[tokio::test]
async fn single_bytes_make_the_same_reply() {
    use crate::endpoint::support::Step;
    for service in services() {
        let whole = sample(service.as_ref());
        let play: Vec<Step> = stream("")
            .into_iter()
            .chain(whole.bytes().map(|byte| Step::Bytes(vec![byte])))
            .collect();
        let server = FaultServer::start(vec![play]).await;
        let client: Arc<dyn Provider> = Arc::new(client(service.as_ref(), server.port));
        let seen = watch(client.stream(request(), CancellationToken::new())).await;
        let words = seen.line.trim_start_matches("(Hm.)");
        assert!(
            words.starts_with("The lämp is 🔥.") && words.ends_with("[Stop]"),
            "{}",
            seen.line
        );
    }
}
