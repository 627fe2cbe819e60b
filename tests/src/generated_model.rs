//! Model files for benches, made from the header of a real model: tokenizer and chat template stay,
//! weights do not.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

const ALIGNMENT: usize = 32;
const TYPE_U32: u32 = 4;
const TYPE_TEXT: u32 = 8;
const TYPE_ARRAY: u32 = 9;
const F32: u32 = 0;
const Q8_0: u32 = 8;

/// The header of a GGUF file.
struct Header<'f> {
    pairs: u64,
    keys: &'f [u8],
    tensors: Vec<Tensor>,
}

struct Tensor {
    name: String,
    dimensions: Vec<u64>,
    kind: u32,
    /// From the start of all data, in bytes.
    offset: usize,
}

/// Writes a Llama model of 1.0 GB with random weights in Q8_0, with the tokenizer of the model at
/// `from`.
///
/// # Panics
/// The file is no Llama model, or the disk is full.
pub fn write_large(from: &Path, to: &Path) {
    const WIDTH: u64 = 2_048;
    const HIDDEN: u64 = 5_632;
    const LAYERS: u32 = 20;
    const HEADS: u32 = 32;
    const KV_HEADS: u32 = 4;
    const KV_WIDTH: u64 = WIDTH / HEADS as u64 * KV_HEADS as u64;

    let file = std::fs::read(from).expect("the model is read");
    let header = Header::of(&file);
    let vocabulary = header
        .tensors
        .iter()
        .find(|tensor| tensor.name == "token_embd.weight")
        .expect("tokens")
        .dimensions[1];
    let mut keys = header.keys.to_vec();
    for (key, value) in [
        ("llama.embedding_length", WIDTH as u32),
        ("llama.feed_forward_length", HIDDEN as u32),
        ("llama.block_count", LAYERS),
        ("llama.attention.head_count", HEADS),
        ("llama.attention.head_count_kv", KV_HEADS),
    ] {
        set(&mut keys, key, value);
    }
    let mut shapes = vec![
        (
            "token_embd.weight".to_owned(),
            vec![WIDTH, vocabulary],
            Q8_0,
        ),
        ("output_norm.weight".to_owned(), vec![WIDTH], F32),
    ];
    for layer in 0..LAYERS {
        let named = |name: &str| format!("blk.{layer}.{name}.weight");
        shapes.extend([
            (named("attn_norm"), vec![WIDTH], F32),
            (named("ffn_norm"), vec![WIDTH], F32),
        ]);
        for (name, inner, outer) in [
            ("attn_q", WIDTH, WIDTH),
            ("attn_k", WIDTH, KV_WIDTH),
            ("attn_v", WIDTH, KV_WIDTH),
            ("attn_output", WIDTH, WIDTH),
            ("ffn_gate", WIDTH, HIDDEN),
            ("ffn_up", WIDTH, HIDDEN),
            ("ffn_down", HIDDEN, WIDTH),
        ] {
            shapes.push((named(name), vec![inner, outer], Q8_0));
        }
    }
    let mut offset = 0;
    let tensors: Vec<Tensor> = shapes
        .into_iter()
        .map(|(name, dimensions, kind)| {
            let tensor = Tensor {
                name,
                dimensions,
                kind,
                offset,
            };
            offset += tensor.bytes().next_multiple_of(ALIGNMENT);
            tensor
        })
        .collect();
    let mut out = BufWriter::with_capacity(1 << 20, File::create(to).expect("a file"));
    write_header(&mut out, header.pairs, &keys, &tensors);
    let mut random = 0x1234_5678_9abc_def1;
    for tensor in &tensors {
        let mut data = tensor.random(&mut random);
        data.resize(data.len().next_multiple_of(ALIGNMENT), 0);
        out.write_all(&data).expect("the data is written");
    }
    out.flush().expect("the file is written");
}

impl Tensor {
    fn values(&self) -> usize {
        self.dimensions.iter().product::<u64>() as usize
    }

    fn bytes(&self) -> usize {
        if self.kind == F32 {
            self.values() * 4
        } else {
            self.values() / 32 * 34
        }
    }

    /// Ones for a norm; else random blocks of Q8_0 with a deviation of 0.02.
    fn random(&self, state: &mut u64) -> Vec<u8> {
        /// 0.0003 as f16.
        const SCALE: [u8; 2] = 0x0cea_u16.to_le_bytes();
        if self.kind == F32 {
            return 1.0_f32.to_le_bytes().repeat(self.values());
        }
        let mut data = Vec::with_capacity(self.bytes());
        for _ in 0..self.values() / 32 {
            data.extend_from_slice(&SCALE);
            for _ in 0..4 {
                *state ^= *state << 13;
                *state ^= *state >> 7;
                *state ^= *state << 17;
                data.extend_from_slice(&state.to_le_bytes());
            }
        }
        data
    }
}

impl<'f> Header<'f> {
    fn of(file: &'f [u8]) -> Self {
        assert_eq!(&file[..4], b"GGUF", "a GGUF file");
        let mut at = 8;
        let (count, pairs) = (number(file, &mut at), number(file, &mut at));
        let start = at;
        for _ in 0..pairs {
            skip_text(file, &mut at);
            let kind = word(file, &mut at);
            skip_value(file, &mut at, kind);
        }
        let keys = &file[start..at];
        let tensors = (0..count).map(|_| tensor(file, &mut at)).collect();
        Self {
            pairs,
            keys,
            tensors,
        }
    }
}

fn tensor(file: &[u8], at: &mut usize) -> Tensor {
    let start = *at + 8;
    skip_text(file, at);
    let name = String::from_utf8_lossy(&file[start..*at]).into_owned();
    let dimensions = (0..word(file, at)).map(|_| number(file, at)).collect();
    let kind = word(file, at);
    Tensor {
        name,
        dimensions,
        kind,
        offset: number(file, at) as usize,
    }
}

fn word(file: &[u8], at: &mut usize) -> u32 {
    *at += 4;
    u32::from_le_bytes(file[*at - 4..*at].try_into().expect("four bytes"))
}

fn number(file: &[u8], at: &mut usize) -> u64 {
    *at += 8;
    u64::from_le_bytes(file[*at - 8..*at].try_into().expect("eight bytes"))
}

fn skip_text(file: &[u8], at: &mut usize) {
    let length = number(file, at) as usize;
    *at += length;
}

fn skip_value(file: &[u8], at: &mut usize, kind: u32) {
    match kind {
        TYPE_TEXT => skip_text(file, at),
        TYPE_ARRAY => {
            let (inner, count) = (word(file, at), number(file, at));
            (0..count).for_each(|_| skip_value(file, at, inner));
        }
        0 | 1 | 7 => *at += 1,
        2 | 3 => *at += 2,
        4..=6 => *at += 4,
        _ => *at += 8,
    }
}

/// Sets the whole number `key`.
fn set(keys: &mut [u8], key: &str, value: u32) {
    let wanted = [key.as_bytes(), &TYPE_U32.to_le_bytes()].concat();
    let found = keys
        .windows(wanted.len())
        .position(|window| window == wanted);
    let at = found.unwrap_or_else(|| panic!("the model has a {key}")) + wanted.len();
    keys[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

fn write_header(out: &mut impl Write, pairs: u64, keys: &[u8], tensors: &[Tensor]) {
    let mut head = [&b"GGUF"[..], &3_u32.to_le_bytes()].concat();
    head.extend((tensors.len() as u64).to_le_bytes());
    head.extend(pairs.to_le_bytes());
    head.extend_from_slice(keys);
    for tensor in tensors {
        head.extend((tensor.name.len() as u64).to_le_bytes());
        head.extend_from_slice(tensor.name.as_bytes());
        head.extend((tensor.dimensions.len() as u32).to_le_bytes());
        head.extend(
            tensor
                .dimensions
                .iter()
                .flat_map(|length| length.to_le_bytes()),
        );
        head.extend(tensor.kind.to_le_bytes());
        head.extend((tensor.offset as u64).to_le_bytes());
    }
    head.resize(head.len().next_multiple_of(ALIGNMENT), 0);
    out.write_all(&head).expect("the header is written");
}
