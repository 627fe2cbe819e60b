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
    /// The unfinished reply ends with whitespace that was not sent, so that at the start of the new
    /// text is dropped.
    after_space: bool,
}

impl TextPipeline {
    pub(crate) fn of(prompt: &Prompt, trims_prefill: bool) -> Self {
        let base = prompt
            .messages
            .last()
            .filter(|_| prompt.continues)
            .map_or("", |last| last.text.as_str());
        Self {
            halves: SurrogateJoiner::default(),
            joined: DeltaAssembler::default(),
            echo: EchoFilter::of(base),
            cutter: StopFilter::new(&prompt.stop),
            after_space: trims_prefill && base.ends_with(char::is_whitespace),
        }
    }

    /// Takes new text and returns the part that is final. `halves` says that it may contain
    /// surrogate placeholders. `ends` says that the endpoint ended the reply with it.
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
        let new = self.spaced(new);
        self.cutter.push(&new)
    }

    /// Returns the held text when the reply ends.
    pub(crate) fn rest(&mut self) -> String {
        let half = self.halves.rest();
        let mut rest = if half.is_empty() {
            half
        } else {
            self.joined.piece(half, false)
        };
        rest.push_str(&self.joined.rest());
        let mut rest = self.echo.push(rest);
        rest.push_str(&self.echo.rest());
        let rest = self.spaced(rest);
        let mut new = self.cutter.push(&rest);
        new.push_str(&self.cutter.rest());
        new
    }

    fn spaced(&mut self, text: String) -> String {
        if !self.after_space {
            return text;
        }
        let trimmed = text.trim_start();
        self.after_space = trimmed.is_empty();
        trimmed.to_owned()
    }

    /// Whether a stop text or a control token ended the reply.
    pub(crate) fn is_cut(&self) -> bool {
        self.cutter.ended
    }
}
