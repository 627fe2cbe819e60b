//! Reads and parses our Rust files.

use crate::house::code::parsed::ParsedFile;
use anyhow::{Context, Result, anyhow};
use std::collections::BTreeSet;
use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// A file of production code.
pub(crate) struct SourceFile {
    /// Path relative to the workspace.
    pub(crate) path: String,
    /// Path relative to the crate's folder `src`.
    pub(crate) below_src: String,
    pub(crate) lines: usize,
    pub(crate) parsed: ParsedFile,
}

impl SourceFile {
    /// The file's module, as the names that lead to it from the crate.
    pub(crate) fn module(&self) -> Vec<String> {
        module_of(&self.below_src)
    }
}

pub(crate) struct CrateSource {
    pub(crate) name: String,
    pub(crate) files: Vec<SourceFile>,
}

#[cfg(test)]
impl CrateSource {
    /// A crate of these files, each with its path below `src` and its text.
    pub(crate) fn of(name: &str, files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(below_src, text)| SourceFile {
            path: format!("src-tauri/crates/{name}/src/{below_src}"),
            below_src: (*below_src).to_owned(),
            lines: text.lines().count(),
            parsed: ParsedFile::parse(text).unwrap(),
        });
        Self {
            name: name.to_owned(),
            files: files.collect(),
        }
    }
}

/// A file that only tests use.
pub(crate) struct TestFile {
    pub(crate) path: String,
    pub(crate) lines: usize,
}

/// Our Rust code.
#[derive(Default)]
pub(crate) struct Sources {
    pub(crate) crates: Vec<CrateSource>,
    pub(crate) tests: Vec<TestFile>,
}

impl Sources {
    /// Reads the workspace in the folder `root`.
    ///
    /// # Errors
    /// A file cannot be read or parsed.
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let mut sources = Self::default();
        for folder in crate_folders(root)? {
            sources.read_crate(root, &folder)?;
        }
        sources.read_tests(root, &root.join("tests"))?;
        Ok(sources)
    }

    /// Every file of production code.
    pub(crate) fn files(&self) -> impl Iterator<Item = &SourceFile> {
        self.crates.iter().flat_map(|it| &it.files)
    }

    /// Adds the crate in a folder of the workspace.
    ///
    /// # Errors
    /// A file cannot be read or parsed.
    pub(crate) fn read_crate(&mut self, root: &Path, folder: &Path) -> Result<()> {
        let src = folder.join("src");
        let (tests, production): (Vec<_>, Vec<_>) = rust_files(&src)?
            .into_iter()
            .partition(|path| is_test_path(path, &src));
        for path in tests {
            self.tests.push(read_test(root, &path)?);
        }
        for other in ["tests", "benches"] {
            self.read_tests(root, &folder.join(other))?;
        }
        let files = read_files(root, &src, &production)?;
        let test_modules = test_modules(&files);
        let is_test = |file: &SourceFile| {
            let module = file.module();
            test_modules.iter().any(|test| module.starts_with(test))
        };
        let (tests, files): (Vec<_>, Vec<_>) = files.into_iter().partition(is_test);
        let tests = tests.into_iter();
        self.tests.extend(tests.map(|it| TestFile {
            path: it.path,
            lines: it.lines,
        }));
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        self.crates.push(CrateSource {
            name: name.into_owned(),
            files,
        });
        Ok(())
    }

    fn read_tests(&mut self, root: &Path, folder: &Path) -> Result<()> {
        for path in rust_files(folder)? {
            self.tests.push(read_test(root, &path)?);
        }
        Ok(())
    }
}

/// The crate of others in this repository.
const OTHERS: &str = "libsqlite3-sys";

/// The folders of all crates with production code: those in `crates`, then the desktop shell.
fn crate_folders(root: &Path) -> Result<Vec<PathBuf>> {
    let shell = root.join("src-tauri");
    let mut folders = entries(&shell.join("crates"))?;
    folders.retain(|folder| folder.join("Cargo.toml").is_file() && !folder.ends_with(OTHERS));
    folders.push(shell);
    Ok(folders)
}

/// The sorted entries of a folder.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    Ok(paths)
}

/// Every `.rs` file below a folder; none if the folder does not exist.
fn rust_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    if !folder.is_dir() {
        return Ok(files);
    }
    for path in entries(folder)? {
        if path.is_dir() {
            files.extend(rust_files(&path)?);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
    Ok(files)
}

fn is_test_path(path: &Path, src: &Path) -> bool {
    let below = path.strip_prefix(src).unwrap_or(path);
    below.components().any(|part| {
        ["tests", "tests.rs", "benches"]
            .iter()
            .any(|it| part.as_os_str() == *it)
    })
}

fn read_test(root: &Path, path: &Path) -> Result<TestFile> {
    let lines = read(path)?.lines().count();
    Ok(TestFile {
        path: relative(path, root),
        lines,
    })
}

/// Reads and parses files on all cores, in the order of their paths.
fn read_files(root: &Path, src: &Path, paths: &[PathBuf]) -> Result<Vec<SourceFile>> {
    let next = AtomicUsize::new(0);
    let read_share = || {
        let mut read = Vec::new();
        while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
            read.push(read_file(root, src, path)?);
        }
        Ok(read)
    };
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let shares: Vec<Result<Vec<SourceFile>>> = thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(read_share)).collect();
        let shares = workers.into_iter().map(|worker| worker.join());
        shares
            .map(|share| share.unwrap_or_else(|_| Err(anyhow!("a thread panicked"))))
            .collect()
    });
    let shares: Vec<Vec<SourceFile>> = shares.into_iter().collect::<Result<_>>()?;
    let mut files: Vec<SourceFile> = shares.into_iter().flatten().collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn read_file(root: &Path, src: &Path, path: &Path) -> Result<SourceFile> {
    let text = read(path)?;
    let parsed =
        ParsedFile::parse(&text).with_context(|| format!("cannot parse {}", path.display()))?;
    Ok(SourceFile {
        path: relative(path, root),
        below_src: relative(path, src),
        lines: text.lines().count(),
        parsed,
    })
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// The path below `folder`, with `/` on every system.
fn relative(path: &Path, folder: &Path) -> String {
    let below = path.strip_prefix(folder).unwrap_or(path);
    below.to_string_lossy().replace('\\', "/")
}

/// The modules whose declarations are under `#[cfg(test)]`.
fn test_modules(files: &[SourceFile]) -> BTreeSet<Vec<String>> {
    let paths = files.iter().flat_map(|file| {
        let module = file.module();
        let below = file.parsed.test_modules.iter();
        below.map(move |path| [module.as_slice(), path].concat())
    });
    paths.collect()
}

/// The module of the file `below_src`: `turn/mod.rs` is `turn`, `lib.rs` is the crate itself.
fn module_of(below_src: &str) -> Vec<String> {
    let mut names: Vec<String> = below_src
        .trim_end_matches(".rs")
        .split('/')
        .map(str::to_owned)
        .collect();
    let in_crate_root = names.len() == 1;
    names.pop_if(|last| last == "mod" || in_crate_root && ["lib", "main"].contains(&last.as_str()));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_module_of_a_file() {
        assert_eq!(module_of("lib.rs"), [""; 0]);
        assert_eq!(module_of("turn/mod.rs"), ["turn"]);
        assert_eq!(module_of("turn/main.rs"), ["turn", "main"]);
    }

    #[test]
    fn recognises_test_files_by_path() {
        let src = Path::new("/a/tests/src");
        assert!(is_test_path(Path::new("/a/tests/src/x/tests.rs"), src));
        assert!(is_test_path(Path::new("/a/tests/src/tests/x.rs"), src));
        assert!(!is_test_path(Path::new("/a/tests/src/test.rs"), src));
    }
}
