//! Evaluated arguments of a call.

use crate::ast::Name;
use crate::error::RenderError;
use crate::meter::Meter;
use crate::value::Value;

#[derive(Default, Clone)]
pub(crate) struct Called {
    pub(crate) positional: Vec<Value>,
    pub(crate) named: Vec<(Name, Value)>,
}

impl Called {
    /// The argument at index `position`, or the one named `name`.
    pub(crate) fn get(&self, position: usize, name: &str) -> Option<&Value> {
        let named = || {
            self.named
                .iter()
                .find(|(known, _)| &**known == name)
                .map(|(_, value)| value)
        };
        self.positional.get(position).or_else(named)
    }

    pub(crate) fn need(&self, position: usize, name: &str) -> Result<&Value, RenderError> {
        self.get(position, name)
            .ok_or_else(|| RenderError::failed(format!("the argument `{name}` is missing")))
    }

    pub(crate) fn text(&self, position: usize, name: &str) -> Result<&str, RenderError> {
        let value = self.need(position, name)?;
        value.str().ok_or_else(|| {
            RenderError::failed(format!("`{name}` should be a text, not {}", value.kind()))
        })
    }

    /// A text, or `None` if it is absent or `none`.
    pub(crate) fn optional_text(
        &self,
        position: usize,
        name: &str,
    ) -> Result<Option<&str>, RenderError> {
        match self.get(position, name) {
            None | Some(Value::None) => Ok(None),
            Some(_) => self.text(position, name).map(Some),
        }
    }

    pub(crate) fn int(
        &self,
        position: usize,
        name: &str,
        default: i64,
    ) -> Result<i64, RenderError> {
        match self.get(position, name) {
            None | Some(Value::None) => Ok(default),
            Some(value) => value
                .int()
                .ok_or_else(|| RenderError::failed(format!("`{name}` should be a whole number"))),
        }
    }

    pub(crate) fn flag(&self, position: usize, name: &str) -> bool {
        self.get(position, name).is_some_and(Value::is_true)
    }

    /// The arguments after the first `count`, for filters that pass arguments on.
    pub(crate) fn after(&self, meter: &Meter, count: usize) -> Result<Self, RenderError> {
        meter.spend((self.positional.len() + self.named.len()) * 32)?;
        let positional = self.positional.iter().skip(count).cloned().collect();
        Ok(Self {
            positional,
            named: self.named.clone(),
        })
    }
}
