//! Responses: JSON, and `ApiError` with its HTTP status.

use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use engine::api::ApiError;
use serde::Serialize;

/// An error response.
#[derive(Debug)]
pub(crate) struct ErrorResponse {
    status: StatusCode,
    error: ApiError,
}

impl ErrorResponse {
    pub(crate) fn new(
        status: StatusCode,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        Self {
            status,
            error: ApiError::BadInput {
                message: message.into(),
                hint: hint.into(),
            },
        }
    }

    pub(crate) fn no_such_route() -> Self {
        ApiError::NotFound {
            message: "this address does not exist".into(),
        }
        .into()
    }

    pub(crate) fn unauthorized() -> Self {
        Self::new(
            StatusCode::UNAUTHORIZED,
            "the request has no valid token",
            "Send the token that the server printed when it started as `Authorization: Bearer <token>`.",
        )
    }

    pub(crate) fn parts(self) -> (StatusCode, ApiError) {
        (self.status, self.error)
    }
}

impl ErrorResponse {
    pub(crate) fn bad_key() -> Self {
        Self::new(
            StatusCode::UNAUTHORIZED,
            "the key is not valid",
            "Make a key in Settings, Local API, and send it as `Authorization: Bearer <key>`.",
        )
    }

    pub(crate) fn bad_ticket() -> Self {
        Self::new(
            StatusCode::UNAUTHORIZED,
            "the ticket is unknown, already used or expired",
            "Get one with `POST /api/ticket` and use it within 30 seconds.",
        )
    }
}

impl From<ApiError> for ErrorResponse {
    fn from(error: ApiError) -> Self {
        Self {
            status: status(&error),
            error,
        }
    }
}

impl IntoResponse for ErrorResponse {
    fn into_response(self) -> Response {
        (self.status, json(&self.error)).into_response()
    }
}

fn status(error: &ApiError) -> StatusCode {
    match error {
        ApiError::BadInput { .. } => StatusCode::BAD_REQUEST,
        ApiError::NotFound { .. } | ApiError::PromptNotKept { .. } => StatusCode::NOT_FOUND,
        ApiError::Busy { .. } => StatusCode::CONFLICT,
        ApiError::ContextOverflow { .. } => StatusCode::UNPROCESSABLE_ENTITY,
        ApiError::Provider { .. } | ApiError::ToolServer { .. } => StatusCode::BAD_GATEWAY,
        ApiError::NoModel { .. } | ApiError::Keychain { .. } => StatusCode::SERVICE_UNAVAILABLE,
        ApiError::Storage { .. } => StatusCode::INSUFFICIENT_STORAGE,
        ApiError::Internal { .. } => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// Responds with `value` as JSON.
pub(crate) fn json(value: &impl Serialize) -> Response {
    match serde_json::to_vec(value) {
        Ok(body) => json_bytes(body),
        Err(error) => {
            tracing::error!(%error, "cannot serialise a response");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

pub(crate) fn json_bytes(body: Vec<u8>) -> Response {
    (
        [(CONTENT_TYPE, HeaderValue::from_static("application/json"))],
        body,
    )
        .into_response()
}

#[cfg(test)]
mod tests {
    use engine::api::ProviderClass;

    use super::*;

    #[test]
    fn maps_each_error_to_its_status() {
        let (message, hint) = (String::new, String::new);
        let (needed, available, missing) = (2, 1, 1);
        let overflow = ApiError::ContextOverflow {
            message: message(),
            hint: hint(),
            block: None,
            missing,
            needed,
            available,
        };
        let provider = ApiError::Provider {
            message: message(),
            hint: hint(),
            class: ProviderClass::Cut,
        };
        for (error, expected) in [
            (
                ApiError::BadInput {
                    message: message(),
                    hint: hint(),
                },
                400,
            ),
            (ApiError::NotFound { message: message() }, 404),
            (
                ApiError::PromptNotKept {
                    message: message(),
                    hint: hint(),
                },
                404,
            ),
            (
                ApiError::Busy {
                    message: message(),
                    hint: hint(),
                },
                409,
            ),
            (overflow, 422),
            (ApiError::Internal { message: message() }, 500),
            (provider, 502),
            (
                ApiError::ToolServer {
                    message: message(),
                    hint: hint(),
                },
                502,
            ),
            (
                ApiError::NoModel {
                    message: message(),
                    hint: hint(),
                },
                503,
            ),
            (
                ApiError::Keychain {
                    message: message(),
                    hint: hint(),
                },
                503,
            ),
            (
                ApiError::Storage {
                    message: message(),
                    hint: hint(),
                },
                507,
            ),
        ] {
            assert_eq!(
                ErrorResponse::from(error.clone()).into_response().status(),
                expected,
                "{error:?}"
            );
        }
    }
}
