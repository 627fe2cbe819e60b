//! The list of all commands.

/// A command. Its row in [`COMMANDS`] has its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SlashCommand {
    Continue,
    Regenerate,
    Swipe,
    DeleteSwipe,
    Impersonate,
    As,
    SendAs,
    Narrate,
    Sys,
    Roll,
    Scene,
    Note,
    Mode,
    Persona,
    Model,
    Template,
    Remember,
    Forget,
    Branch,
    Checkpoint,
    Hide,
    Unhide,
    Search,
    Export,
    Help,
}

/// The kind of a command's argument, for completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Argument {
    None,
    /// A text that is not completed.
    Text,
    Mode,
    Persona,
    Model,
    Template,
    /// A character of the chat, or the narrator; a text may follow.
    Speaker,
    Format,
    Command,
}

/// A row of [`COMMANDS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandInfo {
    pub command: SlashCommand,
    /// Without the slash, in lower case.
    pub name: &'static str,
    /// Its arguments for a reader; those in brackets may be missing.
    pub usage: &'static str,
    pub argument: Argument,
    /// One line, in English. Screens translate it by the name.
    pub help: &'static str,
}

/// Finds a command by its name, ignoring case.
pub fn command(name: &str) -> Option<&'static CommandInfo> {
    let name = name.to_lowercase();
    COMMANDS.iter().find(|info| info.name == name)
}

const fn row(
    command: SlashCommand,
    name: &'static str,
    argument: Argument,
    usage: &'static str,
    help: &'static str,
) -> CommandInfo {
    CommandInfo {
        command,
        name,
        usage,
        argument,
        help,
    }
}

/// All commands, in the order of the help.
pub const COMMANDS: &[CommandInfo] = &[
    row(
        SlashCommand::Continue,
        "continue",
        Argument::None,
        "",
        "continue the last reply",
    ),
    row(
        SlashCommand::Regenerate,
        "regenerate",
        Argument::Text,
        "[hint]",
        "write the last reply again, as a new swipe; a hint such as \"shorter\" is for it alone",
    ),
    row(
        SlashCommand::Swipe,
        "swipe",
        Argument::Text,
        "[number]",
        "show the next swipe, or the one with this number",
    ),
    row(
        SlashCommand::DeleteSwipe,
        "delswipe",
        Argument::Text,
        "[number]",
        "delete the shown swipe of the last reply for good, or the one with this number",
    ),
    row(
        SlashCommand::Impersonate,
        "impersonate",
        Argument::None,
        "",
        "have your next message drafted",
    ),
    row(
        SlashCommand::As,
        "as",
        Argument::Speaker,
        "name [text]",
        "let this character speak; a text is stored as said by it",
    ),
    row(
        SlashCommand::SendAs,
        "sendas",
        Argument::Speaker,
        "name text",
        "store a text as a message of this character",
    ),
    row(
        SlashCommand::Narrate,
        "narrate",
        Argument::Text,
        "[text]",
        "store a text of the narrator; without a text, the narrator writes",
    ),
    row(
        SlashCommand::Sys,
        "sys",
        Argument::Text,
        "text",
        "store an event that the model reads as a fact",
    ),
    row(
        SlashCommand::Roll,
        "roll",
        Argument::Text,
        "2d6+1",
        "roll dice and store the result in the chat",
    ),
    row(
        SlashCommand::Scene,
        "scene",
        Argument::Text,
        "[text]",
        "start a new scene; a text of the narrator opens it",
    ),
    row(
        SlashCommand::Note,
        "note",
        Argument::Text,
        "[text]",
        "show or set the author's note of this chat; - removes it",
    ),
    row(
        SlashCommand::Mode,
        "mode",
        Argument::Mode,
        "[name]",
        "switch the mode of this chat",
    ),
    row(
        SlashCommand::Persona,
        "persona",
        Argument::Persona,
        "[name]",
        "choose your persona in this chat",
    ),
    row(
        SlashCommand::Model,
        "model",
        Argument::Model,
        "[name]",
        "choose the model that replies in this chat",
    ),
    row(
        SlashCommand::Template,
        "template",
        Argument::Template,
        "[name]",
        "choose the prompt template of this chat",
    ),
    row(
        SlashCommand::Remember,
        "remember",
        Argument::Text,
        "text",
        "store a memory",
    ),
    row(
        SlashCommand::Forget,
        "forget",
        Argument::Text,
        "text",
        "forget the memory with these words",
    ),
    row(
        SlashCommand::Branch,
        "branch",
        Argument::Text,
        "[title]",
        "continue in a copy of this chat",
    ),
    row(
        SlashCommand::Checkpoint,
        "checkpoint",
        Argument::Text,
        "name",
        "mark the last message with a name; - removes the mark",
    ),
    row(
        SlashCommand::Hide,
        "hide",
        Argument::Text,
        "[count]",
        "hide the last messages from the model",
    ),
    row(
        SlashCommand::Unhide,
        "unhide",
        Argument::Text,
        "[count]",
        "send the last messages to the model again",
    ),
    row(
        SlashCommand::Search,
        "search",
        Argument::Text,
        "text",
        "search the messages",
    ),
    row(
        SlashCommand::Export,
        "export",
        Argument::Format,
        "[format]",
        "export this chat to a file",
    ),
    row(
        SlashCommand::Help,
        "help",
        Argument::Command,
        "[command]",
        "list the commands",
    ),
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_command_has_its_own_name_and_help() {
        let names: HashSet<_> = COMMANDS.iter().map(|info| info.name).collect();
        let commands: HashSet<_> = COMMANDS.iter().map(|info| info.command).collect();
        assert_eq!(
            (names.len(), commands.len()),
            (COMMANDS.len(), COMMANDS.len())
        );
        for info in COMMANDS {
            assert!(
                info.name.chars().all(|letter| letter.is_ascii_lowercase()),
                "{}",
                info.name
            );
            assert!(
                !info.help.is_empty() && !info.help.ends_with('.'),
                "{}",
                info.name
            );
            assert_eq!(command(&info.name.to_uppercase()), Some(info));
        }
    }
}
