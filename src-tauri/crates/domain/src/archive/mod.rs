//! Reads ZIP archives from untrusted sources in memory. Names and sizes are checked before anything
//! is unpacked, and members are unpacked one at a time. A member name never becomes a file system
//! path.
//!
//! The limits bound memory use and stop archive bombs, path traversal and links.

pub mod bundle;

use std::collections::HashMap;
use std::io::{Cursor, Read as _};

use zip::ZipArchive;
use zip::read::{Config, ZipFileEntry};
use zip::result::ZipError;
use zip::unstable::read::ZipIterable;

/// Maximum size of an archive, in bytes.
pub const MAX_ARCHIVE: usize = 96 << 20;
/// Maximum number of members.
pub const MAX_MEMBERS: usize = 4_096;
/// Maximum unpacked size of a member, in bytes.
pub const MAX_MEMBER: u64 = 64 << 20;
/// Maximum unpacked size of all members together, in bytes.
pub const MAX_TOTAL: u64 = 512 << 20;
/// Maximum ratio of unpacked to packed size.
pub const MAX_RATIO: u64 = 200;

/// [`MAX_RATIO`] applies only to members above this unpacked size, in bytes. Short repetitive texts
/// are harmless.
const RATIO_APPLIES_FROM: u64 = 1 << 20;
/// Maximum length of a member name, in bytes.
const MAX_NAME: usize = 1_024;
/// Maximum length of a name in an error message, in characters.
const MAX_SHOWN: usize = 80;

/// Why an archive is refused. Nothing from it was written to disk.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArchiveError {
    #[error("this is not a complete ZIP file. Download or copy it again")]
    Incomplete,
    #[error("the archive is damaged: {problem}; download or copy the file again")]
    Damaged { problem: String },
    #[error(
        "the archive has {bytes} bytes, and the limit is {limit}. Remove some pictures or sounds from it"
    )]
    TooLarge { bytes: usize, limit: usize },
    #[error(
        "the archive has {members} members, and the limit is {limit}; remove files that the card does not need"
    )]
    TooManyMembers { members: usize, limit: usize },
    #[error(
        "\"{name}\" in the archive takes {bytes} bytes, and the limit is {limit}; make it smaller"
    )]
    MemberTooLarge {
        name: String,
        bytes: u64,
        limit: u64,
    },
    #[error(
        "the members of the archive take more than {limit} bytes together; remove some files from it"
    )]
    TotalTooLarge { limit: u64 },
    #[error(
        "\"{name}\" in the archive unpacks to more than {limit} times its packed size; get the file from another source"
    )]
    Ratio { name: String, limit: u64 },
    #[error(
        "the archive has a member named \"{name}\", which could lead out of a folder; get the file from another source"
    )]
    UnsafeName { name: String },
    #[error("the archive has two members named \"{name}\"; pack it again")]
    Duplicate { name: String },
    #[error(
        "\"{name}\" in the archive is a link, which is not allowed; pack it again without links"
    )]
    Link { name: String },
    #[error("\"{name}\" in the archive is encrypted; pack it again without a password")]
    Encrypted { name: String },
    #[error(
        "members of the archive overlap, which real archives never do; get the file from another source"
    )]
    Overlap,
}

impl From<ZipError> for ArchiveError {
    fn from(error: ZipError) -> Self {
        match error {
            ZipError::InvalidArchive(_) => Self::Incomplete,
            other => Self::Damaged {
                problem: shown(&other.to_string()),
            },
        }
    }
}

impl From<std::io::Error> for ArchiveError {
    fn from(error: std::io::Error) -> Self {
        Self::Damaged {
            problem: shown(&error.to_string()),
        }
    }
}

type Zip<'a> = ZipArchive<Cursor<&'a [u8]>>;

/// An archive whose member names and sizes passed the checks. Names use forward slashes and are
/// relative to the root. See [`Archive::rooted_at`].
pub struct Archive<'a> {
    zip: Zip<'a>,
    /// Index of each member in the archive's directory, by name.
    members: HashMap<String, usize>,
}

/// Whether the bytes end with a ZIP directory. An archive may be appended to a picture or a
/// program.
pub fn is_archive(bytes: &[u8]) -> bool {
    ZipIterable::try_new(Cursor::new(bytes), Config::default()).is_ok()
}

impl<'a> Archive<'a> {
    /// # Errors
    /// [`ArchiveError`] if the bytes are not an archive or break a limit. Checking unpacks no
    /// member.
    pub fn open(bytes: &'a [u8]) -> Result<Self, ArchiveError> {
        if bytes.len() > MAX_ARCHIVE {
            return Err(ArchiveError::TooLarge {
                bytes: bytes.len(),
                limit: MAX_ARCHIVE,
            });
        }
        // Iterates instead of collecting: the directory of a huge archive would fill the memory
        // before the check.
        let mut members = ZipIterable::try_new(Cursor::new(bytes), Config::default())?;
        if members.len() > MAX_MEMBERS {
            return Err(ArchiveError::TooManyMembers {
                members: members.len(),
                limit: MAX_MEMBERS,
            });
        }
        let mut names = HashMap::new();
        let mut total = 0_u64;
        for (index, member) in members.files()?.enumerate() {
            let member = member?;
            let name = check(&member)?;
            total = total.saturating_add(member.size());
            if total > MAX_TOTAL {
                return Err(ArchiveError::TotalTooLarge { limit: MAX_TOTAL });
            }
            if names.contains_key(&name) {
                return Err(ArchiveError::Duplicate { name: shown(&name) });
            }
            names.insert(name, index);
        }
        let mut zip = ZipArchive::new(Cursor::new(bytes))?;
        if zip.has_overlapping_entries()? {
            return Err(ArchiveError::Overlap);
        }
        Ok(Self {
            zip,
            members: names,
        })
    }

    pub fn has(&self, name: &str) -> bool {
        self.members.contains_key(name)
    }

    /// Names of all members, including folders.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.members.keys().map(String::as_str)
    }

    /// Makes the only top-level folder that contains `name` the root and drops all members outside
    /// it. Does nothing if `name` is already at the root, or if several folders contain it.
    pub fn rooted_at(mut self, name: &str) -> Self {
        if self.has(name) {
            return self;
        }
        let folder = |member: &str| {
            member
                .strip_suffix(name)?
                .strip_suffix('/')
                .map(str::to_owned)
        };
        let mut folders = self
            .members
            .keys()
            .filter_map(|member| folder(member))
            .filter(|folder| {
                // macOS adds this folder with copies of the file names.
                !folder.contains('/') && folder != "__MACOSX"
            });
        if let (Some(folder), None) = (folders.next(), folders.next()) {
            drop(folders);
            let inside =
                |member: &str| Some(member.strip_prefix(&folder)?.strip_prefix('/')?.to_owned());
            let members = self
                .members
                .drain()
                .filter_map(|(member, at)| Some((inside(&member)?, at)));
            self.members = members.filter(|(member, _)| !member.is_empty()).collect();
        }
        self
    }

    /// Unpacks the member `name`; `None` if there is no such member.
    ///
    /// # Errors
    /// [`ArchiveError`] if it is damaged, larger than `limit` bytes, or of another size than the
    /// directory declares.
    pub fn read(&mut self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, ArchiveError> {
        let Some(index) = self.members.get(name) else {
            return Ok(None);
        };
        let member = self.zip.by_index(*index)?;
        let size = member.size();
        let limit = limit.min(MAX_MEMBER);
        if size > limit {
            return Err(ArchiveError::MemberTooLarge {
                name: shown(name),
                bytes: size,
                limit,
            });
        }
        let mut bytes = Vec::with_capacity(size as usize);
        // The declared size may be false, so read one byte more than declared and compare.
        member.take(size + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 != size {
            return Err(ArchiveError::Damaged {
                problem: format!("the size of \"{}\" is wrong", shown(name)),
            });
        }
        Ok(Some(bytes))
    }

    /// Returns the archive and the name and index of each member, in directory order, to copy
    /// members without unpacking.
    pub fn into_inner(self) -> (Zip<'a>, Vec<(String, usize)>) {
        let mut members: Vec<_> = self.members.into_iter().collect();
        members.sort_by_key(|(_, index)| *index);
        (self.zip, members)
    }
}

/// Returns the member's name with forward slashes, after all checks.
fn check(member: &ZipFileEntry<'_>) -> Result<String, ArchiveError> {
    let name = member.name().map_err(|_| ArchiveError::UnsafeName {
        name: shown(&String::from_utf8_lossy(member.name_raw())),
    })?;
    // Some Windows archivers write backslashes.
    let name = name.replace('\\', "/");
    if !is_safe(&name) {
        return Err(ArchiveError::UnsafeName { name: shown(&name) });
    }
    if member.is_symlink() {
        return Err(ArchiveError::Link { name: shown(&name) });
    }
    if member.encrypted() {
        return Err(ArchiveError::Encrypted { name: shown(&name) });
    }
    let size = member.size();
    let packed = member.compressed_size();
    if size > MAX_MEMBER {
        return Err(ArchiveError::MemberTooLarge {
            name: shown(&name),
            bytes: size,
            limit: MAX_MEMBER,
        });
    }
    if size > RATIO_APPLIES_FROM && size / packed.max(1) > MAX_RATIO {
        return Err(ArchiveError::Ratio {
            name: shown(&name),
            limit: MAX_RATIO,
        });
    }
    Ok(name)
}

/// Whether the name is a relative path without `..`, drive letters and control characters.
fn is_safe(name: &str) -> bool {
    let folders = name.strip_suffix('/').unwrap_or(name);
    name.len() <= MAX_NAME
        && !name
            .chars()
            .any(|letter| letter.is_control() || letter == '\\')
        && name.as_bytes().get(1) != Some(&b':')
        && folders
            .split('/')
            .all(|part| !matches!(part, "" | "." | ".."))
}

/// Shortens untrusted text for an error message.
fn shown(text: &str) -> String {
    text.chars()
        .filter(|letter| !letter.is_control())
        .take(MAX_SHOWN)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::is_safe;

    #[test]
    fn rejects_unsafe_member_names() {
        for name in [
            "card.json",
            "assets/icon/images/main.png",
            "x_meta/a.json",
            "assets/",
            "灯/灯.png",
            "a..b/..c",
        ] {
            assert!(is_safe(name), "{name}");
        }
        let escapes = [
            "",
            "/",
            "/etc/passwd",
            "../a",
            "a/../b",
            "a/..",
            "./a",
            "a//b",
            "C:/a",
            "c:a",
            "a\\b",
            "\\\\host\\a",
            "a\0b",
            "a\nb",
        ];
        for name in escapes {
            assert!(!is_safe(name), "{name:?}");
        }
        assert!(!is_safe(&"a".repeat(1_025)));
    }
}
