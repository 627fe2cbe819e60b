//! Caches on disk. No failure here fails a reply; the prompt is then evaluated again.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;
use std::{fs, io};

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::context::session::LlamaStateSeqFlags;
use llama_cpp_2::token::LlamaToken;
use worker::protocol::SavedCacheFolder;
use worker::saved::{self, CacheKeys, NOTICE, Part, READING, WRITING};

use crate::cache::CHAT;
use crate::cache::sealed_state::SealedState;
use crate::cache::unusable::Unusable;
use crate::picture_tokens::positions;

/// The folder with the caches of the loaded model and context size.
pub(crate) struct Disk {
    folder: PathBuf,
    budget: u64,
    /// With keys, the files are encrypted.
    keys: Option<Arc<CacheKeys>>,
}

impl Disk {
    pub(crate) fn new(caches: SavedCacheFolder) -> Self {
        Self {
            folder: caches.folder.into(),
            budget: caches.budget,
            keys: caches.keys,
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
        let read = self.read(context, &reading, &part.file_name(key));
        let settled = match &read {
            Ok(_) => fs::rename(&reading, &path),
            Err(why) => {
                eprintln!("{NOTICE}one is deleted, because {why}");
                fs::remove_file(&reading)
            }
        };
        if let Err(error) = settled {
            eprintln!("{NOTICE}a used file cannot be renamed or deleted: {error}");
        }
        read.ok()
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
        let bytes = self.file_bytes(context, tokens);
        if bytes > room {
            return 0;
        }
        let path = self.path(key, part);
        let writing = path.with_extension(WRITING);
        match self
            .write(context, tokens, &writing, &part.file_name(key), used)
            .and_then(|()| fs::rename(&writing, &path))
        {
            Ok(()) => bytes,
            Err(error) => {
                eprintln!("{NOTICE}one cannot be written: {error}");
                let _ = fs::remove_file(&writing);
                0
            }
        }
    }

    /// Upper bound of the size of a file.
    fn file_bytes(&self, context: &LlamaContext<'_>, tokens: &[LlamaToken]) -> u64 {
        let cells = context.state_seq_get_size_ext(CHAT, LlamaStateSeqFlags::empty());
        // Includes the headers, and the checksum of a plain file.
        let plain = (cells + size_of_val(tokens) + 64) as u64;
        // Each 64 KiB of an encrypted file have a tag of 16 bytes.
        let tags = self.keys.as_ref().map_or(0, |_| plain / 4_096);
        plain + tags
    }

    /// Loads the file at `path`, whose name in a plain folder is `file_name`.
    fn read(
        &self,
        context: &mut LlamaContext<'_>,
        path: &Path,
        file_name: &str,
    ) -> Result<Vec<LlamaToken>, Unusable> {
        let tokens = match self.sealed(file_name) {
            Some(sealed) => sealed.read(context, path)?,
            None => read_plain(context, path, &self.place(file_name))?,
        };
        let last = usize::try_from(context.kv_cache_seq_pos_max(CHAT));
        if last.is_ok_and(|last| last + 1 == positions(&tokens)) {
            Ok(tokens)
        } else {
            Err(Unusable::Rejected)
        }
    }

    /// Writes the file at `path`, whose name in a plain folder is `file_name`.
    fn write(
        &self,
        context: &LlamaContext<'_>,
        tokens: &[LlamaToken],
        path: &Path,
        file_name: &str,
        used: SystemTime,
    ) -> io::Result<()> {
        make_private_folder(&self.folder)?;
        let file = make_private_file(path)?;
        match self.sealed(file_name) {
            Some(sealed) => sealed.write(context, tokens, &file)?,
            None => write_plain(context, tokens, path, &self.place(file_name))?,
        }
        file.set_modified(used)
    }

    fn path(&self, key: &str, part: Part) -> PathBuf {
        let file_name = part.file_name(key);
        match self.sealed(&file_name) {
            Some(sealed) => self.folder.join(saved::sealed_file_name(&sealed.name)),
            None => self.folder.join(file_name),
        }
    }

    /// The encrypted form of the file; `None` without keys.
    fn sealed(&self, file_name: &str) -> Option<SealedState<'_>> {
        let keys = self.keys.as_ref()?;
        Some(SealedState {
            key: keys.content(),
            name: keys.sealed_name(&self.folder_name(), file_name),
        })
    }

    /// Identifies the model and the chat that a plain file belongs to.
    fn place(&self, file_name: &str) -> String {
        format!("{}/{file_name}", self.folder_name())
    }

    fn folder_name(&self) -> Cow<'_, str> {
        self.folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
    }
}

fn read_plain(
    context: &mut LlamaContext<'_>,
    path: &Path,
    place: &str,
) -> Result<Vec<LlamaToken>, Unusable> {
    if !saved::has_valid_checksum(path, place)? {
        return Err(Unusable::Damaged);
    }
    let room = context.n_ctx() as usize;
    let loaded = context.state_seq_load_file(path, CHAT, room);
    loaded
        .map(|(tokens, _)| tokens)
        .map_err(|_| Unusable::Rejected)
}

/// llama.cpp opens the existing file at `path` and keeps its permissions.
fn write_plain(
    context: &LlamaContext<'_>,
    tokens: &[LlamaToken],
    path: &Path,
    place: &str,
) -> io::Result<()> {
    context
        .state_seq_save_file(path, CHAT, tokens)
        .map_err(io::Error::other)?;
    saved::append_checksum(path, place)
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
