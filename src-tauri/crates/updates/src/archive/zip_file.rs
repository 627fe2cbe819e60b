//! Unpacks a `.zip` file.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use zip::ZipArchive;

use super::destination::{Destination, MAX_ENTRIES, entry};
use super::{InstallError, damaged, failed};

/// Bits of a mode that make a file executable.
const EXECUTABLE: u32 = 0o111;

pub(super) fn unpack(archive: &Path, mut destination: Destination<'_>) -> Result<(), InstallError> {
    let file = File::open(archive).map_err(|source| failed(archive, source))?;
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(damaged)?;
    if archive.len() > MAX_ENTRIES {
        return Err(damaged("it has too many entries"));
    }
    for index in 0..archive.len() {
        let mut member = archive.by_index(index).map_err(damaged)?;
        let name = member.name().map_err(damaged)?.into_owned();
        if member.encrypted() || member.is_symlink() {
            return Err(entry(&name, "it is neither a file nor a folder"));
        }
        if member.is_dir() {
            destination.add_folder(&name)?;
        } else {
            let executable = member
                .unix_mode()
                .is_some_and(|mode| mode & EXECUTABLE != 0);
            destination.add_file(&name, executable, &mut member)?;
        }
    }
    Ok(())
}
