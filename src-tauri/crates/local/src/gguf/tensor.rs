//! Checks the list of tensors: each must lie inside the file.

use std::collections::HashSet;
use std::io::{Read, Seek};

use super::error::GgufFault;
use super::reader::GgufReader;

/// `GGML_MAX_NAME` is 64, including the terminating zero.
const MAX_NAME: u64 = 63;
const MAX_DIMENSIONS: usize = 4;

/// A tensor whose data lies inside its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tensor {
    pub(crate) name: String,
    /// Lengths of the dimensions, the innermost first; 1 for those that it does not have.
    pub(crate) shape: [u64; MAX_DIMENSIONS],
    /// Its `ggml_type`.
    pub(crate) kind: u32,
    /// Position and length of its data in the file, in bytes.
    pub(crate) at: u64,
    pub(crate) bytes: u64,
    values: u64,
}

/// Number of values in all tensors.
pub(super) fn values(tensors: &[Tensor]) -> u64 {
    tensors
        .iter()
        .fold(0, |sum, tensor| sum.saturating_add(tensor.values))
}

/// Bytes of the experts of a mixture, of which each token uses only some. The names are those of
/// `LLM_TENSOR_FFN_GATE_EXPS` and its neighbours in `llama-arch.cpp`.
pub(super) fn expert_bytes(tensors: &[Tensor]) -> u64 {
    let of_experts = |name: &str| {
        name.contains(".ffn_") && (name.contains("_exps.") || name.contains("_chexps."))
    };
    let experts = tensors.iter().filter(|tensor| of_experts(&tensor.name));
    experts.fold(0, |sum, tensor| sum.saturating_add(tensor.bytes))
}

/// Reads `count` tensor descriptions and checks that the file contains their data.
pub(super) fn check_all<R: Read + Seek>(
    reader: &mut GgufReader<R>,
    count: u64,
    alignment: u64,
) -> Result<Vec<Tensor>, GgufFault> {
    if count == 0 {
        return Err(GgufFault::NoTensors);
    }
    reader.begin("list of tensors");
    let (mut names, mut tensors) = (HashSet::new(), Vec::new());
    for _ in 0..count {
        let name = name(reader)?;
        let fault = |why| GgufFault::Tensor {
            name: name.clone(),
            why,
        };
        tensors.push(check(reader, name.clone(), alignment)?.map_err(fault)?);
        if !names.insert(name.clone()) {
            return Err(fault("occurs twice"));
        }
    }
    let too_large = || GgufFault::CutData {
        have: reader.length(),
        need: u64::MAX,
    };
    let start = reader
        .at()
        .checked_next_multiple_of(alignment)
        .ok_or_else(too_large)?;
    let mut need = start;
    for tensor in &mut tensors {
        tensor.at = start.checked_add(tensor.at).ok_or_else(too_large)?;
        need = need.max(tensor.at.checked_add(tensor.bytes).ok_or_else(too_large)?);
    }
    if reader.length() < need {
        return Err(GgufFault::CutData {
            have: reader.length(),
            need,
        });
    }
    Ok(tensors)
}

fn name<R: Read + Seek>(reader: &mut GgufReader<R>) -> Result<String, GgufFault> {
    let limit = GgufFault::TooMany {
        what: "bytes in a tensor's name",
        count: MAX_NAME + 1,
        limit: MAX_NAME,
    };
    reader.string(MAX_NAME)?.ok_or(limit)
}

/// Reads one tensor, whose position counts from the start of all tensor data. The inner error
/// describes a fault of the tensor itself.
fn check<R: Read + Seek>(
    reader: &mut GgufReader<R>,
    name: String,
    alignment: u64,
) -> Result<Result<Tensor, &'static str>, GgufFault> {
    let dimensions = reader.u32()? as usize;
    if dimensions > MAX_DIMENSIONS {
        return Ok(Err("has more than four dimensions"));
    }
    let mut shape = [1; MAX_DIMENSIONS];
    for length in &mut shape[..dimensions] {
        *length = reader.u64()?;
    }
    let kind = reader.u32()?;
    let at = reader.u64()?;
    Ok(
        extent(shape, kind, at, alignment).map(|(bytes, values)| Tensor {
            name,
            shape,
            kind,
            at,
            bytes,
            values,
        }),
    )
}

/// Returns the bytes and the number of values.
fn extent(
    shape: [u64; 4],
    kind: u32,
    offset: u64,
    alignment: u64,
) -> Result<(u64, u64), &'static str> {
    const TOO_LARGE: &str = "is larger than any file";
    let (block, bytes) = block(kind).ok_or("has a type that this version does not support")?;
    if !shape[0].is_multiple_of(block) {
        return Err("has rows that are not a multiple of its block size");
    }
    if !offset.is_multiple_of(alignment) {
        return Err("is not aligned");
    }
    let values = shape
        .iter()
        .try_fold(1u64, |product, length| product.checked_mul(*length));
    let values = values
        .filter(|values| i64::try_from(*values).is_ok())
        .ok_or(TOO_LARGE)?;
    let bytes = (values / block)
        .checked_mul(bytes)
        .filter(|size| size.checked_add(offset).is_some());
    Ok((bytes.ok_or(TOO_LARGE)?, values))
}

/// Returns the values and the bytes per block of a `ggml_type`.
fn block(kind: u32) -> Option<(u64, u64)> {
    Some(match kind {
        0 | 26 => (1, 4),
        1 | 25 | 30 => (1, 2),
        24 => (1, 1),
        27 | 28 => (1, 8),
        2 | 20 => (32, 18),
        3 => (32, 20),
        6 => (32, 22),
        7 => (32, 24),
        8 => (32, 34),
        9 => (32, 36),
        10 => (256, 84),
        11 | 21 => (256, 110),
        12 => (256, 144),
        13 => (256, 176),
        14 => (256, 210),
        15 => (256, 292),
        16 | 35 => (256, 66),
        17 => (256, 74),
        18 => (256, 98),
        19 => (256, 50),
        22 => (256, 82),
        23 => (256, 136),
        29 => (256, 56),
        34 => (256, 54),
        39 => (32, 17),
        40 => (64, 36),
        41 => (128, 18),
        42 => (64, 18),
        _ => return None,
    })
}
