//! Counts shapes of code that are hard to read, and lists their places.

use crate::house::code::shapes::ShapeKind;
use crate::house::code::source::Sources;
use crate::house::limits::Count;
use crate::house::report::Counted;

/// Counts and lists every shape.
pub(crate) fn count(sources: &Sources) -> Counted {
    let rows = [
        (
            Count::ManyClosures,
            ShapeKind::ManyClosures,
            "functions with more than two local closures",
        ),
        (
            Count::TupleParameters,
            ShapeKind::TupleParameter,
            "functions with a tuple as a parameter",
        ),
        (
            Count::MatchesOnBool,
            ShapeKind::MatchOnBool,
            "matches on true and false",
        ),
        (
            Count::LetTuples,
            ShapeKind::LetTuple,
            "tuples assigned to a tuple of names",
        ),
    ];
    let mut counted = Counted::default();
    for (count, kind, title) in rows {
        counted.list(count, title, places(sources, kind));
    }
    counted
}

fn places(sources: &Sources, kind: ShapeKind) -> Vec<String> {
    let mut places = Vec::new();
    for file in sources.files() {
        let found = file.parsed.shapes.iter().filter(|shape| shape.kind == kind);
        places.extend(found.map(|shape| format!("{}:{}", file.path, shape.line)));
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::house::code::source::CrateSource;

    #[test]
    fn lists_the_place_of_each_shape() {
        let files = [("a.rs", "fn f() {\n    let (a, b) = (1, 2);\n}")];
        let sources = Sources {
            crates: vec![CrateSource::of("x", &files)],
            tests: Vec::new(),
        };
        let counted = count(&sources);
        assert!(counted.counts.contains(&(Count::LetTuples, 1)));
        assert!(counted.counts.contains(&(Count::MatchesOnBool, 0)));
        assert_eq!(counted.lists[3].lines, ["src-tauri/crates/x/src/a.rs:2"]);
    }
}
