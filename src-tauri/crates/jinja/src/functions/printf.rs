//! Implements Python's `text % values` with its flags, widths, precisions, named values and errors.

pub(crate) mod numbers;

use std::iter::Peekable;
use std::rc::Rc;
use std::str::CharIndices;

use self::numbers::{MAX_PRECISION, real, whole};
use crate::error::RenderError;
use crate::meter::{Buffer, Meter};
use crate::value::{ListValue, MapValue, Value};

/// Evaluates `pattern % value`. A tuple supplies several values, a map supplies named values, and
/// anything else is one value.
pub(crate) fn percent(
    meter: &Rc<Meter>,
    pattern: &str,
    value: &Value,
) -> Result<Value, RenderError> {
    let (values, named) = match value {
        Value::List(list) if list.is_tuple() => (list.to_vec(), None),
        Value::Map(map) => (vec![value.clone()], Some(map)),
        one => (vec![one.clone()], None),
    };
    // Python raises no error for unused maps and lists.
    let may_stay = named.is_some() || matches!(value, Value::List(list) if !list.is_tuple());
    let mut format = PrintfFormatter {
        out: Buffer::new(meter)?,
        meter,
        values,
        used: 0,
        named,
    };
    format.write(pattern)?;
    if format.used < format.values.len() && !may_stay {
        return Err(RenderError::failed(
            "not all arguments converted during string formatting",
        ));
    }
    Ok(Value::Text(format.out.into()))
}

/// The `format` filter, with positional or named values.
pub(crate) fn filter(
    meter: &Rc<Meter>,
    pattern: &str,
    called: &super::args::Called,
) -> Result<Value, RenderError> {
    match (called.positional.is_empty(), called.named.is_empty()) {
        (false, false) => Err(RenderError::failed(
            "can't handle positional and keyword arguments at the same time",
        )),
        (true, false) => {
            let entries = called
                .named
                .iter()
                .map(|(name, value)| Ok((Value::text(meter, name)?, value.clone())));
            let named = MapValue::new(meter, entries.collect::<Result<_, RenderError>>()?)?;
            percent(meter, pattern, &Value::Map(named))
        }
        _ => percent(
            meter,
            pattern,
            &Value::List(ListValue::tuple(meter, called.positional.clone())?),
        ),
    }
}

struct PrintfFormatter<'f> {
    out: Buffer,
    meter: &'f Rc<Meter>,
    values: Vec<Value>,
    used: usize,
    named: Option<&'f MapValue>,
}

/// The specification between `%` and the conversion letter.
#[derive(Default)]
struct Spec {
    left: bool,
    plus: bool,
    blank: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
}

type Chars<'p> = Peekable<CharIndices<'p>>;

impl PrintfFormatter<'_> {
    fn write(&mut self, pattern: &str) -> Result<(), RenderError> {
        let mut from = 0;
        while let Some(at) = pattern[from..].find('%').map(|at| from + at) {
            self.out.push(&pattern[from..at])?;
            let mut chars = pattern[at + 1..].char_indices().peekable();
            self.value(&mut chars, &pattern[at + 1..], at + 1)?;
            from = chars
                .peek()
                .map_or(pattern.len(), |(next, _)| at + 1 + next);
        }
        self.out.push(&pattern[from..])
    }

    /// Formats one conversion. `rest` is the pattern after the `%`, at index `start`.
    fn value(
        &mut self,
        chars: &mut Chars<'_>,
        rest: &str,
        start: usize,
    ) -> Result<(), RenderError> {
        if chars.next_if(|(_, c)| *c == '%').is_some() {
            return self.out.push("%");
        }
        let named = if chars.next_if(|(_, c)| *c == '(').is_some() {
            Some(self.by_name(chars, rest)?)
        } else {
            None
        };
        let spec = self.spec(chars)?;
        while chars
            .next_if(|(_, c)| matches!(c, 'h' | 'l' | 'L'))
            .is_some()
        {}
        let Some((at, letter)) = chars.next() else {
            return Err(RenderError::failed("incomplete format"));
        };
        if !"diuoxXeEfFgGcrsa%".contains(letter) {
            let code = letter as u32;
            let index = start + at;
            let what =
                format!("unsupported format character '{letter}' (0x{code:x}) at index {index}");
            return Err(RenderError::failed(what));
        }
        let value = match named {
            Some(value) => value,
            None => self.next()?,
        };
        self.convert(letter, &value, &spec)
    }

    fn by_name(&self, chars: &mut Chars<'_>, rest: &str) -> Result<Value, RenderError> {
        let Some(named) = self.named else {
            return Err(RenderError::failed("format requires a mapping"));
        };
        let mut open = 1;
        for (at, c) in chars.by_ref() {
            match c {
                '(' => open += 1,
                ')' => open -= 1,
                _ => {}
            }
            if open == 0 {
                let name = &rest[1..at];
                return named
                    .get(self.meter, name)?
                    .ok_or_else(|| RenderError::failed(format!("there is no key '{name}'")));
            }
        }
        Err(RenderError::failed("incomplete format key"))
    }

    fn next(&mut self) -> Result<Value, RenderError> {
        let value = self.values.get(self.used).cloned();
        self.used += 1;
        value.ok_or_else(|| RenderError::failed("not enough arguments for format string"))
    }

    fn spec(&mut self, chars: &mut Chars<'_>) -> Result<Spec, RenderError> {
        let mut spec = Spec::default();
        while let Some((_, flag)) = chars.next_if(|(_, c)| matches!(c, '-' | '+' | ' ' | '#' | '0'))
        {
            match flag {
                '-' => spec.left = true,
                '+' => spec.plus = true,
                ' ' => spec.blank = true,
                '#' => spec.alternate = true,
                _ => spec.zero = true,
            }
        }
        let width = self.number(chars)?.unwrap_or(0);
        spec.left |= width < 0;
        spec.width = usize::try_from(width.unsigned_abs()).unwrap_or(usize::MAX);
        if chars.next_if(|(_, c)| *c == '.').is_some() {
            let precision = self.number(chars)?.unwrap_or(0);
            spec.precision = Some(usize::try_from(precision).unwrap_or(0));
        }
        Ok(spec)
    }

    /// Reads digits, or takes the next value for `*`.
    fn number(&mut self, chars: &mut Chars<'_>) -> Result<Option<i64>, RenderError> {
        if chars.next_if(|(_, c)| *c == '*').is_some() {
            let value = self.next()?;
            return value
                .int()
                .map(Some)
                .ok_or_else(|| RenderError::failed("* wants int"));
        }
        let mut digits = None;
        while let Some((_, digit)) = chars.next_if(|(_, c)| c.is_ascii_digit()) {
            let digit = i64::from(digit as u32 - '0' as u32);
            digits = Some(
                digits
                    .unwrap_or(0_i64)
                    .saturating_mul(10)
                    .saturating_add(digit),
            );
        }
        Ok(digits)
    }

    fn convert(&mut self, letter: char, value: &Value, spec: &Spec) -> Result<(), RenderError> {
        match letter {
            '%' => self.out.push("%"),
            's' | 'r' | 'a' | 'c' => {
                let text = self.text(letter, value)?;
                let shown = match spec.precision {
                    Some(length) => text
                        .char_indices()
                        .nth(length)
                        .map_or(&*text, |(end, _)| &text[..end]),
                    None => &text,
                };
                self.padded("", shown, spec, false)
            }
            'd' | 'i' | 'u' | 'o' | 'x' | 'X' => {
                let number = whole(letter, value)?;
                let digits = match letter {
                    'o' => format!("{:o}", number.unsigned_abs()),
                    'x' => format!("{:x}", number.unsigned_abs()),
                    'X' => format!("{:X}", number.unsigned_abs()),
                    _ => number.unsigned_abs().to_string(),
                };
                let missing = bounded(spec.precision.unwrap_or(0))?.saturating_sub(digits.len());
                let prefix = match letter {
                    'o' | 'x' | 'X' if spec.alternate => format!("0{letter}"),
                    _ => String::new(),
                };
                let sign = sign(number < 0, spec);
                self.padded(
                    &format!("{sign}{prefix}"),
                    &("0".repeat(missing) + &digits),
                    spec,
                    spec.zero,
                )
            }
            _ => {
                let what = || {
                    RenderError::failed(format!("must be real number, not {}", python_type(value)))
                };
                let number = value.float().ok_or_else(what)?;
                let digits = real(
                    letter,
                    number.abs(),
                    bounded(spec.precision.unwrap_or(6))?,
                    spec.alternate,
                );
                self.padded(
                    sign(number.is_sign_negative() && !number.is_nan(), spec),
                    &digits,
                    spec,
                    spec.zero,
                )
            }
        }
    }

    fn text(&self, letter: char, value: &Value) -> Result<String, RenderError> {
        if letter == 'c' {
            return character(value);
        }
        let mut out = Buffer::new(self.meter)?;
        match letter {
            's' => value.write(&mut out)?,
            _ => value.write_repr(&mut out)?,
        }
        let (text, _) = out.into_parts();
        if letter != 'a' || text.is_ascii() {
            return Ok(text);
        }
        let escaped = |c: char| match c as u32 {
            0..=0x7f => c.to_string(),
            code @ 0x80..=0xff => format!("\\x{code:02x}"),
            code @ 0x100..=0xffff => format!("\\u{code:04x}"),
            code => format!("\\U{code:08x}"),
        };
        self.meter.room(text.len() * 5)?;
        Ok(text.chars().map(escaped).collect())
    }

    /// Pads to the width: zeros after the sign, or spaces before or after the number.
    fn padded(
        &mut self,
        sign: &str,
        digits: &str,
        spec: &Spec,
        zeros: bool,
    ) -> Result<(), RenderError> {
        let missing = spec
            .width
            .saturating_sub(sign.chars().count() + digits.chars().count());
        self.meter.room(missing)?;
        let (blanks, zeros, behind) = match (spec.left, zeros) {
            (true, _) => (0, 0, missing),
            (false, true) => (0, missing, 0),
            (false, false) => (missing, 0, 0),
        };
        self.out.push(&" ".repeat(blanks))?;
        self.out.push(sign)?;
        self.out.push(&"0".repeat(zeros))?;
        self.out.push(digits)?;
        self.out.push(&" ".repeat(behind))
    }
}

fn bounded(precision: usize) -> Result<usize, RenderError> {
    if precision > MAX_PRECISION {
        Err(RenderError::Limit("number precision"))
    } else {
        Ok(precision)
    }
}

fn sign(negative: bool, spec: &Spec) -> &'static str {
    match (negative, spec.plus, spec.blank) {
        (true, ..) => "-",
        (_, true, _) => "+",
        (.., true) => " ",
        _ => "",
    }
}

fn character(value: &Value) -> Result<String, RenderError> {
    if let Some(code) = value.int() {
        let char = u32::try_from(code).ok().and_then(char::from_u32);
        return char
            .map(String::from)
            .ok_or_else(|| RenderError::failed("%c arg not in range(0x110000)"));
    }
    let text = value.str().filter(|text| text.chars().count() == 1);
    text.map(str::to_owned)
        .ok_or_else(|| RenderError::failed("%c requires int or char"))
}

fn python_type(value: &Value) -> &'static str {
    match value {
        Value::Undefined => "Undefined",
        Value::None => "NoneType",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int",
        Value::Float(_) => "float",
        Value::Text(_) => "str",
        Value::List(list) if list.is_tuple() => "tuple",
        Value::List(_) => "list",
        Value::Map(_) => "dict",
        Value::Namespace(_) => "Namespace",
        Value::Loop(_) => "LoopContext",
        Value::Macro(_) | Value::Function(_) | Value::Caller(_) => "function",
        Value::Stepper(_) => "Cycler",
    }
}
