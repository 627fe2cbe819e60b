//! The tool rounds of a reply that is being written.

use std::collections::HashMap;
use std::time::Instant;

use context::tools::ReplyCalls;
use domain::{SignedThought, ToolRound};

use crate::api::ToolRoundFigures;
use crate::base::clock::millis;
use crate::turn::replies::target::Target;
use crate::turn::tools::turn_tools::TurnTools;

/// Rounds so far, and what the next ones need.
pub(crate) struct ToolProgress {
    /// All rounds of the reply, also those before this turn.
    pub(crate) rounds: Vec<ToolRound>,
    pub(crate) figures: Vec<ToolRoundFigures>,
    /// The limit of rounds is reached.
    pub(crate) limit: bool,
    /// Results by the id of their call, before they were cut.
    pub(crate) whole: HashMap<String, String>,
    /// Thoughts of the current request that its service wants back with the results.
    pub(crate) thoughts: Vec<SignedThought>,
    /// Reads calls from the text of the reply.
    pub(crate) reader: Option<ReplyCalls>,
    /// Length of the shown text when the request began.
    pub(crate) words: usize,
    pub(crate) asked: Instant,
    /// The emotion that a tool has set.
    pub(crate) mood: Option<String>,
    /// The emotion that the text before a round names.
    pub(crate) emotion_tag: Option<String>,
}

impl ToolProgress {
    pub(crate) fn of(target: &Target) -> Self {
        Self {
            rounds: target.tool_rounds().to_vec(),
            figures: Vec::new(),
            limit: false,
            whole: HashMap::new(),
            thoughts: Vec::new(),
            reader: None,
            words: 0,
            asked: Instant::now(),
            mood: None,
            emotion_tag: None,
        }
    }

    /// Prepares for the next request. `words` is the length of the shown text so far.
    pub(crate) fn begin(&mut self, tools: &TurnTools, words: usize) {
        self.reader = tools.reader();
        self.thoughts.clear();
        (self.words, self.asked) = (words, Instant::now());
    }

    /// Milliseconds since the request began.
    pub(crate) fn model_ms(&self) -> f64 {
        millis(self.asked)
    }
}
