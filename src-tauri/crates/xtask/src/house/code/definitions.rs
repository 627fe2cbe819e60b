//! Types, their fields and their inherent methods.

use syn::visit::{self, Visit};
use syn::{
    Fields, File, GenericArgument, Ident, ImplItem, ItemEnum, ItemImpl, ItemStruct, ItemTrait,
    ItemType, ItemUnion, PathArguments, ReturnType, Type, Visibility,
};

/// Types through which methods of their content can be called, or whose content is unpacked first.
const WRAPPERS: [&str; 8] = [
    "Arc",
    "Box",
    "Rc",
    "Option",
    "Result",
    "MutexGuard",
    "RwLockReadGuard",
    "RwLockWriteGuard",
];

/// A struct, enum, union, trait or alias.
pub(crate) struct TypeDefinition {
    pub(crate) name: String,
    pub(crate) public: bool,
    pub(crate) line: usize,
}

/// A function in an `impl` block without a trait.
pub(crate) struct Method {
    pub(crate) owner: String,
    pub(crate) name: String,
    /// The name of the returned type, without references and wrappers.
    pub(crate) returns: Option<String>,
}

/// A named field of a struct.
pub(crate) struct Field {
    pub(crate) owner: String,
    pub(crate) name: String,
    /// The name of its type, without references and wrappers.
    pub(crate) type_name: Option<String>,
}

#[derive(Default)]
pub(crate) struct Definitions {
    pub(crate) types: Vec<TypeDefinition>,
    pub(crate) methods: Vec<Method>,
    pub(crate) fields: Vec<Field>,
}

impl Definitions {
    pub(crate) fn of(file: &File) -> Self {
        let mut definitions = Self::default();
        definitions.visit_file(file);
        definitions
    }

    fn add(&mut self, name: &Ident, visibility: &Visibility) {
        self.types.push(TypeDefinition {
            name: name.to_string(),
            public: matches!(visibility, Visibility::Public(_)),
            line: name.span().start().line,
        });
    }
}

impl<'a> Visit<'a> for Definitions {
    fn visit_item_struct(&mut self, item: &'a ItemStruct) {
        self.add(&item.ident, &item.vis);
        if let Fields::Named(fields) = &item.fields {
            let named = fields
                .named
                .iter()
                .filter_map(|field| Some((field.ident.as_ref()?, field)));
            self.fields.extend(named.map(|(name, field)| Field {
                owner: item.ident.to_string(),
                name: name.to_string(),
                type_name: type_name(&field.ty),
            }));
        }
    }

    fn visit_item_enum(&mut self, item: &'a ItemEnum) {
        self.add(&item.ident, &item.vis);
    }

    fn visit_item_union(&mut self, item: &'a ItemUnion) {
        self.add(&item.ident, &item.vis);
    }

    fn visit_item_trait(&mut self, item: &'a ItemTrait) {
        self.add(&item.ident, &item.vis);
        visit::visit_item_trait(self, item);
    }

    fn visit_item_type(&mut self, item: &'a ItemType) {
        self.add(&item.ident, &item.vis);
    }

    fn visit_item_impl(&mut self, block: &'a ItemImpl) {
        if let (None, Some(owner)) = (&block.trait_, type_name(&block.self_ty)) {
            let functions = block.items.iter().filter_map(|item| match item {
                ImplItem::Fn(method) => Some(&method.sig),
                _ => None,
            });
            self.methods.extend(functions.map(|signature| Method {
                owner: owner.clone(),
                name: signature.ident.to_string(),
                returns: match &signature.output {
                    ReturnType::Type(_, returned) => type_name(returned),
                    ReturnType::Default => None,
                },
            }));
        }
        visit::visit_item_impl(self, block);
    }
}

/// The last name of a type's path, without references and [`WRAPPERS`].
pub(crate) fn type_name(written: &Type) -> Option<String> {
    match written {
        Type::Reference(reference) => type_name(&reference.elem),
        Type::Paren(inner) => type_name(&inner.elem),
        Type::Path(path) => {
            let last = path.path.segments.last()?;
            let name = last.ident.to_string();
            if !WRAPPERS.contains(&name.as_str()) {
                return Some(name);
            }
            let PathArguments::AngleBracketed(arguments) = &last.arguments else {
                return Some(name);
            };
            arguments.args.iter().find_map(|argument| match argument {
                GenericArgument::Type(inner) => type_name(inner),
                _ => None,
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_types_fields_and_inherent_methods() {
        let text = "pub struct A { b: Arc<B> } pub(crate) enum C {} trait T {} type D = u8; \
                    impl A { fn f(&self) -> Result<&C, E> {} fn g() {} } impl T for A { fn h() {} }";
        let found = Definitions::of(&syn::parse_file(text).unwrap());
        let types: Vec<_> = found
            .types
            .iter()
            .map(|it| (it.name.as_str(), it.public))
            .collect();
        assert_eq!(
            types,
            [("A", true), ("C", false), ("T", false), ("D", false)]
        );
        assert_eq!(found.fields[0].type_name.as_deref(), Some("B"));
        let methods: Vec<_> = found
            .methods
            .iter()
            .map(|it| (it.owner.as_str(), it.name.as_str(), it.returns.as_deref()))
            .collect();
        assert_eq!(methods, [("A", "f", Some("C")), ("A", "g", None)]);
    }
}
