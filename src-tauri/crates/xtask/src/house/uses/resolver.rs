//! Resolves paths to the file that defines the item, through imports, globs and re-exports.

use crate::house::code::source::SourceFile;
use crate::house::uses::modules::{Import, ModuleNames};
use std::collections::{BTreeMap, BTreeSet};

/// Position of a module in a [`Resolver`].
pub(crate) type ModuleId = usize;

/// The target of a path. Files are positions in the list of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// An item that this file defines.
    Item(usize),
    Module(ModuleId),
}

struct Module<'s> {
    file: usize,
    names: &'s ModuleNames,
    parent: Option<ModuleId>,
    children: BTreeMap<String, ModuleId>,
}

/// The modules of one crate.
pub(crate) struct Resolver<'s> {
    modules: Vec<Module<'s>>,
    root: ModuleId,
}

/// Names that are being looked up, so that circular imports end.
type Open = BTreeSet<(ModuleId, String)>;

impl<'s> Resolver<'s> {
    /// Files without a root file have no resolver.
    pub(crate) fn of(files: &[&'s SourceFile]) -> Option<Self> {
        let mut modules = Vec::new();
        let mut ids: BTreeMap<Vec<String>, ModuleId> = BTreeMap::new();
        for (file, source) in files.iter().enumerate() {
            let own = source.module();
            for names in &source.parsed.modules {
                ids.insert([own.as_slice(), &names.path].concat(), modules.len());
                modules.push(Module {
                    file,
                    names,
                    parent: None,
                    children: BTreeMap::new(),
                });
            }
        }
        let root = *ids.get(&Vec::<String>::new())?;
        for (path, id) in &ids {
            if let Some((name, above)) = path.split_last()
                && let Some(parent) = ids.get(above)
            {
                modules[*id].parent = Some(*parent);
                modules[*parent].children.insert(name.clone(), *id);
            }
        }
        Some(Self { modules, root })
    }

    /// Every module with its names.
    pub(crate) fn modules(&self) -> impl Iterator<Item = (ModuleId, &'s ModuleNames)> {
        self.modules
            .iter()
            .enumerate()
            .map(|(id, module)| (id, module.names))
    }

    /// The file of a module.
    pub(crate) fn file_of(&self, module: ModuleId) -> usize {
        self.modules[module].file
    }

    /// Resolves a path that is written in a module. `None` for other crates and local names.
    pub(crate) fn resolve(&self, module: ModuleId, path: &[String]) -> Option<Target> {
        self.path(module, path, &mut Open::new())
    }

    /// Resolves names that come from a glob to the item's file.
    pub(crate) fn through_glob(&self, module: ModuleId, name: &str) -> Option<Target> {
        self.in_globs(module, name, &mut Open::new())
    }

    fn path(&self, module: ModuleId, path: &[String], open: &mut Open) -> Option<Target> {
        let (first, rest) = path.split_first()?;
        let mut target = match first.as_str() {
            "crate" => Target::Module(self.root),
            "self" => Target::Module(module),
            "super" => Target::Module(self.modules[module].parent?),
            name => self.lookup(module, name, rest.is_empty(), open)?,
        };
        for (done, name) in rest.iter().enumerate() {
            let Target::Module(inner) = target else {
                return Some(target);
            };
            target = match name.as_str() {
                "super" => Target::Module(self.modules[inner].parent?),
                "self" => target,
                name => self
                    .lookup(inner, name, done + 1 == rest.len(), open)
                    .or_else(|| self.made_by_macro(inner))?,
            };
        }
        Some(target)
    }

    /// Finds a name in a module. A name before `::` is a module if there is one.
    fn lookup(&self, id: ModuleId, name: &str, last: bool, open: &mut Open) -> Option<Target> {
        let module = &self.modules[id];
        let child = module
            .children
            .get(name)
            .map(|child| Target::Module(*child));
        let defined = module
            .names
            .defines
            .contains(name)
            .then_some(Target::Item(module.file));
        let own = if last {
            defined.or(child)
        } else {
            child.or(defined)
        };
        if own.is_some() || !open.insert((id, name.to_owned())) {
            return own;
        }
        let named = |import: &&Import| import.name.as_deref() == Some(name);
        let found = match module.names.imports.iter().find(named) {
            Some(import) => self.path(id, &import.path, open),
            None => self.in_globs(id, name, open),
        };
        open.remove(&(id, name.to_owned()));
        let may_define = module.names.may_define.contains(name);
        found.or_else(|| may_define.then_some(Target::Item(module.file)))
    }

    fn in_globs(&self, id: ModuleId, name: &str, open: &mut Open) -> Option<Target> {
        let mut globs = self.modules[id]
            .names
            .imports
            .iter()
            .filter(|import| import.name.is_none());
        globs.find_map(|import| match self.path(id, &import.path, open)? {
            Target::Module(from) if from != id => self.lookup(from, name, true, open),
            _ => None,
        })
    }

    /// A name that the module must have, but that no item defines, comes from a macro.
    fn made_by_macro(&self, id: ModuleId) -> Option<Target> {
        let module = &self.modules[id];
        module.names.has_code.then_some(Target::Item(module.file))
    }
}
