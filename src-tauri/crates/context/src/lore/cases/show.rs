//! Shows the outcome of a case as text.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::lore::{
    Activated, AtDepth, Effect, LoreOutcome, PassKind, Profile, TimedState, placements,
};

/// An outcome in the format of the recording, without empty lists and false switches.
pub(super) fn shown(outcome: &LoreOutcome, profile: Profile, note_inserted: bool) -> Value {
    let ids =
        |entries: &[&Activated]| -> Value { entries.iter().map(|entry| entry.id()).collect() };
    let placed = placements(outcome, profile);
    let all: Vec<&Activated> = outcome.activated.iter().collect();
    let sticky: Vec<&Activated> = outcome
        .activated
        .iter()
        .filter(|entry| entry.sticky)
        .collect();
    let depth = |group: &AtDepth| json!([group.depth, group.role as u8, ids(&group.entries)]);
    let mut point = Map::new();
    point.insert("active".into(), ids(&all));
    let lists = [
        ("before", &placed.before_char),
        ("after", &placed.after_char),
        ("note_top", &placed.note_top),
        ("note_bottom", &placed.note_bottom),
        ("example_top", &placed.example_top),
        ("example_bottom", &placed.example_bottom),
        ("sticky", &sticky),
    ];
    for (name, entries) in lists.into_iter().filter(|(_, entries)| !entries.is_empty()) {
        point.insert(name.into(), ids(entries));
    }
    if note_inserted || !placed.note_top.is_empty() || !placed.note_bottom.is_empty() {
        point.insert("note_inserted".into(), note_inserted.into());
    }
    if !placed.at_depth.is_empty() {
        point.insert("depth".into(), placed.at_depth.iter().map(depth).collect());
    }
    if !placed.outlets.is_empty() {
        let outlets = placed
            .outlets
            .iter()
            .map(|(name, entries)| (name.clone(), ids(entries)));
        point.insert("outlets".into(), Value::Object(outlets.collect()));
    }
    if outcome.overflowed {
        point.insert("overflow".into(), true.into());
    }
    let timed = timed(&outcome.timed);
    if !timed.is_empty() {
        point.insert("timed".into(), Value::Object(timed));
    }
    if !outcome.passes.is_empty() {
        point.insert("passes".into(), passes(outcome).into());
    }
    Value::Object(point)
}

pub(super) fn timed(state: &TimedState) -> Map<String, Value> {
    let effect = |effect: &Effect| json!([effect.start, effect.end, effect.protected]);
    let map = |effects: &BTreeMap<String, Effect>| -> Value {
        Value::Object(
            effects
                .iter()
                .map(|(id, it)| (id.clone(), effect(it)))
                .collect(),
        )
    };
    let kinds = [("sticky", &state.sticky), ("cooldown", &state.cooldown)];
    kinds
        .into_iter()
        .filter(|(_, it)| !it.is_empty())
        .map(|(name, it)| (name.to_owned(), map(it)))
        .collect()
}

pub(super) fn passes(outcome: &LoreOutcome) -> String {
    let pass = |pass: &crate::lore::Pass| {
        let kind = match pass.kind {
            PassKind::First => 'i',
            PassKind::Recursion => 'r',
            PassKind::Widened => 'm',
        };
        format!("{kind}{}", pass.added)
    };
    outcome
        .passes
        .iter()
        .map(pass)
        .collect::<Vec<_>>()
        .join(" ")
}
