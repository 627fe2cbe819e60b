//! Saved KV caches: `<dir>/<fingerprint>/<hash of the cache key>.kv`. The worker writes and reads
//! them. This module decides which model they belong to, how many to keep, and which to delete.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sha2::{Digest, Sha256};
use worker::protocol;
use worker::saved::{ENDING, PART, READING, WRITING, file_name};

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

    /// Hashed cache key, as returned by [`hashed_names`].
    fn chat(&self) -> &OsStr {
        let stem = self.path.file_stem().unwrap_or_default();
        let hash = stem.to_str().and_then(|stem| stem.split(PART).next());
        hash.map_or(stem, OsStr::new)
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
        })
    }

    /// Deletes the caches of `cache_keys` for every model, complete or not. Returns false if one
    /// remains.
    pub(crate) fn forget<'k>(&self, cache_keys: impl IntoIterator<Item = &'k str>) -> bool {
        let forgotten = hashed_names(cache_keys);
        let saved = self
            .all()
            .into_iter()
            .filter(|saved| forgotten.contains(saved.chat()));
        saved.filter(|saved| !remove(saved)).count() == 0
    }

    /// Deletes the caches of all other cache keys, for every model.
    pub(crate) fn forget_all_but<'k>(&self, cache_keys: impl IntoIterator<Item = &'k str>) {
        let kept = hashed_names(cache_keys);
        self.all()
            .into_iter()
            .filter(|saved| is_whole(saved) && !kept.contains(saved.chat()))
            .for_each(delete);
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

    fn all(&self) -> Vec<Saved> {
        let files =
            entries(&self.dir).flat_map(|folder| entries(&folder.path()).collect::<Vec<_>>());
        files
            .filter_map(|file| {
                Some(Saved {
                    path: file.path(),
                    metadata: file.metadata().ok()?,
                })
            })
            .filter(|saved| saved.metadata.is_file())
            .collect()
    }
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

/// Returns the file names of the caches, without their extension.
fn hashed_names<'k>(cache_keys: impl IntoIterator<Item = &'k str>) -> HashSet<OsString> {
    let name = |key| Path::new(&file_name(key)).file_stem().map(OsStr::to_owned);
    cache_keys.into_iter().filter_map(name).collect()
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
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn saved_caches(budget: u64) -> (TempDir, SavedCaches) {
        let dir = tempfile::tempdir().unwrap();
        let saved = SavedCaches {
            dir: dir.path().to_owned(),
            budget,
        };
        (dir, saved)
    }

    /// Writes a file of 100 bytes that was last used `age` seconds ago.
    fn put(saved: &SavedCaches, folder: &str, name: &str, age: u64) {
        fs::create_dir_all(saved.dir.join(folder)).unwrap();
        let path = saved.dir.join(folder).join(name);
        fs::write(&path, [0; 100]).unwrap();
        let used = SystemTime::now() - Duration::from_secs(age);
        File::options()
            .write(true)
            .open(path)
            .unwrap()
            .set_modified(used)
            .unwrap();
    }

    fn names(saved: &SavedCaches) -> Vec<String> {
        let mut names: Vec<_> = saved
            .all()
            .iter()
            .map(|file| {
                file.path
                    .strip_prefix(&saved.dir)
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_owned()
            })
            .collect();
        names.sort();
        names
    }

    #[test]
    fn tidy_deletes_unfinished_and_oldest_caches() {
        let (_dir, saved) = saved_caches(250);
        put(&saved, "small", "a.kv", 30);
        put(&saved, "small", "b.kv", 10);
        put(&saved, "large", "a.kv", 20);
        put(&saved, "large", "b.part", 90);
        put(&saved, "large", "d.part", 0);
        put(&saved, "gone", "c.loading", 90);
        put(&saved, "not ours", "notes.txt", 0);
        saved.enforce_budget();
        assert_eq!(
            names(&saved),
            [
                "large/a.kv",
                "large/d.part",
                "not ours/notes.txt",
                "small/b.kv"
            ]
        );
        assert!(!saved.dir.join("gone").exists());
    }

    #[test]
    fn forget_deletes_a_chat_for_every_model() {
        let (_dir, saved) = saved_caches(1_000);
        let (ada, bob) = (file_name("ada"), file_name("bob"));
        for folder in ["small", "large"] {
            put(&saved, folder, &ada, 0);
            put(&saved, folder, &bob, 0);
        }
        put(&saved, "large", &ada.replace(".kv", ".loading"), 0);
        put(
            &saved,
            "large",
            &worker::saved::file_name_of_earlier_part("ada"),
            0,
        );
        assert!(saved.forget(["ada"]));
        assert_eq!(
            names(&saved),
            [format!("large/{bob}"), format!("small/{bob}")]
        );
        put(&saved, "small", &ada, 0);
        saved.forget_all_but(["ada", "cleo"]);
        assert_eq!(names(&saved), [format!("small/{ada}")]);
    }

    #[test]
    fn fingerprint_depends_on_model_context_and_worker() {
        let (_dir, saved) = saved_caches(1_000);
        let write = |name: &str, bytes: &[u8]| {
            let path = saved.dir.join(name);
            fs::write(&path, bytes).unwrap();
            path
        };
        let (model, worker) = (write("model", b"weights"), write("worker", b"code"));
        let place = |model: &Path, context, worker: &Path| {
            saved.folder_for(model, context, "", worker).unwrap().folder
        };
        let first = place(&model, 2048, &worker);
        assert_eq!(place(&model, 2048, &worker), first);
        assert!(Path::new(&first).starts_with(&saved.dir));
        assert_ne!(place(&model, 4096, &worker), first);
        assert_ne!(
            saved
                .folder_for(&model, 2048, "Q8_0", &worker)
                .unwrap()
                .folder,
            first
        );
        assert_ne!(
            place(&model, 2048, &write("other worker", b"newer code")),
            first
        );
        let times = fs::metadata(&model).unwrap().modified().unwrap();
        let twin = write("twin", b"WEIGHTS");
        File::options()
            .write(true)
            .open(&twin)
            .unwrap()
            .set_modified(times)
            .unwrap();
        assert_ne!(
            place(&twin, 2048, &worker),
            first,
            "of the same size and age"
        );
        let moved = saved.dir.join("moved");
        fs::rename(&model, &moved).unwrap();
        assert_eq!(place(&moved, 2048, &worker), first);
        assert!(saved.folder_for(&model, 2048, "", &worker).is_none());
    }
}
