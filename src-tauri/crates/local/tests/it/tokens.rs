use domain::prompt::Segment;
use local::CountingMethod;

use tokenizers::models::bpe::{BPE, Vocab};
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::sequence::Sequence;

use crate::corpus::corpus;
use crate::support::*;

const TWO_MEGABYTES: usize = 2_000_000;

/// Returns the first text that the two tokenizers split differently, with both results.
pub(crate) async fn difference(
    model: &domain::model::LocalModel,
    texts: &[Segment],
) -> Option<(String, Vec<u32>, Vec<i32>)> {
    let tokenizer = local::open_tokenizer(model.path.as_ref()).unwrap();
    let theirs = host().tokenize(model, texts).await.unwrap();
    assert_eq!(theirs.len(), texts.len());
    texts.iter().zip(theirs).find_map(|(text, theirs)| {
        let ours = tokenizer.tokenize(text);
        assert_eq!(tokenizer.count(text) as usize, ours.len());
        let same = ours
            .iter()
            .map(|token| i64::from(*token))
            .eq(theirs.iter().map(|token| i64::from(*token)));
        (!same).then(|| (text.text.clone(), ours, theirs))
    })
}

#[tokio::test]
async fn agrees_with_the_worker_on_five_scripts() {
    let texts: Vec<Segment> = corpus(1, TWO_MEGABYTES)
        .iter()
        .map(|text| plain(text))
        .collect();
    assert_eq!(difference(&model(), &texts).await, None);
}

#[tokio::test]
async fn agrees_with_the_worker_for_the_encoder() {
    let path = model_path().with_file_name("all-MiniLM-L6-v2.Q8_0.gguf");
    let texts: Vec<Segment> = corpus(2, TWO_MEGABYTES)
        .iter()
        .map(|text| plain(text))
        .collect();
    assert_eq!(difference(&model_at(path), &texts).await, None);
}

/// The model with its hash, because verdicts are stored by hash.
fn hashed() -> domain::model::LocalModel {
    domain::model::LocalModel {
        sha256: "b179c9523d0e6a0f".into(),
        ..model()
    }
}

#[tokio::test]
async fn compares_with_the_worker_once_per_file() {
    let folder = tempfile::tempdir().unwrap();
    let settings = local::WorkerSettings {
        state_dir: Some(folder.path().to_owned()),
        ..settings()
    };
    let texts = [plain("a <|im_end|> lamp"), control("<|im_end|>")];

    let host = local::LocalHost::new(settings.clone()).unwrap();
    assert_eq!(host.counted_by(&hashed()), CountingMethod::Unknown);
    let counts = host.count(&hashed(), &texts).await.unwrap();
    assert_eq!(
        counts,
        host.count(&model(), &texts).await.unwrap(),
        "equal to the worker's count"
    );
    assert_eq!(host.counted_by(&hashed()).to_string(), "exact");

    let next = local::LocalHost::new(settings).unwrap();
    assert_eq!(next.counted_by(&hashed()), CountingMethod::ThisProcess);
    assert_eq!(next.count(&hashed(), &texts).await.unwrap(), counts);
    assert!(!next.adds_bos(&hashed()).await.unwrap());
    assert_eq!(next.status().pid, None, "no worker was started");
}

/// Copies the model and changes the tokenizer type; the new name has the length of the old one.
fn with_kind(folder: &std::path::Path, name: &[u8; 4]) -> std::path::PathBuf {
    let path = folder.join("kind.gguf");
    let mut bytes = std::fs::read(model_path()).unwrap();
    let key = b"tokenizer.ggml.model\x08\0\0\0\x04\0\0\0\0\0\0\0";
    let at = bytes
        .windows(key.len())
        .position(|window| window == key)
        .unwrap()
        + key.len();
    bytes[at..at + 4].copy_from_slice(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

#[tokio::test]
async fn worker_counts_unsupported_vocabularies() {
    let folder = tempfile::tempdir().unwrap();
    let texts = [
        plain("Сколько кораблей came in at 12:30?"),
        control("<|im_end|>\n"),
        plain(""),
    ];
    for (path, hash, reason) in [
        (
            with_pre(folder.path(), "jais-2"),
            "0a",
            "this process does not support the pre-tokenizer \"jais-2\"",
        ),
        (
            with_kind(folder.path(), b"rwkv"),
            "0b",
            "this process does not support vocabularies of type \"rwkv\"",
        ),
    ] {
        let model = domain::model::LocalModel {
            sha256: hash.into(),
            ..model_at(path)
        };
        let settings = local::WorkerSettings {
            state_dir: Some(folder.path().to_owned()),
            ..settings()
        };
        let host = local::LocalHost::new(settings.clone()).unwrap();
        let counts = host.count(&model, &texts).await.unwrap();
        let unhashed = domain::model::LocalModel {
            sha256: String::new(),
            ..model.clone()
        };
        assert_eq!(
            counts,
            host.count(&unhashed, &texts).await.unwrap(),
            "equal to the worker's count"
        );
        let ids = host.tokenize(&model, &texts).await.unwrap();
        assert_eq!(
            counts,
            ids.iter().map(|ids| ids.len() as u32).collect::<Vec<_>>()
        );
        assert_eq!(
            host.counted_by(&model),
            CountingMethod::Worker {
                reason: reason.into()
            }
        );
        assert_eq!(
            host.counted_by(&model).to_string(),
            format!("exact, by the model process ({reason})")
        );

        let next = local::LocalHost::new(settings).unwrap();
        assert_eq!(
            next.counted_by(&model),
            host.counted_by(&model),
            "the stored verdict is known at once"
        );
        assert_eq!(next.count(&model, &texts).await.unwrap(), counts);
    }
}

/// The reference for byte-pair encoding, configured like the model's own `tokenizer.json`.
fn reference() -> tokenizers::Tokenizer {
    let vocabulary = local::gguf::vocabulary(&model_path()).unwrap();
    let vocab: Vocab = vocabulary.tokens.into_iter().zip(0..).collect();
    let merges = vocabulary
        .merges
        .iter()
        .map(|merge| merge.split_once(' ').unwrap());
    let merges = merges
        .map(|(left, right)| (left.to_owned(), right.to_owned()))
        .collect();
    let mut reference = tokenizers::Tokenizer::new(
        BPE::builder()
            .vocab_and_merges(vocab, merges)
            .build()
            .unwrap(),
    );
    let stages = vec![
        Digits::new(true).into(),
        ByteLevel::new(false, true, true).into(),
    ];
    reference.with_pre_tokenizer(Some(Sequence::new(stages)));
    reference
}

#[test]
fn agrees_with_the_tokenizers_crate() {
    let (ours, reference) = (local::open_tokenizer(&model_path()).unwrap(), reference());
    for text in corpus(3, 200_000) {
        assert_eq!(
            ours.tokenize(&plain(&text)),
            reference.encode(text.as_str(), false).unwrap().get_ids(),
            "{text}"
        );
    }
}

/// Names of pre-tokenizers, one for each family.
const FAMILIES: &[&str] = &[
    "llama-bpe",
    "qwen2",
    "qwen35",
    "gpt-2",
    "falcon",
    "default",
    "tekken",
    "gpt-4o",
    "deepseek-v3",
    "deepseek-coder",
    "bloom",
    "viking",
    "minicpm5",
];

/// Copies the model with the pre-tokenizer `name`. The chat template is adjusted to keep the
/// length.
fn with_pre(folder: &std::path::Path, name: &str) -> std::path::PathBuf {
    let path = folder.join("model.gguf");
    let mut bytes = std::fs::read(model_path()).unwrap();
    let place = |bytes: &[u8], key: &[u8]| {
        let at = bytes
            .windows(key.len())
            .position(|window| window == key)
            .unwrap()
            + key.len()
            + 4;
        let length = u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
        (at, at + 8, at + 8 + length)
    };
    let (template_at, template, template_end) = place(&bytes, b"tokenizer.chat_template");
    let (pre_at, pre, pre_end) = place(&bytes, b"tokenizer.ggml.pre");
    let grown = name.len() as i64 - (pre_end - pre) as i64;
    let length = ((template_end - template) as i64 - grown) as usize;
    let mut text = bytes[template..template_end].to_vec();
    text.resize(length, b' ');
    let splice = |bytes: &mut Vec<u8>, at: usize, end: usize, text: &[u8]| {
        bytes.splice(at..end, [&(text.len() as u64).to_le_bytes(), text].concat());
    };
    if pre_at < template_at {
        splice(&mut bytes, template_at, template_end, &text);
        splice(&mut bytes, pre_at, pre_end, name.as_bytes());
    } else {
        splice(&mut bytes, pre_at, pre_end, name.as_bytes());
        splice(&mut bytes, template_at, template_end, &text);
    }
    std::fs::write(&path, bytes).unwrap();
    path
}

#[tokio::test]
async fn every_pre_tokenizer_agrees_with_the_worker() {
    let folder = tempfile::tempdir().unwrap();
    let texts: Vec<Segment> = corpus(4, 150_000).iter().map(|text| plain(text)).collect();
    for name in FAMILIES {
        let model = model_at(with_pre(folder.path(), name));
        let different = difference(&model, &texts).await;
        assert!(different.is_none(), "{name}: {different:?}");
    }
}
