//! Arguments of replies and prompts: `nook chat` and `nook prompt`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use engine::api::Ask;

#[derive(Debug, Args)]
pub(crate) struct ChatArgs {
    /// Name or id, or a card file, which is imported first
    #[arg(long, value_name = "CHARACTER", required_unless_present = "chat")]
    pub(crate) character: Option<String>,
    /// Continue this chat (id or title) instead of starting a new one
    #[arg(long)]
    pub(crate) chat: Option<String>,
    /// The persona to play: name or id
    #[arg(long)]
    pub(crate) persona: Option<String>,
    #[command(flatten)]
    pub(crate) answering: ModelArgs,
    /// Random seed; the same seed gives the same reply
    #[arg(long)]
    pub(crate) seed: Option<u32>,
    /// Sampling temperature from 0 to 2; 0 always takes the most likely token
    #[arg(long, value_name = "X", value_parser = temperature)]
    pub(crate) temperature: Option<f32>,
    /// Maximum length of the reply in tokens
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_tokens: Option<u32>,
    /// A picture to send with the first message (PNG, JPEG or WebP); may be repeated
    #[arg(long = "image", value_name = "FILE")]
    pub(crate) images: Vec<PathBuf>,
    /// A file with the API key of the endpoint that answers, for this command; - reads stdin
    #[arg(long, value_name = "FILE")]
    pub(crate) key_from: Option<PathBuf>,
    /// The message to send [default: each line of stdin]
    #[arg(long, value_name = "TEXT")]
    pub(crate) message: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct PromptArgs {
    /// Id or title
    #[arg(long, required_unless_present = "character")]
    pub(crate) chat: Option<String>,
    /// Name or id; without --chat, uses the character's newest chat, or shows the first turn if
    /// there is none
    #[arg(long, value_name = "CHARACTER")]
    pub(crate) character: Option<String>,
    /// The message to build the prompt for
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub(crate) message: String,
    /// Print the prompt of a background task instead of the next turn
    #[arg(long, value_name = "JOB", conflicts_with = "message")]
    pub(crate) ask: Option<GenerationTask>,
    /// Generate another version of the last reply instead of the next turn
    #[arg(long, conflicts_with_all = ["message", "ask"])]
    pub(crate) regenerate: bool,
    /// Context size in tokens to plan for
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u32>,
    /// Placement of lore and notes, overriding the settings
    #[arg(long)]
    pub(crate) placement: Option<PlacementArg>,
    /// Print the prompt at this stage, compared with the stage before
    #[arg(long)]
    pub(crate) stage: Option<StageArg>,
    #[command(flatten)]
    pub(crate) answering: ModelArgs,
}

/// Model, template and mode of a turn, overriding the chat and the settings.
#[derive(Debug, Default, Args)]
pub(crate) struct ModelArgs {
    /// A model of the library: name, file name or id
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// A remote endpoint, name or id; NAME/MODEL for a model other than its default
    #[arg(long, value_name = "NAME", conflicts_with = "model")]
    pub(crate) endpoint: Option<String>,
    /// A prompt template: id or name
    #[arg(long, value_name = "T")]
    pub(crate) template: Option<String>,
    /// A conversation mode
    #[arg(long, value_name = "M")]
    pub(crate) mode: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum GenerationTask {
    /// Continue the last reply
    Continue,
    /// Draft the user's next message
    Impersonate,
    /// Title of the chat
    Title,
}

impl From<GenerationTask> for Ask {
    fn from(job: GenerationTask) -> Self {
        match job {
            GenerationTask::Continue => Self::Continue,
            GenerationTask::Impersonate => Self::Impersonate,
            GenerationTask::Title => Self::Title,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum PlacementArg {
    CacheFirst,
    Classic,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum StageArg {
    /// The template as written, with its variables and macros
    Sources,
    /// After variables, macros and regex scripts
    Filled,
    /// After applying the token budget
    Budget,
    /// As sent to the model
    Sent,
}

fn temperature(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(value) if (0.0..=2.0).contains(&value) => Ok(value),
        _ => Err("enter a number from 0 to 2".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temperature_is_a_number_from_0_to_2() {
        assert_eq!(temperature("0.8"), Ok(0.8));
        for wrong in ["-1", "2.1", "NaN", "inf", "warm"] {
            assert!(temperature(wrong).is_err(), "{wrong}");
        }
    }
}
