//! Reads the fields of a request's JSON object. Unknown fields are ignored, and `null` is the same
//! as absent.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use super::error::Fault;

/// The fields of a JSON object.
#[derive(Debug)]
pub(super) struct Fields(Map<String, Value>);

impl Fields {
    pub(super) fn parse(body: &[u8]) -> Result<Self, Fault> {
        let value = serde_json::from_slice(body).map_err(|error| {
            let line = error.line();
            let column = error.column();
            Fault::bad(format!(
                "The body is not valid JSON (line {line}, column {column})."
            ))
        })?;
        match value {
            Value::Object(fields) => Ok(Self(fields)),
            _ => Err(Fault::bad("The body is not a JSON object.")),
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<&str>, Fault> {
        let wrong = || Fault::field(name, format!("`{name}` must be a text."));
        self.get(name)
            .map(|value| value.as_str().ok_or_else(wrong))
            .transpose()
    }

    pub(super) fn flag(&self, name: &str) -> Result<bool, Fault> {
        let wrong = || Fault::field(name, format!("`{name}` must be true or false."));
        self.get(name)
            .map_or(Ok(false), |value| value.as_bool().ok_or_else(wrong))
    }

    /// A finite number in `range`.
    pub(super) fn number(
        &self,
        name: &str,
        range: RangeInclusive<f64>,
    ) -> Result<Option<f32>, Fault> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        match value.as_f64().filter(|number| range.contains(number)) {
            Some(number) => Ok(Some(number as f32)),
            None => {
                let from = range.start();
                let to = range.end();
                Err(Fault::field(
                    name,
                    format!("`{name}` must be a number from {from} to {to}."),
                ))
            }
        }
    }

    /// A whole number in `range`. A number such as `3.0` is whole.
    pub(super) fn whole(
        &self,
        name: &str,
        range: RangeInclusive<i64>,
    ) -> Result<Option<i64>, Fault> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let rounded = || {
            value
                .as_f64()
                .filter(|number| number.fract() == 0.0 && number.abs() < 9e15)
        };
        let number = value
            .as_i64()
            .or_else(|| rounded().map(|number| number as i64));
        match number.filter(|number| range.contains(number)) {
            Some(number) => Ok(Some(number)),
            None => {
                let from = range.start();
                let to = range.end();
                Err(Fault::field(
                    name,
                    format!("`{name}` must be a whole number from {from} to {to}."),
                ))
            }
        }
    }

    /// Refuses fields whose effect would be missing without notice.
    pub(super) fn refuse(&self, names: &[&str]) -> Result<(), Fault> {
        let sent = names
            .iter()
            .find(|name| self.get(name).is_some_and(has_effect));
        sent.map_or(Ok(()), |name| {
            Err(Fault::unsupported(
                name,
                format!("`{name}` is not supported."),
            ))
        })
    }
}

fn has_effect(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::String(text) => !text.is_empty(),
        _ => true,
    }
}
