//! Values that change with each use: `joiner`, `cycler` and `loop.changed`.

use std::cell::Cell;
use std::rc::Rc;

use super::functions::args::Called;
use super::meter::Meter;
use super::ops;
use super::value::{Loop, Stepper, Value, ValueResult};
use crate::error::RenderError;

impl Stepper {
    /// `joiner(sep)`
    pub(crate) fn joiner(meter: &Rc<Meter>, called: &Called) -> ValueResult {
        let separator = match called.get(0, "sep") {
            Some(separator) => separator.clone(),
            None => Value::text(meter, ", ")?,
        };
        separator.storable()?;
        Ok(Value::Stepper(Rc::new(Self::Joiner {
            separator,
            used: Cell::new(false),
        })))
    }

    /// `cycler(first, second, ...)`
    pub(crate) fn cycler(called: Called) -> ValueResult {
        if called.positional.is_empty() {
            return Err(RenderError::failed("`cycler` needs at least one item"));
        }
        for item in &called.positional {
            item.storable()?;
        }
        Ok(Value::Stepper(Rc::new(Self::Cycler {
            items: called.positional,
            at: Cell::new(0),
        })))
    }

    /// The call of a joiner.
    pub(crate) fn call(&self, meter: &Rc<Meter>) -> ValueResult {
        match self {
            Self::Joiner { separator, used } if used.replace(true) => Ok(separator.clone()),
            Self::Joiner { .. } => Value::text(meter, ""),
            Self::Cycler { .. } => Err(RenderError::failed(
                "a cycler cannot be called; use `next()`",
            )),
        }
    }

    pub(crate) fn field(&self, name: &str) -> Value {
        match (self, name) {
            (Self::Cycler { items, at }, "current") => items[at.get()].clone(),
            _ => Value::Undefined,
        }
    }

    pub(crate) fn method(&self, name: &str) -> Option<Value> {
        let Self::Cycler { items, at } = self else {
            return None;
        };
        match name {
            "next" => Some(items[at.replace((at.get() + 1) % items.len())].clone()),
            "reset" => {
                at.set(0);
                Some(Value::None)
            }
            _ => None,
        }
    }
}

impl Loop {
    /// `loop.changed(value)`: whether the values differ from those of the last call.
    pub(crate) fn changed(&self, meter: &Meter, called: &Called) -> Result<bool, RenderError> {
        let mut last = self.last.borrow_mut();
        let mut same = last
            .as_ref()
            .is_some_and(|last| last.len() == called.positional.len());
        for (one, other) in last.iter().flatten().zip(&called.positional) {
            same = same && ops::equal(meter, one, other)?;
        }
        if !same {
            for value in &called.positional {
                value.storable()?;
            }
            *last = Some(called.positional.clone());
        }
        Ok(!same)
    }
}
