//! Reads document files, each format with its own reader on a separate thread. The files are
//! untrusted, so a reader that hangs or panics must not affect the app.

use std::time::{Duration, Instant};

use documents::{DocumentError, DocumentKind};
use domain::document::Passage;
use tokio::sync::oneshot;

/// Time after which a reader is asked to stop. A long novel takes a second.
const PATIENCE: Duration = Duration::from_secs(20);
/// Extra time after which an unresponsive reader is abandoned.
const GRACE: Duration = Duration::from_secs(5);
/// Stack size for nested structures. The readers' own nesting limits need less.
const STACK: usize = 64 << 20;

/// Reads the passages of a file, in order.
///
/// # Errors
/// [`DocumentError`] with the reason. The result is never partial.
pub(crate) async fn read(name: String, file: Vec<u8>) -> Result<Vec<Passage>, DocumentError> {
    let (told, answer) = oneshot::channel();
    // Use a separate thread: runtime threads have small stacks, and the app waits for them when it
    // closes.
    let thread = std::thread::Builder::new()
        .name("document".into())
        .stack_size(STACK);
    let spawned = thread.spawn(move || {
        let started = Instant::now();
        // Sending fails if the caller has stopped waiting.
        let _ = told.send(read_now(&name, &file, &|| started.elapsed() < PATIENCE));
    });
    if let Err(error) = spawned {
        tracing::error!(%error, "could not start a thread to read a document; close other programs");
        return Err(DocumentError::Unreadable);
    }
    match tokio::time::timeout(PATIENCE + GRACE, answer).await {
        Ok(Ok(read)) => read,
        Ok(Err(_)) => {
            tracing::error!("the document reader panicked");
            Err(DocumentError::Unreadable)
        }
        Err(_) => Err(DocumentError::TooSlow),
    }
}

fn read_now(
    name: &str,
    file: &[u8],
    should_continue: &dyn Fn() -> bool,
) -> Result<Vec<Passage>, DocumentError> {
    match DocumentKind::of(name, file) {
        DocumentKind::Text => documents::read(file),
        DocumentKind::Html => documents::read_html(file, should_continue),
        DocumentKind::Epub => documents::read_epub(file, should_continue),
        DocumentKind::Pdf => documents::read_pdf(file, should_continue),
    }
}
