//! Which file of a crate uses which other file.

pub(crate) mod calls;
pub(crate) mod modules;
mod receivers;
pub(crate) mod resolver;
mod tokens;

use crate::house::code::source::{CrateSource, SourceFile};
use crate::house::uses::modules::{Import, ModuleNames};
use crate::house::uses::receivers::Receivers;
use crate::house::uses::resolver::{ModuleId, Resolver, Target};
use std::collections::BTreeSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum UseKind {
    /// A path to an item of the other file.
    Item,
    /// A path to a module. What is used of it has paths of its own.
    Module,
    /// A call of a method that the other file defines.
    Method,
}

/// A file uses another. Files are positions in [`Unit::files`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Use {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) kind: UseKind,
    /// The path or method, as it is written.
    pub(crate) written: String,
}

/// The files below one `lib.rs` or `main.rs`, and how they use each other.
pub(crate) struct Unit<'s> {
    pub(crate) files: Vec<&'s SourceFile>,
    pub(crate) uses: BTreeSet<Use>,
}

/// One unit, or two for a crate with a library and a program.
pub(crate) fn units(part: &CrateSource) -> Vec<Unit<'_>> {
    let all = part.files.iter().collect();
    match part.files.iter().find(|file| file.below_src == "main.rs") {
        Some(main) if part.files.iter().any(|file| file.below_src == "lib.rs") => {
            let declared = &main.parsed.modules[0].declares;
            let in_program = |file: &&SourceFile| {
                file.below_src == "main.rs"
                    || file
                        .module()
                        .first()
                        .is_some_and(|it| declared.contains(it))
            };
            let (program, library) = part.files.iter().partition(in_program);
            vec![Unit::of(library), Unit::of(program)]
        }
        _ => vec![Unit::of(all)],
    }
}

impl<'s> Unit<'s> {
    fn of(files: Vec<&'s SourceFile>) -> Self {
        let mut uses = BTreeSet::new();
        if let Some(resolver) = Resolver::of(&files) {
            for (id, names) in resolver.modules() {
                add_uses(&resolver, id, names, &mut uses);
            }
        }
        uses.extend(Receivers::of(&files).uses(&files));
        Self { files, uses }
    }

    /// Whether a file has more than declarations and imports.
    pub(crate) fn has_code(&self, file: usize) -> bool {
        self.files[file]
            .parsed
            .modules
            .iter()
            .any(|module| module.has_code)
    }
}

fn add_uses(resolver: &Resolver, id: ModuleId, names: &ModuleNames, uses: &mut BTreeSet<Use>) {
    let from = resolver.file_of(id);
    let mut add = |target: Option<Target>, path: &[String]| {
        let (to, kind) = match target {
            Some(Target::Item(file)) => (file, UseKind::Item),
            Some(Target::Module(module)) => (resolver.file_of(module), UseKind::Module),
            None => return,
        };
        if to != from {
            uses.insert(Use {
                from,
                to,
                kind,
                written: path.join("::"),
            });
        }
    };
    for Import { path, .. } in &names.imports {
        add(resolver.resolve(id, path), path);
    }
    for path in &names.mentions {
        match path.as_slice() {
            // Other single names are imported, and the import is counted.
            [name] => add(resolver.through_glob(id, name), path),
            _ => add(resolver.resolve(id, path), path),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Uses between the files of a crate, as `from path > to`.
    pub(crate) fn shown(files: &[(&str, &str)]) -> Vec<String> {
        let part = CrateSource::of("x", files);
        let mut shown = Vec::new();
        for unit in units(&part) {
            let name = |file: usize| unit.files[file].below_src.trim_end_matches(".rs");
            let uses = unit.uses.iter();
            shown.extend(
                uses.map(|it| format!("{} {} > {}", name(it.from), it.written, name(it.to))),
            );
        }
        shown
    }

    #[test]
    fn follows_crate_self_and_super() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            ("a/mod.rs", "mod c; use self::c::C; fn f() {}"),
            (
                "a/c.rs",
                "use super::super::b::B; pub struct C; fn g() { super::f(); crate::b::B; }",
            ),
            ("b.rs", "pub struct B;"),
        ];
        assert_eq!(
            shown(&files),
            [
                "a/mod self::c::C > a/c",
                "a/c super::f > a/mod",
                "a/c crate::b::B > b",
                "a/c super::super::b::B > b",
            ]
        );
    }

    #[test]
    fn follows_re_exports_to_the_definition() {
        let files = [
            ("lib.rs", "mod a; mod b; pub use a::A as Renamed;"),
            ("a/mod.rs", "mod deep; pub use deep::*;"),
            ("a/deep.rs", "pub struct A; pub fn helper() {}"),
            (
                "b.rs",
                "use crate::{Renamed, a::{self, helper}}; fn f() { a::helper(); }",
            ),
        ];
        let found = shown(&files);
        for expected in [
            "b crate::Renamed > a/deep",
            "b crate::a::helper > a/deep",
            "b a::helper > a/deep",
        ] {
            assert!(
                found.contains(&expected.to_owned()),
                "{expected} in {found:?}"
            );
        }
    }

    #[test]
    fn a_glob_uses_only_names_that_occur() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "pub use crate::b::B; pub struct A;"),
            ("a/c.rs", "use super::*; fn f(b: B) {}"),
            ("b.rs", "pub struct B;"),
        ];
        let found = shown(&files);
        assert!(found.contains(&"a/c B > b".to_owned()), "{found:?}");
        assert!(!found.iter().any(|it| it.starts_with("a/c A")), "{found:?}");
    }

    #[test]
    fn circular_globs_end() {
        let files = [
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "pub use crate::b::*; fn f(x: Missing) {}"),
            ("b.rs", "pub use crate::a::*;"),
        ];
        assert_eq!(shown(&files), ["a crate::b > b", "b crate::a > a"]);
    }

    #[test]
    fn finds_names_that_macros_define() {
        let files = [
            ("lib.rs", "mod id; mod b; pub use id::ChatId;"),
            ("id.rs", "ids! { ChatId }"),
            ("b.rs", "use crate::ChatId;"),
        ];
        assert!(shown(&files).contains(&"b crate::ChatId > id".to_owned()));
    }

    #[test]
    fn ignores_other_crates() {
        let files = [
            ("lib.rs", "mod a;"),
            (
                "a.rs",
                "use serde::Serialize; use domain::a::B; fn f() { std::mem::take(x); }",
            ),
        ];
        assert_eq!(shown(&files), [""; 0]);
    }

    #[test]
    fn library_and_program_are_apart() {
        let files = [
            ("lib.rs", "pub mod frame;"),
            ("frame.rs", "pub struct F;"),
            ("main.rs", "mod engine; fn main() { engine::run(); }"),
            ("engine.rs", "pub fn run() {}"),
        ];
        assert_eq!(shown(&files), ["main engine::run > engine"]);
    }
}
