//! Which passphrases unlock a folder.

use proptest::prelude::*;
use protection::{KeySlot, Passphrase, UnlockError};
use unicode_normalization::UnicodeNormalization as _;

use crate::rounds;
use crate::world::{Folder, bytes, passphrase};

/// Whether a folder with the passphrase `set` is unlocked by `typed`.
fn unlocks(set: &str, typed: &str) -> bool {
    let folder = Folder::with_passphrase(set);
    match folder.file.unlock_with_passphrase(&passphrase(typed)) {
        Ok(key) => {
            assert_eq!(bytes(&key), bytes(&folder.key));
            true
        }
        Err(error) => {
            let slot = KeySlot::Passphrase;
            assert_eq!(error, UnlockError::Wrong { slot }, "{set:?} {typed:?}");
            false
        }
    }
}

#[test]
fn same_passphrase_typed_in_other_ways_unlocks() {
    let longest = "ö".repeat(1_024);
    let decomposed: String = longest.nfd().collect();
    for (set, typed) in [
        ("x", "x"),
        ("öl", "o\u{308}l"),
        ("o\u{308}l", "öl"),
        ("whale oil", " whale\u{a0}oil\n"),
        ("🔑🕯️", "🔑🕯️"),
        ("שמן 7 מנורה", " שמן 7 מנורה"),
        ("مصباح", "مصباح\r\n"),
        (longest.as_str(), decomposed.as_str()),
    ] {
        assert!(unlocks(set, typed), "{set:?} {typed:?}");
    }
}

#[test]
fn another_passphrase_does_not_unlock() {
    let longest = "x".repeat(1_024);
    for (set, typed) in [
        ("whale oil", "Whale oil"),
        ("whale oil", "whaleoil"),
        ("whale oil", "whale  oil"),
        ("öl", "ol"),
        ("ﬁsh", "fish"),
        ("🔑", "🗝"),
        (longest.as_str(), &longest[1..]),
    ] {
        assert!(!unlocks(set, typed), "{set:?} {typed:?}");
    }
}

fn typed() -> impl Strategy<Value = String> {
    prop_oneof!["[a-c ]{1,3}", "[oö\u{308}\u{a0} ]{1,4}", "\\PC{1,12}"]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(rounds(1_000)))]

    #[test]
    fn only_equal_normal_forms_unlock(set in typed(), other in typed()) {
        let normal = |text: &str| -> String {
            let composed = text.nfc();
            let blank = |letter: char| if letter.is_whitespace() { ' ' } else { letter };
            composed.map(blank).collect::<String>().trim().to_owned()
        };
        if Passphrase::new(&set).is_ok() && Passphrase::new(&other).is_ok() {
            prop_assert_eq!(unlocks(&set, &other), normal(&set) == normal(&other));
        }
    }
}
