use std::path::PathBuf;

use proptest::prelude::*;

use super::*;
use crate::gguf;

/// Numbers of a tensor with these lengths.
type Numbers = (&'static str, [u64; 4], Vec<f32>);

fn text(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes()[..], text.as_bytes()].concat()
}

/// Writes an adapter with numbers of 32 bits.
fn write(path: &Path, alpha: f32, tensors: &[Numbers]) -> PathBuf {
    let mut out = [&b"GGUF"[..], &3_u32.to_le_bytes()].concat();
    out.extend((tensors.len() as u64).to_le_bytes());
    out.extend(4_u64.to_le_bytes());
    for (key, value) in [
        ("general.architecture", "llama"),
        ("general.type", "adapter"),
        ("adapter.type", "lora"),
    ] {
        out.extend([text(key), TEXT.to_le_bytes().to_vec(), text(value)].concat());
    }
    out.extend(
        [
            text("adapter.lora.alpha"),
            6_u32.to_le_bytes().to_vec(),
            alpha.to_le_bytes().to_vec(),
        ]
        .concat(),
    );
    let mut at = 0_u64;
    for (name, shape, _) in tensors {
        out.extend(text(name));
        out.extend(4_u32.to_le_bytes());
        shape
            .iter()
            .for_each(|length| out.extend(length.to_le_bytes()));
        out.extend([F32.to_le_bytes().to_vec(), at.to_le_bytes().to_vec()].concat());
        at += (shape.iter().product::<u64>() * 4).next_multiple_of(32);
    }
    for (.., numbers) in tensors {
        out.resize(out.len().next_multiple_of(32), 0);
        numbers
            .iter()
            .for_each(|number| out.extend(number.to_le_bytes()));
    }
    out.resize(out.len().next_multiple_of(32), 0);
    std::fs::write(path, out).unwrap();
    path.to_owned()
}

fn numbers(path: &Path, name: &str) -> Vec<f32> {
    let header = gguf::read_adapter(path).unwrap();
    let tensor = header
        .tensors
        .iter()
        .find(|tensor| tensor.name == name)
        .unwrap();
    read(&Addend {
        path: path.to_str().unwrap(),
        tensor,
        scale: 1.0,
    })
    .unwrap()
}

/// B times A of one layer, which has `rows` columns in A.
fn product(a: &[f32], b: &[f32], rank: usize) -> Vec<f32> {
    let (columns, rows) = (a.len() / rank, b.len() / rank);
    let cell = |row: usize, column: usize| {
        (0..rank)
            .map(|r| b[row * rank + r] * a[r * columns + column])
            .sum()
    };
    (0..rows)
        .flat_map(|row| (0..columns).map(move |column| cell(row, column)))
        .collect()
}

fn ready(path: &Path, weight: f32) -> (Adapter, AdapterHeader) {
    (
        Adapter {
            path: path.display().to_string(),
            weight,
        },
        gguf::read_adapter(path).unwrap(),
    )
}

fn combined(adapters: &[(Adapter, AdapterHeader)], folder: &Path) -> CombinedFile {
    let borrowed: Vec<_> = adapters
        .iter()
        .map(|(adapter, header)| (adapter, header.clone()))
        .collect();
    combine(&borrowed, folder).unwrap()
}

const A: &str = "blk.0.attn_q.weight.lora_a";
const B: &str = "blk.0.attn_q.weight.lora_b";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn the_sum_has_the_effect_of_all(
        ranks in (1_usize..4, 1_usize..4), weights in (-2.0_f32..2.0, 0.1_f32..2.0), seed in 0_u64..1_000,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let made = |rank: usize, salt: u64| {
            let number = |at: usize| ((seed + salt * 7 + at as u64 * 31) % 17) as f32 / 8.0 - 1.0;
            let a: Vec<f32> = (0..rank * 5).map(number).collect();
            let b: Vec<f32> = (0..rank * 3).map(|at| number(at + 100)).collect();
            (a, b)
        };
        let (first, second) = (made(ranks.0, 1), made(ranks.1, 2));
        let file = |name: &str, rank: usize, alpha, (a, b): &(Vec<f32>, Vec<f32>)| {
            let tensors = [(A, [5, rank as u64, 1, 1], a.clone()), (B, [rank as u64, 3, 1, 1], b.clone())];
            write(&dir.path().join(name), alpha, &tensors)
        };
        let paths = [file("one.gguf", ranks.0, 16.0, &first), file("two.gguf", ranks.1, 0.0, &second)];
        let sum = combined(&[ready(&paths[0], weights.0), ready(&paths[1], weights.1)], dir.path());
        let rank = ranks.0 + ranks.1;
        let both = product(&numbers(sum.path(), A), &numbers(sum.path(), B), rank);
        let one = product(&first.0, &first.1, ranks.0);
        let two = product(&second.0, &second.1, ranks.1);
        for ((both, one), two) in both.iter().zip(one).zip(two) {
            let expected = one * weights.0 * 16.0 / ranks.0 as f32 + two * weights.1;
            prop_assert!((both - expected).abs() < 1e-3, "{} {}", both, expected);
        }
    }
}

#[test]
fn adapters_of_different_tensors_are_both_kept() {
    let dir = tempfile::tempdir().unwrap();
    let other = ["blk.1.ffn_up.weight.lora_a", "blk.1.ffn_up.weight.lora_b"];
    let one = write(
        &dir.path().join("a"),
        0.0,
        &[
            (A, [2, 1, 1, 1], vec![1.0, 2.0]),
            (B, [1, 1, 1, 1], vec![3.0]),
        ],
    );
    let tensors = [
        (other[0], [1, 1, 1, 1], vec![4.0]),
        (other[1], [1, 2, 1, 1], vec![5.0, 6.0]),
    ];
    let two = write(&dir.path().join("b"), 0.0, &tensors);
    let sum = combined(&[ready(&one, 0.5), ready(&two, 2.0)], dir.path());
    assert_eq!(
        (numbers(sum.path(), A), numbers(sum.path(), B)),
        (vec![1.0, 2.0], vec![1.5])
    );
    assert_eq!(
        (numbers(sum.path(), other[0]), numbers(sum.path(), other[1])),
        (vec![4.0], vec![10.0, 12.0])
    );
    let place = sum.path().to_owned();
    drop(sum);
    assert!(!place.exists(), "the file is gone with its owner");
}

#[test]
fn factors_of_token_embeddings_stand_the_other_way_round() {
    let dir = tempfile::tempdir().unwrap();
    let [a, b] = ["token_embd.weight.lora_a", "token_embd.weight.lora_b"];
    let file = |name: &str, at: f32| {
        let tensors = [
            (a, [1, 3, 1, 1], vec![at, at + 1.0, at + 2.0]),
            (b, [1, 2, 1, 1], vec![at, at]),
        ];
        write(&dir.path().join(name), 0.0, &tensors)
    };
    let sum = combined(
        &[ready(&file("a", 1.0), 1.0), ready(&file("b", 10.0), 1.0)],
        dir.path(),
    );
    let header = gguf::read_adapter(sum.path()).unwrap();
    assert!(
        header.tensors.iter().all(|tensor| tensor.shape[0] == 2),
        "{header:?}"
    );
    assert_eq!(numbers(sum.path(), a), [1.0, 10.0, 2.0, 11.0, 3.0, 12.0]);
}

#[test]
fn reads_every_kind_of_number() {
    for (bits, number) in [
        (0x3c00, 1.0),
        (0xc000, -2.0),
        (0x3555, 0.333_251_95),
        (0x0001, 5.960_464_5e-8),
        (0x7bff, 65_504.0),
    ] {
        assert_eq!(half(bits), number);
    }
    assert!(half(0x7c00).is_infinite() && half(0x7e00).is_nan());
    let mut bytes = [0; 34];
    (bytes[0], bytes[1], bytes[2], bytes[3]) = (0x00, 0x38, 4, 0xfc);
    let numbers: Vec<f32> = block(&bytes).collect();
    assert_eq!((numbers.len(), numbers[0], numbers[1]), (32, 2.0, -2.0));
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_shrank_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let path = write(
        &dir.path().join("a"),
        0.0,
        &[
            (A, [2, 1, 1, 1], vec![1.0, 2.0]),
            (B, [1, 1, 1, 1], vec![3.0]),
        ],
    );
    let both = [ready(&path, 1.0), ready(&path, 2.0)];
    std::fs::write(&path, "GGUF").unwrap();
    let borrowed: Vec<_> = both
        .iter()
        .map(|(adapter, header)| (adapter, header.clone()))
        .collect();
    assert!(matches!(
        combine(&borrowed, dir.path()),
        Err(CombineError::Read { .. })
    ));
    let left = std::fs::read_dir(dir.path()).unwrap().count();
    assert_eq!(left, 1, "the unfinished file is deleted");
}
