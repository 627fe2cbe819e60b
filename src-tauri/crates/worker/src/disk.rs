//! Caches that outlive the process. Nothing here can fail a reply: what cannot be saved or taken up is read anew.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::context::session::LlamaStateSeqFlags;
use llama_cpp_2::token::LlamaToken;
use worker::protocol::SavedCaches;
use worker::saved::{self, READING, WRITING};

use crate::cache::SEQUENCE;

/// The folder for the loaded model at its context size.
pub(crate) struct Disk {
    folder: PathBuf,
    budget: u64,
}

impl Disk {
    pub(crate) fn new(caches: SavedCaches) -> Self {
        Self { folder: caches.folder.into(), budget: caches.budget }
    }

    /// Bytes to write at one time, at the most.
    pub(crate) fn budget(&self) -> u64 {
        self.budget
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.path(key).is_file()
    }

    /// Puts the saved cache of `key` into the context and returns its tokens. A file that is of no use is deleted, and the
    /// context may then hold anything.
    pub(crate) fn take_up(&self, context: &mut LlamaContext<'_>, key: &str) -> Option<Vec<LlamaToken>> {
        let path = self.path(key);
        // Should llama.cpp abort over this file, no worker will find it under its name again.
        let reading = path.with_extension(READING);
        fs::rename(&path, &reading).ok()?;
        let tokens = match saved::is_sealed(&reading, &self.place(key)) {
            Ok(true) => read(context, &reading),
            Ok(false) | Err(_) => None,
        };
        let settled = if tokens.is_some() { fs::rename(&reading, &path) } else { fs::remove_file(&reading) };
        if let Err(error) = settled {
            eprintln!("inglenook-worker: a saved cache is left over: {error}");
        }
        tokens
    }

    /// Saves the context's cache, of `tokens`, for `key`, if it takes `room` bytes at the most. Returns how many it took.
    pub(crate) fn save(
        &self,
        context: &LlamaContext<'_>,
        key: &str,
        tokens: &[LlamaToken],
        used: SystemTime,
        room: u64,
    ) -> u64 {
        let cells = context.state_seq_get_size_ext(SEQUENCE, LlamaStateSeqFlags::empty());
        // llama.cpp's head, and our seal.
        let bytes = (cells + size_of_val(tokens) + 64) as u64;
        if bytes > room {
            return 0;
        }
        let path = self.path(key);
        let writing = path.with_extension(WRITING);
        match self.write(context, tokens, &writing, &self.place(key), used).and_then(|()| fs::rename(&writing, &path)) {
            Ok(()) => bytes,
            Err(error) => {
                eprintln!("inglenook-worker: a cache is not saved: {error}");
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
        // llama.cpp opens what is there, and so keeps its permissions.
        let file = make_private_file(path)?;
        context.state_seq_save_file(path, SEQUENCE, tokens).map_err(io::Error::other)?;
        saved::seal(path, place)?;
        file.set_modified(used)
    }

    fn path(&self, key: &str) -> PathBuf {
        self.folder.join(saved::file_name(key))
    }

    /// What a file is sealed for: this model, and this chat.
    fn place(&self, key: &str) -> String {
        let folder = self.folder.file_name().unwrap_or_default().to_string_lossy();
        format!("{folder}/{}", saved::file_name(key))
    }
}

fn read(context: &mut LlamaContext<'_>, path: &Path) -> Option<Vec<LlamaToken>> {
    let room = context.n_ctx() as usize;
    let (tokens, _) = context.state_seq_load_file(path, SEQUENCE, room).ok()?;
    let cells = usize::try_from(context.kv_cache_seq_pos_max(SEQUENCE)).ok()? + 1;
    (cells == tokens.len()).then_some(tokens)
}

#[cfg(unix)]
fn make_private_folder(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
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
