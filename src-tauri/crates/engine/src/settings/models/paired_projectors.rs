//! Remembers which file in a model's folder reads pictures for it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use local::gguf;

/// Projectors in the folders of models, by the model's path, with the folder's last change when it
/// was read.
#[derive(Debug, Default)]
pub(crate) struct PairedProjectors(Mutex<Paired>);

type Paired = HashMap<String, (SystemTime, Option<PathBuf>)>;

impl PairedProjectors {
    /// Returns the projector in the folder of the model at `path`. If the folder has changed, it
    /// blocks while it reads the headers of the model and of its candidates.
    pub(crate) fn of(&self, path: &str) -> Option<PathBuf> {
        let changed = Path::new(path)
            .parent()?
            .metadata()
            .and_then(|folder| folder.modified())
            .ok()?;
        if let Some((_, known)) = self.known().get(path).filter(|(read, _)| *read == changed) {
            return known.clone();
        }
        let header = gguf::read(Path::new(path)).ok()?;
        let found = local::paired_projector(Path::new(path), &header);
        self.known()
            .insert(path.to_owned(), (changed, found.clone()));
        found
    }

    fn known(&self) -> MutexGuard<'_, Paired> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
