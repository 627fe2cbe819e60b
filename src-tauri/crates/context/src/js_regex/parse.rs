//! Parses JavaScript's regular expression grammar (with Annex B unless flag `u` is set) and
//! rewrites it for Rust engines.

mod class;

use super::units::unit;
use super::{Dialect, Flaw, RegexFlags, Translated, case};

/// Maximum nesting depth of groups.
const MAX_DEPTH: usize = 50;
/// Maximum length of the translated pattern in bytes. A class that ignores case lists every letter
/// of its ranges.
const MAX_WRITTEN: usize = 1 << 20;

const DIGIT: &str = "0-9";
const WORD: &str = "0-9A-Z_a-z";
/// With flags `iu`, two non-ASCII characters fold to ASCII letters.
const WORD_FOLDED: &str = "0-9A-Z_a-z\\x{17f}\\x{212a}";
const SPACE: &str = "\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}";
const LINE_ENDS: &str = "\\n\\r\\x{2028}\\x{2029}";
const NOTHING: &str = "[^\\x{0}-\\x{10ffff}]";

/// Translates a pattern, or returns the reason why JavaScript rejects it.
pub(super) fn translate(
    pattern: &str,
    flags: RegexFlags,
    dialect: Dialect,
) -> Result<Translated, Flaw> {
    let chars: Vec<char> = if flags.unicode {
        pattern.chars().collect()
    } else {
        pattern.encode_utf16().map(unit).collect()
    };
    let (groups, names) = groups(&chars)?;
    let out = Translated {
        names,
        ..Translated::default()
    };
    let mut parser = Parser {
        chars: &chars,
        at: 0,
        flags,
        dialect,
        groups,
        out,
        written: String::new(),
        depth: 0,
    };
    parser.disjunction()?;
    if parser.at < chars.len() {
        return Err("unmatched closing parenthesis: )".into());
    }
    let fold = if flags.unicode && flags.ignore_case {
        "(?i)"
    } else {
        ""
    };
    Ok(Translated {
        pattern: format!("{fold}(?:{})", parser.written),
        ..parser.out
    })
}

/// Number of groups, and the named ones with their numbers.
fn groups(chars: &[char]) -> Result<(usize, Vec<(String, usize)>), Flaw> {
    let (mut count, mut names, mut in_class, mut at) = (0, Vec::<(String, usize)>::new(), false, 0);
    while at < chars.len() {
        match chars[at] {
            '\\' => at += 1,
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class => match (chars.get(at + 1), chars.get(at + 2), chars.get(at + 3)) {
                (Some('?'), Some('<'), Some(next)) if !matches!(next, '=' | '!') => {
                    count += 1;
                    let name: String = chars[at + 3..].iter().take_while(|c| **c != '>').collect();
                    if names.iter().any(|(known, _)| *known == name) {
                        return Err(Flaw(format!("two groups have the name `{name}`")));
                    }
                    names.push((name, count));
                }
                (Some('?'), ..) => {}
                _ => count += 1,
            },
            _ => {}
        }
        at += 1;
    }
    Ok((count, names))
}

struct Parser<'p> {
    chars: &'p [char],
    at: usize,
    flags: RegexFlags,
    dialect: Dialect,
    groups: usize,
    out: Translated,
    written: String,
    depth: usize,
}

/// One item of a class: a character or a set of characters.
enum PatternItem {
    One(char),
    Set(String),
    /// A unit that no text contains.
    Never,
}

/// Whether a quantifier may follow a term.
enum Term {
    Repeatable,
    Fixed,
}

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = text
            .chars()
            .enumerate()
            .all(|(i, c)| self.chars.get(self.at + i) == Some(&c));
        if found {
            self.at += text.chars().count();
        }
        found
    }

    fn disjunction(&mut self) -> Result<(), Flaw> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("groups are nested too deeply".into());
        }
        while let Some(c) = self.peek() {
            match c {
                ')' => break,
                '|' => {
                    self.at += 1;
                    self.written.push('|');
                }
                _ => self.term()?,
            }
        }
        self.depth -= 1;
        Ok(())
    }

    fn term(&mut self) -> Result<(), Flaw> {
        let start = self.written.len();
        let kind = self.atom()?;
        if self.written.len() > MAX_WRITTEN {
            return Err("the pattern is too long".into());
        }
        let Some(quantifier) = self.quantifier()? else {
            return Ok(());
        };
        if matches!(kind, Term::Fixed) {
            return Err(Flaw(format!("`{quantifier}` has nothing to repeat")));
        }
        let atom = self.written.split_off(start);
        self.written.push_str(&format!("(?:{atom}){quantifier}"));
        Ok(())
    }

    fn quantifier(&mut self) -> Result<Option<String>, Flaw> {
        let mut text = match self.peek() {
            Some(c @ ('*' | '+' | '?')) => {
                self.at += 1;
                c.to_string()
            }
            Some('{') => match self.counted()? {
                Some(text) => text,
                None => return Ok(None),
            },
            _ => return Ok(None),
        };
        if self.eat("?") {
            text.push('?');
        }
        Ok(Some(text))
    }

    fn counted(&mut self) -> Result<Option<String>, Flaw> {
        let start = self.at;
        self.at += 1;
        let least = self.digits();
        let comma = self.eat(",");
        let most = if comma { self.digits() } else { String::new() };
        if least.is_empty() || !self.eat("}") {
            self.at = start;
            // Without `u`, a brace that is no quantifier is a literal, which `atom` parses.
            return if self.flags.unicode {
                Err("with flag u, a literal brace needs a backslash: {".into())
            } else {
                Ok(None)
            };
        }
        let number = |text: &str| text.parse::<u32>().unwrap_or(u32::MAX);
        if !most.is_empty() && number(&most) < number(&least) {
            return Err(Flaw(format!(
                "`{{{least},{most}}}` has its numbers in the wrong order"
            )));
        }
        Ok(Some(format!(
            "{{{least}{}{most}}}",
            if comma { "," } else { "" }
        )))
    }

    fn digits(&mut self) -> String {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        self.chars[start..self.at].iter().collect()
    }

    fn atom(&mut self) -> Result<Term, Flaw> {
        let first = self.next().ok_or("the pattern ends too early")?;
        match first {
            '^' | '$' if self.flags.multi_line && self.dialect == Dialect::Linear => {
                self.fixed(&format!("(?m:{first})"))
            }
            '^' if self.flags.multi_line => self.around(&format!("(?:\\A|(?<=[{LINE_ENDS}]))")),
            '^' => self.fixed("\\A"),
            '$' if self.flags.multi_line => self.around(&format!("(?:\\z|(?=[{LINE_ENDS}]))")),
            '$' => self.fixed("\\z"),
            '(' => self.group(),
            '[' => self.class(),
            '\\' => self.escape(),
            '.' if self.flags.dot_all => self.emit("(?s:.)"),
            '.' => self.emit(&format!("[^{LINE_ENDS}]")),
            '*' | '+' | '?' => Err(Flaw(format!("`{first}` has nothing to repeat"))),
            '{' | '}' | ']' if self.flags.unicode => {
                Err(Flaw(format!("with flag u, `{first}` needs a backslash")))
            }
            '{' => {
                // A quantifier in braces has nothing to repeat here.
                self.at -= 1;
                if let Some(count) = self.counted()? {
                    return Err(Flaw(format!("`{count}` has nothing to repeat")));
                }
                self.at += 1;
                self.literal('{')
            }
            c => self.literal(c),
        }
    }

    fn emit(&mut self, text: &str) -> Result<Term, Flaw> {
        self.written.push_str(text);
        Ok(Term::Repeatable)
    }

    fn fixed(&mut self, text: &str) -> Result<Term, Flaw> {
        self.written.push_str(text);
        Ok(Term::Fixed)
    }

    /// Like [`Self::fixed`], for lookaround.
    fn around(&mut self, text: &str) -> Result<Term, Flaw> {
        self.out.needs_backtracking = true;
        self.fixed(text)
    }

    fn literal(&mut self, c: char) -> Result<Term, Flaw> {
        let kin = if self.flags.ignore_case && !self.flags.unicode {
            case::kin(c)
        } else {
            &[]
        };
        if kin.is_empty() {
            push_escaped(&mut self.written, c);
        } else {
            self.written.push('[');
            kin.iter().for_each(|c| push_escaped(&mut self.written, *c));
            self.written.push(']');
        }
        Ok(Term::Repeatable)
    }

    fn group(&mut self) -> Result<Term, Flaw> {
        let (open, kind) = if self.eat("?:") {
            ("(?:", Term::Repeatable)
        } else if self.eat("?=") {
            (
                "(?=",
                if self.flags.unicode {
                    Term::Fixed
                } else {
                    Term::Repeatable
                },
            )
        } else if self.eat("?!") {
            (
                "(?!",
                if self.flags.unicode {
                    Term::Fixed
                } else {
                    Term::Repeatable
                },
            )
        } else if self.eat("?<=") {
            ("(?<=", Term::Fixed)
        } else if self.eat("?<!") {
            ("(?<!", Term::Fixed)
        } else if self.eat("?<") {
            self.name()?;
            ("(", Term::Repeatable)
        } else if self.peek() == Some('?') {
            return Err("unknown kind of group: (?".into());
        } else {
            ("(", Term::Repeatable)
        };
        self.out.needs_backtracking |= !matches!(open, "(" | "(?:");
        self.written.push_str(open);
        self.disjunction()?;
        if !self.eat(")") {
            return Err("a group is not closed: (".into());
        }
        self.written.push(')');
        Ok(kind)
    }

    /// Parses a group name up to its `>`.
    fn name(&mut self) -> Result<String, Flaw> {
        let rest = &self.chars[self.at..];
        let length = rest
            .iter()
            .position(|c| *c == '>')
            .ok_or("a group name is not closed: <")?;
        let name: String = rest[..length].iter().collect();
        let letter = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
        if name.is_empty()
            || name.starts_with(|first: char| first.is_ascii_digit())
            || !name.chars().all(letter)
        {
            return Err(Flaw(format!("`{name}` is not a valid group name")));
        }
        self.at += length + 1;
        Ok(name)
    }

    fn escape(&mut self) -> Result<Term, Flaw> {
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
    fn back_reference(&mut self, group: usize) -> Result<Term, Flaw> {
        self.out.needs_backtracking = true;
        let same = if self.flags.ignore_case {
            format!("(?i:\\{group})")
        } else {
            format!("\\{group}")
        };
        self.emit(&format!("(?({group}){same}|)"))
    }

    fn word(&self) -> &'static str {
        if self.flags.unicode && self.flags.ignore_case {
            WORD_FOLDED
        } else {
            WORD
        }
    }

    /// Parses an escape that is valid inside and outside a class.
    fn class_escape(&mut self, c: char) -> Result<PatternItem, Flaw> {
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
    fn identity(&self, c: char) -> Result<char, Flaw> {
        let may = !self.flags.unicode || "^$\\.*+?()[]{}|/-".contains(c);
        may.then_some(c)
            .ok_or_else(|| Flaw(format!("with flag u, `\\{c}` is invalid")))
    }

    fn control(&mut self) -> Result<PatternItem, Flaw> {
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

    fn hex(&mut self, length: usize) -> Option<char> {
        self.number(length).map(unit)
    }

    /// Parses `length` hexadecimal digits.
    fn number(&mut self, length: usize) -> Option<u16> {
        let digits: String = self.chars.get(self.at..self.at + length)?.iter().collect();
        if !digits.chars().all(|c| c.is_ascii_hexdigit()) {
            return None;
        }
        self.at += length;
        u16::from_str_radix(&digits, 16).ok()
    }

    fn octal(&mut self, first: char) -> char {
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

    fn unicode_escape(&mut self) -> Result<PatternItem, Flaw> {
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
    fn unit_escape(&mut self) -> PatternItem {
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
    fn other_half(&mut self, first: u16) -> Option<char> {
        let second = self.eat("\\u").then(|| self.number(4)).flatten()?;
        char::decode_utf16([first, second]).next()?.ok()
    }

    /// True if the escape whose digits start at `begins` follows the first half of a surrogate
    /// pair.
    fn is_other_half(&mut self, begins: usize) -> bool {
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
    fn property(&mut self, which: char) -> Result<PatternItem, Flaw> {
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

/// Writes a character so that it matches only itself, inside and outside a class.
fn push_escaped(out: &mut String, c: char) {
    if c.is_ascii_alphanumeric() || (c > '\u{9f}' && !c.is_whitespace()) {
        out.push(c);
    } else {
        out.push_str(&format!("\\x{{{:x}}}", c as u32));
    }
}
