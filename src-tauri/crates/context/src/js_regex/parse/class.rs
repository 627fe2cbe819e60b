//! Character classes: the content of square brackets.

use super::{Flaw, Item, NOTHING, Parser, Term, push_escaped};
use crate::js_regex::case;

const UNFINISHED: &str = "a character class is not closed: [";

impl Parser<'_> {
    pub(super) fn class(&mut self) -> Result<Term, Flaw> {
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

    fn class_item(&mut self, c: char) -> Result<Item, Flaw> {
        if c != '\\' {
            return Ok(Item::One(c));
        }
        match self.next().ok_or(UNFINISHED)? {
            'b' => Ok(Item::One('\u{8}')),
            'k' if !self.flags.unicode => Ok(Item::One('k')),
            c @ ('8' | '9') if !self.flags.unicode => Ok(Item::One(c)),
            c => self.class_escape(c),
        }
    }

    /// Parses the rest of a range that begins with `first`, or adds `first` alone.
    fn range(&mut self, first: Item, body: &mut String) -> Result<(), Flaw> {
        let is_range = self.peek() == Some('-') && self.chars.get(self.at + 1).is_some_and(|c| *c != ']');
        if !is_range {
            self.member(first, body);
            return Ok(());
        }
        self.at += 1;
        let c = self.next().ok_or(UNFINISHED)?;
        let last = self.class_item(c)?;
        match (first, last) {
            (Item::One(first), Item::One(last)) if first <= last => {
                push_escaped(body, first);
                body.push('-');
                push_escaped(body, last);
                if self.flags.ignore_case && !self.flags.unicode {
                    case::kin_of_range(first, last).for_each(|c| push_escaped(body, c));
                }
                Ok(())
            }
            (Item::One(first), Item::One(last)) => Err(Flaw(format!("the range {first}-{last} is empty"))),
            (first, last) if !self.flags.unicode => {
                self.member(first, body);
                push_escaped(body, '-');
                self.member(last, body);
                Ok(())
            }
            _ => Err("with flag u, a range cannot end with a character class".into()),
        }
    }

    fn member(&self, item: Item, body: &mut String) {
        match item {
            Item::One(c) => {
                push_escaped(body, c);
                if self.flags.ignore_case && !self.flags.unicode {
                    case::kin(c).iter().for_each(|c| push_escaped(body, *c));
                }
            }
            Item::Set(set) => body.push_str(&set),
            Item::Never => body.push_str(NOTHING),
        }
    }
}
