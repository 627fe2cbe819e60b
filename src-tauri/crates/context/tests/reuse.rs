//! The reason for epochs: how much of each prompt the model has read before (design, section 1).

#![allow(clippy::unwrap_used, reason = "a failed helper fails the test")]

mod common;

use common::*;
use context::reuse::reuse;
use context::{Assembled, Budget, ChatTemplate, Frame, HistoryMessage, Retention, Setup, assemble};
use domain::chat::{Role, WindowState};

/// 200 turns: 60 tokens asked, 250 answered, something new recalled on three turns of ten. Per cent of the prompts' tokens
/// that stood in the prompt before, or were its reply.
fn reused(limit: u32, tail: usize, retention: Retention) -> u64 {
    let budget = Budget { reserve: 512, min_tail_messages: tail, ..Budget::local(limit, 0) };
    let template = ChatTemplate::chatml();
    let setup = Setup { retention, ..Setup::new(Some(&template), "model", budget) };
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
    let kept = |limit, tail| reused(limit, tail, Retention::AppendOnly);
    let shares = [kept(8_192, 10), kept(16_384, 10)];
    assert!(shares[0] >= 90 && shares[1] >= 94, "{shares:?} % reused at 8k, 16k");
    // Ten messages are two thirds of such a window: whoever wants speed instead, keeps fewer.
    let small = [kept(4_096, 10), kept(4_096, 4)];
    assert!(small[0] >= 73 && small[1] >= 78, "{small:?} % reused at 4k with ten and with four messages that stay");
}
