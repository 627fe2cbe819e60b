//! The layers inside crates: folders of `src`, of which none uses one above its own.

use crate::house::code::source::Sources;
use crate::house::limits::{Count, LAYERS};
use crate::house::report::Counted;
use crate::house::uses::{Unit, units};

/// The layers of a crate, the lowest first. Each is a folder, or a file, of `src`.
pub(crate) struct Layers {
    pub(crate) name: &'static str,
    pub(crate) order: &'static [&'static str],
}

pub(crate) fn count(sources: &Sources) -> Counted {
    let mut counted = Counted::default();
    counted.list(
        Count::UpwardUses,
        "uses of a layer above",
        upward_uses(sources),
    );
    counted
}

/// Uses of a layer above, in every crate with layers.
pub(crate) fn upward_uses(sources: &Sources) -> Vec<String> {
    let mut found = Vec::new();
    for layers in LAYERS {
        let part = sources.crates.iter().find(|part| part.name == layers.name);
        for unit in part.map(units).unwrap_or_default() {
            found.extend(
                upward(&unit, layers.order)
                    .into_iter()
                    .map(|it| format!("{}: {it}", layers.name)),
            );
        }
    }
    found
}

fn upward(unit: &Unit, order: &[&str]) -> Vec<String> {
    let layer = |file: usize| layer_of(&unit.files[file].below_src, order);
    let above = unit
        .uses
        .iter()
        .filter(|it| match (layer(it.from), layer(it.to)) {
            (Some(own), Some(used)) => used > own,
            _ => false,
        });
    let name = |file: usize| &unit.files[file].below_src;
    above
        .map(|it| format!("{} uses {} of {}", name(it.from), it.written, name(it.to)))
        .collect()
}

/// The position of a file's layer.
pub(crate) fn layer_of(below_src: &str, order: &[&str]) -> Option<usize> {
    let first = below_src.split('/').next().unwrap_or_default();
    order
        .iter()
        .position(|layer| *layer == first.trim_end_matches(".rs"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::house::code::source::CrateSource;

    const ORDER: [&str; 3] = ["base", "turn", "run"];

    fn upward_of(files: &[(&str, &str)]) -> Vec<String> {
        let part = CrateSource::of("x", files);
        upward(&units(&part)[0], &ORDER)
    }

    #[test]
    fn finds_imports_paths_and_calls_upward() {
        let files = [
            ("lib.rs", "mod base; mod turn; pub use turn::Shown;"),
            (
                "base/mod.rs",
                "mod a; use crate::Shown; fn f() { super::turn::send(); }",
            ),
            (
                "base/a.rs",
                "pub struct Library; fn f(x: &Library) { x.send_all(); }",
            ),
            (
                "turn.rs",
                "pub struct Shown; pub fn send() {} impl Library { fn send_all(&self) {} }",
            ),
        ];
        assert_eq!(
            upward_of(&files),
            [
                "base/mod.rs uses crate::Shown of turn.rs",
                "base/mod.rs uses super::turn::send of turn.rs",
                "base/a.rs uses Library::send_all of turn.rs",
            ]
        );
    }

    #[test]
    fn downward_uses_and_files_without_a_layer_are_fine() {
        let files = [
            (
                "lib.rs",
                "mod base; mod turn; mod other; use crate::turn::Turn;",
            ),
            ("base.rs", "pub struct Base; use crate::other::Other;"),
            ("turn.rs", "use crate::base::Base; pub struct Turn;"),
            ("other.rs", "pub struct Other; use crate::turn::Turn;"),
        ];
        assert_eq!(upward_of(&files), [""; 0]);
        assert_eq!(layer_of("turn.rs", &ORDER), Some(1));
        assert_eq!(layer_of("other.rs", &ORDER), None);
    }
}
