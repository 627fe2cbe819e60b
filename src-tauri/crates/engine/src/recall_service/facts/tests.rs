use domain::memory::{ArchiveReason, ArchivedState, MAX_CONFIDENCE, MemoryType};
use uuid::Uuid;

use super::*;
use crate::recall_service::fact_candidates::worth;

fn memory(number: u128, importance: u8, pinned: bool, days_ago: i64) -> Memory {
    let at = Timestamp(-days_ago * 86_400_000);
    Memory {
        id: MemoryId(Uuid::from_u128(number)),
        kind: MemoryType::Fact,
        scope: MemoryScope::Profile,
        text: format!("m{number}"),
        importance,
        origin: MemoryOrigin::Command,
        confidence: MAX_CONFIDENCE,
        pinned,
        sources: Vec::new(),
        merged_sources: Vec::new(),
        archived: None,
        created: at,
        updated: at,
    }
}

fn order(mut candidates: Vec<Candidate>) -> String {
    candidates.sort_by(|a, b| b.score.total_cmp(&a.score));
    candidates
        .iter()
        .map(|candidate| candidate.text.as_str())
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn orders_digest_by_pin_importance_and_age() {
    let standing = vec![
        memory(1, 5, false, 0),
        memory(2, 9, false, 400),
        memory(3, 1, true, 900),
        memory(4, 5, false, 9),
    ];
    let facts = Facts {
        standing,
        ..Facts::default()
    };
    assert_eq!(
        order(facts.digest(Timestamp(0), &Clock::stopped(Timestamp(0)))),
        "m3 m2 m1 m4"
    );
}

#[test]
fn best_match_ranks_first_and_vital_is_included() {
    let facts = Facts {
        standing: vec![
            memory(1, 10, false, 400),
            memory(2, 5, false, 0),
            memory(4, 5, true, 0),
        ],
        called: by_words(vec![
            FoundMemory {
                memory: memory(3, 3, false, 400),
                score: 7.0,
            },
            FoundMemory {
                memory: memory(5, 3, false, 400),
                score: 1.0,
            },
        ]),
        ..Facts::default()
    };
    assert_eq!(
        order(facts.context(Timestamp(0), &Clock::stopped(Timestamp(0)))),
        "m3 m4 m1 m5"
    );
}

#[test]
fn importance_fades_unless_highest_or_pinned() {
    let worth =
        |importance, pinned, days| worth(&memory(1, importance, pinned, days), Timestamp(0));
    assert_eq!(
        (
            worth(8, false, 0),
            worth(8, false, 365),
            worth(8, false, 730)
        ),
        (8.0, 4.0, 2.0)
    );
    assert_eq!(
        (worth(10, false, 3_650), worth(3, true, 3_650)),
        (10.0, 3.0)
    );
}

#[test]
fn superseded_memory_has_date_and_needs_a_match() {
    let clock = Clock::stopped(Timestamp(0));
    let since = Timestamp(1_795_302_660_000);
    let archived = Some(ArchivedState {
        reason: ArchiveReason::Superseded,
        since,
        replaced_by: None,
    });
    let older = Memory {
        archived,
        ..memory(1, 9, false, 0)
    };
    let facts = Facts {
        called: by_words(vec![FoundMemory {
            memory: older,
            score: 1.0,
        }]),
        ..Facts::default()
    };
    assert_eq!(
        order(facts.context(Timestamp(0), &clock)),
        "m1 (until 21 November 2026; not so now)"
    );
}
