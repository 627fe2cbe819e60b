//! The goals and limits of all counts.
//!
//! The limit is the goal where it is met. Elsewhere it is the count of the day on which it was
//! set: lower it when the count falls, never raise it.

use crate::house::counters::layers::Layers;

/// The counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Count {
    LargestHandle,
    LargestFolder,
    LongFiles,
    LongTestFiles,
    MedianTokens,
    P90Tokens,
    P90Lines,
    LongestFunction,
    ManyClosures,
    TupleParameters,
    MatchesOnBool,
    LetTuples,
    TextIds,
    ParsedIds,
    WrittenIds,
    Mirrors,
    BannedNames,
    RepeatedNames,
    UpwardUses,
    Packages,
    Lines,
    TestLines,
}

/// A row of the table.
pub(crate) struct Limit {
    pub(crate) count: Count,
    pub(crate) name: &'static str,
    pub(crate) goal: Option<u64>,
    pub(crate) limit: Option<u64>,
    pub(crate) last_month: Option<u64>,
}

const fn at_most(count: Count, name: &'static str, goal: u64, limit: u64) -> Limit {
    Limit {
        count,
        name,
        goal: Some(goal),
        limit: Some(limit),
        last_month: None,
    }
}

impl Limit {
    const fn before(self, last_month: u64) -> Self {
        Self {
            last_month: Some(last_month),
            ..self
        }
    }
}

/// A count without a goal, for comparison.
const fn size(count: Count, name: &'static str) -> Limit {
    Limit {
        count,
        name,
        goal: None,
        limit: None,
        last_month: None,
    }
}

/// Count, name, goal, limit, and last month's count where it is known.
#[rustfmt::skip]
pub(crate) const LIMITS: &[Limit] = &[
    at_most(Count::LargestHandle, "methods of the largest type", 60, 81).before(293),
    at_most(Count::LargestFolder, "files in the largest folder", 20, 20).before(72),
    at_most(Count::LongFiles, "production files over 450 lines", 0, 6),
    at_most(Count::LongTestFiles, "test files over 450 lines", 0, 44),
    at_most(Count::MedianTokens, "tokens per function: median", 75, 87).before(90),
    at_most(Count::P90Tokens, "tokens per function: 90th percentile", 220, 248).before(254),
    at_most(Count::P90Lines, "lines per function: 90th percentile", 30, 30),
    at_most(Count::LongestFunction, "lines of the longest function", 80, 127),
    at_most(Count::ManyClosures, "functions with more than two local closures", 0, 9),
    at_most(Count::TupleParameters, "functions with a tuple as a parameter", 0, 53),
    at_most(Count::MatchesOnBool, "matches on true and false", 0, 4),
    at_most(Count::LetTuples, "tuples assigned to a tuple of names", 0, 65),
    at_most(Count::TextIds, "operations with a text for an id", 0, 26).before(182),
    at_most(Count::ParsedIds, "ids parsed in the engine", 0, 13),
    at_most(Count::WrittenIds, "ids turned into texts in the engine", 0, 121),
    at_most(Count::Mirrors, "API types with the name of a type below", 15, 55).before(81),
    at_most(Count::BannedNames, "banned names", 0, 6),
    at_most(Count::RepeatedNames, "type names defined in three or more places", 0, 14),
    at_most(Count::UpwardUses, "uses of a layer above", 0, 0),
    size(Count::Packages, "packages in Cargo.lock"),
    size(Count::Lines, "lines of production files"),
    size(Count::TestLines, "lines of test files"),
];

/// The limit of the largest circle of files in a crate.
pub(crate) struct CircleLimit {
    pub(crate) name: &'static str,
    pub(crate) limit: u64,
    pub(crate) last_month: Option<u64>,
}

const fn circle(name: &'static str, limit: u64, last_month: Option<u64>) -> CircleLimit {
    CircleLimit {
        name,
        limit,
        last_month,
    }
}

/// Files of a crate that may use each other in a circle.
pub(crate) const CIRCLE_GOAL: u64 = 5;

/// Crates above the goal, today or last month. All others may not exceed the goal.
pub(crate) const CIRCLES: &[CircleLimit] = &[
    circle("context", 5, Some(13)),
    circle("engine", 5, Some(10)),
    circle("local", 5, Some(10)),
    circle("server", 5, Some(12)),
    circle("store", 5, Some(81)),
];

/// Crates with an order of folders.
pub(crate) const LAYERS: &[Layers] = &[ENGINE, NOOK];

const ENGINE: Layers = Layers {
    name: "engine",
    order: &[
        "api",
        "base",
        "settings",
        "library",
        "recall_service",
        "turn",
        "learn",
        "import",
        "operations",
        "evaluation",
    ],
};

const NOOK: Layers = Layers {
    name: "nook",
    order: &["failure", "interrupts", "cli", "output", "find", "verbs"],
};
