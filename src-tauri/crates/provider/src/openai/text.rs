//! The text of one reply, on its way from the wire to the caller.

use domain::prompt::Prompt;

use super::cut::Cutter;
use super::joined::{Echo, Joined};
use super::lenient::Halves;
use super::wire::Said;

#[derive(Debug)]
pub(super) struct Text {
    halves: Halves,
    joined: Joined,
    echo: Echo,
    cutter: Cutter,
}

impl Text {
    /// For the reply to `prompt`.
    pub(super) fn of(prompt: &Prompt) -> Self {
        let base = prompt.messages.last().filter(|_| prompt.continues).map_or("", |last| last.text.as_str());
        Self {
            halves: Halves::default(),
            joined: Joined::default(),
            echo: Echo::of(base),
            cutter: Cutter::new(&prompt.stop),
        }
    }

    /// Takes what came and returns what is certain by now. `halves` says that it may hold halves of pairs, `ends` that the
    /// endpoint ended the reply with it.
    pub(super) fn push(&mut self, said: Said, halves: bool, ends: bool) -> String {
        let new = match said {
            Said::Delta(text) => {
                let text = self.halves.join(text, halves);
                self.joined.piece(text, ends)
            }
            Said::Message(text) => {
                let text = self.halves.join(text, halves);
                self.joined.message(text, ends)
            }
        };
        let new = self.echo.push(new);
        self.cutter.push(&new)
    }

    /// What is still held when the reply ends.
    pub(super) fn rest(&mut self) -> String {
        let half = self.halves.rest();
        let mut rest = if half.is_empty() { half } else { self.joined.piece(half, false) };
        rest.push_str(&self.joined.rest());
        let mut rest = self.echo.push(rest);
        rest.push_str(&self.echo.rest());
        let mut new = self.cutter.push(&rest);
        new.push_str(&self.cutter.rest());
        new
    }

    /// A stop text or a control token has ended it.
    pub(super) fn is_cut(&self) -> bool {
        self.cutter.ended
    }
}
