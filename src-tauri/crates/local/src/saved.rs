//! Saved KV caches: `<dir>/<fingerprint>/<hash of the cache key>.kv`, and with keys
//! `<dir>/<fingerprint>/<sealed name>.kv`. The worker writes and reads them. This module decides
//! which model they belong to, how many to keep, and which to delete.

use std::collections::HashSet;
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sha2::{Digest, Sha256};
use worker::protocol;
use worker::saved::{self, CacheKeys, ENDING, Part, READING, WRITING};

use crate::settings::WorkerSettings;

/// Bytes hashed at each end of a model file: its header and some of its weights.
const SAMPLE: u64 = 64 * 1024;

/// Age from which an unfinished file belongs to no running worker.
const UNFINISHED: Duration = Duration::from_secs(60);

/// The folder with the caches of all models.
#[derive(Debug)]
pub(crate) struct SavedCaches {
    dir: PathBuf,
    /// Maximum bytes over all models.
    budget: u64,
    /// With keys, the files are encrypted.
    keys: Option<Arc<CacheKeys>>,
}

/// The caches of one model and context size.
struct ModelFolder {
    name: String,
    files: Vec<Saved>,
}

struct Saved {
    path: PathBuf,
    metadata: Metadata,
}

impl Saved {
    /// Time of the last use.
    fn used(&self) -> SystemTime {
        self.metadata.modified().unwrap_or(UNIX_EPOCH)
    }

    /// Whether no worker can still be writing or reading it.
    fn is_old(&self) -> bool {
        self.used().elapsed().is_ok_and(|age| age >= UNFINISHED)
    }

    /// Whether it is, or will be, a complete file at one of `paths`.
    fn is_in(&self, paths: &HashSet<PathBuf>) -> bool {
        paths.contains(&self.path.with_extension(ENDING))
    }
}

impl SavedCaches {
    /// Returns `None` if saving is disabled.
    pub(crate) fn of(settings: &WorkerSettings) -> Option<Self> {
        // The worker runs in another directory.
        let dir = std::path::absolute(settings.state_dir.as_ref()?).ok()?;
        (settings.state_budget > 0).then_some(Self {
            dir,
            budget: settings.state_budget,
            keys: settings.cache_keys.clone(),
        })
    }

    /// Returns the folder in which `worker` saves caches of `model` with a context of `context`
    /// tokens. `variant` names the other options on which the content of a cache depends.
    pub(crate) fn folder_for(
        &self,
        model: &Path,
        context: u32,
        variant: &str,
        worker: &Path,
    ) -> Option<protocol::SavedCacheFolder> {
        let fingerprint = fingerprint(model, context, variant, worker);
        let fingerprint = fingerprint
            .inspect_err(|error| tracing::warn!(%error, "caches are not saved"))
            .ok()?;
        let folder = self
            .dir
            .join(fingerprint)
            .into_os_string()
            .into_string()
            .ok()?;
        Some(protocol::SavedCacheFolder {
            folder,
            budget: self.budget,
            keys: self.keys.clone(),
        })
    }

    /// Deletes the caches of `cache_keys` for every model, complete or not. Returns false if one
    /// remains.
    pub(crate) fn forget<'k>(&self, cache_keys: impl IntoIterator<Item = &'k str>) -> bool {
        let cache_keys: Vec<_> = cache_keys.into_iter().collect();
        let forgotten = self.folders().into_iter().flat_map(|folder| {
            let paths = self.paths_in(&folder.name, &cache_keys);
            let files = folder.files.into_iter();
            files.filter(move |saved| saved.is_in(&paths))
        });
        remove_all(forgotten)
    }

    /// Deletes the caches of all other cache keys, for every model.
    pub(crate) fn forget_all_but<'k>(&self, cache_keys: impl IntoIterator<Item = &'k str>) {
        let cache_keys: Vec<_> = cache_keys.into_iter().collect();
        for folder in self.folders() {
            let kept = self.paths_in(&folder.name, &cache_keys);
            let files = folder.files.into_iter();
            files
                .filter(|saved| is_whole(saved) && !saved.is_in(&kept))
                .for_each(delete);
        }
    }

    /// Deletes what cannot be used, complete or not: encrypted caches without keys, and plain ones
    /// with keys. Returns false if one remains.
    pub(crate) fn delete_unusable(&self) -> bool {
        let encrypted = self.keys.is_some();
        let unusable = self.all().into_iter().filter(|saved| {
            (is_whole(saved) || is_unfinished(saved))
                && saved::has_sealed_name(&saved.path) != encrypted
        });
        remove_all(unusable)
    }

    /// Deletes unfinished files after the death of a worker. If another worker writes one at this
    /// moment, that cache is lost, which costs time only.
    pub(crate) fn delete_unfinished(&self) {
        self.all()
            .into_iter()
            .filter(is_unfinished)
            .for_each(delete);
    }

    /// Deletes unfinished files of dead workers, and the oldest caches beyond the budget. Recent
    /// unfinished files stay, because another worker may be writing them.
    pub(crate) fn enforce_budget(&self) {
        let (mut whole, rest): (Vec<_>, Vec<_>) = self.all().into_iter().partition(is_whole);
        rest.into_iter()
            .filter(|saved| is_unfinished(saved) && saved.is_old())
            .for_each(delete);
        whole.sort_by_key(|saved| std::cmp::Reverse(saved.used()));
        let mut room = self.budget;
        for saved in whole {
            match room.checked_sub(saved.metadata.len()) {
                Some(rest) => room = rest,
                None => delete(saved),
            }
        }
        for folder in entries(&self.dir) {
            // Only empty folders are removed.
            let _ = fs::remove_dir(folder.path());
        }
    }

    /// Paths of the caches of `cache_keys` in the folder `folder`.
    fn paths_in(&self, folder: &str, cache_keys: &[&str]) -> HashSet<PathBuf> {
        let path = |plain: String| {
            let name = match &self.keys {
                Some(keys) => saved::sealed_file_name(&keys.sealed_name(folder, &plain)),
                None => plain,
            };
            self.dir.join(folder).join(name)
        };
        let names = cache_keys
            .iter()
            .flat_map(|key| Part::ALL.map(|part| part.file_name(key)));
        names.map(path).collect()
    }

    fn all(&self) -> Vec<Saved> {
        let folders = self.folders().into_iter();
        folders.flat_map(|folder| folder.files).collect()
    }

    fn folders(&self) -> Vec<ModelFolder> {
        entries(&self.dir)
            .map(|folder| ModelFolder {
                name: folder.file_name().to_string_lossy().into_owned(),
                files: files_in(&folder.path()),
            })
            .collect()
    }
}

fn files_in(folder: &Path) -> Vec<Saved> {
    entries(folder)
        .filter_map(|file| {
            Some(Saved {
                path: file.path(),
                metadata: file.metadata().ok()?,
            })
        })
        .filter(|saved| saved.metadata.is_file())
        .collect()
}

/// Returns no entries if the folder does not exist.
fn entries(folder: &Path) -> impl Iterator<Item = fs::DirEntry> + use<> {
    fs::read_dir(folder).into_iter().flatten().flatten()
}

fn is_whole(saved: &Saved) -> bool {
    ends_with(saved, ENDING)
}

fn is_unfinished(saved: &Saved) -> bool {
    ends_with(saved, WRITING) || ends_with(saved, READING)
}

fn ends_with(saved: &Saved, ending: &str) -> bool {
    saved.path.extension().is_some_and(|known| known == ending)
}

/// Tries all of them. Returns false if one remains.
fn remove_all(caches: impl Iterator<Item = Saved>) -> bool {
    caches.filter(|saved| !remove(saved)).count() == 0
}

fn delete(saved: Saved) {
    remove(&saved);
}

/// Returns false if the file remains.
fn remove(saved: &Saved) -> bool {
    match fs::remove_file(&saved.path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!(%error, "a saved cache could not be deleted");
            false
        }
        _ => true,
    }
}

/// Identifies model, context size and worker, which llama.cpp does not check itself. Ignores the
/// path, which changes with every start of an AppImage.
fn fingerprint(model: &Path, context: u32, variant: &str, worker: &Path) -> io::Result<String> {
    let mut hasher = Sha256::new();
    for path in [model, worker] {
        let metadata = fs::metadata(path)?;
        let modified = metadata
            .modified()?
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        hasher.update(metadata.len().to_le_bytes());
        hasher.update(modified.as_nanos().to_le_bytes());
    }
    let mut file = File::open(model)?;
    let end = file.metadata()?.len().saturating_sub(SAMPLE);
    for start in [0, end] {
        let mut sample = Vec::new();
        file.seek(SeekFrom::Start(start))?;
        (&mut file).take(SAMPLE).read_to_end(&mut sample)?;
        hasher.update(sample);
    }
    hasher.update(context.to_le_bytes());
    hasher.update(variant);
    Ok(hex::encode(&hasher.finalize()[..16]))
}

#[cfg(test)]
mod tests;
