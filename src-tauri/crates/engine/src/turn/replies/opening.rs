//! Removes the start of a reply that is not part of its text: blanks, and the speaker's own name
//! before a colon.

/// Receives the pieces of a reply and returns the text to show. Holds back only text that may still
/// become the name.
#[derive(Debug)]
pub(crate) struct Opening {
    /// `Mira:`
    label: String,
    held: Option<String>,
}

impl Opening {
    pub(crate) fn new(speaker: &str) -> Self {
        Self {
            label: format!("{speaker}:"),
            held: Some(String::new()),
        }
    }

    /// For a continued reply, whose start was handled before.
    pub(crate) fn passed() -> Self {
        Self {
            label: String::new(),
            held: None,
        }
    }

    pub(crate) fn push(&mut self, piece: String) -> String {
        let Some(held) = &mut self.held else {
            return piece;
        };
        held.push_str(&piece);
        let said = held.trim_start();
        if said.len() < self.label.len() && self.label.starts_with(said) {
            return String::new();
        }
        let shown = said
            .strip_prefix(&self.label)
            .unwrap_or(said)
            .trim_start()
            .to_owned();
        if !shown.is_empty() {
            self.held = None;
        }
        shown
    }

    /// Returns the text that is still held when the reply ends.
    pub(crate) fn finish(&mut self) -> String {
        let held = self.held.take().unwrap_or_default();
        let said = held.trim();
        said.strip_prefix(&self.label).unwrap_or(said).to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(pieces: &[&str]) -> Vec<String> {
        let mut opening = Opening::new("Mira");
        let mut shown: Vec<String> = pieces
            .iter()
            .map(|piece| opening.push((*piece).to_owned()))
            .collect();
        shown.push(opening.finish());
        shown.retain(|text| !text.is_empty());
        shown
    }

    #[test]
    fn speaker_name_is_removed_across_pieces() {
        assert_eq!(
            shown(&["\n Mi", "ra", ": ", "Come", " in."]),
            ["Come", " in."]
        );
        assert_eq!(shown(&["Mira: Come in."]), ["Come in."]);
    }

    #[test]
    fn text_that_only_starts_like_the_name_is_shown() {
        assert_eq!(
            shown(&["Mi", "racles happen: always."]),
            ["Miracles happen: always."]
        );
        assert_eq!(shown(&["  Mir"]), ["Mir"]);
        assert_eq!(shown(&["So: ", "Mira: yes"]), ["So: ", "Mira: yes"]);
    }

    #[test]
    fn reply_of_only_a_name_is_empty() {
        assert!(shown(&["Mira:", " \n"]).is_empty());
    }
}
