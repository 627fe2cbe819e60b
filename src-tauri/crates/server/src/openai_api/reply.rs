//! Starts a reply and answers with all of it or with its stream.

use std::sync::Arc;
use std::time::Duration;

use axum::response::Response;
use engine::api::client::{ClientRequest, ReplyEvent, ReplyStream};
use engine::api::{ApiError, ApiGrant};
use tokio::time::{Instant, timeout_at};

use super::chunk::{Chunks, Form, WholeReply};
use super::error::Fault;
use super::sse;
use crate::respond::json;
use crate::serving::connections::Connection;
use crate::state::SharedState;

/// A stream waits this long for its first text. An error until then has its own HTTP status.
const GRACE: Duration = Duration::from_millis(250);

/// Form in which the client wants the reply.
#[derive(Debug, Clone, Copy)]
pub(super) struct Delivery {
    pub(super) form: Form,
    pub(super) stream: bool,
    pub(super) include_usage: bool,
}

/// A client that disconnects gets no reply, and the model stops.
pub(super) async fn answer(
    shared: &SharedState,
    client: &Arc<Connection>,
    grant: ApiGrant,
    request: ClientRequest,
    delivery: Delivery,
) -> Result<Response, Fault> {
    let has_schema = request.options.json_schema.is_some();
    let model = request.model.clone();
    let alternatives = request.options.top_logprobs;
    let mut reply = tokio::select! {
        biased;
        () = client.closed() => return Err(ended_early()),
        reply = shared.engine.api_reply(grant, request) => reply?,
    };
    let Delivery {
        form,
        stream,
        include_usage,
    } = delivery;
    let chunks = Chunks::new(
        form,
        model,
        reply.place.clone(),
        stream && include_usage,
        alternatives,
    );
    if stream {
        let first = first_events(&mut reply, has_schema).await?;
        let ends = (shared.stopping.clone(), Arc::clone(client));
        return Ok(sse::stream((reply, has_schema), chunks, first, ends));
    }
    let whole = tokio::select! {
        biased;
        () = shared.stopping.cancelled() => return Err(Fault::stopping()),
        () = client.closed() => return Err(ended_early()),
        whole = collect(reply, has_schema) => whole?,
    };
    Ok(json(&chunks.whole(whole)))
}

/// The events up to the first that is not about waiting, if it comes soon.
async fn first_events(reply: &mut ReplyStream, has_schema: bool) -> Result<Vec<ReplyEvent>, Fault> {
    let mut first = Vec::new();
    let deadline = Instant::now() + GRACE;
    while let Ok(event) = timeout_at(deadline, reply.next()).await {
        let event = event
            .ok_or_else(ended_early)?
            .map_err(|error| Fault::of_reply(error, has_schema))?;
        let waits = matches!(event, ReplyEvent::Waiting(_));
        first.push(event);
        if !waits {
            break;
        }
    }
    Ok(first)
}

async fn collect(mut reply: ReplyStream, has_schema: bool) -> Result<WholeReply, Fault> {
    let mut whole = WholeReply::default();
    while let Some(event) = reply.next().await {
        match event.map_err(|error| Fault::of_reply(error, has_schema))? {
            ReplyEvent::Waiting(_) => {}
            ReplyEvent::Speaker(speaker) => whole.speakers.push(speaker),
            ReplyEvent::Text(text) => whole.text.push_str(&text),
            ReplyEvent::Thoughts(text) => whole.thoughts.push_str(&text),
            ReplyEvent::Tokens(tokens) => whole.tokens.extend(tokens),
            ReplyEvent::ToolCall(call) => whole.calls.push(call),
            ReplyEvent::Ended(mut end) => {
                // Scripts may have changed the stored text.
                whole.text = end.text.take().unwrap_or(whole.text);
                whole.end = Some(end);
                return Ok(whole);
            }
        }
    }
    Err(ended_early())
}

fn ended_early() -> Fault {
    ApiError::Internal {
        message: "The reply ended early.".into(),
    }
    .into()
}
