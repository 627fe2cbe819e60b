//! `GET /v1/models`.

use axum::Extension;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::Response;
use engine::api::ApiGrant;
use engine::api::client::{ListedModel, ModelKind};
use serde_json::{Value, json};

use super::error::Fault;
use crate::respond::json as json_response;
use crate::state::SharedState;

pub(super) async fn list(
    State(shared): State<SharedState>,
    Extension(grant): Extension<ApiGrant>,
) -> Result<Response, Fault> {
    let models = shared.engine.api_models(&grant).await?;
    let data: Vec<Value> = models.iter().map(shown).collect();
    Ok(json_response(&json!({ "object": "list", "data": data })))
}

pub(super) async fn one(
    State(shared): State<SharedState>,
    Extension(grant): Extension<ApiGrant>,
    id: Result<Path<String>, PathRejection>,
) -> Result<Response, Fault> {
    let Path(id) =
        id.map_err(|_| Fault::field("model", "The model's name in the address is no UTF-8."))?;
    Ok(json_response(&shown(
        &shared.engine.api_model(&grant, &id).await?,
    )))
}

fn shown(model: &ListedModel) -> Value {
    let (owner, kind) = match model.kind {
        ModelKind::Character => ("inglenook", "character"),
        ModelKind::Local => ("local", "local"),
        ModelKind::Endpoint => (model.about.as_str(), "endpoint"),
        ModelKind::Embeddings => ("local", "embeddings"),
    };
    let mut shown =
        json!({ "id": model.id, "object": "model", "created": model.created, "owned_by": owner });
    shown["x_inglenook"] = match model.kind {
        ModelKind::Character => json!({ "kind": kind, "name": model.about }),
        _ => json!({ "kind": kind }),
    };
    shown
}
