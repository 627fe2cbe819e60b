//! Unpacks a `.tar.zst` file.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use ruzstd::decoding::StreamingDecoder;

use super::destination::{Destination, entry};
use super::{InstallError, damaged, failed};

/// Bits of a mode that make a file executable.
const EXECUTABLE: u32 = 0o111;

pub(super) fn unpack(archive: &Path, mut destination: Destination<'_>) -> Result<(), InstallError> {
    let file = File::open(archive).map_err(|source| failed(archive, source))?;
    let decoder = StreamingDecoder::new(BufReader::new(file)).map_err(damaged)?;
    let mut archive = tar::Archive::new(decoder);
    for member in archive.entries().map_err(damaged)? {
        let mut member = member.map_err(damaged)?;
        let name = String::from_utf8(member.path_bytes().into_owned())
            .map_err(|_| damaged("the name of an entry is not UTF-8"))?;
        let kind = member.header().entry_type();
        if kind.is_dir() {
            destination.add_folder(&name)?;
        } else if kind.is_file() {
            let mode = member.header().mode().map_err(damaged)?;
            destination.add_file(&name, mode & EXECUTABLE != 0, &mut member)?;
        } else {
            return Err(entry(&name, "it is neither a file nor a folder"));
        }
    }
    Ok(())
}
