//! Slash commands in the composer: `/mode study`. Only what a user types is read; texts of cards,
//! lorebooks and models never reach this module.
//!
//! To add a command: a variant of [`SlashCommand`], a row in [`COMMANDS`], and its arm in the
//! engine's `turn/slash/run.rs`.

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

/// Tells a command from a text to send. A command is a slash, a word of letters, digits, `-`, `_`
/// and `?`, and then a space, a bar or the end; so `/usr/bin` and `1/2` are text. A comment in `/*
/// */` is the unknown command `*`: it begins a script, which must never reach a model. `//mode` is
/// the text `/mode`.
pub fn read(text: &str) -> Typed<'_> {
    let trimmed = text.trim();
    let Some(rest) = trimmed.strip_prefix('/') else {
        return Typed::Message(text);
    };
    if let Some(escaped) = rest.strip_prefix('/') {
        return match parse(escaped) {
            Some(_) => Typed::Message(rest),
            None => Typed::Message(text),
        };
    }
    parse(rest).map_or(Typed::Message(text), Typed::Command)
}

fn parse(rest: &str) -> Option<TypedCommand<'_>> {
    if comment_length(rest).is_some() {
        let (name, arguments) = rest.split_at(1);
        return Some(TypedCommand {
            name,
            arguments: arguments.trim(),
        });
    }
    let of_word = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '?');
    let end = rest
        .find(|letter: char| !of_word(letter))
        .unwrap_or(rest.len());
    let (name, arguments) = rest.split_at(end);
    let ends = arguments.is_empty()
        || arguments.starts_with(|next: char| next.is_whitespace() || next == '|');
    let is_text = name.is_empty() || WORDS.contains(&name.to_lowercase().as_str());
    (ends && !is_text).then_some(TypedCommand {
        name,
        arguments: arguments.trim(),
    })
}

/// The length of the block comment at the start of `rest`, which follows a slash: `* remark */`, or
/// `* remark *|` as SillyTavern writes it. `None` if there is none, or if it does not end.
pub fn comment_length(rest: &str) -> Option<usize> {
    let inner = rest.strip_prefix('*')?;
    let ends = |at: usize| inner[at + 1..].starts_with(['/', '|']);
    let (end, _) = inner.match_indices('*').find(|(at, _)| ends(*at))?;
    Some(1 + end + 2)
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
        assert_eq!(
            is_command("  /mode   deep work "),
            Some(("mode", "deep work"))
        );
        assert_eq!(is_command("/note one\ntwo"), Some(("note", "one\ntwo")));
        assert_eq!(is_command("/hilfe"), Some(("hilfe", "")));
        let texts = [
            "/",
            "/usr/bin is full",
            "/ 3",
            "//",
            "/:",
            "1/2 cup",
            "/me",
            "/me waves",
            "a /mode",
            "",
            "/*wink*",
        ];
        for text in texts {
            assert_eq!(read(text), Typed::Message(text), "{text}");
        }
    }

    #[test]
    fn words_of_scripts_are_commands() {
        for (text, name, arguments) in [
            ("/note-depth 4", "note-depth", "4"),
            ("/qr-set-on Main", "qr-set-on", "Main"),
            ("/?", "?", ""),
            ("/_x", "_x", ""),
            ("/v2 on", "v2", "on"),
            ("/d20", "d20", ""),
            ("/qr-list|/echo", "qr-list", "|/echo"),
            (
                "/* step one */\n/setvar key=a 1",
                "*",
                "step one */\n/setvar key=a 1",
            ),
            ("/* step one *|", "*", "step one *|"),
        ] {
            assert_eq!(is_command(text), Some((name, arguments)), "{text}");
        }
    }

    #[test]
    fn two_slashes_escape_a_command() {
        assert_eq!(read("//mode study"), Typed::Message("/mode study"));
        assert_eq!(read(" //shrug hello "), Typed::Message("/shrug hello"));
        assert_eq!(read("//note-depth 4"), Typed::Message("/note-depth 4"));
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
