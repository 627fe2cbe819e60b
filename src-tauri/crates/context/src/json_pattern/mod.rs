//! Regular expressions of a JSON Schema (`pattern`) for llama.cpp's grammars.
//!
//! llama.cpp accepts any string for a pattern that it cannot read: one without both anchors, or
//! with an escape such as `\d`. [`expression`] therefore writes a pattern with character classes,
//! groups and repetitions only, which is a part of a grammar and a pattern that llama.cpp reads.
//! Inside a JSON string some characters are escaped, and the expression has them escaped.
//!
//! A pattern without `^` matches anywhere. Up to [`LEAD`] characters may then come first, so that a
//! reply reaches the match; every string that is written still satisfies the schema.

mod syntax;

use std::fmt::Write as _;

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look, Repetition};
use serde_json::{Map, Value};

/// Maximum characters before the match of a pattern without `^`.
const LEAD: u32 = 32;
/// llama.cpp refuses longer repetitions.
const MAX_REPEATS: u32 = 1_000;
/// Maximum nesting of groups.
const MAX_DEPTH: u32 = 50;
/// Maximum length of an expression, in bytes.
const MAX_LENGTH: usize = 32 * 1024;
/// Characters of a JSON string that are not escaped.
const PLAIN: &str = r"[^\x22\x5C\x00-\x1F]";

/// A pattern that no grammar can express.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the pattern `{pattern}` is not supported: {reason}")]
pub struct PatternError {
    pub pattern: String,
    pub reason: String,
}

/// The patterns of `schema`, rewritten for llama.cpp. Everything else stays.
///
/// # Errors
/// The first pattern that cannot be rewritten. A text that is no JSON object is returned unchanged,
/// because llama.cpp refuses it.
pub fn with_patterns_for_llama(schema: &str) -> Result<String, PatternError> {
    let Ok(mut value) = serde_json::from_str::<Value>(schema) else {
        return Ok(schema.to_owned());
    };
    let mut found = false;
    each_pattern(&mut value, &mut |pattern| {
        found = true;
        *pattern = format!("^{}$", expression(pattern)?);
        Ok(())
    })?;
    Ok(if found {
        value.to_string()
    } else {
        schema.to_owned()
    })
}

/// Checks all patterns of a schema.
///
/// # Errors
/// The first pattern that no grammar can express.
pub fn check_patterns(schema: &Value) -> Result<(), PatternError> {
    each_pattern(&mut schema.clone(), &mut |pattern| {
        expression(pattern).map(drop)
    })
}

type Visit<'v> = &'v mut dyn FnMut(&mut String) -> Result<(), PatternError>;

/// Visits the value of `pattern` in a schema and in the schemas inside. The JSON parser limits the
/// nesting.
fn each_pattern(schema: &mut Value, visit: Visit<'_>) -> Result<(), PatternError> {
    let Value::Object(keywords) = schema else {
        return Ok(());
    };
    for (keyword, value) in keywords {
        match (keyword.as_str(), value) {
            ("pattern", Value::String(pattern)) => visit(pattern)?,
            // Values, not schemas.
            ("const" | "enum" | "default" | "examples" | "example", _) => {}
            ("properties" | "$defs" | "definitions" | "dependentSchemas", Value::Object(named)) => {
                all_of(named, visit)?;
            }
            (_, Value::Array(several)) => {
                several
                    .iter_mut()
                    .try_for_each(|one| each_pattern(one, visit))?;
            }
            (_, value) => each_pattern(value, visit)?,
        }
    }
    Ok(())
}

fn all_of(named: &mut Map<String, Value>, visit: Visit<'_>) -> Result<(), PatternError> {
    named
        .values_mut()
        .try_for_each(|one| each_pattern(one, visit))
}

/// A grammar for the inside of a JSON string that matches `pattern`.
///
/// # Errors
/// The reason why no grammar can express it.
pub fn expression(pattern: &str) -> Result<String, PatternError> {
    let refused = |reason: String| PatternError {
        pattern: pattern.chars().take(100).collect(),
        reason,
    };
    let rewritten = syntax::rewritten(pattern).map_err(|reason| refused(reason.to_owned()))?;
    let parsed = ParserBuilder::new()
        .nest_limit(MAX_DEPTH)
        .build()
        .parse(&rewritten);
    let hir = parsed.map_err(|error| refused(reason(&error)))?;
    let mut written = Expression::default();
    written
        .whole(&hir)
        .map_err(|reason| refused(reason.to_owned()))?;
    if written.0.len() > MAX_LENGTH {
        Err(refused("it is too long as a grammar".to_owned()))
    } else {
        Ok(written.0)
    }
}

/// The parser's message without its picture of the pattern.
fn reason(error: &regex_syntax::Error) -> String {
    match error {
        regex_syntax::Error::Parse(error) => error.kind().to_string(),
        regex_syntax::Error::Translate(error) => error.kind().to_string(),
        _ => "it cannot be read".to_owned(),
    }
}

type Written = Result<(), &'static str>;

#[derive(Default)]
struct Expression(String);

impl Expression {
    /// A pattern or an alternative of it, which may have anchors at its ends.
    fn whole(&mut self, hir: &Hir) -> Written {
        match hir.kind() {
            HirKind::Capture(capture) => self.whole(&capture.sub),
            HirKind::Alternation(ways) => self.among(ways, Self::whole),
            HirKind::Concat(parts) => self.anchored(parts),
            _ => self.anchored(std::slice::from_ref(hir)),
        }
    }

    fn anchored(&mut self, parts: &[Hir]) -> Written {
        let is =
            |part: &Hir, look: Look| matches!(part.kind(), HirKind::Look(found) if *found == look);
        let starts = parts
            .iter()
            .take_while(|part| is(part, Look::Start))
            .count();
        let ends = parts[starts..]
            .iter()
            .rev()
            .take_while(|part| is(part, Look::End))
            .count();
        if starts == 0 {
            let _ = write!(self.0, "{PLAIN}{{0,{LEAD}}}");
        }
        parts[starts..parts.len() - ends]
            .iter()
            .try_for_each(|part| self.part(part))?;
        if ends == 0 {
            let _ = write!(self.0, "{PLAIN}*");
        }
        Ok(())
    }

    fn part(&mut self, hir: &Hir) -> Written {
        match hir.kind() {
            HirKind::Empty => Ok(()),
            HirKind::Literal(literal) => {
                let text =
                    std::str::from_utf8(&literal.0).map_err(|_| "it has bytes that are no text")?;
                text.chars().try_for_each(|letter| {
                    self.class(&ClassUnicode::new([ClassUnicodeRange::new(letter, letter)]))
                })
            }
            HirKind::Class(Class::Unicode(class)) => self.class(class),
            HirKind::Class(Class::Bytes(class)) => self.class(
                &class
                    .to_unicode_class()
                    .ok_or("it has bytes that are no text")?,
            ),
            HirKind::Look(_) => {
                Err("`^`, `$` and `\\b` are only possible at its ends, `\\b` not at all")
            }
            HirKind::Repetition(repetition) => self.repeated(repetition),
            HirKind::Capture(capture) => self.group(|inner| inner.part(&capture.sub)),
            HirKind::Concat(parts) => {
                self.group(|inner| parts.iter().try_for_each(|part| inner.part(part)))
            }
            HirKind::Alternation(ways) => self.among(ways, Self::part),
        }
    }

    fn repeated(&mut self, Repetition { min, max, sub, .. }: &Repetition) -> Written {
        if *min > MAX_REPEATS {
            return Err("a part is repeated more than 1,000 times");
        }
        self.group(|inner| inner.part(sub))?;
        match (min, max.map(|max| max.min(MAX_REPEATS))) {
            (0, None) => self.0.push('*'),
            (1, None) => self.0.push('+'),
            (min, None) => {
                let _ = write!(self.0, "{{{min},}}");
            }
            (min, Some(max)) => {
                let _ = write!(self.0, "{{{min},{max}}}");
            }
        }
        Ok(())
    }

    fn group(&mut self, write: impl FnOnce(&mut Self) -> Written) -> Written {
        self.0.push('(');
        write(self)?;
        self.0.push(')');
        Ok(())
    }

    fn among(&mut self, ways: &[Hir], write: impl Fn(&mut Self, &Hir) -> Written) -> Written {
        self.group(|inner| {
            ways.iter().enumerate().try_for_each(|(index, way)| {
                if index > 0 {
                    inner.0.push('|');
                }
                write(inner, way)
            })
        })
    }

    /// The characters of a class, those with an escape in JSON as this escape.
    fn class(&mut self, class: &ClassUnicode) -> Written {
        let mut plain = class.clone();
        plain.intersect(&ClassUnicode::new(
            [(' ', '!'), ('#', '['), (']', char::MAX)]
                .map(|(first, last)| ClassUnicodeRange::new(first, last)),
        ));
        let has = |letter: char| {
            class
                .iter()
                .any(|range| range.start() <= letter && letter <= range.end())
        };
        let escapes = [
            ('"', r"\x22"),
            ('\\', r"\x5C"),
            ('\n', "n"),
            ('\r', "r"),
            ('\t', "t"),
        ];
        let escaped: String = escapes
            .iter()
            .filter(|(letter, _)| has(*letter))
            .map(|(_, name)| *name)
            .collect();
        match (plain.ranges().is_empty(), escaped.is_empty()) {
            (true, true) => {
                return Err("a class matches no character that a JSON string may contain");
            }
            (false, true) => self.ranges(&plain),
            (true, false) => {
                let _ = write!(self.0, r"[\x5C][{escaped}]");
            }
            (false, false) => {
                self.0.push('(');
                self.ranges(&plain);
                let _ = write!(self.0, r"|[\x5C][{escaped}])");
            }
        }
        Ok(())
    }

    fn ranges(&mut self, class: &ClassUnicode) {
        self.0.push('[');
        for range in class.iter() {
            self.letter(range.start());
            if range.end() != range.start() {
                self.0.push('-');
                self.letter(range.end());
            }
        }
        self.0.push(']');
    }

    fn letter(&mut self, letter: char) {
        let code = u32::from(letter);
        let _ = match code {
            _ if letter.is_ascii_alphanumeric() => write!(self.0, "{letter}"),
            0..=0xFF => write!(self.0, "\\x{code:02X}"),
            0x100..=0xFFFF => write!(self.0, "\\u{code:04X}"),
            _ => write!(self.0, "\\U{code:08X}"),
        };
    }
}

#[cfg(test)]
mod tests;
