//! The retention schedule: decides which backups to keep, without I/O. Sequence numbers give the
//! order, so a wrong clock can never remove the newest copy.

use std::collections::{BTreeSet, HashMap};

use domain::Timestamp;

use super::backup_file::BackupKind;
use crate::AssetHash;

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;

const HOURLY: usize = 24;
const DAILY: usize = 7;
const WEEKLY: usize = 4;
const MONTHLY: usize = 6;
/// Manual and imported backups that are kept in addition to the periods.
const BY_HAND: usize = 5;
/// Backups before an upgrade that are kept in addition to the periods.
const UPGRADES: usize = 2;

/// The properties of a backup that decide whether to keep it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rung {
    pub(crate) sequence: u64,
    pub(crate) taken: Timestamp,
    pub(crate) kind: BackupKind,
}

/// Maps a time to the number of its hour, day, week or month.
type Period = fn(Timestamp) -> i64;

/// The sequence numbers to keep: the newest backup of each of the latest hours, days, weeks and
/// months, and some manual and upgrade backups. Periods without a backup are skipped, so a long
/// pause removes nothing.
pub(crate) fn ladder(rungs: &[Rung]) -> BTreeSet<u64> {
    let mut newest_first = rungs.to_vec();
    newest_first.sort_by_key(|rung| std::cmp::Reverse((rung.sequence, rung.taken)));
    let periods: [(usize, Period); 4] = [
        (HOURLY, hour),
        (DAILY, day),
        (WEEKLY, week),
        (MONTHLY, month),
    ];
    let mut kept = BTreeSet::new();
    for (count, period) in periods {
        let mut seen = BTreeSet::new();
        let new_periods = newest_first
            .iter()
            .filter(|rung| seen.insert(period(rung.taken)));
        kept.extend(new_periods.take(count).map(|rung| rung.sequence));
    }
    for (count, kinds) in [
        (
            BY_HAND,
            [BackupKind::ByHand, BackupKind::Imported].as_slice(),
        ),
        (UPGRADES, &[BackupKind::Upgrade]),
    ] {
        let of_kind = newest_first
            .iter()
            .filter(|rung| kinds.contains(&rung.kind));
        kept.extend(of_kind.take(count).map(|rung| rung.sequence));
    }
    kept
}

/// The disk space of a backup: its database, and the files it shares with other backups.
#[derive(Debug, Clone)]
pub(crate) struct BackupCost {
    pub(crate) sequence: u64,
    pub(crate) bytes: u64,
    pub(crate) assets: Vec<(AssetHash, u64)>,
}

/// The sequence numbers of the newest backups that fit into `budget`. The newest backup is always
/// included.
pub(crate) fn within(budget: u64, costs: &[BackupCost]) -> BTreeSet<u64> {
    let mut newest_first: Vec<&BackupCost> = costs.iter().collect();
    newest_first.sort_by_key(|cost| std::cmp::Reverse(cost.sequence));
    let mut kept = BTreeSet::new();
    let mut used = 0_u64;
    let mut stored = HashMap::new();
    for cost in newest_first {
        let new = cost
            .assets
            .iter()
            .filter(|(hash, _)| !stored.contains_key(hash));
        let needed = used + cost.bytes + new.map(|(_, bytes)| bytes).sum::<u64>();
        if needed > budget && !kept.is_empty() {
            break;
        }
        used = needed;
        stored.extend(cost.assets.iter().copied());
        kept.insert(cost.sequence);
    }
    kept
}

fn hour(time: Timestamp) -> i64 {
    time.0.div_euclid(HOUR)
}

fn day(time: Timestamp) -> i64 {
    time.0.div_euclid(DAY)
}

/// Weeks begin on Monday; 1 January 1970 was a Thursday.
fn week(time: Timestamp) -> i64 {
    (day(time) + 3).div_euclid(7)
}

fn month(time: Timestamp) -> i64 {
    let date = jiff::Timestamp::from_millisecond(time.0)
        .unwrap_or_default()
        .to_zoned(jiff::tz::TimeZone::UTC)
        .date();
    i64::from(date.year()) * 12 + i64::from(date.month())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rung(sequence: u64, taken: i64) -> Rung {
        Rung {
            sequence,
            taken: Timestamp(taken),
            kind: BackupKind::Automatic,
        }
    }

    /// Adds a copy at each of `times`, prunes after each, and returns the remaining times, oldest
    /// first.
    fn after(times: impl IntoIterator<Item = i64>) -> Vec<i64> {
        let mut rungs: Vec<Rung> = Vec::new();
        for (sequence, time) in (1..).zip(times) {
            rungs.push(rung(sequence, time));
            let kept = ladder(&rungs);
            rungs.retain(|rung| kept.contains(&rung.sequence));
        }
        rungs.iter().map(|rung| rung.taken.0).collect()
    }

    #[test]
    fn a_year_of_hourly_use_keeps_every_rung() {
        let left = after((0..365 * 24).map(|number| number * HOUR));
        let newest = 365 * DAY - HOUR;
        assert!((0..HOURLY as i64).all(|back| left.contains(&(newest - back * HOUR))));
        assert!(
            (0..DAILY as i64).all(|back| left.iter().any(|time| time / DAY == newest / DAY - back))
        );
        assert!(
            left[0] < newest - 150 * DAY,
            "the oldest monthly copy is about half a year old"
        );
        assert!(left.len() <= HOURLY + DAILY + WEEKLY + MONTHLY);
    }

    #[test]
    fn a_pause_of_a_year_removes_nothing() {
        let left = after([0, HOUR, 2 * HOUR, 366 * DAY]);
        assert_eq!(left, [0, HOUR, 2 * HOUR, 366 * DAY]);
    }

    #[test]
    fn an_hour_keeps_its_newest_copy() {
        assert_eq!(after([1, 2, 3, HOUR + 1]), [3, HOUR + 1]);
    }

    #[test]
    fn a_clock_set_back_keeps_the_copy_just_made() {
        let left = after(
            (0..100)
                .map(|number| 400 * DAY + number * HOUR)
                .chain([5 * DAY]),
        );
        assert_eq!(left.last(), Some(&(5 * DAY)));
    }

    #[test]
    fn a_manual_copy_outlives_its_hour() {
        let mut rungs: Vec<_> = (1..9).map(|number| rung(number, number as i64)).collect();
        rungs[2].kind = BackupKind::ByHand;
        assert_eq!(ladder(&rungs).into_iter().collect::<Vec<_>>(), [3, 8]);
    }

    #[test]
    fn a_tight_budget_keeps_only_the_newest() {
        let picture = (AssetHash::of(b"picture"), 50);
        let costs: Vec<_> = (1..=3)
            .map(|sequence| BackupCost {
                sequence,
                bytes: 10,
                assets: vec![picture],
            })
            .collect();
        let kept = |budget| within(budget, &costs).into_iter().collect::<Vec<_>>();
        assert_eq!(
            (kept(0), kept(69), kept(70), kept(80)),
            (vec![3], vec![3], vec![2, 3], vec![1, 2, 3])
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]
        #[test]
        fn pruning_keeps_the_newest_and_is_idempotent(times in prop::collection::vec(-4_000_000_000_000_i64..4_000_000_000_000, 1..120)) {
            let rungs: Vec<_> = (1..).zip(&times).map(|(sequence, time)| rung(sequence, *time)).collect();
            let kept = ladder(&rungs);
            prop_assert!(kept.contains(&(times.len() as u64)));
            prop_assert!(kept.len() <= HOURLY + DAILY + WEEKLY + MONTHLY);
            let left: Vec<_> = rungs.iter().copied().filter(|rung| kept.contains(&rung.sequence)).collect();
            prop_assert_eq!(ladder(&left), kept);
        }

        #[test]
        fn each_day_with_a_copy_is_covered_for_a_week(hours in prop::collection::vec(0_i64..2_000, 1..80)) {
            let mut hours = hours;
            hours.sort_unstable();
            let left = after(hours.iter().map(|hour| hour * HOUR));
            let days: BTreeSet<i64> = hours.iter().map(|hour| hour / 24).collect();
            for day in days.iter().rev().take(DAILY) {
                prop_assert!(left.iter().any(|time| time / DAY == *day));
            }
        }
    }
}
