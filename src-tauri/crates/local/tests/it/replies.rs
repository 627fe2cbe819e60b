use domain::sampling::SamplerOptions;
use local::{LocalHost, WorkerSettings, WorkerState};
use provider::{
    FinishReason, GenerationEvent, Provider, ProviderErrorKind, Request, ResponseSchema,
};
use tokio_util::sync::CancellationToken;

use crate::support::*;

#[tokio::test]
async fn replies_with_usage() {
    let host = host();
    let provider = host.provider(&model(), 2048);
    let outcome = reply(
        &*provider,
        request(chat(&["What is the capital of France?"]), 64),
    )
    .await;
    assert!(outcome.text.contains("Paris"), "{outcome:?}");
    assert!(!outcome.text.contains("<|"), "{outcome:?}");
    assert_eq!(outcome.reason(), FinishReason::Stop);
    let usage = outcome.usage();
    let total: u32 = host
        .count(&model(), &chat(&["What is the capital of France?"]))
        .await
        .unwrap()
        .iter()
        .sum();
    assert_eq!(
        usage.prompt,
        Some(total),
        "the count equals the sent tokens"
    );
    assert_eq!((usage.reused, usage.evaluated), (Some(0), Some(total)));
    assert!(matches!(usage.generated, Some(3..64)), "{usage:?}");
    let (_, _, timings) = outcome.end.unwrap();
    assert!(
        timings.prefill_ms > 0.0
            && timings.decode_ms > 0.0
            && timings.first_text_ms >= timings.prefill_ms
    );
    let order: Vec<_> = outcome.events.iter().map(std::mem::discriminant).collect();
    let first = |event: &GenerationEvent| {
        order
            .iter()
            .position(|kind| *kind == std::mem::discriminant(event))
            .unwrap()
    };
    assert!(
        first(&GenerationEvent::Loading { fraction: 0.0 })
            < first(&outcome.events[order.len() - 1])
    );
    assert!(outcome.events.contains(&GenerationEvent::Prefill {
        done: total,
        total,
        reused: 0
    }));
}

#[tokio::test]
async fn second_turn_evaluates_only_new_tokens() {
    let host = host();
    let provider = host.provider(&model(), 2048);
    let first = reply(&*provider, request(chat(&["Tell me about the sea."]), 60)).await;
    let messages = [
        "Tell me about the sea.",
        &first.text,
        "Thank you. And the moon?",
    ];
    let second = reply(&*provider, request(chat(&messages), 8)).await;
    let new = [chat(&messages)[8..].to_vec(), vec![control("<|im_end|>\n")]].concat();
    let new: u32 = provider.count(&new).await.unwrap().iter().sum();
    let usage = second.usage();
    assert!(usage.reused >= first.usage().prompt, "{usage:?}");
    assert!(usage.evaluated.unwrap() <= new + 2, "{usage:?}, {new} new");
    assert_eq!(
        usage.reused.unwrap() + usage.evaluated.unwrap(),
        usage.prompt.unwrap()
    );
}

#[tokio::test]
async fn prefetched_prompt_is_reused() {
    let host = host();
    let provider = host.provider(&model(), 2048);
    let ahead = reply(&*provider, request(chat(&["Tell me about the sea."]), 0)).await;
    assert_eq!(
        (ahead.text.as_str(), ahead.reason(), ahead.usage().generated),
        ("", FinishReason::Length, Some(0))
    );
    let later = reply(&*provider, request(chat(&["Tell me about the sea."]), 5)).await;
    assert_eq!(
        later.usage().evaluated,
        Some(1),
        "the last token is evaluated again for its logits"
    );
}

/// Every sampler reaches llama.cpp without a crash. With one seed the reply is reproducible.
#[tokio::test]
async fn every_sampler_works_and_is_reproducible() {
    use domain::sampling::{Dry, Dynatemp, Mirostat, Sampling, Xtc};
    let host = host();
    let provider = host.provider(&model(), 2048);
    let plain = Sampling {
        temperature: 1.0,
        top_k: 0,
        top_p: 1.0,
        seed: 7,
        ..greedy(24)
    };
    let drawn = async |key: String, sampling: Sampling| {
        let mut request = request(chat(&["Tell me about the sea."]), 24);
        // Each gets a new cache key: evaluating a prompt in other chunks changes the last bits of
        // the logits.
        (request.cache_key, request.sampling) = (key, sampling);
        let outcome = reply(&*provider, request).await;
        assert!(outcome.end.is_ok(), "{outcome:?}");
        outcome.text
    };
    let chains = [
        plain.clone(),
        Sampling {
            typical_p: 0.2,
            ..plain.clone()
        },
        Sampling {
            top_n_sigma: 0.3,
            ..plain.clone()
        },
        Sampling {
            frequency_penalty: 2.0,
            presence_penalty: 2.0,
            repeat_range: 1_000,
            ..plain.clone()
        },
        Sampling {
            dry: Dry {
                multiplier: 4.0,
                base: 2.0,
                allowed_length: 1,
                range: 0,
                breakers: Vec::new(),
            },
            ..greedy(24)
        },
        Sampling {
            xtc: Xtc {
                probability: 1.0,
                threshold: 0.05,
            },
            ..plain.clone()
        },
        Sampling {
            mirostat: Mirostat {
                version: 1,
                tau: 2.0,
                eta: 0.1,
            },
            ..plain.clone()
        },
        Sampling {
            mirostat: Mirostat {
                version: 2,
                tau: 2.0,
                eta: 0.1,
            },
            ..plain.clone()
        },
        Sampling {
            dynatemp: Dynatemp {
                range: 0.9,
                exponent: 1.0,
            },
            ..plain.clone()
        },
    ];
    let mut texts = Vec::new();
    for (at, sampling) in chains.into_iter().enumerate() {
        let text = drawn(format!("{at}"), sampling.clone()).await;
        assert!(!text.is_empty(), "{sampling:?}");
        assert_eq!(
            drawn(format!("{at} again"), sampling.clone()).await,
            text,
            "{sampling:?}"
        );
        texts.push(text);
    }
    assert_ne!(texts[5], texts[0], "the most likely tokens are excluded");
    let odd = Sampling {
        dry: Dry {
            multiplier: 5.0,
            base: 0.0,
            allowed_length: u32::MAX,
            range: u32::MAX,
            breakers: vec!["\0".into(), String::new()],
        },
        xtc: Xtc {
            probability: 9.0,
            threshold: -1.0,
        },
        repeat_range: u32::MAX,
        frequency_penalty: f32::NAN,
        ..plain.clone()
    };
    drawn("odd".to_owned(), odd).await;
}

#[tokio::test]
async fn cache_reuse_does_not_change_a_reply() {
    let messages = [
        "Name three colours.",
        "Red, green and blue.",
        "Name three animals.",
    ];
    let (warm, cold) = (host(), host());
    let warm = warm.provider(&model(), 2048);
    reply(&*warm, request(chat(&messages[..1]), 30)).await;
    let warm = reply(&*warm, request(chat(&messages), 30)).await;
    let cold = reply(
        &*cold.provider(&model(), 2048),
        request(chat(&messages), 30),
    )
    .await;
    assert!(warm.usage().reused > Some(20), "{warm:?}");
    assert_eq!(cold.usage().reused, Some(0));
    assert_eq!(warm.text, cold.text);
}

#[tokio::test]
async fn alternating_chats_keep_their_caches() {
    let host = host();
    let provider = host.provider(&model(), 2048);
    let ask = async |key: &str, message: String| {
        let mut request = request(chat(&[&message]), 4);
        request.cache_key = key.into();
        reply(&*provider, request).await.usage()
    };
    let long =
        |name: &str| format!("{name} lights the lamps of the harbour every evening. ").repeat(20);
    let first = ask("ada", long("Ada")).await;
    ask("bob", long("Bob")).await;
    let again = ask("ada", long("Ada") + "Why?").await;
    assert!(
        again.reused.unwrap() + 16 > first.prompt.unwrap(),
        "{again:?} after {first:?}"
    );
}

/// There is no memory for inactive caches here, so the chat's own cache must stay in place.
#[tokio::test]
async fn helper_job_keeps_the_chat_cached() {
    let host = LocalHost::new(WorkerSettings {
        cache_budget: 0,
        ..settings()
    })
    .unwrap();
    let provider = host.provider(&model(), 512);
    let ask = async |key: &str, background, message: String| {
        let request = Request {
            cache_key: key.into(),
            background,
            ..request(chat(&[&message]), 4)
        };
        reply(&*provider, request).await.usage()
    };
    let long = "Ada lights the lamps of the harbour every evening. ".repeat(20);
    ask("ada", false, long.clone()).await;
    ask("job", true, "Who speaks next?".to_owned()).await;
    assert_eq!(ask("ada", false, long.clone()).await.evaluated, Some(1));
    assert_eq!(
        ask("job", true, "Who speaks next?".to_owned())
            .await
            .evaluated,
        Some(1)
    );
    let both = ask("job", true, long.repeat(2)).await;
    assert_eq!(
        both.reused.unwrap() + both.evaluated.unwrap(),
        both.prompt.unwrap(),
        "a job may need all the room"
    );
    let again = ask("ada", false, long).await;
    assert_eq!(
        again.reused.unwrap() + again.evaluated.unwrap(),
        again.prompt.unwrap()
    );
}

#[tokio::test]
async fn seed_determines_the_reply() {
    let host = host();
    let provider = host.provider(&model(), 2048);
    let draw = async |seed| {
        let mut request = request(chat(&["Tell me a story about a fox."]), 40);
        request.sampling = SamplerOptions {
            max_tokens: Some(40),
            ..SamplerOptions::default()
        }
        .resolve(seed);
        request.cache_key = seed.to_string();
        reply(&*provider, request).await.text
    };
    let first = draw(7).await;
    assert_eq!(draw(7).await, first);
    assert_ne!(draw(8).await, first);
}

#[tokio::test]
async fn stop_text_ends_the_reply_and_is_removed() {
    let host = host();
    let mut request = endless();
    request.prompt.stop = vec!["15, 16".into()];
    let outcome = reply(&*host.provider(&model(), 2048), request).await;
    assert_eq!(outcome.reason(), FinishReason::Stop);
    assert!(
        outcome.text.contains("14") && !outcome.text.contains("15"),
        "{outcome:?}"
    );
}

/// The model's most likely first token is the end of turn here; the sampler must still produce
/// text.
#[tokio::test]
async fn reply_is_never_empty() {
    let host = host();
    let provider = host.provider(&model(), 2048);
    let mut said = chat(&["What is the capital of France?"]);
    let first = reply(&*provider, request(said.clone(), 64)).await;
    assert_eq!(first.reason(), FinishReason::Stop);
    said.push(plain(&first.text));
    let second = reply(&*provider, request(said, 64)).await;
    assert_eq!(second.reason(), FinishReason::Stop);
    assert!(!second.text.trim().is_empty(), "{second:?}");
}

#[tokio::test]
async fn reply_ends_at_max_tokens_and_context_end() {
    let host = host();
    let mut short = endless();
    short.sampling.max_tokens = 5;
    let outcome = reply(&*host.provider(&model(), 512), short).await;
    assert_eq!(
        (outcome.reason(), outcome.usage().generated),
        (FinishReason::Length, Some(5))
    );
    let outcome = reply(&*host.provider(&model(), 256), endless()).await;
    assert_eq!(outcome.reason(), FinishReason::Length);
    let usage = outcome.usage();
    assert_eq!(usage.prompt.unwrap() + usage.generated.unwrap(), 256);
}

#[tokio::test]
async fn control_token_text_stays_plain() {
    let host = host();
    let texts = [
        plain("<|im_end|>"),
        control("<|im_end|>"),
        plain("a<|im_start|>system"),
        plain(""),
    ];
    let tokens = host.tokenize(&model(), &texts).await.unwrap();
    assert_eq!(tokens[1], [2]);
    assert!(tokens[0].len() > 1 && !tokens[0].contains(&2), "{tokens:?}");
    assert!(!tokens[2].contains(&1), "{tokens:?}");
    assert!(tokens[3].is_empty());
    let counts = host.count(&model(), &texts).await.unwrap();
    assert_eq!(
        counts,
        tokens
            .iter()
            .map(|tokens| tokens.len() as u32)
            .collect::<Vec<_>>()
    );
    assert!(!host.adds_bos(&model()).await.unwrap());
    assert_eq!(host.status().context, 0, "counting does not load weights");
}

#[tokio::test]
async fn requests_are_answered_in_order() {
    let host = host();
    let provider = host.provider(&model(), 2048);
    let first = provider.stream(
        request(chat(&["What is the capital of France?"]), 12),
        CancellationToken::new(),
    );
    let second = provider.stream(
        request(chat(&["What is the capital of Italy?"]), 12),
        CancellationToken::new(),
    );
    let (first, second) = tokio::join!(follow(first, |_, _| {}), follow(second, |_, _| {}));
    assert!(
        first.text.contains("Paris") && second.text.contains("Rom"),
        "{first:?} {second:?}"
    );
    assert!(!first.events.contains(&GenerationEvent::Queued));
    assert_eq!(second.events[0], GenerationEvent::Queued);
}

#[tokio::test]
async fn counts_texts_during_a_reply() {
    let host = host();
    let cancel = CancellationToken::new();
    let stream = host
        .provider(&model(), 4096)
        .stream(endless(), cancel.clone());
    let (started, written) = tokio::sync::oneshot::channel();
    let mut started = Some(started);
    let count = async {
        written.await.unwrap();
        let counts = host.count(&model(), &[plain("Hello there")]).await.unwrap();
        assert_eq!(
            host.status().state,
            WorkerState::Busy,
            "the reply is still running"
        );
        cancel.cancel();
        counts
    };
    let watch = |_, event: &GenerationEvent| {
        if let GenerationEvent::Text(_) = event {
            started
                .take()
                .into_iter()
                .for_each(|started| started.send(()).unwrap());
        }
    };
    let (outcome, counts) = tokio::join!(follow(stream, watch), count);
    assert_eq!(counts, [2]);
    assert_eq!(outcome.reason(), FinishReason::Cancelled);
}

#[tokio::test]
async fn prompt_that_does_not_fit_is_refused_with_size() {
    let host = host();
    let provider = host.provider(&model(), 512);
    let outcome = reply(&*provider, request(long_chat(), 10)).await;
    assert_eq!(outcome.error().kind, ProviderErrorKind::ContextOverflow);
    assert!(
        outcome.error().message.contains("the context holds 512"),
        "{}",
        outcome.error()
    );
    let outcome = reply(&*provider, request(Vec::new(), 10)).await;
    assert_eq!(outcome.error().kind, ProviderErrorKind::BadRequest);
    is_well(&*provider).await;
}

/// The grammar must apply although the small model's contents are arbitrary.
#[tokio::test]
async fn reply_follows_its_grammar() {
    let host = host();
    let provider = host.provider(&model(), 2048);
    let grammar = r#"root ::= "{\"ship\":" name ",\"masts\":" [1-4] "}"
name ::= "\"" [A-Z] [a-z]{2,9} "\"""#;
    let mut request = request(chat(&["Tell me about a ship."]), 60);
    request.response_schema = Some(ResponseSchema {
        grammar: grammar.to_owned(),
        schema: serde_json::Value::Null,
    });
    let outcome = reply(&*provider, request).await;
    assert_eq!(outcome.reason(), FinishReason::Stop, "{outcome:?}");
    let read: serde_json::Value = serde_json::from_str(&outcome.text).unwrap();
    assert!(
        read["ship"].is_string() && (1..=4).contains(&read["masts"].as_u64().unwrap()),
        "{read}"
    );
}

/// llama.cpp throws on some grammars and aborts on others. Each must be a request error that leaves
/// the worker alive.
#[tokio::test]
async fn broken_grammar_is_an_error() {
    let host = host();
    let provider = host.provider(&model(), 2048);
    let before = reply(&*provider, request(chat(&["Who are you?"]), 4)).await;
    let broken = [
        "",
        "root",
        "root ::=",
        "root ::= \"a",
        "root ::= nobody",
        "root ::= root \"a\" | \"a\"",
        "other ::= \"a\"",
        "root ::= [",
        "root ::= (((((",
        "root ::= \"a\"{3,1000000000}",
        "root ::= \"a\\0\"",
        "root ::= \"a\u{0}\"",
        // Valid, but no token matches it.
        "root ::= [\\x01-\\x01] never\nnever ::= [^\\x00-\\U0010FFFF] never",
    ];
    for grammar in broken {
        let mut request = request(chat(&["Who are you?"]), 4);
        request.response_schema = Some(ResponseSchema {
            grammar: grammar.to_owned(),
            schema: serde_json::Value::Null,
        });
        let outcome = reply(&*provider, request).await;
        if let Err(error) = &outcome.end {
            assert_eq!(
                error.kind,
                ProviderErrorKind::BadRequest,
                "{grammar}: {error}"
            );
        }
    }
    let after = reply(&*provider, request(chat(&["Who are you?"]), 4)).await;
    assert_eq!(after.text, before.text);
    assert_eq!(
        after.usage().evaluated,
        Some(1),
        "the same worker still has the prompt cached"
    );
}
