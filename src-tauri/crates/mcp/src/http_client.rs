//! The HTTP client of the library, for answers that it would lose: events that are nested too deeply, which it skips, and
//! errors without the id of their request. The requests would wait until they time out.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, RequestId};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse, StreamableHttpResponseLimits,
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
        self.0.post_message(uri, message, session, token, headers).await.map(|answer| response(answer, id))
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
        let answer = self.0.post_message_with_response_limits(uri, message, session, token, headers, limits);
        answer.await.map(|answer| response(answer, id))
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
        self.0.get_stream(uri, session, last_event, token, headers).await.map(events)
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
        let stream = self.0.get_stream_with_max_sse_event_size(uri, session, last_event, token, headers, max_size);
        stream.await.map(events)
    }
}

fn id_of(message: &ClientJsonRpcMessage) -> Option<RequestId> {
    match message {
        JsonRpcMessage::Request(request) => Some(request.id.clone()),
        _ => None,
    }
}

fn response(response: StreamableHttpPostResponse, id: Option<RequestId>) -> StreamableHttpPostResponse {
    match response {
        StreamableHttpPostResponse::Json(JsonRpcMessage::Error(mut error), session) => {
            error.id = error.id.or(id);
            StreamableHttpPostResponse::Json(JsonRpcMessage::Error(error), session)
        }
        StreamableHttpPostResponse::Sse(stream, session) => StreamableHttpPostResponse::Sse(events(stream), session),
        other => other,
    }
}

fn events(stream: Events) -> Events {
    stream.map(|event| event.map(short)).boxed()
}

fn short(mut event: Sse) -> Sse {
    let text = event.data.as_deref().map(|data| String::from_utf8_lossy(&shortened(data.as_bytes())).into_owned());
    event.data = text;
    event
}
