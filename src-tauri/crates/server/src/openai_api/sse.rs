//! Streams a reply as server-sent events.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName};
use axum::response::{IntoResponse, Response};
use engine::api::ApiError;
use engine::api::client::{ReplyEvent, ReplyStream};
use futures_util::stream;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::chunk::Chunks;
use super::error::Fault;
use crate::serving::connections::Connection;

/// Pause after which a comment shows the client that the connection lives.
const HEARTBEAT: Duration = Duration::from_secs(5);

const DONE: &[u8] = b"data: [DONE]\n\n";

struct Sse {
    reply: ReplyStream,
    /// The request has a schema of its own.
    has_schema: bool,
    chunks: Chunks,
    stopping: CancellationToken,
    client: Arc<Connection>,
    /// Frames that are not sent yet.
    pending: VecDeque<Bytes>,
    ended: bool,
}

/// The response with the events `first` and all later ones of `reply`. Dropping it stops the model.
pub(super) fn stream(
    (reply, has_schema): (ReplyStream, bool),
    chunks: Chunks,
    first: Vec<ReplyEvent>,
    (stopping, client): (CancellationToken, Arc<Connection>),
) -> Response {
    let mut sse = Sse {
        reply,
        has_schema,
        chunks,
        stopping,
        client,
        pending: VecDeque::new(),
        ended: false,
    };
    sse.pending
        .extend(sse.chunks.opening().map(|chunk| frame(&chunk)));
    first.into_iter().for_each(|event| sse.take(event));
    let frames = stream::unfold(sse, |mut sse| async move {
        let frame = sse.next().await?;
        Some((Ok::<_, std::convert::Infallible>(frame), sse))
    });
    let headers = [
        (
            CONTENT_TYPE,
            HeaderValue::from_static("text/event-stream; charset=utf-8"),
        ),
        (CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (
            HeaderName::from_static("x-accel-buffering"),
            HeaderValue::from_static("no"),
        ),
    ];
    (headers, Body::from_stream(frames)).into_response()
}

impl Sse {
    /// The next frame; `None` after the last one.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(frame) = self.pending.pop_front() {
                return Some(frame);
            }
            if self.ended {
                return None;
            }
            tokio::select! {
                biased;
                () = self.stopping.cancelled() => self.fail(&Fault::stopping()),
                () = self.client.closed() => return None,
                event = self.reply.next() => self.receive(event),
                () = tokio::time::sleep(HEARTBEAT) => self.comment("waiting"),
            }
        }
    }

    fn receive(&mut self, event: Option<Result<ReplyEvent, ApiError>>) {
        match event {
            Some(Ok(event)) => self.take(event),
            Some(Err(error)) => self.fail(&Fault::of_reply(error, self.has_schema)),
            None => self.fail(
                &ApiError::Internal {
                    message: "The reply ended early.".into(),
                }
                .into(),
            ),
        }
    }

    fn take(&mut self, event: ReplyEvent) {
        let chunk = match event {
            ReplyEvent::Waiting(why) => return self.comment(&why),
            ReplyEvent::Speaker(speaker) => self.chunks.speaker(speaker),
            ReplyEvent::Text(text) => Some(self.chunks.text(&text)),
            ReplyEvent::Thoughts(text) => self.chunks.thoughts(&text),
            ReplyEvent::Tokens(tokens) => self.chunks.tokens(&tokens),
            ReplyEvent::ToolCall(call) => self.chunks.call(&call),
            ReplyEvent::Ended(end) => {
                self.pending
                    .extend(self.chunks.ending(&end).iter().map(frame));
                return self.end();
            }
        };
        self.pending.extend(chunk.as_ref().map(frame));
    }

    fn comment(&mut self, text: &str) {
        self.pending.push_back(Bytes::from(format!(": {text}\n\n")));
    }

    fn fail(&mut self, fault: &Fault) {
        self.pending.push_back(frame(&fault.body()));
        self.end();
    }

    fn end(&mut self) {
        self.pending.push_back(Bytes::from_static(DONE));
        self.ended = true;
    }
}

fn frame(chunk: &Value) -> Bytes {
    Bytes::from(format!("data: {chunk}\n\n"))
}
