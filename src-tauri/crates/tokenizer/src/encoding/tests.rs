//! Compares the encodings with `bpe-openai`. `INGLENOOK_ALL_ROUNDS` selects the long rounds: 20 MB
//! of text.

use domain::prompt::Segment;
use proptest::prelude::*;

use super::*;
use crate::ranks::{pack, unpack};

const BOTH: [Encoding; 2] = [Encoding::O200k, Encoding::Cl100k];

fn reference(encoding: Encoding) -> &'static bpe_openai::Tokenizer {
    match encoding {
        Encoding::O200k => bpe_openai::o200k_base(),
        Encoding::Cl100k => bpe_openai::cl100k_base(),
    }
}

/// Returns the tokens of the reference in the order of their ranks.
fn published_tokens(encoding: Encoding) -> Vec<&'static [u8]> {
    let list = &reference(encoding).bpe;
    (0..list.num_tokens() as u32)
        .map(|token| list.token_bytes(token))
        .collect()
}

#[test]
#[ignore = "writes the rank lists in `data`"]
fn write_data() {
    for encoding in BOTH {
        let path = format!(
            "{}/data/{}.ranks",
            env!("CARGO_MANIFEST_DIR"),
            encoding.name()
        );
        std::fs::write(path, pack(&published_tokens(encoding))).unwrap();
    }
}

#[test]
fn data_equals_the_published_lists() {
    for encoding in BOTH {
        assert!(
            unpack(encoding.packed()) == published_tokens(encoding),
            "{}",
            encoding.name()
        );
    }
}

/// Returns a message if the tokens of `text` differ from the reference in either encoding.
fn difference(text: &str) -> Option<String> {
    let segment = Segment {
        text: text.to_owned(),
        control: false,
    };
    BOTH.into_iter().find_map(|encoding| {
        let (ours, theirs) = (
            encoding.tokenizer().tokenize(&segment),
            reference(encoding).encode(text),
        );
        assert_eq!(encoding.count(text) as usize, ours.len());
        let shown: String = text.chars().take(2_000).collect();
        let at = ours
            .iter()
            .zip(&theirs)
            .take_while(|(ours, theirs)| ours == theirs)
            .count();
        (ours != theirs).then(|| {
            let (ours, theirs) = (ours.iter().skip(at).take(9), theirs.iter().skip(at).take(9));
            let (ours, theirs): (Vec<_>, Vec<_>) = (ours.collect(), theirs.collect());
            format!(
                "{} on {shown:?}, from token {at} on: {ours:?}, expected {theirs:?}",
                encoding.name()
            )
        })
    })
}

/// Letters, marks and digits of each script: the first character and the number of characters.
const SCRIPTS: &[(char, u32)] = &[
    ('A', 58),          // Latin
    ('a', 26),          // Latin
    ('À', 0x1b0),       // Latin with accents and title case
    ('\u{250}', 0x120), // Phonetic and modifier letters, combining marks
    ('Α', 0x40),        // Greek
    ('А', 0x40),        // Cyrillic
    ('Ա', 0x57),        // Armenian
    ('א', 27),          // Hebrew
    ('\u{620}', 0x60),  // Arabic
    ('\u{900}', 0x80),  // Devanagari
    ('\u{980}', 0x80),  // Bengali
    ('\u{b80}', 0x80),  // Tamil
    ('\u{e00}', 0x60),  // Thai
    ('\u{1000}', 0x60), // Burmese
    ('\u{10a0}', 0x60), // Georgian
    ('\u{1200}', 0x80), // Ethiopic
    ('\u{13a0}', 0x60), // Cherokee
    ('\u{1780}', 0x60), // Khmer
    ('\u{1e00}', 0x200),
    ('\u{2000}', 0x300), // Punctuation, signs, numbers
    ('ぁ', 0x56),
    ('ァ', 0x5a),
    ('一', 0x5000),
    ('가', 11_172),
    ('\u{ff00}', 0xf0),   // Full and half width
    ('\u{10400}', 0x50),  // Deseret
    ('\u{1d400}', 0x300), // Mathematical letters
    ('\u{1f300}', 0x350), // Emoji
];
const FRAGMENTS: &[&str] = &[
    "the",
    "She'll",
    "WE'RE",
    "don't",
    "I'ſ",
    "O'Ve",
    "'tis",
    "antidisestablishmentarianism",
    "camelCase",
    "HTTPServer",
    "сказала",
    "здравствуйте",
    "你好，世界",
    "です。",
    "안녕하세요",
    "שָׁלוֹם",
    "مرحبا",
    "नमस्ते",
    "สวัสดี",
    "Straße",
    "e\u{301}",
    "👩‍👩‍👧‍👦",
    "🏳️‍🌈",
    "1",
    "1234567",
    "٣٤٥",
    "½",
    "fn main() {\n\t",
    "    return x;\r\n",
    "}\n\n",
    "https://a.b/c/d//\n",
    "!=",
    "...",
    "***",
    "/",
    "\"",
    "'",
    "’s",
    "_",
];
const SPACES: &[&str] = &[
    "", "", "", " ", " ", " ", " ", "  ", "   ", "\t", "\n", "\n\n", " \n", "\r\n", " \n  ",
    "\u{a0}", "\u{3000}", "\u{85}",
];

/// Random numbers that do not change with a dependency.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % sides as u64) as usize
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.roll(items.len())]
    }

    fn letter(&mut self, (first, count): (char, u32)) -> char {
        char::from_u32(first as u32 + self.roll(count as usize) as u32).unwrap_or(first)
    }

    /// Returns about `bytes` bytes of mixed text.
    fn text(&mut self, bytes: usize) -> String {
        let mut text = String::new();
        while text.len() < bytes {
            match self.roll(20) {
                0 => (0..self.roll(40)).for_each(|_| text.push_str(self.pick(SPACES))),
                1 => text.push(char::from_u32(self.roll(0x11_0000) as u32).unwrap_or('\0')),
                2..10 => text.push_str(self.pick(FRAGMENTS)),
                _ => {
                    let script = self.pick(SCRIPTS);
                    (0..=self.roll(9)).for_each(|_| text.push(self.letter(script)));
                }
            }
            text.push_str(self.pick(SPACES));
        }
        text
    }
}

#[test]
fn mixed_text_equals_the_reference() {
    let bytes = if std::env::var_os("INGLENOOK_ALL_ROUNDS").is_some() {
        20_000_000
    } else {
        500_000
    };
    let mut dice = Dice(1);
    let mut compared = 0;
    while compared < bytes {
        let text = dice.text(2_000);
        compared += text.len();
        assert_eq!(difference(&text), None);
    }
}

#[test]
fn every_token_equals_the_reference() {
    for encoding in BOTH {
        let texts = published_tokens(encoding)
            .into_iter()
            .filter_map(|token| std::str::from_utf8(token).ok());
        for text in texts {
            assert_eq!(
                encoding.count(text) as usize,
                reference(encoding).count(text),
                "{text:?}"
            );
        }
    }
}

/// The whole-word lookup is only faster, because merging alone reaches every token.
#[test]
fn merges_reach_every_token() {
    for encoding in BOTH {
        let ranks = RankList::read(encoding.packed(), encoding.stages());
        for (token, bytes) in published_tokens(encoding).into_iter().enumerate() {
            assert_eq!(ranks.merged(bytes), [token as u32], "{bytes:?}");
        }
    }
}

const MILLION: usize = 1_000_000;
const HUNDRED_THOUSAND: usize = 100_000;

#[test]
fn long_words_equal_the_reference() {
    let mut dice = Dice(2);
    let mut letters = |script: (char, u32), count: usize| {
        (0..count).map(|_| dice.letter(script)).collect::<String>()
    };
    for text in [
        letters(('a', 26), MILLION),
        letters(('A', 26), HUNDRED_THOUSAND),
        letters(('一', 0x5000), HUNDRED_THOUSAND),
        letters(('!', 15), HUNDRED_THOUSAND),
        "a".repeat(HUNDRED_THOUSAND),
        "語A".repeat(HUNDRED_THOUSAND),
        " ".repeat(HUNDRED_THOUSAND),
        "\n ".repeat(HUNDRED_THOUSAND),
        "7".repeat(HUNDRED_THOUSAND),
        "\u{301}".repeat(HUNDRED_THOUSAND),
    ] {
        assert_eq!(difference(&text), None);
    }
}

fn fragments() -> impl Strategy<Value = String> {
    let fragment = prop_oneof![
        proptest::sample::select(FRAGMENTS).prop_map(str::to_owned),
        proptest::sample::select(SPACES).prop_map(str::to_owned),
        "[\\PC\r\n]{1,3}",
        "[aA'ſsǅʰ\u{301}語 \n1/.]{1,6}",
    ];
    proptest::collection::vec(fragment, 0..12).prop_map(|fragments| fragments.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(
        if std::env::var_os("INGLENOOK_ALL_ROUNDS").is_some() { 20_000 } else { 2_000 }
    ))]

    #[test]
    fn any_text_equals_the_reference(text in prop_oneof![any::<String>(), fragments()]) {
        prop_assert_eq!(difference(&text), None);
    }
}

#[test]
fn selects_encoding_by_model_family() {
    for (model, encoding) in [
        ("gpt-4o-mini-2024-07-18", Some(Encoding::O200k)),
        ("openai/gpt-4.1", Some(Encoding::O200k)),
        ("o3-mini", Some(Encoding::O200k)),
        ("ft:gpt-4o:someone", Some(Encoding::O200k)),
        ("gpt-4-turbo", Some(Encoding::Cl100k)),
        ("gpt-3.5-turbo", Some(Encoding::Cl100k)),
        ("Qwen/Qwen2.5-7B-Instruct", Some(Encoding::Cl100k)),
        ("meta-llama/Llama-3.1-8B-Instruct", Some(Encoding::Cl100k)),
        ("claude-sonnet", None),
        ("mistral-small", None),
        ("olmo-7b", None),
        ("", None),
    ] {
        assert_eq!(Encoding::of(model), encoding, "{model}");
    }
}

#[test]
fn counts_match_the_published_encodings() {
    // Examples that OpenAI published with the encodings.
    assert_eq!(Encoding::Cl100k.count("tiktoken is great!"), 6);
    assert_eq!(Encoding::Cl100k.count("お誕生日おめでとう"), 9);
    assert_eq!(Encoding::O200k.count("お誕生日おめでとう"), 8);
    assert_eq!(Encoding::Cl100k.count("antidisestablishmentarianism"), 6);
    assert_eq!(Encoding::O200k.count(""), 0);
}

/// Run with `--nocapture --test-threads 1`.
#[test]
#[ignore = "prints times"]
fn print_times() {
    for encoding in BOTH {
        let time = |what: &str, work: &dyn Fn() -> u32| {
            let start = std::time::Instant::now();
            let count = work();
            println!(
                "{} {what}: {:?}, {count} tokens",
                encoding.name(),
                start.elapsed()
            );
        };
        time("read", &|| encoding.count(""));
        let mut dice = Dice(3);
        let (text, word) = (
            dice.text(2_000_000),
            (0..MILLION)
                .map(|_| dice.letter(('a', 26)))
                .collect::<String>(),
        );
        time("2 MB of mixed text, cold", &|| encoding.count(&text));
        time("2 MB of mixed text, warm", &|| encoding.count(&text));
        time("a word of a million letters", &|| encoding.count(&word));
        time("a million times the same letter", &|| {
            encoding.count(&"a".repeat(MILLION))
        });
        time("2 MB of mixed text, reference", &|| {
            reference(encoding).count(text.as_str()) as u32
        });
        time("a word of a million letters, reference", &|| {
            reference(encoding).count(word.as_str()) as u32
        });
    }
}
