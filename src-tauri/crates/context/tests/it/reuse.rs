//! Measures the benefit of epochs: the share of each prompt that the model has read before.

use super::support::*;
use context::frame::RewrittenText;
use context::reuse::reuse;
use context::{Assembled, Budget, ChatTemplate, Frame, HistoryMessage, Setup, assemble, frozen};
use domain::chat::{Role, WindowState};

/// Simulates 200 turns with 60 tokens of user text, 250 tokens of reply, and new lore in three of
/// ten turns. Returns the percentage of prompt tokens that were part of the previous prompt or its
/// reply.
fn reused(limit: u32) -> u64 {
    reused_with(limit, |_, _| {})
}

/// The same, with the history changed by `rewrite` before it enters the prompt.
fn reused_with(limit: u32, rewrite: impl Fn(&mut [HistoryMessage], &WindowState)) -> u64 {
    let budget = Budget {
        reserve: 512,
        ..Budget::local(limit, 0)
    };
    let template = ChatTemplate::chatml();
    let setup = Setup::new(Some(&template), "model", budget);
    let (mut history, mut state): (Vec<HistoryMessage>, WindowState) = Default::default();
    let (mut kept, mut all, mut before): (u64, u64, Option<(Assembled, String)>) = (0, 0, None);
    for turn in 0..200_u128 {
        history.push(said(
            turn * 2,
            Role::User,
            &format!("q{turn} {}", words(58)),
        ));
        let recalled = if turn % 10 < 3 {
            vec![lore(
                &turn.to_string(),
                &format!("{turn} {}", words(60)),
                1.0,
            )]
        } else {
            vec![]
        };
        let mut sent = history.clone();
        rewrite(&mut sent, &state);
        let frame = Frame {
            context: recalled,
            ..frame(sent, &words(400), "")
        };
        let sent = assemble(&frame, &setup, &state, &Words).unwrap();
        if let Some((before, reply)) = &before {
            let texts = before
                .segments
                .iter()
                .map(|segment| segment.text.as_str())
                .chain([reply.as_str()]);
            kept += u64::from(reuse(texts, &sent).tokens);
            all += u64::from(sent.total);
        }
        store(&mut history, &sent);
        state = sent.window.clone();
        let reply = format!("a{turn} {}", words(248));
        history.push(said(turn * 2 + 1, Role::Character, &reply));
        before = Some((sent, reply));
    }
    kept * 100 / all
}

/// Simulates a script that cuts a fifth of each message at a depth of 20 or more.
fn cut(message: &HistoryMessage, depth: usize) -> RewrittenText {
    let keep = if depth < 20 {
        usize::MAX
    } else {
        message.text.len() * 4 / 5
    };
    RewrittenText {
        text: message.text.chars().take(keep).collect(),
        scripts: Vec::new(),
    }
}

/// The result of a script that depends on the depth stays as sent until the epoch ends.
#[test]
fn depth_dependent_scripts_keep_the_prefix() {
    let newest = |history: &[HistoryMessage]| history.len() - 1;
    let held = reused_with(8_192, |history, state| {
        let (depths, newest) = (frozen::depths(&state.frozen, history), newest(history));
        for (index, message) in history.iter_mut().enumerate() {
            message.anew = Some(cut(message, newest - index));
            message.text = cut(message, depths[index] as usize).text;
        }
    });
    let exact = reused_with(8_192, |history, _| {
        let newest = newest(history);
        for (index, message) in history.iter_mut().enumerate() {
            message.text = cut(message, newest - index).text;
        }
    });
    println!("{held} % reused at 8k, {exact} % with exact depths");
    assert!(
        held >= 93 && exact < 60,
        "{held} % reused, {exact} % with exact depths"
    );
}

/// In idle time, the next turn is planned with a prediction of the user's message.
#[test]
fn depths_hold_if_epoch_began_with_prediction() {
    let mut history = chat(5, 1);
    history[4] = said(900, Role::User, "a guess");
    let state = first(&frame(history.clone(), "", ""), 400).unwrap().window;
    history[4] = said(4, Role::User, "words");
    assert_eq!(frozen::depths(&state.frozen, &history), [4, 3, 2, 1, 0]);
    history.extend([
        said(5, Role::Character, "a reply"),
        said(6, Role::User, "more"),
    ]);
    assert_eq!(
        frozen::depths(&state.frozen, &history),
        [4, 3, 2, 1, 0, 1, 0]
    );
}

#[test]
fn most_prompt_tokens_are_reused() {
    let shares = [2_048, 4_096, 8_192, 16_384].map(reused);
    let bars = [80, 88, 93, 96];
    assert!(
        shares.iter().zip(bars).all(|(share, bar)| *share >= bar),
        "{shares:?} % reused at 2k, 4k, 8k, 16k"
    );
}
