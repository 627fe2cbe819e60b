//! JavaScript's patterns in the dialects of the engines at hand.
//!
//! Differences that matter: `\d`, `\w` and `\b` are ASCII in JavaScript; its `\s` and `.` know other characters; classes do not
//! nest; a brace that counts nothing is a brace; groups are numbered even where they are named. Not carried over: half
//! surrogates, and that a reference to a group which took no part matches nothing instead of failing.

use super::set::Why;

const WORD: &str = "A-Za-z0-9_";
const DIGIT: &str = "0-9";
const SPACE: &str = r"\t\n\x0B\x0C\r \x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}";
const LINE_ENDS: &str = r"\n\r\x{2028}\x{2029}";
const ANYTHING: &str = r"[\x{0}-\x{10FFFF}]";
const NOTHING: &str = r"[^\x{0}-\x{10FFFF}]";

/// Who will read the pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Linear,
    Backtracking,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Translated {
    pub(super) pattern: String,
    pub(super) global: bool,
    pub(super) sticky: bool,
    pub(super) ignore_case: bool,
    pub(super) names: Vec<(String, usize)>,
    /// It looks around or refers back, which no engine of linear time does.
    pub(super) needs_backtracking: bool,
}

/// Translates `/pattern/flags`, or a pattern without flags.
pub(super) fn translate(written: &str, dialect: Dialect) -> Result<Translated, Why> {
    let (pattern, flags) = parts(written);
    let has = |flag| flags.contains(flag);
    let mut translator = Translator {
        rest: pattern,
        dialect,
        multiline: has('m'),
        dot_all: has('s'),
        unicode: has('u') || has('v'),
        groups: groups(pattern),
        out: Translated { global: has('g'), sticky: has('y'), ignore_case: has('i'), ..Translated::default() },
    };
    translator.out.names = std::mem::take(&mut translator.groups.names);
    translator.run()?;
    Ok(translator.out)
}

/// Without slashes, or with letters behind the last one that are no flags, all of it is the pattern.
fn parts(written: &str) -> (&str, &str) {
    let parts = written.strip_prefix('/').and_then(|rest| rest.rsplit_once('/'));
    let valid = |flags: &str| {
        let mut seen = String::new();
        flags.chars().all(|flag| {
            let new = "dgimsuvy".contains(flag) && !seen.contains(flag);
            seen.push(flag);
            new
        })
    };
    parts.filter(|(pattern, flags)| !pattern.is_empty() && valid(flags)).unwrap_or((written, ""))
}

/// The groups of a pattern, known before it is read: references may stand before what they refer to.
#[derive(Debug, Default)]
struct Groups {
    count: usize,
    names: Vec<(String, usize)>,
}

fn groups(pattern: &str) -> Groups {
    let mut groups = Groups::default();
    let mut in_class = false;
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        rest = &rest[first.len_utf8()..];
        match first {
            '\\' => rest = rest.get(rest.chars().next().map_or(0, char::len_utf8)..).unwrap_or_default(),
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class && !rest.starts_with('?') => groups.count += 1,
            '(' if !in_class => {
                if let Some(name) = group_name(rest) {
                    groups.count += 1;
                    groups.names.push((name.to_owned(), groups.count));
                }
            }
            _ => {}
        }
    }
    groups
}

/// The name in `?<name>`; look-behind has none.
fn group_name(rest: &str) -> Option<&str> {
    let name = rest.strip_prefix("?<").filter(|rest| !rest.starts_with(['=', '!']))?;
    name.split_once('>').map(|(name, _)| name)
}

struct Translator<'p> {
    rest: &'p str,
    dialect: Dialect,
    multiline: bool,
    dot_all: bool,
    unicode: bool,
    groups: Groups,
    out: Translated,
}

/// What an escape stands for.
enum Escaped {
    Char(char),
    /// The members of a class, and whether it is all but them.
    Class(String, bool),
}

impl Translator<'_> {
    fn run(&mut self) -> Result<(), Why> {
        let mut repeatable = false;
        while let Some(first) = self.next() {
            repeatable = match first {
                '\\' => self.escape()?,
                '[' => self.class()?,
                '(' => self.group()?,
                ')' | '|' => {
                    self.out.pattern.push(first);
                    first == ')'
                }
                '.' if self.dot_all => self.emit(ANYTHING),
                '.' => self.emit(&format!("[^{LINE_ENDS}]")),
                '^' => self.assertion(if self.multiline { "(?m:^)" } else { r"\A" }),
                '$' => self.assertion(if self.multiline { "(?m:$)" } else { r"\z" }),
                '*' | '+' | '?' => self.repeat(&first.to_string(), repeatable)?,
                '{' => match self.count() {
                    Some(count) => self.repeat(&count, repeatable)?,
                    None => self.char('{'),
                },
                other => self.char(other),
            };
        }
        Ok(())
    }

    fn next(&mut self) -> Option<char> {
        let first = self.rest.chars().next()?;
        self.rest = &self.rest[first.len_utf8()..];
        Some(first)
    }

    fn take(&mut self, mark: &str) -> bool {
        let behind = self.rest.strip_prefix(mark);
        self.rest = behind.unwrap_or(self.rest);
        behind.is_some()
    }

    fn emit(&mut self, text: &str) -> bool {
        self.out.pattern.push_str(text);
        true
    }

    fn assertion(&mut self, text: &str) -> bool {
        self.emit(text);
        false
    }

    fn char(&mut self, char: char) -> bool {
        self.emit(&regex::escape(char.encode_utf8(&mut [0; 4])))
    }

    fn repeat(&mut self, times: &str, repeatable: bool) -> Result<bool, Why> {
        if !repeatable {
            return Err(Why::Invalid(format!("`{times}` repeats nothing")));
        }
        self.emit(times);
        if self.take("?") {
            self.emit("?");
        }
        Ok(false)
    }

    /// The rest of `{2}`, `{2,}` or `{2,5}`; any other brace is one.
    fn count(&mut self) -> Option<String> {
        let (count, behind) = self.rest.split_once('}')?;
        let (least, most) = count.split_once(',').unwrap_or((count, ""));
        let digits = |text: &str| text.len() < 6 && text.bytes().all(|byte| byte.is_ascii_digit());
        if least.is_empty() || !digits(least) || !digits(most) {
            return None;
        }
        self.rest = behind;
        Some(format!("{{{count}}}"))
    }

    fn group(&mut self) -> Result<bool, Why> {
        for around in ["?=", "?!", "?<=", "?<!"] {
            if self.take(around) {
                self.out.needs_backtracking = true;
                self.out.pattern.push('(');
                self.emit(around);
                return Ok(false);
            }
        }
        if let Some(name) = group_name(self.rest) {
            self.rest = &self.rest["?<".len() + name.len() + ">".len()..];
            self.out.pattern.push('(');
        } else if self.take("?:") {
            self.out.pattern.push_str("(?:");
        } else if self.rest.starts_with('?') {
            return Err(Why::Invalid("JavaScript knows no such group: (?".into()));
        } else {
            self.out.pattern.push('(');
        }
        Ok(false)
    }

    fn escape(&mut self) -> Result<bool, Why> {
        let Some(first) = self.rest.chars().next() else {
            return Err(Why::Invalid("a backslash stands last".into()));
        };
        match first {
            'b' | 'B' => {
                self.next();
                Ok(self.boundary(first == 'b'))
            }
            '1'..='9' if self.reference() => Ok(true),
            'k' if !self.out.names.is_empty() => {
                self.next();
                self.named_reference()
            }
            _ => {
                match self.escaped()? {
                    Escaped::Char(char) => self.char(char),
                    Escaped::Class(members, inverted) => self.emit(&bracketed(&members, inverted)),
                };
                Ok(true)
            }
        }
    }

    /// Between a word's character and another one; engines of linear time cannot tell where there is none in ASCII.
    fn boundary(&mut self, is: bool) -> bool {
        match (self.dialect, is) {
            (Dialect::Linear, true) => self.emit(r"(?-u:\b)"),
            (_, true) => self.emit(&format!("(?:(?<=[{WORD}])(?![{WORD}])|(?<![{WORD}])(?=[{WORD}]))")),
            (_, false) => {
                self.out.needs_backtracking = true;
                self.emit(&format!("(?:(?<=[{WORD}])(?=[{WORD}])|(?<![{WORD}])(?![{WORD}]))"))
            }
        };
        false
    }

    fn reference(&mut self) -> bool {
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let number = self.rest[..end].parse().ok().filter(|number| (1..=self.groups.count).contains(number));
        number.is_some_and(|number| {
            self.rest = &self.rest[end..];
            self.refer_to(number)
        })
    }

    fn named_reference(&mut self) -> Result<bool, Why> {
        let name = self.rest.strip_prefix('<').and_then(|rest| rest.split_once('>'));
        let (name, behind) = name.ok_or_else(|| Why::Invalid("`\\k` names no group".into()))?;
        let number = self.out.names.iter().find(|(known, _)| known == name).map(|(_, number)| *number);
        let number = number.ok_or_else(|| Why::Invalid(format!("there is no group `{name}`")))?;
        self.rest = behind;
        Ok(self.refer_to(number))
    }

    fn refer_to(&mut self, number: usize) -> bool {
        self.out.needs_backtracking = true;
        self.emit(&format!(r"(?:\{number})"))
    }

    /// What stands behind a backslash, in a class or outside.
    fn escaped(&mut self) -> Result<Escaped, Why> {
        let first = self.next().unwrap_or('\\');
        let class = |members: &str, inverted| Ok(Escaped::Class(members.to_owned(), inverted));
        let char = match first {
            'd' | 'D' => return class(DIGIT, first == 'D'),
            'w' | 'W' => return class(WORD, first == 'W'),
            's' | 'S' => return class(SPACE, first == 'S'),
            'p' | 'P' if self.unicode => return self.property(first),
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\u{B}',
            'f' => '\u{C}',
            'c' => self.control(),
            'x' => self.hex(2).unwrap_or('x'),
            'u' => self.unicode_escape()?,
            '0'..='7' => self.octal(first),
            other => other,
        };
        Ok(Escaped::Char(char))
    }

    fn property(&mut self, kind: char) -> Result<Escaped, Why> {
        let name = self.rest.strip_prefix('{').and_then(|rest| rest.split_once('}'));
        let (name, behind) = name.ok_or_else(|| Why::Invalid(format!("`\\{kind}` names no property")))?;
        self.rest = behind;
        Ok(Escaped::Class(format!(r"\p{{{name}}}"), kind == 'P'))
    }

    fn control(&mut self) -> char {
        match self.rest.chars().next() {
            Some(letter) if letter.is_ascii_alphabetic() => {
                self.next();
                char::from(letter as u8 % 32)
            }
            _ => 'c',
        }
    }

    fn number(&mut self, digits: usize) -> Option<u32> {
        let text = self.rest.get(..digits).filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        let number = u32::from_str_radix(text, 16).ok()?;
        self.rest = &self.rest[digits..];
        Some(number)
    }

    fn hex(&mut self, digits: usize) -> Option<char> {
        self.number(digits).and_then(char::from_u32)
    }

    /// `\uXXXX`, two of them for one character, or `\u{X}` with the flag `u`.
    fn unicode_escape(&mut self) -> Result<char, Why> {
        if self.unicode && self.rest.starts_with('{') {
            let code = self.rest[1..].split_once('}');
            let char = code.and_then(|(code, _)| u32::from_str_radix(code, 16).ok()).and_then(char::from_u32);
            let (char, (_, behind)) =
                char.zip(code).ok_or_else(|| Why::Invalid("`\\u{` holds no character's number".into()))?;
            self.rest = behind;
            return Ok(char);
        }
        let Some(first) = self.number(4) else { return Ok('u') };
        let code = match first {
            0xD800..=0xDBFF if self.take("\\u") => {
                let second = self.number(4).filter(|second| (0xDC00..=0xDFFF).contains(second));
                second.map(|second| 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00))
            }
            first => Some(first),
        };
        let char = code.and_then(char::from_u32);
        char.ok_or_else(|| {
            Why::Invalid("half a surrogate pair is no character; write both, or \\u{...} with flag u".into())
        })
    }

    fn octal(&mut self, first: char) -> char {
        let mut number = first.to_digit(8).unwrap_or(0);
        while let Some(digit) = self.rest.chars().next().and_then(|digit| digit.to_digit(8)) {
            if number * 8 + digit > 0xFF {
                break;
            }
            number = number * 8 + digit;
            self.next();
        }
        char::from_u32(number).unwrap_or(first)
    }

    fn class(&mut self) -> Result<bool, Why> {
        let inverted = self.take("^");
        let mut members = String::new();
        // The first end of a range that may follow.
        let mut from: Option<char> = None;
        loop {
            let unfinished = || Why::Invalid("a class has no end: [".into());
            let item = match self.next().ok_or_else(unfinished)? {
                ']' => break,
                '\\' if self.take("b") => Escaped::Char('\u{8}'),
                '\\' => self.escaped()?,
                '-' if from.is_some() && !self.rest.starts_with(']') => match self.range_end()? {
                    Some(to) => {
                        let from = from.take().unwrap_or(to);
                        if from > to {
                            return Err(Why::Invalid(format!("the range {from}-{to} is empty")));
                        }
                        members.push_str(&format!(r"-\x{{{:X}}}", u32::from(to)));
                        continue;
                    }
                    None => Escaped::Char('-'),
                },
                other => Escaped::Char(other),
            };
            from = match item {
                Escaped::Char(char) => {
                    members.push_str(&format!(r"\x{{{:X}}}", u32::from(char)));
                    Some(char)
                }
                Escaped::Class(class, inverted) => {
                    members.push_str(&bracketed(&class, inverted));
                    None
                }
            };
        }
        Ok(match (members.is_empty(), inverted) {
            (true, true) => self.emit(ANYTHING),
            (true, false) => self.emit(NOTHING),
            _ => self.emit(&bracketed(&members, inverted)),
        })
    }

    /// The character behind the `-` of a range. `None`: a class follows, so the `-` is one.
    fn range_end(&mut self) -> Result<Option<char>, Why> {
        let before = self.rest;
        let end = match self.next() {
            Some('\\') if self.take("b") => Escaped::Char('\u{8}'),
            Some('\\') => self.escaped()?,
            Some(other) => Escaped::Char(other),
            None => return Ok(None),
        };
        if let Escaped::Char(char) = end {
            return Ok(Some(char));
        }
        self.rest = before;
        Ok(None)
    }
}

fn bracketed(members: &str, inverted: bool) -> String {
    format!("[{}{members}]", if inverted { "^" } else { "" })
}
