//! ZIP files that contain several importable files, such as cards, lorebooks and chats. An archive
//! that is itself a card is not a bundle.

use crate::archive::{Archive, ArchiveError, MAX_MEMBER};
use crate::backyard::MANIFEST;
use crate::card::{CARD, may_be_archive};

/// Maximum number of files imported from one archive.
pub const MAX_FILES: usize = 1_000;
/// File extensions of possible imports.
const ENDINGS: [&str; 11] = [
    "png", "apng", "json", "charx", "byaf", "yaml", "yml", "jsonl", "webp", "jpg", "jpeg",
];

/// An open archive and its importable files.
pub struct Bundle<'a> {
    archive: Archive<'a>,
    names: Vec<String>,
    left_out: usize,
}

impl<'a> Bundle<'a> {
    /// Returns `None` if the bytes are not an archive, or if the archive is a card.
    ///
    /// # Errors
    /// [`ArchiveError`] if the archive breaks a limit or a rule.
    pub fn open(bytes: &'a [u8]) -> Result<Option<Self>, ArchiveError> {
        if !may_be_archive(bytes) {
            return Ok(None);
        }
        let archive = Archive::open(bytes)?.rooted_at(CARD).rooted_at(MANIFEST);
        if archive.has(CARD) || archive.has(MANIFEST) {
            return Ok(None);
        }
        let mut names: Vec<String> = archive
            .names()
            .filter(|name| may_be_of_use(name))
            .map(str::to_owned)
            .collect();
        if names.is_empty() {
            return Ok(None);
        }
        // Chats come last because they need their characters.
        names.sort_by_key(|name| (is_chat(name), name.clone()));
        let left_out = names.len().saturating_sub(MAX_FILES);
        names.truncate(MAX_FILES);
        Ok(Some(Self {
            archive,
            names,
            left_out,
        }))
    }

    /// File names in import order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Number of files beyond [`MAX_FILES`], which are not imported.
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// # Errors
    /// [`ArchiveError`] if the file is damaged or too large.
    pub fn read(&mut self, name: &str) -> Result<Vec<u8>, ArchiveError> {
        Ok(self.archive.read(name, MAX_MEMBER)?.unwrap_or_default())
    }
}

fn ending(name: &str) -> Option<String> {
    Some(
        name.rsplit('/')
            .next()?
            .rsplit_once('.')?
            .1
            .to_ascii_lowercase(),
    )
}

fn is_chat(name: &str) -> bool {
    ending(name).is_some_and(|ending| ending == "jsonl")
}

/// Accepts known extensions, except in hidden files and in the folders that macOS adds.
fn may_be_of_use(name: &str) -> bool {
    let hidden = name
        .split('/')
        .any(|part| part.starts_with('.') || part == "__MACOSX");
    !hidden && ending(name).is_some_and(|ending| ENDINGS.contains(&ending.as_str()))
}
