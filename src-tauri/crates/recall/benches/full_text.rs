//! Lexical search in twenty thousand messages; the target is 50 ms per query, without embedding.
//! Run with `cargo bench -p recall --bench full_text`.

use divan::{Bencher, black_box};
use recall::full_text::{IndexedText, TextIndex, search};

const MESSAGES: usize = 20_000;
/// Number of words per message. Few words are frequent, as in natural language.
const WORDS: usize = 120;
const VOCABULARY: usize = 8_000;

fn main() {
    divan::main();
}

/// The `rank`th most common word.
fn word(rank: usize) -> String {
    format!("w{}", rank * 7_919 % VOCABULARY)
}

/// Messages with word frequencies by Zipf's law: the word of rank 10 occurs a tenth as often as the
/// first.
fn texts() -> Vec<String> {
    let mut state = 0x9e37_79b9_u32;
    let mut draw = move || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        let chance = f64::from(state) / f64::from(u32::MAX);
        ((VOCABULARY as f64).powf(chance) as usize).min(VOCABULARY) - 1
    };
    (0..MESSAGES)
        .map(|_| {
            (0..WORDS)
                .map(|_| word(draw()))
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect()
}

fn index(texts: &[String]) -> TextIndex {
    let mut index = TextIndex::default();
    index.renew(
        (0..).zip(texts).map(|(place, text)| IndexedText {
            place,
            stamp: place,
            said: 0,
            text,
        }),
        None,
    );
    index
}

/// Indexing when a chat is opened; later messages are added to it.
#[divan::bench(sample_count = 5)]
fn twenty_thousand_messages_taken_in(bencher: Bencher<'_, '_>) {
    let texts = texts();
    bencher.bench_local(|| index(black_box(&texts)));
}

/// Two words that occur in a third of the messages, two in one of twenty, and two rare ones.
#[divan::bench(sample_count = 100)]
fn a_question_of_six_words(bencher: Bencher<'_, '_>) {
    let index = index(&texts());
    let asked = [10, 12, 200, 220, 3_000, 7_000].map(word);
    bencher.bench_local(|| {
        search(
            black_box(&[(&index, i64::MAX)]),
            asked.iter().map(String::as_str),
        )
    });
}

/// Adding one message during a chat.
#[divan::bench(sample_count = 100)]
fn one_more_message(bencher: Bencher<'_, '_>) {
    let (texts, mut place) = (texts(), MESSAGES as i64);
    let mut index = index(&texts);
    bencher.bench_local(|| {
        place += 1;
        index.renew(
            [IndexedText {
                place,
                stamp: place,
                said: 0,
                text: black_box(&texts[7]),
            }],
            None,
        );
    });
}
