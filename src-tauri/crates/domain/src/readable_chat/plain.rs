//! Chats as plain text and as Markdown.

use super::{ReadableChat, ReadableMessage, ReadableOptions, printable};

impl ReadableChat {
    /// The shown texts as plain text. Thoughts are in brackets.
    pub fn to_text(&self, options: ReadableOptions) -> String {
        paragraphs(self.shown(options).map(|message| text(message, options)))
    }

    /// The shown texts as Markdown, with the speaker's name in bold. The texts are already
    /// Markdown. Thoughts are quotations.
    pub fn to_markdown(&self, options: ReadableOptions) -> String {
        let title = std::iter::once(format!("# {}", literal(&self.title)));
        paragraphs(
            title.chain(
                self.shown(options)
                    .map(|message| markdown(message, options)),
            ),
        )
    }
}

fn text(message: &ReadableMessage, options: ReadableOptions) -> String {
    let mut written = String::new();
    if options.times && !message.time.is_empty() {
        written.push_str(&format!("[{}] ", message.time));
    }
    if options.names && !message.name.is_empty() {
        written.push_str(&format!("{}: ", printable(&message.name)));
    }
    if options.thoughts && !message.thoughts.trim().is_empty() {
        written.push_str(&format!("({})\n\n", printable(message.thoughts.trim())));
    }
    written + &printable(&message.text)
}

fn markdown(message: &ReadableMessage, options: ReadableOptions) -> String {
    let mut heading = Vec::new();
    if options.names && !message.name.is_empty() {
        heading.push(format!("**{}**", literal(&message.name)));
    }
    if options.times && !message.time.is_empty() {
        heading.push(literal(&message.time));
    }
    let mut parts = Vec::new();
    if !heading.is_empty() {
        parts.push(heading.join(" · "));
    }
    if options.thoughts && !message.thoughts.trim().is_empty() {
        let lines = printable(message.thoughts.trim());
        parts.push(
            lines
                .lines()
                .map(|line| format!("> {line}").trim_end().to_owned())
                .collect::<Vec<_>>()
                .join("\n"),
        );
    }
    parts.push(printable(&message.text));
    parts.join("\n\n")
}

fn paragraphs(texts: impl Iterator<Item = String>) -> String {
    texts
        .map(|text| format!("{}\n", text.trim_end()))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Escapes Markdown and joins lines.
fn literal(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    for letter in printable(text)
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
    {
        if matches!(
            letter,
            '\\' | '*' | '_' | '`' | '[' | ']' | '<' | '>' | '#' | '~' | '|'
        ) {
            written.push('\\');
        }
        written.push(letter);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readable_chat::html::tests::{EVERYTHING, talk};

    #[test]
    fn text_shows_what_is_asked_for() {
        let plain = "Mira: Come *in*.\n\nThe rain stops.\n";
        assert_eq!(talk().to_text(ReadableOptions::default()), plain);
        let whole = "[3 May 2026, 21:04] Mira: (He is wet.)\n\nCome *in*.\n\nThe rain stops.\n\nTom: A secret.\n";
        assert_eq!(talk().to_text(EVERYTHING), whole);
        let bare = ReadableOptions {
            names: false,
            ..ReadableOptions::default()
        };
        assert_eq!(talk().to_text(bare), "Come *in*.\n\nThe rain stops.\n");
    }

    #[test]
    fn markdown_shows_what_is_asked_for() {
        let plain = "# A \\*talk\\*\n\n**Mira**\n\nCome *in*.\n\nThe rain stops.\n";
        assert_eq!(talk().to_markdown(ReadableOptions::default()), plain);
        let whole = talk().to_markdown(EVERYTHING);
        assert!(
            whole.contains("**Mira** · 3 May 2026, 21:04\n\n> He is wet.\n\nCome *in*."),
            "{whole}"
        );
    }
}
