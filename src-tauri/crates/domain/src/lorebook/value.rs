//! Reads field values tolerantly: for example text instead of a number, or a map instead of a list.

use serde_json::{Number, Value, json};

use super::entry::{CharacterFilter, InsertionRole, KeyLogic, Position};

/// A field type that can be read from irregular JSON and written back.
pub(super) trait Field: Sized + PartialEq {
    /// Returns `None` if the value is unusable.
    fn read(value: &Value) -> Option<Self>;
    fn write(&self) -> Value;
}

impl Field for bool {
    fn read(value: &Value) -> Option<Self> {
        match value {
            Value::Bool(value) => Some(*value),
            Value::Number(number) => Some(number.as_f64() != Some(0.0)),
            Value::String(text) => Some(!matches!(
                text.trim().to_ascii_lowercase().as_str(),
                "" | "false" | "0" | "no"
            )),
            _ => None,
        }
    }

    fn write(&self) -> Value {
        Value::Bool(*self)
    }
}

impl Field for f64 {
    fn read(value: &Value) -> Option<Self> {
        let number = match value {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.trim().parse().ok(),
            Value::Bool(value) => Some(f64::from(u8::from(*value))),
            _ => None,
        };
        number.filter(|number: &Self| number.is_finite())
    }

    fn write(&self) -> Value {
        if self.fract() == 0.0 && self.abs() < 9e15 {
            json!(*self as i64)
        } else {
            json!(*self)
        }
    }
}

impl Field for i64 {
    fn read(value: &Value) -> Option<Self> {
        // The cast saturates, so an extreme number stays extreme.
        f64::read(value).map(|number| number.round() as Self)
    }

    fn write(&self) -> Value {
        Value::Number(Number::from(*self))
    }
}

impl Field for String {
    fn read(value: &Value) -> Option<Self> {
        match value {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }

    fn write(&self) -> Value {
        Value::String(self.clone())
    }
}

impl Field for Vec<String> {
    fn read(value: &Value) -> Option<Self> {
        match value {
            Value::Array(items) => Some(items.iter().filter_map(String::read).collect()),
            Value::Object(numbered) => Some(numbered.values().filter_map(String::read).collect()),
            Value::String(text) => Some(
                text.split(',')
                    .map(str::trim)
                    .filter(|key| !key.is_empty())
                    .map(str::to_owned)
                    .collect(),
            ),
            _ => None,
        }
    }

    fn write(&self) -> Value {
        self.iter().cloned().collect()
    }
}

impl<T: Field> Field for Option<T> {
    fn read(value: &Value) -> Option<Self> {
        T::read(value).map(Some)
    }

    fn write(&self) -> Value {
        self.as_ref().map_or(Value::Null, T::write)
    }
}

/// A recursion level. `true` is level 1; `0` and `false` are level 0.
impl Field for u32 {
    fn read(value: &Value) -> Option<Self> {
        f64::read(value).map(|level| level as Self)
    }

    fn write(&self) -> Value {
        json!(self)
    }
}

macro_rules! numbered {
    ($type:ident: $($number:literal => $variant:ident),*) => {
        impl Field for $type {
            fn read(value: &Value) -> Option<Self> {
                match i64::read(value)? {
                    $($number => Some(Self::$variant),)*
                    _ => None,
                }
            }

            fn write(&self) -> Value {
                match self {
                    $(Self::$variant => json!($number),)*
                }
            }
        }
    };
}

numbered!(KeyLogic: 0 => AndAny, 1 => NotAll, 2 => NotAny, 3 => AndAll);
numbered!(Position: 0 => BeforeChar, 1 => AfterChar, 2 => NoteTop, 3 => NoteBottom, 4 => AtDepth, 5 => ExampleTop,
    6 => ExampleBottom, 7 => Outlet);

impl Field for InsertionRole {
    fn read(value: &Value) -> Option<Self> {
        match (value.as_str(), i64::read(value)) {
            (Some("system"), _) | (_, Some(0)) => Some(Self::System),
            (Some("user"), _) | (_, Some(1)) => Some(Self::User),
            (Some("assistant"), _) | (_, Some(2)) => Some(Self::Assistant),
            _ => None,
        }
    }

    fn write(&self) -> Value {
        json!(*self as u8)
    }
}

impl Field for CharacterFilter {
    fn read(value: &Value) -> Option<Self> {
        let filter = value.as_object()?;
        let list = |name| filter.get(name).and_then(Vec::read).unwrap_or_default();
        let exclude = filter
            .get("isExclude")
            .and_then(bool::read)
            .unwrap_or(false);
        Some(Self {
            names: list("names"),
            tags: list("tags"),
            exclude,
        })
    }

    fn write(&self) -> Value {
        json!({ "isExclude": self.exclude, "names": self.names, "tags": self.tags })
    }
}

/// Whether JavaScript treats the key as an array index. Such keys come first, in numeric order.
pub(super) fn array_index(name: &str) -> Option<u32> {
    let index: u32 = name.parse().ok()?;
    (index != u32::MAX && index.to_string() == name).then_some(index)
}
