//! `POST /v1/completions`: continues a text. A character answers it instead, as the user's message.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use engine::api::ApiGrant;
use engine::api::client::{ClientMessage, ClientOptions, ClientRequest, ClientRole};
use serde_json::Value;

use super::chat::{chat, delivery, model};
use super::chunk::Form;
use super::error::Fault;
use super::fields::Fields;
use super::{CAP, options, reply};
use crate::serving::connections::Connection;
use crate::shares::Holder;
use crate::state::SharedState;

pub(super) async fn complete(
    State(shared): State<SharedState>,
    Extension(grant): Extension<ApiGrant>,
    Extension(holder): Extension<Holder>,
    Extension(client): Extension<Arc<Connection>>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Fault> {
    let body = shared.bodies.read(&holder, body, CAP).await?;
    let fields = Fields::parse(&body)?;
    fields.refuse(&["suffix", "echo", "response_format", "tools", "functions"])?;
    let top_logprobs = fields.whole("logprobs", 0..=20)?.map(|count| count as u32);
    let request = ClientRequest {
        model: model(&fields)?,
        messages: vec![ClientMessage::new(
            ClientRole::User,
            prompt(fields.get("prompt"))?,
        )],
        options: ClientOptions {
            top_logprobs,
            ..options::common(&fields)?
        },
        chat: chat(&fields, &headers)?,
        store: fields.flag("store")?,
        plain_text: true,
    };
    reply::answer(
        &shared,
        &client,
        grant,
        request,
        delivery(&fields, Form::Text)?,
    )
    .await
}

/// A text, or a list with one text.
fn prompt(value: Option<&Value>) -> Result<String, Fault> {
    let text = match value {
        Some(Value::String(text)) => Some(text),
        Some(Value::Array(texts)) => match &texts[..] {
            [Value::String(text)] => Some(text),
            _ => None,
        },
        _ => None,
    };
    let wrong = || {
        Fault::field(
            "prompt",
            "`prompt` must be one text. Lists of texts and of tokens are not supported.",
        )
    };
    text.cloned().ok_or_else(wrong)
}
