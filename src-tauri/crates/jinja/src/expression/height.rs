//! The height of an expression tree.

use crate::ast::{Args, Expr, Node};

/// The height of the tallest expression in `node`.
pub(super) fn tallest(node: &Node) -> u16 {
    let of = |exprs: &[&Expr]| exprs.iter().map(|expr| expr.height).max().unwrap_or(0);
    let of_args = |args: &Args| {
        let named = args.named.iter().map(|(_, value)| value);
        let spread = args.spread.iter().chain(&args.named_spread);
        args.positional
            .iter()
            .chain(named)
            .chain(spread)
            .map(|expr| expr.height)
            .max()
            .unwrap_or(0)
    };
    match node {
        Node::Name(_)
        | Node::None
        | Node::Bool(_)
        | Node::Int(_)
        | Node::Float(_)
        | Node::Text(_) => 0,
        Node::List(items) | Node::Tuple(items) | Node::Concat(items) => {
            items.iter().map(|item| item.height).max().unwrap_or(0)
        }
        Node::Map(entries) => entries
            .iter()
            .map(|(key, value)| key.height.max(value.height))
            .max()
            .unwrap_or(0),
        Node::Not(inner) | Node::Negative(inner) | Node::Field(inner, _) => inner.height,
        Node::And(left, right)
        | Node::Or(left, right)
        | Node::Binary(_, left, right)
        | Node::Item(left, right) => of(&[left, right]),
        Node::Compare(left, others) => others
            .iter()
            .map(|(_, other)| other.height)
            .max()
            .unwrap_or(0)
            .max(left.height),
        Node::Choice(condition, then, otherwise) => {
            of(&[condition, then]).max(otherwise.as_ref().map_or(0, |expr| expr.height))
        }
        Node::Slice(inner, parts) => parts
            .iter()
            .flatten()
            .map(|part| part.height)
            .max()
            .unwrap_or(0)
            .max(inner.height),
        Node::Filter(inner, filter) | Node::Test(inner, filter) => {
            inner.height.max(of_args(&filter.args))
        }
        Node::Call(inner, args) => inner.height.max(of_args(args)),
    }
}
