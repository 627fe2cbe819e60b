//! `str.format`: fields in braces with Python's format specifications.

use std::rc::Rc;

use super::functions::args::Called;
use super::meter::{Buffer, Meter};
use super::value::{TextValue, Value, ValueResult};
use crate::error::RenderError;
use crate::field::field;
use crate::functions::printf::numbers::{MAX_PRECISION, real};

/// Maximum nesting of fields: a specification may have fields, these may not.
const NESTING: u8 = 2;
/// Maximum width of a field.
const MAX_WIDTH: usize = 100_000;

/// `'{} {0:>5} {name!r:.3}'.format(…)`
pub(crate) fn braces(meter: &Rc<Meter>, pattern: &str, called: &Called) -> ValueResult {
    let mut fields = FieldCursor {
        meter,
        called,
        argument_index: 0,
    };
    let mut out = Buffer::new(meter)?;
    fields.write(pattern, NESTING, &mut out)?;
    Ok(Value::Text(out.into()))
}

struct FieldCursor<'f> {
    meter: &'f Rc<Meter>,
    called: &'f Called,
    /// Number of the next field without a name.
    argument_index: usize,
}

impl FieldCursor<'_> {
    fn write(&mut self, pattern: &str, nesting: u8, out: &mut Buffer) -> Result<(), RenderError> {
        let mut rest = pattern;
        while let Some(at) = rest.find(['{', '}']) {
            self.meter.spend(self.called.named.len() * 8)?;
            out.push(&rest[..at])?;
            let brace = &rest[at..at + 1];
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix(brace) {
                out.push(brace)?;
                rest = after;
                continue;
            }
            if brace == "}" {
                return Err(RenderError::failed(
                    "a closing brace has no opening one in the format text",
                ));
            }
            let end = end_of_field(rest)
                .ok_or_else(|| RenderError::failed("a brace is not closed in the format text"))?;
            self.field(&rest[..end], nesting, out)?;
            rest = &rest[end + 1..];
        }
        out.push(rest)
    }

    fn field(&mut self, text: &str, nesting: u8, out: &mut Buffer) -> Result<(), RenderError> {
        let (head, spec) = text.split_once(':').unwrap_or((text, ""));
        let (name, conversion) = head.split_once('!').unwrap_or((head, ""));
        let value = self.value(name)?;
        let spec = self.spec(spec, nesting)?;
        let value = match conversion {
            "" => value,
            "s" => Value::Text(value.to_text(self.meter)?),
            "r" => {
                let mut shown = Buffer::new(self.meter)?;
                value.write_repr(&mut shown)?;
                Value::Text(shown.into())
            }
            other => {
                return Err(RenderError::failed(format!(
                    "the conversion `!{other}` is not supported"
                )));
            }
        };
        if spec.is_empty() {
            value.write(out)
        } else {
            Spec::parse(&spec)?.write(self.meter, &value, out)
        }
    }

    /// The specification with its own fields filled in.
    fn spec(&mut self, spec: &str, nesting: u8) -> Result<TextValue, RenderError> {
        if !spec.contains('{') {
            return TextValue::new(self.meter, spec);
        }
        let nesting = nesting.checked_sub(1).filter(|left| *left > 0);
        let nesting = nesting.ok_or_else(|| {
            RenderError::failed("the fields of the format text are nested too deeply")
        })?;
        let mut filled = Buffer::new(self.meter)?;
        self.write(spec, nesting, &mut filled)?;
        Ok(filled.into())
    }

    /// `name.attribute[key]`; without a name, the next argument.
    fn value(&mut self, path: &str) -> ValueResult {
        let end = path.find(['.', '[']).unwrap_or(path.len());
        let (name, mut rest) = path.split_at(end);
        let found = match (name, name.parse::<usize>()) {
            ("", _) => {
                self.argument_index += 1;
                self.called.positional.get(self.argument_index - 1)
            }
            (_, Ok(index)) => self.called.positional.get(index),
            (name, Err(_)) => self.called.get(usize::MAX, name),
        };
        let mut value = found
            .cloned()
            .ok_or_else(|| RenderError::failed("a value to format is missing"))?;
        while !rest.is_empty() {
            self.meter.spend(0)?;
            let wrong = || {
                RenderError::failed(format!(
                    "the field `{path}` of the format text cannot be read"
                ))
            };
            let (key, after) = match rest.strip_prefix('[') {
                Some(inside) => inside.split_once(']').ok_or_else(wrong)?,
                None => {
                    let name = rest.strip_prefix('.').ok_or_else(wrong)?;
                    name.split_at(name.find(['.', '[']).unwrap_or(name.len()))
                }
            };
            value = match (&value, key.parse::<usize>()) {
                (Value::List(items), Ok(index)) => items.get(index).cloned().ok_or_else(wrong)?,
                _ => field(self.meter, &value, key)?,
            };
            rest = after;
        }
        Ok(value)
    }
}

/// The place of the brace that ends a field.
fn end_of_field(text: &str) -> Option<usize> {
    let mut open = 0;
    text.char_indices().find_map(|(at, letter)| match letter {
        '{' => {
            open += 1;
            None
        }
        '}' if open == 0 => Some(at),
        '}' => {
            open -= 1;
            None
        }
        _ => None,
    })
}

/// `[[fill]align][sign][#][0][width][grouping][.precision][type]`
#[derive(Debug, Default, PartialEq, Eq)]
struct Spec {
    fill: Option<char>,
    align: Option<char>,
    sign: Option<char>,
    alternate: bool,
    width: usize,
    grouping: Option<char>,
    precision: Option<usize>,
    kind: Option<char>,
}

/// Takes the letter at `at` if it is one of `wanted`.
fn take(letters: &[char], at: &mut usize, wanted: &[char]) -> Option<char> {
    let found = letters
        .get(*at)
        .copied()
        .filter(|letter| wanted.contains(letter));
    *at += usize::from(found.is_some());
    found
}

impl Spec {
    fn parse(text: &str) -> Result<Self, RenderError> {
        let is_align = |letter: &char| matches!(letter, '<' | '>' | '=' | '^');
        let letters: Vec<char> = text.chars().take(100).collect();
        let mut spec = Self::default();
        let mut at = match letters.as_slice() {
            [fill, align, ..] if is_align(align) => {
                (spec.fill, spec.align) = (Some(*fill), Some(*align));
                2
            }
            [align, ..] if is_align(align) => {
                spec.align = Some(*align);
                1
            }
            _ => 0,
        };
        spec.sign = take(&letters, &mut at, &['+', '-', ' ']);
        take(&letters, &mut at, &['z']);
        spec.alternate = take(&letters, &mut at, &['#']).is_some();
        if take(&letters, &mut at, &['0']).is_some() && spec.align.is_none() {
            (spec.fill, spec.align) = (Some('0'), Some('='));
        }
        spec.width = number(&letters, &mut at)?.unwrap_or(0);
        spec.grouping = take(&letters, &mut at, &[',', '_']);
        if take(&letters, &mut at, &['.']).is_some() {
            let missing = || RenderError::failed("the format specification has no precision");
            spec.precision = Some(number(&letters, &mut at)?.ok_or_else(missing)?);
        }
        spec.kind = letters.get(at).copied();
        if at + usize::from(spec.kind.is_some()) != letters.len() {
            return Err(RenderError::failed(
                "the format specification cannot be read",
            ));
        }
        if spec.width > MAX_WIDTH
            || spec
                .precision
                .is_some_and(|precision| precision > MAX_PRECISION)
        {
            return Err(RenderError::Limit("the width of a formatted value"));
        }
        Ok(spec)
    }

    fn write(&self, meter: &Rc<Meter>, value: &Value, out: &mut Buffer) -> Result<(), RenderError> {
        let unknown = || RenderError::failed(format!("{} has no such format", value.kind()));
        match (value, self.kind) {
            (Value::Text(text), None | Some('s')) => self.text(text, out),
            (Value::Bool(_), None) => self.text(&value.to_text(meter)?, out),
            (Value::Float(number), None | Some('e' | 'E' | 'f' | 'F' | 'g' | 'G' | 'n' | '%')) => {
                self.real(*number, value, out)
            }
            (Value::Int(_) | Value::Bool(_), Some('e' | 'E' | 'f' | 'F' | 'g' | 'G' | '%')) => {
                self.real(value.float().ok_or_else(unknown)?, value, out)
            }
            (Value::Int(_) | Value::Bool(_), _) => self
                .whole(value.int().ok_or_else(unknown)?, out)
                .ok_or_else(unknown)?,
            _ => Err(unknown()),
        }
    }

    fn text(&self, text: &str, out: &mut Buffer) -> Result<(), RenderError> {
        let shown: String = text
            .chars()
            .take(self.precision.unwrap_or(usize::MAX))
            .collect();
        let align = self.align.filter(|align| *align != '=').unwrap_or('<');
        self.pad("", &shown, align, out)
    }

    fn whole(&self, number: i64, out: &mut Buffer) -> Option<Result<(), RenderError>> {
        let size = number.unsigned_abs();
        let (prefix, digits) = match self.kind {
            None | Some('d' | 'n') => ("", size.to_string()),
            Some('b') => ("0b", format!("{size:b}")),
            Some('o') => ("0o", format!("{size:o}")),
            Some('x') => ("0x", format!("{size:x}")),
            Some('X') => ("0X", format!("{size:X}")),
            Some('c') => {
                let letter = char::from_u32(u32::try_from(number).ok()?)?;
                return Some(self.pad("", &letter.to_string(), self.align.unwrap_or('<'), out));
            }
            _ => return None,
        };
        let prefix = if self.alternate { prefix } else { "" };
        let sign = format!("{}{prefix}", self.sign_of(number < 0));
        let each = if matches!(self.kind, Some('b' | 'o' | 'x' | 'X')) {
            4
        } else {
            3
        };
        Some(self.pad(
            &sign,
            &self.grouped(&digits, each),
            self.align.unwrap_or('>'),
            out,
        ))
    }

    fn real(&self, number: f64, value: &Value, out: &mut Buffer) -> Result<(), RenderError> {
        let size = number.abs();
        let digits = match (self.kind, self.precision) {
            // Without a type, a number is written as by `str`, or with that many significant
            // digits.
            (None, None) => {
                let mut shown = Buffer::new(&out.meter())?;
                match value {
                    Value::Float(_) => Value::Float(size).write(&mut shown)?,
                    _ => value.write(&mut shown)?,
                }
                shown.into_parts().0
            }
            (None, Some(precision)) => {
                let digits = real('g', size, precision.max(1), self.alternate);
                if digits.contains(['.', 'e', 'n', 'i']) || precision <= digits.len() {
                    digits
                } else {
                    digits + ".0"
                }
            }
            (Some('%'), precision) => {
                real('f', size * 100.0, precision.unwrap_or(6), self.alternate) + "%"
            }
            (Some('n'), precision) => real('g', size, precision.unwrap_or(6), self.alternate),
            (Some(kind), precision) => real(kind, size, precision.unwrap_or(6), self.alternate),
        };
        let sign = self.sign_of(number.is_sign_negative() && !number.is_nan());
        self.pad(
            sign,
            &self.grouped(&digits, 3),
            self.align.unwrap_or('>'),
            out,
        )
    }

    fn sign_of(&self, negative: bool) -> &'static str {
        match (negative, self.sign) {
            (true, _) => "-",
            (_, Some('+')) => "+",
            (_, Some(' ')) => " ",
            _ => "",
        }
    }

    /// The digits before the point, in groups.
    fn grouped(&self, digits: &str, each: usize) -> String {
        let Some(mark) = self.grouping else {
            return digits.to_owned();
        };
        let whole = digits.find(|letter: char| {
            !letter.is_ascii_hexdigit() || (each == 3 && !letter.is_ascii_digit())
        });
        let (whole, rest) = digits.split_at(whole.unwrap_or(digits.len()));
        let mut text = String::new();
        for (at, letter) in whole.chars().enumerate() {
            if at > 0 && (whole.len() - at).is_multiple_of(each) {
                text.push(mark);
            }
            text.push(letter);
        }
        text + rest
    }

    fn pad(
        &self,
        sign: &str,
        shown: &str,
        align: char,
        out: &mut Buffer,
    ) -> Result<(), RenderError> {
        let missing = self
            .width
            .saturating_sub(sign.chars().count() + shown.chars().count());
        let fill = self.fill.unwrap_or(' ').to_string();
        out.meter().room(missing.saturating_mul(4))?;
        let (before, inside, after) = match align {
            '<' => (0, 0, missing),
            '=' => (0, missing, 0),
            '^' => (missing / 2, 0, missing - missing / 2),
            _ => (missing, 0, 0),
        };
        out.push(&fill.repeat(before))?;
        out.push(sign)?;
        out.push(&fill.repeat(inside))?;
        out.push(shown)?;
        out.push(&fill.repeat(after))
    }
}

fn number(letters: &[char], at: &mut usize) -> Result<Option<usize>, RenderError> {
    let digits: String = letters[*at..]
        .iter()
        .take_while(|letter| letter.is_ascii_digit())
        .collect();
    *at += digits.len();
    if digits.is_empty() {
        return Ok(None);
    }
    digits
        .parse()
        .map(Some)
        .map_err(|_| RenderError::Limit("the width of a formatted value"))
}
