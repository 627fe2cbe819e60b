//! The loaded model, and whether a job can use it.

use std::sync::Arc;

use ::worker::protocol::{Load, LoadPurpose, LoadedModelInfo};

use crate::load::{LoadNote, LoadOptions};

/// The purpose for which a job needs the model.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ModelNeed {
    /// At least its vocabulary.
    Vocabulary,
    /// Generation, with this context size in tokens.
    Replies {
        context: u32,
        options: Arc<LoadOptions>,
    },
    Embeddings,
}

impl ModelNeed {
    pub(super) fn context(&self) -> Option<u32> {
        match self {
            Self::Replies { context, .. } => Some(*context),
            Self::Vocabulary | Self::Embeddings => None,
        }
    }

    pub(super) fn options(&self) -> LoadOptions {
        match self {
            Self::Replies { options, .. } => LoadOptions::clone(options),
            Self::Vocabulary | Self::Embeddings => LoadOptions::default(),
        }
    }

    pub(super) fn purpose(&self) -> LoadPurpose {
        match self {
            Self::Vocabulary => LoadPurpose::Vocabulary,
            Self::Replies { .. } => LoadPurpose::Replies,
            Self::Embeddings => LoadPurpose::Embeddings,
        }
    }

    pub(super) fn is_satisfied_by(&self, loaded: &Loaded) -> bool {
        match (self, &loaded.need) {
            (Self::Vocabulary, _) | (Self::Embeddings, Self::Embeddings) => true,
            // After a fallback, both the wished context and the one that fits are satisfied.
            (
                Self::Replies { context, options },
                Self::Replies {
                    context: wished,
                    options: theirs,
                },
            ) => theirs.includes(options) && (context == wished || *context == loaded.info.context),
            _ => false,
        }
    }
}

/// A loaded model.
#[derive(Debug, Clone)]
pub(crate) struct Loaded {
    pub(crate) need: ModelNeed,
    pub(crate) load: Load,
    pub(crate) info: LoadedModelInfo,
    pub(crate) notes: Vec<LoadNote>,
}
