//! Key files that somebody made to use up memory or time, or that another program damaged.

use proptest::prelude::*;
use protection::{CostError, KeyFile, KeyFileError, KeySlot, RecoveryCode, UnlockError};
use serde_json::{Value, json};

use crate::rounds;
use crate::world::{Folder, PASSPHRASE, bytes, correct_checksum, key_file, passphrase};

fn refusal(json: &[u8]) -> KeyFileError {
    KeyFile::parse(json).unwrap_err()
}

fn unlock_error(json: &Value) -> UnlockError {
    let file = key_file(json);
    let unlocked = file.unlock_with_passphrase(&passphrase(PASSPHRASE));
    unlocked.unwrap_err()
}

const DAMAGED: UnlockError = UnlockError::Damaged {
    slot: KeySlot::Passphrase,
};

#[test]
fn huge_cost_is_refused_before_it_is_paid() {
    for (memory_kib, passes) in [
        (100 << 20, 1),
        (u32::MAX, u32::MAX),
        (64, u32::MAX),
        (1 << 20, 1_000),
        (0, 1),
        (64, 0),
    ] {
        let mut json = Folder::new().json();
        json["passphrase"]["argon2id"] = json!({ "memory_kib": memory_kib, "passes": passes });
        correct_checksum(&mut json, "passphrase");
        let refused = CostError::OutOfBounds { memory_kib, passes };
        assert_eq!(unlock_error(&json), UnlockError::Cost(refused));
    }
}

#[test]
fn text_that_is_no_key_file_is_refused() {
    for text in [
        "",
        "{",
        "null",
        "[]",
        "\"inglenook key file\"",
        "{}",
        r#"{"format": "another", "version": 1}"#,
        r#"{"format": ["inglenook key file"], "version": 1}"#,
        r#"{"format": "inglenook key file"}"#,
        r#"{"format": "inglenook key file", "version": 0}"#,
        r#"{"format": "inglenook key file", "version": "1"}"#,
        r#"{"format": "inglenook key file", "version": -1}"#,
        r#"{"format": "inglenook key file", "version": 1.5}"#,
        "\u{feff}{}",
    ] {
        let refused = refusal(text.as_bytes());
        assert!(matches!(refused, KeyFileError::Damaged { .. }), "{text}");
    }
    assert!(matches!(
        refusal(&[0xff, 0xfe]),
        KeyFileError::Damaged { .. }
    ));
}

#[test]
fn newer_format_is_named() {
    let mut json = Folder::new().json();
    json["version"] = json!(2);
    assert_eq!(
        refusal(json.to_string().as_bytes()),
        KeyFileError::NewerVersion { found: 2 }
    );
}

#[test]
fn large_and_deep_files_are_refused() {
    let large = vec![b' '; 100_000];
    assert_eq!(refusal(&large), KeyFileError::TooLarge { bytes: 100_000 });
    let deep = format!("{{\"a\": {}", "[".repeat(60_000));
    assert!(matches!(
        refusal(deep.as_bytes()),
        KeyFileError::Damaged { .. }
    ));
}

#[test]
fn missing_slots_are_damage() {
    let folder = Folder::new();
    let mut json = folder.json();
    for slot in ["passphrase", "recovery_code"] {
        json.as_object_mut().unwrap().remove(slot);
    }
    let slot = KeySlot::Passphrase;
    assert_eq!(unlock_error(&json), UnlockError::Damaged { slot });
    let slot = KeySlot::RecoveryCode;
    let recovered = key_file(&json).unlock_with_recovery_code(&folder.code);
    assert_eq!(recovered.unwrap_err(), UnlockError::Damaged { slot });
}

#[test]
fn missing_fields_and_wrong_types_are_damage() {
    let whole = Folder::new().json();
    let fields = [
        "argon2id", "salt", "nonce", "wrapped", "verifier", "checksum",
    ];
    for field in fields {
        let mut json = whole.clone();
        json["passphrase"].as_object_mut().unwrap().remove(field);
        assert_eq!(unlock_error(&json), DAMAGED, "without {field}");
        for other in [
            json!(null),
            json!(7),
            json!(-1),
            json!(true),
            json!([]),
            json!({}),
            json!(""),
            json!("00"),
            json!("g".repeat(64)),
            json!("ab".repeat(10_000)),
        ] {
            let mut json = whole.clone();
            json["passphrase"][field] = other.clone();
            assert_eq!(unlock_error(&json), DAMAGED, "{field}: {other}");
        }
    }
}

#[test]
fn wrong_numbers_of_the_cost_are_damage() {
    for cost in [
        json!({ "memory_kib": 64 }),
        json!({ "memory_kib": "64", "passes": 1 }),
        json!({ "memory_kib": 64.5, "passes": 1 }),
        json!({ "memory_kib": -64, "passes": 1 }),
        json!({ "memory_kib": 1_u64 << 32, "passes": 1 }),
        json!({ "memory_kib": 1e300, "passes": 1 }),
    ] {
        let mut json = Folder::new().json();
        json["passphrase"]["argon2id"] = cost.clone();
        assert_eq!(unlock_error(&json), DAMAGED, "{cost}");
    }
}

#[test]
fn slot_of_a_wrong_type_is_damage() {
    for other in [json!(null), json!([]), json!("slot"), json!(1)] {
        let mut json = Folder::new().json();
        json["passphrase"] = other;
        assert_eq!(unlock_error(&json), DAMAGED);
    }
}

/// A damaged file must not make the user doubt a passphrase that is right.
#[test]
fn flipped_byte_never_makes_the_passphrase_wrong() {
    let folder = Folder::new();
    let text = folder.file.to_json().into_bytes();
    for place in 0..text.len() {
        let mut changed = text.clone();
        changed[place] ^= 1;
        let Ok(file) = KeyFile::parse(&changed) else {
            continue;
        };
        match file.unlock_with_passphrase(&passphrase(PASSPHRASE)) {
            Ok(key) => assert_eq!(bytes(&key), bytes(&folder.key), "byte {place}"),
            Err(error) => assert!(
                matches!(error, UnlockError::Damaged { .. }),
                "byte {place}: {error}"
            ),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(rounds(2_000)))]

    #[test]
    fn changed_file_is_refused_or_unlocks(place in any::<usize>(), byte in any::<u8>()) {
        let folder = Folder::new();
        let mut text = folder.file.to_json().into_bytes();
        let place = place % text.len();
        text[place] = byte;
        if let Ok(file) = KeyFile::parse(&text) {
            let code = RecoveryCode::generate().unwrap();
            let _ = file.unlock_with_passphrase(&passphrase(PASSPHRASE));
            let _ = file.unlock_with_recovery_code(&folder.code);
            prop_assert!(file.unlock_with_recovery_code(&code).is_err());
        }
    }
}
