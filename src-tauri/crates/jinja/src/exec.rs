//! Executes statements.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::ToolInput;
use super::ast::{AssignTarget, Filter, For, Macro, Name, Stmt};
use super::functions::args::Called;
use super::functions::filters;
use super::meter::{Buffer, Meter};
use super::parse::{SyntaxError, parse};
use super::value::{Caller, ListValue, Loop, MapValue, Value};
use crate::error::RenderError;

/// A parsed template.
pub struct Program {
    body: Vec<Stmt>,
}

/// The input of a template.
pub struct Input<'i> {
    /// Role and content of each message.
    pub messages: &'i [(&'static str, String)],
    /// Contents are lists of parts, `[{"type": "text", "text": …}]`, as some templates require.
    pub typed: bool,
    /// Without tools, `tools` is an empty list instead of none. Some templates iterate over it
    /// unconditionally.
    pub lists_tools: bool,
    pub tools: &'i ToolInput,
    pub add_generation_prompt: bool,
    pub bos: &'i str,
    pub eos: &'i str,
    /// The time for `strftime_now`.
    pub now: jiff::civil::DateTime,
}

impl Program {
    pub fn parse(source: &str) -> Result<Self, SyntaxError> {
        Ok(Self {
            body: parse(source)?,
        })
    }

    pub fn run(&self, input: &Input<'_>) -> Result<String, RenderError> {
        let meter = Meter::new(input.messages.len());
        let mut out = Buffer::new(&meter)?;
        let globals = globals(&meter, input)?;
        let mut run = Interpreter {
            meter,
            frames: vec![HashMap::new()],
            covered: Vec::new(),
            globals,
            now: input.now,
        };
        run.body(&self.body, &mut out)?;
        Ok(out.into_parts().0)
    }
}

fn globals(
    meter: &Rc<Meter>,
    input: &Input<'_>,
) -> Result<HashMap<&'static str, Value>, RenderError> {
    use super::value::BuiltinFunction;
    let key = |name| Value::text(meter, name);
    let role_key = key("role")?;
    let content_key = key("content")?;
    let mut messages = Vec::with_capacity(input.messages.len());
    for (index, (role, content)) in input.messages.iter().enumerate() {
        let mut content = Value::text(meter, content)?;
        if input.typed {
            let part = vec![
                (key("type")?, Value::text(meter, "text")?),
                (key("text")?, content),
            ];
            content = Value::list(meter, vec![Value::Map(MapValue::new(meter, part)?)])?;
        }
        let mut entries = vec![
            (role_key.clone(), Value::text(meter, role)?),
            (content_key.clone(), content),
        ];
        entries.extend(input.tools.of_message(meter, index)?);
        messages.push(Value::Map(MapValue::new(meter, entries)?));
    }
    Ok(HashMap::from([
        ("messages", Value::list(meter, messages)?),
        (
            "add_generation_prompt",
            Value::Bool(input.add_generation_prompt),
        ),
        ("bos_token", Value::text(meter, input.bos)?),
        ("eos_token", Value::text(meter, input.eos)?),
        ("tools", input.tools.definitions(meter, input.lists_tools)?),
        ("documents", Value::None),
        ("range", Value::Function(BuiltinFunction::Range)),
        ("namespace", Value::Function(BuiltinFunction::Namespace)),
        ("dict", Value::Function(BuiltinFunction::Dict)),
        ("joiner", Value::Function(BuiltinFunction::Joiner)),
        ("cycler", Value::Function(BuiltinFunction::Cycler)),
        ("raise_exception", Value::Function(BuiltinFunction::Raise)),
        ("strftime_now", Value::Function(BuiltinFunction::Now)),
    ]))
}

/// State of one render.
pub(crate) struct Interpreter {
    pub(crate) meter: Rc<Meter>,
    /// Variables in scope, innermost frame last.
    frames: Vec<HashMap<Name, Value>>,
    /// The inner frames of each caller of a macro that is running.
    covered: Vec<Vec<HashMap<Name, Value>>>,
    globals: HashMap<&'static str, Value>,
    pub(crate) now: jiff::civil::DateTime,
}

/// How a body ended.
#[derive(PartialEq, Eq)]
enum Flow {
    On,
    Break,
    Continue,
}

impl Interpreter {
    pub(crate) fn lookup(&self, name: &str) -> Value {
        let local = self.frames.iter().rev().find_map(|frame| frame.get(name));
        local
            .or_else(|| self.globals.get(name))
            .cloned()
            .unwrap_or(Value::Undefined)
    }

    fn store(&mut self, name: &Name, value: Value) {
        if let Some(frame) = self.frames.last_mut() {
            frame.insert(Arc::clone(name), value);
        }
    }

    fn body(&mut self, body: &[Stmt], out: &mut Buffer) -> Result<Flow, RenderError> {
        self.meter.deeper()?;
        for statement in body {
            self.meter.spend(0)?;
            let flow = self.statement(statement, out)?;
            if flow != Flow::On {
                self.meter.back();
                return Ok(flow);
            }
        }
        self.meter.back();
        Ok(Flow::On)
    }

    fn statement(&mut self, statement: &Stmt, out: &mut Buffer) -> Result<Flow, RenderError> {
        match statement {
            Stmt::Text(text) => out.push(text)?,
            Stmt::Emit(expr) => self.eval(expr)?.write(out)?,
            Stmt::If(branches, otherwise) => {
                for (condition, body) in branches {
                    if self.eval(condition)?.is_true() {
                        return self.body(body, out);
                    }
                }
                return self.body(otherwise, out);
            }
            Stmt::For(repetition) => {
                let items = self.eval(&repetition.items)?;
                return self.repeat(repetition, &items, 0, out);
            }
            Stmt::Call(block) => {
                let function = self.eval(&block.callee)?;
                let called = self.called(&block.args)?;
                let Value::Macro(definition) = function else {
                    return Err(RenderError::failed(format!(
                        "{} cannot be called with a body",
                        function.kind()
                    )));
                };
                let caller = Caller {
                    definition: block.caller.clone(),
                    level: self.covered.len(),
                };
                self.call_macro(&definition, called, Some(Value::Caller(Rc::new(caller))))?
                    .write(out)?;
            }
            Stmt::Set(target, expr) => {
                let value = self.eval(expr)?;
                self.assign(target, value)?;
            }
            Stmt::Capture(target, filters, body) => {
                let value = self.captured(filters, body)?;
                self.assign(target, value)?;
            }
            Stmt::Filtered(filters, body) => self.captured(filters, body)?.write(out)?,
            Stmt::Macro(definition) => {
                self.store(&definition.name, Value::Macro(Arc::clone(definition)))
            }
            Stmt::With(names, body) => {
                let values = names
                    .iter()
                    .map(|(_, expr)| self.eval(expr))
                    .collect::<Result<Vec<_>, _>>()?;
                self.frames.push(HashMap::new());
                for ((target, _), value) in names.iter().zip(values) {
                    self.assign(target, value)?;
                }
                let flow = self.body(body, out)?;
                self.frames.pop();
                return Ok(flow);
            }
            Stmt::Plain(body) => return self.body(body, out),
            Stmt::Break => return Ok(Flow::Break),
            Stmt::Continue => return Ok(Flow::Continue),
        }
        Ok(Flow::On)
    }

    /// The filtered output of `body`.
    fn captured(&mut self, filters: &[Filter], body: &[Stmt]) -> Result<Value, RenderError> {
        let mut inner = Buffer::new(&self.meter)?;
        self.frames.push(HashMap::new());
        self.body(body, &mut inner)?;
        self.frames.pop();
        let mut value = Value::Text(inner.into());
        for filter in filters {
            let called = self.called(&filter.args)?;
            value = filters::apply(&self.meter, &filter.name, &value, &called)?;
        }
        Ok(value)
    }

    fn assign(&mut self, target: &AssignTarget, value: Value) -> Result<(), RenderError> {
        match target {
            AssignTarget::Name(name) => self.store(name, value),
            AssignTarget::Field(name, field) => {
                let Value::Namespace(fields) = self.lookup(name) else {
                    return Err(RenderError::failed(format!(
                        "`{name}` is not a namespace, so its fields cannot be set"
                    )));
                };
                value.storable()?;
                fields.borrow_mut().insert(Arc::clone(field), value);
            }
            AssignTarget::Several(targets) => {
                let items = value.items(&self.meter)?;
                if items.len() != targets.len() {
                    return Err(RenderError::failed(
                        "the number of targets and values differs",
                    ));
                }
                for (target, item) in targets.iter().zip(items.iter()) {
                    self.assign(target, item.clone())?;
                }
            }
        }
        Ok(())
    }

    fn repeat(
        &mut self,
        repetition: &Arc<For>,
        items: &Value,
        depth: usize,
        out: &mut Buffer,
    ) -> Result<Flow, RenderError> {
        let items = self.chosen_items(repetition, items)?;
        if items.is_empty() {
            return self.body(&repetition.otherwise, out);
        }
        let recursion = repetition
            .recursive
            .then(|| (Arc::clone(repetition), self.frames.len()));
        let last = RefCell::default();
        let state = Rc::new(Loop {
            items: items.clone(),
            index: Cell::new(0),
            recursion,
            depth,
            last,
        });
        let name: Name = Arc::from("loop");
        for (index, item) in items.iter().enumerate() {
            self.meter.spend(0)?;
            state.index.set(index);
            self.frames.push(HashMap::from([(
                Arc::clone(&name),
                Value::Loop(Rc::clone(&state)),
            )]));
            self.assign(&repetition.target, item.clone())?;
            let flow = self.body(&repetition.body, out)?;
            self.frames.pop();
            if flow == Flow::Break {
                break;
            }
        }
        Ok(Flow::On)
    }

    /// The items of a loop for which its condition is true.
    fn chosen_items(&mut self, repetition: &For, items: &Value) -> Result<ListValue, RenderError> {
        let items = items.items(&self.meter)?;
        let Some(condition) = &repetition.condition else {
            return Ok(items);
        };
        let mut kept = Vec::new();
        for item in items.iter() {
            self.frames.push(HashMap::new());
            self.assign(&repetition.target, item.clone())?;
            if self.eval(condition)?.is_true() {
                kept.push(item.clone());
            }
            self.frames.pop();
        }
        ListValue::new(&self.meter, kept)
    }

    /// `loop(items)`: runs a recursive loop for other items, in the scope of the loop.
    pub(crate) fn repeat_again(
        &mut self,
        state: &Loop,
        items: &Value,
    ) -> Result<Value, RenderError> {
        let Some((repetition, frames)) = &state.recursion else {
            return Err(RenderError::failed(
                "only a loop with `recursive` can be called",
            ));
        };
        self.meter.deeper()?;
        let inner = self.frames.split_off(*frames);
        let mut out = Buffer::new(&self.meter)?;
        self.repeat(repetition, items, state.depth + 1, &mut out)?;
        self.frames.truncate(*frames);
        self.frames.extend(inner);
        self.meter.back();
        Ok(Value::Text(out.into()))
    }

    /// Calls a macro, which sees the outermost scope, its parameters and the body of a `call`
    /// block.
    pub(crate) fn call_macro(
        &mut self,
        definition: &Macro,
        called: Called,
        caller: Option<Value>,
    ) -> Result<Value, RenderError> {
        let outer = self.frames.split_off(1);
        self.covered.push(outer);
        self.frames.push(HashMap::new());
        if let Some(caller) = caller {
            self.store(&Arc::from("caller"), caller);
        }
        let text = self.run_macro(definition, &called)?;
        self.frames.truncate(1);
        self.frames.extend(self.covered.pop().unwrap_or_default());
        Ok(text)
    }

    /// Runs the body of a `call` block in the scope of the block.
    pub(crate) fn call_caller(
        &mut self,
        caller: &Caller,
        called: &Called,
    ) -> Result<Value, RenderError> {
        let mut covered = self.covered.split_off(caller.level.min(self.covered.len()));
        let here = self.frames.split_off(1);
        let Some(scope) = covered.first_mut() else {
            return Err(RenderError::failed("`caller` is only known in its macro"));
        };
        self.frames.append(scope);
        let depth = self.frames.len();
        self.frames.push(HashMap::new());
        let text = self.run_macro(&caller.definition, called)?;
        self.frames.truncate(depth);
        *scope = self.frames.split_off(1);
        self.frames.extend(here);
        self.covered.extend(covered);
        Ok(text)
    }

    /// Binds the parameters in the last frame and runs the body.
    fn run_macro(&mut self, definition: &Macro, called: &Called) -> Result<Value, RenderError> {
        self.meter.deeper()?;
        if called.positional.len() > definition.params.len() {
            return Err(RenderError::failed(format!(
                "`{}` takes fewer arguments",
                definition.name
            )));
        }
        for (place, (name, default)) in definition.params.iter().enumerate() {
            let value = match (called.get(place, name), default) {
                (Some(value), _) => value.clone(),
                (None, Some(default)) => self.eval(default)?,
                (None, None) => Value::Undefined,
            };
            self.store(name, value);
        }
        let mut out = Buffer::new(&self.meter)?;
        self.body(&definition.body, &mut out)?;
        self.meter.back();
        Ok(Value::Text(out.into()))
    }
}
