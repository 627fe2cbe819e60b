//! Reading the files of documents: each form by its reader, aside from everything else, for they come from strangers. Whatever a
//! reader does, the app goes on (S-4).

use std::time::{Duration, Instant};

use domain::document::{self, DocumentError, DocumentKind, Passage};
use tokio::sync::oneshot;

use crate::pdf;

/// A reader is told to give up by then. A long novel takes a second.
const PATIENCE: Duration = Duration::from_secs(20);
/// One that does not listen is left to itself.
const GRACE: Duration = Duration::from_secs(5);
/// Room for what stands in one another in a file. The readers' own limits are below what this holds.
const STACK: usize = 64 << 20;

/// The passages of a file, in their order.
///
/// # Errors
/// [`DocumentError`]: what it cannot be read for. Never half of it.
pub(crate) async fn read(name: String, file: Vec<u8>) -> Result<Vec<Passage>, DocumentError> {
    let (told, answer) = oneshot::channel();
    // A thread of its own: the stack of the others is small, and they are waited for when the app ends.
    let thread = std::thread::Builder::new().name("document".into()).stack_size(STACK);
    let spawned = thread.spawn(move || {
        let started = Instant::now();
        // Who has stopped waiting hears nothing.
        let _ = told.send(read_now(&name, &file, &|| started.elapsed() < PATIENCE));
    });
    if let Err(error) = spawned {
        tracing::error!(%error, "no thread for a document");
        return Err(DocumentError::Unreadable);
    }
    match tokio::time::timeout(PATIENCE + GRACE, answer).await {
        Ok(Ok(read)) => read,
        Ok(Err(_)) => {
            tracing::error!("the reader of a document panicked");
            Err(DocumentError::Unreadable)
        }
        Err(_) => Err(DocumentError::TooSlow),
    }
}

fn read_now(name: &str, file: &[u8], go_on: &dyn Fn() -> bool) -> Result<Vec<Passage>, DocumentError> {
    match DocumentKind::of(name, file) {
        DocumentKind::Text => document::read(file),
        DocumentKind::Html => document::read_html(file, go_on),
        DocumentKind::Epub => document::read_epub(file, go_on),
        DocumentKind::Pdf => pdf::read(file, go_on),
    }
}
