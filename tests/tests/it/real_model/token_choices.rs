//! Token probabilities of the real small model: shown, and used to continue from another token.

use engine::api::{EndReason, SettingOwner, SettingValue};
use engine::{Engine, Options};
use tests::headless::{ended, selected_text};

#[tokio::test]
async fn reply_continues_from_a_token_that_was_considered() {
    let dir = tempfile::tempdir().unwrap();
    let options = Options {
        data_dir: dir.path().to_owned(),
        model_dirs: vec![tests::headless::models_dir()],
        worker: Some(tests::headless::worker()),
        without_keychain: true,
        ..Options::default()
    };
    let engine = Engine::open(options)
        .await
        .unwrap_or_else(|error| panic!("{error}"));
    for (key, value) in [
        ("token_probabilities", SettingValue::Switch(true)),
        ("memory", SettingValue::Switch(false)),
        ("temperature", SettingValue::Number(0.0)),
        ("max_tokens", SettingValue::Whole(40)),
    ] {
        engine
            .set_setting(SettingOwner::Global, key.into(), Some(value))
            .await
            .unwrap();
    }
    let chat = engine.startup().await.unwrap().chat.unwrap();
    let mut events = engine.subscribe();
    engine
        .send_message(chat, "Tell me about the lighthouse.".into())
        .await
        .unwrap();
    let (first, _) = ended(&mut events, chat).await;
    let first = first.unwrap();
    let choices = engine.token_choices(first.id).await.unwrap();
    let texts: Vec<&str> = choices
        .tokens
        .iter()
        .map(|token| token.text.as_str())
        .collect();
    assert_eq!(
        choices.before.clone() + &texts.concat(),
        selected_text(&first),
        "the tokens are the text"
    );
    assert!(choices.tokens.iter().all(|token| {
        let sum: f64 = token.alternatives.iter().map(|one| one.probability).sum();
        let sorted = token
            .alternatives
            .is_sorted_by(|one, next| one.probability >= next.probability);
        token.alternatives.len() == 10 && sorted && sum <= 1.001 && token.probability > 0.0
    }));

    // Another word in the middle, so that there is a text before it.
    let is_word = |text: &str| {
        text.len() > 2 && text.starts_with(' ') && text[1..].chars().all(char::is_alphabetic)
    };
    let other = choices
        .tokens
        .iter()
        .enumerate()
        .skip(5)
        .find_map(|(at, token)| {
            let alternative = token
                .alternatives
                .iter()
                .position(|one| one.text != token.text && is_word(&one.text))?;
            Some((at, alternative))
        });
    let (at, alternative) = other.expect("a word that the model considered");
    let chosen = choices.tokens[at].alternatives[alternative].text.clone();
    engine
        .continue_from_token(chat, at as u32, alternative as u32)
        .await
        .unwrap();
    let (second, reason) = ended(&mut events, chat).await;
    assert!(
        matches!(reason, EndReason::Stop | EndReason::Length),
        "{reason:?}"
    );
    let second = second.unwrap();
    let kept = choices.before.clone() + &texts[..at].concat() + &chosen;
    assert!(
        selected_text(&second).starts_with(&kept),
        "{kept:?} begins {:?}",
        selected_text(&second)
    );
    assert!(
        selected_text(&second).len() > kept.len(),
        "the model goes on"
    );
    assert_eq!(
        (second.swipes.len(), second.swipes[0].text.as_str()),
        (2, selected_text(&first)),
        "a new version"
    );
    engine.shutdown().await;
}
