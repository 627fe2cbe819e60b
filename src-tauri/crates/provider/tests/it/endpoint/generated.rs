//! Generated streams: valid text with arbitrary noise around it, split at arbitrary positions.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::json;

use super::support::*;

const CASES: u32 = 400;

/// Events between two pieces of text that must not change the reply.
fn noise() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "",
        ": ping\n\n",
        ":\n\n",
        "data:\n\n",
        "data: {\"choices\":[]}\n\n",
        "data: {\"type\":\"ping\"}\n\n",
        "data: {\"choices\":[null],\"usage\":\"none\"}\n\n",
        "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"\"}],\"usage\":{\"prompt_tokens\":\"9\"}}\n\n",
        "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"hm\"},\"finish_reason\":\"null\"}],\"error\":{}}\n\n",
        "event: message\nid: 7\nretry: 10\n\n",
        "nonsense\n\n",
    ])
    .prop_map(str::to_owned)
}

fn reason() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["null", "\"\"", "\"null\"", "false", "{}"])
}

/// Words with characters of every UTF-8 length. Each gets a number, so that no text is a prefix of
/// another.
fn word() -> impl Strategy<Value = String> {
    "[a-zé山🦊 \n\"\\\\]{1,8}"
}

fn sse(text: &str, reason: &str, escaped: bool, split: bool) -> String {
    let mut content = json!(text).to_string();
    if escaped {
        let units = text.encode_utf16().map(|unit| format!("\\u{unit:04x}"));
        content = format!("\"{}\"", units.collect::<String>());
    }
    let body = format!(
        "{{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":{content}}},\"finish_reason\":{reason}}}]}}"
    );
    if split {
        format!(
            "data: {}\n\n",
            body.replacen(",\"delta\"", ",\ndata: \"delta\"", 1)
        )
    } else {
        format!("data: {body}\n\n")
    }
}

/// `cargo xtask fuzz` sets another seed in each round.
fn config() -> ProptestConfig {
    let seed = std::env::var("PROPTEST_RNG_SEED")
        .ok()
        .and_then(|seed| seed.parse().ok());
    ProptestConfig {
        cases: CASES,
        rng_seed: RngSeed::Fixed(seed.unwrap_or(27)),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn seen(bytes: &[u8], cuts: &[prop::sample::Index]) -> Seen {
    let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    at.sort_unstable();
    let starts = std::iter::once(0).chain(at.iter().copied());
    let pieces = starts.zip(at.iter().copied().chain([bytes.len()]));
    let play = stream("")
        .into_iter()
        .chain(pieces.map(|(from, to)| Step::Bytes(bytes[from..to].to_vec())))
        .collect();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(run(vec![play; 3])).0
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn text_survives_noise_and_splits(
        words in prop::collection::vec((word(), noise(), reason(), any::<bool>(), any::<bool>()), 1..12),
        crlf in any::<bool>(),
        done in any::<bool>(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let words = words.into_iter().enumerate().map(|(at, (word, noise, reason, escaped, split))| {
            (format!("{at}{word}"), noise, reason, escaped, split)
        });
        let (mut text, mut body) = (String::new(), String::new());
        for (word, noise, reason, escaped, split) in words {
            body += &(noise + &sse(&word, reason, escaped, split));
            text += &word;
        }
        body += &ends("stop");
        body += if done { DONE } else { "" };
        if crlf {
            body = body.replace('\n', "\r\n");
        }
        let seen = seen(body.as_bytes(), &cuts);
        let without_thoughts = seen.line.replace("(hm)", "");
        prop_assert_eq!(&without_thoughts, &format!("{text}[Stop]"), "{:?}", seen.error);
    }

    #[test]
    fn cuts_do_not_change_the_result(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "data: ", "data:", "\n\n", "\r\n", "\n", ": c", "event: error\n", "{\"choices\":[{\"delta\":{\"content\":\"Hi ",
                "\"}}]}", "\\ud83d", "\\ude00", "<think>", "</think>", "<|im_end|>", "[DONE]", "{\"error\":", "\"x\"}", "null", "NaN",
                "\"finish_reason\":\"stop\"", ",", "🦊", "{}", "[]",
            ]),
            0..24,
        ),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let body = parts.concat();
        let whole = seen(body.as_bytes(), &[]);
        // The client tells a stream from a web page by the first bytes, so only clear streams are
        // compared.
        if body.starts_with("data") {
            prop_assert_eq!(seen(body.as_bytes(), &cuts).line, whole.line);
        }
    }
}
