//! Differences between a loaded model and the user's wish.

use serde::{Deserialize, Serialize};

use crate::load::LoadReason;

/// Why a model is not loaded as wished.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "specta", derive(specta::Type))]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum LoadNote {
    /// The graphics devices could not be used, so the processor computes alone.
    WithoutGraphics { reason: LoadReason },
    /// The processor computes the experts of more layers.
    MoreExperts {
        from: u32,
        to: u32,
        reason: LoadReason,
    },
    /// Fewer layers are on the graphics device.
    FewerLayers {
        from: u32,
        to: u32,
        reason: LoadReason,
    },
    /// The context is smaller, in tokens.
    SmallerContext {
        from: u32,
        to: u32,
        reason: LoadReason,
    },
}

impl std::fmt::Display for LoadNote {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::WithoutGraphics { reason } => write!(f, "the processor computes alone: {reason}"),
            Self::MoreExperts { from, to, reason } => {
                write!(
                    f,
                    "the experts of {to} instead of {from} layers are on the processor: {reason}"
                )
            }
            Self::FewerLayers { from, to, reason } => {
                write!(
                    f,
                    "{to} instead of {from} layers are on the graphics device: {reason}"
                )
            }
            Self::SmallerContext { from, to, reason } => {
                write!(f, "the context has {to} instead of {from} tokens: {reason}")
            }
        }
    }
}
