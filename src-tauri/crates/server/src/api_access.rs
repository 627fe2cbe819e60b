//! The switch of the local API, and what a request to it may do.

use crate::caller::Caller;

use crate::state::ApiSwitch;

use axum::extract::{Request, State};
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use engine::api::ApiError;
use serde_json::json;

use crate::openai_api;
use crate::respond::{ErrorResponse, json};
use crate::secret::PresentedToken;
use crate::state::{ServerState, SharedState};

const OFF: &str =
    "The local API is off. Switch it on in Settings, Local API, or start `nook serve --api`.";

impl ServerState {
    pub(crate) async fn is_api_on(&self) -> Result<bool, ApiError> {
        Ok(match self.api {
            ApiSwitch::Always => true,
            ApiSwitch::BySettings => self.engine.get_settings().await?.local_api.enabled,
        })
    }

    /// Reads `Authorization`: the server's own token, or a key of the local API.
    ///
    /// # Errors
    /// 401 if the header has anything else.
    pub(crate) async fn caller(&self, headers: &HeaderMap) -> Result<Caller, ErrorResponse> {
        match self.token.presented(headers) {
            PresentedToken::Token => Ok(Caller::Owner),
            PresentedToken::Nothing => Ok(Caller::Nobody),
            PresentedToken::SomethingElse => match bearer(headers) {
                Some(secret) => self
                    .key_holder(secret)
                    .await?
                    .ok_or_else(ErrorResponse::bad_key),
                None => Err(ErrorResponse::bad_key()),
            },
        }
    }

    /// The holder of a key, if it is valid.
    pub(crate) async fn key_holder(&self, secret: &str) -> Result<Option<Caller>, ApiError> {
        let grant = self.engine.authorize_api(secret).await?;
        Ok(grant.map(|grant| Caller::Key {
            secret: secret.to_owned(),
            name: grant.name,
        }))
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, secret) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim())
}

/// Answers 404 with the reason while the local API is off.
pub(crate) async fn require_api_on(
    State(shared): State<SharedState>,
    request: Request,
    next: Next,
) -> Response {
    match shared.is_api_on().await {
        Ok(true) => next.run(request).await,
        Ok(false) => off(request.uri().path()),
        Err(error) => openai_api::in_form_of(request.uri().path(), error.into()),
    }
}

/// OpenAI's clients show the message of their own error object.
fn off(path: &str) -> Response {
    if openai_api::is_own(path) {
        let error = json!({ "message": OFF, "type": "invalid_request_error", "code": "local_api_off", "param": null });
        return (StatusCode::NOT_FOUND, json(&json!({ "error": error }))).into_response();
    }
    ErrorResponse::from(ApiError::NotFound {
        message: OFF.to_owned(),
    })
    .into_response()
}
