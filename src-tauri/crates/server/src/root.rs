//! `GET /`: the status for programs, a page for browsers.

use axum::extract::{Request, State};
use axum::http::header::{ACCEPT, CONTENT_SECURITY_POLICY, CONTENT_TYPE, VARY};
use axum::http::{HeaderMap, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::respond::{ErrorResponse, json};
use crate::state::SharedState;

/// The page of a server without the web UI.
const PAGE: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Inglenook</title>\
    <style>body{font:16px/1.5 system-ui,sans-serif;max-width:36rem;margin:4rem auto;padding:0 1rem}</style>\
    <h1>Inglenook is running</h1><p>This address is for other programs. Manage their keys in Inglenook, under Settings, \
    Local API.</p></html>";
const PAGE_POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

/// Says only that the server runs, because it is answered without a key.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Status {
    status: &'static str,
    message: &'static str,
    /// Whether the local API is on.
    local_api: bool,
}

/// Answers `/` for clients that do not ask for HTML.
pub(crate) async fn status_for_programs(
    State(shared): State<SharedState>,
    request: Request,
    next: Next,
) -> Response {
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    if request.uri().path() != "/" || !is_read {
        return next.run(request).await;
    }
    let mut response = if accepts_html(request.headers()) {
        next.run(request).await
    } else {
        match shared.is_api_on().await {
            Ok(local_api) => json(&Status {
                status: "ok",
                message: "Inglenook is running",
                local_api,
            }),
            Err(error) => ErrorResponse::from(error).into_response(),
        }
    };
    response
        .headers_mut()
        .insert(VARY, HeaderValue::from_static("accept"));
    response
}

pub(crate) async fn page() -> Response {
    let headers = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CONTENT_SECURITY_POLICY, PAGE_POLICY),
    ];
    (headers, PAGE).into_response()
}

fn accepts_html(headers: &HeaderMap) -> bool {
    let names_html = |value: &HeaderValue| {
        value.to_str().is_ok_and(|value| {
            value
                .split(',')
                .any(|kind| kind.trim().to_ascii_lowercase().starts_with("text/html"))
        })
    };
    headers.get_all(ACCEPT).iter().any(names_html)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_browsers_name_html() {
        let accepts = |value: &'static str| {
            accepts_html(&HeaderMap::from_iter([(
                ACCEPT,
                HeaderValue::from_static(value),
            )]))
        };
        assert!(
            accepts("text/html,application/xhtml+xml,*/*;q=0.8")
                && accepts("application/json, TEXT/HTML;q=0.5")
        );
        assert!(!accepts("*/*") && !accepts("application/json"));
        assert!(!accepts_html(&HeaderMap::new()));
    }
}
