//! Inspects model files for the library and estimates whether they fit into memory.

use std::fs::File;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use domain::ModelId;
use domain::model::LocalModel;
use sha2::{Digest, Sha256};
use sysinfo::{MemoryRefreshKind, System};
use worker::protocol::Load;

use crate::gguf::{self, GgufError, GgufHeader};

/// Default context size, if the model supports it.
const DEFAULT_CONTEXT: u32 = 8_192;

/// Context size for models whose header does not contain it.
const UNKNOWN_CONTEXT: u32 = 2_048;

/// Reason why a file cannot be added to the library.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    #[error(transparent)]
    Gguf(#[from] GgufError),
    #[error("cannot read {}: {source}", path.display())]
    Io {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{} has a name that is not Unicode; rename the file", path.display())]
    Name { path: PathBuf },
}

/// A validated model file.
#[derive(Debug, Clone, PartialEq)]
pub struct Inspected {
    pub header: GgufHeader,
    /// The model's name from the header, or the file name.
    pub name: String,
    /// Absolute path.
    pub path: String,
    pub bytes: u64,
    /// Hash of the whole file, in lower-case hexadecimal.
    pub sha256: String,
}

impl Inspected {
    /// Returns the context length in tokens that the model was trained for.
    pub fn context(&self) -> u32 {
        self.header
            .context_length
            .filter(|length| *length > 0)
            .unwrap_or(UNKNOWN_CONTEXT)
    }

    /// Creates the library entry for this file.
    pub fn into_model(self, id: ModelId) -> LocalModel {
        let context = self.context();
        let Self {
            header,
            name,
            path,
            bytes,
            sha256,
        } = self;
        LocalModel {
            id,
            name,
            path,
            bytes,
            sha256,
            architecture: header.architecture,
            context,
        }
    }
}

/// Checks and hashes the file at `path`. `progress` gets the hashed and the total bytes. Blocks for
/// about a second per gigabyte.
///
/// # Errors
/// [`ModelError`], naming the file.
pub fn inspect(path: &Path, progress: impl FnMut(u64, u64)) -> Result<Inspected, ModelError> {
    let io = |source| ModelError::Io {
        path: path.to_owned(),
        source,
    };
    let path = std::path::absolute(path).map_err(io)?;
    let text = path
        .to_str()
        .ok_or_else(|| ModelError::Name { path: path.clone() })?
        .to_owned();
    let header = gguf::read(&path)?;
    let (bytes, sha256) = hash(&path, progress).map_err(io)?;
    Ok(Inspected {
        name: name(&header, &path),
        header,
        path: text,
        bytes,
        sha256,
    })
}

/// Works like [`inspect`], for a file whose size and hash the caller has just verified. `bytes` and
/// `sha256` are those that [`hash`] would return.
///
/// # Errors
/// [`ModelError`], naming the file.
pub fn inspect_verified(path: &Path, bytes: u64, sha256: String) -> Result<Inspected, ModelError> {
    let path = std::path::absolute(path).map_err(|source| ModelError::Io {
        path: path.to_owned(),
        source,
    })?;
    let text = path
        .to_str()
        .ok_or_else(|| ModelError::Name { path: path.clone() })?
        .to_owned();
    let header = gguf::read(&path)?;
    Ok(Inspected {
        name: name(&header, &path),
        header,
        path: text,
        bytes,
        sha256,
    })
}

/// Returns the size in bytes and the SHA-256 of a model file, in lower-case hexadecimal. The parts
/// of a split model are hashed one after the other, as one text. `progress` gets the hashed and the
/// total bytes.
///
/// # Errors
/// Fails if a file cannot be read.
pub fn hash(path: &Path, mut progress: impl FnMut(u64, u64)) -> std::io::Result<(u64, String)> {
    let going_on = |done, total| {
        progress(done, total);
        ControlFlow::Continue(())
    };
    hash_unless_stopped(path, going_on).map(Option::unwrap_or_default)
}

/// Works like [`hash`]. `None` if `progress` stopped it.
///
/// # Errors
/// Fails if a file cannot be read.
pub fn hash_unless_stopped(
    path: &Path,
    mut progress: impl FnMut(u64, u64) -> ControlFlow<()>,
) -> std::io::Result<Option<(u64, String)>> {
    let parts = gguf::parts_of(path);
    let total = parts.iter().try_fold(0, |sum, part| {
        Ok::<_, std::io::Error>(sum + std::fs::metadata(part)?.len())
    })?;
    let (mut hasher, mut buffer, mut done) = (Sha256::new(), vec![0; 1 << 20], 0);
    for part in parts {
        let mut file = File::open(part)?;
        loop {
            let read = file.read(&mut buffer)?;
            if read == 0 {
                break;
            }
            hasher.update(&buffer[..read]);
            done += read as u64;
            if progress(done, total).is_break() {
                return Ok(None);
            }
        }
    }
    Ok(Some((done, hex::encode(hasher.finalize()))))
}

/// Returns the SHA-256 of one file, in lower-case hexadecimal.
///
/// # Errors
/// Fails if the file cannot be read.
pub fn hash_file(path: &Path) -> std::io::Result<String> {
    let mut hasher = Sha256::new();
    std::io::copy(&mut File::open(path)?, &mut hasher)?;
    Ok(hex::encode(hasher.finalize()))
}

/// Returns a name on one line, with limited length.
fn name(header: &GgufHeader, path: &Path) -> String {
    let stem = || {
        path.file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    let name = header.name.clone().unwrap_or_else(stem);
    name.chars()
        .filter(|character| !character.is_control())
        .take(120)
        .collect()
}

/// Returns the default context size for a model trained for `trained` tokens.
pub fn default_context(trained: u32) -> u32 {
    trained.min(DEFAULT_CONTEXT)
}

/// Memory estimate in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fit {
    pub weights: u64,
    /// KV cache at f16, with the room for helper jobs; 0 if the header lacks the figures.
    pub cache: u64,
    /// Compute buffers, by a rule of thumb.
    pub working: u64,
    /// Available memory; `None` if unknown.
    pub available: Option<u64>,
    /// Bytes of KV cache per token of context; 0 if unknown.
    pub per_token: u64,
}

impl Fit {
    pub fn needed(&self) -> u64 {
        self.weights
            .saturating_add(self.cache)
            .saturating_add(self.working)
    }

    /// Whether the model fits; `None` if the available memory is unknown.
    pub fn fits(&self) -> Option<bool> {
        self.available.map(|available| self.needed() <= available)
    }

    /// Returns the largest context in tokens, at most `most`, that fits; 0 if the weights alone do
    /// not. A multiple of
    /// 256. `None` if the available memory or the size of the KV cache is unknown.
    pub fn largest_context(&self, most: u32) -> Option<u32> {
        let room = self
            .available?
            .saturating_sub(self.weights.saturating_add(self.working));
        let cells = u32::try_from(room.checked_div(self.per_token)?).unwrap_or(u32::MAX);
        let tokens = Load::context_of(cells);
        Some(if tokens >= most {
            most
        } else {
            tokens / 256 * 256
        })
    }
}

/// Estimates the memory for a model file of `bytes` with `context` tokens.
pub fn fit(header: &GgufHeader, bytes: u64, context: u32, available: Option<u64>) -> Fit {
    estimate(
        bytes,
        header.cache_bytes_per_token.unwrap_or(0),
        context,
        available,
    )
}

/// Works like [`fit`], for a file whose header is not known.
pub fn estimate(bytes: u64, per_token: u64, context: u32, available: Option<u64>) -> Fit {
    let cells = u64::from(context) + u64::from(Load::background_room(context));
    let cache = per_token.saturating_mul(cells);
    Fit {
        weights: bytes,
        cache,
        working: (64 << 20) + bytes / 20,
        available,
        per_token,
    }
}

/// Returns the bytes available without swapping, also within the limit of a container; `None` if
/// the system does not say.
pub fn available_memory() -> Option<u64> {
    let mut system = System::new().ok()?;
    system.refresh_memory_specifics(MemoryRefreshKind::nothing().with_ram());
    let machine = Some(system.available_memory()).filter(|bytes| *bytes > 0)?;
    // The limit counts the page cache as used, which holds the weights of mapped files.
    Some(
        system
            .cgroup_limits()
            .map_or(machine, |limits| machine.min(limits.total_memory)),
    )
}

/// Returns the bytes of this machine's memory; `None` if the system does not say.
pub fn total_memory() -> Option<u64> {
    let mut system = System::new().ok()?;
    system.refresh_memory_specifics(MemoryRefreshKind::nothing().with_ram());
    Some(system.total_memory()).filter(|bytes| *bytes > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(cache_bytes_per_token: u64) -> GgufHeader {
        GgufHeader {
            version: 3,
            architecture: "llama".into(),
            name: None,
            context_length: None,
            chat_template: None,
            bos: None,
            eos: None,
            add_bos: None,
            file_type: None,
            tensors: 1,
            layers: Some(1),
            parameters: 1,
            expert_bytes: 0,
            used_experts: 1.0,
            dense_layers: 0,
            cache_bytes_per_token: Some(cache_bytes_per_token),
            embedding_length: None,
            embeds: false,
        }
    }

    #[test]
    fn weights_and_cache_must_fit_available_memory() {
        // An 8B model at Q4: 5 GB of weights, 128 KiB of cache per token.
        let at =
            |context, available| fit(&header(131_072), 5_000_000_000, context, Some(available));
        assert_eq!(at(8_192, 0).cache, 10_240 * 131_072);
        assert_eq!(at(8_192, 8_000_000_000).fits(), Some(true));
        assert_eq!(at(32_768, 8_000_000_000).fits(), Some(false));
        assert_eq!(
            fit(&header(u64::MAX), u64::MAX, u32::MAX, Some(1)).fits(),
            Some(false)
        );
        assert_eq!(fit(&header(0), 1, 1, None).fits(), None);
    }

    #[test]
    fn largest_context_fills_the_available_memory() {
        let at = |available| {
            fit(&header(131_072), 5_000_000_000, 8_192, Some(available)).largest_context(131_072)
        };
        assert_eq!(at(4_000_000_000), Some(0));
        let fits = at(8_000_000_000).unwrap();
        assert!(fits > 16_384 && fits.is_multiple_of(256), "{fits}");
        let used = fit(&header(131_072), 5_000_000_000, fits, Some(8_000_000_000));
        assert_eq!(used.fits(), Some(true));
        assert_eq!(
            fit(
                &header(131_072),
                5_000_000_000,
                fits + 256,
                Some(8_000_000_000)
            )
            .fits(),
            Some(false)
        );
        assert_eq!(at(u64::MAX), Some(131_072));
        assert_eq!(fit(&header(0), 1, 1, Some(1)).largest_context(8_192), None);
    }

    #[test]
    fn token_reads_only_the_experts_it_uses() {
        let mixture = GgufHeader {
            expert_bytes: 16_000,
            used_experts: 0.125,
            ..header(0)
        };
        assert_eq!(mixture.bytes_per_token(18_000), 4_000);
        assert_eq!(mixture.bytes_per_token(8_000), 1_000);
        assert_eq!(header(0).bytes_per_token(18_000), 18_000);
        assert_eq!(mixture.bytes_per_token(0), 0);
    }

    #[test]
    fn this_machine_tells_its_memory() {
        assert!(available_memory().is_some_and(|bytes| bytes > 1 << 24));
    }

    #[test]
    fn largest_context_fits_with_the_room_for_helper_jobs() {
        for context in [1_024, 8_192, 32_768] {
            let needed = estimate(0, 1_000, context, None).needed();
            let largest =
                |available| estimate(0, 1_000, 256, Some(available)).largest_context(131_072);
            assert_eq!(largest(needed), Some(context));
            assert_eq!(largest(needed - 1), Some(context - 256));
        }
    }

    #[test]
    fn name_is_one_short_line() {
        let mut header = header(0);
        assert_eq!(name(&header, Path::new("/models/Tiny-Q4.gguf")), "Tiny-Q4");
        header.name = Some(format!("A\n\u{1b}[31m{}", "b".repeat(500)));
        assert_eq!(name(&header, Path::new("/x")).chars().count(), 120);
        assert!(!name(&header, Path::new("/x")).contains('\u{1b}'));
    }

    #[test]
    fn refusal_names_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("page.gguf");
        std::fs::write(&path, "<html>not found</html>").unwrap();
        let error = inspect(&path, |_, _| {}).unwrap_err().to_string();
        assert!(
            error.ends_with(
                "page.gguf is not a GGUF file: it is a web page, so the download went wrong. Download the file itself"
            ),
            "{error}"
        );
        let error = inspect(folder.path(), |_, _| {}).unwrap_err().to_string();
        assert!(error.ends_with("is not a regular file"), "{error}");
        let error = inspect(&folder.path().join("none.gguf"), |_, _| {})
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("cannot be read") && error.contains("none.gguf"),
            "{error}"
        );
    }
}
