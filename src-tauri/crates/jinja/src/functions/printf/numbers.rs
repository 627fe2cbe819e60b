//! Formats numbers as Python does.

use crate::error::RenderError;
use crate::functions::printf::python_type;
use crate::value::Value;

/// Maximum number of decimal places, and of digits of an integer. Python has no limit, but no
/// prompt needs more.
pub(crate) const MAX_PRECISION: usize = 1_000;

pub(crate) fn whole(letter: char, value: &Value) -> Result<i64, RenderError> {
    let given = python_type(value);
    match value {
        Value::Float(_) if matches!(letter, 'o' | 'x' | 'X') => Err(RenderError::failed(format!(
            "%{letter} format: an integer is required, not {given}"
        ))),
        Value::Float(number) if number.is_nan() => {
            Err(RenderError::failed("cannot convert float NaN to integer"))
        }
        Value::Float(number) if number.is_infinite() => Err(RenderError::failed(
            "cannot convert float infinity to integer",
        )),
        Value::Float(number) => Ok(*number as i64),
        other => {
            let wanted = if matches!(letter, 'o' | 'x' | 'X') {
                "an integer"
            } else {
                "a real number"
            };
            let what = || {
                RenderError::failed(format!(
                    "%{letter} format: {wanted} is required, not {given}"
                ))
            };
            other.int().ok_or_else(what)
        }
    }
}

/// Formats the digits of a number that is not negative.
pub(crate) fn real(letter: char, number: f64, precision: usize, alternate: bool) -> String {
    let digits = if !number.is_finite() {
        (if number.is_nan() { "nan" } else { "inf" }).to_owned()
    } else {
        match letter.to_ascii_lowercase() {
            'f' => pointed(format!("{number:.precision$}"), alternate),
            'e' => exponent(number, precision, alternate),
            _ => general(number, precision.max(1), alternate),
        }
    };
    if letter.is_ascii_uppercase() {
        digits.to_ascii_uppercase()
    } else {
        digits
    }
}

/// `#` keeps a decimal point without digits after it.
pub(crate) fn pointed(digits: String, alternate: bool) -> String {
    if alternate && !digits.contains('.') {
        digits + "."
    } else {
        digits
    }
}

/// Returns the digits and the power of ten.
pub(crate) fn scientific(number: f64, precision: usize) -> (String, i32) {
    let text = format!("{number:.precision$e}");
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    (digits.to_owned(), power.parse().unwrap_or(0))
}

pub(crate) fn exponent(number: f64, precision: usize, alternate: bool) -> String {
    let (digits, power) = scientific(number, precision);
    with_power(&pointed(digits, alternate), power)
}

pub(crate) fn with_power(digits: &str, power: i32) -> String {
    let sign = if power < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", power.unsigned_abs())
}

/// `%g`: formats significant digits, with an exponent for very large or small numbers.
pub(crate) fn general(number: f64, digits: usize, alternate: bool) -> String {
    let (mantissa, power) = scientific(number, digits - 1);
    let short = |digits: String| {
        if digits.contains('.') && !alternate {
            digits
                .trim_end_matches('0')
                .trim_end_matches('.')
                .to_owned()
        } else {
            digits
        }
    };
    let behind = digits as i64 - 1 - i64::from(power);
    if power < -4 || behind < 0 {
        return with_power(&short(pointed(mantissa, alternate)), power);
    }
    let behind = usize::try_from(behind).unwrap_or(0);
    short(pointed(format!("{number:.behind$}"), alternate))
}
