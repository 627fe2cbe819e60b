//! One attempt: the request goes out, the answer comes in as frames.

use std::sync::{Arc, PoisonError};
use std::time::SystemTime;

use async_stream::try_stream;
use bytes::{Bytes, BytesMut};
use futures_util::Stream;
use reqwest::header::LOCATION;
use reqwest::{Response, Url};

use super::Shared;
use super::body;
use super::diagnose::{self, Refusal};
use super::dialect::Dialect;
use super::retry::{Again, Failure, asked_pause};
use super::sse::SseParser;
use super::wire::{self, ApiError, Chunk, Payload};
use crate::Request;

/// Bytes of a reply that was not streamed, and of other whole answers.
const MAX_WHOLE: usize = 8 << 20;
/// Bytes of an error's body that are read.
const MAX_ERROR: usize = 64 << 10;

/// What an attempt yields.
#[derive(Debug)]
pub(super) enum Frame {
    /// Something came that says nothing, such as a comment that keeps the connection open.
    Alive,
    Chunk(Box<Chunk>),
    /// The end, said by the endpoint.
    Done,
}

/// Sends `request` once. Ends after the first failure; ending without `Done` or a finish reason is for the caller to
/// judge.
pub(super) fn exchange(shared: Arc<Shared>, request: Arc<Request>) -> impl Stream<Item = Result<Frame, Failure>> {
    try_stream! {
        let mut response = shared.complete(&request).await?;
        yield Frame::Alive;
        let first = shared.first_bytes(&mut response).await?;
        match first.trim_ascii_start().first() {
            Some(b'<') => Err(diagnose::web_page(&shared.config))?,
            Some(b'{' | b'[') => {
                let whole = shared.rest(first, &mut response).await?;
                yield shared.read_whole(&whole)?;
            }
            _ => {
                let mut parser = SseParser::default();
                let mut events = Vec::new();
                let mut next: Result<_, Failure> = Ok(Some(first));
                loop {
                    let bytes = match next {
                        Ok(Some(bytes)) => bytes,
                        ended => {
                            // A last event without its blank line may be whole, or be what the cut has left of one.
                            if let Some(Ok(frame)) = parser.finish().map(|data| shared.read(&data)) {
                                yield frame;
                            }
                            ended?;
                            break;
                        }
                    };
                    let lines = parser.lines;
                    let overlong = parser.push(&bytes, &mut events);
                    for data in events.drain(..) {
                        yield shared.read(&data)?;
                    }
                    if parser.lines > lines {
                        yield Frame::Alive;
                    }
                    if overlong.is_err() {
                        Err(diagnose::malformed(&shared.config, "a line without end"))?;
                    }
                    next = shared.more(&mut response).await;
                }
            }
        }
    }
}

impl Shared {
    /// Asks for the reply, and returns the answer if it is a success.
    async fn complete(&self, request: &Request) -> Result<Response, Failure> {
        let dialect = self.dialect();
        if request.prompt.continues && !dialect.prefills() {
            return Err(diagnose::no_prefill(&self.config));
        }
        let body = body::body(&self.config.model, request, dialect);
        let url = self.config.call(&["chat", "completions"]);
        let mut response = self.send(self.http.post(url).json(&body)).await?;
        if response.status().is_success() {
            return Ok(response);
        }
        let refusal = self.refusal(&mut response).await;
        let learned = match refusal.status {
            400 | 422 if !refusal.error.is_overflow() => dialect.learn(&refusal.error.message),
            _ => None,
        };
        let mut failure = diagnose::refused(&self.config, refusal);
        if let Some(learned) = learned {
            tracing::info!(?learned, "the endpoint refuses a parameter; it is left out from now on");
            let mut dialect = self.dialect.lock().unwrap_or_else(PoisonError::into_inner);
            *dialect = dialect.or(learned);
            failure.again = Again::Adapted;
        }
        Err(failure)
    }

    pub(super) async fn send(&self, request: reqwest::RequestBuilder) -> Result<Response, Failure> {
        self.config.authorize(request).send().await.map_err(|error| diagnose::transport(&self.config, error))
    }

    /// Reads an answer that is no success.
    pub(super) async fn refusal(&self, response: &mut Response) -> Refusal {
        let headers = response.headers();
        let location = headers.get(LOCATION).and_then(|value| value.to_str().ok());
        // No query: it may repeat a secret.
        let location = location.and_then(|to| response.url().join(to).ok()).map(|mut to: Url| {
            to.set_query(None);
            self.config.redact(to.as_str())
        });
        let pause = asked_pause(headers, SystemTime::now());
        let status = response.status().as_u16();
        let mut body = BytesMut::new();
        // A body that breaks off says enough.
        while let Ok(Some(bytes)) = response.chunk().await {
            body.extend_from_slice(&bytes[..bytes.len().min(MAX_ERROR - body.len())]);
            if body.len() == MAX_ERROR {
                break;
            }
        }
        Refusal { status, location, pause, error: ApiError::read(&String::from_utf8_lossy(&body)) }
    }

    /// The whole body, beginning with `first`.
    pub(super) async fn rest(&self, first: Bytes, response: &mut Response) -> Result<String, Failure> {
        let mut whole = BytesMut::from(first);
        while let Some(bytes) = self.more(response).await? {
            if whole.len() + bytes.len() > MAX_WHOLE {
                return Err(diagnose::malformed(&self.config, "a body without end"));
            }
            whole.extend_from_slice(&bytes);
        }
        Ok(String::from_utf8_lossy(&whole).into_owned())
    }

    async fn more(&self, response: &mut Response) -> Result<Option<Bytes>, Failure> {
        response.chunk().await.map_err(|error| diagnose::transport(&self.config, error))
    }

    /// The first bytes that are more than blank space: they tell a stream from a whole answer and from a web page.
    /// Content types do not: some servers stream as `text/plain`, some proxies send pages as `text/event-stream`.
    async fn first_bytes(&self, response: &mut Response) -> Result<Bytes, Failure> {
        while let Some(bytes) = self.more(response).await? {
            if !bytes.trim_ascii().is_empty() {
                return Ok(bytes);
            }
        }
        Ok(Bytes::new())
    }

    fn read(&self, data: &str) -> Result<Frame, Failure> {
        match data.trim() {
            "" => Ok(Frame::Alive),
            "[DONE]" => Ok(Frame::Done),
            data => match wire::parse(data) {
                Ok(Payload::Chunk(chunk)) => Ok(Frame::Chunk(Box::new(chunk))),
                Ok(Payload::Error(error)) => Err(diagnose::in_stream(&self.config, error)),
                // The cause holds a position, no text.
                Err(error) => Err(diagnose::malformed(&self.config, &error.to_string())),
            },
        }
    }

    /// Reads the answer of a server that does not stream.
    fn read_whole(&self, body: &str) -> Result<Frame, Failure> {
        match wire::parse(body) {
            Err(error) if error.is_eof() => Err(diagnose::cut(&self.config)),
            Ok(Payload::Chunk(chunk)) if chunk.choices.is_none() => {
                Err(diagnose::malformed(&self.config, "an answer without a reply"))
            }
            _ => self.read(body),
        }
    }

    fn dialect(&self) -> Dialect {
        *self.dialect.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
