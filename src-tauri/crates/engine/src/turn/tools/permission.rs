//! Decides whether a tool may run.
//!
//! Only the user grants anything: by a switch for the app's own tools that read this chat,
//! otherwise by an answer to a question that shows tool, server and arguments. No text of a card,
//! message, document or result is read here.

use std::time::Duration;

use domain::chat::Chat;
use domain::{ChatId, ToolCall};
use store::ToolGrant;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::api::{Event, ToolDecision, ToolRequest};
use crate::base::error::{ApiResult, not_found};
use crate::turn::tools::Tools;
use crate::turn::tools::argument_texts::argument_texts;
use crate::turn::tools::turn_tools::OfferedTool;

/// Timeout of a question.
const PATIENCE: Duration = Duration::from_secs(600);

/// Whether a tool may run, and if not, why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Permission {
    Granted,
    Refused,
    /// Nobody could be asked, or nobody answered.
    Unanswered,
    /// The reply was stopped.
    Stopped,
}

/// A question that waits. Dropping it closes the question, also when a stopped reply drops it.
struct OpenRequest<'a> {
    room: &'a Tools,
    chat: ChatId,
    id: String,
}

impl Drop for OpenRequest<'_> {
    fn drop(&mut self) {
        self.room.tool_requests().remove(&self.id);
        let chat = self.chat;
        let request = std::mem::take(&mut self.id);
        self.room
            .base()
            .events()
            .announce(Event::ToolAnswered { chat, request });
    }
}

impl Tools {
    /// Asks the user unless a decision exists.
    pub(crate) async fn permission(
        &self,
        chat: &Chat,
        speaker: &str,
        (offered, call): (&OfferedTool, &ToolCall),
        cancel: &CancellationToken,
    ) -> ApiResult<Permission> {
        if offered.is_harmless() {
            return Ok(Permission::Granted);
        }
        let id = chat.id;
        match self.decision(offered, id).await? {
            Some(true) => return Ok(Permission::Granted),
            Some(false) => return Ok(Permission::Refused),
            None if !self.base().events().has_front_end() => return Ok(Permission::Unanswered),
            None => {}
        }
        let request = ToolRequest {
            id: Uuid::now_v7().to_string(),
            chat: id,
            speaker: speaker.to_owned(),
            source: offered.source_name().to_owned(),
            tool: offered.tool.name.clone(),
            description: offered.tool.description.clone(),
            arguments: call.arguments.text().to_owned(),
            argument_texts: argument_texts(&offered.tool.parameters),
        };
        let decision = self.ask(request, cancel).await;
        self.remember(id, offered, decision).await
    }

    /// The user's earlier decision, if any.
    async fn decision(&self, offered: &OfferedTool, chat: ChatId) -> ApiResult<Option<bool>> {
        if let Some(grants) = offered.source.as_ref().and_then(|source| source.grants()) {
            return grants.decision(&offered.tool.name, chat).await;
        }
        let source = offered.source_name().to_owned();
        let tool = offered.tool.name.clone();
        Ok(self
            .base()
            .store()
            .read(move |store| store.tool_grants().decision(&source, &tool, chat))
            .await?)
    }

    async fn keep_decision(
        &self,
        offered: &OfferedTool,
        chat: Option<ChatId>,
        allowed: bool,
    ) -> ApiResult<()> {
        if let Some(grants) = offered.source.as_ref().and_then(|source| source.grants()) {
            return grants.keep(&offered.tool.name, chat, allowed).await;
        }
        let source = offered.source_name().to_owned();
        let tool = offered.tool.name.clone();
        let grant = ToolGrant {
            source,
            tool,
            chat,
            allowed,
            created: self.base().now(),
        };
        Ok(self
            .base()
            .store()
            .write(move |store| store.tool_grants_mut().set(&grant))
            .await?)
    }

    /// The answer of the user. `Ok(None)` if nobody answered in time, `Err` if the reply was
    /// stopped.
    async fn ask(
        &self,
        request: ToolRequest,
        cancel: &CancellationToken,
    ) -> Result<Option<ToolDecision>, Stopped> {
        let (sender, receiver) = oneshot::channel();
        let id = request.id.clone();
        let chat = request.chat;
        self.tool_requests().insert(request.clone(), sender);
        self.base()
            .events()
            .announce(Event::ToolAsked { chat, request });
        let _open = OpenRequest {
            room: self,
            chat,
            id,
        };
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(Stopped),
            answer = tokio::time::timeout(PATIENCE, receiver) => Ok(answer.ok().and_then(Result::ok)),
        }
    }

    /// Stores a decision that applies beyond this call.
    async fn remember(
        &self,
        chat: ChatId,
        offered: &OfferedTool,
        decision: Result<Option<ToolDecision>, Stopped>,
    ) -> ApiResult<Permission> {
        let (allowed, place) = match decision {
            Err(Stopped) => return Ok(Permission::Stopped),
            Ok(None) => return Ok(Permission::Unanswered),
            Ok(Some(ToolDecision::Once)) => return Ok(Permission::Granted),
            Ok(Some(ToolDecision::NotNow)) => return Ok(Permission::Refused),
            Ok(Some(ToolDecision::ThisChat)) => (true, Some(chat)),
            Ok(Some(ToolDecision::Always)) => (true, None),
            Ok(Some(ToolDecision::Never)) => (false, None),
        };
        self.keep_decision(offered, place, allowed).await?;
        Ok(if allowed {
            Permission::Granted
        } else {
            Permission::Refused
        })
    }

    /// The questions of a chat that wait for an answer, oldest first.
    pub(crate) async fn pending_tools(&self, chat: ChatId) -> ApiResult<Vec<ToolRequest>> {
        Ok(self.tool_requests().of(chat))
    }

    /// Answers a question.
    ///
    /// # Errors
    /// `NotFound` if it no longer waits.
    pub(crate) async fn answer_tool(
        &self,
        request: String,
        decision: ToolDecision,
    ) -> ApiResult<()> {
        let waiting = self.tool_requests().remove(&request);
        let answered = waiting.is_some_and(|sender| sender.send(decision).is_ok());
        if answered {
            Ok(())
        } else {
            Err(not_found("question about a tool"))
        }
    }
}

/// The reply was stopped while the user was asked.
struct Stopped;
