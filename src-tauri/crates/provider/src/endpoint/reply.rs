//! One reply: attempts, timeouts, and exactly one final event.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use async_stream::stream;
use futures_util::{Stream, StreamExt};
use tokio_util::sync::CancellationToken;

use super::client_state::ClientState;
use super::exchange::{StreamItem, exchange};
use super::reply_state::{ReplyEnd, ReplyState};
use super::retry::{RequestFailure, RetryPolicy, pause};
use super::{diagnose, transport_error};
use crate::endpoint::stream::idle_timer::{IdleTimer, Waited};
use crate::{FinishReason, GenerationEvent, ProviderError, Request};

pub(crate) fn reply(
    shared: Arc<ClientState>,
    request: Request,
    cancel: CancellationToken,
) -> impl Stream<Item = Result<GenerationEvent, ProviderError>> {
    let request = Arc::new(request);
    stream! {
        let timeouts = shared.config.timeouts;
        let mut tally = ReplyState::new(&request, shared.config.api().trims_prefill());
        let mut retries = 0;
        loop {
            let mut frames = pin!(exchange(Arc::clone(&shared), Arc::clone(&request)));
            let mut silence = IdleTimer::new(timeouts.notice, timeouts.first_text);
            let failure = loop {
                let next = match silence.wait(&cancel, frames.next()).await {
                    Waited::Notice(seconds) => {
                        yield Ok(GenerationEvent::Stalled { seconds });
                        continue;
                    }
                    Waited::Cancelled => {
                        for event in tally.ending(FinishReason::Cancelled) {
                            yield Ok(event);
                        }
                        return;
                    }
                    Waited::TimedOut => Next::Failed(diagnose::silent(&shared.config, silence.limit)),
                    Waited::Ready(None) => Next::on_hang_up(&shared, &mut tally),
                    Waited::Ready(Some(Err(failure))) => Next::Failed(failure),
                    Waited::Ready(Some(Ok(frame))) => {
                        silence.reset();
                        let mut events = Vec::new();
                        let next = take(&shared, &mut tally, frame, &mut events);
                        for event in events {
                            yield Ok(event);
                        }
                        next
                    }
                };
                match next {
                    Next::Goes => silence.limit = limit(&shared, &tally),
                    Next::Ended => break None,
                    Next::Failed(failure) => break Some(failure),
                }
            };
            // A failure after the end of a reply is ignored unless the endpoint itself reports it.
            let failure = failure.filter(|failure| tally.ended.is_none() || failure.reported_by_endpoint);
            let Some(failure) = failure else {
                let reason = tally.ended.unwrap_or(FinishReason::Stop);
                if tally.only_thought() {
                    yield Err(diagnose::only_thoughts(&shared.config, reason));
                    return;
                }
                for event in tally.ending(reason) {
                    yield Ok(event);
                }
                return;
            };
            if failure.retry == RetryPolicy::Adapted && !tally.has_begun() {
                continue;
            }
            let Some(wait) = next_pause(&shared, &tally, retries, failure.retry) else {
                for event in tally.rest() {
                    yield Ok(event);
                }
                yield Err(failure.error);
                return;
            };
            retries += 1;
            // The message may quote the prompt.
            tracing::info!(retries, kind = ?failure.error.kind, status = failure.error.status, "sending the request again");
            yield Ok(retrying(retries, wait, &failure));
            if cancel.run_until_cancelled(tokio::time::sleep(wait)).await.is_none() {
                for event in tally.ending(FinishReason::Cancelled) {
                    yield Ok(event);
                }
                return;
            }
        }
    }
}

/// State of the reply after an event.
enum Next {
    Goes,
    Ended,
    Failed(RequestFailure),
}

impl Next {
    /// Handles a stream that closed without an end marker.
    fn on_hang_up(shared: &ClientState, tally: &mut ReplyState) -> Self {
        tally.ended = tally.hung_up();
        match tally.ended {
            Some(_) => Self::Ended,
            None => Self::Failed(transport_error::cut(&shared.config)),
        }
    }
}

fn take(
    shared: &ClientState,
    tally: &mut ReplyState,
    frame: StreamItem,
    events: &mut Vec<GenerationEvent>,
) -> Next {
    match frame {
        StreamItem::KeepAlive => Next::Goes,
        StreamItem::Done => Next::Ended,
        StreamItem::Chunk(chunk) => {
            let last = chunk.last;
            match tally.take(&shared.config, *chunk, events) {
                Err(failure) => Next::Failed(failure),
                Ok(()) if tally.is_cut() => {
                    tally.ended = Some(FinishReason::Stop);
                    Next::Ended
                }
                Ok(()) if last => Next::Ended,
                Ok(()) => Next::Goes,
            }
        }
    }
}

fn limit(shared: &ClientState, tally: &ReplyState) -> Duration {
    let timeouts = &shared.config.timeouts;
    match (tally.has_ended(), tally.has_output()) {
        (ReplyEnd::Yes, _) => timeouts.usage,
        (ReplyEnd::Maybe, _) | (ReplyEnd::No, true) => timeouts.between_texts,
        (ReplyEnd::No, false) => timeouts.first_text,
    }
}

fn next_pause(
    shared: &ClientState,
    tally: &ReplyState,
    retries: u32,
    again: RetryPolicy,
) -> Option<Duration> {
    if tally.has_begun() {
        return None;
    }
    pause(&shared.config.timeouts, retries + 1, again, rand::random())
}

fn retrying(attempt: u32, wait: Duration, failure: &RequestFailure) -> GenerationEvent {
    let after_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
    GenerationEvent::Retrying {
        attempt,
        after_ms,
        why: failure.error.message.clone(),
    }
}
