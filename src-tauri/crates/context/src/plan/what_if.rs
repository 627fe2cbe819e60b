//! What a prompt would be without something: with what was sent already the same as with what is new.

use domain::chat::{Role, WindowState};

use crate::frame::{Frame, Source};
use crate::frozen::EpochState;

/// Takes what has one of the [`Source::key`]s in `sources` out of the window, of what was sent with its messages, and of the
/// digest as `state` has it. The message to answer stays. What is still to be decided on is left out by the plan itself, which
/// says so ([`Setup::without`](super::Setup::without)).
pub fn leave_out(frame: &mut Frame, state: &mut WindowState, sources: &[String]) {
    let gone = |source: &Source| sources.contains(&source.key());
    let mut frozen = EpochState::read(&state.frozen);
    let before = frozen.digest.len();
    frozen.digest.retain(|block| !gone(&block.source));
    if frozen.digest.len() < before {
        state.frozen = frozen.write();
    }
    for blocks in frame.history.iter_mut().filter_map(|message| message.context.as_mut()) {
        blocks.retain(|block| !gone(&block.source));
    }
    let answered = frame.history.iter().rposition(|message| message.role != Role::Character);
    let stays: Vec<bool> = (0..)
        .zip(&frame.history)
        .map(|(at, message)| {
            let source = Source::Message { id: message.id, speaker: String::new() };
            Some(at) == answered || !gone(&source)
        })
        .collect();
    // The window begins with the next message that is left.
    if let Some(anchor) = state.anchor.and_then(|id| frame.history.iter().position(|message| message.id == id)) {
        let next = (anchor..stays.len()).find(|at| stays[*at]);
        state.anchor = next.map(|at| frame.history[at].id);
    }
    let mut stays = stays.into_iter();
    frame.history.retain(|_| stays.next().unwrap_or(true));
}
