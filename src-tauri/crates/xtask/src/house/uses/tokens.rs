//! Finds paths and names in tokens that have no syntax tree, such as the arguments of macros.

use proc_macro2::{TokenStream, TokenTree};

/// Every path, single names included: `a::b(c)` has the paths `a::b` and `c`.
pub(crate) fn paths(tokens: &TokenStream) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    add_paths(tokens, &mut found);
    found
}

fn add_paths(tokens: &TokenStream, found: &mut Vec<Vec<String>>) {
    let mut path: Vec<String> = Vec::new();
    let mut colons = 0;
    for tree in tokens.clone() {
        match tree {
            TokenTree::Ident(name) => {
                if colons != 2 {
                    found.push(std::mem::take(&mut path));
                }
                path.push(name.to_string());
                colons = 0;
            }
            TokenTree::Punct(mark) if mark.as_char() == ':' => colons += 1,
            other => {
                found.push(std::mem::take(&mut path));
                colons = 0;
                if let TokenTree::Group(group) = other {
                    add_paths(&group.stream(), found);
                }
            }
        }
    }
    found.push(path);
    found.retain(|path| !path.is_empty());
}

/// Paths in string literals that begin with `crate::`.
pub(crate) fn quoted_paths(tokens: &TokenStream) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for tree in tokens.clone() {
        match tree {
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                let path = text.trim_matches('"');
                if path.starts_with("crate::") {
                    found.push(path.split("::").map(str::to_owned).collect());
                }
            }
            TokenTree::Group(group) => found.extend(quoted_paths(&group.stream())),
            _ => {}
        }
    }
    found
}

/// Names that begin with a capital letter.
pub(crate) fn capitalised(tokens: &TokenStream) -> Vec<String> {
    let names = paths(tokens).into_iter().flatten();
    names
        .filter(|name| name.starts_with(|letter: char| letter.is_uppercase()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(paths: Vec<Vec<String>>) -> Vec<String> {
        paths.into_iter().map(|path| path.join("::")).collect()
    }

    #[test]
    fn finds_paths_in_nested_tokens() {
        let tokens = "\"{}\", crate::a::b(c, d::E { f: g }), $crate::h"
            .parse()
            .unwrap();
        assert_eq!(
            joined(paths(&tokens)),
            ["crate::a::b", "c", "d::E", "f", "g", "crate::h"]
        );
    }

    #[test]
    fn finds_quoted_paths_and_capitalised_names() {
        let tokens = "with = \"crate::a::b\", other = \"c::d\"".parse().unwrap();
        assert_eq!(joined(quoted_paths(&tokens)), ["crate::a::b"]);
        assert_eq!(
            capitalised(&"ids! { ChatId, x: MessageId }".parse().unwrap()),
            ["ChatId", "MessageId"]
        );
    }
}
