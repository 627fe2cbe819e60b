//! Slash commands in the composer: `/mode study`. Only what a user types is read; texts of cards, lorebooks and models
//! never reach this module.
//!
//! To add a command: a variant of [`SlashCommand`], a row in [`COMMANDS`], and its arm in the engine's
//! `turn/slash/run.rs`.

mod arguments;
mod list;
mod similar;

pub use arguments::{leading_word, named_argument};
pub use list::{Argument, COMMANDS, CommandInfo, SlashCommand, command};
pub use similar::similar;

/// Words after a slash that are ordinary text: many people write actions as `/me waves`.
const WORDS: [&str; 1] = ["me"];

/// A text from the composer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Typed<'t> {
    /// A text to send. The slash that escapes a command is removed.
    Message(&'t str),
    Command(TypedCommand<'t>),
}

/// A slash, a name and the text after it. The name may be unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypedCommand<'t> {
    pub name: &'t str,
    /// Trimmed.
    pub arguments: &'t str,
}

/// Tells a command from a text to send. A command is a slash, letters, and a space or the end; so `/usr/bin` and
/// `1/2` are text. `//mode` is the text `/mode`.
pub fn read(text: &str) -> Typed<'_> {
    let trimmed = text.trim();
    let Some(rest) = trimmed.strip_prefix('/') else { return Typed::Message(text) };
    if let Some(escaped) = rest.strip_prefix('/') {
        return match parse(escaped) {
            Some(_) => Typed::Message(rest),
            None => Typed::Message(text),
        };
    }
    parse(rest).map_or(Typed::Message(text), Typed::Command)
}

fn parse(rest: &str) -> Option<TypedCommand<'_>> {
    let end = rest.find(|letter: char| !letter.is_alphabetic()).unwrap_or(rest.len());
    let (name, arguments) = rest.split_at(end);
    let ends = arguments.is_empty() || arguments.starts_with(char::is_whitespace);
    let is_text = name.is_empty() || WORDS.contains(&name.to_lowercase().as_str());
    (ends && !is_text).then_some(TypedCommand { name, arguments: arguments.trim() })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_command(text: &str) -> Option<(&str, &str)> {
        match read(text) {
            Typed::Command(command) => Some((command.name, command.arguments)),
            Typed::Message(_) => None,
        }
    }

    #[test]
    fn tells_commands_from_text() {
        assert_eq!(is_command("/mode study"), Some(("mode", "study")));
        assert_eq!(is_command("  /mode   deep work "), Some(("mode", "deep work")));
        assert_eq!(is_command("/note one\ntwo"), Some(("note", "one\ntwo")));
        assert_eq!(is_command("/hilfe"), Some(("hilfe", "")));
        for text in ["/", "/usr/bin is full", "/ 3", "//", "/:", "1/2 cup", "/me", "/me waves", "a /mode", "", "/d20"] {
            assert_eq!(read(text), Typed::Message(text), "{text}");
        }
    }

    #[test]
    fn two_slashes_escape_a_command() {
        assert_eq!(read("//mode study"), Typed::Message("/mode study"));
        assert_eq!(read(" //shrug hello "), Typed::Message("/shrug hello"));
        assert_eq!(read("///mode"), Typed::Message("///mode"));
        assert_eq!(read("//host/share"), Typed::Message("//host/share"));
        assert_eq!(read("// a remark"), Typed::Message("// a remark"));
    }

    proptest! {
        #[test]
        fn no_text_is_lost(text in "[/\\PC\\s]{0,40}") {
            match read(&text) {
                Typed::Message(sent) => prop_assert!(text.contains(sent)),
                Typed::Command(TypedCommand { name, arguments }) => {
                    prop_assert!(text.contains(name) && text.contains(arguments) && !name.is_empty());
                }
            }
        }
    }
}
