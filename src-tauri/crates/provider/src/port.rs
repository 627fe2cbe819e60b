//! The trait that every model backend implements.

use futures_util::stream::BoxStream;
use tokio_util::sync::CancellationToken;

use crate::{GenerationEvent, ProviderError, Request};

/// Events of one reply.
pub type EventStream = BoxStream<'static, Result<GenerationEvent, ProviderError>>;

/// A model backend that generates replies.
pub trait Provider: Send + Sync {
    /// Starts a reply. Cancelling ends it with `Finished { reason: Cancelled, .. }`. Dropping the
    /// stream also stops it.
    fn stream(&self, request: Request, cancel: CancellationToken) -> EventStream;
}
