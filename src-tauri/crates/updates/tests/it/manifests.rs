//! Which manifests are read, and what they may offer.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use minisign::SecretKey;
use minisign_verify::PublicKey;
use proptest::prelude::*;
use serde_json::{Value, json};
use updates::{
    CHANNEL, Decision, InstalledVersion, MAX_MANIFEST, ManifestError, Refusal, TEST_KEY,
    UpdateManifest, Version, verify,
};

use crate::signer::{Signer, sign};

const LINUX: &str = "linux-x86_64";

fn offer(version: &str, serial: u64) -> Value {
    json!({
        "product": "inglenook",
        "channel": "stable",
        "serial": serial,
        "version": version,
        "published": "2026-12-01T10:00:00Z",
        "notes": { "en": "Faster.", "de": "Schneller." },
        "archives": { LINUX: {
            "url": "https://updates.example/0.2.0.tar.zst",
            "size": 1_000,
            "sha256": "0".repeat(64),
        }},
    })
}

/// Signs the manifest and reads it.
fn read(manifest: &Value) -> Result<UpdateManifest, ManifestError> {
    let signer = Signer::new();
    let bytes = manifest.to_string().into_bytes();
    verify(&bytes, &signer.sign(&bytes), &[signer.public()])
}

/// The decision of version 0.1.0 that has seen the serial 7.
fn decide(manifest: &Value) -> Result<Decision, Refusal> {
    let version = Version::new(0, 1, 0);
    read(manifest).unwrap().decide(&InstalledVersion {
        version: &version,
        last_serial: Some(7),
        channel: CHANNEL,
    })
}

#[test]
fn signed_manifest_is_read() {
    let read = read(&offer("0.2.0", 8)).unwrap();
    assert_eq!(
        (read.serial, read.version.to_string().as_str()),
        (8, "0.2.0")
    );
    assert_eq!(read.notes.de.as_deref(), Some("Schneller."));
    assert_eq!(read.archive(LINUX).unwrap().size, 1_000);
}

#[test]
fn unknown_fields_are_ignored() {
    let mut manifest = offer("0.2.0", 8);
    manifest["rollout"] = json!({ "percent": 5 });
    manifest["notes"] = json!({ "en": "Faster.", "fr": "Plus rapide." });
    assert_eq!(read(&manifest).unwrap().notes.de, None);
}

#[test]
fn manifest_without_our_signature_is_refused() {
    let [ours, theirs] = [Signer::new(), Signer::new()];
    let bytes = offer("0.2.0", 8).to_string().into_bytes();
    let changed = offer("0.3.0", 8).to_string().into_bytes();
    let good = ours.sign(&bytes);
    let keys = [ours.public()];
    assert!(verify(&bytes, &good, &keys).is_ok());
    for (what, bytes, signature) in [
        ("another key", &bytes, theirs.sign(&bytes)),
        ("other bytes", &changed, good.clone()),
        ("a cut signature", &bytes, good[..good.len() / 2].to_owned()),
        ("no signature", &bytes, String::new()),
        ("a web page", &bytes, "<html>Log in</html>".to_owned()),
    ] {
        let refused = verify(bytes, &signature, &keys);
        assert_eq!(refused, Err(ManifestError::Signature), "{what}");
    }
    let refused = verify(&bytes, &good, &[]);
    assert_eq!(refused, Err(ManifestError::Signature), "no key");
    assert!(verify(&bytes, &good, &[theirs.public(), ours.public()]).is_ok());
}

#[test]
fn large_manifest_is_refused() {
    let signer = Signer::new();
    let bytes = vec![b' '; MAX_MANIFEST + 1];
    let refused = verify(&bytes, &signer.sign(&bytes), &[signer.public()]);
    assert!(
        matches!(refused, Err(ManifestError::TooLarge { .. })),
        "{refused:?}"
    );
}

#[test]
fn odd_manifests_are_refused() {
    for (field, value) in [
        ("version", json!("newest")),
        ("version", json!("../../0.2.0")),
        ("version", json!(format!("0.2.0-{}", "a".repeat(80)))),
        ("serial", json!(-1)),
        ("archives", json!([])),
        ("notes", json!("Faster.")),
    ] {
        let mut manifest = offer("0.2.0", 8);
        manifest[field] = value;
        let refused = read(&manifest);
        assert!(
            matches!(refused, Err(ManifestError::Damaged { .. })),
            "{field}: {refused:?}"
        );
    }
}

#[test]
fn newer_version_is_available() {
    assert_eq!(decide(&offer("0.2.0", 7)), Ok(Decision::Available));
    assert_eq!(decide(&offer("0.1.1-rc.1", 8)), Ok(Decision::Available));
    assert_eq!(decide(&offer("0.1.0", 8)), Ok(Decision::UpToDate));
    assert_eq!(decide(&offer("0.1.0+linux", 8)), Ok(Decision::UpToDate));
}

#[test]
fn older_version_and_older_manifest_are_refused() {
    for older in ["0.0.9", "0.1.0-rc.1"] {
        let refused = decide(&offer(older, 8));
        assert!(
            matches!(refused, Err(Refusal::Downgrade { .. })),
            "{refused:?}"
        );
    }
    let refused = decide(&offer("0.2.0", 6));
    assert_eq!(refused, Err(Refusal::Replay { serial: 6, last: 7 }));
}

#[test]
fn manifest_of_another_product_is_refused() {
    let mut manifest = offer("0.2.0", 8);
    manifest["product"] = json!("fireside");
    let refused = decide(&manifest);
    assert!(
        matches!(refused, Err(Refusal::OtherProduct { .. })),
        "{refused:?}"
    );
    let mut manifest = offer("0.2.0", 8);
    manifest["channel"] = json!("nightly");
    let refused = decide(&manifest);
    assert!(
        matches!(refused, Err(Refusal::OtherChannel { .. })),
        "{refused:?}"
    );
}

#[test]
fn archive_must_fit_the_platform() {
    let refused = read(&offer("0.2.0", 8)).unwrap();
    assert!(matches!(
        refused.archive("plan9-mips"),
        Err(Refusal::NoArchiveForPlatform { .. })
    ));
    for (field, value) in [
        ("size", json!(0)),
        ("size", json!(u64::MAX)),
        ("sha256", json!("abc")),
        ("sha256", json!("z".repeat(64))),
    ] {
        let mut manifest = offer("0.2.0", 8);
        manifest["archives"][LINUX][field] = value;
        let read = read(&manifest).unwrap();
        let refused = read.archive(LINUX);
        assert!(
            matches!(refused, Err(Refusal::BadArchive { .. })),
            "{field}: {refused:?}"
        );
    }
}

#[test]
fn test_key_of_the_repository_signs() {
    let file = include_str!("../../keys/test.key");
    let raw = BASE64_STANDARD
        .decode(file.lines().nth(1).unwrap())
        .unwrap();
    let secret = SecretKey::from_bytes(&raw).unwrap();
    let bytes = offer("0.2.0", 8).to_string().into_bytes();
    let public = PublicKey::from_base64(TEST_KEY).unwrap();
    assert!(verify(&bytes, &sign(&secret, &bytes), &[public]).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn no_changed_byte_is_accepted(at in any::<prop::sample::Index>(), bit in 0..8u8) {
        let signer = Signer::new();
        let bytes = offer("0.2.0", 8).to_string().into_bytes();
        let signature = signer.sign(&bytes);
        let mut changed = bytes.clone();
        changed[at.index(bytes.len())] ^= 1 << bit;
        let refused = verify(&changed, &signature, &[signer.public()]);
        prop_assert_eq!(refused, Err(ManifestError::Signature));
    }

    #[test]
    fn hostile_signature_never_panics(signature in "\\PC{0,200}(\n\\PC{0,200}){0,4}") {
        let public = PublicKey::from_base64(TEST_KEY).unwrap();
        let verified = verify(b"{}", &signature, &[public]);
        prop_assert!(verified.is_err());
    }

    #[test]
    fn hostile_json_never_panics(text in "[\\[\\]{}\",:a-z0-9]{0,300}") {
        let signer = Signer::new();
        let signature = signer.sign(text.as_bytes());
        let refused = verify(text.as_bytes(), &signature, &[signer.public()]);
        prop_assert!(refused.is_err());
    }
}
