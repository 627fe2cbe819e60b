use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tokenizers::models::TrainerWrapper;
use tokenizers::models::bpe::{BPE, BpeTrainer};
use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::processors::template::TemplateProcessing;
use tokenizers::{PaddingParams, PaddingStrategy, Tokenizer, TruncationParams};

use super::*;

const TEXTS: [&str; 6] = [
    "The lamplighter walks along the quay and counts the ships that came in overnight.\n\n",
    "Она медленно шла по набережной и считала корабли, пришедшие ночью.",
    "她慢慢地沿着码头走，数着夜里到港的船只。",
    "fn main() { println!(\"{}\", ships.iter().filter(|s| s.new).count()); }\n",
    "🏮🌊  e\u{301}   ﷺ\t",
    "",
];

/// A tokenizer trained on [`TEXTS`].
fn trained() -> Tokenizer {
    let alphabet = ByteLevel::alphabet().into_iter().collect();
    let trainer = BpeTrainer::builder()
        .show_progress(false)
        .vocab_size(400)
        .initial_alphabet(alphabet)
        .build();
    let mut tokenizer = Tokenizer::new(BPE::default());
    tokenizer.with_pre_tokenizer(Some(ByteLevel::new(false, true, true)));
    tokenizer
        .train(&mut TrainerWrapper::from(trainer), TEXTS.iter())
        .unwrap();
    tokenizer
}

fn file(tokenizer: &Tokenizer) -> Value {
    serde_json::from_str(&tokenizer.to_string(false).unwrap()).unwrap()
}

/// A word-level tokenizer.
fn words() -> Value {
    json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
        "pre_tokenizer": { "type": "WhitespaceSplit" }, "post_processor": null, "decoder": null,
        "model": { "type": "WordLevel", "vocab": { "?": 0 }, "unk_token": "?" },
    })
}

fn parse(file: &Value) -> Result<TokenizerJson, TokenizerJsonError> {
    TokenizerJson::parse(file.to_string().as_bytes())
}

#[track_caller]
fn refusal(file: &Value) -> String {
    parse(file).unwrap_err().to_string()
}

#[test]
fn counts_match_the_tokenizers_crate() {
    let reference = trained();
    let ours = parse(&file(&reference)).unwrap();
    for text in TEXTS {
        let theirs = reference.encode(text, false).unwrap().len() as u32;
        assert_eq!(ours.count(text), Some(theirs), "{text}");
    }
    assert!(
        ours.count(TEXTS[0]) < Some(TEXTS[0].len() as u32 / 2),
        "it was trained"
    );
}

#[test]
fn ignores_post_processing_padding_and_truncation() {
    let mut reference = trained();
    let plain = reference.encode(TEXTS[1], false).unwrap().len() as u32;
    let mut begins = TemplateProcessing::builder();
    let begins = begins
        .try_single("a $A b $A")
        .unwrap()
        .special_tokens(vec![("a", 64), ("b", 65)])
        .build()
        .unwrap();
    reference.with_post_processor(Some(begins));
    let strategy = PaddingStrategy::Fixed(500);
    reference.with_padding(Some(PaddingParams {
        strategy,
        ..PaddingParams::default()
    }));
    reference
        .with_truncation(Some(TruncationParams {
            max_length: 8,
            ..TruncationParams::default()
        }))
        .unwrap();
    assert_eq!(
        parse(&file(&reference)).unwrap().count(TEXTS[1]),
        Some(plain)
    );
}

#[test]
fn counts_are_equal_on_all_threads() {
    let ours = parse(&file(&trained())).unwrap();
    let count = || TEXTS.map(|text| ours.count(text));
    let alone = count();
    std::thread::scope(|scope| {
        let others = [(); 4].map(|()| scope.spawn(count));
        for other in others {
            assert_eq!(other.join().unwrap(), alone);
        }
    });
}

#[test]
fn refuses_other_files_with_the_reason() {
    for (bytes, reason) in [
        (&b"hello"[..], "not a tokenizer.json"),
        (b"", "not a tokenizer.json"),
        (b"\"", "not a tokenizer.json"),
        (b"{\"version\": \"1.0\"}", "missing field `model`"),
        (b"{\"model\": {\"type\": \"BPE\"", "EOF"),
        (b"\xff\xfe", "not a tokenizer.json"),
    ] {
        let refused = TokenizerJson::parse(bytes).unwrap_err().to_string();
        assert!(refused.contains(reason), "{refused}");
    }
    let large = vec![b' '; TokenizerJson::MAX_BYTES + 1];
    assert_eq!(
        TokenizerJson::parse(&large).unwrap_err().to_string(),
        "the file has 64 MiB; a tokenizer.json may have at most 64"
    );
    let mut other = words();
    other["version"] = json!("2.0");
    assert!(refusal(&other).contains("Unknown tokenizer version '2.0'"));
}

#[test]
fn refuses_dropout() {
    let mut file = file(&trained());
    file["model"]["dropout"] = json!(0.1);
    assert!(refusal(&file).contains("dropout"));
}

#[test]
fn refuses_inconsistent_parts() {
    let mut merges = file(&trained());
    // The crate removes the prefix length from the second part, which is shorter.
    merges["model"]["continuing_subword_prefix"] = json!("a longer prefix than any token");
    assert!(refusal(&merges).contains("prefix"));
    let mut charsmap = words();
    // The table claims four gigabytes; the file ends there.
    charsmap["normalizer"] = json!({ "type": "Precompiled", "precompiled_charsmap": "/P///w==" });
    assert!(refusal(&charsmap).contains("do not fit together"));
    let mut scores = words();
    scores["model"] = json!({ "type": "Unigram", "unk_id": 7, "vocab": [["a", -1.0]] });
    refusal(&scores);
    let mut silent = words();
    silent["model"] = json!({ "type": "BPE", "vocab": {}, "merges": [] });
    assert!(refusal(&silent).contains("do not fit together"));
}

#[test]
fn refuses_hostile_sizes_before_parsing() {
    let stage = |normalizer: Value| {
        let mut file = words();
        file["normalizer"] = normalizer;
        refusal(&file)
    };
    let doubling = json!({ "type": "Replace", "pattern": { "String": "a" }, "content": "aa" });
    assert!(
        stage(json!({ "type": "Sequence", "normalizers": vec![doubling; 40] }))
            .contains("growth of a text")
    );
    let many = json!({ "type": "Sequence", "normalizers": vec![json!({ "type": "NFC" }); 2_000] });
    assert!(stage(many).contains("number of parts"));
    let nested = (0..40).fold(
        json!({ "type": "NFC" }),
        |inner, _| json!({ "type": "Sequence", "normalizers": [inner] }),
    );
    assert!(stage(nested).contains("number of parts"));
    let repeated = json!({ "Regex": "(?:(?=a)(?:a{1000}){1000}){1000}" });
    assert!(
        stage(json!({ "type": "Replace", "pattern": repeated, "content": "" }))
            .contains("repetitions")
    );
    let long = json!({ "String": "a".repeat(100_000) });
    let mut split = words();
    split["pre_tokenizer"] =
        json!({ "type": "Split", "pattern": long, "behavior": "Isolated", "invert": false });
    assert!(refusal(&split).contains("length of a string"));
    let mut word = words();
    word["model"] = json!({ "type": "WordPiece", "vocab": { "?": 0 }, "unk_token": "?",
        "continuing_subword_prefix": "##", "max_input_chars_per_word": 1_000_000_000 });
    assert!(refusal(&word).contains("maximum word length"));
}

#[test]
fn allows_normalizers_of_known_models() {
    // A charsmap with one rule of 33 bytes after an empty table.
    let rules = [&[0; 4], "ﷺ".repeat(11).as_bytes(), &[0]].concat();
    let charsmap = STANDARD.encode(rules);
    let spaces = json!({ "type": "Replace", "pattern": { "Regex": " {2,}" }, "content": "▁" });
    for normalizers in [
        json!([{ "type": "Precompiled", "precompiled_charsmap": charsmap }, spaces]),
        json!([{ "type": "Prepend", "prepend": "▁" }, { "type": "Replace", "pattern": { "String": " " }, "content": "▁" }]),
        json!([{ "type": "Replace", "pattern": { "String": "``" }, "content": "\"" }, { "type": "NFKD" }, { "type": "Lowercase" }]),
    ] {
        let normalizer = json!({ "type": "Sequence", "normalizers": normalizers });
        check::check(
            json!({ "model": {}, "normalizer": normalizer })
                .to_string()
                .as_bytes(),
        )
        .unwrap();
    }
}

#[test]
fn returns_none_for_text_it_cannot_encode() {
    let mut file = words();
    let vocab = SENTENCE
        .split_whitespace()
        .zip(0..)
        .map(|(word, id)| (word.to_owned(), json!(id)))
        .collect();
    file["model"]["vocab"] = Value::Object(vocab);
    let ours = parse(&file).unwrap();
    assert_eq!(ours.count("lamps counts the lamps"), Some(4));
    assert_eq!(
        ours.count("lanterns"),
        None,
        "there is no token for unknown words"
    );
}

#[test]
fn stops_on_catastrophic_backtracking() {
    let mut file = words();
    let pattern = json!({ "Regex": "(?:(a|aa|b(?=b))+)+(?=c)" });
    file["pre_tokenizer"] =
        json!({ "type": "Split", "pattern": pattern, "behavior": "Isolated", "invert": false });
    assert_eq!(parse(&file).unwrap().count(&"a".repeat(10_000)), Some(1));
}
