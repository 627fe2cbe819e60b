//! Evaluates expressions.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::ast::{Args, ComparisonOp, Expr, Name, Node};
use super::exec::Interpreter;
use super::functions::args::Called;
use super::functions::{filters, methods, tests_of_values};
use super::meter::Buffer;
use super::ops;
use super::value::BuiltinFunction;
use super::value::MapValue;
use super::value::Stepper;
use super::value::Value;
use crate::error::RenderError;
use crate::field::field;

/// Maximum number of items in a range, as in Jinja's sandbox.
const LONGEST_RANGE: i64 = 100_000;

type Evaluated = Result<Value, RenderError>;

impl Interpreter {
    pub(crate) fn eval(&mut self, expr: &Expr) -> Evaluated {
        self.meter.spend(0)?;
        self.meter.deeper()?;
        let value = match &*expr.node {
            Node::Name(name) => Ok(self.lookup(name)),
            Node::None => Ok(Value::None),
            Node::Bool(value) => Ok(Value::Bool(*value)),
            Node::Int(value) => Ok(Value::Int(*value)),
            Node::Float(value) => Ok(Value::Float(*value)),
            Node::Text(text) => Value::text(&self.meter, text),
            Node::Not(inner) => Ok(Value::Bool(!self.eval(inner)?.is_true())),
            Node::And(left, right) => self.either(left, right, false),
            Node::Or(left, right) => self.either(left, right, true),
            Node::Field(inner, name) => self.field_of(inner, name),
            Node::Compare(left, others) => self.compare(left, others),
            Node::Call(callee, args) => self.call(callee, args),
            other => self.eval_composite(other),
        };
        self.meter.back();
        value
    }

    fn eval_composite(&mut self, node: &Node) -> Evaluated {
        match node {
            Node::List(items) => {
                let items = items
                    .iter()
                    .map(|item| self.eval(item))
                    .collect::<Result<Vec<_>, _>>()?;
                Value::list(&self.meter, items)
            }
            Node::Tuple(items) => {
                let items = items
                    .iter()
                    .map(|item| self.eval(item))
                    .collect::<Result<Vec<_>, _>>()?;
                Value::tuple(&self.meter, items)
            }
            Node::Map(entries) => self.map(entries),
            Node::Negative(inner) => match self.eval(inner)? {
                Value::Float(value) => Ok(Value::Float(-value)),
                value => ops::binary(&self.meter, super::ast::Op::Sub, &Value::Int(0), &value),
            },
            Node::Binary(op, left, right) => {
                let left = self.eval(left)?;
                let right = self.eval(right)?;
                ops::binary(&self.meter, *op, &left, &right)
            }
            Node::Concat(texts) => {
                let mut out = Buffer::new(&self.meter)?;
                for text in texts {
                    self.eval(text)?.write(&mut out)?;
                }
                Ok(Value::Text(out.into()))
            }
            Node::Choice(condition, then, otherwise) => {
                match (self.eval(condition)?.is_true(), otherwise) {
                    (true, _) => self.eval(then),
                    (false, Some(otherwise)) => self.eval(otherwise),
                    (false, None) => Ok(Value::Undefined),
                }
            }
            Node::Item(inner, index) => {
                let value = self.eval(inner)?;
                let index = self.eval(index)?;
                self.item(&value, &index)
            }
            Node::Slice(inner, parts) => {
                let value = self.eval(inner)?;
                let mut bounds = [Value::None, Value::None, Value::None];
                for (bound, part) in bounds.iter_mut().zip(parts) {
                    if let Some(part) = part {
                        *bound = self.eval(part)?;
                    }
                }
                ops::slice(&self.meter, &value, bounds)
            }
            Node::Filter(inner, filter) => {
                let value = self.eval(inner)?;
                let called = self.called(&filter.args)?;
                filters::apply(&self.meter, &filter.name, &value, &called)
            }
            Node::Test(inner, test) => {
                let value = self.eval(inner)?;
                let called = self.called(&test.args)?;
                tests_of_values::holds(&self.meter, &test.name, &value, &called).map(Value::Bool)
            }
            _ => Err(RenderError::failed("unknown expression")),
        }
    }

    /// `and` and `or`, which return one of their operands.
    fn either(&mut self, left: &Expr, right: &Expr, ends_on: bool) -> Evaluated {
        let left = self.eval(left)?;
        if left.is_true() == ends_on {
            Ok(left)
        } else {
            self.eval(right)
        }
    }

    fn compare(&mut self, left: &Expr, others: &[(ComparisonOp, Expr)]) -> Evaluated {
        let mut left = self.eval(left)?;
        for (comparison, other) in others {
            let right = self.eval(other)?;
            if !ops::compare(&self.meter, *comparison, &left, &right)? {
                return Ok(Value::Bool(false));
            }
            left = right;
        }
        Ok(Value::Bool(true))
    }

    fn map(&mut self, entries: &[(Expr, Expr)]) -> Evaluated {
        let mut evaluated = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            evaluated.push((self.eval(key)?, self.eval(value)?));
        }
        MapValue::new(&self.meter, evaluated).map(Value::Map)
    }

    fn field_of(&mut self, inner: &Expr, name: &str) -> Evaluated {
        let value = self.eval(inner)?;
        self.field(&value, name)
    }

    pub(crate) fn field(&self, value: &Value, name: &str) -> Evaluated {
        field(&self.meter, value, name)
    }

    fn item(&self, value: &Value, index: &Value) -> Evaluated {
        match (value, index) {
            (_, Value::Text(name)) => self.field(value, name),
            (Value::Map(map), _) => Ok(map.at(&self.meter, index)?.unwrap_or(Value::Undefined)),
            (Value::List(list), _) => {
                let place = index.int().and_then(|index| place(index, list.len()));
                Ok(place.map_or(Value::Undefined, |place| list[place].clone()))
            }
            (Value::Text(text), _) => {
                self.meter.spend(text.len())?;
                let place = index
                    .int()
                    .and_then(|index| place(index, text.chars().count()));
                match place.and_then(|place| text.chars().nth(place)) {
                    Some(char) => Value::text(&self.meter, char.encode_utf8(&mut [0; 4])),
                    None => Ok(Value::Undefined),
                }
            }
            (Value::Undefined, _) => Err(RenderError::failed("an undefined value has no items")),
            _ => Ok(Value::Undefined),
        }
    }

    pub(crate) fn called(&mut self, args: &Args) -> Result<Called, RenderError> {
        let mut positional = args
            .positional
            .iter()
            .map(|arg| self.eval(arg))
            .collect::<Result<Vec<_>, _>>()?;
        let mut named = Vec::with_capacity(args.named.len());
        for (name, value) in &args.named {
            named.push((Arc::clone(name), self.eval(value)?));
        }
        for list in &args.spread {
            let items = self.eval(list)?.items(&self.meter)?;
            self.meter.room((positional.len() + items.len()) * 32)?;
            positional.extend(items.iter().cloned());
        }
        for map in &args.named_spread {
            let Value::Map(map) = self.eval(map)? else {
                return Err(RenderError::failed("`**` needs a map"));
            };
            self.meter.room((named.len() + map.len()) * 64)?;
            named.extend(names(&map));
        }
        Ok(Called { positional, named })
    }

    fn call(&mut self, callee: &Expr, args: &Args) -> Evaluated {
        if let Node::Field(inner, name) = &*callee.node {
            let value = self.eval(inner)?;
            let called = self.called(args)?;
            return match self.field(&value, name) {
                Ok(Value::Macro(definition)) => self.call_macro(&definition, called, None),
                _ => methods::call(&self.meter, &value, name, &called),
            };
        }
        let function = self.eval(callee)?;
        let called = self.called(args)?;
        match function {
            Value::Macro(definition) => self.call_macro(&definition, called, None),
            Value::Caller(caller) => self.call_caller(&caller, &called),
            Value::Loop(state) => self.repeat_again(&state, called.need(0, "iterable")?),
            Value::Function(function) => self.builtin(function, called),
            Value::Stepper(stepper) => stepper.call(&self.meter),
            other => Err(RenderError::failed(format!(
                "{} cannot be called",
                other.kind()
            ))),
        }
    }

    fn builtin(&mut self, function: BuiltinFunction, called: Called) -> Evaluated {
        match function {
            BuiltinFunction::Raise => Err(RenderError::Raised(
                called.text(0, "message")?.chars().take(300).collect(),
            )),
            BuiltinFunction::Now => self.strftime(called.text(0, "format")?),
            BuiltinFunction::Range => self.range(&called),
            BuiltinFunction::Namespace => {
                let mut fields = HashMap::new();
                for (key, value) in self.pairs_of(called.positional.first())? {
                    let name = key
                        .str()
                        .ok_or_else(|| RenderError::failed("a field needs a name"))?;
                    value.storable()?;
                    fields.insert(Arc::from(name), value);
                }
                for (name, value) in called.named {
                    value.storable()?;
                    fields.insert(name, value);
                }
                Ok(Value::Namespace(Rc::new(RefCell::new(fields))))
            }
            BuiltinFunction::Dict => {
                let mut entries = self.pairs_of(called.positional.first())?;
                for (name, value) in called.named {
                    entries.push((Value::text(&self.meter, &name)?, value));
                }
                MapValue::new(&self.meter, entries).map(Value::Map)
            }
            BuiltinFunction::Joiner => Stepper::joiner(&self.meter, &called),
            BuiltinFunction::Cycler => Stepper::cycler(called),
        }
    }

    /// The entries of a map, or of a list of pairs.
    fn pairs_of(&self, value: Option<&Value>) -> Result<Vec<(Value, Value)>, RenderError> {
        let list = match value {
            None => return Ok(Vec::new()),
            Some(Value::Map(map)) => return Ok(map.to_vec()),
            Some(value) => value.items(&self.meter)?,
        };
        self.meter.room(list.len() * 64)?;
        let pair = |item: &Value| match &item.items(&self.meter)?[..] {
            [key, value] => Ok((key.clone(), value.clone())),
            _ => Err(RenderError::failed("a map is made of pairs")),
        };
        list.iter().map(pair).collect()
    }

    fn strftime(&self, format: &str) -> Evaluated {
        if format.len() > 200 {
            return Err(RenderError::Limit("characters of a date format"));
        }
        let now = jiff::fmt::strtime::format(format, self.now)
            .map_err(|error| RenderError::failed(error.to_string()))?;
        Value::text(&self.meter, &now)
    }

    fn range(&self, called: &Called) -> Evaluated {
        let number = |place| {
            called.need(place, "stop").and_then(|value| {
                value
                    .int()
                    .ok_or_else(|| RenderError::failed("`range` needs whole numbers"))
            })
        };
        let (start, stop) = if called.positional.len() > 1 {
            (number(0)?, number(1)?)
        } else {
            (0, number(0)?)
        };
        let step = if called.positional.len() > 2 {
            number(2)?
        } else {
            1
        };
        if step == 0 {
            return Err(RenderError::failed("the step of `range` cannot be zero"));
        }
        let span = if step > 0 {
            stop.saturating_sub(start)
        } else {
            start.saturating_sub(stop)
        };
        let count = span.max(0) / step.saturating_abs()
            + i64::from(span.max(0) % step.saturating_abs() > 0);
        if count > LONGEST_RANGE {
            return Err(RenderError::Limit("items in a range"));
        }
        Value::list(
            &self.meter,
            (0..count)
                .map(|index| Value::Int(start + index * step))
                .collect(),
        )
    }
}

/// The entries of a map whose keys are texts.
fn names(map: &MapValue) -> impl Iterator<Item = (Name, Value)> + '_ {
    map.iter()
        .filter_map(|(key, value)| Some((Arc::from(key.str()?), value.clone())))
}

/// The position of an index, which counts from the end if negative.
fn place(index: i64, length: usize) -> Option<usize> {
    let index = if index < 0 {
        index.checked_add(length as i64)?
    } else {
        index
    };
    usize::try_from(index).ok().filter(|place| *place < length)
}
