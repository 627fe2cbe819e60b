//! Kinds of items, and export formats.

use clap::ValueEnum;

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ExportKind {
    Character,
    /// A lorebook, by its name, or a card's own lorebook, by the character's name
    Lorebook,
    Chat,
    Preset,
    /// A regex script
    Script,
    /// A set of quick replies
    QuickReplies,
    /// A prompt template
    Template,
    /// An imported chat background
    Background,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// A character in a picture
    Png,
    JsonV2,
    JsonV3,
    /// A character with all its files
    Charx,
    /// A lorebook in SillyTavern's format
    Native,
    /// A lorebook in the V3 format
    V3,
    /// A chat in SillyTavern's format
    Jsonl,
    /// A chat as one file for a browser, with its pictures
    Html,
    Text,
    Markdown,
    /// SillyTavern's file of a group, without its messages.
    Group,
    /// A sampler preset, a regex script or a set of quick replies
    Sillytavern,
    /// A prompt template
    Json,
    /// A background in its original format
    Original,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DeleteKind {
    Chat,
    Character,
    Lorebook,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ListKind {
    Characters,
    Chats,
    Lorebooks,
    Personas,
    Models,
    Templates,
    /// Sampler presets, chat formats, modes and regex scripts
    Presets,
    Backgrounds,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ShowKind {
    Character,
    Chat,
    Lorebook,
    Persona,
    Model,
    Template,
    /// A sampler preset, a chat format, a mode or a regex script
    Preset,
    Settings,
}
