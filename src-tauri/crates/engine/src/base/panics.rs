//! Contains panics, which are bugs in the app. A panic fails only its operation or list row, and
//! the app continues.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;

use futures_util::FutureExt;

use crate::api::ApiError;
use crate::base::error::{ApiResult, internal};

/// Runs an operation and turns a panic into an error of this operation.
///
/// # Errors
/// The errors of the operation; `Internal` after a panic.
pub async fn contained<T>(
    operation: impl Future<Output = Result<T, ApiError>>,
) -> Result<T, ApiError> {
    contained_as("an operation failed unexpectedly", Box::pin(operation)).await
}

/// Works like [`contained`], with its own error message. The operation is boxed because a turn's
/// future is large and would be on the stack several times.
pub(crate) async fn contained_as<T>(
    what: &str,
    operation: Pin<Box<impl Future<Output = ApiResult<T>>>>,
) -> ApiResult<T> {
    // Shared state is safe after a panic: its locks are never poisoned, and the store rolls back.
    AssertUnwindSafe(operation)
        .catch_unwind()
        .await
        .unwrap_or_else(|_| Err(internal(what)))
}

/// Returns the result of `compute`, or that of `plain` after a panic.
pub(crate) fn or_plain<T>(what: &str, compute: impl FnOnce() -> T, plain: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(compute)).unwrap_or_else(|_| {
        tracing::error!(what, "a text could not be computed and is used as it is");
        plain()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_an_error_of_its_operation() {
        let failed = contained(async { if true { panic!("a defect") } else { Ok(()) } }).await;
        assert!(
            matches!(failed, Err(ApiError::Internal { .. })),
            "{failed:?}"
        );
        assert!(contained(async { Ok(1) }).await.is_ok());
    }

    #[test]
    fn a_panic_leaves_the_text_as_it_is() {
        assert_eq!(
            or_plain("a test", || panic!("a defect"), || "plain"),
            "plain"
        );
        assert_eq!(or_plain("a test", || "computed", || "plain"), "computed");
    }
}
