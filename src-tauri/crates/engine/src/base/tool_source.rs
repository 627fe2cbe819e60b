//! Sources of tools: the app itself, and servers of others.

use std::sync::{Arc, Mutex, PoisonError};

use domain::ChatId;
use futures_util::future::BoxFuture;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::api::ApiError;

/// A set of tools under one name.
pub trait ToolSource: Send + Sync {
    /// Name of the server, as the user knows it. Empty for the app's own tools.
    fn name(&self) -> &str;

    /// The tools that can be called now.
    fn tools(&self) -> BoxFuture<'_, Vec<SourceTool>>;

    /// Runs a tool by its own name. Dropping the future or cancelling stops it.
    fn call<'a>(
        &'a self,
        tool: &'a str,
        arguments: Map<String, Value>,
        cancel: CancellationToken,
    ) -> BoxFuture<'a, ToolOutput>;

    /// The user's decisions about the tools, where the source keeps them itself.
    fn grants(&self) -> Option<&dyn SourceGrants> {
        None
    }
}

/// The user's decisions about the tools of one source.
pub trait SourceGrants: Send + Sync {
    /// Whether the tool may run in the chat; `None` asks the user.
    fn decision<'a>(
        &'a self,
        tool: &'a str,
        chat: ChatId,
    ) -> BoxFuture<'a, Result<Option<bool>, ApiError>>;

    /// Keeps a decision for one chat, or for all.
    fn keep<'a>(
        &'a self,
        tool: &'a str,
        chat: Option<ChatId>,
        allowed: bool,
    ) -> BoxFuture<'a, Result<(), ApiError>>;
}

/// A tool of a source.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceTool {
    /// The source's own name for it.
    pub name: String,
    /// Name for the model; `None` makes one of the names of source and tool.
    pub model_name: Option<String>,
    pub description: String,
    /// JSON Schema of an object.
    pub parameters: Value,
    /// It changes nothing, so it may run at the same time as others.
    pub reads_only: bool,
    /// It runs without a question. Only the app's own tools may claim it.
    pub harmless: bool,
}

/// Result of a tool: text for the model.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolOutput {
    pub text: String,
    pub error: bool,
}

impl ToolOutput {
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            error: false,
        }
    }

    pub fn error(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            error: true,
        }
    }
}

/// The sources besides the app's own tools. Clones share one list.
#[derive(Clone, Default)]
pub struct ToolSources {
    sources: Arc<Mutex<Vec<Arc<dyn ToolSource>>>>,
}

impl ToolSources {
    pub fn list(&self) -> Vec<Arc<dyn ToolSource>> {
        self.sources
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Replaces all sources.
    pub fn set(&self, sources: Vec<Arc<dyn ToolSource>>) {
        *self.sources.lock().unwrap_or_else(PoisonError::into_inner) = sources;
    }
}
