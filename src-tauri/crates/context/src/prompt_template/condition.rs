//! The expression language of conditions: `hasEpisodes && !(mode == "study" || episodes.size > 2)`.

use std::cmp::Ordering;

use super::flags::{Flag, TemplateFlags};
use crate::prompt_template::variables;
use crate::prompt_template::variables::TemplateVariables;

/// Maximum length of a condition in bytes.
const MAX_LENGTH: usize = 1_000;
/// Maximum nesting depth of parentheses and `!`.
const MAX_DEPTH: usize = 30;

/// A condition cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConditionError {
    #[error("the condition is longer than {MAX_LENGTH} bytes; split the section")]
    TooLong,
    #[error("the condition is nested deeper than {MAX_DEPTH}; use fewer parentheses")]
    TooDeep,
    #[error("the condition ends too early; expected {expected}")]
    Ends { expected: &'static str },
    #[error("expected {expected}, found `{found}`")]
    Unexpected {
        found: String,
        expected: &'static str,
    },
    #[error("`{name}` is neither a flag nor a variable; quote it if it is a text")]
    Unknown { name: String },
    #[error("`{name}` is not a list, so it has no size")]
    NoList { name: String },
}

/// A parsed condition.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Condition {
    Operand(Operand),
    Not(Box<Condition>),
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Compare(Operand, Comparison, Operand),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Operand {
    Flag(Flag),
    Variable(String),
    Size(String),
    Text(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Condition {
    pub(super) fn holds(&self, variables: &TemplateVariables, flags: &TemplateFlags) -> bool {
        match self {
            Self::Operand(operand) => operand.is_true(variables, flags),
            Self::Not(inner) => !inner.holds(variables, flags),
            Self::All(parts) => parts.iter().all(|part| part.holds(variables, flags)),
            Self::Any(parts) => parts.iter().any(|part| part.holds(variables, flags)),
            Self::Compare(left, comparison, right) => {
                comparison.holds(&left.text(variables, flags), &right.text(variables, flags))
            }
        }
    }
}

impl Condition {
    /// All flags and variables in it.
    pub(super) fn operands(&self) -> Vec<&Operand> {
        match self {
            Self::Operand(operand) => vec![operand],
            Self::Not(inner) => inner.operands(),
            Self::All(parts) | Self::Any(parts) => parts.iter().flat_map(Self::operands).collect(),
            Self::Compare(left, _, right) => vec![left, right],
        }
    }
}

impl Operand {
    fn is_true(&self, variables: &TemplateVariables, flags: &TemplateFlags) -> bool {
        match self {
            Self::Flag(flag) => flags.has(*flag),
            Self::Variable(name) => variables.is_true(name),
            Self::Size(name) => variables.size(name).is_some_and(|size| size > 0),
            Self::Text(text) => variables::is_true(text),
        }
    }

    fn text(&self, variables: &TemplateVariables, flags: &TemplateFlags) -> String {
        match self {
            Self::Flag(flag) => flags.has(*flag).to_string(),
            Self::Variable(name) => variables.text(name).unwrap_or_default().trim().to_owned(),
            Self::Size(name) => variables.size(name).unwrap_or_default().to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}

impl Comparison {
    /// Numbers compare numerically. Texts compare for equality only, ignoring case.
    fn holds(self, left: &str, right: &str) -> bool {
        let order = match (left.parse::<f64>(), right.parse::<f64>()) {
            (Ok(left), Ok(right)) => left.partial_cmp(&right),
            _ if left.to_lowercase() == right.to_lowercase() => Some(Ordering::Equal),
            _ => None,
        };
        match self {
            Self::Equal => order == Some(Ordering::Equal),
            Self::Unequal => order != Some(Ordering::Equal),
            Self::Less => order == Some(Ordering::Less),
            Self::LessOrEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
            Self::Greater => order == Some(Ordering::Greater),
            Self::GreaterOrEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        }
    }
}

/// Parses `text`. `own` returns true for variables defined by the template.
pub(super) fn parse(text: &str, own: &dyn Fn(&str) -> bool) -> Result<Condition, ConditionError> {
    if text.len() > MAX_LENGTH {
        return Err(ConditionError::TooLong);
    }
    let mut parser = ConditionParser {
        tokens: tokens(text)?,
        at: 0,
        own,
    };
    let condition = parser.any(0)?;
    match parser.peek() {
        None => Ok(condition),
        Some(token) => Err(token.unexpected("`&&`, `||` or the end")),
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Name(String),
    Text(String),
    Sign(&'static str),
}

impl Token {
    fn unexpected(&self, expected: &'static str) -> ConditionError {
        let found = match self {
            Self::Name(found) | Self::Text(found) => found.clone(),
            Self::Sign(found) => (*found).to_owned(),
        };
        ConditionError::Unexpected { found, expected }
    }
}

/// Longer signs first.
const SIGNS: [&str; 11] = ["&&", "||", "==", "!=", "<=", ">=", "<", ">", "!", "(", ")"];

fn tokens(text: &str) -> Result<Vec<Token>, ConditionError> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
            tokens.push(Token::Sign(sign));
            sign.len()
        } else if matches!(first, '"' | '\'') {
            let inner = &rest[1..];
            let end = inner.find(first).ok_or(ConditionError::Ends {
                expected: "the closing quote",
            })?;
            tokens.push(Token::Text(inner[..end].to_owned()));
            end + 2
        } else {
            let end = rest
                .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_')))
                .unwrap_or(rest.len());
            if end == 0 {
                return Err(ConditionError::Unexpected {
                    found: first.into(),
                    expected: "a name",
                });
            }
            let word = rest[..end].to_owned();
            tokens.push(if first.is_ascii_digit() {
                Token::Text(word)
            } else {
                Token::Name(word)
            });
            end
        };
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

struct ConditionParser<'p> {
    tokens: Vec<Token>,
    at: usize,
    own: &'p dyn Fn(&str) -> bool,
}

impl ConditionParser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn take(&mut self, sign: &str) -> bool {
        let there = self
            .peek()
            .is_some_and(|token| matches!(token, Token::Sign(found) if *found == sign));
        self.at += usize::from(there);
        there
    }

    fn any(&mut self, depth: usize) -> Result<Condition, ConditionError> {
        let mut parts = vec![self.all(depth)?];
        while self.take("||") {
            parts.push(self.all(depth)?);
        }
        Ok(if parts.len() == 1 {
            parts.remove(0)
        } else {
            Condition::Any(parts)
        })
    }

    fn all(&mut self, depth: usize) -> Result<Condition, ConditionError> {
        let mut parts = vec![self.one(depth)?];
        while self.take("&&") {
            parts.push(self.one(depth)?);
        }
        Ok(if parts.len() == 1 {
            parts.remove(0)
        } else {
            Condition::All(parts)
        })
    }

    fn one(&mut self, depth: usize) -> Result<Condition, ConditionError> {
        if depth > MAX_DEPTH {
            return Err(ConditionError::TooDeep);
        }
        if self.take("!") {
            return Ok(Condition::Not(Box::new(self.one(depth + 1)?)));
        }
        if self.take("(") {
            let inner = self.any(depth + 1)?;
            return if self.take(")") {
                Ok(inner)
            } else {
                Err(self
                    .peek()
                    .map_or(ConditionError::Ends { expected: "`)`" }, |it| {
                        it.unexpected("`)`")
                    }))
            };
        }
        let left = self.operand()?;
        match self.comparison() {
            None => Ok(Condition::Operand(left)),
            Some(comparison) => Ok(Condition::Compare(left, comparison, self.operand()?)),
        }
    }

    fn comparison(&mut self) -> Option<Comparison> {
        let signs = [
            ("==", Comparison::Equal),
            ("!=", Comparison::Unequal),
            ("<=", Comparison::LessOrEqual),
            (">=", Comparison::GreaterOrEqual),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
        ];
        signs
            .into_iter()
            .find(|(sign, _)| self.take(sign))
            .map(|(_, comparison)| comparison)
    }

    fn operand(&mut self) -> Result<Operand, ConditionError> {
        let expected = "a flag, a variable, a number or a quoted text";
        let token = self
            .peek()
            .cloned()
            .ok_or(ConditionError::Ends { expected })?;
        self.at += 1;
        match token {
            Token::Text(text) => Ok(Operand::Text(text)),
            Token::Sign(_) => Err(token.unexpected(expected)),
            Token::Name(name) if matches!(name.as_str(), "true" | "false") => {
                Ok(Operand::Text(name))
            }
            Token::Name(name) => self.named(name),
        }
    }

    fn named(&self, name: String) -> Result<Operand, ConditionError> {
        if let Some(flag) = Flag::parse(&name) {
            return Ok(Operand::Flag(flag));
        }
        if (self.own)(&name) || variables::known(&name) {
            return Ok(Operand::Variable(name));
        }
        match name.strip_suffix(".size") {
            Some(list) if variables::is_list(list) => Ok(Operand::Size(list.to_owned())),
            Some(text) if variables::known(text) => Err(ConditionError::NoList {
                name: text.to_owned(),
            }),
            _ => Err(ConditionError::Unknown { name }),
        }
    }
}

#[cfg(test)]
mod tests;
