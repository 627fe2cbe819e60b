use domain::prompt::Segment;
use local::{CountedBy, Tokenizer};

use tokenizers::models::bpe::{BPE, Vocab};
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::pre_tokenizers::digits::Digits;
use tokenizers::pre_tokenizers::sequence::Sequence;

use crate::corpus::corpus;
use crate::support::*;

const TWO_MEGABYTES: usize = 2_000_000;

/// The first text for which the tokenizer of the file and the worker differ, and what they make of it.
async fn difference(model: &domain::model::LocalModel, texts: &[Segment]) -> Option<(String, Vec<u32>, Vec<i32>)> {
    let tokenizer = Tokenizer::open(model.path.as_ref()).unwrap();
    let theirs = host().tokenize(model, texts).await.unwrap();
    assert_eq!(theirs.len(), texts.len());
    texts.iter().zip(theirs).find_map(|(text, theirs)| {
        let ours = tokenizer.tokenize(text);
        assert_eq!(tokenizer.count(text) as usize, ours.len());
        let same = ours.iter().map(|token| i64::from(*token)).eq(theirs.iter().map(|token| i64::from(*token)));
        (!same).then(|| (text.text.clone(), ours, theirs))
    })
}

#[tokio::test]
async fn two_megabytes_in_five_scripts_are_cut_as_the_worker_cuts_them() {
    let texts: Vec<Segment> = corpus(1, TWO_MEGABYTES).iter().map(|text| plain(text)).collect();
    assert_eq!(difference(&model(), &texts).await, None);
}

#[tokio::test]
async fn the_encoder_of_embeddings_is_cut_as_the_worker_cuts_it() {
    let path = model_path().with_file_name("all-MiniLM-L6-v2.Q8_0.gguf");
    let texts: Vec<Segment> = corpus(2, TWO_MEGABYTES).iter().map(|text| plain(text)).collect();
    assert_eq!(difference(&model_at(path), &texts).await, None);
}

/// With its hash, by which verdicts are kept.
fn hashed() -> domain::model::LocalModel {
    domain::model::LocalModel { sha256: "b179c9523d0e6a0f".into(), ..model() }
}

#[tokio::test]
async fn the_worker_is_asked_once_and_never_again_for_the_same_file() {
    let folder = tempfile::tempdir().unwrap();
    let settings = local::Settings { state_dir: Some(folder.path().to_owned()), ..settings() };
    let texts = [plain("a <|im_end|> lamp"), control("<|im_end|>")];

    let host = local::LocalHost::new(settings.clone()).unwrap();
    assert_eq!(host.counted_by(&hashed()), CountedBy::Unknown);
    let counts = host.count(&hashed(), &texts).await.unwrap();
    assert_eq!(counts, host.count(&model(), &texts).await.unwrap(), "the worker's own");
    assert_eq!(host.counted_by(&hashed()).to_string(), "exact, in process");

    let next = local::LocalHost::new(settings).unwrap();
    assert_eq!(next.counted_by(&hashed()), CountedBy::ThisProcess);
    assert_eq!(next.count(&hashed(), &texts).await.unwrap(), counts);
    assert!(!next.adds_bos(&hashed()).await.unwrap());
    assert_eq!(next.status().pid, None, "no worker was started");
}

/// The reference for byte-pair encoding, as the model's own `tokenizer.json` sets it up.
fn reference() -> tokenizers::Tokenizer {
    let vocabulary = local::gguf::vocabulary(&model_path()).unwrap();
    let vocab: Vocab = vocabulary.tokens.into_iter().zip(0..).collect();
    let merges = vocabulary.merges.iter().map(|merge| merge.split_once(' ').unwrap());
    let merges = merges.map(|(left, right)| (left.to_owned(), right.to_owned())).collect();
    let mut reference = tokenizers::Tokenizer::new(BPE::builder().vocab_and_merges(vocab, merges).build().unwrap());
    let stages = vec![Digits::new(true).into(), ByteLevel::new(false, true, true).into()];
    reference.with_pre_tokenizer(Some(Sequence::new(stages)));
    reference
}

#[test]
fn the_reference_tokenizer_agrees() {
    let (ours, reference) = (Tokenizer::open(&model_path()).unwrap(), reference());
    for text in corpus(3, 200_000) {
        assert_eq!(ours.tokenize(&plain(&text)), reference.encode(text.as_str(), false).unwrap().get_ids(), "{text}");
    }
}
