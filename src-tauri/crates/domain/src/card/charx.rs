//! CHARX: a ZIP archive with `card.json` at its root and the card's files, alone or appended to a
//! JPEG.
//!
//! An archive without `card.json` may be a Backyard file. Export copies unknown members in packed
//! form.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::io::{Cursor, Write as _};

use serde_json::Value;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use super::assets::{AssetLocation, MAX_PICTURE};
use super::{CardError, Warning, parse, png};
use crate::archive::{self, Archive, ArchiveError, MAX_ARCHIVE, MAX_MEMBERS};
use crate::backyard;
use crate::card::data::{Card, MAX_JSON};

/// Name of the member that contains the card.
pub(crate) const CARD: &str = "card.json";
const MODULE: &str = "module.risum";
/// Member path, without extension, for a main icon that the export adds.
const ICON: &str = "assets/icon/images/main";
/// Folder for assets that were text chunks in a PNG.
const OTHERS: &str = "assets/other/other";

pub(super) const JPEG: &[u8] = b"\xff\xd8\xff";
const PROGRAM: &[u8] = b"MZ";

/// Checks for an archive, alone or appended to a JPEG or to a self-extracting program. Other
/// pictures never carry one.
pub(super) fn may_be(bytes: &[u8]) -> bool {
    let before_one = bytes.starts_with(JPEG) || bytes.starts_with(PROGRAM);
    bytes.starts_with(b"PK\x03\x04") || (before_one && archive::is_archive(bytes))
}

/// Opens the archive with the card's folder as its root.
pub(super) fn open(bytes: &[u8]) -> Result<Archive<'_>, CardError> {
    Ok(Archive::open(bytes)?
        .rooted_at(CARD)
        .rooted_at(backyard::MANIFEST))
}

/// Reads the card from an archive. A RisuAI module in it is kept but not used; the card's own lore
/// and scripts apply.
pub(super) fn read(bytes: &[u8], file: Option<&str>) -> Result<(Card, Vec<Warning>), CardError> {
    let mut archive = open(bytes)?;
    // UTF-16 needs up to twice as many bytes as UTF-8.
    let Some(json) = archive.read(CARD, 2 * MAX_JSON as u64)? else {
        return backyard::card(archive);
    };
    let (card, mut warnings) = parse::card(&json, file)?;
    if archive.has(MODULE) {
        warnings.push(Warning::ModuleUnused);
    }
    let mut missing: Vec<&str> = card
        .embedded_paths()
        .into_iter()
        .filter(|path| !archive.has(path))
        .collect();
    missing.sort_unstable();
    if let Some(first) = missing.first() {
        let first = first
            .chars()
            .filter(|letter| !letter.is_control())
            .take(80)
            .collect();
        warnings.push(Warning::FilesMissing {
            count: missing.len(),
            first,
        });
    }
    Ok((card, warnings))
}

/// Returns the member at `path`, or else the JPEG in front of the archive.
pub(super) fn picture<'a>(
    bytes: &'a [u8],
    path: Option<&str>,
) -> Result<Option<Cow<'a, [u8]>>, CardError> {
    let member = match path {
        Some(path) => open(bytes)?.read(path, MAX_PICTURE)?,
        None => None,
    };
    Ok(member
        .map(Cow::Owned)
        .or_else(|| bytes.starts_with(JPEG).then_some(Cow::Borrowed(bytes))))
}

/// Returns the member at `path`, up to the size limit for pictures.
pub(super) fn member(bytes: &[u8], path: &str) -> Result<Option<Vec<u8>>, CardError> {
    Ok(open(bytes)?.read(path, MAX_PICTURE)?)
}

pub(super) fn members(bytes: &[u8]) -> Result<HashSet<String>, CardError> {
    Ok(open(bytes)?.names().map(str::to_owned).collect())
}

impl Card {
    /// Writes the card like [`Card::to_charx_with`], without additional files.
    ///
    /// # Errors
    /// The errors of [`Card::to_charx_with`].
    pub fn to_charx(
        &self,
        source: Option<&[u8]>,
        picture: Option<&[u8]>,
    ) -> Result<Vec<u8>, CardError> {
        self.to_charx_with(source, picture, Vec::new())
    }

    /// Writes the card as a CHARX archive, upgraded to V3.
    ///
    /// - `source` is the file that the card came from. All other members of a CHARX archive are
    ///   copied in packed form. From a Backyard archive only the card's files are copied, because
    ///   the rest is chats. From a PNG its assets are copied.
    /// - `picture` is a PNG that becomes the main icon. Without it the archive keeps its own icon.
    /// - `files` are stored under their paths and replace members of the source. Files that the
    ///   card does not list are ignored.
    ///
    /// # Errors
    /// [`CardError`] if the source is damaged, or the result exceeds the size limit for reading.
    pub fn to_charx_with(
        &self,
        source: Option<&[u8]>,
        picture: Option<&[u8]>,
        files: Vec<(String, Vec<u8>)>,
    ) -> Result<Vec<u8>, CardError> {
        let mut card = self.clone();
        let mut new = Vec::new();
        let mut archive = None;
        match source {
            Some(bytes) if may_be(bytes) => archive = Some(open(bytes)?),
            Some(bytes) if png::is_png(bytes) => new = card.take_texts(bytes)?,
            _ => {}
        }
        let mut replaced = None;
        let listed: HashSet<String> = card
            .embedded_paths()
            .into_iter()
            .map(str::to_owned)
            .collect();
        new.extend(files.into_iter().filter(|(path, _)| listed.contains(path)));
        if let Some(picture) = picture {
            let taken = |path: &str| {
                archive.as_ref().is_some_and(|archive| archive.has(path))
                    || new.iter().any(|(name, _)| name == path)
            };
            let path = free(ICON, "png", taken);
            replaced = card.replace_icon(&path);
            new.push((path, png::without_texts(picture)?));
        }
        let json = card.to_json_v3();
        if json.len() > MAX_JSON {
            return Err(CardError::TooLarge {
                what: "the card's JSON",
                bytes: json.len(),
                limit: MAX_JSON,
            });
        }
        let whole = archive.as_ref().is_some_and(|archive| archive.has(CARD));
        let paths = card.embedded_paths();
        let anew: HashSet<&str> = new.iter().map(|(path, _)| path.as_str()).collect();
        let comes_along = |name: &str| {
            if anew.contains(name) {
                false
            } else if whole {
                name != CARD && Some(name) != replaced.as_deref()
            } else {
                paths.contains(name)
            }
        };
        let written = write(&json, archive, comes_along, &new)?;
        if written.len() > MAX_ARCHIVE {
            return Err(ArchiveError::TooLarge {
                bytes: written.len(),
                limit: MAX_ARCHIVE,
            }
            .into());
        }
        Ok(written)
    }

    /// Converts the assets of a PNG to archive members and updates their paths in the card. Drops
    /// those beyond the member limit.
    fn take_texts(&mut self, png: &[u8]) -> Result<Vec<(String, Vec<u8>)>, CardError> {
        let mut moved = HashMap::new();
        let mut taken = HashSet::new();
        let mut members = Vec::new();
        let endings = self.endings();
        for (old, bytes) in png::assets(png)?.into_iter().take(MAX_MEMBERS - 2) {
            let ending = endings.get(&old).map_or("bin", String::as_str);
            let path = free(&format!("{OTHERS}/{}", plain(&old)), ending, |path| {
                taken.contains(path)
            });
            taken.insert(path.clone());
            moved.insert(old, path.clone());
            members.push((path, bytes));
        }
        self.move_assets(&moved);
        Ok(members)
    }

    /// Maps asset paths to the file extensions in the card, if they are valid extensions.
    fn endings(&self) -> HashMap<String, String> {
        let said = |asset: &Value| {
            let AssetLocation::Inside(path) = AssetLocation::of(asset.get("uri")?.as_str()?) else {
                return None;
            };
            let ending = asset.get("ext")?.as_str()?;
            let fits = (1..=8).contains(&ending.len())
                && ending.bytes().all(|letter| letter.is_ascii_alphanumeric());
            fits.then(|| (path.to_owned(), ending.to_owned()))
        };
        self.assets().iter().filter_map(said).collect()
    }

    /// Points the main icon at `path`. Returns its old path if no other asset uses it.
    fn replace_icon(&mut self, path: &str) -> Option<String> {
        let uri = self
            .main_icon()
            .and_then(|icon| icon.get("uri")?.as_str())
            .unwrap_or_default()
            .to_owned();
        self.set_main_icon(path);
        let AssetLocation::Inside(old) = AssetLocation::of(&uri) else {
            return None;
        };
        let mut uris = self
            .assets()
            .iter()
            .filter_map(|asset| asset.get("uri")?.as_str());
        (!uris.any(|uri| AssetLocation::of(uri) == AssetLocation::Inside(old)))
            .then(|| old.to_owned())
    }
}

fn write(
    json: &str,
    source: Option<Archive<'_>>,
    comes_along: impl Fn(&str) -> bool,
    new: &[(String, Vec<u8>)],
) -> Result<Vec<u8>, ArchiveError> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let packed = SimpleFileOptions::default();
    archive.start_file(CARD, packed)?;
    archive.write_all(json.as_bytes())?;
    if let Some(source) = source {
        let (mut source, members) = source.into_inner();
        for (name, at) in members.into_iter().filter(|(name, _)| comes_along(name)) {
            archive.raw_copy_file_rename(source.by_index_raw(at)?, name)?;
        }
    }
    for (path, bytes) in new {
        // Pictures and sounds are already compressed.
        archive.start_file(path, packed.compression_method(CompressionMethod::Stored))?;
        archive.write_all(bytes)?;
    }
    Ok(archive.finish()?.into_inner())
}

/// Returns `path.ending`, with a number appended if that name is taken.
fn free(path: &str, ending: &str, taken: impl Fn(&str) -> bool) -> String {
    let mut names = (1..).map(|at: u32| {
        if at == 1 {
            format!("{path}.{ending}")
        } else {
            format!("{path}_{at}.{ending}")
        }
    });
    names.find(|name| !taken(name)).unwrap_or_default()
}

/// Converts an asset path to a safe member name.
fn plain(name: &str) -> String {
    let stem = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let stem = stem.rsplit_once('.').map_or(stem, |(stem, _)| stem);
    let plain: String = stem
        .chars()
        .map(|letter| {
            if letter.is_ascii_alphanumeric() {
                letter
            } else {
                '_'
            }
        })
        .take(60)
        .collect();
    if plain.is_empty() {
        "asset".to_owned()
    } else {
        plain
    }
}
