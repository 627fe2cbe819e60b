//! Character classes: the content of square brackets.

use super::{Flaw, NOTHING, PatternItem, PatternParser, RegexTerm, push_escaped};
use crate::js_regex::case;

const UNFINISHED: &str = "a character class is not closed: [";

impl PatternParser<'_> {
    pub(super) fn class(&mut self) -> Result<RegexTerm, Flaw> {
        let negated = self.eat("^");
        let mut body = String::new();
        loop {
            match self.next().ok_or(UNFINISHED)? {
                ']' => break,
                c => {
                    let first = self.class_item(c)?;
                    self.range(first, &mut body)?;
                }
            }
        }
        match (negated, body.is_empty()) {
            (false, true) => self.emit(NOTHING),
            (true, true) => self.emit("(?s:.)"),
            (false, false) => self.emit(&format!("[{body}]")),
            (true, false) => self.emit(&format!("[^{body}]")),
        }
    }

    fn class_item(&mut self, c: char) -> Result<PatternItem, Flaw> {
        if c != '\\' {
            return Ok(PatternItem::One(c));
        }
        match self.next().ok_or(UNFINISHED)? {
            'b' => Ok(PatternItem::One('\u{8}')),
            'k' if !self.flags.unicode => Ok(PatternItem::One('k')),
            c @ ('8' | '9') if !self.flags.unicode => Ok(PatternItem::One(c)),
            c => self.class_escape(c),
        }
    }

    /// Parses the rest of a range that begins with `first`, or adds `first` alone.
    fn range(&mut self, first: PatternItem, body: &mut String) -> Result<(), Flaw> {
        let is_range =
            self.peek() == Some('-') && self.chars.get(self.at + 1).is_some_and(|c| *c != ']');
        if !is_range {
            self.member(first, body);
            return Ok(());
        }
        self.at += 1;
        let c = self.next().ok_or(UNFINISHED)?;
        let last = self.class_item(c)?;
        match (first, last) {
            (PatternItem::One(first), PatternItem::One(last)) if first <= last => {
                push_escaped(body, first);
                body.push('-');
                push_escaped(body, last);
                if self.flags.ignore_case && !self.flags.unicode {
                    case::kin_of_range(first, last).for_each(|c| push_escaped(body, c));
                }
                Ok(())
            }
            (PatternItem::One(first), PatternItem::One(last)) => {
                Err(Flaw(format!("the range {first}-{last} is empty")))
            }
            (first, last) if !self.flags.unicode => {
                self.member(first, body);
                push_escaped(body, '-');
                self.member(last, body);
                Ok(())
            }
            _ => Err("with flag u, a range cannot end with a character class".into()),
        }
    }

    fn member(&self, item: PatternItem, body: &mut String) {
        match item {
            PatternItem::One(c) => {
                push_escaped(body, c);
                if self.flags.ignore_case && !self.flags.unicode {
                    case::kin(c).iter().for_each(|c| push_escaped(body, *c));
                }
            }
            PatternItem::Set(set) => body.push_str(&set),
            PatternItem::Never => body.push_str(NOTHING),
        }
    }
}
