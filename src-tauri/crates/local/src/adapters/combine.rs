//! Writes the sum of several adapters as one adapter file.
//!
//! An adapter adds `weight * alpha / rank * B * A` to a matrix, or `weight * B * A` without an
//! alpha. In the sum, the rows of all A and the columns of all B stand side by side, and each B is
//! multiplied by its own factor.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use worker::protocol::Adapter;

use super::{CombinedFile, Factor, pair, target};
use crate::gguf::{AdapterHeader, Tensor};

const ALIGNMENT: u64 = 32;
/// `ggml_type` of the written numbers.
const F32: u32 = 0;
const F16: u32 = 1;
const Q8_0: u32 = 8;
const BF16: u32 = 30;
/// `gguf_type` of a text.
const TEXT: u32 = 8;

/// Reason why adapters cannot be combined.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CombineError {
    #[error("{path} cannot be read: {source}")]
    Read { path: String, source: io::Error },
    #[error("their file cannot be written: {0}")]
    Write(#[source] io::Error),
    #[error(
        "the numbers of \"{tensor}\" in {path} are stored in a way that only works for a single adapter"
    )]
    Kind { path: String, tensor: String },
}

/// One adapter to add: its tensor, and the factor of its numbers.
struct Addend<'a> {
    path: &'a str,
    tensor: &'a Tensor,
    scale: f32,
}

/// A tensor of the sum.
struct Sum<'a> {
    name: String,
    shape: [u64; 4],
    /// The dimension along which the addends stand side by side.
    along: usize,
    addends: Vec<Addend<'a>>,
}

impl Sum<'_> {
    fn bytes(&self) -> u64 {
        self.shape.iter().product::<u64>() * 4
    }
}

/// Writes the sum of `adapters`, which were checked against the same model, into `folder`.
///
/// # Errors
/// [`CombineError`]
pub(super) fn combine(
    adapters: &[(&Adapter, AdapterHeader)],
    folder: &Path,
) -> Result<CombinedFile, CombineError> {
    let sums = sums(adapters);
    let (place, file) = CombinedFile::create(folder).map_err(CombineError::Write)?;
    let mut out = BufWriter::with_capacity(1 << 20, file);
    let architecture = adapters
        .iter()
        .map(|(_, header)| header.architecture.as_str())
        .find(|name| !name.is_empty());
    let header = header(&sums, architecture.unwrap_or_default());
    out.write_all(&header).map_err(CombineError::Write)?;
    for sum in &sums {
        write_sum(sum, &mut out)?;
    }
    out.flush().map_err(CombineError::Write)?;
    Ok(place)
}

fn sums<'a>(adapters: &'a [(&Adapter, AdapterHeader)]) -> Vec<Sum<'a>> {
    let names = |(_, header): &'a (&Adapter, AdapterHeader)| {
        header.tensors.iter().filter_map(|one| target(&one.name))
    };
    let targets: BTreeSet<&str> = adapters
        .iter()
        .flat_map(names)
        .map(|(name, _)| name)
        .collect();
    targets
        .into_iter()
        .flat_map(|name| {
            [
                sum_of(adapters, name, Factor::A),
                sum_of(adapters, name, Factor::B),
            ]
        })
        .collect()
}

fn sum_of<'a>(adapters: &'a [(&Adapter, AdapterHeader)], name: &str, factor: Factor) -> Sum<'a> {
    let along = factor.rank_dimension(name);
    let addend = |(adapter, header): &'a (&Adapter, AdapterHeader)| {
        let [Some(a), Some(b)] = pair(header, name) else {
            return None;
        };
        let tensor = &header.tensors[if factor == Factor::A { a } else { b }];
        let rank = header.tensors[b].shape[0] as f32;
        let trained = if header.alpha == 0.0 {
            1.0
        } else {
            header.alpha / rank
        };
        let scale = if factor == Factor::A {
            1.0
        } else {
            adapter.weight * trained
        };
        Some(Addend {
            path: &adapter.path,
            tensor,
            scale,
        })
    };
    let addends: Vec<_> = adapters.iter().filter_map(addend).collect();
    let mut shape = addends.first().map_or([1; 4], |addend| addend.tensor.shape);
    shape[along] = addends
        .iter()
        .map(|addend| addend.tensor.shape[along])
        .sum();
    let ending = if factor == Factor::A {
        "lora_a"
    } else {
        "lora_b"
    };
    Sum {
        name: format!("{name}.{ending}"),
        shape,
        along,
        addends,
    }
}

/// Everything before the tensor data, as `gguf.h` describes it.
fn header(sums: &[Sum<'_>], architecture: &str) -> Vec<u8> {
    let text = |text: &str| [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat();
    let pairs = [
        ("general.architecture", architecture),
        ("general.type", "adapter"),
        ("adapter.type", "lora"),
    ];
    let mut out = [&b"GGUF"[..], &3_u32.to_le_bytes()].concat();
    out.extend((sums.len() as u64).to_le_bytes());
    out.extend((pairs.len() as u64).to_le_bytes());
    for (key, value) in pairs {
        out.extend([text(key), TEXT.to_le_bytes().to_vec(), text(value)].concat());
    }
    let mut at = 0;
    for sum in sums {
        out.extend(text(&sum.name));
        let dimensions = 4 - sum.shape[2..]
            .iter()
            .rev()
            .take_while(|length| **length == 1)
            .count();
        out.extend((dimensions as u32).to_le_bytes());
        sum.shape[..dimensions]
            .iter()
            .for_each(|length| out.extend(length.to_le_bytes()));
        out.extend(F32.to_le_bytes());
        out.extend(u64::to_le_bytes(at));
        at = (at + sum.bytes()).next_multiple_of(ALIGNMENT);
    }
    out.resize(out.len().next_multiple_of(ALIGNMENT as usize), 0);
    out
}

/// Writes the addends side by side. Along the outer dimension that means one after the other, and
/// along the inner one row by row.
fn write_sum(sum: &Sum<'_>, out: &mut impl Write) -> Result<(), CombineError> {
    let numbers: Vec<Vec<f32>> = sum.addends.iter().map(read).collect::<Result<_, _>>()?;
    // Numbers of each addend that stand together.
    let runs: Vec<usize> = sum
        .addends
        .iter()
        .map(|addend| addend.tensor.shape[..=sum.along].iter().product::<u64>() as usize)
        .collect();
    let rounds: u64 = sum.shape[sum.along + 1..].iter().product();
    for round in 0..rounds as usize {
        for (numbers, run) in numbers.iter().zip(&runs) {
            let bytes: Vec<u8> = numbers[round * run..(round + 1) * run]
                .iter()
                .flat_map(|one| one.to_le_bytes())
                .collect();
            out.write_all(&bytes).map_err(CombineError::Write)?;
        }
    }
    let padding = sum.bytes().next_multiple_of(ALIGNMENT) - sum.bytes();
    out.write_all(&vec![0; padding as usize])
        .map_err(CombineError::Write)
}

/// Reads the numbers of an addend, multiplied by its scale.
fn read(addend: &Addend<'_>) -> Result<Vec<f32>, CombineError> {
    let Addend {
        path,
        tensor,
        scale,
    } = addend;
    let bytes = bytes_of(path, tensor).map_err(|source| CombineError::Read {
        path: (*path).to_owned(),
        source,
    })?;
    let kind = || CombineError::Kind {
        path: (*path).to_owned(),
        tensor: tensor.name.clone(),
    };
    let mut numbers: Vec<f32> = match tensor.kind {
        F32 => bytes
            .as_chunks::<4>()
            .0
            .iter()
            .map(|four| f32::from_le_bytes(*four))
            .collect(),
        F16 => bytes
            .as_chunks::<2>()
            .0
            .iter()
            .map(|two| half(u16::from_le_bytes(*two)))
            .collect(),
        BF16 => {
            let whole = |two: &[u8; 2]| f32::from_bits(u32::from(u16::from_le_bytes(*two)) << 16);
            bytes.as_chunks::<2>().0.iter().map(whole).collect()
        }
        Q8_0 => bytes.as_chunks::<34>().0.iter().flat_map(block).collect(),
        _ => return Err(kind()),
    };
    numbers.iter_mut().for_each(|number| *number *= scale);
    Ok(numbers)
}

fn bytes_of(path: &str, tensor: &Tensor) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(tensor.at))?;
    let mut bytes = Vec::new();
    file.take(tensor.bytes).read_to_end(&mut bytes)?;
    // The file was changed after its header was checked.
    if bytes.len() as u64 == tensor.bytes {
        Ok(bytes)
    } else {
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}

/// A block of `Q8_0`: a scale, and 32 signed bytes.
fn block(block: &[u8; 34]) -> impl Iterator<Item = f32> + use<'_> {
    let scale = half(u16::from_le_bytes([block[0], block[1]]));
    block[2..]
        .iter()
        .map(move |byte| f32::from(byte.cast_signed()) * scale)
}

/// A number of 16 bits (IEEE 754 binary16).
fn half(bits: u16) -> f32 {
    let sign = if bits & 0x8000 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (i32::from((bits >> 10) & 0x1f), f32::from(bits & 0x3ff));
    let magnitude = match exponent {
        0 => fraction * 2.0_f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1.0 + fraction / 1024.0) * 2.0_f32.powi(exponent - 15),
    };
    sign * magnitude
}

#[cfg(test)]
mod tests;
