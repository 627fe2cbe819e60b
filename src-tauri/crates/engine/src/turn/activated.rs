//! A turn whose lorebook entries and memories are known.

use crate::recall_service::recall::Recalled;
use crate::turn::inputs::TurnInputs;
use crate::turn::lore::Lore;
use crate::turn::tasks::PromptTask;

/// Input of the frame.
pub(crate) struct ActivatedTurn {
    pub(crate) inputs: TurnInputs,
    pub(crate) lore: Lore,
    pub(crate) memory: Recalled,
    /// Instruction of a job, such as a title, at the end of the prompt.
    pub(crate) task: Option<PromptTask>,
    /// Duration of activation and recall.
    pub(crate) activate_ms: f64,
}

impl ActivatedTurn {
    /// Notices of every step so far.
    pub(crate) fn notices(&self) -> impl Iterator<Item = &str> {
        let inputs = self.inputs.notices.iter().chain(&self.memory.notices).map(String::as_str);
        inputs.chain(self.inputs.embedding.notice()).chain(self.lore.notices.iter().map(String::as_str))
    }
}
