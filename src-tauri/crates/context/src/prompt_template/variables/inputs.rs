//! Values of variables, and the inputs of a derived variable.

use std::borrow::Cow;
use std::collections::BTreeMap;

/// A text, or a list whose size a condition can check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Text(String),
    List(Vec<String>),
}

impl Value {
    pub(crate) fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::List(items) => Cow::Owned(items.join(", ")),
        }
    }
}

/// The inputs of a derived variable. It can read only the variables that it declares.
pub(crate) struct Inputs<'v> {
    pub(crate) declared: &'static [&'static str],
    pub(crate) values: &'v BTreeMap<String, Value>,
}

impl Inputs<'_> {
    /// The trimmed text; empty if absent.
    pub(crate) fn text(&self, name: &str) -> Cow<'_, str> {
        match self.value(name) {
            Some(Value::Text(text)) => Cow::Borrowed(text.trim()),
            Some(list) => list.text(),
            None => Cow::Borrowed(""),
        }
    }

    pub(crate) fn list(&self, name: &str) -> &[String] {
        match self.value(name) {
            Some(Value::List(items)) => items,
            _ => &[],
        }
    }

    pub(crate) fn value(&self, name: &str) -> Option<&Value> {
        debug_assert!(
            self.declared.contains(&name),
            "{name} is read but not declared"
        );
        self.declared
            .contains(&name)
            .then(|| self.values.get(name))
            .flatten()
    }
}
