//! Caches on disk. No failure here fails a reply; the prompt is then evaluated again.

use std::path::{Path, PathBuf};
use std::time::SystemTime;
use std::{fs, io};

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::context::session::LlamaStateSeqFlags;
use llama_cpp_2::token::LlamaToken;
use worker::protocol::SavedCacheFolder;
use worker::saved::{self, READING, WRITING};

use crate::cache::CHAT;
use crate::picture_tokens::positions;

/// Which part of a chat's cache a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Whole,
    /// The part before the last reply, of a model that cannot go back to it.
    Earlier,
}

impl Part {
    fn file_name(self, key: &str) -> String {
        match self {
            Self::Whole => saved::file_name(key),
            Self::Earlier => saved::file_name_of_earlier_part(key),
        }
    }
}

/// The folder with the caches of the loaded model and context size.
pub(crate) struct Disk {
    folder: PathBuf,
    budget: u64,
}

impl Disk {
    pub(crate) fn new(caches: SavedCacheFolder) -> Self {
        Self {
            folder: caches.folder.into(),
            budget: caches.budget,
        }
    }

    /// Maximum bytes to write on one occasion.
    pub(crate) fn budget(&self) -> u64 {
        self.budget
    }

    pub(crate) fn has(&self, key: &str, part: Part) -> bool {
        self.path(key, part).is_file()
    }

    /// Loads the saved cache of `key` into the context and returns its tokens. Deletes an unusable
    /// file; the context's contents are then undefined.
    pub(crate) fn load_saved(
        &self,
        context: &mut LlamaContext<'_>,
        key: &str,
        part: Part,
    ) -> Option<Vec<LlamaToken>> {
        let path = self.path(key, part);
        // If llama.cpp aborts on this file, no later worker finds it under its name.
        let reading = path.with_extension(READING);
        fs::rename(&path, &reading).ok()?;
        let tokens = match saved::is_sealed(&reading, &self.place(key, part)) {
            Ok(true) => read(context, &reading),
            Ok(false) | Err(_) => None,
        };
        let settled = if tokens.is_some() {
            fs::rename(&reading, &path)
        } else {
            fs::remove_file(&reading)
        };
        if let Err(error) = settled {
            eprintln!("inglenook-worker: cannot delete a used cache file: {error}");
        }
        tokens
    }

    /// Saves the context's cache of `tokens` for `key` if it takes at most `room` bytes. Returns
    /// the bytes used.
    pub(crate) fn save(
        &self,
        context: &LlamaContext<'_>,
        key: &str,
        part: Part,
        tokens: &[LlamaToken],
        used: SystemTime,
        room: u64,
    ) -> u64 {
        let cells = context.state_seq_get_size_ext(CHAT, LlamaStateSeqFlags::empty());
        // Includes llama.cpp's header and our seal.
        let bytes = (cells + size_of_val(tokens) + 64) as u64;
        if bytes > room {
            return 0;
        }
        let path = self.path(key, part);
        let writing = path.with_extension(WRITING);
        let place = self.place(key, part);
        match self
            .write(context, tokens, &writing, &place, used)
            .and_then(|()| fs::rename(&writing, &path))
        {
            Ok(()) => bytes,
            Err(error) => {
                eprintln!("inglenook-worker: cannot save a cache: {error}");
                let _ = fs::remove_file(&writing);
                0
            }
        }
    }

    fn write(
        &self,
        context: &LlamaContext<'_>,
        tokens: &[LlamaToken],
        path: &Path,
        place: &str,
        used: SystemTime,
    ) -> io::Result<()> {
        make_private_folder(&self.folder)?;
        // llama.cpp opens the existing file and keeps its permissions.
        let file = make_private_file(path)?;
        context
            .state_seq_save_file(path, CHAT, tokens)
            .map_err(io::Error::other)?;
        saved::seal(path, place)?;
        file.set_modified(used)
    }

    fn path(&self, key: &str, part: Part) -> PathBuf {
        self.folder.join(part.file_name(key))
    }

    /// Identifies the model and the chat that a file is sealed for.
    fn place(&self, key: &str, part: Part) -> String {
        let folder = self
            .folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy();
        format!("{folder}/{}", part.file_name(key))
    }
}

fn read(context: &mut LlamaContext<'_>, path: &Path) -> Option<Vec<LlamaToken>> {
    let room = context.n_ctx() as usize;
    let (tokens, _) = context.state_seq_load_file(path, CHAT, room).ok()?;
    let end = usize::try_from(context.kv_cache_seq_pos_max(CHAT)).ok()? + 1;
    (end == positions(&tokens)).then_some(tokens)
}

#[cfg(unix)]
fn make_private_folder(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
}

#[cfg(not(unix))]
fn make_private_folder(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

fn make_private_file(path: &Path) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.write(true).create(true).truncate(true).open(path)
}
