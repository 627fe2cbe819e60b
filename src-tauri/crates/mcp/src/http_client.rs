//! The HTTP client of the library, for answers that it would lose: events and lists that are nested
//! too deeply, and errors without the id of their request. Without this, the requests would fail,
//! or wait until they time out.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use reqwest::header::{ACCEPT, HeaderName, HeaderValue};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage, RequestId};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
    StreamableHttpResponseLimits,
};
use sse_stream::Sse;

use crate::nesting::shortened;

type Headers = HashMap<HeaderName, HeaderValue>;
type Events = BoxStream<'static, Result<Sse, SseError>>;
type Answer<T> = Result<T, StreamableHttpError<reqwest::Error>>;

/// A client that shortens the events it receives, and completes the ids of errors.
#[derive(Clone)]
pub(crate) struct Shortening(pub(crate) reqwest::Client);

impl StreamableHttpClient for Shortening {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
    ) -> Answer<StreamableHttpPostResponse> {
        let id = id_of(&message);
        self.0
            .post_message(uri, message, session, token, headers)
            .await
            .map(|answer| response(answer, id))
    }

    async fn post_message_with_response_limits(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
        limits: StreamableHttpResponseLimits,
    ) -> Answer<StreamableHttpPostResponse> {
        let id = id_of(&message);
        let reading = reads_only(&message).then(|| Reading {
            uri: Arc::clone(&uri),
            message: message.clone(),
            session: session.clone(),
            headers: headers.clone(),
            most_bytes: limits.max_json_response_size,
        });
        let answer = self
            .0
            .post_message_with_response_limits(uri, message, session, token, headers, limits)
            .await;
        match (answer, reading) {
            (Err(StreamableHttpError::UnexpectedServerResponse(text)), Some(reading))
                if is_too_deep(&text) =>
            {
                reading.repeat(&self.0).await
            }
            (answer, _) => answer.map(|answer| response(answer, id)),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: Headers,
    ) -> Answer<()> {
        self.0.delete_session(uri, session, token, headers).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: Headers,
    ) -> Answer<Events> {
        self.0
            .get_stream(uri, session, last_event, token, headers)
            .await
            .map(events)
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: Headers,
        max_size: usize,
    ) -> Answer<Events> {
        let stream = self
            .0
            .get_stream_with_max_sse_event_size(uri, session, last_event, token, headers, max_size);
        stream.await.map(events)
    }
}

/// A request whose answer the library could not read. It changes nothing at the server, so it can
/// be sent again.
struct Reading {
    uri: Arc<str>,
    message: ClientJsonRpcMessage,
    session: Option<Arc<str>>,
    headers: Headers,
    /// Largest answer, in bytes.
    most_bytes: usize,
}

impl Reading {
    /// Sends the request again and shortens the answer.
    async fn repeat(self, client: &reqwest::Client) -> Answer<StreamableHttpPostResponse> {
        let mut request = client
            .post(self.uri.as_ref())
            .header(ACCEPT, "text/event-stream, application/json");
        for (name, value) in self.headers {
            request = request.header(name, value);
        }
        if let Some(session) = &self.session {
            request = request.header("Mcp-Session-Id", session.as_ref());
        }
        let mut answer = request
            .json(&self.message)
            .send()
            .await?
            .error_for_status()?;
        let mut body = Vec::new();
        while let Some(piece) = answer.chunk().await? {
            if body.len() + piece.len() > self.most_bytes {
                return Err(StreamableHttpError::ResponseBodyTooLarge {
                    max_size: self.most_bytes,
                });
            }
            body.extend_from_slice(&piece);
        }
        let parsed = serde_json::from_slice(&shortened(&body))?;
        Ok(response(
            StreamableHttpPostResponse::Json(parsed, None),
            id_of(&self.message),
        ))
    }
}

/// Whether the request changes nothing at the server.
fn reads_only(message: &ClientJsonRpcMessage) -> bool {
    let JsonRpcMessage::Request(request) = message else {
        return false;
    };
    matches!(
        request.request,
        ClientRequest::ListToolsRequest(_)
            | ClientRequest::ListResourcesRequest(_)
            | ClientRequest::ReadResourceRequest(_)
    )
}

/// Whether the library refused an answer for its nesting. It says so only in its text.
pub(crate) fn is_too_deep(text: &str) -> bool {
    // The text goes on with the answer itself, which could contain these words too.
    text.chars()
        .take(200)
        .collect::<String>()
        .contains("recursion limit exceeded")
}

fn id_of(message: &ClientJsonRpcMessage) -> Option<RequestId> {
    match message {
        JsonRpcMessage::Request(request) => Some(request.id.clone()),
        _ => None,
    }
}

fn response(
    response: StreamableHttpPostResponse,
    id: Option<RequestId>,
) -> StreamableHttpPostResponse {
    match response {
        StreamableHttpPostResponse::Json(JsonRpcMessage::Error(mut error), session) => {
            error.id = error.id.or(id);
            StreamableHttpPostResponse::Json(JsonRpcMessage::Error(error), session)
        }
        StreamableHttpPostResponse::Sse(stream, session) => {
            StreamableHttpPostResponse::Sse(events(stream), session)
        }
        other => other,
    }
}

fn events(stream: Events) -> Events {
    stream.map(|event| event.map(short)).boxed()
}

fn short(mut event: Sse) -> Sse {
    let text = event
        .data
        .as_deref()
        .map(|data| String::from_utf8_lossy(&shortened(data.as_bytes())).into_owned());
    event.data = text;
    event
}
