//! One turn: sends the message and shows the events until the reply ends.

mod end_line;

use std::time::Duration;

use domain::{CharacterId, ChatId};
use engine::api::{
    CommandOutcome, EndReason, Event, Message, Started, Swipe, ToolDecision, ToolRequest,
};
use engine::{Engine, Events, TurnOptions};
use serde_json::json;
use tokio::time::timeout;

use self::end_line::{end_line, figures, figures_line, tool_calls, used};
use crate::failure::{CommandError, ErrorReason};
use crate::interrupts::{Interrupt, Interrupts};
use crate::output::Output;
use crate::verbs::chat::slash;
use crate::verbs::tools::question::{self, StdinLines};

/// Maximum wait for a stopped reply to end.
const STOP_PATIENCE: Duration = Duration::from_secs(5);

pub(crate) struct Talk<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) out: &'a Output,
    pub(crate) chat: ChatId,
    pub(crate) options: TurnOptions,
    pub(crate) interrupts: Interrupts,
    pub(crate) lines: StdinLines,
}

/// The next speaker of a group.
pub(crate) enum Whom {
    /// The id of a character.
    Member(CharacterId),
    Narrator,
    /// The one whose turn it is.
    Next,
}

/// How a turn ended; its output is complete.
pub(crate) enum TurnOutcome {
    Finished,
    /// Stopped by Ctrl-C; the text so far is kept.
    Stopped,
    /// Ended by SIGTERM or a second Ctrl-C.
    Quit,
    Failed(ErrorReason),
}

impl TurnOutcome {
    pub(crate) fn into_result(self) -> Result<(), CommandError> {
        match self {
            Self::Finished => Ok(()),
            Self::Stopped | Self::Quit => Err(CommandError::reported(
                "cancelled",
                "the reply was stopped; the text so far is kept",
            )),
            Self::Failed(reason) => Err(CommandError::Reported(reason)),
        }
    }
}

impl Talk<'_> {
    /// Sends a line, or runs it if it is a slash command.
    pub(crate) async fn turn(&mut self, text: String) -> Result<TurnOutcome, CommandError> {
        // Subscribes first, so that no event of this turn is missed.
        let mut events = self.engine.subscribe();
        let outcome = self
            .engine
            .run_command_with(self.chat, text, self.options.clone())
            .await?;
        let started = match outcome {
            CommandOutcome::Started { started } => started,
            CommandOutcome::Drafting => return self.draft(&mut events).await,
            done => return slash::show(self, done).await,
        };
        // The pictures were sent with the first message.
        self.options.pictures.clear();
        self.until_end(&mut events, &started).await
    }

    /// Lets a character of a group speak.
    pub(crate) async fn speak(&mut self, whom: Whom) -> Result<TurnOutcome, CommandError> {
        let mut events = self.engine.subscribe();
        let chat = self.chat;
        let started = match whom {
            Whom::Member(id) => self.engine.let_speak(chat, Some(id.to_string())).await?,
            Whom::Narrator => self.engine.let_speak(chat, None).await?,
            Whom::Next => {
                let next = self.engine.speak_next(chat).await?;
                next.ok_or_else(|| {
                    CommandError::because("badInput", "nobody is next; name a character")
                })?
            }
        };
        self.until_end(&mut events, &started).await
    }

    async fn until_end(
        &mut self,
        events: &mut Events,
        started: &Started,
    ) -> Result<TurnOutcome, CommandError> {
        if let Some(sent) = &started.sent {
            self.out
                .event(&json!({ "event": "sent", "chat": self.chat, "message": sent.id }))?;
        }
        if started.sent.is_some() && started.reply.is_none() {
            self.out
                .print_note("nobody answers until you let a character speak");
            return Ok(TurnOutcome::Finished);
        }
        let followed = self.follow(events).await;
        if matches!(followed, Err(_) | Ok(TurnOutcome::Quit)) {
            // The reader has closed the pipe or the process must exit, so the reply must not
            // continue unseen.
            let _ = timeout(STOP_PATIENCE, self.engine.stop(self.chat)).await;
        }
        followed
    }

    /// Shows the draft of the user's next message. It is not sent.
    async fn draft(&mut self, events: &mut Events) -> Result<TurnOutcome, CommandError> {
        loop {
            let event = tokio::select! {
                event = events.next() => event,
                interrupt = self.interrupts.next() => {
                    self.engine.stop(self.chat).await?;
                    match interrupt {
                        Interrupt::Quit => return Ok(TurnOutcome::Quit),
                        _ => continue,
                    }
                }
            };
            match event {
                None => return Err(CommandError::because("internal", "the engine stopped")),
                Some(Event::Drafted {
                    chat,
                    text,
                    reason,
                    figures,
                }) if chat == self.chat => {
                    self.out.print(&text)?;
                    self.out.event(&Event::Drafted {
                        chat,
                        text,
                        reason: reason.clone(),
                        figures,
                    })?;
                    return Ok(outcome(reason));
                }
                Some(event) => drop(self.watch(&event)),
            }
        }
    }

    async fn follow(&mut self, events: &mut Events) -> Result<TurnOutcome, CommandError> {
        let mut stopping = false;
        let mut pending: Option<ToolRequest> = None;
        loop {
            let event = tokio::select! {
                event = events.next() => event,
                line = self.lines.next(), if pending.is_some() => {
                    pending = self.answer(pending.take(), line).await?;
                    continue;
                }
                interrupt = self.interrupts.next() => {
                    if stopping || interrupt == Interrupt::Quit {
                        return Ok(TurnOutcome::Quit);
                    }
                    stopping = true;
                    self.engine.stop(self.chat).await?;
                    continue;
                }
            };
            let Some(event) = event else {
                return Err(CommandError::because("internal", "the engine stopped"));
            };
            match &event {
                Event::ToolAsked { chat, request } if *chat == self.chat => {
                    pending = self.ask(request.clone()).await?;
                }
                Event::ToolAnswered { chat, request } if *chat == self.chat => {
                    pending = pending.filter(|pending| pending.id != *request);
                }
                _ => {}
            }
            let event = if event == Event::Missed {
                self.caught_up().await?
            } else {
                Some(event)
            };
            if let Some(ended) = event.map(|event| self.show(event)).transpose()?.flatten() {
                return Ok(ended);
            }
        }
    }

    /// Asks on the terminal. Returns the question that waits for an answer.
    async fn ask(&self, request: ToolRequest) -> Result<Option<ToolRequest>, CommandError> {
        self.out.event(&Event::ToolAsked {
            chat: self.chat,
            request: request.clone(),
        })?;
        if self.out.is_json() || !question::can_ask() {
            self.engine
                .answer_tool(request.id, ToolDecision::NotNow)
                .await?;
            self.out.print(&format!(
                "(the tool {} was refused, because nobody can be asked)",
                request.tool
            ))?;
            return Ok(None);
        }
        self.out.print_note(&question::question(&request));
        Ok(Some(request))
    }

    /// Takes a line as the answer. Returns the question again if it is none.
    async fn answer(
        &self,
        pending: Option<ToolRequest>,
        line: Option<std::io::Result<String>>,
    ) -> Result<Option<ToolRequest>, CommandError> {
        let Some(request) = pending else {
            return Ok(None);
        };
        let line = line.transpose()?.unwrap_or_default();
        let Some(decision) = question::decision(&line) else {
            self.out.print_note(&question::question(&request));
            return Ok(Some(request));
        };
        // Another window may have answered.
        let _ = self.engine.answer_tool(request.id, decision).await;
        Ok(None)
    }

    /// Returns the final event if the reply ended while events were lost on a slow reader.
    async fn caught_up(&self) -> Result<Option<Event>, CommandError> {
        self.out.event(&json!({ "event": "missed" }))?;
        let chat = self.engine.open_chat(self.chat).await?;
        let ended = chat.generating.is_none();
        let message = chat.page.messages.into_iter().last();
        Ok(ended.then_some(Event::Ended {
            chat: chat.id,
            message,
            anchor: chat.anchor,
            reason: EndReason::Stop,
            following: 0,
        }))
    }

    /// Shows an event of this chat. The end of the reply ends the turn.
    fn show(&self, event: Event) -> Result<Option<TurnOutcome>, CommandError> {
        match event {
            Event::Token {
                chat,
                text,
                message,
                swipe,
                seq,
            } if chat == self.chat => {
                self.out.print_piece(&text)?;
                self.out.event(&Event::Token {
                    chat,
                    text,
                    message,
                    swipe,
                    seq,
                })?;
            }
            Event::Ended {
                chat,
                message,
                reason,
                following,
                ..
            } if chat == self.chat => {
                let outcome = self.end(message.as_ref(), reason)?;
                return Ok((following == 0).then_some(outcome));
            }
            Event::Started {
                chat,
                message,
                turn,
                ..
            } if chat == self.chat => {
                if turn.is_some() {
                    self.out.print_piece(&format!("{}: ", message.name))?;
                }
                self.out
                    .event(&json!({ "event": "started", "chat": chat, "message": message.id }))?;
            }
            Event::Thought { ref chat, .. } if *chat == self.chat => self.out.event(&event)?,
            Event::ToolsUsed {
                ref chat,
                ref rounds,
                running: false,
                ..
            } if *chat == self.chat => {
                rounds
                    .last()
                    .map_or(Ok(()), |round| self.out.print(&used(round)))?;
                self.out.event(&event)?;
            }
            Event::ThoughtsClosed { ref chat, .. } if *chat == self.chat => {
                self.out
                    .print_piece("\n(So far the model was thinking. Its reply follows.)\n\n")?;
                self.out.event(&event)?;
            }
            event if self.watch(&event) => self.out.event(&event)?,
            _ => {}
        }
        Ok(None)
    }

    /// Shows the progress of the reply. Returns false for other events.
    fn watch(&self, event: &Event) -> bool {
        let (of, line) = match event {
            Event::Queued { chat } => (chat, "waiting for another reply".to_owned()),
            Event::Loading { chat, fraction } => (
                chat,
                format!("loading the model: {:.0} %", fraction * 100.0),
            ),
            Event::Prefill {
                chat, done, total, ..
            } => (
                chat,
                format!("reading the prompt: {done} of {total} tokens"),
            ),
            Event::Retrying {
                chat, attempt, why, ..
            } => (chat, format!("trying again ({attempt}): {why}")),
            Event::Stalled { chat, seconds } => {
                (chat, format!("nothing has arrived for {seconds} s"))
            }
            _ => return false,
        };
        if *of == self.chat {
            self.out.progress(&line);
        }
        *of == self.chat
    }

    fn end(
        &self,
        message: Option<&Message>,
        reason: EndReason,
    ) -> Result<TurnOutcome, CommandError> {
        self.out.print_piece("\n")?;
        for call in tool_calls(message) {
            self.out.print(&format!(
                "(requested the tool {}({}))",
                call.name, call.arguments
            ))?;
        }
        self.out.event(&end_line(self.chat, message, &reason))?;
        if let Some(figures) = figures(message) {
            self.out.print_note(&figures_line(figures));
            if figures.tool_limit {
                self.out.print_note("tool limit reached");
            }
        }
        Ok(outcome(reason))
    }
}

fn outcome(reason: EndReason) -> TurnOutcome {
    match reason {
        EndReason::Stop | EndReason::Length => TurnOutcome::Finished,
        EndReason::Cancelled => TurnOutcome::Stopped,
        EndReason::Failed { error } => TurnOutcome::Failed(ErrorReason::from(&error)),
    }
}

fn swipe(message: Option<&Message>) -> Option<&Swipe> {
    let message = message?;
    message.swipes.get(message.selected as usize)
}

#[cfg(test)]
mod tests;
