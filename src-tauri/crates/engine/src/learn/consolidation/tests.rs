use domain::MemoryId;
use domain::memory::{MAX_CONFIDENCE, MemoryOrigin, MemoryScope, MemoryType};
use uuid::Uuid;

use super::*;

const DAY: i64 = 86_400_000;

/// A memory that a model found, or, if it is a quotation, one that the user asked for.
fn memory(number: u128, text: &str) -> Memory {
    let asked = text.contains(" said: \"");
    Memory {
        id: MemoryId(Uuid::from_u128(number)),
        kind: MemoryType::Fact,
        scope: MemoryScope::Profile,
        text: text.to_owned(),
        importance: 5,
        origin: if asked {
            MemoryOrigin::Command
        } else {
            MemoryOrigin::Model
        },
        confidence: if asked { MAX_CONFIDENCE } else { 7 },
        pinned: false,
        sources: Vec::new(),
        merged_sources: Vec::new(),
        archived: None,
        created: Timestamp(number as i64),
        updated: Timestamp(number as i64),
    }
}

fn standing(memories: Vec<Memory>) -> Vec<ActiveMemory> {
    (1..)
        .zip(memories)
        .map(|(number, memory)| ActiveMemory {
            number,
            memory,
            unarchived_by_user: false,
        })
        .collect()
}

fn around() -> PlanInputs {
    PlanInputs {
        user: vec!["tom".into()],
        vectors: HashMap::new(),
        called_up: HashSet::new(),
        unknown_to: HashMap::new(),
        now: Timestamp(100 * DAY),
    }
}

fn shown(standing: &[ActiveMemory], around: &PlanInputs, most: usize) -> Vec<String> {
    let of = |id| {
        standing
            .iter()
            .find(|each| each.memory.id == id)
            .unwrap()
            .number
    };
    let line = |(memory, archived): &(Memory, ArchivedState)| {
        let by = archived
            .replaced_by
            .map(|by| format!(" by {}", of(by)))
            .unwrap_or_default();
        format!("{} {}{by}", of(memory.id), archived.reason.as_str())
    };
    plan(standing, around, most).iter().map(line).collect()
}

fn of(texts: &[&str]) -> Vec<String> {
    let memories = (1..)
        .zip(texts)
        .map(|(number, text)| memory(number, text))
        .collect();
    shown(&standing(memories), &around(), MOST)
}

#[test]
fn merges_into_more_certain_or_longer_memory() {
    assert_eq!(
        of(&["Tom said: \"I own a boat\"", "Tom owns a boat."]),
        ["2 merged by 1"]
    );
    assert_eq!(
        of(&["Tom owns a boat.", "Tom owns the boat"]),
        ["1 merged by 2"],
        "the newer of equals stays"
    );
    assert_eq!(
        of(&["Tom owns a boat, a blue one.", "Tom owns a boat."]),
        ["2 merged by 1"]
    );
    assert_eq!(
        of(&["Tom owns a boat, a blue one.", "Tom said: \"I own a boat\""]),
        [""; 0],
        "that is surer"
    );
    assert_eq!(
        of(&["Tom likes C++.", "Tom likes C#.", "Tom likes C."]),
        [""; 0]
    );
    assert_eq!(
        of(&[
            "Tom owns a boat.",
            "Tom owns two boats.",
            "Ida owns a boat.",
            "Tom owns no boat."
        ]),
        [""; 0]
    );
    assert_eq!(
        of(&["Tom owns a boat.", "Tom owns a boat.", "Tom owns a boat."]),
        ["1 merged by 3", "2 merged by 3"]
    );
}

#[test]
fn merges_similar_memories_with_same_names_only() {
    let texts = [
        "Tom feeds two cats at home.",
        "At home Tom feeds two cats.",
        "At home Ida feeds two cats.",
    ];
    let held = standing(
        (1..)
            .zip(texts)
            .map(|(number, text)| memory(number, text))
            .collect(),
    );
    let vectors = (1..=3).map(|number| (number, vec![1.0, 0.0])).collect();
    assert_eq!(
        shown(
            &held,
            &PlanInputs {
                vectors,
                ..around()
            },
            MOST
        ),
        ["1 merged by 2"]
    );
    let vectors = [(1, vec![1.0, 0.0]), (2, vec![0.0, 1.0])].into();
    assert_eq!(
        shown(
            &held,
            &PlanInputs {
                vectors,
                ..around()
            },
            MOST
        ),
        [""; 0]
    );
}

/// A character that was away when it was said again keeps the memory that it has.
#[test]
fn merges_only_if_nobody_loses_the_memory() {
    let held = standing(vec![
        memory(1, "Tom owns a boat."),
        memory(2, "Tom owns a boat."),
    ]);
    let unknown = |numbers: &[i64]| {
        let somebody = HashSet::from([CharacterId(Uuid::from_u128(7))]);
        PlanInputs {
            unknown_to: numbers
                .iter()
                .map(|number| (*number, somebody.clone()))
                .collect(),
            ..around()
        }
    };
    assert_eq!(shown(&held, &unknown(&[2]), MOST), [""; 0]);
    for numbers in [&[1][..], &[1, 2]] {
        assert_eq!(shown(&held, &unknown(numbers), MOST), ["1 merged by 2"]);
    }
}

#[test]
fn newest_single_value_wins() {
    let homes = [
        "Tom lives in Lisbon.",
        "Tom now lives in Porto.",
        "Tom lives in Faro.",
    ];
    assert_eq!(of(&homes), ["1 superseded by 3", "2 superseded by 3"]);
    assert_eq!(
        of(&[
            "Tom lives in Porto.",
            "Tom lives in Faro.",
            "Tom lives in Porto."
        ]),
        ["1 superseded by 2", "2 superseded by 3"]
    );
    let mut unsure = memory(2, "Tom lives in Porto.");
    unsure.confidence = 3;
    assert_eq!(
        shown(
            &standing(vec![memory(1, homes[0]), unsure]),
            &around(),
            MOST
        ),
        [""; 0],
        "too uncertain"
    );
}

#[test]
fn keeps_written_pinned_and_restored_memories() {
    let texts = [
        "Tom lives in Lisbon.",
        "Tom owns a boat.",
        "Tom now lives in Porto.",
        "Tom owns a boat.",
    ];
    let plain: Vec<Memory> = (1..)
        .zip(texts)
        .map(|(number, text)| memory(number, text))
        .collect();
    let own = plain
        .iter()
        .cloned()
        .map(|memory| Memory {
            origin: MemoryOrigin::User,
            ..memory
        })
        .collect();
    assert_eq!(shown(&standing(own), &around(), 1), [""; 0]);
    let pinned = plain
        .iter()
        .cloned()
        .map(|memory| Memory {
            pinned: true,
            ..memory
        })
        .collect();
    assert_eq!(shown(&standing(pinned), &around(), 1), [""; 0]);
    let kept: Vec<ActiveMemory> = standing(plain)
        .into_iter()
        .map(|each| ActiveMemory {
            unarchived_by_user: true,
            ..each
        })
        .collect();
    assert_eq!(shown(&kept, &around(), 1), [""; 0]);
}

#[test]
fn retires_old_uncertain_unused_memories() {
    let unsure = |number, importance, days: i64| Memory {
        importance,
        confidence: 3,
        created: Timestamp((100 - days) * DAY),
        updated: Timestamp((100 - days) * DAY),
        ..memory(number, &format!("Tom has seen the lamp number {number}."))
    };
    let held = standing(vec![
        unsure(1, 3, 95),
        unsure(2, 4, 95),
        unsure(3, 3, 80),
        unsure(4, 3, 95),
    ]);
    let called_up = [held[3].memory.id].into();
    assert_eq!(
        shown(
            &held,
            &PlanInputs {
                called_up,
                ..around()
            },
            MOST
        ),
        ["1 retired"]
    );
}

#[test]
fn archives_lowest_worth_beyond_maximum() {
    let each = |number: u128, importance, days: i64| Memory {
        importance,
        updated: Timestamp((100 - days) * DAY),
        ..memory(number, &format!("Tom has seen the lamp number {number}."))
    };
    let held = standing(vec![
        each(1, 5, 900),
        each(2, 10, 2_000),
        each(3, 4, 0),
        each(4, 5, 0),
    ]);
    assert_eq!(shown(&held, &around(), 2), ["1 crowded", "3 crowded"]);
    assert_eq!(shown(&held, &around(), 4), [""; 0]);
}
