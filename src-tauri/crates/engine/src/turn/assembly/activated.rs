//! A turn whose lorebook entries and memories are known.

use context::FrozenBlock;
use context::frame::Source;
use domain::MessageId;

use crate::recall_service::recalled::Recalled;
use crate::turn::assembly::tasks::PromptTask;
use crate::turn::inputs::speaker_texts::follows_speaker;
use crate::turn::inputs::turn_inputs::TurnInputs;
use crate::turn::lore::activation::Lore;
use crate::turn::tools::turn_tools::TurnTools;

/// Input of the frame.
pub(crate) struct ActivatedTurn {
    pub(crate) inputs: TurnInputs,
    pub(crate) lore: Lore,
    pub(crate) memory: Recalled,
    /// Instruction of a job, such as a title, at the end of the prompt.
    pub(crate) task: Option<PromptTask>,
    pub(crate) tools: TurnTools,
    /// Duration of activation and recall.
    pub(crate) activate_ms: f64,
}

impl ActivatedTurn {
    /// Whether only the speaker of a group scene knows what comes from `source`. Such blocks are
    /// sent for one turn only.
    pub(crate) fn is_private(&self, source: &Source) -> bool {
        let of_speaker = |field: &str| field == "depth_prompt" || follows_speaker(field);
        let of_speaker = matches!(source, Source::CardField { field, .. } if of_speaker(field));
        self.memory.private.contains(source)
            || self.lore.private.contains(source)
            || self.inputs.known.is_scene && of_speaker
    }

    /// The context blocks that stay with their messages: those that everybody knows.
    pub(crate) fn lasting(
        &self,
        blocks: &[(MessageId, Vec<FrozenBlock>)],
    ) -> Vec<(MessageId, Vec<FrozenBlock>)> {
        let shared = |block: &&FrozenBlock| !self.is_private(&block.source);
        let of = |(id, blocks): &(MessageId, Vec<FrozenBlock>)| {
            (*id, blocks.iter().filter(shared).cloned().collect())
        };
        blocks.iter().map(of).collect()
    }

    /// Notices of every step so far.
    pub(crate) fn notices(&self) -> impl Iterator<Item = &str> {
        let inputs = self
            .inputs
            .notices
            .iter()
            .chain(&self.memory.notices)
            .map(String::as_str);
        inputs
            .chain(self.inputs.embedding.notice())
            .chain(self.lore.notices.iter().map(String::as_str))
    }
}
