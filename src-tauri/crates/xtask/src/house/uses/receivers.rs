//! Finds the file of a called method by the type of its receiver.

use crate::house::code::definitions::{Definitions, Field, Method};
use crate::house::code::source::SourceFile;
use crate::house::uses::calls::{Access, Call, Start};
use crate::house::uses::{Use, UseKind};
use std::collections::{BTreeMap, BTreeSet};

/// A variable with a shorter name is not taken for a type whose name begins like it.
const SHORTEST_NAME: usize = 4;

/// A type and the name of one of its fields or methods.
type Key<'s> = (&'s str, &'s str);

/// Types of a crate with their fields and methods. Types whose names occur twice are left out.
pub(crate) struct Receivers<'s> {
    fields: BTreeMap<Key<'s>, &'s str>,
    returns: BTreeMap<Key<'s>, &'s str>,
    /// The file of each method that exists once.
    files: BTreeMap<Key<'s>, usize>,
    owners: BTreeSet<&'s str>,
    /// Names of which the crate has one method.
    unique_methods: BTreeSet<&'s str>,
    /// Types with methods, by the name in the style of a variable.
    types: BTreeMap<String, &'s str>,
}

/// The type of a receiver.
#[derive(Clone, Copy)]
struct Receiver<'s> {
    owner: &'s str,
    /// Only its name says so.
    guessed: bool,
}

impl<'s> Receivers<'s> {
    pub(crate) fn of(files: &[&'s SourceFile]) -> Self {
        let unique = unique_names(files, |it| {
            it.types.iter().map(|it| it.name.as_str()).collect()
        });
        let mut known = Self {
            fields: BTreeMap::new(),
            returns: BTreeMap::new(),
            files: BTreeMap::new(),
            owners: unique.clone(),
            unique_methods: unique_names(files, |it| {
                it.methods.iter().map(|it| it.name.as_str()).collect()
            }),
            types: BTreeMap::new(),
        };
        let mut repeated = BTreeSet::new();
        for (position, file) in files.iter().enumerate() {
            let fields = file.parsed.definitions.fields.iter();
            for field in fields.filter(|it| unique.contains(it.owner.as_str())) {
                known.add_field(field);
            }
            let methods = file.parsed.definitions.methods.iter();
            for method in methods.filter(|it| unique.contains(it.owner.as_str())) {
                if !known.add_method(method, position) {
                    repeated.insert((method.owner.as_str(), method.name.as_str()));
                }
            }
        }
        known.files.retain(|key, _| !repeated.contains(key));
        known
    }

    fn add_field(&mut self, field: &'s Field) {
        if let Some(of) = &field.type_name {
            self.fields
                .insert((field.owner.as_str(), field.name.as_str()), of);
        }
    }

    /// Whether the type has no other method of this name.
    fn add_method(&mut self, method: &'s Method, file: usize) -> bool {
        let key = (method.owner.as_str(), method.name.as_str());
        if let Some(returned) = &method.returns {
            let is_self = returned == "Self";
            let own = if is_self { &method.owner } else { returned };
            self.returns.insert(key, own.as_str());
        }
        self.types
            .insert(snake_case(&method.owner), method.owner.as_str());
        self.files.insert(key, file).is_none()
    }

    /// The uses of other files by method calls.
    pub(crate) fn uses(&self, files: &[&SourceFile]) -> Vec<Use> {
        let mut uses = Vec::new();
        for (from, file) in files.iter().enumerate() {
            for call in &file.parsed.calls {
                if let Some((owner, to)) = self.file_of(call)
                    && to != from
                {
                    let written = format!("{owner}::{}", call.method);
                    uses.push(Use {
                        from,
                        to,
                        kind: UseKind::Method,
                        written,
                    });
                }
            }
        }
        uses
    }

    /// The type of the receiver, and the file of the called method.
    fn file_of(&self, call: &Call) -> Option<(&'s str, usize)> {
        let receiver = self.receiver(call)?;
        let method = call.method.as_str();
        if receiver.guessed && !self.unique_methods.contains(method) {
            return None;
        }
        let file = self.files.get(&(receiver.owner, method))?;
        Some((receiver.owner, *file))
    }

    fn receiver(&self, call: &Call) -> Option<Receiver<'s>> {
        let mut current = match &call.start {
            Start::Type(name) => self.known_type(name),
            Start::Name(name) => self.named_after(name),
        };
        for step in &call.steps {
            let (table, name) = match step {
                Access::Field(name) => (&self.fields, name),
                Access::Method(name) => (&self.returns, name),
            };
            let known = current.filter(|it| !it.guessed);
            let stated = known.and_then(|it| table.get(&(it.owner, name.as_str())).copied());
            current = match stated {
                Some(stated) => self.known_type(stated),
                None => self.named_after(name),
            };
        }
        current
    }

    fn known_type(&self, name: &str) -> Option<Receiver<'s>> {
        let owner = self.owners.get(name).copied()?;
        Some(Receiver {
            owner,
            guessed: false,
        })
    }

    /// The type that a variable, field or method is named after: `library` is a `Library`, and
    /// `config` a `Configuration` if no other type begins like that.
    fn named_after(&self, name: &str) -> Option<Receiver<'s>> {
        let owner = match self.types.get(name) {
            Some(exact) => *exact,
            None if name.len() < SHORTEST_NAME => return None,
            None => {
                let mut longer = self.types.iter().filter(|(of, _)| of.starts_with(name));
                let (_, only) = longer.next()?;
                longer.next().is_none().then_some(*only)?
            }
        };
        Some(Receiver {
            owner,
            guessed: true,
        })
    }
}

/// Names that occur once among the definitions of all files.
fn unique_names<'s>(
    files: &[&'s SourceFile],
    names: fn(&'s Definitions) -> Vec<&'s str>,
) -> BTreeSet<&'s str> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for name in files
        .iter()
        .flat_map(|file| names(&file.parsed.definitions))
    {
        *counts.entry(name).or_default() += 1;
    }
    let once = counts.into_iter().filter(|(_, count)| *count == 1);
    once.map(|(name, _)| name).collect()
}

/// `RecallService` is `recall_service`.
fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for (at, letter) in name.char_indices() {
        if letter.is_uppercase() && at > 0 {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::house::uses::tests::shown;

    const HANDLES: [(&str, &str); 4] = [
        ("lib.rs", "mod handle; mod chats; mod turn; mod a;"),
        (
            "handle.rs",
            "pub struct Library { config: Configuration } impl Library { pub fn config(&self) -> &Configuration {} } pub struct Configuration;",
        ),
        (
            "chats.rs",
            "impl Library { pub fn chats(&self) {} pub fn twice(&self) {} }",
        ),
        (
            "turn.rs",
            "impl Configuration { pub fn limits(&self) {} } impl Library { pub fn twice(&self) {} }",
        ),
    ];

    fn uses_of(code: &str) -> Vec<String> {
        let files = [HANDLES.as_slice(), &[("a.rs", code)]].concat();
        shown(&files)
            .into_iter()
            .filter(|it| it.starts_with("a "))
            .collect()
    }

    #[test]
    fn resolves_by_parameter_and_return_type() {
        let code = "fn f(x: &Library) { x.chats(); x.config().limits(); }";
        assert_eq!(
            uses_of(code),
            [
                "a Library::config > handle",
                "a Library::chats > chats",
                "a Configuration::limits > turn"
            ]
        );
    }

    #[test]
    fn resolves_by_names_and_fields() {
        assert_eq!(
            uses_of("fn f() { library.chats(); }"),
            ["a Library::chats > chats"]
        );
        assert_eq!(
            uses_of("fn f() { config.limits(); }"),
            ["a Configuration::limits > turn"]
        );
        let fields = "struct A { x: Library } impl A { fn f(&self) { self.x.config.limits(); } }";
        assert_eq!(uses_of(fields), ["a Configuration::limits > turn"]);
    }

    #[test]
    fn leaves_out_what_is_not_certain() {
        assert_eq!(
            uses_of("fn f() { library.twice(); other.chats(); lib.chats(); }"),
            [""; 0]
        );
    }

    #[test]
    fn writes_types_like_variables() {
        assert_eq!(snake_case("RecallService"), "recall_service");
    }
}
