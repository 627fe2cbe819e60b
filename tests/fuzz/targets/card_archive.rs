//! Fuzz target: arbitrary bytes, and valid CHARX and Backyard archives around any document. A
//! parsed card is written into the same archive and parsed again without loss.
#![no_main]

use std::io::{Cursor, Write as _};

use domain::card::{Card, picture};
use libfuzzer_sys::fuzz_target;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const MANIFEST: &[u8] = br#"{"characters": ["characters/c/character.json"], "scenarios": ["scenarios/s.json"]}"#;
const CHARACTER: &[u8] = br#"{"id": "c", "name": "Wren"}"#;

fn archive(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in members {
        zip.start_file(*name, SimpleFileOptions::default()).expect("a member can be begun");
        zip.write_all(bytes).expect("a member can be written");
    }
    zip.finish().expect("an archive can be ended").into_inner()
}

fn check(file: &[u8]) {
    let Ok((card, _)) = Card::read(file) else { return };
    _ = picture(file, &card);
    if let Ok(Some(scenarios)) = domain::backyard::scenarios(file) {
        scenarios.for_each(|scenario| _ = scenario.into_chat("Wren", "You"));
    }
    // A card of maximum size may exceed the limit when written.
    let Ok(written) = card.to_charx(Some(file), None) else { return };
    let Ok((again, _)) = Card::read(&written) else { return };
    assert_eq!((again.name(), again.greetings()), (card.name(), card.greetings()));
}

fuzz_target!(|bytes: &[u8]| {
    let Some((way, rest)) = bytes.split_first() else { return };
    match way % 4 {
        0 => check(rest),
        1 => check(&archive(&[("card.json", rest), ("module.risum", &[0])])),
        2 => check(&archive(&[
            ("manifest.json", MANIFEST),
            ("characters/c/character.json", rest),
            ("scenarios/s.json", b"{}"),
        ])),
        _ => check(&archive(&[
            ("manifest.json", MANIFEST),
            ("characters/c/character.json", CHARACTER),
            ("scenarios/s.json", rest),
        ])),
    }
});
