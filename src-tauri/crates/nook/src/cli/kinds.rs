//! Kinds of things, and the forms in which they leave.

use clap::ValueEnum;

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum ExportKind {
    Character,
    /// A book is part of a card: the book's name, or the character's
    Lorebook,
    Chat,
    Preset,
    /// A regex script
    Script,
    /// A set of quick replies
    QuickReplies,
    /// A prompt template
    Template,
    /// A picture that another app showed behind its chats, as it came
    Background,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A character in a picture
    Png,
    JsonV2,
    JsonV3,
    /// A character with all its files
    Charx,
    /// A lorebook as SillyTavern keeps it
    Native,
    /// A lorebook as the V3 specification has it
    V3,
    /// A chat as SillyTavern keeps it
    Jsonl,
    Text,
    Markdown,
    /// A sampler preset, a regex script or a set of quick replies
    Sillytavern,
    /// A prompt template
    Json,
    /// A background, byte for byte
    Original,
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
