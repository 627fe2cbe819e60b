//! The next attempt after a model could not be loaded as wished: experts on the processor, fewer
//! layers on the graphics device, then a smaller context, then the processor alone.

use provider::{ProviderError, ProviderErrorKind};

use crate::gpu_fit::LayerSplit;
use crate::load::{LoadNote, LoadReason, died_by_itself};

/// Smallest context, in tokens, that is tried without being asked for.
const SMALLEST_CONTEXT: u32 = 1_024;
/// The graphics device gets at least this part of the layers, or none.
const SMALLEST_SHARE: u32 = 4;

/// One way to load a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Attempt {
    /// Parts of the model on graphics devices and on the processor.
    pub(crate) split: LayerSplit,
    /// In tokens.
    pub(crate) context: u32,
}

impl Attempt {
    pub(crate) fn on_processor(context: u32) -> Self {
        Self {
            split: LayerSplit::default(),
            context,
        }
    }
}

/// The attempts to load one model.
#[derive(Debug)]
pub(crate) struct Ladder {
    first: Attempt,
    pub(crate) current: Attempt,
    /// Layers with experts that can move to the processor; 0 unless the model is a mixture of
    /// experts.
    expert_layers: u32,
    notes: Vec<LoadNote>,
}

impl Ladder {
    pub(crate) fn new(first: Attempt, notes: Vec<LoadNote>) -> Self {
        Self {
            first,
            current: first,
            expert_layers: 0,
            notes,
        }
    }

    /// The layers whose experts can move to the processor.
    pub(crate) fn with_experts(self, expert_layers: u32) -> Self {
        Self {
            expert_layers,
            ..self
        }
    }

    /// Moves to the next attempt after `error`. Returns false if there is none.
    pub(crate) fn step(&mut self, error: &ProviderError) -> bool {
        let Some(next) = self.next(error) else {
            return false;
        };
        tracing::warn!(
            ?next,
            why = error.message,
            "the model could not be loaded as wished"
        );
        self.current = next;
        self.describe(error);
        true
    }

    /// Why the result differs from the wish, in the order in which it matters.
    pub(crate) fn into_notes(self) -> Vec<LoadNote> {
        self.notes
    }

    fn next(&self, error: &ProviderError) -> Option<Attempt> {
        use ProviderErrorKind::{Model, OutOfMemory, WorkerDied};
        let Attempt { split, context } = self.current;
        let gpu_layers = split.gpu_layers;
        let on_processor = Attempt::on_processor(self.first.context);
        let smaller = (context / 2 >= SMALLEST_CONTEXT).then_some(Attempt {
            split,
            context: context / 2,
        });
        match error.kind {
            WorkerDied if gpu_layers > 0 && died_by_itself(error) => Some(on_processor),
            OutOfMemory | Model
                if gpu_layers > 0 && split.processor_experts < self.expert_layers =>
            {
                let processor_experts = (split.processor_experts + self.expert_layers).div_ceil(2);
                Some(Attempt {
                    split: LayerSplit {
                        processor_experts,
                        ..split
                    },
                    context,
                })
            }
            // llama.cpp does not say whether the file or the memory is the reason.
            OutOfMemory | Model if gpu_layers > 0 => {
                let fewer = Attempt {
                    split: LayerSplit {
                        gpu_layers: gpu_layers / 2,
                        ..split
                    },
                    context,
                };
                let least = (self.first.split.gpu_layers / SMALLEST_SHARE).max(1);
                let worthwhile = fewer.split.gpu_layers >= least;
                let has_shrunk = context < self.first.context;
                if worthwhile {
                    Some(fewer)
                } else {
                    Some(smaller.filter(|_| !has_shrunk).unwrap_or(on_processor))
                }
            }
            OutOfMemory => smaller,
            _ => None,
        }
    }

    /// Replaces what was said about layers and context by the difference to the first attempt.
    fn describe(&mut self, error: &ProviderError) {
        let (first, now, reason) = (
            self.first.split,
            self.current.split,
            LoadReason::from(error),
        );
        self.notes
            .retain(|note| matches!(note, LoadNote::WithoutGraphics { .. }));
        if now.gpu_layers == 0 && first.gpu_layers > 0 && self.notes.is_empty() {
            self.notes.push(LoadNote::WithoutGraphics {
                reason: reason.clone(),
            });
        }
        if now.gpu_layers > 0 && now.processor_experts > first.processor_experts {
            let (from, to) = (first.processor_experts, now.processor_experts);
            self.notes.push(LoadNote::MoreExperts {
                from,
                to,
                reason: reason.clone(),
            });
        }
        if now.gpu_layers > 0 && now.gpu_layers < first.gpu_layers {
            self.notes.push(LoadNote::FewerLayers {
                from: first.gpu_layers,
                to: now.gpu_layers,
                reason: reason.clone(),
            });
        }
        let (wished, context) = (self.first.context, self.current.context);
        if context < wished {
            self.notes.push(LoadNote::SmallerContext {
                from: wished,
                to: context,
                reason,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(kind: ProviderErrorKind) -> ProviderError {
        ProviderError::new(kind, "it did not work", "")
    }

    fn attempt(gpu_layers: u32, processor_experts: u32, context: u32) -> Attempt {
        Attempt {
            split: LayerSplit {
                gpu_layers,
                processor_experts,
            },
            context,
        }
    }

    #[test]
    fn experts_move_before_layers() {
        let mut ladder = Ladder::new(attempt(49, 20, 4_096), Vec::new()).with_experts(48);
        let mut all = Vec::new();
        while ladder.step(&failed(ProviderErrorKind::OutOfMemory))
            && ladder.current.split.gpu_layers == 49
        {
            all.push(ladder.current.split.processor_experts);
        }
        assert_eq!(all, [34, 41, 45, 47, 48]);
        assert_eq!(ladder.current, attempt(24, 48, 4_096));
        let told: Vec<_> = ladder
            .into_notes()
            .iter()
            .map(ToString::to_string)
            .collect();
        let why = "the memory is not enough";
        let experts = format!("the experts of 48 instead of 20 layers are on the processor: {why}");
        assert_eq!(
            told,
            [
                experts,
                format!("24 instead of 49 layers are on the graphics device: {why}")
            ]
        );
    }

    /// Every attempt as layers and context, while each fails with `kind`.
    fn attempts(
        gpu_layers: u32,
        context: u32,
        kind: ProviderErrorKind,
    ) -> (Vec<(u32, u32)>, Vec<LoadNote>) {
        let mut ladder = Ladder::new(attempt(gpu_layers, 0, context), Vec::new());
        let mut all = vec![(gpu_layers, context)];
        while ladder.step(&failed(kind)) {
            all.push((ladder.current.split.gpu_layers, ladder.current.context));
        }
        (all, ladder.into_notes())
    }

    #[test]
    fn memory_takes_layers_then_context_then_processor() {
        let (all, notes) = attempts(29, 8_192, ProviderErrorKind::OutOfMemory);
        let expected = [
            (29, 8_192),
            (14, 8_192),
            (7, 8_192),
            (7, 4_096),
            (0, 8_192),
            (0, 4_096),
            (0, 2_048),
            (0, 1_024),
        ];
        assert_eq!(all, expected);
        let reason = LoadReason::OutOfMemory;
        let smaller = LoadNote::SmallerContext {
            from: 8_192,
            to: 1_024,
            reason: reason.clone(),
        };
        assert_eq!(notes, [LoadNote::WithoutGraphics { reason }, smaller]);
    }

    #[test]
    fn dead_device_falls_back_to_the_processor_at_once() {
        let (all, notes) = attempts(29, 8_192, ProviderErrorKind::WorkerDied);
        assert_eq!(all, [(29, 8_192), (0, 8_192)]);
        assert!(
            matches!(&notes[..], [LoadNote::WithoutGraphics { .. }]),
            "{notes:?}"
        );
    }

    #[test]
    fn damaged_file_is_not_retried_on_the_processor() {
        assert_eq!(attempts(0, 8_192, ProviderErrorKind::Model).0, [(0, 8_192)]);
        assert_eq!(
            attempts(0, 1_500, ProviderErrorKind::OutOfMemory).0,
            [(0, 1_500)]
        );
        let (all, _) = attempts(2, 512, ProviderErrorKind::Model);
        assert_eq!(all, [(2, 512), (1, 512), (0, 512)]);
    }

    #[test]
    fn fewer_layers_are_told_with_both_numbers() {
        let mut ladder = Ladder::new(attempt(20, 0, 4_096), Vec::new());
        assert!(ladder.step(&failed(ProviderErrorKind::OutOfMemory)));
        let notes = ladder.into_notes();
        let told: Vec<_> = notes.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            ["10 instead of 20 layers are on the graphics device: the memory is not enough"]
        );
    }
}
