//! Exports and imports all data as one ZIP archive. An imported archive is untrusted: no name in it
//! becomes a path, and every size is bounded. It only becomes a backup, which the user can inspect
//! before restoring it.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use domain::Timestamp;
use rusqlite::Connection;
use zip::read::Config;
use zip::unstable::read::ZipIterable;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::backup_file::BackupKind;
use super::choices::BackupChoices;
use super::content::read_only;
use super::folder::Folder;
use super::manifest::assets_in;
use super::pool;
use super::take::{copy, describe};
use super::verify::{NOT_OUR_TABLES, verify_copy};
use crate::asset_folder::AssetFolder;
use crate::encryption::cipher;
use crate::{AssetHash, FolderKeys, StoreError, files, identity};

const DATABASE: &str = "inglenook.db";
const ASSETS: &str = "assets/";
/// Maximum bytes of one picture or imported file.
const MAX_ASSET: u64 = 128 << 20;
const MAX_DATABASE: u64 = 64 << 30;
const MAX_MEMBERS: usize = 1_000_000;
/// Maximum compression ratio of a member. Our own archives store members uncompressed.
const MAX_RATIO: u64 = 200;
const RATIO_APPLIES_FROM: u64 = 1 << 20;

/// Writes the database of `source`, with its pictures and files, to `out`. All of it is plain.
pub(crate) fn export(
    source: &Connection,
    dir: &Path,
    out: &Path,
    keys: Option<&FolderKeys>,
) -> Result<(), StoreError> {
    let failed = |error| StoreError::file(error, out, dir);
    let folder = out
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    // A kill leaves this copy. Next to the archive, which is plain too, it reveals nothing new; in a
    // protected folder it would.
    let database = files::partial(keys.map_or(dir, |_| folder)).map_err(failed)?;
    copy(source, database.path(), keys)?;
    if keys.is_some() {
        cipher::convert_copy(database.path(), keys, None)?;
    }
    verify_copy(database.path(), None)?;
    let assets = assets_in(&read_only(database.path(), None)?)?;
    let archive = files::partial(folder).map_err(failed)?;
    let sources = [
        AssetFolder::assets(dir, keys),
        AssetFolder::assets(&Folder::home(dir).path, keys),
    ];
    pack(archive.as_file(), database.path(), &assets, &sources).map_err(failed)?;
    files::keep(archive, out).map_err(failed)
}

fn pack(
    archive: &File,
    database: &Path,
    assets: &[(AssetHash, u64)],
    sources: &[AssetFolder<'_>],
) -> io::Result<()> {
    // Stored without compression: pictures do not compress, and the disk is then the only limit on
    // speed.
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .large_file(true);
    let mut zip = ZipWriter::new(BufWriter::new(archive));
    zip.start_file(DATABASE, options)?;
    io::copy(&mut File::open(database)?, &mut zip)?;
    for (hash, _) in assets {
        let Some(content) = pool::first_whole(sources, *hash) else {
            tracing::warn!(%hash, "the archive lacks a file that the database references");
            continue;
        };
        zip.start_file(format!("{ASSETS}{hash}"), options)?;
        zip.write_all(&content)?;
    }
    zip.finish()?.flush()
}

/// Imports an archive as a backup. Returns the path of the backup. In a protected folder, a plain
/// database is encrypted.
pub(crate) fn import(
    dir: &Path,
    archive: &Path,
    now: Timestamp,
    keys: Option<&FolderKeys>,
) -> Result<PathBuf, StoreError> {
    let home = Folder::home(dir);
    let choices =
        BackupChoices::named(dir, now).map_err(|error| StoreError::file(error, dir, dir))?;
    let path = home.free_path(now, &choices.origin);
    let failed = |error| StoreError::file(error, &path, dir);
    let members = list(archive).map_err(|detail| refused(archive, detail))?;
    let file = File::open(archive).map_err(failed)?;
    let mut zip = ZipArchive::new(BufReader::new(file))
        .map_err(|error| refused(archive, error.to_string()))?;

    let mut database = files::partial(&home.path).map_err(failed)?;
    unpack(&mut zip, members.database, MAX_DATABASE, &mut database)
        .map_err(|error| broken(error, archive, dir))?;
    let named = named_assets(database.path(), archive, keys)?;
    if cipher::adopt(database.path(), keys)? {
        verify_copy(database.path(), keys)?;
    }

    let pool = AssetFolder::assets(&home.path, keys);
    for (hash, index) in members
        .assets
        .into_iter()
        .filter(|(hash, _)| named.contains(hash))
    {
        let mut content = Vec::new();
        unpack(&mut zip, index, MAX_ASSET, &mut content)
            .map_err(|error| broken(error, archive, dir))?;
        if AssetHash::of(&content) != hash {
            let detail = format!("the file {hash} in it is damaged");
            return Err(refused(archive, detail));
        }
        pool.write(hash, &content).map_err(failed)?;
    }
    let manifest = describe(
        database.path(),
        BackupKind::Imported,
        choices.origin,
        dir,
        keys,
    )?;
    manifest.write(&path, keys).map_err(failed)?;
    files::keep(database, &path).map_err(failed)?;
    home.prune(choices.budget, None, keys).map_err(failed)?;
    Ok(path)
}

/// The files that an unpacked database names.
///
/// # Errors
/// `BadBackup` if the database is damaged or not ours.
fn named_assets(
    database: &Path,
    archive: &Path,
    keys: Option<&FolderKeys>,
) -> Result<HashSet<AssetHash>, StoreError> {
    verify_copy(database, keys).map_err(|error| refused(archive, error.to_string()))?;
    let conn = read_only(database, keys)?;
    if !identity::schema_is_ours(&conn)? {
        return Err(refused(archive, NOT_OUR_TABLES.into()));
    }
    let named = assets_in(&conn)?.into_iter().map(|(hash, _)| hash);
    Ok(named.collect())
}

fn refused(archive: &Path, detail: String) -> StoreError {
    StoreError::BadBackup {
        path: archive.to_owned(),
        detail,
    }
}

/// Indexes of the members in the archive.
struct ArchiveMembers {
    database: usize,
    assets: BTreeMap<AssetHash, usize>,
}

/// Checks every name and size before anything is unpacked.
fn list(archive: &Path) -> Result<ArchiveMembers, String> {
    let file = File::open(archive).map_err(|error| error.to_string())?;
    let mut entries = ZipIterable::try_new(BufReader::new(file), Config::default())
        .map_err(|_| "it is not an archive, or it is damaged".to_owned())?;
    if entries.len() > MAX_MEMBERS {
        return Err(format!("it has more than {MAX_MEMBERS} files"));
    }
    let mut database = None;
    let mut assets = BTreeMap::new();
    for (index, entry) in entries
        .files()
        .map_err(|error| error.to_string())?
        .enumerate()
    {
        let entry = entry.map_err(|error| error.to_string())?;
        if entry.encrypted() || entry.is_symlink() {
            return Err("it contains an encrypted file or a link".into());
        }
        let size = entry.size();
        let packed = entry.compressed_size();
        if size > RATIO_APPLIES_FROM && size / packed.max(1) > MAX_RATIO {
            return Err("a file in it is too large when unpacked".into());
        }
        let name = entry.name().map_err(|error| error.to_string())?;
        let twice = match name.strip_prefix(ASSETS).map(str::parse::<AssetHash>) {
            Some(Ok(hash)) if size <= MAX_ASSET => assets.insert(hash, index).is_some(),
            None if name == DATABASE && size <= MAX_DATABASE => database.replace(index).is_some(),
            _ => return Err("it is not an archive that Inglenook exported".into()),
        };
        if twice {
            return Err("it contains a file twice".into());
        }
    }
    let database =
        database.ok_or_else(|| "it is not an archive that Inglenook exported".to_owned())?;
    Ok(ArchiveMembers { database, assets })
}

/// Copies a member with a size limit, because the size in the directory may be wrong.
fn unpack(
    zip: &mut ZipArchive<BufReader<File>>,
    index: usize,
    limit: u64,
    into: &mut impl Write,
) -> Result<(), io::Error> {
    let member = zip.by_index(index)?;
    let size = member.size().min(limit);
    let written = io::copy(&mut member.take(size + 1), into)?;
    if written == size {
        Ok(())
    } else {
        Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "a file in it has the wrong size",
        ))
    }
}

/// Maps a read error to a fault of the archive or of the disk.
fn broken(error: io::Error, archive: &Path, dir: &Path) -> StoreError {
    match StoreError::file(error, archive, dir) {
        StoreError::Io { source, .. } => refused(archive, source.to_string()),
        other => other,
    }
}
