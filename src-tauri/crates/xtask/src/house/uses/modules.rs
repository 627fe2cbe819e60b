//! The names that each module of a file defines, imports and mentions.

use crate::house::uses::tokens;
use std::collections::BTreeSet;
use syn::visit::{self, Visit};
use syn::{Attribute, File, Item, ItemMacro, ItemMod, ItemUse, Macro, Path, UseTree, Visibility};

/// One name or glob of a `use`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Import {
    pub(crate) path: Vec<String>,
    /// The name in this module; `None` for a glob.
    pub(crate) name: Option<String>,
}

/// A module: the file's own, or an inline one.
#[derive(Debug, Default)]
pub(crate) struct ModuleNames {
    /// Names of inline modules that lead to it from the file's own module.
    pub(crate) path: Vec<String>,
    pub(crate) defines: BTreeSet<String>,
    /// Names in macro calls that may define items, such as `ids! { ChatId }`.
    pub(crate) may_define: BTreeSet<String>,
    /// Modules in other files that it declares.
    pub(crate) declares: BTreeSet<String>,
    pub(crate) imports: Vec<Import>,
    /// Paths in its code, single names included.
    pub(crate) mentions: BTreeSet<Vec<String>>,
    /// Whether it has anything but declarations and imports.
    pub(crate) has_code: bool,
}

/// The file's own module first, then every inline module.
pub(crate) fn modules(file: &File) -> Vec<ModuleNames> {
    let mut collector = Collector {
        modules: vec![ModuleNames::default()],
        current: 0,
    };
    collector.define_all(&file.items);
    file.items
        .iter()
        .for_each(|item| collector.visit_item(item));
    collector.modules
}

struct Collector {
    modules: Vec<ModuleNames>,
    /// The module that is being visited.
    current: usize,
}

impl Collector {
    fn module(&mut self) -> &mut ModuleNames {
        &mut self.modules[self.current]
    }

    fn define_all(&mut self, items: &[Item]) {
        for item in items {
            let module = self.module();
            module.has_code |= !matches!(item, Item::Mod(_) | Item::Use(_) | Item::ExternCrate(_));
            match item {
                Item::Mod(declared) if declared.content.is_none() => {
                    module.declares.insert(declared.ident.to_string());
                }
                Item::Macro(call) => module.define_by_macro(call),
                item => module.defines.extend(defined_name(item)),
            }
        }
    }

    fn mention(&mut self, path: Vec<String>) {
        if path.first().is_some_and(|first| first != "Self") {
            self.module().mentions.insert(path);
        }
    }
}

impl ModuleNames {
    fn define_by_macro(&mut self, call: &ItemMacro) {
        match &call.ident {
            Some(name) => _ = self.defines.insert(name.to_string()),
            None => self
                .may_define
                .extend(tokens::capitalised(&call.mac.tokens)),
        }
    }
}

impl<'a> Visit<'a> for Collector {
    fn visit_item_mod(&mut self, module: &'a ItemMod) {
        let Some((_, items)) = &module.content else {
            return;
        };
        let mut path = self.module().path.clone();
        path.push(module.ident.to_string());
        let outer = std::mem::replace(&mut self.current, self.modules.len());
        self.modules.push(ModuleNames {
            path,
            ..ModuleNames::default()
        });
        self.define_all(items);
        items.iter().for_each(|item| self.visit_item(item));
        self.current = outer;
    }

    fn visit_item_use(&mut self, item: &'a ItemUse) {
        if item.leading_colon.is_none() {
            let mut imports = Vec::new();
            add_imports(&item.tree, &mut Vec::new(), &mut imports);
            self.module().imports.extend(imports);
        }
    }

    fn visit_path(&mut self, path: &'a Path) {
        if path.leading_colon.is_none() {
            self.mention(
                path.segments
                    .iter()
                    .map(|it| it.ident.to_string())
                    .collect(),
            );
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'a Macro) {
        for path in tokens::paths(&call.tokens) {
            self.mention(path);
        }
        visit::visit_macro(self, call);
    }

    /// Attributes name functions in texts: `#[serde(with = "crate::bytes")]`.
    fn visit_attribute(&mut self, attribute: &'a Attribute) {
        if let syn::Meta::List(list) = &attribute.meta {
            for path in tokens::quoted_paths(&list.tokens) {
                self.mention(path);
            }
        }
    }

    /// `pub(crate)` mentions no item.
    fn visit_visibility(&mut self, _: &'a Visibility) {}
}

/// The name of an item in its module.
fn defined_name(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(it) => &it.ident,
        Item::Enum(it) => &it.ident,
        Item::Fn(it) => &it.sig.ident,
        Item::Static(it) => &it.ident,
        Item::Struct(it) => &it.ident,
        Item::Trait(it) => &it.ident,
        Item::TraitAlias(it) => &it.ident,
        Item::Type(it) => &it.ident,
        Item::Union(it) => &it.ident,
        _ => return None,
    };
    Some(name.to_string())
}

/// Adds one import for each name in `tree`. `path` leads to it.
fn add_imports(tree: &UseTree, path: &mut Vec<String>, imports: &mut Vec<Import>) {
    match tree {
        UseTree::Path(part) => {
            path.push(part.ident.to_string());
            add_imports(&part.tree, path, imports);
            path.pop();
        }
        UseTree::Group(group) => {
            group
                .items
                .iter()
                .for_each(|tree| add_imports(tree, path, imports));
        }
        UseTree::Glob(_) => imports.push(Import {
            path: path.clone(),
            name: None,
        }),
        UseTree::Name(name) => imports.push(import(path, name.ident.to_string(), None)),
        UseTree::Rename(name) => {
            imports.push(import(
                path,
                name.ident.to_string(),
                Some(name.rename.to_string()),
            ));
        }
    }
}

/// `a::{self}` imports the module `a` under its own name.
fn import(path: &[String], name: String, rename: Option<String>) -> Import {
    let mut path = path.to_vec();
    if name != "self" {
        path.push(name);
    }
    let name = rename.or_else(|| path.last().cloned());
    Import { path, name }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Vec<ModuleNames> {
        modules(&syn::parse_file(text).unwrap())
    }

    fn imports(text: &str) -> Vec<String> {
        let imports = parsed(text).swap_remove(0).imports.into_iter();
        let shown = imports.map(|it| {
            format!(
                "{} {}",
                it.path.join("::"),
                it.name.unwrap_or_else(|| "*".to_owned())
            )
        });
        shown.collect()
    }

    #[test]
    fn reads_nested_braces_globs_and_renames() {
        assert_eq!(
            imports("use crate::a::{self, B, c::{D as E, *}}; use super::super::f; use ::g::h;"),
            [
                "crate::a a",
                "crate::a::B B",
                "crate::a::c::D E",
                "crate::a::c *",
                "super::super::f f"
            ]
        );
    }

    #[test]
    fn reads_imports_inside_functions() {
        assert_eq!(imports("fn f() { use crate::a::B; }"), ["crate::a::B B"]);
    }

    #[test]
    fn collects_definitions_of_each_module() {
        let found = parsed("mod a; mod b { struct C; mod d {} } ids! { ChatId } macro_rules! m {}");
        let paths: Vec<_> = found.iter().map(|it| it.path.join("::")).collect();
        assert_eq!(paths, ["", "b", "b::d"]);
        assert!(found[0].declares.contains("a") && found[0].has_code);
        assert!(found[0].may_define.contains("ChatId") && found[0].defines.contains("m"));
        assert!(found[1].defines.contains("C"));
        assert!(!found[2].has_code);
    }

    #[test]
    fn collects_paths_in_code_macros_and_attributes() {
        let text = "#[serde(with = \"crate::bytes\")] struct A(pub(crate) b::C); \
                    fn f() { format!(\"{}\", crate::d::e()); Self::g(); }";
        let found = parsed(text).swap_remove(0).mentions;
        let paths: Vec<_> = found.iter().map(|path| path.join("::")).collect();
        for path in ["crate::bytes", "b::C", "crate::d::e"] {
            assert!(paths.contains(&path.to_owned()), "{path} in {paths:?}");
        }
        assert!(
            !paths
                .iter()
                .any(|path| path.starts_with("Self") || path == "crate")
        );
    }
}
