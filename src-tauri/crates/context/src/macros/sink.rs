//! Output buffer of the macro evaluator.

/// Collects text and tracks what `{{trim}}` may remove.
#[derive(Debug, Default)]
pub(super) struct Sink {
    text: String,
    /// `{{trim}}` removes nothing before this offset.
    kept: usize,
    /// The last macro was `{{trim}}`, so newlines that follow are dropped.
    trimming: bool,
}

impl Sink {
    pub(super) fn push(&mut self, text: &str) {
        let text = if self.trimming {
            text.trim_start_matches(['\r', '\n'])
        } else {
            text
        };
        self.trimming &= text.is_empty();
        self.text.push_str(text);
    }

    /// Drops the newlines before and after this position.
    pub(super) fn trim(&mut self) {
        let end = self.text[self.kept..].trim_end_matches(['\r', '\n']).len();
        self.text.truncate(self.kept + end);
        self.trimming = true;
    }

    /// Protects the text so far from `{{trim}}`.
    pub(super) fn keep(&mut self) {
        self.kept = self.text.len();
        self.trimming = false;
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }
}

/// The content of a block without surrounding whitespace and without the indentation of its first
/// line.
pub(super) fn dedented(text: &str) -> String {
    let lines = text
        .trim_end()
        .lines()
        .skip_while(|line| line.trim().is_empty());
    let mut lines = lines.peekable();
    let indent = lines
        .peek()
        .map_or(0, |first| first.len() - first.trim_start().len());
    let stripped = lines.map(|line| {
        let blank = line.len() - line.trim_start().len();
        &line[floor(line, blank.min(indent))..]
    });
    stripped.collect::<Vec<_>>().join("\n")
}

fn floor(line: &str, at: usize) -> usize {
    line.floor_char_boundary(at)
}
