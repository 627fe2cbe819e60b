//! Files in and out: pictures, imports, exports.

use axum::body::Body;
use axum::extract::{Path, Query, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use engine::api::CardFormat;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;

use crate::respond::{Failure, json};
use crate::routes::Shared;

const IMPORT_CAP: usize = 64 * 1024 * 1024;

/// Content never changes under its hash.
const FOREVER: HeaderValue = HeaderValue::from_static("private, max-age=31536000, immutable");

/// `GET /asset/{hash}`.
pub(crate) async fn asset(State(shared): State<Shared>, Path(hash): Path<String>) -> Result<Response, Failure> {
    let asset = shared.engine.asset(hash).await?;
    Ok(([(CONTENT_TYPE, header(&asset.mime)), (CACHE_CONTROL, FOREVER)], asset.bytes).into_response())
}

#[derive(Deserialize)]
pub(crate) struct Named {
    name: String,
}

/// `POST /api/import?name=`, the file as the body.
pub(crate) async fn import(
    State(shared): State<Shared>,
    Query(Named { name }): Query<Named>,
    body: Body,
) -> Result<Response, Failure> {
    let bytes = shared.bodies.read(body, IMPORT_CAP).await?;
    Ok(json(&shared.engine.import_bytes(name, bytes).await?))
}

/// `POST /api/tokenizer/{endpoint}`, the `tokenizer.json` of the endpoint's model as the body.
pub(crate) async fn tokenizer(
    State(shared): State<Shared>,
    Path(endpoint): Path<String>,
    body: Body,
) -> Result<Response, Failure> {
    let bytes = shared.bodies.read(body, IMPORT_CAP).await?;
    Ok(json(&shared.engine.set_endpoint_tokenizer(endpoint, bytes).await?))
}

/// `GET /api/export/{id}/{format}`, `format` being `png`, `json-v2` or `json-v3`.
pub(crate) async fn export(
    State(shared): State<Shared>,
    Path((id, format)): Path<(String, String)>,
) -> Result<Response, Failure> {
    let format: CardFormat = serde_json::from_value(format.into()).map_err(|_| {
        Failure::new(StatusCode::BAD_REQUEST, "there is no such format", "Use `png`, `json-v2` or `json-v3`.")
    })?;
    let exported = shared.engine.export_character(id, format).await?;
    let headers = [(CONTENT_TYPE, header(exported.mime)), attachment(&exported.file_name)];
    Ok((headers, exported.bytes).into_response())
}

fn attachment(name: &str) -> (HeaderName, HeaderValue) {
    let name = utf8_percent_encode(name, NON_ALPHANUMERIC);
    (CONTENT_DISPOSITION, header(&format!("attachment; filename*=UTF-8''{name}")))
}

/// `value`, or a type that no browser shows where it is no header value.
fn header(value: &str) -> HeaderValue {
    HeaderValue::from_str(value).unwrap_or(HeaderValue::from_static("application/octet-stream"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_cannot_leave_its_header() {
        let (_, value) = attachment("Mira \"the\" lamp\r\nSet-Cookie: a=b; 灯.png");
        let value = value.to_str().unwrap();
        assert!(value.starts_with("attachment; filename*=UTF-8''Mira%20%22the%22%20lamp%0D%0A"));
        assert!(value.ends_with("%2Epng"));
    }
}
