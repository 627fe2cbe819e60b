//! Finds shapes of code that are hard to read, such as a function with many local closures.

use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    Block, Expr, ExprMatch, File, FnArg, ImplItemFn, ItemFn, Lit, Local, Pat, Signature,
    TraitItemFn,
};

/// Local closures that one function may have.
const LOCAL_CLOSURES: usize = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShapeKind {
    /// A function binds more than two closures to names.
    ManyClosures,
    /// A function takes a tuple apart in its signature.
    TupleParameter,
    /// A `match` with an arm `true` or `false`.
    MatchOnBool,
    /// `let (a, b) = (x, y)`.
    LetTuple,
}

/// A shape at a line of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) kind: ShapeKind,
    pub(crate) line: usize,
}

pub(crate) fn shapes(file: &File) -> Vec<Shape> {
    let mut finder = ShapeFinder::default();
    finder.visit_file(file);
    finder.found
}

#[derive(Default)]
struct ShapeFinder {
    found: Vec<Shape>,
    /// Local closures of the function that is being visited.
    closures: usize,
}

impl ShapeFinder {
    fn add(&mut self, kind: ShapeKind, line: usize) {
        self.found.push(Shape { kind, line });
    }

    fn function(&mut self, signature: &Signature, body: &Block) {
        let line = signature.span().start().line;
        if signature.inputs.iter().any(is_tuple) {
            self.add(ShapeKind::TupleParameter, line);
        }
        let outer = std::mem::take(&mut self.closures);
        visit::visit_block(self, body);
        if self.closures > LOCAL_CLOSURES {
            self.add(ShapeKind::ManyClosures, line);
        }
        self.closures = outer;
    }
}

impl<'a> Visit<'a> for ShapeFinder {
    fn visit_item_fn(&mut self, function: &'a ItemFn) {
        self.function(&function.sig, &function.block);
    }

    fn visit_impl_item_fn(&mut self, method: &'a ImplItemFn) {
        self.function(&method.sig, &method.block);
    }

    fn visit_trait_item_fn(&mut self, method: &'a TraitItemFn) {
        if let Some(body) = &method.default {
            self.function(&method.sig, body);
        }
    }

    fn visit_local(&mut self, local: &'a Local) {
        match local.init.as_ref().map(|init| &*init.expr) {
            Some(Expr::Closure(_)) => self.closures += 1,
            Some(Expr::Tuple(_)) if matches!(local.pat, Pat::Tuple(_)) => {
                self.add(ShapeKind::LetTuple, local.let_token.span.start().line);
            }
            _ => {}
        }
        visit::visit_local(self, local);
    }

    fn visit_expr_match(&mut self, expression: &'a ExprMatch) {
        if expression.arms.iter().any(|arm| is_bool(&arm.pat)) {
            let line = expression.match_token.span.start().line;
            self.add(ShapeKind::MatchOnBool, line);
        }
        visit::visit_expr_match(self, expression);
    }
}

fn is_tuple(argument: &FnArg) -> bool {
    match argument {
        FnArg::Typed(typed) => match &*typed.pat {
            Pat::Reference(reference) => matches!(*reference.pat, Pat::Tuple(_)),
            pattern => matches!(pattern, Pat::Tuple(_)),
        },
        FnArg::Receiver(_) => false,
    }
}

fn is_bool(pattern: &Pat) -> bool {
    match pattern {
        Pat::Lit(literal) => matches!(literal.lit, Lit::Bool(_)),
        Pat::Guard(guard) => is_bool(&guard.pat),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<ShapeKind> {
        let found = shapes(&syn::parse_file(text).unwrap());
        found.into_iter().map(|shape| shape.kind).collect()
    }

    #[test]
    fn counts_closures_of_each_function_alone() {
        let two = "let a = || 1; let b = || 2;";
        let three = format!("{two} let c = |x: u8| x;");
        assert_eq!(
            kinds(&format!("fn f() {{ {three} }}")),
            [ShapeKind::ManyClosures]
        );
        assert!(kinds(&format!("fn f() {{ {two} fn g() {{ {two} }} }}")).is_empty());
    }

    #[test]
    fn finds_tuple_parameters_but_not_of_closures() {
        assert_eq!(
            kinds("fn f((a, b): (u8, u8)) {}"),
            [ShapeKind::TupleParameter]
        );
        assert_eq!(
            kinds("impl A { fn f(&self, &(a, b): &P) {} }"),
            [ShapeKind::TupleParameter]
        );
        assert!(kinds("fn f(a: (u8, u8)) { a.map(|(b, c)| b) }").is_empty());
    }

    #[test]
    fn finds_matches_on_a_bool() {
        assert_eq!(
            kinds("fn f() { match a { true => 1, false if x => 2, false => 3 } }"),
            [ShapeKind::MatchOnBool]
        );
        assert!(kinds("fn f() { match (a, b) { (true, _) => 1, _ => 2 } }").is_empty());
    }

    #[test]
    fn finds_tuples_that_are_taken_apart_at_once() {
        assert_eq!(
            kinds("fn f() { let (a, mut b) = (1, 2); }"),
            [ShapeKind::LetTuple]
        );
        assert!(kinds("fn f() { let (a, b) = pair(); let c = (1, 2); }").is_empty());
    }

    #[test]
    fn reports_the_line() {
        let found = shapes(&syn::parse_file("fn f() {\n    let (a, b) = (1, 2);\n}").unwrap());
        assert_eq!(found[0].line, 2);
    }
}
