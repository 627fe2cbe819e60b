//! The lists of a hub: models, and the model files of one repository.

use super::names::{FilePurpose, RepoId, purpose, quantisation, split_part, strip_gguf};
use super::wire::{WireFile, WireModel};

/// Maximum number of letters of a text that is shown.
const MAX_SHOWN: usize = 80;

/// A model in a search result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HubModel {
    pub repo: RepoId,
    pub downloads: u64,
    pub likes: u64,
    pub gated: bool,
    /// Identifier of the licence, such as `apache-2.0`; `None` if the authors state none.
    pub licence: Option<String>,
    /// Language codes, such as `en`.
    pub languages: Vec<String>,
    /// Date of the last change, `YYYY-MM-DD`.
    pub updated: Option<String>,
}

/// One page of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchPage {
    pub models: Vec<HubModel>,
    /// Cursor of the next page.
    pub next: Option<String>,
}

/// A file to download.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteFile {
    /// Path inside the repository.
    pub path: String,
    pub bytes: Option<u64>,
    /// SHA-256 in lower-case hexadecimal, as the hub states it.
    pub sha256: Option<String>,
}

/// A model file, or all parts of a split one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HubFile {
    /// The file, or the parts in order.
    pub parts: Vec<RemoteFile>,
    pub quantisation: Option<&'static str>,
    pub purpose: FilePurpose,
}

impl HubFile {
    /// The path of the first part, which names the file.
    pub fn path(&self) -> &str {
        self.parts.first().map_or("", |part| part.path.as_str())
    }

    /// Size of all parts; `None` if one is unknown.
    pub fn bytes(&self) -> Option<u64> {
        self.parts
            .iter()
            .try_fold(0u64, |sum, part| sum.checked_add(part.bytes?))
    }
}

/// A repository with its model files, smallest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    pub model: HubModel,
    /// Commit that the list belongs to, or `main`.
    pub revision: String,
    pub files: Vec<HubFile>,
}

pub(super) fn model(wire: WireModel) -> Option<HubModel> {
    let repo = RepoId::parse(wire.id.as_deref().or(wire.model_id.as_deref())?)?;
    let tag = |start: &str| {
        wire.tags
            .iter()
            .find_map(|tag| tag.strip_prefix(start))
            .map(shown)
    };
    let languages = wire
        .tags
        .iter()
        .filter(|tag| is_language(tag))
        .take(12)
        .cloned()
        .collect();
    let licence = wire
        .card
        .and_then(|card| card.licence())
        .or_else(|| tag("license:"));
    Some(HubModel {
        repo,
        downloads: wire.downloads.unwrap_or(0),
        likes: wire.likes.unwrap_or(0),
        gated: wire.gated,
        licence: licence
            .map(|text| shown(&text))
            .filter(|text| !text.is_empty()),
        languages,
        updated: wire
            .last_modified
            .filter(|date| is_date(date))
            .map(|date| date[..10].to_owned()),
    })
}

/// Two small letters are a language; hubs mix them with other tags.
fn is_language(tag: &str) -> bool {
    tag.len() == 2 && tag.bytes().all(|letter| letter.is_ascii_lowercase())
}

fn is_date(text: &str) -> bool {
    let digits = |range: std::ops::Range<usize>| {
        text.get(range)
            .is_some_and(|part| part.bytes().all(|b| b.is_ascii_digit()))
    };
    digits(0..4) && digits(5..7) && digits(8..10)
}

fn shown(text: &str) -> String {
    text.trim()
        .chars()
        .filter(|letter| !letter.is_control())
        .take(MAX_SHOWN)
        .collect()
}

/// Groups the GGUF files of a repository. Split models with a missing part are left out, because
/// they cannot load.
pub(super) fn group(files: Vec<WireFile>) -> Vec<HubFile> {
    let mut whole: Vec<HubFile> = Vec::new();
    let mut parts: std::collections::BTreeMap<(String, u32), Vec<(u32, RemoteFile)>> =
        Default::default();
    for file in files.into_iter().filter_map(remote) {
        match split_part(&file.path) {
            Some(part) => {
                parts
                    .entry((part.stem.to_owned(), part.count))
                    .or_default()
                    .push((part.number, file));
            }
            None => whole.push(hub_file(vec![file])),
        }
    }
    for ((_, count), mut found) in parts {
        found.sort_by_key(|(number, _)| *number);
        if found.iter().map(|(number, _)| *number).eq(1..=count) {
            whole.push(hub_file(found.into_iter().map(|(_, file)| file).collect()));
        }
    }
    whole.retain(|file| file.purpose != FilePurpose::Other);
    whole.sort_by(|a, b| (a.bytes(), a.path()).cmp(&(b.bytes(), b.path())));
    whole
}

fn hub_file(parts: Vec<RemoteFile>) -> HubFile {
    let path = parts.first().map_or("", |part| part.path.as_str());
    HubFile {
        quantisation: quantisation(path),
        purpose: purpose(path),
        parts,
    }
}

fn remote(file: WireFile) -> Option<RemoteFile> {
    let path = file.path?;
    let odd = path.len() > 512
        || path.chars().any(char::is_control)
        || path.split('/').any(|name| matches!(name, "" | "." | ".."));
    if odd || strip_gguf(&path).is_none() {
        return None;
    }
    let lfs = file.lfs;
    let bytes = lfs.as_ref().and_then(|lfs| lfs.size).or(file.size);
    let sha256 = lfs
        .and_then(|lfs| lfs.sha256)
        .filter(|hash| is_sha256(hash))
        .map(|hash| hash.to_ascii_lowercase());
    Some(RemoteFile {
        path,
        bytes,
        sha256,
    })
}

pub(super) fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
