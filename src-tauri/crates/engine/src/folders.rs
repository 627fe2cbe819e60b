//! What lies in a folder that somebody chose, however deep. A link may lead anywhere, so none is followed (S-4).

use std::fs;
use std::path::{Path, PathBuf};

/// Files taken at once at the most.
const MAX_FILES: usize = 50_000;
/// Folders inside of one another.
const MAX_DEPTH: usize = 32;

/// What was found, in the order of the names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) files: Vec<PathBuf>,
    pub(crate) links: Vec<PathBuf>,
    /// Files beyond those, and folders that lie too deep.
    pub(crate) left_out: usize,
}

/// Everything below `folder` but what is hidden; nothing of what cannot be read.
pub(crate) fn below(folder: &Path) -> Found {
    let mut found = Found::default();
    found.add(folder, 0);
    found
}

impl Found {
    fn add(&mut self, folder: &Path, depth: usize) {
        let mut entries: Vec<_> = fs::read_dir(folder).into_iter().flatten().flatten().collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries.into_iter().filter(|entry| !entry.file_name().to_string_lossy().starts_with('.')) {
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_symlink() {
                self.links.push(entry.path());
            } else if kind.is_dir() && depth < MAX_DEPTH {
                self.add(&entry.path(), depth + 1);
            } else if kind.is_file() && self.files.len() < MAX_FILES {
                self.files.push(entry.path());
            } else {
                self.left_out += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_searched_to_their_ends_and_hidden_things_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in ["b/deep/deeper/z.json", "a.png", "b/c.png", ".git/x.json", "b/.hidden.json"] {
            fs::create_dir_all(path(name).parent().unwrap()).unwrap();
            fs::write(path(name), "x").unwrap();
        }
        let found = below(folder.path());
        assert_eq!(found.files, [path("a.png"), path("b/c.png"), path("b/deep/deeper/z.json")]);
        assert_eq!((found.links.len(), found.left_out), (0, 0));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_named_and_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(folder.path(), folder.path().join("round")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("out.json")).unwrap();
        let found = below(folder.path());
        assert_eq!((found.files.len(), found.links.len()), (0, 2));
    }
}
