//! Parses JavaScript's regular expression grammar (with Annex B unless flag `u` is set) and
//! rewrites it for Rust engines.

mod escape;

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
    let mut parser = PatternParser {
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
    let mut count = 0;
    let mut names = Vec::<(String, usize)>::new();
    let mut in_class = false;
    let mut at = 0;
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

struct PatternParser<'p> {
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
enum RegexTerm {
    Repeatable,
    Fixed,
}

impl PatternParser<'_> {
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
        if matches!(kind, RegexTerm::Fixed) {
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

    fn atom(&mut self) -> Result<RegexTerm, Flaw> {
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

    fn emit(&mut self, text: &str) -> Result<RegexTerm, Flaw> {
        self.written.push_str(text);
        Ok(RegexTerm::Repeatable)
    }

    fn fixed(&mut self, text: &str) -> Result<RegexTerm, Flaw> {
        self.written.push_str(text);
        Ok(RegexTerm::Fixed)
    }

    /// Like [`Self::fixed`], for lookaround.
    fn around(&mut self, text: &str) -> Result<RegexTerm, Flaw> {
        self.out.needs_backtracking = true;
        self.fixed(text)
    }

    fn literal(&mut self, c: char) -> Result<RegexTerm, Flaw> {
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
        Ok(RegexTerm::Repeatable)
    }

    fn group(&mut self) -> Result<RegexTerm, Flaw> {
        let (open, kind) = if self.eat("?:") {
            ("(?:", RegexTerm::Repeatable)
        } else if self.eat("?=") {
            (
                "(?=",
                if self.flags.unicode {
                    RegexTerm::Fixed
                } else {
                    RegexTerm::Repeatable
                },
            )
        } else if self.eat("?!") {
            (
                "(?!",
                if self.flags.unicode {
                    RegexTerm::Fixed
                } else {
                    RegexTerm::Repeatable
                },
            )
        } else if self.eat("?<=") {
            ("(?<=", RegexTerm::Fixed)
        } else if self.eat("?<!") {
            ("(?<!", RegexTerm::Fixed)
        } else if self.eat("?<") {
            self.name()?;
            ("(", RegexTerm::Repeatable)
        } else if self.peek() == Some('?') {
            return Err("unknown kind of group: (?".into());
        } else {
            ("(", RegexTerm::Repeatable)
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
}

/// Writes a character so that it matches only itself, inside and outside a class.
fn push_escaped(out: &mut String, c: char) {
    if c.is_ascii_alphanumeric() || (c > '\u{9f}' && !c.is_whitespace()) {
        out.push(c);
    } else {
        out.push_str(&format!("\\x{{{:x}}}", c as u32));
    }
}
