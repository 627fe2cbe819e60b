//! Whole files that are sealed if the folder has keys, and plain if not.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::mem;
use std::path::Path;

use protection::{SEALED_MAGIC, SealedName, SealedReader, SealedWriter};

use crate::{FolderKeys, files};

/// Writes a whole file and creates its folder. `plain_name` is bound to the content: a sealed file
/// does not open under another name.
pub(crate) fn write(
    path: &Path,
    plain_name: &str,
    content: &[u8],
    keys: Option<&FolderKeys>,
) -> io::Result<()> {
    let Some(keys) = keys else {
        return files::write(path, content);
    };
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    files::make_private_folder(folder)?;
    let mut file = files::partial(folder)?;
    let name = keys.sealed_name(plain_name);
    let mut sealed = SealedWriter::new(&mut file, keys.files(), &name)?;
    sealed.write_all(content)?;
    sealed.finish()?;
    files::keep(file, path)
}

/// Reads a whole file.
pub(crate) fn read(
    path: &Path,
    plain_name: &str,
    keys: Option<&FolderKeys>,
) -> io::Result<Vec<u8>> {
    match keys {
        Some(keys) => open(path, &keys.sealed_name(plain_name), keys),
        None => fs::read(path),
    }
}

/// Reads a sealed file whose plain name is not known.
pub(crate) fn open(path: &Path, name: &SealedName, keys: &FolderKeys) -> io::Result<Vec<u8>> {
    let mut file = SealedReader::open(File::open(path)?, keys.files(), name)?;
    let mut content = file.read_all()?;
    Ok(mem::take(&mut *content))
}

/// Whether a file begins like a sealed one. An unreadable file does not.
pub(crate) fn is_sealed(path: &Path) -> bool {
    let mut beginning = [0; SEALED_MAGIC.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut beginning));
    read.is_ok() && beginning == *SEALED_MAGIC
}
