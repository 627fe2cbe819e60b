//! Models in several files, as `llama-gguf-split` of llama.cpp writes them:
//! `NAME-00001-of-00003.gguf` and so on. The first file has all settings; llama.cpp finds the
//! others by their names.

use std::io::{Read, Seek};
use std::path::{Path, PathBuf};

use provider::hub::names::split_part;

use super::error::{GgufError, GgufFault};
use super::head::{MAX_PAIRS, MAX_TENSORS, begin, open};
use super::other_purpose::OtherPurpose;
use super::reader::GgufReader;
use super::tensor::Tensor;
use super::value::Metadata;
use super::{purpose, tensor};

/// Maximum number of parts, as the number in a name has five digits.
const MAX_PARTS: u64 = 99_999;

/// Returns all files of the model whose first file is `path`: only `path` unless its name is that
/// of a first part.
pub fn parts_of(path: &Path) -> Vec<PathBuf> {
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    match split_part(name) {
        Some(part) if part.number == 1 => (1..=part.count)
            .map(|number| path.with_file_name(part_name(part.stem, number, part.count)))
            .collect(),
        _ => vec![path.to_owned()],
    }
}

fn part_name(stem: &str, number: u32, count: u32) -> String {
    format!("{stem}-{number:05}-of-{count:05}.gguf")
}

/// Checks the other parts beside the first one, and returns their tensors.
pub(super) fn other_parts(path: &Path, count: u64) -> Result<Vec<Tensor>, GgufError> {
    let fault = |path: &Path, fault| GgufError {
        path: path.to_owned(),
        fault,
    };
    if count > MAX_PARTS {
        return Err(fault(
            path,
            GgufFault::TooMany {
                what: "parts",
                count,
                limit: MAX_PARTS,
            },
        ));
    }
    let paths = parts_of(path);
    if paths.len() as u64 != count {
        // llama.cpp finds the parts by their names, so a renamed file cannot be loaded.
        return Err(fault(
            path,
            GgufFault::MissingPart(format!("a file named NAME-00002-of-{count:05}.gguf")),
        ));
    }
    let mut tensors = Vec::new();
    for (number, part) in (2..).zip(&paths[1..]) {
        if !part.exists() {
            let name = part
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            return Err(fault(path, GgufFault::MissingPart(name)));
        }
        let read =
            || open(part).and_then(|(file, length)| parse_part(file, length, (number, count)));
        tensors.extend(read().map_err(|found| fault(part, found))?);
    }
    Ok(tensors)
}

/// Returns the tensors of a part.
fn parse_part(
    source: impl Read + Seek,
    length: u64,
    expected: (u64, u64),
) -> Result<Vec<Tensor>, GgufFault> {
    let mut reader = GgufReader::new(source, length);
    begin(&mut reader)?;
    let tensors = reader.count("tensors", MAX_TENSORS)?;
    let pairs = reader.count("settings", MAX_PAIRS)?;
    let metadata = Metadata::read(&mut reader, pairs)?;
    match purpose::of_settings(&metadata) {
        Some(OtherPurpose::Part { number, count }) if (number, count) == expected => {}
        Some(purpose) => return Err(GgufFault::Other(purpose)),
        None => {
            return Err(GgufFault::NotGguf(
                "it is not the part that its name says".to_owned(),
            ));
        }
    }
    tensor::check_all(&mut reader, tensors, metadata.alignment()?)
}
