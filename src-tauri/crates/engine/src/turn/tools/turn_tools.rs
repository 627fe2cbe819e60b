//! The tools of one turn.

use std::sync::{Arc, Mutex, PoisonError};

use context::tools::{CallSyntax, FrameTools, ReplyCalls};
use domain::prompt::ToolChoice;

use crate::base::tool_source::{SourceTool, ToolSource};

/// Name of the tool that reads on in a result that was cut.
pub(crate) const SHOW_MORE: &str = "show_more";

/// A tool that the model may call.
pub(crate) struct OfferedTool {
    /// The name that the model uses.
    pub(crate) name: String,
    pub(crate) tool: SourceTool,
    /// `None` for [`SHOW_MORE`], which the round itself answers.
    pub(crate) source: Option<Arc<dyn ToolSource>>,
}

impl OfferedTool {
    pub(crate) fn source_name(&self) -> &str {
        self.source.as_ref().map_or("", |source| source.name())
    }

    /// Whether it runs without a question. A server's own claim does not count.
    pub(crate) fn is_harmless(&self) -> bool {
        self.source_name().is_empty() && self.tool.harmless
    }
}

/// The tools of a turn.
#[derive(Default)]
pub(crate) struct TurnTools {
    pub(crate) offered: Vec<OfferedTool>,
    pub(crate) frame: FrameTools,
    /// Syntax of the model's calls; `None` if the provider reports them.
    pub(crate) syntax: Option<CallSyntax>,
    /// The emotion that a tool has set.
    pub(crate) mood: Mood,
}

impl TurnTools {
    /// Whether the model may call a tool now.
    pub(crate) fn can_call(&self) -> bool {
        !self.frame.definitions.is_empty() && self.frame.choice != ToolChoice::Never
    }

    /// Whether the app runs the calls. A program that offers tools runs them itself.
    pub(crate) fn can_run(&self) -> bool {
        self.can_call() && !self.offered.is_empty()
    }

    /// Reads calls from the text of a reply; `None` if it can contain none.
    pub(crate) fn reader(&self) -> Option<ReplyCalls> {
        let syntax = self.syntax.as_ref().filter(|_| self.can_call())?;
        Some(ReplyCalls::new(syntax).with_single_call(self.frame.single_call))
    }
}

/// The emotion that a tool has set for the reply.
#[derive(Clone, Default)]
pub(crate) struct Mood(Arc<Mutex<Option<String>>>);

impl Mood {
    pub(crate) fn get(&self) -> Option<String> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(crate) fn set(&self, label: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(label);
    }
}
