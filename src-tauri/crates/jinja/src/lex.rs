//! Tokenizer, with the whitespace rules of chat templates: `trim_blocks` and `lstrip_blocks` are
//! on, and one newline at the end is dropped.

use super::SyntaxError;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Tok {
    Text(String),
    /// `{{`
    Emit,
    /// `{%`
    Block,
    /// `}}` or `%}`
    End,
    Name(String),
    Str(String),
    Int(i64),
    Float(f64),
    Op(&'static str),
}

/// A token and its line number.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub(crate) tok: Tok,
    pub(crate) line: usize,
}

/// Longer operators first.
const OPS: [&str; 25] = [
    "**", "//", "==", "!=", ">=", "<=", "+", "-", "*", "/", "%", "~", "<", ">", "=", "(", ")", "[",
    "]", "{", "}", ".", ",", ":", "|",
];

pub(crate) fn lex(source: &str) -> Result<Vec<Token>, SyntaxError> {
    let source = source.replace("\r\n", "\n").replace('\r', "\n");
    let source = source.strip_suffix('\n').unwrap_or(&source);
    let mut lexer = Lexer {
        source,
        at: 0,
        line: 1,
        counted: 0,
        line_starts: true,
        tokens: Vec::new(),
    };
    while lexer.at < source.len() {
        lexer.text_and_tag()?;
    }
    Ok(lexer.tokens)
}

struct Lexer<'s> {
    source: &'s str,
    at: usize,
    line: usize,
    /// Offset up to which lines are counted.
    counted: usize,
    /// True at the start of a line: at the beginning, or after a tag that consumed its newline.
    line_starts: bool,
    tokens: Vec<Token>,
}

impl<'s> Lexer<'s> {
    fn rest(&self) -> &'s str {
        &self.source[self.at..]
    }

    fn push(&mut self, tok: Tok) {
        self.line += self.source[self.counted..self.at].matches('\n').count();
        self.counted = self.at;
        self.tokens.push(Token {
            tok,
            line: self.line,
        });
    }

    fn error<T>(&mut self, what: &str) -> Result<T, SyntaxError> {
        let line = self.line + self.source[self.counted..self.at].matches('\n').count();
        Err(SyntaxError {
            line,
            what: what.to_owned(),
        })
    }

    /// Reads the text up to the next tag, and the tag.
    fn text_and_tag(&mut self) -> Result<(), SyntaxError> {
        let rest = self.rest();
        let Some(start) = next_tag(rest) else {
            self.push(Tok::Text(rest.to_owned()));
            self.at = self.source.len();
            return Ok(());
        };
        let (text, tag) = rest.split_at(start);
        let kept = self.before_tag(text, tag);
        if !kept.is_empty() {
            self.push(Tok::Text(kept.to_owned()));
        }
        self.at += start;
        match tag.as_bytes()[1] {
            b'#' => self.comment(),
            b'{' => self.tag(Tok::Emit),
            _ => match raw_start(tag) {
                Some((length, strips)) => self.raw(length, strips),
                None => self.tag(Tok::Block),
            },
        }
    }

    /// The text before `tag`, without the whitespace that the tag strips.
    fn before_tag(&self, text: &'s str, tag: &str) -> &'s str {
        match tag.as_bytes().get(2) {
            Some(b'-') => text.trim_end(),
            Some(b'+') => text,
            _ if tag.starts_with("{{") => text,
            _ => {
                let line = text.rfind('\n').map_or(0, |newline| newline + 1);
                let at_line_start = line > 0 || self.line_starts;
                if at_line_start && text[line..].trim().is_empty() {
                    &text[..line]
                } else {
                    text
                }
            }
        }
    }

    /// Moves past the end of a tag (`length` bytes) and past the whitespace that it strips.
    fn close(&mut self, length: usize, sign: Option<u8>, trims: bool) {
        self.at += length;
        let from = self.at;
        match sign {
            Some(b'-') => self.at += self.rest().len() - self.rest().trim_start().len(),
            Some(b'+') => {}
            _ if trims && self.rest().starts_with('\n') => self.at += 1,
            _ => {}
        }
        self.line_starts = self.source[from..self.at].ends_with('\n');
    }

    fn comment(&mut self) -> Result<(), SyntaxError> {
        let Some(end) = self.rest()[2..].find("#}").map(|end| end + 2) else {
            return self.error("a comment is not closed");
        };
        let sign = self.rest().as_bytes()[..end].last().copied();
        self.at += end;
        self.close(2, sign, true);
        Ok(())
    }

    fn raw(&mut self, length: usize, strips: bool) -> Result<(), SyntaxError> {
        self.close(length, strips.then_some(b'-'), false);
        let rest = self.rest();
        let mut from = 0;
        while let Some(start) = rest[from..].find("{%").map(|start| start + from) {
            if let Some((length, sign)) = raw_end(&rest[start..]) {
                let kept = self.before_tag(&rest[..start], &rest[start..]).to_owned();
                self.push(Tok::Text(kept));
                self.at += start;
                self.close(length, sign, true);
                return Ok(());
            }
            from = start + 2;
        }
        self.error("a raw block is not closed")
    }

    /// Reads the tokens of a tag.
    fn tag(&mut self, begin: Tok) -> Result<(), SyntaxError> {
        let closing = if begin == Tok::Emit { "}}" } else { "%}" };
        self.push(begin);
        self.at += 2;
        if self.rest().starts_with(['-', '+']) {
            self.at += 1;
        }
        let mut open: Vec<&str> = Vec::new();
        loop {
            let rest = self.rest();
            self.at += rest.len() - rest.trim_start().len();
            let rest = self.rest();
            if rest.is_empty() {
                return self.error("a tag is not closed");
            }
            if open.is_empty()
                && let Some((length, sign)) = tag_end(rest, closing)
            {
                self.push(Tok::End);
                self.close(length, sign, closing == "%}");
                return Ok(());
            }
            match self.token()? {
                Tok::Op(op @ ("(" | "[" | "{")) => open.push(op),
                Tok::Op(op @ (")" | "]" | "}")) => {
                    let matching = matches!(
                        (open.pop(), op),
                        (Some("("), ")") | (Some("["), "]") | (Some("{"), "}")
                    );
                    if !matching {
                        return self.error("a bracket does not match");
                    }
                }
                _ => {}
            }
        }
    }

    /// Reads one token of a tag.
    fn token(&mut self) -> Result<Tok, SyntaxError> {
        let rest = self.rest();
        let first = rest.chars().next().unwrap_or_default();
        let (tok, length) = if first.is_alphabetic() || first == '_' {
            let end = rest
                .find(|c: char| !c.is_alphanumeric() && c != '_')
                .unwrap_or(rest.len());
            (Tok::Name(rest[..end].to_owned()), end)
        } else if first.is_ascii_digit() {
            match number(rest) {
                Some(found) => found,
                None => return self.error("a number is too large"),
            }
        } else if first == '"' || first == '\'' {
            match quoted(rest, first) {
                Some(found) => found,
                None => return self.error("a text is not closed"),
            }
        } else if let Some(op) = OPS.into_iter().find(|op| rest.starts_with(op)) {
            (Tok::Op(op), op.len())
        } else {
            return self.error("unexpected character in a tag");
        };
        self.push(tok.clone());
        self.at += length;
        Ok(tok)
    }
}

fn next_tag(text: &str) -> Option<usize> {
    let mut from = 0;
    while let Some(at) = text[from..].find('{').map(|at| at + from) {
        if matches!(text.as_bytes().get(at + 1), Some(b'{' | b'%' | b'#')) {
            return Some(at);
        }
        from = at + 1;
    }
    None
}

/// The length of the end of a tag, and its whitespace sign if present.
fn tag_end(rest: &str, closing: &str) -> Option<(usize, Option<u8>)> {
    if rest.starts_with(closing) {
        return Some((2, None));
    }
    let sign = *rest.as_bytes().first()?;
    let signed = sign == b'-' || (sign == b'+' && closing == "%}");
    (signed && rest[1..].starts_with(closing)).then_some((3, Some(sign)))
}

/// The length of `{% raw %}`, and whether it strips the whitespace after it.
fn raw_start(tag: &str) -> Option<(usize, bool)> {
    let inner = tag[2..]
        .trim_start_matches(['-', '+'])
        .trim_start()
        .strip_prefix("raw")?
        .trim_start();
    let (after, strips) = match inner.strip_prefix("-%}") {
        Some(after) => (after, true),
        None => (inner.strip_prefix("%}")?, false),
    };
    Some((tag.len() - after.len(), strips))
}

fn raw_end(tag: &str) -> Option<(usize, Option<u8>)> {
    let inner = tag[2..]
        .trim_start_matches(['-', '+'])
        .trim_start()
        .strip_prefix("endraw")?
        .trim_start();
    let (length, sign) = tag_end(inner, "%}")?;
    Some((tag.len() - inner.len() + length, sign))
}

fn number(rest: &str) -> Option<(Tok, usize)> {
    let digits = |text: &str| {
        text.find(|c: char| !c.is_ascii_digit() && c != '_')
            .unwrap_or(text.len())
    };
    let whole = digits(rest);
    let mut end = whole;
    let fraction = rest[end..].strip_prefix('.').map_or(0, digits);
    if fraction > 0 {
        end += 1 + fraction;
    }
    if let Some(exponent) = rest[end..].strip_prefix(['e', 'E']) {
        let sign = usize::from(exponent.starts_with(['+', '-']));
        let length = digits(&exponent[sign..]);
        if length > 0 {
            end += 1 + sign + length;
        }
    }
    let text = rest[..end].replace('_', "");
    let tok = if end == whole {
        Tok::Int(text.parse().ok()?)
    } else {
        Tok::Float(text.parse().ok()?)
    };
    Some((tok, end))
}

/// Parses a quoted text with Python's escape sequences.
fn quoted(rest: &str, quote: char) -> Option<(Tok, usize)> {
    let mut text = String::new();
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, char)) = chars.next() {
        match char {
            _ if char == quote => return Some((Tok::Str(text), at + 1)),
            '\\' => {
                let (_, escaped) = chars.next()?;
                let mut hex = |length: usize| {
                    let digits: String = chars
                        .by_ref()
                        .take(length)
                        .map(|(_, digit)| digit)
                        .collect();
                    u32::from_str_radix(&digits, 16)
                        .ok()
                        .and_then(char::from_u32)
                };
                match escaped {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    'r' => text.push('\r'),
                    'a' => text.push('\x07'),
                    'b' => text.push('\x08'),
                    'f' => text.push('\x0c'),
                    'v' => text.push('\x0b'),
                    '0' => text.push('\0'),
                    '\n' => {}
                    '\\' | '\'' | '"' => text.push(escaped),
                    'x' => text.push(hex(2)?),
                    'u' => text.push(hex(4)?),
                    'U' => text.push(hex(8)?),
                    other => text.extend(['\\', other]),
                }
            }
            _ => text.push(char),
        }
    }
    None
}
