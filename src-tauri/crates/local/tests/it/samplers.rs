//! Sampler order, biases, bans, grammars and lengths with a real model.

use domain::sampling::{LogitBias, NEVER, SamplerOrder, Sampling, TokenRules, TokenSelector, Xtc};
use local::LocalProvider;
use provider::{FinishReason, GenerationEvent, ProviderErrorKind};

use crate::support::*;

const ASKED: &str = "What is the capital of France?";

/// Asks with a new cache key each time, so that the logits do not depend on earlier requests.
async fn ask(provider: &LocalProvider, key: &str, sampling: Sampling) -> Outcome {
    let mut request = request(chat(&[ASKED]), sampling.max_tokens);
    (request.cache_key, request.sampling) = (key.to_owned(), sampling);
    reply(provider, request).await
}

async fn text(provider: &LocalProvider, key: &str, sampling: Sampling) -> String {
    let outcome = ask(provider, key, sampling).await;
    assert!(outcome.end.is_ok(), "{key}: {outcome:?}");
    outcome.text
}

fn ruled(max_tokens: u32, rules: TokenRules) -> Sampling {
    Sampling {
        rules,
        ..greedy(max_tokens)
    }
}

fn biased(tokens: TokenSelector, bias: f32) -> Sampling {
    ruled(
        24,
        TokenRules {
            logit_bias: vec![LogitBias { tokens, bias }],
            ..TokenRules::default()
        },
    )
}

fn banned(texts: &[&str], max_tokens: u32) -> Sampling {
    let banned_strings = texts.iter().map(|&text| text.to_owned()).collect();
    ruled(
        max_tokens,
        TokenRules {
            banned_strings,
            ..TokenRules::default()
        },
    )
}

#[tokio::test]
async fn samplers_apply_in_their_order() {
    let host = host();
    let provider = host.provider(&model(), 2048);
    let likeliest = text(&provider, "greedy", greedy(16)).await;
    let xtc = Xtc {
        probability: 1.0,
        threshold: 0.02,
    };
    let plain = Sampling {
        temperature: 1.0,
        top_k: 1,
        top_p: 1.0,
        min_p: 0.0,
        xtc,
        seed: 5,
        ..greedy(16)
    };
    let first = async |order: &str| {
        text(
            &provider,
            order,
            Sampling {
                order: SamplerOrder::parse(order),
                ..plain.clone()
            },
        )
        .await
    };
    assert_eq!(
        first("top_k, xtc").await,
        likeliest,
        "one token remains, and XTC keeps it"
    );
    assert_ne!(
        first("xtc, top_k").await,
        likeliest,
        "XTC removes the likeliest token before top-k takes one"
    );
}

#[tokio::test]
async fn biases_and_bans_change_tokens() {
    let host = host();
    let provider = host.provider(&model(), 2048);
    let plain = text(&provider, "plain", greedy(24)).await;
    assert!(plain.contains("Paris"), "{plain}");
    let never = text(
        &provider,
        "word",
        biased(TokenSelector::Word("Paris".into()), NEVER),
    )
    .await;
    assert!(!never.contains("Paris") && !never.is_empty(), "{never}");
    let more = text(
        &provider,
        "text",
        biased(TokenSelector::Text(" blue".into()), 90.0),
    )
    .await;
    assert!(more.starts_with(" blue blue"), "{more}");
    let odd = biased(TokenSelector::Ids(vec![u32::MAX, 4_000_000]), 50.0);
    assert_eq!(
        text(&provider, "odd", odd).await,
        plain,
        "ids that the model does not have are ignored"
    );
}

#[tokio::test]
async fn banned_strings_never_appear() {
    let host = host();
    let provider = host.provider(&model(), 2048);
    let plain = text(&provider, "plain", greedy(40)).await;
    let banned = banned(&["PARIS", "capital of france", "the "], 40);
    let outcome = ask(&provider, "banned", banned.clone()).await;
    let mut streamed = String::new();
    for event in &outcome.events {
        if let GenerationEvent::Text(text) = event {
            streamed += text;
        }
        let lower = streamed.to_lowercase();
        assert!(
            !lower.contains("paris")
                && !lower.contains("capital of france")
                && !lower.contains("the "),
            "{lower}"
        );
    }
    assert!(
        !outcome.text.trim().is_empty() && outcome.text != plain,
        "{outcome:?}"
    );
    assert_eq!(
        text(&provider, "again", banned).await,
        outcome.text,
        "it is reproducible"
    );
    // The cache holds exactly the reply, so the next turn reuses it.
    let next = request(chat(&[ASKED, &outcome.text, "Thank you."]), 1);
    let next = reply(
        &*provider,
        provider::Request {
            cache_key: "banned".into(),
            ..next
        },
    )
    .await;
    assert!(next.usage().reused >= outcome.usage().prompt, "{next:?}");
}

/// With every letter banned, the reply ends instead of searching for ever.
#[tokio::test]
async fn impossible_bans_end_the_reply() {
    let host = host();
    let provider = host.provider(&model(), 2048);
    let letters: Vec<String> = ('a'..='z').chain('0'..='9').map(String::from).collect();
    let letters: Vec<&str> = letters.iter().map(String::as_str).collect();
    let outcome = ask(&provider, "none", banned(&letters, 30)).await;
    assert!(outcome.end.is_ok(), "{outcome:?}");
    assert!(
        !outcome
            .text
            .chars()
            .any(|letter| letter.is_ascii_alphanumeric()),
        "{outcome:?}"
    );
    is_well(&*provider).await;
}

#[tokio::test]
async fn grammar_and_schema_shape_the_reply() {
    let host = host();
    let provider = host.provider(&model(), 2048);
    let grammar = TokenRules {
        grammar: Some("root ::= \"Yes.\" | \"No.\"".into()),
        ..TokenRules::default()
    };
    let answer = text(&provider, "grammar", ruled(10, grammar)).await;
    assert!(["Yes.", "No."].contains(&answer.as_str()), "{answer}");
    let schema =
        r#"{"type": "object", "properties": {"sure": {"type": "boolean"}}, "required": ["sure"]}"#;
    let rules = TokenRules {
        json_schema: Some(schema.into()),
        ..TokenRules::default()
    };
    let answer = text(&provider, "schema", ruled(60, rules)).await;
    let answer: serde_json::Value = serde_json::from_str(&answer).unwrap();
    assert!(answer["sure"].is_boolean(), "{answer}");
    // A grammar and a ban that contradict each other end with an error, not with the banned text.
    let both = TokenRules {
        grammar: Some("root ::= \"Yes.\"".into()),
        banned_strings: vec!["yes".into()],
        ..TokenRules::default()
    };
    let outcome = ask(&provider, "both", ruled(10, both)).await;
    assert_eq!(outcome.text, "");
    assert_eq!(outcome.error().kind, ProviderErrorKind::BadRequest);
}

#[tokio::test]
async fn hostile_grammars_are_refused_in_time() {
    let host = host();
    let provider = host.provider(&model(), 2048);
    let schema = |schema: &str| TokenRules {
        json_schema: Some(schema.to_owned()),
        ..TokenRules::default()
    };
    let grammar = |grammar: String| TokenRules {
        grammar: Some(grammar),
        ..TokenRules::default()
    };
    let rules = [
        grammar("root ::= root \"a\"".into()),
        grammar("root ::= missing".into()),
        grammar("root ::= \"a\"{1,999999}{1,999999}".into()),
        grammar("root ::= (((\"a\"{900}){900}){900})".into()),
        grammar("root ::= \"a".into()),
        grammar(String::new()),
        grammar("root ::= \"\\0\"\u{0}".into()),
        schema("{\"type\": 7}"),
        schema("{\"$ref\": \"https://localhost/x.json\"}"),
        schema("{\"type\": \"string\", \"pattern\": \"(((\"}"),
    ];
    let start = std::time::Instant::now();
    for (at, rules) in rules.into_iter().enumerate() {
        let outcome = ask(&provider, &at.to_string(), ruled(4, rules.clone())).await;
        match outcome.end {
            Ok(_) => {}
            Err(error) => assert_eq!(
                error.kind,
                ProviderErrorKind::BadRequest,
                "{rules:?}: {error:?}"
            ),
        }
    }
    assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
    is_well(&*provider).await;
}

#[tokio::test]
async fn lengths_bind_the_end_token() {
    let host = host();
    let provider = host.provider(&model(), 2048);
    let short = ask(&provider, "short", greedy(60)).await;
    let generated = short.usage().generated.unwrap();
    assert!(
        short.reason() == FinishReason::Stop && generated < 40,
        "{short:?}"
    );
    let rules = TokenRules {
        min_tokens: 40,
        ..TokenRules::default()
    };
    let long = ask(&provider, "long", ruled(60, rules)).await;
    assert!(
        long.usage().generated >= Some(40) && long.text.starts_with(&short.text),
        "{long:?}"
    );
    let rules = TokenRules {
        ban_end_token: true,
        ..TokenRules::default()
    };
    let endless = ask(&provider, "endless", ruled(60, rules)).await;
    assert_eq!(
        (endless.reason(), endless.usage().generated),
        (FinishReason::Length, Some(60))
    );
}
