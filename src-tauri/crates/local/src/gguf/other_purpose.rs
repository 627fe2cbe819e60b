//! Purposes of GGUF files that are not models for text generation.

use std::fmt;

/// Purpose of a file that cannot generate text. Its `Display` text follows the file's name and says
/// what to do instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OtherPurpose {
    /// Encodes images or audio for another model (mmproj).
    Projector,
    /// Adapter for a model of this architecture (LoRA).
    Adapter(String),
    ControlVector,
    /// Statistics for quantization (imatrix).
    Statistics,
    Hearing,
    Speaking,
    /// Generates images or videos. The architecture is empty if the file does not name it.
    Painting(String),
    TextEncoder,
    /// One part of a split model.
    Part {
        number: u64,
        count: u64,
    },
}

impl fmt::Display for OtherPurpose {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Projector => out.write_str(
                "is the part of a model that reads pictures (mmproj); it cannot chat. Add the model's main file",
            ),
            Self::Adapter(architecture) => {
                let of = if architecture.is_empty() { "a" } else { architecture.as_str() };
                write!(
                    out,
                    "is an adapter (LoRA) for {of} model; it cannot write alone. Choose it in the settings of its model"
                )
            }
            Self::ControlVector => {
                out.write_str("is a control vector, which steers another model, and is not supported. Add a chat model")
            }
            Self::Statistics => out.write_str(
                "is an importance matrix (imatrix), which is only used for making smaller model files. Add a model file",
            ),
            Self::Hearing => {
                out.write_str("is a model that turns speech into text (Whisper); it cannot chat. Add a chat model")
            }
            Self::Speaking => out.write_str("is a model that turns text into speech; it cannot chat. Add a chat model"),
            Self::Painting(architecture) => {
                let named = if architecture.is_empty() { String::new() } else { format!(" ({architecture})") };
                write!(out, "is a model that generates pictures{named}; it cannot chat. Add a chat model")
            }
            Self::TextEncoder => {
                out.write_str("is the text encoder of another model (T5); it cannot chat. Add a chat model")
            }
            Self::Part { number, count } => write!(
                out,
                "is part {number} of {count} of a split model. Keep all {count} parts in one folder, with their names, \
                 and add the first one"
            ),
        }
    }
}
