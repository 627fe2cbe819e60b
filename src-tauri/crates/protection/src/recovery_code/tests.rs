use proptest::prelude::*;

use super::*;

fn code(byte: impl Fn(u8) -> u8) -> RecoveryCode {
    let mut secret = Secret::default();
    for (place, number) in secret.expose_secret_mut().iter_mut().zip(0..) {
        *place = byte(number);
    }
    RecoveryCode(secret)
}

/// The text of a code, and its bytes as they are read from it.
fn read(typed: &str) -> Result<[u8; KEY_BYTES], RecoveryCodeError> {
    RecoveryCode::parse(typed).map(|code| *code.bytes())
}

fn text(code: &RecoveryCode) -> String {
    code.text().expose_secret().to_owned()
}

/// The code of the folder in `tests/folder`.
const COUNTED: &str =
    "CNK6C-ET399-D9NPR-RVBEE-DXR7S-2WKKX-EHTQC-CXVRK-F5X7T-PZ3XR-FSZRG-10C2D-GE20Q";

/// Written by an independent program in Python.
#[test]
fn text_has_thirteen_groups_of_five() {
    for (code, expected) in [
        (code(|number| 101 + number), COUNTED),
        (
            code(|_| 0),
            "00001-00002-00003-00004-00005-00006-00007-00008-00009-0000A-0000B-0000C-0000D",
        ),
        (
            code(|_| 0xff),
            "ZZZZC-ZZZZF-ZZZZE-ZZZZ9-ZZZZ8-ZZZZB-ZZZZA-ZZZZ5-ZZZZ4-ZZZZ7-ZZZZ6-ZZZZ1-ZZZGY",
        ),
    ] {
        assert_eq!(text(&code), expected);
        assert_eq!(read(expected), Ok(*code.bytes()));
    }
}

#[test]
fn case_separators_and_similar_letters_do_not_matter() {
    let expected = read(COUNTED);
    assert!(expected.is_ok());
    for typed in [
        COUNTED.to_lowercase(),
        COUNTED.replace('-', ""),
        COUNTED.replace('-', " — "),
        COUNTED.replace('-', "\n"),
        format!("  {COUNTED}\n"),
        COUNTED.replace("CNK6C", "CN-K6 C"),
        COUNTED.replace('0', "o").replace('1', "l"),
        COUNTED.replace('0', "O").replace('1', "I"),
    ] {
        assert_eq!(read(&typed), expected, "{typed}");
    }
}

#[test]
fn missing_or_extra_letter_names_its_group() {
    for (typed, group, letters) in [
        (COUNTED.replace("D9NPR", "D9NR"), 3, 4),
        (COUNTED.replace("GE20Q", "GE20QQ"), 13, 6),
    ] {
        assert_eq!(
            read(&typed),
            Err(RecoveryCodeError::GroupLength { group, letters })
        );
    }
}

#[test]
fn code_of_another_length_is_refused() {
    for (typed, letters) in [
        (String::new(), 0),
        (" - ".to_owned(), 0),
        (COUNTED[..11].to_owned(), 10),
        (COUNTED.replace(['-', 'Q'], ""), 63),
        ("7".repeat(100_000), 100_000),
    ] {
        assert_eq!(read(&typed), Err(RecoveryCodeError::Length { letters }));
    }
}

#[test]
fn unused_bits_must_be_zero() {
    // The last data letter carries one bit of the secret and four zero bits.
    let data = ['G', 'E', '2', '1'].map(|letter| symbol_of(letter).unwrap());
    let group: String = data
        .into_iter()
        .chain([check_symbol(12, &data)])
        .map(letter)
        .collect();
    let typed = COUNTED.replace("GE20Q", &group);
    assert_eq!(read(&typed), Err(RecoveryCodeError::Group { group: 13 }));
}

#[test]
fn code_is_random_and_not_printed() {
    let [first, second] = [(); 2].map(|()| RecoveryCode::generate().unwrap());
    assert_ne!(text(&first), text(&second));
    assert!(format!("{first:?}").contains("REDACTED"));
}

/// The letters of a code, without hyphens.
fn letters_of(code: &RecoveryCode) -> Vec<char> {
    text(code).replace('-', "").chars().collect()
}

proptest! {
    #[test]
    fn every_code_is_read_again(bytes in any::<[u8; KEY_BYTES]>()) {
        let code = code(|number| bytes[usize::from(number)]);
        prop_assert_eq!(read(&text(&code)), Ok(bytes));
    }

    #[test]
    fn wrong_letter_names_its_group(
        bytes in any::<[u8; KEY_BYTES]>(), place in 0..LETTERS, step in 1..32_usize,
    ) {
        let code = code(|number| bytes[usize::from(number)]);
        let mut letters = letters_of(&code);
        let before = usize::from(symbol_of(letters[place]).unwrap());
        letters[place] = char::from(ALPHABET[(before + step) % 32]);
        let group = place / GROUP_LETTERS + 1;
        let typed: String = letters.into_iter().collect();
        prop_assert_eq!(read(&typed), Err(RecoveryCodeError::Group { group }));
    }

    #[test]
    fn exchanged_letters_name_their_group(
        bytes in any::<[u8; KEY_BYTES]>(), group in 0..GROUPS,
        first in 0..GROUP_LETTERS, second in 0..GROUP_LETTERS,
    ) {
        let code = code(|number| bytes[usize::from(number)]);
        let mut letters = letters_of(&code);
        let [first, second] = [first, second].map(|place| group * GROUP_LETTERS + place);
        prop_assume!(letters[first] != letters[second]);
        letters.swap(first, second);
        let typed: String = letters.into_iter().collect();
        prop_assert_eq!(read(&typed), Err(RecoveryCodeError::Group { group: group + 1 }));
    }

    #[test]
    fn exchanged_groups_are_found(
        bytes in any::<[u8; KEY_BYTES]>(), first in 0..GROUPS, second in 0..GROUPS,
    ) {
        prop_assume!(first < second);
        let text = text(&code(|number| bytes[usize::from(number)]));
        let mut groups: Vec<&str> = text.split('-').collect();
        groups.swap(first, second);
        prop_assert_eq!(
            read(&groups.join("-")),
            Err(RecoveryCodeError::Group { group: first + 1 })
        );
    }

    #[test]
    fn any_text_is_read_or_refused(typed in any::<String>()) {
        let _ = read(&typed);
    }
}
