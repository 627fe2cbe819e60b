//! Text in the making.

/// Collects text; knows what `{{trim}}` may take away.
#[derive(Debug, Default)]
pub(super) struct Sink {
    text: String,
    /// `{{trim}}` reaches no further back than this.
    kept: usize,
    /// `{{trim}}` stood last: newlines that follow are dropped.
    trimming: bool,
}

impl Sink {
    pub(super) fn push(&mut self, text: &str) {
        let text = if self.trimming { text.trim_start_matches(['\r', '\n']) } else { text };
        self.trimming &= text.is_empty();
        self.text.push_str(text);
    }

    /// Drops the newlines before this place, and those that follow.
    pub(super) fn trim(&mut self) {
        let end = self.text[self.kept..].trim_end_matches(['\r', '\n']).len();
        self.text.truncate(self.kept + end);
        self.trimming = true;
    }

    /// What stands here stays, whatever is trimmed next to it.
    pub(super) fn keep(&mut self) {
        self.kept = self.text.len();
        self.trimming = false;
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }
}

/// The content of a block as its author meant it: without the blanks around it, and without the indentation of its first line.
pub(super) fn dedented(text: &str) -> String {
    let lines = text.trim_end().lines().skip_while(|line| line.trim().is_empty());
    let mut lines = lines.peekable();
    let indent = lines.peek().map_or(0, |first| first.len() - first.trim_start().len());
    let stripped = lines.map(|line| {
        let blank = line.len() - line.trim_start().len();
        &line[floor(line, blank.min(indent))..]
    });
    stripped.collect::<Vec<_>>().join("\n")
}

fn floor(line: &str, at: usize) -> usize {
    line.floor_char_boundary(at)
}
