//! Lists the files in a folder that the user chose, including subfolders. Links are not followed,
//! because they may lead anywhere.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Maximum number of files.
const MAX_FILES: usize = 50_000;
/// Maximum nesting depth of folders.
const MAX_DEPTH: usize = 32;

/// Files and links, in the order of their names.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct FoundFiles {
    pub(crate) files: Vec<PathBuf>,
    pub(crate) links: Vec<PathBuf>,
    /// Number of files above the limit and of folders that are nested too deep.
    pub(crate) left_out: usize,
}

/// Lists everything below `folder` except hidden entries. Skips unreadable folders.
pub(crate) fn below(folder: &Path) -> FoundFiles {
    let mut found = FoundFiles::default();
    found.add(folder, 0);
    found
}

impl FoundFiles {
    fn add(&mut self, folder: &Path, depth: usize) {
        let mut entries: Vec<_> = fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries
            .into_iter()
            .filter(|entry| !entry.file_name().to_string_lossy().starts_with('.'))
        {
            let Ok(kind) = entry.file_type() else {
                continue;
            };
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

/// Reads a file of any type up to `limit` bytes. `kind` names the type in the error.
pub(crate) fn read_capped(
    path: &Path,
    limit: usize,
    kind: &str,
) -> Result<Vec<u8>, (&'static str, String)> {
    let unreadable =
        |error: std::io::Error| ("unreadable", format!("the file cannot be read: {error}"));
    let about = fs::metadata(path).map_err(unreadable)?;
    if !about.is_file() {
        return Err(("unreadable", "it is not a file".to_owned()));
    }
    if about.len() > limit as u64 {
        let size = about.len() >> 20;
        let limit = limit >> 20;
        return Err((
            "tooLarge",
            format!("the file has {size} MiB; {kind} may have at most {limit} MiB"),
        ));
    }
    let mut bytes = Vec::with_capacity(about.len() as usize);
    // Limit the read as well, because the file may grow meanwhile.
    let file = fs::File::open(path).map_err(unreadable)?;
    file.take(limit as u64)
        .read_to_end(&mut bytes)
        .map_err(unreadable)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_nested_files_and_skips_hidden_ones() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in [
            "b/deep/deeper/z.json",
            "a.png",
            "b/c.png",
            ".git/x.json",
            "b/.hidden.json",
        ] {
            fs::create_dir_all(path(name).parent().unwrap()).unwrap();
            fs::write(path(name), "x").unwrap();
        }
        let found = below(folder.path());
        assert_eq!(
            found.files,
            [path("a.png"), path("b/c.png"), path("b/deep/deeper/z.json")]
        );
        assert_eq!((found.links.len(), found.left_out), (0, 0));
    }

    #[cfg(unix)]
    #[test]
    fn lists_links_without_following_them() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(folder.path(), folder.path().join("round")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("out.json")).unwrap();
        let found = below(folder.path());
        assert_eq!((found.files.len(), found.links.len()), (0, 2));
    }
}
