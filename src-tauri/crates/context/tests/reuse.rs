//! The reason for epochs: how much of each prompt the model has read before (design, section 1).

#![allow(clippy::unwrap_used, reason = "a failed helper fails the test")]

mod common;

use common::*;
use context::reuse::reuse;
use context::{Assembled, Budget, ChatTemplate, Frame, HistoryMessage, Setup, assemble};
use domain::chat::{Role, WindowState};

/// 200 turns: 60 tokens asked, 250 answered, something new recalled on three turns of ten. Per cent of the prompts' tokens
/// that stood in the prompt before, or were its reply.
fn reused(limit: u32) -> u64 {
    let budget = Budget { reserve: 512, ..Budget::local(limit, 0) };
    let template = ChatTemplate::chatml();
    let setup = Setup::new(Some(&template), "model", budget);
    let (mut history, mut state): (Vec<HistoryMessage>, WindowState) = Default::default();
    let (mut kept, mut all, mut before): (u64, u64, Option<(Assembled, String)>) = (0, 0, None);
    for turn in 0..200_u128 {
        history.push(said(turn * 2, Role::User, &format!("q{turn} {}", words(58))));
        let recalled =
            if turn % 10 < 3 { vec![lore(&turn.to_string(), &format!("{turn} {}", words(60)), 1.0)] } else { vec![] };
        let frame = Frame { context: recalled, ..frame(history.clone(), &words(400), "") };
        let sent = assemble(&frame, &setup, &state, &Words).unwrap();
        if let Some((before, reply)) = &before {
            let texts = before.segments.iter().map(|segment| segment.text.as_str()).chain([reply.as_str()]);
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

#[test]
fn most_of_a_prompt_has_been_read_before() {
    let shares = [2_048, 4_096, 8_192, 16_384].map(reused);
    let bars = [80, 88, 93, 96];
    assert!(shares.iter().zip(bars).all(|(share, bar)| *share >= bar), "{shares:?} % reused at 2k, 4k, 8k, 16k");
}
