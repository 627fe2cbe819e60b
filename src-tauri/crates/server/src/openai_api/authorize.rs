//! Checks the key of a request.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use engine::api::ApiGrant;

use super::error::Fault;
use crate::secret::PresentedToken;
use crate::serving::connections::Connection;
use crate::shares::Holder;
use crate::state::SharedState;

/// Lets a request with a known key pass, and adds what the key allows. The token of the server
/// allows everything.
pub(super) async fn require_key(
    State(shared): State<SharedState>,
    Extension(guest): Extension<Arc<Connection>>,
    mut request: Request,
    next: Next,
) -> Response {
    match grant(&shared, request.headers()).await {
        Ok((holder, grant)) => {
            guest.mark_authenticated(&holder).await;
            request.extensions_mut().insert(holder);
            request.extensions_mut().insert(grant);
            next.run(request).await
        }
        Err(fault) => fault.into_response(),
    }
}

async fn grant(shared: &SharedState, headers: &HeaderMap) -> Result<(Holder, ApiGrant), Fault> {
    if shared.token.presented(headers) == PresentedToken::Token {
        return Ok((Holder::Owner, ApiGrant::full("server")));
    }
    let secret = bearer(headers).ok_or_else(Fault::no_key)?;
    let grant = shared
        .engine
        .authorize_api(secret)
        .await?
        .ok_or_else(Fault::wrong_key)?;
    Ok((Holder::Key(grant.name.clone()), grant))
}

/// The key of the only `Authorization` header.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (value, None) = (values.next()?, values.next()) else {
        return None;
    };
    let (scheme, secret) = value.to_str().ok()?.split_once(' ')?;
    (scheme.eq_ignore_ascii_case("bearer") && !secret.trim().is_empty()).then(|| secret.trim())
}
