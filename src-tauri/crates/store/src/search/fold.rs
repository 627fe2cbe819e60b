//! Folds text for search: without case, accents and ligatures, and with one form for each letter of
//! Japanese and Korean. The page folds in the same way with a generated table
//! (`ui/src/lib/text/foldTable.ts`).

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Letters that Unicode does not decompose, and the letters that people type for them.
pub(crate) const LETTERS: [(char, &str); 19] = [
    ('æ', "ae"),
    ('œ', "oe"),
    ('ß', "ss"),
    ('þ', "th"),
    ('ð', "d"),
    ('đ', "d"),
    ('ɖ', "d"),
    ('ø', "o"),
    ('ł', "l"),
    ('ƚ', "l"),
    ('ı', "i"),
    ('ɨ', "i"),
    ('ħ', "h"),
    ('ŧ', "t"),
    ('ŋ', "n"),
    ('ƒ', "f"),
    ('ɓ', "b"),
    ('ɗ', "d"),
    ('ς', "σ"),
];
/// Scripts that put no or few spaces between words: Thai, Lao, Burmese, Khmer, Chinese, Japanese,
/// Korean.
pub(crate) const UNSPACED: [(char, char); 14] = [
    ('\u{e00}', '\u{eff}'),
    ('\u{1000}', '\u{109f}'),
    ('\u{1780}', '\u{17ff}'),
    ('\u{3005}', '\u{3007}'),
    ('\u{303b}', '\u{303b}'),
    ('\u{3041}', '\u{30ff}'),
    ('\u{3105}', '\u{312f}'),
    ('\u{31f0}', '\u{31ff}'),
    ('\u{3400}', '\u{9fff}'),
    ('\u{a9e0}', '\u{a9ff}'),
    ('\u{aa60}', '\u{aa7f}'),
    ('\u{ac00}', '\u{d7a3}'),
    ('\u{f900}', '\u{faff}'),
    ('\u{20000}', '\u{3ffff}'),
];
/// Symbols and emoji, each a word of its own.
pub(crate) const SYMBOLS: [(char, char); 5] = [
    ('\u{a2}', '\u{a9}'),
    ('\u{ae}', '\u{b1}'),
    ('\u{20a0}', '\u{20cf}'),
    ('\u{2190}', '\u{2bff}'),
    ('\u{1f000}', '\u{1fbff}'),
];
/// Characters that are left out and do not end a word: soft hyphen, tatweel, joiners, variation
/// selectors.
pub(crate) const LEFT_OUT: [(char, char); 6] = [
    ('\u{ad}', '\u{ad}'),
    ('\u{640}', '\u{640}'),
    ('\u{200d}', '\u{200d}'),
    ('\u{2060}', '\u{2060}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{e0100}', '\u{e01ef}'),
];
/// Characters besides marks that belong to the letter before them: vowels and finals of Korean,
/// half-width sound marks.
pub(crate) const JOINED: [(char, char); 2] = [('\u{1160}', '\u{11ff}'), ('\u{ff9e}', '\u{ff9f}')];

/// The kind of a folded character in a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A letter or digit of a script with spaces.
    Spaced,
    Unspaced,
    Symbol,
    /// Everything that ends a word.
    Other,
}

/// A folded character, and the bytes of the text that it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Folded {
    pub(crate) letter: char,
    pub(crate) kind: Kind,
    pub(crate) range: Range<usize>,
}

/// The folded characters of a text in order.
pub(crate) fn folded(text: &str) -> impl Iterator<Item = Folded> {
    clusters(text).flat_map(move |range| {
        let mut letters = Vec::new();
        fold_cluster(&text[range.clone()], &mut letters);
        letters.into_iter().map(move |letter| Folded {
            letter,
            kind: kind(letter),
            range: range.clone(),
        })
    })
}

/// The folded text, with everything between its words.
pub(crate) fn fold(text: &str) -> String {
    folded(text).map(|folded| folded.letter).collect()
}

pub(crate) fn is_unspaced(letter: char) -> bool {
    is_in(&UNSPACED, letter)
}

fn kind(letter: char) -> Kind {
    if is_unspaced(letter) {
        Kind::Unspaced
    } else if letter.is_alphanumeric() || is_combining_mark(letter) {
        Kind::Spaced
    } else if is_in(&SYMBOLS, letter) {
        Kind::Symbol
    } else {
        Kind::Other
    }
}

fn is_in(ranges: &[(char, char)], letter: char) -> bool {
    ranges
        .iter()
        .any(|(first, last)| (*first..=*last).contains(&letter))
}

/// Each letter with the marks behind it.
fn clusters(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut letters = text.char_indices().peekable();
    std::iter::from_fn(move || {
        let (start, first) = letters.next()?;
        let mut end = start + first.len_utf8();
        while let Some((at, letter)) = letters.next_if(|(_, letter)| belongs(*letter)) {
            end = at + letter.len_utf8();
        }
        Some(start..end)
    })
}

/// Whether a character belongs to the letter before it.
fn belongs(letter: char) -> bool {
    !letter.is_ascii() && (is_combining_mark(letter) || is_in(&JOINED, letter))
}

fn fold_cluster(cluster: &str, folded: &mut Vec<char>) {
    if let [letter] = cluster.as_bytes() {
        folded.push(char::from(letter.to_ascii_lowercase()));
        return;
    }
    for letter in cluster.nfkc().filter(|letter| !is_in(&LEFT_OUT, *letter)) {
        if is_unspaced(letter) {
            folded.push(letter);
        } else {
            let plain = letter
                .nfkd()
                .filter(|part| !is_combining_mark(*part))
                .flat_map(char::to_lowercase);
            for part in plain.filter(|part| !is_combining_mark(*part)) {
                match LETTERS.iter().find(|(from, _)| *from == part) {
                    Some((_, to)) => folded.extend(to.chars()),
                    None => folded.push(part),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Texts that must fold to the same in the engine and in the page.
    const TEXTS: [&str; 34] = [
        "The LAMP, Éloïse's",
        "Łódź Straße Ærø Œuvre Đà Nẵng Þór Iğdır İstanbul ılık Smørrebrød Ħal ŊŧƑ",
        "ﬁne ﬂow Ǆ ŉ ſ ĳ",
        "佐々木さん 人々 〻 いすゞ ヽ 二〇二五年",
        "が ガ か\u{3099} カ\u{3099} ハ\u{309a}",
        "ﾗﾝﾌﾟ ｶﾞｽ ﾊﾟﾝ ｱｲｳ",
        "ＡＢＣ１２３ ホテル",
        "안녕하세요",
        "\u{110b}\u{1161}\u{11ab}\u{1102}\u{1167}\u{11bc}",
        "侮 𠮷田 㐂",
        "ภาษาไทย",
        "ພາສາລາວ",
        "ភាសាខ្មែរ",
        "မြန်မာစာ",
        "كَتَبَ محـــمد أحمد",
        "می\u{200c}خواهم",
        "תִּקּוּן עוֹלָם",
        "bệnh viện be\u{302}\u{323}nh",
        "Ёлка Йод ёлка",
        "ΑΘΉΝΑ ὈΔΥΣΣΕΎΣ ομορφος",
        "नमस्ते",
        "🦊 👩\u{200d}🚀 ❤\u{fe0f} 👍🏽",
        "Haupt\u{ad}bahnhof",
        "C++ und C# kosten 5 € ½ ™ ㈱",
        "naïve cafe\u{301} A\u{30a}",
        "\u{301}orphan",
        "①②③ ⅷ",
        "ŀ Ŀ ǆ",
        "𝐁𝐨𝐥𝐝 𝓼𝓬𝓻𝓲𝓹𝓽",
        "Ｔｏｍ　と",
        "ỗ Ộ ữ",
        "ᄀ각",
        "¿Qué?",
        "",
    ];

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(fold(text), expected);
    }

    #[test]
    fn letters_with_several_forms_become_one() {
        check(
            "Łódź Straße Ærø Œuvre Đà Þór",
            "lodz strasse aero oeuvre da thor",
        );
        check("Iğdır İstanbul", "igdir istanbul");
        check("ﾗﾝﾌﾟ か\u{3099} ＡＢＣ", "ランプ が abc");
        check("\u{110b}\u{1161}\u{11ab}", "안");
        check("侮", "侮");
        check("Haupt\u{ad}bahnhof محـــمد", "hauptbahnhof محمد");
        check("ΟΔΥΣΣΕΥΣ οδυσσευς", "οδυσσευσ οδυσσευσ");
    }

    #[test]
    fn folded_letters_know_their_place() {
        let text = "か\u{3099}ß\u{1f98a}";
        let places: Vec<(char, &str, Kind)> = folded(text)
            .map(|folded| (folded.letter, &text[folded.range], folded.kind))
            .collect();
        let expected = [
            ('が', "か\u{3099}", Kind::Unspaced),
            ('s', "ß", Kind::Spaced),
            ('s', "ß", Kind::Spaced),
            ('🦊', "🦊", Kind::Symbol),
        ];
        assert_eq!(places, expected);
    }

    /// The table of the page is committed. Run with `UPDATE_GENERATED=1` to write it again.
    #[test]
    fn the_table_of_the_page_is_up_to_date() {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../ui/src/lib/text/foldTable.ts");
        let wanted = typescript();
        if std::env::var_os("UPDATE_GENERATED").is_some() {
            std::fs::write(&path, &wanted).unwrap();
        }
        let found = std::fs::read_to_string(&path)
            .unwrap_or_default()
            .replace("\r\n", "\n");
        assert!(
            found == wanted,
            "foldTable.ts is stale; run UPDATE_GENERATED=1 cargo test -p store fold"
        );
    }

    fn typescript() -> String {
        let ranges = |name: &str, about: &str, ranges: &[(char, char)]| {
            let escaped = |letter: char| format!("\\\\u{{{:x}}}", u32::from(letter));
            let class: String = ranges
                .iter()
                .map(|(from, to)| format!("{}-{}", escaped(*from), escaped(*to)))
                .collect();
            format!("/** {about} */\nexport const {name} = \"{class}\";\n")
        };
        let letters: Vec<String> = LETTERS
            .iter()
            .map(|(from, to)| format!("{from}: \"{to}\""))
            .collect();
        let cases = TEXTS.map(|text| {
            format!(
                "\t[{}, {}],\n",
                serde_json::Value::from(text),
                serde_json::Value::from(fold(text))
            )
        });
        [
            "// Generated from store/src/search/fold.rs. Do not edit.\n\n".to_owned(),
            ranges(
                "UNSPACED",
                "Letters of scripts without spaces between words, for a character class.",
                &UNSPACED,
            ),
            ranges(
                "SYMBOLS",
                "Symbols and emoji, each a word of its own.",
                &SYMBOLS,
            ),
            ranges(
                "LEFT_OUT",
                "Characters that are left out and do not end a word.",
                &LEFT_OUT,
            ),
            ranges(
                "JOINED",
                "Characters besides marks that belong to the letter before them.",
                &JOINED,
            ),
            "/** Letters that Unicode does not decompose. */\n".to_owned(),
            format!(
                "export const LETTERS: Record<string, string> = {{ {} }};\n",
                letters.join(", ")
            ),
            "/** Texts and how the engine folds them, for the test of the page. */\n".to_owned(),
            format!(
                "export const CASES: readonly [string, string][] = [\n{}];\n",
                cases.concat()
            ),
        ]
        .concat()
    }
}
