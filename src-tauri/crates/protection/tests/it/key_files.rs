//! Unlocking a folder, and changing the ways to unlock it.

use proptest::prelude::*;
use protection::{
    Conversion, DataKey, KeyFile, KeySlot, KeychainKey, RecoveryCode, UnlockError, WrapError,
};
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};

use crate::rounds;
use crate::world::{
    Folder, PASSPHRASE, bytes, cheap, code_text, correct_checksum, key_file, passphrase,
};

fn unlock(file: &KeyFile, typed: &str) -> Result<[u8; 32], UnlockError> {
    let key = file.unlock_with_passphrase(&passphrase(typed));
    key.map(|key| bytes(&key))
}

fn recover(file: &KeyFile, code: &RecoveryCode) -> Result<[u8; 32], UnlockError> {
    file.unlock_with_recovery_code(code).map(|key| bytes(&key))
}

const WRONG_PASSPHRASE: UnlockError = UnlockError::Wrong {
    slot: KeySlot::Passphrase,
};
const DAMAGED_PASSPHRASE: UnlockError = UnlockError::Damaged {
    slot: KeySlot::Passphrase,
};

#[test]
fn three_ways_unlock_the_same_key() {
    let mut folder = Folder::new();
    let keychain = KeychainKey::generate().unwrap();
    folder
        .file
        .set_keychain_key(&folder.key, &keychain)
        .unwrap();
    let file = KeyFile::parse(folder.file.to_json().as_bytes()).unwrap();
    let typed = RecoveryCode::parse(&code_text(&folder.code).to_lowercase()).unwrap();
    let kept = KeychainKey::parse(keychain.text().expose_secret()).unwrap();
    let expected = bytes(&folder.key);
    assert_eq!(unlock(&file, PASSPHRASE), Ok(expected));
    assert_eq!(recover(&file, &typed), Ok(expected));
    let unlocked = file.unlock_with_keychain(&kept).unwrap();
    assert_eq!(bytes(&unlocked), expected);
    assert!(file.belongs_to(&unlocked));
}

#[test]
fn wrong_secrets_are_told_from_damage() {
    let mut folder = Folder::new();
    let keychain = KeychainKey::generate().unwrap();
    folder
        .file
        .set_keychain_key(&folder.key, &keychain)
        .unwrap();
    assert_eq!(unlock(&folder.file, "sperm oil"), Err(WRONG_PASSPHRASE));
    let other = Folder::new();
    assert_eq!(
        recover(&folder.file, &other.code),
        Err(UnlockError::Wrong {
            slot: KeySlot::RecoveryCode
        })
    );
    let lost = folder
        .file
        .unlock_with_keychain(&KeychainKey::generate().unwrap());
    assert_eq!(
        lost.unwrap_err(),
        UnlockError::Wrong {
            slot: KeySlot::Keychain
        }
    );
}

#[test]
fn new_passphrase_replaces_only_its_wrapped_copy() {
    let mut folder = Folder::new();
    let before = folder.json();
    let new = passphrase("lamp black");
    folder
        .file
        .set_passphrase(&folder.key, &new, cheap())
        .unwrap();
    assert_eq!(unlock(&folder.file, PASSPHRASE), Err(WRONG_PASSPHRASE));
    assert_eq!(unlock(&folder.file, "lamp black"), Ok(bytes(&folder.key)));
    let after = folder.json();
    for field in ["check", "recovery_code"] {
        assert_eq!(before[field], after[field]);
    }
}

#[test]
fn same_passphrase_is_wrapped_differently_each_time() {
    let mut folder = Folder::new();
    let before = folder.json();
    let same = passphrase(PASSPHRASE);
    folder
        .file
        .set_passphrase(&folder.key, &same, cheap())
        .unwrap();
    let after = folder.json();
    for field in ["salt", "nonce", "wrapped", "verifier"] {
        assert_ne!(before["passphrase"][field], after["passphrase"][field]);
    }
}

#[test]
fn renewed_recovery_code_replaces_the_old_one() {
    let mut folder = Folder::new();
    let renewed = RecoveryCode::generate().unwrap();
    folder
        .file
        .set_recovery_code(&folder.key, &renewed)
        .unwrap();
    assert!(recover(&folder.file, &folder.code).is_err());
    assert_eq!(recover(&folder.file, &renewed), Ok(bytes(&folder.key)));
    assert_eq!(unlock(&folder.file, PASSPHRASE), Ok(bytes(&folder.key)));
}

#[test]
fn removed_keychain_key_does_not_unlock() {
    let mut folder = Folder::new();
    let keychain = KeychainKey::generate().unwrap();
    folder
        .file
        .set_keychain_key(&folder.key, &keychain)
        .unwrap();
    assert!(folder.file.has(KeySlot::Keychain));
    folder.file.remove_keychain_key();
    assert!(!folder.file.has(KeySlot::Keychain));
    assert_eq!(
        folder.file.unlock_with_keychain(&keychain).unwrap_err(),
        UnlockError::Missing {
            slot: KeySlot::Keychain
        }
    );
}

#[test]
fn unknown_fields_survive_every_change() {
    let folder = Folder::new();
    let mut json = folder.json();
    json["since"] = json!("2027-02-01");
    json["other_slot"] = json!({ "deep": [1, 2.5, null] });
    json["recovery_code"]["printed"] = json!(true);
    let mut file = key_file(&json);
    file.set_passphrase(&folder.key, &passphrase("new"), cheap())
        .unwrap();
    file.set_keychain_key(&folder.key, &KeychainKey::generate().unwrap())
        .unwrap();
    file.remove_keychain_key();
    let written: Value = serde_json::from_str(&file.to_json()).unwrap();
    for field in ["since", "other_slot", "recovery_code"] {
        assert_eq!(written[field], json[field]);
    }
    let names =
        |json: &Value| -> Vec<String> { json.as_object().unwrap().keys().cloned().collect() };
    assert_eq!(names(&written), names(&json));
}

#[test]
fn begun_conversion_survives_every_change() {
    let folder = Folder::new();
    let mut file = folder.file.clone();
    assert_eq!((file.conversion(), file.since()), (None, None));
    file.set_since("2027-02-01T00:00:00Z");
    for begun in [Conversion::On, Conversion::Off] {
        file.set_conversion(Some(begun));
        file.set_passphrase(&folder.key, &passphrase("new"), cheap())
            .unwrap();
        let read = KeyFile::parse(file.to_json().as_bytes()).unwrap();
        assert_eq!(read.conversion(), Some(begun));
        assert_eq!(read.since(), Some("2027-02-01T00:00:00Z"));
    }
    file.set_conversion(None);
    let read = KeyFile::parse(file.to_json().as_bytes()).unwrap();
    assert_eq!(read.conversion(), None);
    let odd = key_file(&json!({ "format": "inglenook key file", "version": 1, "converting": 7 }));
    assert_eq!(odd.conversion(), None);
}

#[test]
fn folder_is_identified_by_its_check_value() {
    let [one, other] = [Folder::new(), Folder::new()];
    let id = one.file.folder_id().unwrap();
    assert_ne!(other.file.folder_id(), Some(id));
    assert!(
        one.json()["check"]
            .as_str()
            .unwrap()
            .starts_with(&format!("{id:08x}"))
    );
    let mut json = one.json();
    for damaged in ["", "../../x", "+1234567"] {
        json["check"] = json!(damaged);
        let file = key_file(&json);
        assert!(
            file.folder_id()
                .is_none_or(|id| format!("{id:08x}") != damaged)
        );
    }
}

#[test]
fn cost_of_the_passphrase_is_stated() {
    let folder = Folder::new();
    assert_eq!(folder.file.passphrase_cost(), Some(cheap()));
    let mut json = folder.json();
    flip(&mut json, "passphrase", "salt", 0);
    assert_eq!(key_file(&json).passphrase_cost(), None);
}

#[test]
fn key_of_another_folder_is_not_wrapped() {
    let mut folder = Folder::new();
    let before = folder.file.clone();
    let other = DataKey::generate().unwrap();
    assert!(!folder.file.belongs_to(&other));
    let new = passphrase("new");
    assert_eq!(
        folder.file.set_passphrase(&other, &new, cheap()),
        Err(WrapError::OtherKey)
    );
    assert_eq!(
        folder.file.set_recovery_code(&other, &folder.code),
        Err(WrapError::OtherKey)
    );
    assert_eq!(folder.file, before);
}

#[test]
fn damaged_check_value_does_not_lock_anybody_out() {
    let folder = Folder::new();
    let mut json = folder.json();
    json["check"] = json!("00");
    let file = key_file(&json);
    assert_eq!(unlock(&file, PASSPHRASE), Ok(bytes(&folder.key)));
    assert!(!file.belongs_to(&folder.key));
}

/// Flips a bit of a field.
fn flip(json: &mut Value, slot: &str, field: &str, place: usize) {
    let text = json[slot][field].as_str().unwrap();
    let mut bytes = hex::decode(text).unwrap();
    let place = place % bytes.len();
    bytes[place] ^= 1;
    json[slot][field] = hex::encode(bytes).into();
}

const FIELDS: &[&str] = &["salt", "nonce", "wrapped", "verifier", "checksum"];

#[test]
fn swapped_copies_do_not_open() {
    let [one, mut other] = [Folder::new(), Folder::new()].map(|folder| folder.json());
    other["recovery_code"] = one["passphrase"].clone();
    let file = key_file(&other);
    assert_eq!(
        recover(&file, &RecoveryCode::generate().unwrap()),
        Err(UnlockError::Damaged {
            slot: KeySlot::RecoveryCode
        })
    );
}

#[test]
fn copy_changed_on_purpose_is_damaged_not_wrong() {
    let folder = Folder::new();
    for field in ["nonce", "wrapped"] {
        let mut json = folder.json();
        flip(&mut json, "passphrase", field, 3);
        correct_checksum(&mut json, "passphrase");
        assert_eq!(
            unlock(&key_file(&json), PASSPHRASE),
            Err(DAMAGED_PASSPHRASE)
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(rounds(500)))]

    #[test]
    fn flipped_bit_is_damage_and_leaves_the_other_way(
        field in prop::sample::select(FIELDS), place in any::<usize>(),
    ) {
        let folder = Folder::new();
        let mut json = folder.json();
        flip(&mut json, "passphrase", field, place);
        let file = key_file(&json);
        // Neither with the right passphrase nor with a wrong one.
        for typed in [PASSPHRASE, "sperm oil"] {
            prop_assert_eq!(unlock(&file, typed), Err(DAMAGED_PASSPHRASE));
        }
        prop_assert_eq!(recover(&file, &folder.code), Ok(bytes(&folder.key)));
    }
}
