//! Tags around the thoughts that a service sends apart from the text. A reply stores both as one
//! text.

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Writes the tags between thoughts and text.
#[derive(Debug, Default)]
pub(crate) struct ThoughtTags {
    is_open: bool,
}

impl ThoughtTags {
    /// The thought, after the opening tag if it is the first one. `before` is the text of the reply
    /// so far: a tag counts only at the start of a line.
    pub(crate) fn thought(&mut self, before: &str, thought: &str) -> String {
        // A tag in a thought would end it.
        let thought = thought.replace(CLOSE, "");
        if std::mem::replace(&mut self.is_open, true) {
            return thought;
        }
        let line = if before.is_empty() || before.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        format!("{line}{OPEN}{thought}")
    }

    /// The text, after the closing tag if thoughts came before it.
    pub(crate) fn text(&mut self, text: String) -> String {
        if std::mem::take(&mut self.is_open) {
            format!("{CLOSE}{text}")
        } else {
            text
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_stand_between_thoughts_and_text() {
        let mut tags = ThoughtTags::default();
        let mut whole = tags.thought("", "Cold") + &tags.thought("<think>Cold", " out.</think>");
        whole += &tags.text("Come".to_owned());
        whole += &tags.text(" in.".to_owned());
        assert_eq!(whole, "<think>Cold out.</think>Come in.");
        whole += &tags.thought(&whole.clone(), "Hm.");
        assert_eq!(
            whole + &tags.text(String::new()),
            "<think>Cold out.</think>Come in.\n<think>Hm.</think>"
        );
    }
}
