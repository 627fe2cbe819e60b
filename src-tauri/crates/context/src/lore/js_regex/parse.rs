//! JavaScript's grammar of patterns (with its Annex B where flag `u` is absent), written anew for Rust's engines.

mod class;

use super::{Flags, case, unit};

/// Groups inside groups.
const MAX_DEPTH: usize = 50;

const DIGIT: &str = "0-9";
const WORD: &str = "0-9A-Z_a-z";
/// With `iu`, two characters fold to ASCII letters.
const WORD_FOLDED: &str = "0-9A-Z_a-z\\x{17f}\\x{212a}";
const SPACE: &str = "\\t-\\r \\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}";
const LINE_ENDS: &str = "\\n\\r\\x{2028}\\x{2029}";
const NOTHING: &str = "[^\\x{0}-\\x{10ffff}]";

/// The pattern in Rust's words, or `None` if JavaScript would refuse it.
pub(super) fn translate(pattern: &str, flags: Flags) -> Option<String> {
    let chars: Vec<char> =
        if flags.unicode { pattern.chars().collect() } else { pattern.encode_utf16().map(unit).collect() };
    let (groups, names) = groups(&chars)?;
    let mut parser = Parser { chars: &chars, at: 0, flags, groups, names, out: String::new(), depth: 0 };
    parser.disjunction()?;
    if parser.at < chars.len() {
        return None;
    }
    let fold = if flags.unicode && flags.ignore_case { "(?i)" } else { "" };
    let start = if flags.sticky { "\\A" } else { "" };
    Some(format!("{fold}{start}(?:{})", parser.out))
}

/// How many groups there are, and which of them have which name.
fn groups(chars: &[char]) -> Option<(usize, Vec<(usize, String)>)> {
    let (mut count, mut names, mut in_class, mut at) = (0, Vec::<(usize, String)>::new(), false, 0);
    while at < chars.len() {
        match chars[at] {
            '\\' => at += 1,
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class => match (chars.get(at + 1), chars.get(at + 2), chars.get(at + 3)) {
                (Some('?'), Some('<'), Some(next)) if !matches!(next, '=' | '!') => {
                    count += 1;
                    let name: String = chars[at + 3..].iter().take_while(|c| **c != '>').collect();
                    if names.iter().any(|(_, known)| *known == name) {
                        return None;
                    }
                    names.push((count, name));
                }
                (Some('?'), ..) => {}
                _ => count += 1,
            },
            _ => {}
        }
        at += 1;
    }
    Some((count, names))
}

struct Parser<'p> {
    chars: &'p [char],
    at: usize,
    flags: Flags,
    groups: usize,
    names: Vec<(usize, String)>,
    out: String,
    depth: usize,
}

/// One item of a class: a character, or a set of them.
enum Item {
    One(char),
    Set(String),
    /// A unit that no text holds.
    Never,
}

/// What may follow a term.
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
        let found = text.chars().enumerate().all(|(i, c)| self.chars.get(self.at + i) == Some(&c));
        if found {
            self.at += text.chars().count();
        }
        found
    }

    fn disjunction(&mut self) -> Option<()> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        while let Some(c) = self.peek() {
            match c {
                ')' => break,
                '|' => {
                    self.at += 1;
                    self.out.push('|');
                }
                _ => self.term()?,
            }
        }
        self.depth -= 1;
        Some(())
    }

    fn term(&mut self) -> Option<()> {
        let start = self.out.len();
        let kind = self.atom()?;
        let before = self.at;
        let Some(quantifier) = self.quantifier()? else { return Some(()) };
        if matches!(kind, Term::Fixed) {
            self.at = before;
            return None;
        }
        let atom = self.out.split_off(start);
        self.out.push_str(&format!("(?:{atom}){quantifier}"));
        Some(())
    }

    /// Outer `None`: refused. Inner `None`: there is none.
    fn quantifier(&mut self) -> Option<Option<String>> {
        let mut text = match self.peek() {
            Some(c @ ('*' | '+' | '?')) => {
                self.at += 1;
                c.to_string()
            }
            Some('{') => match self.counted()? {
                Some(text) => text,
                None => return Some(None),
            },
            _ => return Some(None),
        };
        if self.eat("?") {
            text.push('?');
        }
        Some(Some(text))
    }

    fn counted(&mut self) -> Option<Option<String>> {
        let start = self.at;
        self.at += 1;
        let least = self.digits();
        let comma = self.eat(",");
        let most = if comma { self.digits() } else { String::new() };
        if least.is_empty() || !self.eat("}") {
            self.at = start;
            // Without `u`, a brace that counts nothing is a brace; `atom` reads it.
            return if self.flags.unicode { None } else { Some(None) };
        }
        let number = |text: &str| text.parse::<u32>().unwrap_or(u32::MAX);
        if !most.is_empty() && number(&most) < number(&least) {
            return None;
        }
        Some(Some(format!("{{{least}{}{most}}}", if comma { "," } else { "" })))
    }

    fn digits(&mut self) -> String {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        self.chars[start..self.at].iter().collect()
    }

    fn atom(&mut self) -> Option<Term> {
        match self.next()? {
            '^' if self.flags.multi_line => self.fixed(&format!("(?:\\A|(?<=[{LINE_ENDS}]))")),
            '^' => self.fixed("\\A"),
            '$' if self.flags.multi_line => self.fixed(&format!("(?:\\z|(?=[{LINE_ENDS}]))")),
            '$' => self.fixed("\\z"),
            '(' => self.group(),
            '[' => self.class(),
            '\\' => self.escape(),
            '.' if self.flags.dot_all => self.emit("(?s:.)"),
            '.' => self.emit(&format!("[^{LINE_ENDS}]")),
            '*' | '+' | '?' => None,
            '{' | '}' | ']' if self.flags.unicode => None,
            '{' => {
                // A brace that counts has nothing to count here.
                self.at -= 1;
                if self.counted()?.is_some() {
                    return None;
                }
                self.at += 1;
                self.literal('{')
            }
            c => self.literal(c),
        }
    }

    fn emit(&mut self, text: &str) -> Option<Term> {
        self.out.push_str(text);
        Some(Term::Repeatable)
    }

    fn fixed(&mut self, text: &str) -> Option<Term> {
        self.out.push_str(text);
        Some(Term::Fixed)
    }

    fn literal(&mut self, c: char) -> Option<Term> {
        let kin = if self.flags.ignore_case && !self.flags.unicode { case::kin(c) } else { &[] };
        if kin.is_empty() {
            push_escaped(&mut self.out, c);
        } else {
            self.out.push('[');
            kin.iter().for_each(|c| push_escaped(&mut self.out, *c));
            self.out.push(']');
        }
        Some(Term::Repeatable)
    }

    fn group(&mut self) -> Option<Term> {
        let (open, kind) = if self.eat("?:") {
            ("(?:", Term::Repeatable)
        } else if self.eat("?=") {
            ("(?=", if self.flags.unicode { Term::Fixed } else { Term::Repeatable })
        } else if self.eat("?!") {
            ("(?!", if self.flags.unicode { Term::Fixed } else { Term::Repeatable })
        } else if self.eat("?<=") {
            ("(?<=", Term::Fixed)
        } else if self.eat("?<!") {
            ("(?<!", Term::Fixed)
        } else if self.eat("?<") {
            self.name()?;
            ("(", Term::Repeatable)
        } else if self.peek() == Some('?') {
            return None;
        } else {
            ("(", Term::Repeatable)
        };
        self.out.push_str(open);
        self.disjunction()?;
        if !self.eat(")") {
            return None;
        }
        self.out.push(')');
        Some(kind)
    }

    /// A name up to its `>`.
    fn name(&mut self) -> Option<String> {
        let rest = &self.chars[self.at..];
        let length = rest.iter().position(|c| *c == '>')?;
        let name: String = rest[..length].iter().collect();
        let first = name.chars().next()?;
        let letter = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
        if first.is_ascii_digit() || !name.chars().all(letter) {
            return None;
        }
        self.at += length + 1;
        Some(name)
    }

    fn escape(&mut self) -> Option<Term> {
        let word = self.word();
        match self.next()? {
            'b' => self.fixed(&format!("(?:(?<=[{word}])(?![{word}])|(?<![{word}])(?=[{word}]))")),
            'B' => self.fixed(&format!("(?:(?<=[{word}])(?=[{word}])|(?<![{word}])(?![{word}]))")),
            'k' if self.flags.unicode || !self.names.is_empty() => {
                if !self.eat("<") {
                    return None;
                }
                let name = self.name()?;
                let group = self.names.iter().find(|(_, known)| *known == name)?.0;
                self.back_reference(group)
            }
            c @ '1'..='9' => {
                self.at -= 1;
                let start = self.at;
                let number: usize = self.digits().parse().unwrap_or(usize::MAX);
                if number <= self.groups {
                    return self.back_reference(number);
                }
                if self.flags.unicode {
                    return None;
                }
                self.at = start + 1;
                let c = if c < '8' { self.octal(c) } else { c };
                self.literal(c)
            }
            c => match self.class_escape(c)? {
                Item::One(c) => self.literal(c),
                Item::Set(set) => self.emit(&format!("[{set}]")),
                Item::Never => self.emit(NOTHING),
            },
        }
    }

    /// A group that took no part yet is found as nothing.
    fn back_reference(&mut self, group: usize) -> Option<Term> {
        let same = if self.flags.ignore_case { format!("(?i:\\{group})") } else { format!("\\{group}") };
        self.emit(&format!("(?({group}){same}|)"))
    }

    fn word(&self) -> &'static str {
        if self.flags.unicode && self.flags.ignore_case { WORD_FOLDED } else { WORD }
    }

    /// An escape that may stand in a class as well as outside.
    fn class_escape(&mut self, c: char) -> Option<Item> {
        let word = self.word();
        Some(match c {
            'd' => Item::Set(DIGIT.into()),
            'D' => Item::Set(format!("[^{DIGIT}]")),
            'w' => Item::Set(word.into()),
            'W' => Item::Set(format!("[^{word}]")),
            's' => Item::Set(SPACE.into()),
            'S' => Item::Set(format!("[^{SPACE}]")),
            't' => Item::One('\t'),
            'n' => Item::One('\n'),
            'v' => Item::One('\u{b}'),
            'f' => Item::One('\u{c}'),
            'r' => Item::One('\r'),
            'c' => self.control()?,
            'x' => self.hex(2).map_or_else(|| self.identity('x'), Some).map(Item::One)?,
            'u' => self.unicode_escape()?,
            'p' | 'P' if self.flags.unicode => self.property(c)?,
            '0' if !self.peek().is_some_and(|c| c.is_ascii_digit()) => Item::One('\0'),
            '0'..='7' if !self.flags.unicode => Item::One(self.octal(c)),
            c => Item::One(self.identity(c)?),
        })
    }

    /// With `u` only syntax may be escaped.
    fn identity(&self, c: char) -> Option<char> {
        (!self.flags.unicode || "^$\\.*+?()[]{}|/-".contains(c)).then_some(c)
    }

    fn control(&mut self) -> Option<Item> {
        match self.peek() {
            Some(letter) if letter.is_ascii_alphabetic() => {
                self.at += 1;
                Some(Item::One(char::from(letter as u8 % 32)))
            }
            _ if self.flags.unicode => None,
            _ => {
                // The backslash itself is meant, and the `c` is read again.
                self.at -= 1;
                Some(Item::One('\\'))
            }
        }
    }

    fn hex(&mut self, length: usize) -> Option<char> {
        let digits: String = self.chars.get(self.at..self.at + length)?.iter().collect();
        if !digits.chars().all(|c| c.is_ascii_hexdigit()) {
            return None;
        }
        self.at += length;
        Some(unit(u16::from_str_radix(&digits, 16).ok()?))
    }

    fn octal(&mut self, first: char) -> char {
        let mut value = first.to_digit(8).unwrap_or_default();
        for _ in 0..2 {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(8)) else { break };
            if value * 8 + digit > 0o377 {
                break;
            }
            value = value * 8 + digit;
            self.at += 1;
        }
        char::from_u32(value).unwrap_or_default()
    }

    fn unicode_escape(&mut self) -> Option<Item> {
        if !self.flags.unicode {
            return Some(Item::One(self.hex(4).unwrap_or('u')));
        }
        if self.eat("{") {
            let start = self.at;
            while self.peek().is_some_and(|c| c.is_ascii_hexdigit()) {
                self.at += 1;
            }
            let code: String = self.chars[start..self.at].iter().collect();
            let code = u32::from_str_radix(&code, 16).ok().filter(|code| *code <= 0x10_ffff)?;
            return self.eat("}").then(|| char::from_u32(code).map_or(Item::Never, Item::One));
        }
        let first = self.surrogate_or_unit()?;
        if let Ok(c) = char::try_from(u32::from(first)) {
            return Some(Item::One(c));
        }
        let after_first = self.at;
        if self.eat("\\u")
            && let Some(second) = self.surrogate_or_unit()
            && let Some(Ok(c)) = char::decode_utf16([first, second]).next()
        {
            return Some(Item::One(c));
        }
        self.at = after_first;
        Some(Item::Never)
    }

    fn surrogate_or_unit(&mut self) -> Option<u16> {
        let digits: String = self.chars.get(self.at..self.at + 4)?.iter().collect();
        if !digits.chars().all(|c| c.is_ascii_hexdigit()) {
            return None;
        }
        self.at += 4;
        u16::from_str_radix(&digits, 16).ok()
    }

    /// Unicode properties have the same names in both worlds, but for a few that Rust does not know: those are refused.
    fn property(&mut self, which: char) -> Option<Item> {
        if !self.eat("{") {
            return None;
        }
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '=')) {
            self.at += 1;
        }
        let name: String = self.chars[start..self.at].iter().collect();
        let set = format!("\\{which}{{{name}}}");
        (self.eat("}") && regex::Regex::new(&set).is_ok()).then_some(Item::Set(set))
    }
}

/// A character that is only itself, wherever it stands.
fn push_escaped(out: &mut String, c: char) {
    if c.is_ascii_alphanumeric() || (c > '\u{9f}' && !c.is_whitespace()) {
        out.push(c);
    } else {
        out.push_str(&format!("\\x{{{:x}}}", c as u32));
    }
}
