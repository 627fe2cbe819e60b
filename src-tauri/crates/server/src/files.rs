//! Serves the UI's files from a folder. They contain no secrets and need no token.

use std::env;
use std::path::{Path, PathBuf};

use axum::Router;
use axum::extract::Request;
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use installation::Installation;
use tower_http::services::ServeDir;

use crate::respond::ErrorResponse;
use crate::serving::serve_error::ServeError;
use crate::state::SharedState;

const FOLDER_VARIABLE: &str = "INGLENOOK_UI";

/// Allows scripts and connections from this server only. Inline styles are allowed, because
/// components set positions with `style` attributes. Pictures are fetched with the token and shown
/// as `blob:`.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' blob: data:; \
     font-src 'self'; connect-src 'self'; worker-src 'none'; object-src 'none'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'";

/// Finds the built UI: the folder in `INGLENOOK_UI`, else `../lib/inglenook/ui` next to the program
/// (installed), else `ui/dist` in a parent folder (in the repository).
///
/// # Errors
/// [`ServeError::NoUi`] with the searched folders.
pub fn find_ui() -> Result<PathBuf, ServeError> {
    let folders = match env::var_os(FOLDER_VARIABLE).filter(|folder| !folder.is_empty()) {
        Some(folder) => vec![folder.into()],
        None => usual_folders(&env::current_exe().unwrap_or_default()),
    };
    folders
        .iter()
        .find(|folder| has_index(folder))
        .cloned()
        .ok_or(ServeError::NoUi { searched: folders })
}

fn usual_folders(program: &Path) -> Vec<PathBuf> {
    let installed = Installation::of(program).map(|installation| installation.library().join("ui"));
    let repository = program
        .ancestors()
        .skip(1)
        .find(|folder| folder.join("ui/package.json").is_file());
    installed
        .into_iter()
        .chain(repository.map(|root| root.join("ui/dist")))
        .collect()
}

pub(crate) fn has_index(folder: &Path) -> bool {
    folder.join("index.html").is_file()
}

/// Serves `folder` for every address without a route.
pub(crate) fn router(folder: &Path) -> Router<SharedState> {
    Router::new()
        .fallback_service(ServeDir::new(folder).append_index_html_on_directories(true))
        .layer(from_fn(with_policy))
}

async fn with_policy(request: Request, next: Next) -> Response {
    // Vite puts a content hash into the names in this folder.
    let immutable = request.uri().path().starts_with("/assets/");
    let mut response = next.run(request).await;
    if response.status().is_client_error() {
        return ErrorResponse::no_such_route().into_response();
    }
    let cache = if immutable {
        "public, max-age=31536000, immutable"
    } else {
        "no-store"
    };
    response
        .headers_mut()
        .insert(CACHE_CONTROL, HeaderValue::from_static(cache));
    response
        .headers_mut()
        .insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn installed_program_finds_the_ui_in_lib() {
        let root = tempfile::tempdir().unwrap();
        let folders = usual_folders(&root.path().join("bin/nook"));
        assert_eq!(folders, [root.path().join("lib/inglenook/ui")]);
    }

    #[test]
    fn program_in_the_repository_finds_the_built_ui() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("ui")).unwrap();
        std::fs::write(root.path().join("ui/package.json"), "{}").unwrap();
        let folders = usual_folders(&root.path().join("target/debug/nook"));
        assert_eq!(folders.last(), Some(&root.path().join("ui/dist")));
    }
}
