//! Token costs of texts before they are rendered.

use std::collections::HashSet;

use domain::prompt::{PromptRole, Segment};

use super::AssembleError;
use crate::CountTokens;
use crate::chat_template::{ChatTemplate, RenderedRun, RenderedTurn, TemplateError};

/// Lower bound for token estimates: on average a token has at most this many bytes. It limits how
/// far back messages are weighed.
pub(crate) const BYTES_A_TOKEN: usize = 8;

/// Counts tokens and collects the segments without a count.
pub(crate) struct Costs<'a> {
    counter: &'a dyn CountTokens,
    missing: Vec<Segment>,
}

impl<'a> Costs<'a> {
    pub(crate) fn new(counter: &'a dyn CountTokens) -> Self {
        Self {
            counter,
            missing: Vec::new(),
        }
    }

    pub(crate) fn exact(&self) -> bool {
        self.counter.exact()
    }

    pub(crate) fn plain(&mut self, text: String) -> u32 {
        self.segment(Segment {
            text,
            control: false,
        })
    }

    /// The count, or a low estimate until it is known.
    fn segment(&mut self, segment: Segment) -> u32 {
        self.counter
            .count(&segment)
            .unwrap_or_else(|| self.guess(segment))
    }

    fn guess(&mut self, segment: Segment) -> u32 {
        let guess = segment.text.len() / BYTES_A_TOKEN;
        self.missing.push(segment);
        guess as u32
    }

    pub(crate) fn of(&mut self, segment: &Segment) -> u32 {
        match self.counter.count(segment) {
            Some(count) => count,
            None => self.guess(segment.clone()),
        }
    }

    /// Returns an error with the segments that have no count yet.
    pub(crate) fn settle(&mut self) -> Result<(), AssembleError> {
        let missing = std::mem::take(&mut self.missing);
        if missing.is_empty() {
            return Ok(());
        }
        let mut seen = HashSet::new();
        let once = missing
            .into_iter()
            .filter(|segment| seen.insert(segment.clone()));
        Err(AssembleError::Uncounted(once.collect()))
    }
}

/// Tokens that the chat template adds around a message of each role. Measured on a few empty
/// messages, so that the history can be weighed without rendering it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Overhead {
    system: u32,
    user: u32,
    character: u32,
    /// Tokens that open the reply.
    pub(crate) closing: u32,
}

impl Overhead {
    pub(crate) fn measure(
        template: &ChatTemplate,
        costs: &mut Costs<'_>,
    ) -> Result<Self, TemplateError> {
        use PromptRole::{Character, System, User};
        let roles = [System, User, Character, User, Character, User];
        let turns: Vec<RenderedTurn> = roles
            .iter()
            .enumerate()
            .map(|(part, role)| RenderedTurn {
                role: *role,
                parts: vec![part],
            })
            .collect();
        let mut overhead = Self::default();
        let mut waiting = 0;
        for piece in template.render(&turns, false)? {
            match piece {
                RenderedRun::Control(text) => {
                    waiting += costs.segment(Segment {
                        text,
                        control: true,
                    })
                }
                RenderedRun::Part(part) | RenderedRun::Quoted(part) => {
                    let cost = overhead.slot(roles[part]);
                    *cost = (*cost).max(std::mem::take(&mut waiting));
                }
            }
        }
        overhead.closing = waiting;
        Ok(overhead)
    }

    pub(crate) fn of(&self, role: PromptRole) -> u32 {
        match role {
            PromptRole::System => self.system,
            PromptRole::User => self.user,
            PromptRole::Character => self.character,
        }
    }

    fn slot(&mut self, role: PromptRole) -> &mut u32 {
        match role {
            PromptRole::System => &mut self.system,
            PromptRole::User => &mut self.user,
            PromptRole::Character => &mut self.character,
        }
    }
}
