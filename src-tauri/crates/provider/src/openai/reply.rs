//! One reply: attempts, the silences between and within them, and exactly one ending.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use async_stream::stream;
use futures_util::{Stream, StreamExt};
use tokio_util::sync::CancellationToken;

use super::Shared;
use super::diagnose;
use super::exchange::{Frame, exchange};
use super::retry::{Again, Failure, pause};
use super::silence::{Silence, Waited};
use super::tally::Tally;
use crate::{FinishReason, GenerationEvent, ProviderError, Request};

pub(super) fn reply(
    shared: Arc<Shared>,
    request: Request,
    cancel: CancellationToken,
) -> impl Stream<Item = Result<GenerationEvent, ProviderError>> {
    let request = Arc::new(request);
    stream! {
        let patience = shared.config.patience;
        let mut tally = Tally::new();
        let mut retries = 0;
        loop {
            let mut frames = pin!(exchange(Arc::clone(&shared), Arc::clone(&request)));
            let mut silence = Silence::new(patience.notice, patience.first);
            let failure = loop {
                match silence.wait(&cancel, frames.next()).await {
                    Waited::Quiet(seconds) => yield Ok(GenerationEvent::Stalled { seconds }),
                    Waited::Cancelled => {
                        for event in tally.ending(FinishReason::Cancelled) {
                            yield Ok(event);
                        }
                        return;
                    }
                    Waited::TooLong => break diagnose::silent(&shared.config, silence.limit),
                    Waited::Ready(None) => break diagnose::cut(&shared.config),
                    Waited::Ready(Some(Err(failure))) => break failure,
                    Waited::Ready(Some(Ok(frame))) => {
                        silence.broken();
                        match take(&shared, &mut tally, frame) {
                            Err(failure) => break failure,
                            Ok(Taken::Ended(reason)) => {
                                for event in tally.ending(reason) {
                                    yield Ok(event);
                                }
                                return;
                            }
                            Ok(Taken::Events(events)) => {
                                for event in events {
                                    yield Ok(event);
                                }
                            }
                        }
                    }
                }
                silence.limit = limit(&shared, &tally);
            };
            // What goes wrong behind the end of a reply is no fault of the reply.
            if let Some(reason) = tally.ended {
                for event in tally.ending(reason) {
                    yield Ok(event);
                }
                return;
            }
            if failure.again == Again::Adapted {
                continue;
            }
            let Some(wait) = next_pause(&shared, &tally, retries, failure.again) else {
                for event in tally.called() {
                    yield Ok(event);
                }
                yield Err(failure.error);
                return;
            };
            retries += 1;
            tracing::info!(retries, error = %failure.error, "the request is sent again");
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

/// What a frame means for the reply.
enum Taken {
    Events(Vec<GenerationEvent>),
    Ended(FinishReason),
}

fn take(shared: &Shared, tally: &mut Tally, frame: Frame) -> Result<Taken, Failure> {
    match frame {
        Frame::Alive => Ok(Taken::Events(Vec::new())),
        Frame::Chunk(chunk) => tally.take(&shared.config, *chunk).map(Taken::Events),
        Frame::Done => Ok(Taken::Ended(tally.ended.unwrap_or(FinishReason::Stop))),
    }
}

fn limit(shared: &Shared, tally: &Tally) -> Duration {
    let patience = &shared.config.patience;
    match (tally.ended, tally.spoke()) {
        (Some(_), _) => patience.tail,
        (None, true) => patience.idle,
        (None, false) => patience.first,
    }
}

fn next_pause(shared: &Shared, tally: &Tally, retries: u32, again: Again) -> Option<Duration> {
    if tally.spoke() {
        return None;
    }
    pause(&shared.config.patience, retries + 1, again, rand::random())
}

fn retrying(attempt: u32, wait: Duration, failure: &Failure) -> GenerationEvent {
    let after_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
    GenerationEvent::Retrying { attempt, after_ms, why: failure.error.message.clone() }
}
