//! `POST /v1/embeddings`.

use axum::Extension;
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use engine::api::ApiGrant;
use engine::api::client::Embedded;
use serde_json::{Value, json};

use super::CAP;
use super::chat::model;
use super::error::Fault;
use super::fields::Fields;
use crate::respond::json as json_response;
use crate::shares::Holder;
use crate::state::SharedState;

/// Maximum number of texts in a request.
const MAX_TEXTS: usize = 2_048;

pub(super) async fn embed(
    State(shared): State<SharedState>,
    Extension(grant): Extension<ApiGrant>,
    Extension(holder): Extension<Holder>,
    body: Body,
) -> Result<Response, Fault> {
    let body = shared.bodies.read(&holder, body, CAP).await?;
    let fields = Fields::parse(&body)?;
    fields.refuse(&["dimensions"])?;
    let base64 = match fields.text("encoding_format")? {
        None | Some("float") => false,
        Some("base64") => true,
        Some(_) => {
            return Err(Fault::field(
                "encoding_format",
                "`encoding_format` must be `float` or `base64`.",
            ));
        }
    };
    let model = model(&fields)?;
    let texts = texts(fields.get("input"))?;
    let embedded = shared.engine.api_embed(&grant, &model, texts).await?;
    Ok(json_response(&shown(embedded, base64)))
}

fn texts(value: Option<&Value>) -> Result<Vec<String>, Fault> {
    let wrong = || {
        let message = format!(
            "`input` must be a text or a list of 1 to {MAX_TEXTS} texts. Tokens are not supported."
        );
        Fault::field("input", message)
    };
    let texts: Vec<&str> = match value {
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(texts)) if (1..=MAX_TEXTS).contains(&texts.len()) => texts
            .iter()
            .map(|text| text.as_str().ok_or_else(wrong))
            .collect::<Result<_, _>>()?,
        _ => return Err(wrong()),
    };
    if texts.iter().any(|text| text.is_empty()) {
        return Err(Fault::field(
            "input",
            "`input` may not contain an empty text.",
        ));
    }
    Ok(texts.into_iter().map(str::to_owned).collect())
}

fn shown(embedded: Embedded, base64: bool) -> Value {
    let Embedded {
        model,
        vectors,
        tokens,
    } = embedded;
    let vector = |vector: &Vec<f32>| {
        if base64 {
            let bytes: Vec<u8> = vector
                .iter()
                .flat_map(|value| value.to_le_bytes())
                .collect();
            Value::from(BASE64_STANDARD.encode(bytes))
        } else {
            json!(vector)
        }
    };
    let item = |(index, values): (usize, &Vec<f32>)| json!({ "object": "embedding", "index": index, "embedding": vector(values) });
    let data: Vec<Value> = vectors.iter().enumerate().map(item).collect();
    let usage = json!({ "prompt_tokens": tokens, "total_tokens": tokens });
    json!({ "object": "list", "data": data, "model": model, "usage": usage })
}
