//! `POST /v1/chat/completions`.

use std::sync::Arc;

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use engine::api::ApiGrant;
use engine::api::client::ClientRequest;
use serde_json::Value;

use super::chunk::Form;
use super::error::Fault;
use super::fields::Fields;
use super::reply::{self, Delivery};
use super::{CAP, CHAT_HEADER, message, options};
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
    let (request, delivery) = read(&fields, &headers)?;
    reply::answer(&shared, &client, grant, request, delivery).await
}

fn read(fields: &Fields, headers: &HeaderMap) -> Result<(ClientRequest, Delivery), Fault> {
    let request = ClientRequest {
        model: model(fields)?,
        messages: message::messages(fields.get("messages"))?,
        options: options::of_chat(fields)?,
        chat: chat(fields, headers)?,
        store: fields.flag("store")?,
        plain_text: false,
    };
    Ok((request, delivery(fields, Form::Chat)?))
}

/// The model's name, which every request needs.
pub(super) fn model(fields: &Fields) -> Result<String, Fault> {
    let name = fields
        .text("model")?
        .map(str::trim)
        .filter(|name| !name.is_empty());
    let missing = || {
        Fault::field(
            "model",
            "You must provide a `model`. `GET /v1/models` lists the models.",
        )
    };
    Ok(name.ok_or_else(missing)?.to_owned())
}

pub(super) fn delivery(fields: &Fields, form: Form) -> Result<Delivery, Fault> {
    let include_usage = match fields.get("stream_options") {
        None => false,
        Some(options @ Value::Object(_)) => options["include_usage"].as_bool().unwrap_or(false),
        Some(_) => {
            return Err(Fault::field(
                "stream_options",
                "`stream_options` must be an object.",
            ));
        }
    };
    Ok(Delivery {
        form,
        stream: fields.flag("stream")?,
        include_usage,
    })
}

/// The id of the chat that the request names, in its metadata or in a header.
pub(super) fn chat(fields: &Fields, headers: &HeaderMap) -> Result<Option<String>, Fault> {
    if let Some(chat) = fields
        .get("metadata")
        .map(|metadata| &metadata["chat"])
        .filter(|chat| !chat.is_null())
    {
        let wrong = || Fault::field("metadata", "`metadata.chat` must be the id of a chat.");
        return Ok(Some(chat.as_str().ok_or_else(wrong)?.to_owned()));
    }
    let Some(chat) = headers.get(CHAT_HEADER) else {
        return Ok(None);
    };
    let wrong = || Fault::bad("The header `X-Inglenook-Chat` must be the id of a chat.");
    Ok(Some(chat.to_str().map_err(|_| wrong())?.to_owned()))
}
