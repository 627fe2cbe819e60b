//! What-if previews: the prompt without certain sources, both sent and new.

use domain::chat::{Role, WindowState};

use crate::frame::{Frame, Source};
use crate::frozen::EpochState;

/// Removes everything with one of the [`Source::key`]s in `sources` from the window, from the
/// context blocks of its messages, and from the digest in `state`. The message to answer stays. The
/// plan itself drops new candidates and reports them ([`Setup::without`](super::Setup::without)).
pub fn leave_out(frame: &mut Frame, state: &mut WindowState, sources: &[String]) {
    let gone = |source: &Source| sources.contains(&source.key());
    let mut frozen = EpochState::read(&state.frozen);
    let before = frozen.digest.len();
    frozen.digest.retain(|block| !gone(&block.source));
    if frozen.digest.len() < before {
        state.frozen = frozen.write();
    }
    for blocks in frame
        .history
        .iter_mut()
        .filter_map(|message| message.context.as_mut())
    {
        blocks.retain(|block| !gone(&block.source));
    }
    let answered = frame
        .history
        .iter()
        .rposition(|message| message.role != Role::Character);
    let stays: Vec<bool> = (0..)
        .zip(&frame.history)
        .map(|(at, message)| {
            let source = Source::Message {
                id: message.id,
                speaker: String::new(),
            };
            Some(at) == answered || !gone(&source)
        })
        .collect();
    // The window begins with the next remaining message.
    if let Some(anchor) = state
        .anchor
        .and_then(|id| frame.history.iter().position(|message| message.id == id))
    {
        let next = (anchor..stays.len()).find(|at| stays[*at]);
        state.anchor = next.map(|at| frame.history[at].id);
    }
    let mut stays = stays.into_iter();
    frame.history.retain(|_| stays.next().unwrap_or(true));
}
