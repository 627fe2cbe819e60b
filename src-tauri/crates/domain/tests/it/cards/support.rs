//! Builds small pictures, and compares cards by their leaves.

use std::collections::BTreeMap;
use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::card::{Card, CardError, Warning};
use serde_json::Value;

/// Header of a picture with a single dark pixel.
const HEADER: &[u8] = &[0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0];
const PIXELS: &[u8] = &[0x78, 0x9c, 0x63, 0x60, 0x00, 0x00, 0x00, 0x02, 0x00, 0x01];

/// Builds a chunk with length and checksum.
pub(crate) fn chunk(kind: &str, data: &[u8]) -> Vec<u8> {
    let body = [kind.as_bytes(), data].concat();
    [
        &(data.len() as u32).to_be_bytes()[..],
        &body,
        &crc32fast::hash(&body).to_be_bytes(),
    ]
    .concat()
}

/// Builds a picture with these chunks between pixels and end.
pub(crate) fn picture(extra: &[Vec<u8>]) -> Vec<u8> {
    let signature = b"\x89PNG\r\n\x1a\n".to_vec();
    [
        signature,
        chunk("IHDR", HEADER),
        chunk("IDAT", PIXELS),
        extra.concat(),
        chunk("IEND", b""),
    ]
    .concat()
}

pub(crate) fn text_chunk(keyword: &str, text: &str) -> Vec<u8> {
    chunk("tEXt", format!("{keyword}\0{text}").as_bytes())
}

/// Builds a text chunk of the given type.
pub(crate) fn in_kind(kind: &str, keyword: &str, text: &str) -> Vec<u8> {
    match kind {
        "tEXt" => text_chunk(keyword, text),
        "zTXt" => chunk(
            "zTXt",
            &[keyword.as_bytes(), b"\0\0", &deflated(text.as_bytes())].concat(),
        ),
        "iTXt" => chunk(
            "iTXt",
            &[keyword.as_bytes(), b"\0\0\0en\0\0", text.as_bytes()].concat(),
        ),
        _ => chunk(
            "iTXt",
            &[
                keyword.as_bytes(),
                b"\0\x01\0\0\0",
                &deflated(text.as_bytes()),
            ]
            .concat(),
        ),
    }
}

pub(crate) fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

/// Builds a card text chunk.
pub(crate) fn card_chunk(keyword: &str, json: &str) -> Vec<u8> {
    text_chunk(keyword, &STANDARD.encode(json))
}

/// Returns type and data of each chunk up to the end.
pub(crate) fn chunks(png: &[u8]) -> Vec<(String, Vec<u8>)> {
    let (mut found, mut rest) = (Vec::new(), &png[8..]);
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let length = u32::from_be_bytes(*length) as usize;
        found.push((
            String::from_utf8(after[..4].to_vec()).unwrap(),
            after[4..4 + length].to_vec(),
        ));
        rest = if after.starts_with(b"IEND") {
            &[]
        } else {
            &after[4 + length + 4..]
        };
    }
    found
}

/// Returns the JSON of the card text with this keyword.
pub(crate) fn card_in(png: &[u8], keyword: &str) -> Value {
    let start = format!("{keyword}\0").into_bytes();
    let chunks = chunks(png);
    let mut texts = chunks
        .iter()
        .filter(|(kind, data)| kind == "tEXt" && data.starts_with(&start));
    let (_, data) = texts.next().unwrap();
    assert!(texts.next().is_none(), "{keyword} is there twice");
    serde_json::from_slice(&STANDARD.decode(&data[start.len()..]).unwrap()).unwrap()
}

/// Returns all scalars and empty containers by JSON pointer.
pub(crate) fn leaves(value: &Value) -> BTreeMap<String, Value> {
    fn collect(path: String, value: &Value, leaves: &mut BTreeMap<String, Value>) {
        match value {
            Value::Array(items) if !items.is_empty() => {
                items
                    .iter()
                    .enumerate()
                    .for_each(|(i, item)| collect(format!("{path}/{i}"), item, leaves));
            }
            Value::Object(fields) if !fields.is_empty() => {
                fields.iter().for_each(|(key, item)| {
                    collect(
                        format!("{path}/{}", key.replace('~', "~0").replace('/', "~1")),
                        item,
                        leaves,
                    )
                });
            }
            leaf => _ = leaves.insert(path, leaf.clone()),
        }
    }
    let mut leaves = BTreeMap::new();
    collect(String::new(), value, &mut leaves);
    leaves
}

/// Asserts that every leaf of `before` is in `after`, at the same place or, for an upgraded V1
/// card, inside `data`.
pub(crate) fn assert_keeps(before: &Value, after: &Value) {
    let (before, after) = (leaves(before), leaves(after));
    for (path, value) in before {
        if matches!(path.split('/').nth(1), Some("spec" | "spec_version")) {
            continue;
        }
        let kept =
            after.get(&path) == Some(&value) || after.get(&format!("/data{path}")) == Some(&value);
        assert!(kept, "{path} was {value} and is lost");
    }
}

pub(crate) fn read(json: &str) -> (Card, Vec<Warning>) {
    Card::read(json.as_bytes()).unwrap()
}

pub(crate) fn read_error(json: &str) -> CardError {
    Card::read(json.as_bytes()).unwrap_err()
}

/// Reads a card that gives no warnings.
pub(crate) fn read_clean(json: &str) -> Card {
    let (card, warnings) = read(json);
    assert_eq!(warnings, []);
    card
}

pub(crate) fn v3(name: &str) -> String {
    format!(r#"{{"spec":"chara_card_v3","spec_version":"3.0","data":{{"name":"{name}"}}}}"#)
}

pub(crate) fn v2(name: &str) -> String {
    format!(r#"{{"spec":"chara_card_v2","spec_version":"2.0","data":{{"name":"{name}"}}}}"#)
}
