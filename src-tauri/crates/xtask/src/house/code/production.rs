//! Removes items under `#[cfg(test)]` from a parsed file.

use syn::{Attribute, ImplItem, Item, Meta, Token, punctuated::Punctuated};

/// Removes test code from `items`, also in inline modules and `impl` blocks. Returns the paths of
/// the removed modules without a body, relative to the file: their files are test code too.
pub(crate) fn remove_tests(items: &mut Vec<Item>) -> Vec<Vec<String>> {
    let mut modules = Vec::new();
    items.retain(|item| {
        let test = is_test_item(item);
        if test && let Item::Mod(module) = item {
            modules.push(vec![module.ident.to_string()]);
        }
        !test
    });
    for item in items {
        match item {
            Item::Mod(module) => {
                let name = module.ident.to_string();
                let inner = module.content.as_mut().map(|content| &mut content.1);
                let below = inner.map(remove_tests).unwrap_or_default();
                modules.extend(
                    below
                        .into_iter()
                        .map(|path| [vec![name.clone()], path].concat()),
                );
            }
            Item::Impl(block) => block.items.retain(|item| !is_test_method(item)),
            _ => {}
        }
    }
    modules
}

fn is_test_item(item: &Item) -> bool {
    let attributes = match item {
        Item::Const(it) => &it.attrs,
        Item::Enum(it) => &it.attrs,
        Item::Fn(it) => &it.attrs,
        Item::Impl(it) => &it.attrs,
        Item::Macro(it) => &it.attrs,
        Item::Mod(it) => &it.attrs,
        Item::Static(it) => &it.attrs,
        Item::Struct(it) => &it.attrs,
        Item::Trait(it) => &it.attrs,
        Item::Type(it) => &it.attrs,
        Item::Use(it) => &it.attrs,
        _ => return false,
    };
    has_test_attribute(attributes)
}

fn is_test_method(item: &ImplItem) -> bool {
    match item {
        ImplItem::Fn(method) => has_test_attribute(&method.attrs),
        ImplItem::Const(constant) => has_test_attribute(&constant.attrs),
        _ => false,
    }
}

/// Whether an attribute is `#[test]`, `#[cfg(test)]` or `#[cfg(all(test, …))]`. Code under
/// `any(test, …)` is production code.
fn has_test_attribute(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") => list
            .parse_args()
            .is_ok_and(|condition| requires_test(&condition)),
        Meta::Path(path) => path.is_ident("test"),
        _ => false,
    })
}

fn requires_test(condition: &Meta) -> bool {
    match condition {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("all") => list
            .parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)
            .is_ok_and(|all| all.iter().any(requires_test)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_test_items_and_names_test_modules() {
        let text = "#[cfg(test)] mod cases; #[cfg(any(test, feature = \"x\"))] mod kept; \
                    mod inner { #[cfg(all(test, unix))] mod deep; fn a() {} } \
                    impl A { #[cfg(test)] fn b() {} fn c() {} } #[test] fn d() {}";
        let mut items = syn::parse_file(text).unwrap().items;
        assert_eq!(
            remove_tests(&mut items),
            [vec!["cases"], vec!["inner", "deep"]]
        );
        assert_eq!(items.len(), 3);
        let Item::Impl(block) = &items[2] else {
            panic!()
        };
        assert_eq!(block.items.len(), 1);
    }
}
