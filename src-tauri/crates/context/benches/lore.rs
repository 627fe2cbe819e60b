//! Lore activation. Targets: 10,000 entries of 4 keys over 100 messages in 45 ms, 1,000 entries
//! over 4 messages in 2 ms.

use std::sync::Arc;

use context::lore::{
    Bindings, CardTexts, Chance, GenerationKind, LoreCharacter, LoreInput, LoreMessage,
    LoreSettings, NamedBook, PreparedBooks, Profile, TimedState, activate,
};
use divan::{Bencher, black_box};
use domain::lorebook::{Book, Entry, Uid};

fn main() {
    divan::main();
}

/// Number of entries (with 4 keys each) and of messages.
const SIZES: [(usize, usize); 2] = [(1_000, 4), (10_000, 100)];

const SYLLABLES: [&str; 20] = [
    "ka", "lor", "mi", "ven", "tha", "rus", "el", "dor", "an", "gri", "sol", "pe", "wyn", "qua",
    "bel", "zor", "hu", "sae", "tir", "nok",
];

/// A unique word for every number.
fn word(mut number: usize) -> String {
    let mut word = String::new();
    for _ in 0..4 {
        word.push_str(SYLLABLES[number % SYLLABLES.len()]);
        number /= SYLLABLES.len();
    }
    word
}

fn settings(profile: Profile, messages: usize) -> LoreSettings {
    LoreSettings {
        profile,
        scan_depth: messages as i64,
        ..LoreSettings::default()
    }
}

fn book(entries: usize) -> NamedBook {
    let mut book = Book::new("World");
    book.entries = (0..entries)
        .map(|number| {
            let mut entry = Entry::new(Uid::from(number.to_string().as_str()));
            entry.keys = vec![
                word(number * 4),
                word(number * 4 + 1),
                format!("{} {}", word(number * 4 + 2), word(number)),
                format!("Cité {}", word(number * 4 + 3)),
            ];
            entry.content = format!("{} lies beyond the {}.", word(number), word(number * 7));
            entry
        })
        .collect();
    NamedBook {
        name: "World".into(),
        book: Arc::new(book),
    }
}

/// About 60 words per message, as in replies; one in forty is a key.
fn texts(messages: usize, entries: usize) -> Vec<String> {
    let plain = [
        "the", "lamp", "burns", "while", "she", "waits", "by", "a", "window", "and", "listens",
        "for", "steps",
    ];
    let said = |at: usize| match at % 40 {
        0 => word(at * 131 % (entries * 4)),
        _ => plain[at * 7 % plain.len()].to_owned(),
    };
    (0..messages)
        .map(|message| {
            (0..60)
                .map(|i| said(message * 60 + i))
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect()
}

fn prepared(profile: Profile, (entries, messages): (usize, usize)) -> PreparedBooks {
    let bindings = Bindings {
        global: vec!["World".into()],
        ..Bindings::default()
    };
    PreparedBooks::new(&[book(entries)], &bindings, &settings(profile, messages))
}

fn run(books: &PreparedBooks, texts: &[String]) -> usize {
    let messages: Vec<LoreMessage> = texts
        .iter()
        .map(|text| LoreMessage {
            name: "Mira",
            text,
            from_user: false,
            hidden: false,
        })
        .collect();
    let outcome = activate(
        books,
        &LoreInput {
            messages: &messages,
            earlier: Default::default(),
            texts: CardTexts::default(),
            injections: &[],
            character: LoreCharacter::default(),
            kind: GenerationKind::Normal,
            dry_run: false,
            external: &[],
            context_tokens: 8192,
            chance: Chance::Seeded(1),
            timed: &TimedState::default(),
            greeting: None,
            user_icon: None,
            expand: &|written| written.text().to_owned().into(),
            count: &|text| text.len() as u32 / 4,
        },
    );
    assert!(!outcome.activated.is_empty());
    outcome.activated.len() + outcome.rejected.len()
}

#[divan::bench(args = SIZES)]
fn activate_corrected(bencher: Bencher, size: (usize, usize)) {
    let (books, texts) = (prepared(Profile::Corrected, size), texts(size.1, size.0));
    bencher.bench_local(|| run(black_box(&books), black_box(&texts)));
}

#[divan::bench(args = SIZES)]
fn activate_compatible(bencher: Bencher, size: (usize, usize)) {
    let (books, texts) = (prepared(Profile::Compatible, size), texts(size.1, size.0));
    bencher.bench_local(|| run(black_box(&books), black_box(&texts)));
}

#[divan::bench(args = SIZES, sample_count = 20)]
fn prepare(bencher: Bencher, size: (usize, usize)) {
    let book = book(size.0);
    let bindings = Bindings {
        global: vec!["World".into()],
        ..Bindings::default()
    };
    let settings = settings(Profile::Corrected, size.1);
    bencher.bench_local(|| PreparedBooks::new(&[black_box(book.clone())], &bindings, &settings));
}
