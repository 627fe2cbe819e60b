//! Parses escapes of a pattern.

use crate::js_regex::parse::{
    DIGIT, NOTHING, PatternItem, PatternParser, RegexTerm, SPACE, WORD, WORD_FOLDED,
};
use crate::js_regex::units::unit;
use crate::js_regex::{Dialect, Flaw};

impl PatternParser<'_> {
    pub(super) fn escape(&mut self) -> Result<RegexTerm, Flaw> {
        let word = self.word();
        match self.next().ok_or("the pattern ends with a backslash")? {
            'b' if self.dialect == Dialect::Linear && word == WORD => self.fixed("(?-u:\\b)"),
            'b' => self.around(&format!(
                "(?:(?<=[{word}])(?![{word}])|(?<![{word}])(?=[{word}]))"
            )),
            'B' => self.around(&format!(
                "(?:(?<=[{word}])(?=[{word}])|(?<![{word}])(?![{word}]))"
            )),
            'k' if self.flags.unicode || !self.out.names.is_empty() => {
                if !self.eat("<") {
                    return Err("`\\k` has no group name".into());
                }
                let name = self.name()?;
                let group = self
                    .out
                    .names
                    .iter()
                    .find(|(known, _)| *known == name)
                    .map(|(_, group)| *group);
                self.back_reference(
                    group.ok_or_else(|| Flaw(format!("there is no group `{name}`")))?,
                )
            }
            c @ '1'..='9' => {
                self.at -= 1;
                let start = self.at;
                let number: usize = self.digits().parse().unwrap_or(usize::MAX);
                if number <= self.groups {
                    return self.back_reference(number);
                }
                if self.flags.unicode {
                    return Err(Flaw(format!("there is no group {number}")));
                }
                self.at = start + 1;
                let c = if c < '8' { self.octal(c) } else { c };
                self.literal(c)
            }
            '-' if self.flags.unicode => {
                Err("with flag u, `\\-` is invalid outside a class".into())
            }
            c => match self.class_escape(c)? {
                PatternItem::One(c) => self.literal(c),
                PatternItem::Set(set) => self.emit(&format!("[{set}]")),
                PatternItem::Never => self.emit(NOTHING),
            },
        }
    }

    /// A backreference to a group that has not matched yet matches the empty text.
    pub(super) fn back_reference(&mut self, group: usize) -> Result<RegexTerm, Flaw> {
        self.out.needs_backtracking = true;
        let same = if self.flags.ignore_case {
            format!("(?i:\\{group})")
        } else {
            format!("\\{group}")
        };
        self.emit(&format!("(?({group}){same}|)"))
    }

    pub(super) fn word(&self) -> &'static str {
        if self.flags.unicode && self.flags.ignore_case {
            WORD_FOLDED
        } else {
            WORD
        }
    }

    /// Parses an escape that is valid inside and outside a class.
    pub(super) fn class_escape(&mut self, c: char) -> Result<PatternItem, Flaw> {
        let word = self.word();
        Ok(match c {
            'd' => PatternItem::Set(DIGIT.into()),
            'D' => PatternItem::Set(format!("[^{DIGIT}]")),
            'w' => PatternItem::Set(word.into()),
            'W' => PatternItem::Set(format!("[^{word}]")),
            's' => PatternItem::Set(SPACE.into()),
            'S' => PatternItem::Set(format!("[^{SPACE}]")),
            't' => PatternItem::One('\t'),
            'n' => PatternItem::One('\n'),
            'v' => PatternItem::One('\u{b}'),
            'f' => PatternItem::One('\u{c}'),
            'r' => PatternItem::One('\r'),
            'c' => self.control()?,
            'x' => PatternItem::One(self.hex(2).map_or_else(|| self.identity('x'), Ok)?),
            'u' => self.unicode_escape()?,
            'p' | 'P' if self.flags.unicode => self.property(c)?,
            '0' if !self.peek().is_some_and(|c| c.is_ascii_digit()) => PatternItem::One('\0'),
            '0'..='7' if !self.flags.unicode => PatternItem::One(self.octal(c)),
            c => PatternItem::One(self.identity(c)?),
        })
    }

    /// With flag `u` only syntax characters may be escaped.
    pub(super) fn identity(&self, c: char) -> Result<char, Flaw> {
        let may = !self.flags.unicode || "^$\\.*+?()[]{}|/-".contains(c);
        may.then_some(c)
            .ok_or_else(|| Flaw(format!("with flag u, `\\{c}` is invalid")))
    }

    pub(super) fn control(&mut self) -> Result<PatternItem, Flaw> {
        match self.peek() {
            Some(letter) if letter.is_ascii_alphabetic() => {
                self.at += 1;
                Ok(PatternItem::One(char::from(letter as u8 % 32)))
            }
            _ if self.flags.unicode => Err("`\\c` has no control letter".into()),
            _ => {
                // The backslash is a literal, and the `c` is parsed again.
                self.at -= 1;
                Ok(PatternItem::One('\\'))
            }
        }
    }

    pub(super) fn hex(&mut self, length: usize) -> Option<char> {
        self.number(length).map(unit)
    }

    /// Parses `length` hexadecimal digits.
    pub(super) fn number(&mut self, length: usize) -> Option<u16> {
        let digits: String = self.chars.get(self.at..self.at + length)?.iter().collect();
        if !digits.chars().all(|c| c.is_ascii_hexdigit()) {
            return None;
        }
        self.at += length;
        u16::from_str_radix(&digits, 16).ok()
    }

    pub(super) fn octal(&mut self, first: char) -> char {
        let mut value = first.to_digit(8).unwrap_or_default();
        for _ in 0..2 {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(8)) else {
                break;
            };
            if value * 8 + digit > 0o377 {
                break;
            }
            value = value * 8 + digit;
            self.at += 1;
        }
        char::from_u32(value).unwrap_or_default()
    }

    pub(super) fn unicode_escape(&mut self) -> Result<PatternItem, Flaw> {
        if !self.flags.unicode {
            return Ok(self.unit_escape());
        }
        if self.eat("{") {
            let start = self.at;
            while self.peek().is_some_and(|c| c.is_ascii_hexdigit()) {
                self.at += 1;
            }
            let code: String = self.chars[start..self.at].iter().collect();
            let code = u32::from_str_radix(&code, 16)
                .ok()
                .filter(|code| *code <= 0x10_ffff);
            let code = code
                .filter(|_| self.eat("}"))
                .ok_or("`\\u{` has no valid character number")?;
            return Ok(char::from_u32(code).map_or(PatternItem::Never, PatternItem::One));
        }
        let first = self
            .number(4)
            .ok_or("`\\u` has no valid character number")?;
        if let Ok(c) = char::try_from(u32::from(first)) {
            return Ok(PatternItem::One(c));
        }
        let after_first = self.at;
        if let Some(c) = self.other_half(first) {
            return Ok(PatternItem::One(c));
        }
        self.at = after_first;
        self.out.halves = true;
        Ok(PatternItem::Never)
    }

    /// `\uXXXX` without flag `u`: a UTF-16 unit, or a literal `u`.
    pub(super) fn unit_escape(&mut self) -> PatternItem {
        let begins = self.at;
        let Some(first) = self.number(4) else {
            return PatternItem::One('u');
        };
        let after = self.at;
        let whole = match first {
            0xD800..0xDC00 => self.other_half(first).is_some(),
            0xDC00..0xE000 => self.is_other_half(begins),
            _ => true,
        };
        self.at = after;
        self.out.halves |= !whole;
        PatternItem::One(unit(first))
    }

    /// Joins a first surrogate with the escape that follows it.
    pub(super) fn other_half(&mut self, first: u16) -> Option<char> {
        let second = self.eat("\\u").then(|| self.number(4)).flatten()?;
        char::decode_utf16([first, second]).next()?.ok()
    }

    /// True if the escape whose digits start at `begins` follows the first half of a surrogate
    /// pair.
    pub(super) fn is_other_half(&mut self, begins: usize) -> bool {
        let Some(start) = begins
            .checked_sub(8)
            .filter(|start| self.chars[*start..start + 2] == ['\\', 'u'])
        else {
            return false;
        };
        self.at = start + 2;
        self.number(4)
            .is_some_and(|first| (0xD800..0xDC00).contains(&first))
    }

    /// Unicode properties have the same names in JavaScript and Rust. The few that Rust does not
    /// support are rejected.
    pub(super) fn property(&mut self, which: char) -> Result<PatternItem, Flaw> {
        if !self.eat("{") {
            return Err(Flaw(format!("`\\{which}` has no property name")));
        }
        let start = self.at;
        while self
            .peek()
            .is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '='))
        {
            self.at += 1;
        }
        let name: String = self.chars[start..self.at].iter().collect();
        let set = format!("\\{which}{{{name}}}");
        if !self.eat("}") || regex::Regex::new(&set).is_err() {
            return Err(Flaw(format!("unknown property `{name}`")));
        }
        Ok(PatternItem::Set(set))
    }
}
