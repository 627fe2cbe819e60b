//! Fuzz target: card JSON never panics, and a parsed card is written and parsed again as the same
//! card.
#![no_main]

use domain::card::Card;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok((card, _)) = Card::from_json(bytes) else { return };
    let (again, _) = Card::from_json(card.to_json().as_bytes()).expect("a written card can be parsed");
    assert_eq!(again, card);
    for json in [card.to_json_v2(), card.to_json_v3()] {
        let (other, _) = Card::from_json(json.as_bytes()).expect("every version is a card");
        assert_eq!(other.name(), card.name());
        assert_eq!(other.greetings(), card.greetings());
    }
});
