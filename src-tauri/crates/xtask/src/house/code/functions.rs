//! Sizes of functions: lines from `fn` to the last brace, and tokens of signature and body.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Block, File, ImplItemFn, ItemFn, Signature, TraitItemFn};

/// A function or method with a body.
pub(crate) struct FunctionSize {
    pub(crate) name: String,
    pub(crate) line: usize,
    pub(crate) lines: usize,
    pub(crate) tokens: usize,
}

/// Every function of `file`, nested ones included.
pub(crate) fn functions(file: &File) -> Vec<FunctionSize> {
    let mut sizes = FunctionSizes(Vec::new());
    sizes.visit_file(file);
    sizes.0
}

struct FunctionSizes(Vec<FunctionSize>);

impl FunctionSizes {
    fn add(&mut self, signature: &Signature, body: &Block) {
        let line = signature.span().start().line;
        self.0.push(FunctionSize {
            name: signature.ident.to_string(),
            line,
            lines: body.brace_token.span.close().end().line + 1 - line,
            tokens: tokens(signature.to_token_stream()) + tokens(body.to_token_stream()),
        });
    }
}

impl<'a> Visit<'a> for FunctionSizes {
    fn visit_item_fn(&mut self, function: &'a ItemFn) {
        self.add(&function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, method: &'a ImplItemFn) {
        self.add(&method.sig, &method.block);
        visit::visit_impl_item_fn(self, method);
    }

    fn visit_trait_item_fn(&mut self, method: &'a TraitItemFn) {
        if let Some(body) = &method.default {
            self.add(&method.sig, body);
        }
        visit::visit_trait_item_fn(self, method);
    }
}

/// Counts leaf tokens. A pair of delimiters counts as two.
fn tokens(stream: TokenStream) -> usize {
    stream
        .into_iter()
        .map(|tree| match tree {
            TokenTree::Group(group) => 2 + tokens(group.stream()),
            _ => 1,
        })
        .sum()
}

/// The value below which `percent` of the values lie.
pub(crate) fn percentile(mut values: Vec<usize>, percent: usize) -> usize {
    values.sort_unstable();
    let rank = (values.len() * percent).div_ceil(100);
    values.get(rank.saturating_sub(1)).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_lines_and_tokens_of_each_function() {
        let text = "/// Doc.\nfn a(x: u8) -> u8 {\n    x + 1\n}\nimpl A {\n    fn b(&self) {}\n}\n\
                    trait T {\n    fn c();\n    fn d() {}\n}";
        let found = functions(&syn::parse_file(text).unwrap());
        let sizes: Vec<_> = found
            .iter()
            .map(|it| (it.name.as_str(), it.line, it.lines, it.tokens))
            .collect();
        // `fn a ( x : u8 ) - > u8 { x + 1 }`
        assert_eq!(sizes, [("a", 2, 3, 15), ("b", 6, 1, 8), ("d", 10, 1, 6)]);
    }

    #[test]
    fn percentile_is_one_of_the_values() {
        assert_eq!(percentile((1..=10).collect(), 50), 5);
        assert_eq!(percentile((1..=10).collect(), 90), 9);
        assert_eq!(percentile(vec![7], 90), 7);
        assert_eq!(percentile(Vec::new(), 90), 0);
    }
}
