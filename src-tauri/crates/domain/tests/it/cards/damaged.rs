//! Property tests with damaged files: no panic, bounded work, and intact parts survive. The seed
//! and the number of cases are fixed. `PROPTEST_CASES` and `PROPTEST_RNG_SEED` override them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::card::{Card, Warning};
use domain::lenient_json::{self, RepairKind};
use domain::lorebook::Book;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};

use super::support::{assert_keeps, chunk, chunks, deflated, in_kind, picture};

fn cases(usual: u32) -> ProptestConfig {
    let asked = |name: &str| {
        std::env::var(name)
            .ok()
            .and_then(|number| number.parse::<u64>().ok())
    };
    ProptestConfig {
        cases: asked("PROPTEST_CASES").map_or(usual, |cases| cases as u32),
        rng_seed: RngSeed::Fixed(asked("PROPTEST_RNG_SEED").unwrap_or(27)),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Fragments of JSON strings as careless programs write them.
fn odd_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-zé山 ]{0,6}",
        2 => prop::sample::select(&["\\ud83d", "\\udE00", "\\uDBFF", "\\ud83d\\ud83d\\ude00"][..]).prop_map(str::to_owned),
        1 => prop::sample::select(&["\\ud83d\\ude00", "\\u0000", "\\\\ud83d", "\\n", "😀", "\\\"", "\\/"][..])
            .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

/// Values of every type, including those that only JavaScript and Python write.
fn odd_value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        prop::sample::select(
            &[
                "null",
                "true",
                "-0.5",
                "1e999",
                "NaN",
                "-Infinity",
                "Infinity",
                "7",
                "[]",
                "{}"
            ][..]
        )
        .prop_map(str::to_owned),
        odd_text().prop_map(|text| format!("\"{text}\"")),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec((odd_text(), inner), 0..4).prop_map(|fields| {
                let fields: Vec<_> = fields
                    .iter()
                    .map(|(name, value)| format!("\"{name}\":{value}"))
                    .collect();
                format!("{{{}}}", fields.join(","))
            }),
        ]
    })
}

#[derive(Debug, Clone, Copy)]
enum Encoding {
    Utf8,
    Utf8Marked,
    Utf16Le,
    Utf16Be,
    Utf16LeUnmarked,
}

fn any_encoding() -> impl Strategy<Value = Encoding> {
    use Encoding::{Utf8, Utf8Marked, Utf16Be, Utf16Le, Utf16LeUnmarked};
    prop::sample::select(&[Utf8, Utf8Marked, Utf16Le, Utf16Be, Utf16LeUnmarked][..])
}

fn encoded(text: &str, encoding: Encoding) -> Vec<u8> {
    let marked = format!("\u{feff}{text}");
    match encoding {
        Encoding::Utf8 => text.as_bytes().to_vec(),
        Encoding::Utf8Marked => marked.into_bytes(),
        Encoding::Utf16Le => marked.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        Encoding::Utf16Be => marked.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        Encoding::Utf16LeUnmarked => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
    }
}

/// A kind of file damage.
#[derive(Debug, Clone)]
enum Harm {
    Cut(prop::sample::Index),
    Byte(prop::sample::Index, u8),
    Doubled(prop::sample::Index, prop::sample::Index),
}

fn harms() -> impl Strategy<Value = Vec<Harm>> {
    let at = any::<prop::sample::Index>;
    let harm = prop_oneof![
        1 => at().prop_map(Harm::Cut),
        4 => (at(), any::<u8>()).prop_map(|(at, byte)| Harm::Byte(at, byte)),
        1 => (at(), at()).prop_map(|(from, to)| Harm::Doubled(from, to)),
    ];
    prop::collection::vec(harm, 1..5)
}

fn harmed(mut bytes: Vec<u8>, harms: &[Harm]) -> Vec<u8> {
    for harm in harms {
        if bytes.is_empty() {
            break;
        }
        match harm {
            Harm::Cut(at) => bytes.truncate(at.index(bytes.len())),
            Harm::Byte(at, byte) => {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            Harm::Doubled(from, to) => {
                let (from, to) = (from.index(bytes.len()), to.index(bytes.len()));
                let part = bytes[from.min(to)..from.max(to)].to_vec();
                bytes.splice(from..from, part);
            }
        }
    }
    bytes
}

fn card_with(odd: &str) -> String {
    format!(
        r#"{{"spec":"chara_card_v3","spec_version":"3.0","data":{{"name":"Mira","odd":{odd},"description":"whole",
        "alternate_greetings":["Hello.",{odd}],"tags":{odd},"assets":[{odd}],
        "character_book":{{"entries":[{{"keys":["lamp"],"content":"whole"}},{odd}]}},"extensions":{{"x":{odd}}}}}}}"#
    )
}

fn halves(text: &str) -> bool {
    lenient_json::clean(text.as_bytes())
        .unwrap()
        .repairs
        .iter()
        .any(|one| one.fault == RepairKind::HalfCharacter)
}

proptest! {
    #![proptest_config(cases(1_500))]

    #[test]
    fn odd_values_affect_only_themselves(odd in odd_value(), encoding in any_encoding()) {
        let json = card_with(&odd);
        let (card, warnings) = Card::read(&encoded(&json, encoding)).unwrap();
        prop_assert_eq!((card.name(), card.description()), ("Mira", "whole"));
        prop_assert_eq!(card.alternate_greetings()[0], "Hello.");
        let (book, _) = Book::from_character_book(card.character_book().unwrap());
        prop_assert_eq!(book.entries[0].content.as_str(), "whole");
        let told = warnings.iter().any(|warning| matches!(warning, Warning::Repaired(one) if one.fault == RepairKind::HalfCharacter));
        prop_assert_eq!(told, halves(&json));
        let (again, warnings) = Card::from_json(card.to_json().as_bytes()).unwrap();
        prop_assert_eq!(&again, &card);
        prop_assert!(!warnings.iter().any(|warning| matches!(warning, Warning::Repaired(_))), "stored JSON needs no repair");
    }

    #[test]
    fn an_odd_entry_affects_only_itself(odd in odd_value(), encoding in any_encoding()) {
        let json = format!(r#"{{"entries":{{"0":{{"uid":0,"key":["a"],"content":"first"}},"1":{odd},"2":{{"uid":2,"key":["b"],"content":"last"}}}}}}"#);
        let (book, _) = Book::read(&encoded(&json, encoding)).unwrap();
        let whole = |content: &str| book.entries.iter().any(|entry| entry.content == content);
        prop_assert!(whole("first") && whole("last"));
    }

    #[test]
    fn every_encoding_reads_the_same(odd in odd_value(), encoding in any_encoding()) {
        let json = format!("{{\"a\":{odd}}}");
        let plain = lenient_json::read(json.as_bytes()).unwrap().0;
        prop_assert_eq!(lenient_json::read(&encoded(&json, encoding)).unwrap().0, plain);
    }

    #[test]
    fn valid_json_needs_no_repair(text in "\\PC*", number in any::<f64>(), key in "\\PC{0,8}") {
        let value: Value = json!({ key: [text, number, { "n": null }] });
        prop_assert_eq!(lenient_json::read(value.to_string().as_bytes()).unwrap(), (value, Vec::new()));
    }

    #[test]
    fn damaged_json_never_panics(odd in odd_value(), encoding in any_encoding(), harms in harms()) {
        let bytes = harmed(encoded(&card_with(&odd), encoding), &harms);
        _ = lenient_json::read(&bytes);
        _ = Book::read(&bytes);
        if let Ok((card, _)) = Card::read_named(&bytes, "file") {
            prop_assert!(Card::from_json(card.to_json().as_bytes()).is_ok());
        }
    }
}

/// An arbitrary chunk: other texts, random bytes, wrong checksums, texts with card keywords.
fn any_chunk() -> impl Strategy<Value = Vec<u8>> {
    let kind = prop::sample::select(&["tEXt", "zTXt", "iTXt", "iTXt deflated"][..]);
    let keyword = prop::sample::select(
        &[
            "Comment",
            "chara",
            "ccv3",
            "Chara",
            "naidata",
            "chara-ext-asset_:a",
        ][..],
    );
    prop_oneof![
        ("[a-zA-Z]{4}", prop::collection::vec(any::<u8>(), 0..40))
            .prop_map(|(kind, data)| chunk(&kind, &data)),
        (kind, keyword, "[ -~]{0,40}")
            .prop_map(|(kind, keyword, text)| in_kind(kind, keyword, &text)),
        prop::collection::vec(any::<u8>(), 0..40)
            .prop_map(|data| chunk("zTXt", &[b"chara\0\0", &data[..]].concat())),
        (0_usize..2_000_000).prop_map(|size| chunk(
            "zTXt",
            &[b"ccv3\0\0", &deflated(&vec![b'A'; size])[..]].concat()
        )),
    ]
    .prop_filter("ends the picture", |chunk| &chunk[4..8] != b"IEND")
}

fn soup() -> impl Strategy<Value = Vec<Vec<u8>>> {
    prop::collection::vec(any_chunk(), 0..4)
}

proptest! {
    #![proptest_config(cases(400))]

    #[test]
    fn finds_a_card_among_random_chunks(before in soup(), after in soup(), kind in prop::sample::select(&["tEXt", "zTXt", "iTXt", "iTXt deflated"][..])) {
        let json = card_with("[]");
        let text = in_kind(kind, "ccv3", &STANDARD.encode(&json));
        let png = picture(&[before.concat(), text, after.concat()]);
        let (card, _) = Card::read(&png).unwrap();
        prop_assert_eq!(card.name(), "Mira");
        let exported = card.to_png(&png).unwrap();
        assert_keeps(&card.to_value(), &Card::read(&exported).unwrap().0.to_value());
        let is_card = |(kind, data): &(String, Vec<u8>)| {
            let keyword: Vec<u8> = data.iter().take_while(|byte| **byte != 0).map(u8::to_ascii_lowercase).collect();
            ["tEXt", "zTXt", "iTXt"].contains(&kind.as_str()) && (keyword == b"chara" || keyword == b"ccv3")
        };
        prop_assert_eq!(chunks(&exported).iter().filter(|chunk| is_card(chunk)).count(), 2);
    }

    #[test]
    fn damage_after_the_card_keeps_the_card(after in soup(), at in any::<prop::sample::Index>(), harms in harms()) {
        let text = in_kind("zTXt", "chara", &STANDARD.encode(card_with("[]")));
        let front = picture(&[text]);
        let front = &front[..front.len() - 12];
        let rest = [after.concat(), chunk("IEND", b"")].concat();
        let cut = [front, &rest[..at.index(rest.len())]].concat();
        let bad = [front, &harmed(rest, &harms)].concat();
        for png in [cut, bad] {
            // A later copy may be the intact one.
            let (card, _) = Card::read(&png).unwrap();
            prop_assert!(!card.name().is_empty());
        }
    }

    #[test]
    fn a_damaged_picture_never_panics(chunks in soup(), harms in harms()) {
        let text = in_kind("iTXt deflated", "ccv3", &STANDARD.encode(card_with("[]")));
        let png = harmed(picture(&[chunks.concat(), text]), &harms);
        if let Ok((card, _)) = Card::read_named(&png, "file") {
            _ = domain::card::picture(&png, &card);
            if domain::card::is_whole_png(&png) {
                prop_assert!(card.to_png(&png).is_ok());
            }
        }
        _ = Book::read(&png);
    }
}
