use domain::prompt::Segment;
use local::Tokenizer;

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
