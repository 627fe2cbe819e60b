//! Recorded cases: those of SillyTavern, if present on this machine, and our own.

use std::fs;
use std::path::Path;

use context::lore::Profile;
use context::lore::cases::{self, Case, CaseRun, Header};

/// The recordings of SillyTavern, next to the project. We do not own them, so they are not shipped.
fn recorded() -> Option<(Header, Vec<Case>)> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../../shared/data/lorebooks/vectors.jsonl");
    if !file.exists() {
        eprintln!("skipped: vectors.jsonl is not on this machine");
        return None;
    }
    Some(cases::read(&fs::read_to_string(file).unwrap()).unwrap())
}

#[track_caller]
fn assert_agree(header: &Header, cases: &[Case], profile: Profile) {
    let disagreeing = disagreeing(header, cases, profile);
    let shown: Vec<_> = disagreeing
        .iter()
        .map(|run| run.to_value().to_string())
        .collect();
    assert!(
        shown.is_empty(),
        "{} of {} cases differ:\n{}",
        shown.len(),
        cases.len(),
        shown.join("\n")
    );
}

fn disagreeing(header: &Header, cases: &[Case], profile: Profile) -> Vec<CaseRun> {
    cases
        .iter()
        .map(|case| cases::run(header, case, profile))
        .filter(|run| !run.agrees)
        .collect()
}

#[test]
fn compatible_profile_matches_recordings() {
    let Some((header, cases)) = recorded() else {
        return;
    };
    assert_eq!(cases.len(), 300);
    assert_agree(&header, &cases, Profile::Compatible);
}

/// One case per rule, so that machines without the recordings test all rules.
#[test]
fn our_own_cases_agree() {
    let (header, cases) = cases::read(include_str!("cases.jsonl")).unwrap();
    assert!(cases.len() >= 40);
    assert_agree(&header, &cases, Profile::Compatible);
}

/// These contain V3 decorators or spaces around group names, which the recordings do not list as
/// peculiarities.
const V3_OR_SPACES: [&str; 6] = ["v0115", "v0182", "v0196", "v0197", "v0207", "v0295"];

/// An entry exceeds the budget in these cases. SillyTavern then ends the scan; the corrected
/// profile keeps smaller entries that fit.
const OVERFLOWING: [&str; 4] = ["v0094", "v0153", "v0235", "v0292"];

/// Without peculiarities, the profiles agree.
#[test]
fn corrected_profile_differs_by_peculiarities() {
    let Some((header, cases)) = recorded() else {
        return;
    };
    let other = |id: &str| V3_OR_SPACES.contains(&id) || OVERFLOWING.contains(&id);
    let plain: Vec<Case> = cases
        .into_iter()
        .filter(|case| case.quirks.is_empty() && !other(&case.id))
        .collect();
    assert_agree(&header, &plain, Profile::Corrected);
}
