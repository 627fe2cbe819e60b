//! Turns the stream of a provider into the events of a client's reply.

use std::collections::HashSet;
use std::sync::Arc;

use context::display::{PassageFilter, ReplyPassage, ReplyPiece};
use context::tools::ReplyCalls;
use domain::ToolCall;
use futures_util::StreamExt;
use provider::{FinishReason, GenerationEvent, Provider, ProviderErrorKind, Request, Usage};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::api::client::{ReplyEnd, ReplyEvent, ReplyFinish, ReplyPlace, ReplyStream, ReplyUsage};
use crate::api::{ApiError, ProviderClass};
use crate::base::error::internal;
use crate::turn::client::Clients;
use crate::turn::replies::passages::{Passages, ReplyPart};
use crate::turn::tools::call_ids;

/// Events that a client may lag behind before the model waits for it.
const BACKLOG: usize = 256;

pub(crate) type EventSender = mpsc::Sender<Result<ReplyEvent, ApiError>>;

/// Splits the text of a model into thoughts and words.
pub(crate) enum ReplyText {
    /// For a character: also without tags and the speaker's name.
    Character(Box<Passages>),
    Raw(PassageFilter),
}

impl ReplyText {
    fn push(&mut self, text: &str) -> Vec<ReplyEvent> {
        match self {
            Self::Character(passages) => passages.push(text).into_iter().flat_map(part).collect(),
            Self::Raw(filter) => filter.push(text).into_iter().filter_map(piece).collect(),
        }
    }

    fn finish(&mut self) -> Vec<ReplyEvent> {
        match self {
            Self::Character(passages) => passages.finish().into_iter().flat_map(part).collect(),
            Self::Raw(filter) => filter.finish().into_iter().filter_map(piece).collect(),
        }
    }
}

/// Reads the reply of one request.
pub(crate) struct ReplyReader {
    pub(crate) text: ReplyText,
    /// For a model that writes calls as text.
    pub(crate) calls: Option<ReplyCalls>,
    /// Ids of earlier calls, which new ones must not repeat.
    pub(crate) used: HashSet<String>,
}

impl ReplyReader {
    fn push(&mut self, text: &str) -> Vec<ReplyEvent> {
        match &mut self.calls {
            Some(calls) => self.text.push(&calls.push(text)),
            None => self.text.push(text),
        }
    }

    /// The text that was held back, and the calls in it.
    fn finish(&mut self) -> Vec<ReplyEvent> {
        let (rest, calls) = self
            .calls
            .take()
            .map(ReplyCalls::finish)
            .unwrap_or_default();
        let mut events = self.text.push(&rest);
        events.extend(self.text.finish());
        events.extend(calls.into_iter().map(|call| self.call(call)));
        events
    }

    fn call(&mut self, mut call: ToolCall) -> ReplyEvent {
        call_ids::settle(std::slice::from_mut(&mut call), &mut self.used);
        ReplyEvent::ToolCall(call)
    }
}

fn part(part: ReplyPart) -> impl Iterator<Item = ReplyEvent> {
    let thoughts = Some(part.thoughts)
        .filter(|text| !text.is_empty())
        .map(ReplyEvent::Thoughts);
    let words = Some(part.words)
        .filter(|text| !text.is_empty())
        .map(ReplyEvent::Text);
    thoughts.into_iter().chain(words)
}

fn piece(piece: ReplyPiece) -> Option<ReplyEvent> {
    match piece.passage {
        ReplyPassage::Thoughts => Some(piece.text)
            .filter(|text| !text.is_empty())
            .map(ReplyEvent::Thoughts),
        ReplyPassage::ThoughtsClosed => None,
        _ => Some(piece.raw)
            .filter(|text| !text.is_empty())
            .map(ReplyEvent::Text),
    }
}

/// A channel for the events of a reply, and the token that a dropped reply cancels. The engine's
/// end cancels it too.
pub(crate) fn channel(
    clients: &Clients,
    place: ReplyPlace,
) -> (EventSender, CancellationToken, ReplyStream) {
    let (sender, events) = mpsc::channel(BACKLOG);
    let stop = clients.base().idle().ended().child_token();
    (
        sender,
        stop.clone(),
        ReplyStream {
            place,
            events,
            _stops: stop.drop_guard(),
        },
    )
}

impl Clients {
    /// Starts a reply that is not stored.
    pub(crate) fn client_stream(
        &self,
        provider: Arc<dyn Provider>,
        request: Request,
        reader: ReplyReader,
        place: ReplyPlace,
    ) -> ReplyStream {
        self.base().idle().stop();
        let (sender, stop, reply) = channel(self, place);
        let at_work = self.base().idle().at_work();
        let stream = provider.stream(request, stop.clone());
        tokio::spawn(async move {
            forward(stream, reader, &sender, &stop).await;
            drop(at_work);
        });
        reply
    }
}

async fn forward(
    mut stream: provider::EventStream,
    mut reader: ReplyReader,
    sender: &EventSender,
    stop: &CancellationToken,
) {
    let mut calls = false;
    loop {
        let next = tokio::select! {
            biased;
            () = stop.cancelled() => return,
            next = stream.next() => next,
        };
        let (events, last) = match next {
            Some(Ok(GenerationEvent::Text(piece))) => (reader.push(&piece), false),
            Some(Ok(GenerationEvent::Thoughts(text))) => (vec![ReplyEvent::Thoughts(text)], false),
            Some(Ok(GenerationEvent::Choices(tokens))) => (vec![ReplyEvent::Tokens(tokens)], false),
            Some(Ok(GenerationEvent::ToolCall(call))) => {
                let mut events = reader.finish();
                events.push(reader.call(call));
                (events, false)
            }
            Some(Ok(GenerationEvent::Finished { reason, usage, .. })) => {
                let mut events = reader.finish();
                calls |= events
                    .iter()
                    .any(|event| matches!(event, ReplyEvent::ToolCall(_)));
                events.push(ReplyEvent::Ended(end(reason, usage, calls)));
                (events, true)
            }
            Some(Ok(event)) => (
                waiting(&event)
                    .map(ReplyEvent::Waiting)
                    .into_iter()
                    .collect(),
                false,
            ),
            Some(Err(error)) if error.kind == ProviderErrorKind::Filtered => {
                let mut events = reader.finish();
                let usage = ReplyUsage::default();
                events.push(ReplyEvent::Ended(ReplyEnd {
                    finish: ReplyFinish::ContentFilter,
                    usage,
                    text: None,
                }));
                (events, true)
            }
            Some(Err(error)) => {
                let _ = sender.send(Err(error.into())).await;
                return;
            }
            None => {
                let _ = sender
                    .send(Err(internal("a reply's stream ended early")))
                    .await;
                return;
            }
        };
        calls |= events
            .iter()
            .any(|event| matches!(event, ReplyEvent::ToolCall(_)));
        for event in events {
            // The client is gone, and so is the guard that stops the model.
            if sender.send(Ok(event)).await.is_err() {
                return;
            }
        }
        if last {
            return;
        }
    }
}

fn end(reason: FinishReason, usage: Usage, calls: bool) -> ReplyEnd {
    let finish = match reason {
        FinishReason::Length => ReplyFinish::Length,
        _ if calls => ReplyFinish::ToolCalls,
        FinishReason::Stop | FinishReason::Cancelled => ReplyFinish::Stop,
    };
    let count = |count: Option<u32>| count.unwrap_or(0);
    let usage = ReplyUsage {
        prompt: count(usage.prompt),
        cached: count(usage.reused).min(count(usage.prompt)),
        generated: count(usage.generated),
    };
    ReplyEnd {
        finish,
        usage,
        text: None,
    }
}

/// Whether a content filter ended the reply. Clients expect this as a finish reason, not as an
/// error.
pub(crate) fn is_filtered(error: &ApiError) -> bool {
    matches!(
        error,
        ApiError::Provider {
            class: ProviderClass::Filtered,
            ..
        }
    )
}

/// Why there is no text yet, in one line.
pub(crate) fn waiting(event: &GenerationEvent) -> Option<String> {
    Some(match event {
        GenerationEvent::Queued => "queued".to_owned(),
        GenerationEvent::Loading { fraction } => format!("loading {:.0} %", fraction * 100.0),
        GenerationEvent::Prefill { done, total, .. } => format!("reading {done}/{total}"),
        GenerationEvent::Retrying { attempt, .. } => format!("retrying {attempt}"),
        GenerationEvent::Stalled { seconds } => format!("silent for {seconds} s"),
        _ => return None,
    })
}
