//! Serves pictures by content hash to the page: `nook://localhost/asset/<hash>`, and
//! `/thumbnail/<hash>` for lists. The page cannot request a file by name.

use engine::Asset;
use engine::api::ApiError;
use tauri::http::{Request, Response, StatusCode, header};
use tauri::{Manager, UriSchemeContext, UriSchemeResponder, Wry};

use crate::core::Core;

pub(crate) const SCHEME: &str = "nook";

/// Types that the page may display. Everything else, especially SVG, is served as plain bytes.
const PICTURES: [&str; 5] = [
    "image/png",
    "image/jpeg",
    "image/webp",
    "image/gif",
    "image/avif",
];

/// Answers one request.
pub(crate) fn serve(
    context: UriSchemeContext<'_, Wry>,
    request: Request<Vec<u8>>,
    responder: UriSchemeResponder,
) {
    let app = context.app_handle().clone();
    let wanted = wanted(request.uri().path()).map(|(size, hash)| (size, hash.to_owned()));
    tauri::async_runtime::spawn(async move {
        let asset = match wanted {
            Some((PictureSize::Whole, hash)) => {
                app.state::<Core>().engine().await.asset(hash).await
            }
            Some((PictureSize::Small, hash)) => {
                app.state::<Core>().engine().await.thumbnail(hash).await
            }
            None => Err(ApiError::NotFound {
                message: "not an asset's address".into(),
            }),
        };
        responder.respond(response(asset));
    });
}

/// Requested size of a picture; each has a scaled-down copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PictureSize {
    Whole,
    Small,
}

/// Parses `/asset/<hash>` and `/thumbnail/<hash>`; a hash has exactly 64 lower-case hex digits.
fn wanted(path: &str) -> Option<(PictureSize, &str)> {
    let whole = path
        .strip_prefix("/asset/")
        .map(|hash| (PictureSize::Whole, hash));
    let (size, hash) = whole.or_else(|| {
        path.strip_prefix("/thumbnail/")
            .map(|hash| (PictureSize::Small, hash))
    })?;
    let is_hash = hash.len() == 64
        && hash
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_hash.then_some((size, hash))
}

fn response(asset: Result<Asset, ApiError>) -> Response<Vec<u8>> {
    let (status, mime, cache, bytes) = match asset {
        // The address contains the content's hash, so the content never changes.
        Ok(asset) => (
            StatusCode::OK,
            drawable(&asset.mime),
            "private, max-age=31536000, immutable",
            asset.bytes,
        ),
        Err(_) => (StatusCode::NOT_FOUND, "text/plain", "no-store", Vec::new()),
    };
    let mut response = Response::new(bytes);
    *response.status_mut() = status;
    for (name, value) in [
        (header::CONTENT_TYPE, mime),
        (header::CACHE_CONTROL, cache),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (
            header::CONTENT_SECURITY_POLICY,
            "default-src 'none'; sandbox",
        ),
    ] {
        response
            .headers_mut()
            .insert(name, header::HeaderValue::from_static(value));
    }
    response
}

fn drawable(mime: &str) -> &'static str {
    PICTURES
        .into_iter()
        .find(|known| *known == mime)
        .unwrap_or("application/octet-stream")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_only_hashes() {
        let digits = "0123456789abcdef".repeat(4);
        assert_eq!(
            wanted(&format!("/asset/{digits}")),
            Some((PictureSize::Whole, digits.as_str()))
        );
        assert_eq!(
            wanted(&format!("/thumbnail/{digits}")),
            Some((PictureSize::Small, digits.as_str()))
        );
        for path in [
            "/asset/",
            "/asset/../../etc/passwd",
            "/",
            &format!("/{digits}"),
            &format!("/asset/{digits}0"),
        ] {
            assert_eq!(wanted(path), None, "{path}");
        }
        assert_eq!(wanted(&format!("/asset/{}", digits.to_uppercase())), None);
    }

    #[test]
    fn svg_is_served_as_plain_bytes() {
        let response = response(Ok(Asset {
            bytes: b"<svg onload=alert(1)>".to_vec(),
            mime: "image/svg+xml".into(),
        }));
        assert_eq!(
            response.headers()[header::CONTENT_TYPE],
            "application/octet-stream"
        );
        assert_eq!(
            response.headers()[header::X_CONTENT_TYPE_OPTIONS],
            "nosniff"
        );
        assert_eq!(
            response.headers()[header::CONTENT_SECURITY_POLICY],
            "default-src 'none'; sandbox"
        );
    }

    #[test]
    fn unknown_picture_is_not_found() {
        let response = response(Err(ApiError::NotFound {
            message: String::new(),
        }));
        assert_eq!(response.status(), StatusCode::NOT_FOUND);
    }
}
