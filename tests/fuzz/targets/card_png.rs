//! Fuzz target: arbitrary bytes, and a valid PNG around any text. A parsed card is written into the
//! same picture and parsed again without loss.
#![no_main]

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::card::Card;
use libfuzzer_sys::fuzz_target;

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

fn chunk(kind: &[u8; 4], data: &[u8]) -> Vec<u8> {
    // Wrong checksums only cause a warning.
    [&(data.len() as u32).to_be_bytes()[..], kind, data, &[0; 4]].concat()
}

fn picture(keyword: &[u8], text: &[u8]) -> Vec<u8> {
    let text = [keyword, &[0], STANDARD.encode(text).as_bytes()].concat();
    [SIGNATURE, &chunk(b"IHDR", &[1; 13]), &chunk(b"tEXt", &text), &chunk(b"IEND", &[])].concat()
}

fn check(png: &[u8]) {
    let Ok((card, _)) = Card::from_png(png) else { return };
    let written = card.to_png(png).expect("a card goes back into the picture it came from");
    let (again, _) = Card::from_png(&written).expect("a written card can be parsed");
    assert_eq!((again.name(), again.greetings()), (card.name(), card.greetings()));
}

fuzz_target!(|bytes: &[u8]| {
    let Some((way, rest)) = bytes.split_first() else { return };
    match way % 4 {
        0 => check(rest),
        1 => check(&[SIGNATURE, &chunk(b"IHDR", &[1; 13]), rest].concat()),
        2 => check(&picture(b"chara", rest)),
        _ => check(&picture(b"ccv3", rest)),
    }
});
