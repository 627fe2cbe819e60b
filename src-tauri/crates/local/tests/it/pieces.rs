//! Compares the SentencePiece tokenizer with the worker on generated vocabularies, like those of
//! Llama 2 and Gemma.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use domain::model::LocalModel;
use domain::prompt::Segment;
use local::CountingMethod;
use tokenizers::Tokenizer;
use tokenizers::models::TrainerWrapper;
use tokenizers::models::bpe::{BPE, BpeTrainer};
use tokenizers::pre_tokenizers::metaspace::{Metaspace, PrependScheme};

use crate::corpus::corpus;
use crate::support::*;
use crate::tokens::difference;

/// GGUF token types.
const NORMAL: i32 = 1;
const UNKNOWN: i32 = 2;
const CONTROL: i32 = 3;
const USER_DEFINED: i32 = 4;
const BYTE: i32 = 6;

/// Vocabulary builder: text, score and type by id.
struct Words(Vec<(String, f32, i32)>);

impl Words {
    /// Builds the special tokens and single bytes, then byte-pair merges of sample text, most
    /// frequent first.
    fn learned(more: &[(&str, i32)]) -> Self {
        let mut words = Self(Vec::new());
        words.add("<unk>", 0.0, UNKNOWN);
        words.add("<s>", 0.0, CONTROL);
        words.add("</s>", 0.0, CONTROL);
        (0..=255_u8).for_each(|byte| words.add(&format!("<0x{byte:02X}>"), 0.0, BYTE));
        more.iter()
            .for_each(|(text, kind)| words.add(text, 0.0, *kind));
        let (merged, letters) = learned();
        for (rank, text) in merged.iter().chain(&letters).enumerate() {
            words.add(text, -(rank as f32), NORMAL);
        }
        words
    }

    fn add(&mut self, text: &str, score: f32, kind: i32) {
        if self.0.iter().all(|(known, ..)| known != text) {
            self.0.push((text.to_owned(), score, kind));
        }
    }
}

/// Returns the merges of byte-pair encoding in order, and the letters that it starts with.
fn learned() -> (Vec<String>, Vec<String>) {
    let mut tokenizer = Tokenizer::new(BPE::default());
    tokenizer.with_pre_tokenizer(Some(Metaspace::new('▁', PrependScheme::Always, true)));
    let trainer = BpeTrainer::builder()
        .show_progress(false)
        .vocab_size(1_500)
        .limit_alphabet(600)
        .build();
    tokenizer
        .train(
            &mut TrainerWrapper::from(trainer),
            corpus(6, 200_000).into_iter(),
        )
        .unwrap();
    let file: serde_json::Value =
        serde_json::from_str(&tokenizer.to_string(false).unwrap()).unwrap();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let pair = |merge: &serde_json::Value| format!("{}{}", text(&merge[0]), text(&merge[1]));
    let merged = file["model"]["merges"]
        .as_array()
        .unwrap()
        .iter()
        .map(pair)
        .collect();
    let vocab: HashMap<String, u32> =
        serde_json::from_value(file["model"]["vocab"].clone()).unwrap();
    let letters: BTreeSet<String> = vocab
        .into_keys()
        .filter(|text| text.chars().count() == 1)
        .collect();
    (merged, letters.into_iter().collect())
}

fn string(text: &str) -> Vec<u8> {
    [&(text.len() as u64).to_le_bytes(), text.as_bytes()].concat()
}

fn pair(key: &str, kind: u32, value: &[u8]) -> Vec<u8> {
    [&string(key), &kind.to_le_bytes()[..], value].concat()
}

fn list(key: &str, kind: u32, items: impl ExactSizeIterator<Item = Vec<u8>>) -> Vec<u8> {
    let mut value = [&kind.to_le_bytes()[..], &(items.len() as u64).to_le_bytes()].concat();
    items.for_each(|item| value.extend(item));
    pair(key, 9, &value)
}

/// Writes a GGUF file of `words` with one unused tensor, because counting loads only the
/// vocabulary.
fn gguf(path: &Path, words: &Words, space_prefix: bool) -> PathBuf {
    let number = |key: &str, number: u32| pair(key, 4, &number.to_le_bytes());
    let pairs = [
        pair("general.architecture", 8, &string("llama")),
        pair("general.name", 8, &string("Tiny")),
        number("llama.context_length", 512),
        number("llama.block_count", 1),
        number("llama.embedding_length", 32),
        number("llama.attention.head_count", 1),
        pair("tokenizer.ggml.model", 8, &string("llama")),
        list(
            "tokenizer.ggml.tokens",
            8,
            words.0.iter().map(|(text, ..)| string(text)),
        ),
        list(
            "tokenizer.ggml.scores",
            6,
            words
                .0
                .iter()
                .map(|(_, score, _)| score.to_le_bytes().to_vec()),
        ),
        list(
            "tokenizer.ggml.token_type",
            5,
            words.0.iter().map(|(.., kind)| kind.to_le_bytes().to_vec()),
        ),
        number("tokenizer.ggml.unknown_token_id", 0),
        number("tokenizer.ggml.bos_token_id", 1),
        number("tokenizer.ggml.eos_token_id", 2),
        pair(
            "tokenizer.ggml.add_space_prefix",
            7,
            &[u8::from(space_prefix)],
        ),
    ];
    let one_row = [
        1_u32.to_le_bytes().to_vec(),
        32_u64.to_le_bytes().to_vec(),
        vec![0; 12],
    ]
    .concat();
    let head = [
        &b"GGUF"[..],
        &3_u32.to_le_bytes(),
        &1_u64.to_le_bytes(),
        &(pairs.len() as u64).to_le_bytes(),
    ]
    .concat();
    let mut bytes = [head, pairs.concat(), string("output_norm.weight"), one_row].concat();
    bytes.resize(bytes.len().next_multiple_of(32) + 128, 0);
    std::fs::write(path, bytes).unwrap();
    path.to_owned()
}

/// Returns each text as contents and as control text.
fn texts() -> Vec<Segment> {
    const ODD: &[&str] = &[
        "",
        " ",
        "   ",
        "\n",
        "\n\n \t",
        " a",
        "a ",
        "a  b   c",
        "▁",
        "▁▁a▁",
        "<s> </s><unk> <0x0A> <mark>a <mark> <<mark>>",
        "[INST] who? [/INST]",
        "e\u{301}\u{200d}\u{feff}\u{ad}\u{e000}",
        "ﷺ 👩‍👩‍👧‍👦 \u{10ffff}",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    ];
    let mixed = corpus(7, 300_000);
    let all = mixed.iter().map(String::as_str).chain(ODD.iter().copied());
    all.flat_map(|text| [plain(text), control(text)]).collect()
}

#[tokio::test]
async fn agrees_with_the_worker_on_llama2_and_gemma() {
    let folder = tempfile::tempdir().unwrap();
    let words = Words::learned(&[("<mark>", CONTROL), ("[INST]", USER_DEFINED)]);
    // Gemma has runs of spaces, and tokens that cross the end of a word.
    let mut over_words = Words::learned(&[("<mark>", USER_DEFINED)]);
    for (score, text) in ["▁▁", "▁▁▁", "▁▁▁▁", "of▁the", "\n\n", "a▁b"]
        .into_iter()
        .enumerate()
    {
        over_words.add(text, -0.5 - score as f32, NORMAL);
    }
    for (name, words, space_prefix) in [
        ("llama2", &words, true),
        ("unprefixed", &words, false),
        ("gemma", &over_words, false),
        ("both", &over_words, true),
    ] {
        let path = gguf(&folder.path().join(name), words, space_prefix);
        let different = difference(&model_at(path.clone()), &texts()).await;
        assert!(different.is_none(), "{name}: {different:?}");

        let model = LocalModel {
            sha256: "0c".into(),
            ..model_at(path)
        };
        let host = host();
        host.count(&model, &texts()[..4]).await.unwrap();
        assert_eq!(
            host.counted_by(&model),
            CountingMethod::ThisProcess,
            "{name}"
        );
    }
}
