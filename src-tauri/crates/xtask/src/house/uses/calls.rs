//! Method calls with what is known about their receivers.

use crate::house::code::definitions::type_name;
use std::collections::BTreeMap;
use std::mem;
use syn::visit::{self, Visit};
use syn::{
    Expr, ExprMethodCall, File, FnArg, ImplItemFn, ItemFn, ItemImpl, Member, Pat, Signature,
};

/// Methods that return their receiver, or a reference to it.
const SAME: [&str; 6] = ["clone", "as_ref", "as_mut", "unwrap", "expect", "borrow"];

/// The start of a receiver.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Start {
    /// A value of a type that the signature states.
    Type(String),
    /// A variable of an unknown type.
    Name(String),
}

/// A step from a value to another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Access {
    Field(String),
    Method(String),
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Call {
    pub(crate) start: Start,
    pub(crate) steps: Vec<Access>,
    pub(crate) method: String,
}

/// Every method call on a variable, its fields or the results of its methods.
pub(crate) fn calls(file: &File) -> Vec<Call> {
    let mut collector = Collector::default();
    collector.visit_file(file);
    collector.calls.sort();
    collector.calls.dedup();
    collector.calls
}

#[derive(Default)]
struct Collector {
    calls: Vec<Call>,
    /// The type of the `impl` block that is being visited.
    own_type: Option<String>,
    /// Types of the parameters of the function that is being visited.
    parameters: BTreeMap<String, String>,
}

impl Collector {
    fn parameters(&self, signature: &Signature) -> BTreeMap<String, String> {
        let typed = signature
            .inputs
            .iter()
            .filter_map(|argument| match argument {
                FnArg::Typed(typed) => Some(typed),
                FnArg::Receiver(_) => None,
            });
        let named = typed.filter_map(|argument| match &*argument.pat {
            Pat::Ident(name) => Some((name.ident.to_string(), type_name(&argument.ty)?)),
            _ => None,
        });
        let mut parameters: BTreeMap<_, _> = named.collect();
        if let Some(own) = &self.own_type {
            parameters.insert("self".to_owned(), own.clone());
        }
        parameters
    }

    fn receiver(&self, expression: &Expr) -> Option<(Start, Vec<Access>)> {
        match expression {
            Expr::Path(path) => {
                let name = path.path.get_ident()?.to_string();
                let start = match self.parameters.get(&name) {
                    Some(known) => Start::Type(known.clone()),
                    None => Start::Name(name),
                };
                Some((start, Vec::new()))
            }
            Expr::Field(field) => {
                let (start, mut steps) = self.receiver(&field.base)?;
                let Member::Named(name) = &field.member else {
                    return None;
                };
                steps.push(Access::Field(name.to_string()));
                Some((start, steps))
            }
            Expr::MethodCall(call) => {
                let (start, mut steps) = self.receiver(&call.receiver)?;
                let name = call.method.to_string();
                if !SAME.contains(&name.as_str()) {
                    steps.push(Access::Method(name));
                }
                Some((start, steps))
            }
            Expr::Await(inner) => self.receiver(&inner.base),
            Expr::Try(inner) => self.receiver(&inner.expr),
            Expr::Paren(inner) => self.receiver(&inner.expr),
            Expr::Reference(inner) => self.receiver(&inner.expr),
            _ => None,
        }
    }
}

impl<'a> Visit<'a> for Collector {
    fn visit_item_impl(&mut self, block: &'a ItemImpl) {
        let outer = mem::replace(&mut self.own_type, type_name(&block.self_ty));
        visit::visit_item_impl(self, block);
        self.own_type = outer;
    }

    fn visit_item_fn(&mut self, function: &'a ItemFn) {
        let own = self.own_type.take();
        let parameters = self.parameters(&function.sig);
        let outer = mem::replace(&mut self.parameters, parameters);
        visit::visit_item_fn(self, function);
        self.parameters = outer;
        self.own_type = own;
    }

    fn visit_impl_item_fn(&mut self, method: &'a ImplItemFn) {
        let parameters = self.parameters(&method.sig);
        let outer = mem::replace(&mut self.parameters, parameters);
        visit::visit_impl_item_fn(self, method);
        self.parameters = outer;
    }

    fn visit_expr_method_call(&mut self, call: &'a ExprMethodCall) {
        if let Some((start, steps)) = self.receiver(&call.receiver) {
            self.calls.push(Call {
                start,
                steps,
                method: call.method.to_string(),
            });
        }
        visit::visit_expr_method_call(self, call);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_fields_calls_and_parameters() {
        let text = "impl A { fn f(&self, b: &Arc<B>) { self.c.d().clone().e(); b.g()?; h.i(); } }";
        let found = calls(&syn::parse_file(text).unwrap());
        let call = |start, steps: &[Access], method: &str| Call {
            start,
            steps: steps.to_vec(),
            method: method.to_owned(),
        };
        let (c, d) = (
            Access::Field("c".to_owned()),
            Access::Method("d".to_owned()),
        );
        let a = || Start::Type("A".to_owned());
        for expected in [
            call(a(), &[c.clone(), d], "e"),
            call(a(), &[c], "d"),
            call(Start::Type("B".to_owned()), &[], "g"),
            call(Start::Name("h".to_owned()), &[], "i"),
        ] {
            assert!(found.contains(&expected), "{expected:?} in {found:?}");
        }
    }
}
