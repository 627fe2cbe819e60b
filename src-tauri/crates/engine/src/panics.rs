//! A panic is a defect of ours. It fails the operation, or the one row of a list, that it happens in; the app goes on.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;

use futures_util::FutureExt;

use crate::api::ApiError;
use crate::error::{Answer, internal};

/// The result of an operation; a panic in it is an error of this operation alone.
///
/// # Errors
/// Those of the operation; `Internal` after a panic.
pub async fn contained<T>(operation: impl Future<Output = Result<T, ApiError>>) -> Result<T, ApiError> {
    contained_as("an operation failed unexpectedly", Box::pin(operation)).await
}

/// [`contained`], with words of its own for what failed. The operation is boxed: a turn's is large, and would stand on the
/// stack several times.
pub(crate) async fn contained_as<T>(what: &str, operation: Pin<Box<impl Future<Output = Answer<T>>>>) -> Answer<T> {
    // What an operation shares with others stands behind locks that are never poisoned, or in the store, which rolls back.
    AssertUnwindSafe(operation).catch_unwind().await.unwrap_or_else(|_| Err(internal(what)))
}

/// What `compute` makes of a text; after a panic `plain`, which takes its place.
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
        assert!(matches!(failed, Err(ApiError::Internal { .. })), "{failed:?}");
        assert!(contained(async { Ok(1) }).await.is_ok());
    }

    #[test]
    fn a_panic_leaves_the_text_as_it_is() {
        assert_eq!(or_plain("a test", || panic!("a defect"), || "plain"), "plain");
        assert_eq!(or_plain("a test", || "computed", || "plain"), "computed");
    }
}
