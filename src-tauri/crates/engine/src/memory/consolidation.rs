//! Memories held against each other while nobody waits (S3.35): what says the same becomes one, what is so no longer gives way
//! to what is newer, what is old, unsure and never called up is retired, and of too many those worth least are archived. No
//! model is asked, and no word is written: one is marked, and counts again when what it gave way to goes.
//!
//! Promises
//! - What the user wrote down themselves, pinned, or took out of the archive stays as it is.
//! - Doing it again at once does nothing.

use std::collections::{HashMap, HashSet};

use domain::memory::{Archived, ArchivedAs, Memory, MemoryOrigin};
use domain::{MemoryId, Timestamp};
use store::Standing;

use super::attributes::Attribute;
use super::facts::{SURE, worth};
use super::saying::Saying;

/// Memories of one scope that count at the most (a scope of that many takes a second to go through).
pub(super) const MOST: usize = 1_000;
/// Of more no two are held against each other: first those worth least are to go.
const TOO_MANY: usize = 4_000;
/// The cosine from which on two memories say the same, if their names and numbers are the same.
const SAME: f32 = 0.96;
/// Milliseconds after which a memory that nobody called up is old.
const OLD: i64 = 90 * 86_400_000;
/// More than this is not retired.
const UNIMPORTANT: u8 = 3;

/// What is known besides the memories.
pub(super) struct Around {
    /// Words of the user's name.
    pub(super) user: Vec<String>,
    /// By the numbers of the memories; empty without an encoder.
    pub(super) vectors: HashMap<i64, Vec<f32>>,
    /// Messages were sent with these.
    pub(super) called_up: HashSet<MemoryId>,
    pub(super) now: Timestamp,
}

struct Held<'a> {
    standing: &'a Standing,
    saying: Saying,
    attribute: Option<Attribute>,
    vector: Option<&'a [f32]>,
}

impl<'a> Held<'a> {
    fn new(standing: &'a Standing, around: &'a Around) -> Self {
        let saying = Saying::of(&standing.memory, &around.user);
        let vector = around.vectors.get(&standing.number).map(Vec::as_slice);
        Self { standing, attribute: Attribute::of(&saying), saying, vector }
    }

    fn memory(&self) -> &Memory {
        &self.standing.memory
    }

    /// What happened in a stretch of a chat is that stretch's own.
    fn says_one_thing(&self) -> bool {
        self.memory().origin != MemoryOrigin::Keyframe && self.saying.is_telling()
    }

    fn may_go(&self) -> bool {
        !self.standing.kept && !self.memory().is_kept()
    }

    /// Nothing is lost where only this one of the two is told.
    fn stands_for(&self, other: &Self) -> bool {
        let has = self.saying.has(&other.saying) && self.memory().confidence >= other.memory().confidence;
        has || self.memory().rank() > other.memory().rank() && (self.saying.is(&other.saying) || self.means(other))
    }

    fn means(&self, other: &Self) -> bool {
        let Some((one, other_one)) = self.vector.zip(other.vector) else { return false };
        self.memory().kind == other.memory().kind
            && self.saying.may_mean(&other.saying)
            && one.iter().zip(other_one).map(|(one, other)| one * other).sum::<f32>() >= SAME
    }

    fn is_newer_than(&self, other: &Self) -> bool {
        (self.memory().created, self.standing.number) > (other.memory().created, other.standing.number)
    }

    fn supersedes(&self, older: &Self) -> bool {
        let (Some(newer), Some(attribute)) = (&self.attribute, &older.attribute) else { return false };
        self.memory().confidence >= SURE && self.is_newer_than(older) && newer.supersedes(attribute)
    }

    fn is_done_with(&self, around: &Around) -> bool {
        is_old_and_unsure(self.memory(), around.now) && !around.called_up.contains(&self.memory().id)
    }
}

/// It is retired, unless a message was sent with it.
pub(super) fn is_old_and_unsure(memory: &Memory, now: Timestamp) -> bool {
    let last = memory.created.0.max(memory.updated.0);
    memory.importance <= UNIMPORTANT && memory.confidence < SURE && now.0 - last >= OLD
}

/// What one step puts aside, by its place in a scope, and why; the last number is the most that a scope holds.
type Step = fn(&[Held<'_>], &Around, usize) -> Vec<(usize, Archived)>;

/// What of a scope is to be archived, and why; `most` of it are to stay at the most.
pub(super) fn plan(standing: &[Standing], around: &Around, most: usize) -> Vec<(Memory, Archived)> {
    let mut held: Vec<Held<'_>> = standing.iter().map(|each| Held::new(each, around)).collect();
    let mut planned = Vec::new();
    let steps: [Step; 4] = [superseded, merged, retired, crowded];
    let first = if standing.len() > TOO_MANY { 2 } else { 0 };
    for step in &steps[first..] {
        let archived = step(&held, around, most);
        let gone: HashSet<usize> = archived.iter().map(|(at, _)| *at).collect();
        planned.extend(archived.into_iter().map(|(at, archived)| (held[at].memory().clone(), archived)));
        let mut at = 0..;
        held.retain(|_| !at.next().is_some_and(|at| gone.contains(&at)));
    }
    planned
}

/// Those that the newest of the newer ones takes back.
fn superseded(held: &[Held<'_>], _: &Around, _: usize) -> Vec<(usize, Archived)> {
    let mut gone = Vec::new();
    for (at, older) in held.iter().enumerate().filter(|(_, held)| held.may_go() && held.says_one_thing()) {
        let newer = held.iter().filter(|newer| newer.says_one_thing() && newer.supersedes(older));
        if let Some(newest) = newer.max_by_key(|newer| (newer.memory().created, newer.standing.number)) {
            let (since, by) = (newest.memory().created, Some(newest.memory().id));
            gone.push((at, Archived { why: ArchivedAs::Superseded, since, by }));
        }
    }
    gone
}

/// Those that another one says as well, the least first.
fn merged(held: &[Held<'_>], around: &Around, _: usize) -> Vec<(usize, Archived)> {
    let mut order: Vec<usize> = (0..held.len()).filter(|at| held[*at].says_one_thing()).collect();
    order.sort_by_key(|at| held[*at].memory().rank());
    let mut gone: Vec<(usize, Archived)> = Vec::new();
    let mut left: HashSet<usize> = order.iter().copied().collect();
    for at in order.iter().copied().filter(|at| held[*at].may_go()) {
        let stands_for = |other: &&usize| left.contains(*other) && **other != at && held[**other].stands_for(&held[at]);
        if let Some(other) = order.iter().rev().find(stands_for) {
            let by = Some(held[*other].memory().id);
            gone.push((at, Archived { why: ArchivedAs::Merged, since: around.now, by }));
            left.remove(&at);
        }
    }
    gone
}

fn retired(held: &[Held<'_>], around: &Around, _: usize) -> Vec<(usize, Archived)> {
    let old = held.iter().enumerate().filter(|(_, held)| held.may_go() && held.is_done_with(around));
    old.map(|(at, _)| (at, Archived { why: ArchivedAs::Retired, since: around.now, by: None })).collect()
}

/// Those worth least, as many as there are too many.
fn crowded(held: &[Held<'_>], around: &Around, most: usize) -> Vec<(usize, Archived)> {
    let mut going: Vec<usize> = (0..held.len()).filter(|at| held[*at].may_go()).collect();
    let worth = |at: &usize| worth(held[*at].memory(), around.now);
    going.sort_by(|one, other| worth(one).total_cmp(&worth(other)).then(one.cmp(other)));
    going.truncate(held.len().saturating_sub(most));
    going.into_iter().map(|at| (at, Archived { why: ArchivedAs::Crowded, since: around.now, by: None })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::saying::tests::memory;

    const DAY: i64 = 86_400_000;

    fn standing(memories: Vec<Memory>) -> Vec<Standing> {
        (1..).zip(memories).map(|(number, memory)| Standing { number, memory, kept: false }).collect()
    }

    fn around() -> Around {
        Around {
            user: vec!["tom".into()],
            vectors: HashMap::new(),
            called_up: HashSet::new(),
            now: Timestamp(100 * DAY),
        }
    }

    fn shown(standing: &[Standing], around: &Around, most: usize) -> Vec<String> {
        let of = |id| standing.iter().find(|each| each.memory.id == id).unwrap().number;
        let line = |(memory, archived): &(Memory, Archived)| {
            let by = archived.by.map(|by| format!(" by {}", of(by))).unwrap_or_default();
            format!("{} {}{by}", of(memory.id), archived.why.as_str())
        };
        plan(standing, around, most).iter().map(line).collect()
    }

    fn of(texts: &[&str]) -> Vec<String> {
        let memories = (1..).zip(texts).map(|(number, text)| memory(number, text)).collect();
        shown(&standing(memories), &around(), MOST)
    }

    #[test]
    fn what_says_the_same_is_merged_into_what_is_surest_or_says_more() {
        assert_eq!(of(&["Tom said: \"I own a boat\"", "Tom owns a boat."]), ["2 merged by 1"]);
        assert_eq!(of(&["Tom owns a boat.", "Tom owns the boat"]), ["1 merged by 2"], "the newer of equals stays");
        assert_eq!(of(&["Tom owns a boat, a blue one.", "Tom owns a boat."]), ["2 merged by 1"]);
        assert_eq!(of(&["Tom owns a boat, a blue one.", "Tom said: \"I own a boat\""]), [""; 0], "that is surer");
        assert_eq!(of(&["Tom likes C++.", "Tom likes C#.", "Tom likes C."]), [""; 0]);
        assert_eq!(of(&["Tom owns a boat.", "Tom owns two boats.", "Ida owns a boat.", "Tom owns no boat."]), [""; 0]);
        assert_eq!(
            of(&["Tom owns a boat.", "Tom owns a boat.", "Tom owns a boat."]),
            ["1 merged by 3", "2 merged by 3"]
        );
    }

    #[test]
    fn near_meanings_are_merged_of_the_same_names_only() {
        let texts = ["Tom feeds two cats at home.", "At home Tom feeds two cats.", "At home Ida feeds two cats."];
        let held = standing((1..).zip(texts).map(|(number, text)| memory(number, text)).collect());
        let vectors = (1..=3).map(|number| (number, vec![1.0, 0.0])).collect();
        assert_eq!(shown(&held, &Around { vectors, ..around() }, MOST), ["1 merged by 2"]);
        let vectors = [(1, vec![1.0, 0.0]), (2, vec![0.0, 1.0])].into();
        assert_eq!(shown(&held, &Around { vectors, ..around() }, MOST), [""; 0]);
    }

    #[test]
    fn the_newest_of_what_is_so_once_only_holds() {
        let homes = ["Tom lives in Lisbon.", "Tom now lives in Porto.", "Tom lives in Faro."];
        assert_eq!(of(&homes), ["1 superseded by 3", "2 superseded by 3"]);
        assert_eq!(
            of(&["Tom lives in Porto.", "Tom lives in Faro.", "Tom lives in Porto."]),
            ["1 superseded by 2", "2 superseded by 3"]
        );
        let mut unsure = memory(2, "Tom lives in Porto.");
        unsure.confidence = 3;
        assert_eq!(shown(&standing(vec![memory(1, homes[0]), unsure]), &around(), MOST), [""; 0], "a tiny model's");
    }

    #[test]
    fn what_the_user_wrote_pinned_or_brought_back_stays() {
        let texts = ["Tom lives in Lisbon.", "Tom owns a boat.", "Tom now lives in Porto.", "Tom owns a boat."];
        let plain: Vec<Memory> = (1..).zip(texts).map(|(number, text)| memory(number, text)).collect();
        let own = plain.iter().cloned().map(|memory| Memory { origin: MemoryOrigin::User, ..memory }).collect();
        assert_eq!(shown(&standing(own), &around(), 1), [""; 0]);
        let pinned = plain.iter().cloned().map(|memory| Memory { pinned: true, ..memory }).collect();
        assert_eq!(shown(&standing(pinned), &around(), 1), [""; 0]);
        let kept: Vec<Standing> = standing(plain).into_iter().map(|each| Standing { kept: true, ..each }).collect();
        assert_eq!(shown(&kept, &around(), 1), [""; 0]);
    }

    #[test]
    fn what_is_old_unsure_and_never_called_up_is_retired() {
        let unsure = |number, importance, days: i64| Memory {
            importance,
            confidence: 3,
            created: Timestamp((100 - days) * DAY),
            updated: Timestamp((100 - days) * DAY),
            ..memory(number, &format!("Tom has seen the lamp number {number}."))
        };
        let held = standing(vec![unsure(1, 3, 95), unsure(2, 4, 95), unsure(3, 3, 80), unsure(4, 3, 95)]);
        let called_up = [held[3].memory.id].into();
        assert_eq!(shown(&held, &Around { called_up, ..around() }, MOST), ["1 retired"]);
    }

    #[test]
    fn of_too_many_those_worth_least_are_archived() {
        let each = |number: u128, importance, days: i64| Memory {
            importance,
            updated: Timestamp((100 - days) * DAY),
            ..memory(number, &format!("Tom has seen the lamp number {number}."))
        };
        let held = standing(vec![each(1, 5, 900), each(2, 10, 2_000), each(3, 4, 0), each(4, 5, 0)]);
        assert_eq!(shown(&held, &around(), 2), ["1 crowded", "3 crowded"]);
        assert_eq!(shown(&held, &around(), 4), [""; 0]);
    }
}
