//! Processes the text of one reply between the wire and the caller.

use domain::prompt::Prompt;

use super::chunk::TextPiece;
use super::delta_assembler::{DeltaAssembler, EchoFilter};
use super::lenient::SurrogateJoiner;
use super::stop_filter::StopFilter;

#[derive(Debug)]
pub(crate) struct TextPipeline {
    halves: SurrogateJoiner,
    joined: DeltaAssembler,
    echo: EchoFilter,
    cutter: StopFilter,
}

impl TextPipeline {
    pub(crate) fn of(prompt: &Prompt) -> Self {
        let base = prompt.messages.last().filter(|_| prompt.continues).map_or("", |last| last.text.as_str());
        Self {
            halves: SurrogateJoiner::default(),
            joined: DeltaAssembler::default(),
            echo: EchoFilter::of(base),
            cutter: StopFilter::new(&prompt.stop),
        }
    }

    /// Takes new text and returns the part that is final. `halves` says that it may contain surrogate placeholders.
    /// `ends` says that the endpoint ended the reply with it.
    pub(crate) fn push(&mut self, said: TextPiece, halves: bool, ends: bool) -> String {
        let new = match said {
            TextPiece::Delta(text) => {
                let text = self.halves.join(text, halves);
                self.joined.piece(text, ends)
            }
            TextPiece::Message(text) => {
                let text = self.halves.join(text, halves);
                self.joined.message(text, ends)
            }
        };
        let new = self.echo.push(new);
        self.cutter.push(&new)
    }

    /// Returns the held text when the reply ends.
    pub(crate) fn rest(&mut self) -> String {
        let half = self.halves.rest();
        let mut rest = if half.is_empty() { half } else { self.joined.piece(half, false) };
        rest.push_str(&self.joined.rest());
        let mut rest = self.echo.push(rest);
        rest.push_str(&self.echo.rest());
        let mut new = self.cutter.push(&rest);
        new.push_str(&self.cutter.rest());
        new
    }

    /// Whether a stop text or a control token ended the reply.
    pub(crate) fn is_cut(&self) -> bool {
        self.cutter.ended
    }
}
