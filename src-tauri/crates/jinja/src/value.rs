//! Template values, with Python semantics.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

use super::ast::{For, Macro};
use super::meter::{Buffer, Hold, Meter};
use crate::error::RenderError;

/// Maximum nesting depth of lists and maps.
const NESTING: u8 = 40;
/// Bytes charged for an item of a list or map, in addition to its content.
const ITEM: usize = 32;

pub(crate) type ValueResult = Result<Value, RenderError>;

#[derive(Clone)]
pub(crate) enum Value {
    Undefined,
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(TextValue),
    List(ListValue),
    Map(MapValue),
    Namespace(Rc<RefCell<HashMap<Arc<str>, Value>>>),
    Loop(Rc<Loop>),
    Macro(Arc<Macro>),
    Caller(Rc<Caller>),
    Stepper(Rc<Stepper>),
    Function(BuiltinFunction),
}

/// Built-in functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BuiltinFunction {
    Range,
    Namespace,
    Dict,
    Joiner,
    Cycler,
    Raise,
    Now,
}

#[derive(Clone)]
pub(crate) struct TextValue(Rc<(String, Hold)>);

/// A list or a tuple; they differ only in their text form.
#[derive(Clone)]
pub(crate) struct ListValue(Rc<ListItems>);

struct ListItems {
    items: Vec<Value>,
    nesting: u8,
    tuple: bool,
    _hold: Hold,
}

/// A map in insertion order; keys are texts, integers or booleans.
#[derive(Clone)]
pub(crate) struct MapValue(Rc<Entries>);

struct Entries {
    entries: Vec<(Value, Value)>,
    nesting: u8,
    _hold: Hold,
}

/// The `loop` variable of a `for`.
pub(crate) struct Loop {
    pub(crate) items: ListValue,
    pub(crate) index: Cell<usize>,
    /// The loop itself, if it is recursive, and the number of frames around it.
    pub(crate) recursion: Option<(Arc<For>, usize)>,
    /// From 0.
    pub(crate) depth: usize,
    /// The arguments of the last `loop.changed`.
    pub(crate) last: RefCell<Option<Vec<Value>>>,
}

/// The body of a `call` block, which its macro calls as `caller`.
pub(crate) struct Caller {
    pub(crate) definition: Macro,
    /// Position of the block's scope among those that calls have covered.
    pub(crate) level: usize,
}

/// A value that changes with each use.
pub(crate) enum Stepper {
    /// Empty at first, then the separator.
    Joiner {
        separator: Value,
        used: Cell<bool>,
    },
    Cycler {
        items: Vec<Value>,
        at: Cell<usize>,
    },
}

impl Deref for TextValue {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0.0
    }
}

impl Deref for ListValue {
    type Target = [Value];
    fn deref(&self) -> &[Value] {
        &self.0.items
    }
}

impl Deref for MapValue {
    type Target = [(Value, Value)];
    fn deref(&self) -> &[(Value, Value)] {
        &self.0.entries
    }
}

impl From<Buffer> for TextValue {
    fn from(buffer: Buffer) -> Self {
        Self(Rc::new(buffer.into_parts()))
    }
}

impl TextValue {
    pub(crate) fn new(meter: &Rc<Meter>, text: &str) -> Result<Self, RenderError> {
        let hold = Hold::new(meter, text.len())?;
        Ok(Self(Rc::new((text.to_owned(), hold))))
    }
}

impl ListValue {
    pub(crate) fn new(meter: &Rc<Meter>, items: Vec<Value>) -> Result<Self, RenderError> {
        Self::made(meter, items, false)
    }

    pub(crate) fn tuple(meter: &Rc<Meter>, items: Vec<Value>) -> Result<Self, RenderError> {
        Self::made(meter, items, true)
    }

    fn made(meter: &Rc<Meter>, items: Vec<Value>, tuple: bool) -> Result<Self, RenderError> {
        let _hold = Hold::new(meter, items.len() * ITEM)?;
        let nesting = nesting(items.iter())?;
        Ok(Self(Rc::new(ListItems {
            items,
            nesting,
            tuple,
            _hold,
        })))
    }

    pub(crate) fn is_tuple(&self) -> bool {
        self.0.tuple
    }
}

impl MapValue {
    /// If a key appears twice, the later entry wins.
    pub(crate) fn new(
        meter: &Rc<Meter>,
        entries: Vec<(Value, Value)>,
    ) -> Result<Self, RenderError> {
        let _hold = Hold::new(meter, entries.len() * 2 * ITEM)?;
        let mut unique: Vec<(Value, Value)> = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            meter.spend(unique.len() * 8)?;
            if !matches!(key, Value::Text(_) | Value::Int(_) | Value::Bool(_)) {
                return Err(RenderError::failed(format!(
                    "{} cannot be the key of a map",
                    key.kind()
                )));
            }
            match unique.iter_mut().find(|(known, _)| known.same_key(&key)) {
                Some(entry) => entry.1 = value,
                None => unique.push((key, value)),
            }
        }
        let nesting = nesting(unique.iter().map(|(_, value)| value))?;
        Ok(Self(Rc::new(Entries {
            entries: unique,
            nesting,
            _hold,
        })))
    }

    pub(crate) fn get(&self, meter: &Meter, key: &str) -> Result<Option<Value>, RenderError> {
        meter.spend(self.len() * 8)?;
        Ok(self
            .iter()
            .find(|(known, _)| known.str() == Some(key))
            .map(|(_, value)| value.clone()))
    }

    pub(crate) fn at(&self, meter: &Meter, key: &Value) -> Result<Option<Value>, RenderError> {
        meter.spend(self.len() * 8)?;
        Ok(self
            .iter()
            .find(|(known, _)| known.same_key(key))
            .map(|(_, value)| value.clone()))
    }
}

/// The nesting depth of a container with `items`. A container may not hold a namespace, which is
/// mutable and could form cycles.
fn nesting<'v>(items: impl Iterator<Item = &'v Value>) -> Result<u8, RenderError> {
    let mut deepest = 0;
    for item in items {
        deepest = deepest.max(item.storable()?);
    }
    if deepest >= NESTING {
        Err(RenderError::Limit("depth"))
    } else {
        Ok(deepest + 1)
    }
}

impl Value {
    /// The nesting depth of a value that is stored in another value.
    pub(crate) fn storable(&self) -> Result<u8, RenderError> {
        match self {
            Self::List(list) => Ok(list.0.nesting),
            Self::Map(map) => Ok(map.0.nesting),
            Self::Namespace(_) | Self::Loop(_) | Self::Caller(_) | Self::Stepper(_) => Err(
                RenderError::failed(format!("{} cannot be stored in another value", self.kind())),
            ),
            _ => Ok(0),
        }
    }

    pub(crate) fn text(meter: &Rc<Meter>, text: &str) -> Result<Self, RenderError> {
        TextValue::new(meter, text).map(Self::Text)
    }

    pub(crate) fn list(meter: &Rc<Meter>, items: Vec<Value>) -> Result<Self, RenderError> {
        ListValue::new(meter, items).map(Self::List)
    }

    pub(crate) fn tuple(meter: &Rc<Meter>, items: Vec<Value>) -> Result<Self, RenderError> {
        ListValue::tuple(meter, items).map(Self::List)
    }

    /// A list of `texts`.
    pub(crate) fn texts<'s>(
        meter: &Rc<Meter>,
        texts: impl Iterator<Item = &'s str>,
    ) -> Result<Self, RenderError> {
        let items = texts
            .map(|text| Self::text(meter, text))
            .collect::<Result<Vec<_>, _>>()?;
        Self::list(meter, items)
    }

    pub(crate) fn is_true(&self) -> bool {
        match self {
            Self::Undefined | Self::None => false,
            Self::Bool(value) => *value,
            Self::Int(value) => *value != 0,
            Self::Float(value) => *value != 0.0,
            Self::Text(text) => !text.is_empty(),
            Self::List(list) => !list.is_empty(),
            Self::Map(map) => !map.is_empty(),
            Self::Namespace(_)
            | Self::Loop(_)
            | Self::Macro(_)
            | Self::Function(_)
            | Self::Caller(_)
            | Self::Stepper(_) => true,
        }
    }

    /// A description of the type, for errors.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Undefined => "an undefined value",
            Self::None => "none",
            Self::Bool(_) => "a boolean",
            Self::Int(_) | Self::Float(_) => "a number",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
            Self::Namespace(_) => "a namespace",
            Self::Loop(_) => "a loop",
            Self::Macro(_) | Self::Function(_) | Self::Caller(_) => "a function",
            Self::Stepper(_) => "a joiner or cycler",
        }
    }

    /// True if both are the same map key: equal texts or equal integers.
    fn same_key(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text(one), Self::Text(other)) => **one == **other,
            _ => self.int().is_some() && self.int() == other.int(),
        }
    }

    /// The value as an integer; `True` is 1, as in Python.
    pub(crate) fn int(&self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(*value),
            Self::Bool(value) => Some(i64::from(*value)),
            _ => None,
        }
    }

    pub(crate) fn float(&self) -> Option<f64> {
        match self {
            Self::Float(value) => Some(*value),
            _ => self.int().map(|value| value as f64),
        }
    }

    pub(crate) fn str(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The items of an iteration: list items, characters or keys.
    pub(crate) fn items(&self, meter: &Rc<Meter>) -> Result<ListValue, RenderError> {
        match self {
            Self::List(list) => Ok(list.clone()),
            Self::Undefined => ListValue::new(meter, Vec::new()),
            Self::Map(map) => {
                ListValue::new(meter, map.iter().map(|(key, _)| key.clone()).collect())
            }
            Self::Text(text) => {
                meter.room(text.len() * ITEM * 2)?;
                let mut chars = Vec::new();
                for char in text.chars() {
                    chars.push(Self::text(meter, char.encode_utf8(&mut [0; 4]))?);
                }
                ListValue::new(meter, chars)
            }
            other => Err(RenderError::failed(format!(
                "{} is not iterable",
                other.kind()
            ))),
        }
    }
}
