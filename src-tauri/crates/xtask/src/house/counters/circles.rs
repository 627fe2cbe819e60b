//! Finds circles of files: groups in which every file uses every other, directly or through others.

use crate::house::code::source::Sources;
use crate::house::limits::{CIRCLE_GOAL, CIRCLES};
use crate::house::report::{List, Row};
use crate::house::uses::{Unit, Use, UseKind, units};
use std::cmp::Reverse;

/// The largest circle of each crate, with its files.
pub(crate) fn rows(sources: &Sources) -> (Vec<Row>, List) {
    let mut rows = Vec::new();
    let mut list = List {
        title: "largest circles of files".to_owned(),
        lines: Vec::new(),
    };
    for part in &sources.crates {
        let circles = units(part).iter().filter_map(largest).collect::<Vec<_>>();
        let files = circles.into_iter().max_by_key(Vec::len).unwrap_or_default();
        if files.len() > 1 {
            list.lines.push(format!(
                "{:>5}  {}: {}",
                files.len(),
                part.name,
                files.join(", ")
            ));
        }
        rows.push(row(&part.name, files.len().max(1) as u64));
    }
    (rows, list)
}

fn row(part: &str, today: u64) -> Row {
    let known = CIRCLES.iter().find(|circle| circle.name == part);
    Row {
        name: format!("largest circle of files: {part}"),
        today,
        goal: Some(CIRCLE_GOAL),
        limit: Some(known.map_or(CIRCLE_GOAL, |circle| circle.limit)),
        last_month: known.and_then(|circle| circle.last_month),
    }
}

fn largest(unit: &Unit) -> Option<Vec<String>> {
    largest_of(unit, |_| true)
}

/// The files of the largest circle that some of the uses form.
pub(crate) fn largest_of(unit: &Unit, counts: fn(&Use) -> bool) -> Option<Vec<String>> {
    let circle = circles(&edges(unit, counts)).into_iter().next()?;
    let names = circle
        .into_iter()
        .map(|file| unit.files[file].below_src.clone());
    Some(names.collect())
}

/// The files that each file uses. A file that only declares and re-exports uses nothing itself.
fn edges(unit: &Unit, counts: fn(&Use) -> bool) -> Vec<Vec<usize>> {
    let mut edges = vec![Vec::new(); unit.files.len()];
    let items = unit
        .uses
        .iter()
        .filter(|it| it.kind == UseKind::Item && counts(it));
    for used in items.filter(|it| unit.has_code(it.from)) {
        edges[used.from].push(used.to);
    }
    edges
}

/// The circles of a graph with more than one member, the largest first.
fn circles(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut order = Vec::new();
    let mut seen = vec![false; edges.len()];
    for start in 0..edges.len() {
        visit(start, edges, &mut seen, &mut order);
    }
    let mut reversed = vec![Vec::new(); edges.len()];
    for (from, targets) in edges.iter().enumerate() {
        for to in targets {
            reversed[*to].push(from);
        }
    }
    let mut seen = vec![false; edges.len()];
    let mut circles = Vec::new();
    for start in order.into_iter().rev() {
        let mut circle = Vec::new();
        visit(start, &reversed, &mut seen, &mut circle);
        circle.sort_unstable();
        circles.push(circle);
    }
    circles.retain(|circle| circle.len() > 1);
    circles.sort_by_key(|circle| Reverse(circle.len()));
    circles
}

/// Adds everything that is reached from `start` and not seen yet to `order`, the last reached
/// first.
fn visit(start: usize, edges: &[Vec<usize>], seen: &mut [bool], order: &mut Vec<usize>) {
    if std::mem::replace(&mut seen[start], true) {
        return;
    }
    for next in &edges[start] {
        visit(*next, edges, seen, order);
    }
    order.push(start);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::house::code::source::CrateSource;

    #[test]
    fn finds_circles_in_a_graph() {
        let edges = [vec![1], vec![2], vec![0, 3], vec![4], vec![3], vec![0]];
        assert_eq!(circles(&edges), [vec![0, 1, 2], vec![3, 4]]);
    }

    fn circle_in(files: &[(&str, &str)]) -> Vec<String> {
        let part = CrateSource::of("x", files);
        largest(&units(&part)[0]).unwrap_or_default()
    }

    #[test]
    fn finds_a_circle_through_re_exports() {
        let files = [
            ("lib.rs", "mod a; mod b; pub use a::A; pub use b::B;"),
            ("a.rs", "use crate::B; pub struct A;"),
            ("b.rs", "use super::A; pub struct B;"),
        ];
        assert_eq!(circle_in(&files), ["a.rs", "b.rs"]);
    }

    #[test]
    fn files_that_only_re_export_close_no_circle() {
        let files = [
            ("lib.rs", "mod a; mod b; pub use a::A;"),
            ("a/mod.rs", "mod c; pub use c::A;"),
            ("a/c.rs", "use crate::b::B; pub struct A;"),
            ("b.rs", "use crate::a; pub struct B;"),
        ];
        assert_eq!(circle_in(&files), [""; 0]);
    }
}
