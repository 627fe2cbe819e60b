//! Hostile archives are refused by the rule they break, before anything is unpacked.

use domain::archive::{ArchiveError, MAX_ARCHIVE, MAX_MEMBER, MAX_MEMBERS, MAX_RATIO, MAX_TOTAL};
use domain::card::{Card, CardError};

use super::archives::{Listed, archive, crowd, listed};
use super::support::v3;

/// Builds an archive with a valid card and this member.
fn beside_a_card(member: Listed) -> Vec<u8> {
    listed(&[Listed::new("card.json", v3("Mira").as_bytes()), member])
}

#[track_caller]
fn refusal(archive: &[u8]) -> ArchiveError {
    match Card::read(archive).unwrap_err() {
        CardError::Archive(error) => error,
        other => panic!("{other}"),
    }
}

#[test]
fn reads_a_harmless_archive_built_the_same_way() {
    let (card, _) = Card::read(&beside_a_card(Listed::new("a.txt", b"x"))).unwrap();
    assert_eq!(card.name(), "Mira");
}

#[test]
fn refuses_names_that_lead_out_of_a_folder() {
    for name in [
        "../a",
        "a/../../b",
        "/etc/passwd",
        "C:\\a",
        "c:/a",
        "..\\a",
        "a\\..\\b",
        "\\\\host\\a",
        "a\0.png",
        "",
        "./card.json",
    ] {
        let error = refusal(&beside_a_card(Listed::new(name, b"x")));
        assert!(
            matches!(error, ArchiveError::UnsafeName { .. }),
            "{name:?}: {error}"
        );
    }
    let error = refusal(&beside_a_card(Listed::new("../../home/a.sh", b"x")));
    assert!(error.to_string().contains("../../home/a.sh"), "{error}");
}

#[test]
fn refuses_links() {
    let link = Listed {
        mode: 0o120_777,
        ..Listed::new("icon.png", b"/etc/passwd")
    };
    assert_eq!(
        refusal(&beside_a_card(link)),
        ArchiveError::Link {
            name: "icon.png".into()
        }
    );
}

#[test]
fn refuses_archive_bombs() {
    let bomb = archive(&[
        ("card.json", v3("Mira").as_bytes()),
        ("bomb.bin", &vec![0; 40 << 20]),
    ]);
    assert!(bomb.len() < 100_000);
    assert_eq!(
        refusal(&bomb),
        ArchiveError::Ratio {
            name: "bomb.bin".into(),
            limit: MAX_RATIO
        }
    );
    // A short repetitive text is harmless despite its ratio.
    assert!(
        Card::read(&archive(&[
            ("card.json", v3("Mira").as_bytes()),
            ("a.txt", &[b'a'; 900_000])
        ]))
        .is_ok()
    );
}

#[test]
fn refuses_sizes_above_the_limits() {
    let huge = Listed {
        size: MAX_MEMBER as u32 + 1,
        packed: 1 << 20,
        ..Listed::new("a.bin", b"x")
    };
    let error = refusal(&beside_a_card(huge));
    assert!(
        matches!(
            error,
            ArchiveError::MemberTooLarge {
                limit: MAX_MEMBER,
                ..
            }
        ),
        "{error}"
    );

    let large = |at| Listed {
        size: 60 << 20,
        packed: 1 << 20,
        ..Listed::new(&format!("{at}.bin"), b"x")
    };
    let error = refusal(&listed(&(0..9).map(large).collect::<Vec<_>>()));
    assert_eq!(error, ArchiveError::TotalTooLarge { limit: MAX_TOTAL });

    let whole = [&b"PK\x03\x04"[..], &vec![0; MAX_ARCHIVE]].concat();
    assert!(matches!(
        refusal(&whole),
        ArchiveError::TooLarge {
            limit: MAX_ARCHIVE,
            ..
        }
    ));
}

#[test]
fn refuses_too_many_members() {
    let many: Vec<_> = (0..=MAX_MEMBERS)
        .map(|at| Listed::new(&at.to_string(), b""))
        .collect();
    let expected = |members| ArchiveError::TooManyMembers {
        members,
        limit: MAX_MEMBERS,
    };
    assert_eq!(refusal(&listed(&many)), expected(MAX_MEMBERS + 1));
    assert_eq!(refusal(&crowd(1_000_000)), expected(1_000_000));
}

#[test]
fn refuses_overlapping_members() {
    let twice = Listed {
        data_of: Some(0),
        ..Listed::new("other.json", v3("Mira").as_bytes())
    };
    assert_eq!(refusal(&beside_a_card(twice)), ArchiveError::Overlap);
}

#[test]
fn refuses_duplicate_names() {
    let error = refusal(&beside_a_card(Listed::new(
        "card.json",
        v3("Eve").as_bytes(),
    )));
    assert_eq!(
        error,
        ArchiveError::Duplicate {
            name: "card.json".into()
        }
    );
}

#[test]
fn refuses_encrypted_members() {
    let locked = Listed {
        flags: 1,
        ..Listed::new("card.json", b"............secret")
    };
    assert_eq!(
        refusal(&listed(&[locked])),
        ArchiveError::Encrypted {
            name: "card.json".into()
        }
    );
}

#[test]
fn refuses_wrong_sizes_in_the_directory() {
    let damaged = |member: Listed| {
        let error = refusal(&listed(&[member]));
        assert!(
            matches!(
                error,
                ArchiveError::Incomplete | ArchiveError::Damaged { .. }
            ),
            "{error}"
        );
    };
    let card = Listed::new("card.json", v3("Mira").as_bytes());
    damaged(Listed {
        size: card.size - 1,
        ..card.clone()
    });
    damaged(Listed {
        size: card.size + 1,
        ..card.clone()
    });
    damaged(Listed {
        method: 93,
        ..card.clone()
    });
    damaged(Listed {
        method: 8,
        ..card.clone()
    });
    let mut wrong = listed(&[card]);
    let at = wrong.windows(4).position(|word| word == b"Mira").unwrap();
    wrong[at] ^= 1;
    assert!(matches!(
        refusal(&wrong),
        ArchiveError::Incomplete | ArchiveError::Damaged { .. }
    ));
}

#[test]
fn refuses_truncated_archives() {
    let whole = beside_a_card(Listed::new("a.txt", b"some text"));
    for length in 4..whole.len() {
        assert!(Card::read(&whole[..length]).is_err(), "{length}");
    }
}

#[test]
fn refuses_a_card_above_the_member_limit() {
    let json = format!(
        r#"{{"name":"Mira","a":"{}"}}"#,
        "x".repeat(2 * domain::card::MAX_JSON)
    );
    let error = refusal(&listed(&[Listed::new("card.json", json.as_bytes())]));
    assert!(
        matches!(error, ArchiveError::MemberTooLarge { .. }),
        "{error}"
    );
}
