//! One attempt: sends the request and parses the response into frames.

use std::sync::{Arc, PoisonError};
use std::time::SystemTime;

use async_stream::try_stream;
use bytes::{Bytes, BytesMut};
use futures_util::Stream;
use reqwest::header::{CONTENT_TYPE, LOCATION};
use reqwest::{Response, Url};

use super::api_error::EndpointError;
use super::client_state::ClientState;
use super::dialect::LearnedDialect;
use super::refusal::{self, EndpointRefusal};
use super::retry::{RequestFailure, RetryPolicy, asked_pause};
use super::{diagnose, transport_error};
use crate::Request;
use crate::endpoint::stream::chunk::StreamChunk;
use crate::endpoint::stream::concatenated::{after_prefix, objects};
use crate::endpoint::stream::decompress::{DecompressionError, Decompressor};
use crate::endpoint::stream::json_lines::StreamParser;
use crate::endpoint::stream::sse::SseEvent;

/// Maximum bytes of a response that is not streamed. It may contain pictures.
const MAX_WHOLE: usize = 64 << 20;
/// Maximum bytes read from an error response.
const MAX_ERROR: usize = 64 << 10;

/// Item of one attempt.
#[derive(Debug)]
pub(crate) enum StreamItem {
    /// Data without content, such as a keep-alive comment.
    KeepAlive,
    Chunk(Box<StreamChunk>),
    /// The endpoint's end marker.
    Done,
}

/// The content of an event and the failure that it reports.
type ReadItem = (Option<StreamItem>, Option<RequestFailure>);

/// A response whose body is read as it arrives.
#[derive(Debug)]
struct ResponseBody {
    response: Response,
    unpacker: Decompressor,
}

/// Sends `request` once. Ends after the first failure. If it ends without `Done` or a finish
/// reason, the caller decides whether the reply is complete.
pub(crate) fn exchange(
    shared: Arc<ClientState>,
    request: Arc<Request>,
) -> impl Stream<Item = Result<StreamItem, RequestFailure>> {
    try_stream! {
        let response = shared.complete(&request).await?;
        yield StreamItem::KeepAlive;
        let mut response = shared.body(response)?;
        let first = shared.first_bytes(&mut response).await?;
        match first.trim_ascii_start().first() {
            Some(b'<') => Err(diagnose::web_page(&shared.config))?,
            Some(b'{' | b'[') if !shared.config.api().streams_lines() => {
                let whole = shared.rest(first, &mut response).await?;
                for object in objects(&whole) {
                    let (frame, failure) = shared.read_whole(object);
                    if let Some(frame) = frame {
                        yield frame;
                    }
                    failure.map_or(Ok(()), Err)?;
                }
            }
            _ => {
                let mut parser = StreamParser::new(shared.config.api().streams_lines());
                let mut events = Vec::new();
                let mut next: Result<_, RequestFailure> = Ok(Some(first));
                loop {
                    let bytes = match next {
                        Ok(Some(bytes)) => bytes,
                        ended => {
                            // The last events without a blank line may be complete or truncated.
                            for event in parser.finish() {
                                if let (Some(frame), _) = shared.read(&event) {
                                    yield frame;
                                }
                            }
                            ended?;
                            break;
                        }
                    };
                    let lines = parser.lines();
                    let overlong = parser.push(&bytes, &mut events);
                    for event in events.drain(..) {
                        let (frame, failure) = shared.read(&event);
                        if let Some(frame) = frame {
                            yield frame;
                        }
                        failure.map_or(Ok(()), Err)?;
                    }
                    if parser.lines() > lines {
                        yield StreamItem::KeepAlive;
                    }
                    if overlong.is_err() {
                        Err(diagnose::malformed(&shared.config, "a part of the reply is larger than 32 MB"))?;
                    }
                    next = shared.more(&mut response).await;
                }
            }
        }
    }
}

impl ClientState {
    /// Requests the reply and returns a successful response.
    async fn complete(&self, request: &Request) -> Result<Response, RequestFailure> {
        let dialect = self.dialect();
        let api = self.config.api();
        if request.prompt.continues && !api.prefills(&dialect) {
            return Err(diagnose::no_prefill(&self.config));
        }
        if request.prompt.tools.choice.is_forced()
            && !(api.forces_calls() && dialect.sends("tools"))
        {
            return Err(diagnose::no_forced_call(&self.config));
        }
        let body = api.body(&self.config, request, &dialect);
        let mut response = self
            .send(self.post(api.reply_url(&self.config), body))
            .await?;
        if response.status().is_success() {
            return Ok(response);
        }
        let refusal = self.refusal(&mut response).await;
        let adapts = matches!(refusal.status, 400 | 422 | 500)
            && self.learn(&refusal.error, refusal.status, request.prompt.continues);
        let mut failure = refusal::refused(&self.config, refusal);
        if adapts {
            failure.retry = RetryPolicy::Adapted;
        }
        Err(failure)
    }

    /// Learns from a refusal. Returns true if an adapted request may succeed.
    fn learn(&self, error: &EndpointError, status: u16, continues: bool) -> bool {
        if error.is_overflow() {
            return false;
        }
        let mut dialect = self.dialect.lock().unwrap_or_else(PoisonError::into_inner);
        let learned = dialect.learn(error, continues);
        // Servers return 500 for many reasons. Only a complaint about the order of turns surely
        // comes from the chat template.
        let Some(learned) =
            learned.filter(|learned| status != 500 || learned.roles != dialect.roles)
        else {
            return false;
        };
        tracing::info!(
            ?learned,
            "the endpoint refused part of the request; later requests omit it"
        );
        *dialect = learned;
        true
    }

    pub(crate) fn post(&self, url: Url, json: Vec<u8>) -> reqwest::RequestBuilder {
        self.http
            .post(url)
            .header(CONTENT_TYPE, "application/json")
            .body(json)
    }

    pub(crate) async fn send(
        &self,
        request: reqwest::RequestBuilder,
    ) -> Result<Response, RequestFailure> {
        self.config
            .authorize(request)
            .send()
            .await
            .map_err(|error| transport_error::transport(&self.config, error))
    }

    /// Reads a response with an error status.
    pub(crate) async fn refusal(&self, response: &mut Response) -> EndpointRefusal {
        let headers = response.headers();
        let location = headers.get(LOCATION).and_then(|value| value.to_str().ok());
        // The query is removed because it may contain a secret.
        let location = location
            .and_then(|to| response.url().join(to).ok())
            .map(|mut to: Url| {
                to.set_query(None);
                self.config.redact(to.as_str())
            });
        let pause = asked_pause(headers, SystemTime::now());
        let status = response.status().as_u16();
        let mut body = BytesMut::new();
        let mut unpacker = Decompressor::of(headers).ok();
        // A truncated error body is good enough.
        while let (Some(unpacker), Ok(Some(bytes))) = (&mut unpacker, response.chunk().await) {
            let taken = unpacker.push(&bytes, |bytes| {
                body.extend_from_slice(&bytes[..bytes.len().min(MAX_ERROR - body.len())]);
                Ok::<_, DecompressionError>(())
            });
            if taken.is_err() || body.len() == MAX_ERROR {
                break;
            }
        }
        EndpointRefusal {
            status,
            location,
            pause,
            error: EndpointError::read(&String::from_utf8_lossy(&body)),
        }
    }

    pub(crate) async fn whole(&self, response: Response) -> Result<String, RequestFailure> {
        let mut body = self.body(response)?;
        self.rest(Bytes::new(), &mut body).await
    }

    /// Reads the rest of the body and puts `first` in front.
    async fn rest(
        &self,
        first: Bytes,
        response: &mut ResponseBody,
    ) -> Result<String, RequestFailure> {
        let mut whole = BytesMut::from(first);
        while let Some(bytes) = self.more(response).await? {
            if whole.len() + bytes.len() > MAX_WHOLE {
                return Err(diagnose::malformed(
                    &self.config,
                    "the response exceeds the size limit",
                ));
            }
            whole.extend_from_slice(&bytes);
        }
        Ok(String::from_utf8_lossy(&whole).into_owned())
    }

    fn body(&self, response: Response) -> Result<ResponseBody, RequestFailure> {
        let unpacker = Decompressor::of(response.headers())
            .map_err(|packed| diagnose::packed(&self.config, &packed))?;
        Ok(ResponseBody { response, unpacker })
    }

    async fn more(&self, body: &mut ResponseBody) -> Result<Option<Bytes>, RequestFailure> {
        let Some(bytes) = body
            .response
            .chunk()
            .await
            .map_err(|error| transport_error::transport(&self.config, error))?
        else {
            return Ok(None);
        };
        if body.unpacker.is_plain(&bytes) {
            return Ok(Some(bytes));
        }
        let mut unpacked = BytesMut::new();
        let taken = body.unpacker.push(&bytes, |bytes| {
            unpacked.extend_from_slice(bytes);
            if unpacked.len() > MAX_WHOLE {
                Err(DecompressionError::Damaged)
            } else {
                Ok(())
            }
        });
        taken.map_err(|packed| diagnose::packed(&self.config, &packed))?;
        Ok(Some(unpacked.freeze()))
    }

    /// Returns the first bytes that are not only whitespace. They distinguish a stream, a complete
    /// response and a web page. Content types do not: some servers stream as `text/plain`, and some
    /// proxies send pages as `text/event-stream`.
    async fn first_bytes(&self, body: &mut ResponseBody) -> Result<Bytes, RequestFailure> {
        while let Some(bytes) = self.more(body).await? {
            if !bytes.trim_ascii().is_empty() {
                return Ok(bytes);
            }
        }
        Ok(Bytes::new())
    }

    /// Parses an event into its content and the failure that it reports.
    fn read(&self, event: &SseEvent) -> ReadItem {
        // Some proxies wrap one event stream in another.
        let data = after_prefix(event.data.trim());
        match data {
            _ if event.fails => (None, Some(self.failed(EndpointError::read(data)))),
            "" => (Some(StreamItem::KeepAlive), None),
            "[DONE]" => (Some(StreamItem::Done), None),
            data => match self.config.api().parse(data) {
                Ok(chunk) => self.frame(chunk),
                Err(error) => (
                    None,
                    Some(diagnose::malformed(&self.config, &error.to_string())),
                ),
            },
        }
    }

    fn frame(&self, mut chunk: StreamChunk) -> ReadItem {
        let failure = chunk.error.take().map(|error| self.failed(error));
        // The failure message is more specific than the finish reason.
        chunk.end = chunk.end.filter(|_| failure.is_none());
        if self.config.is_openai() && (chunk.timings.is_some() || chunk.progress.is_some()) {
            self.dialect
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .own_defaults = true;
        }
        (Some(StreamItem::Chunk(Box::new(chunk))), failure)
    }

    /// Handles a failure that the endpoint reports inside a response with a success status.
    fn failed(&self, error: EndpointError) -> RequestFailure {
        let status = error.status.unwrap_or(400);
        let adapts = matches!(status, 400 | 422 | 500) && self.learn(&error, status, false);
        let failure = diagnose::in_stream(&self.config, error);
        RequestFailure {
            retry: if adapts {
                RetryPolicy::Adapted
            } else {
                failure.retry
            },
            reported_by_endpoint: true,
            ..failure
        }
    }

    /// Reads the response of a server that does not stream.
    fn read_whole(&self, body: &str) -> ReadItem {
        match self.config.api().parse(body) {
            Err(error) if error.is_cut() => (None, Some(transport_error::cut(&self.config))),
            Err(error) => (
                None,
                Some(diagnose::malformed(&self.config, &error.to_string())),
            ),
            Ok(chunk) if !chunk.replies && chunk.error.is_none() => (
                None,
                Some(diagnose::malformed(
                    &self.config,
                    "the response contains no reply",
                )),
            ),
            Ok(chunk) => self.frame(chunk),
        }
    }

    pub(crate) fn dialect(&self) -> LearnedDialect {
        self.dialect
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}
