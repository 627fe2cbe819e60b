//! A stream that is cut after each of its bytes.

use futures_util::{StreamExt, stream};
use proptest::prelude::*;

use super::support::*;

fn sample() -> String {
    let role =
        "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\r\n\r\n";
    let usage =
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":4}}\n\n";
    [
        role,
        &says("Dös "),
        ": ping\n\n",
        &says("lämp "),
        &says("is 🔥."),
        &ends("stop"),
        usage,
        DONE,
    ]
    .concat()
}

/// Expected result if only the first `cut` bytes of [`sample`] arrive in three attempts. Derived
/// from the position of each chunk's last byte.
fn expected(cut: usize) -> String {
    let sample = sample();
    let whole = |end: &str| sample.find(end).is_some_and(|at| at + end.len() <= cut);
    let text: String = ["Dös ", "lämp ", "is 🔥."]
        .into_iter()
        .filter(|text| whole(says(text).trim_end()))
        .collect();
    if whole(ends("stop").trim_end()) {
        format!("{text}[Stop]")
    } else if text.is_empty() {
        "~~[Cut]".to_owned()
    } else {
        format!("{text}[Cut]")
    }
}

#[tokio::test]
async fn cut_reply_keeps_its_text_and_ends_once() {
    let sample = sample();
    stream::iter(0..=sample.len())
        .for_each_concurrent(16, |cut| {
            let bytes = &sample.as_bytes()[..cut];
            async move {
                let (seen, requests) = run(vec![stream_of(bytes); 3]).await;
                assert_eq!(seen.line, expected(cut), "cut after byte {cut}");
                assert_eq!(
                    requests,
                    if seen.line.starts_with('~') { 3 } else { 1 },
                    "cut after byte {cut}"
                );
            }
        })
        .await;
}

#[tokio::test]
async fn reset_reply_ends_once() {
    let sample = sample();
    stream::iter((0..=sample.len()).step_by(7))
        .for_each_concurrent(16, |cut| {
            let play = [stream_of(&sample.as_bytes()[..cut]), vec![Step::Reset]].concat();
            async move {
                // A reset may overtake bytes that were sent before it, so only a prefix of the text
                // is certain.
                let (seen, requests) = run(vec![play; 3]).await;
                let text = seen
                    .line
                    .trim_start_matches('~')
                    .split('[')
                    .next()
                    .unwrap()
                    .to_owned();
                assert!(
                    "Dös lämp is 🔥.".starts_with(&text),
                    "reset after byte {cut}: {}",
                    seen.line
                );
                assert!((1..=3).contains(&requests));
            }
        })
        .await;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn damaged_reply_ends_once(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), any::<bool>()), 1..6),
    ) {
        let mut bytes = sample().into_bytes();
        for (at, byte, inserts) in damage {
            let at = at.index(bytes.len());
            if inserts { bytes.insert(at, byte) } else { bytes[at] = byte }
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        // `watch` asserts exactly one final event and no panic.
        let (_, requests) = runtime.block_on(run(vec![stream_of(&bytes); 3]));
        prop_assert!((1..=3).contains(&requests));
    }
}

#[tokio::test]
async fn reply_in_single_bytes_is_complete() {
    let pieces = sample()
        .into_bytes()
        .into_iter()
        .map(|byte| Step::Bytes(vec![byte]));
    let play: Play = stream_of(b"").into_iter().chain(pieces).collect();
    assert_eq!(run(vec![play]).await.0.line, "Dös lämp is 🔥.[Stop]");
}

fn stream_of(bytes: &[u8]) -> Play {
    super::support::stream(bytes)
}
