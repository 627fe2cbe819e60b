//! Parses statements. The nesting depth is limited here, so that neither evaluating nor dropping
//! the tree can overflow the stack.

use std::sync::Arc;

use super::ast::{AssignTarget, CallBlock, Filter, For, Macro, Name, Node, Params, Stmt};
use super::expression::variable;
use super::lex::{Tok, Token, lex};

/// Maximum nesting depth of statements.
const NESTING: usize = 40;

/// The source is not valid Jinja, or uses an unsupported feature.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct SyntaxError {
    pub line: usize,
    pub what: String,
}

/// Parses a template.
pub(crate) fn parse(source: &str) -> Result<Vec<Stmt>, SyntaxError> {
    let tokens = lex(source)?;
    let mut parser = Parser {
        tokens: &tokens,
        at: 0,
        nesting: 0,
        in_loop: false,
        depth: 0,
    };
    let (body, _) = parser.body(&[])?;
    Ok(body)
}

pub(super) struct Parser<'t> {
    tokens: &'t [Token],
    at: usize,
    nesting: usize,
    in_loop: bool,
    /// Recursion depth in the current expression.
    pub(super) depth: u16,
}

impl Parser<'_> {
    pub(super) fn error<T>(&self, what: impl Into<String>) -> Result<T, SyntaxError> {
        let token = self.tokens.get(self.at).or(self.tokens.last());
        Err(SyntaxError {
            line: token.map_or(1, |token| token.line),
            what: what.into().chars().take(300).collect(),
        })
    }

    pub(super) fn peek(&self) -> Option<&Tok> {
        self.tokens.get(self.at).map(|token| &token.tok)
    }

    pub(super) fn next(&mut self) -> Option<Tok> {
        let tok = self.peek().cloned();
        self.at += 1;
        tok
    }

    pub(super) fn at_op(&self, op: &str) -> bool {
        matches!(self.peek(), Some(Tok::Op(found)) if *found == op)
    }

    pub(super) fn at_name(&self, name: &str) -> bool {
        matches!(self.peek(), Some(Tok::Name(found)) if found == name)
    }

    pub(super) fn skip_op(&mut self, op: &str) -> bool {
        let there = self.at_op(op);
        self.at += usize::from(there);
        there
    }

    pub(super) fn skip_name(&mut self, name: &str) -> bool {
        let there = self.at_name(name);
        self.at += usize::from(there);
        there
    }

    pub(super) fn expect_op(&mut self, op: &str) -> Result<(), SyntaxError> {
        if self.skip_op(op) {
            Ok(())
        } else {
            self.error(format!("`{op}` is missing"))
        }
    }

    pub(super) fn name(&mut self) -> Result<Name, SyntaxError> {
        match self.next() {
            Some(Tok::Name(name)) => Ok(Arc::from(name)),
            _ => {
                self.at -= 1;
                self.error("a name is missing")
            }
        }
    }

    fn end(&mut self) -> Result<(), SyntaxError> {
        match self.next() {
            Some(Tok::End) => Ok(()),
            _ => {
                self.at -= 1;
                self.error("unexpected content before the end of the tag")
            }
        }
    }

    /// Parses statements up to a tag named in `ends` and returns its name. The rest of that tag is
    /// not parsed yet.
    fn body(&mut self, ends: &[&'static str]) -> Result<(Vec<Stmt>, &'static str), SyntaxError> {
        self.nesting += 1;
        if self.nesting > NESTING {
            return self.error("statements are nested too deeply");
        }
        let mut body = Vec::new();
        loop {
            match self.next() {
                None if ends.is_empty() => break,
                None => return self.error(format!("`{}` is missing", ends[ends.len() - 1])),
                Some(Tok::Text(text)) => body.push(Stmt::Text(text)),
                Some(Tok::Emit) => {
                    body.push(Stmt::Emit(self.tuple(true)?));
                    self.end()?;
                }
                Some(_) => {
                    let name = self.name()?;
                    if let Some(end) = ends.iter().find(|end| **end == &*name) {
                        self.nesting -= 1;
                        return Ok((body, end));
                    }
                    body.push(self.statement(&name)?);
                }
            }
        }
        self.nesting -= 1;
        Ok((body, ""))
    }

    /// Parses a body up to and including its end tag.
    fn block(&mut self, end: &'static str) -> Result<Vec<Stmt>, SyntaxError> {
        self.end()?;
        let (body, _) = self.body(&[end])?;
        if end == "endblock" && matches!(self.peek(), Some(Tok::Name(_))) {
            self.at += 1;
        }
        self.end()?;
        Ok(body)
    }

    fn statement(&mut self, name: &str) -> Result<Stmt, SyntaxError> {
        match name {
            "if" => self.conditions(),
            "for" => self.repetition(),
            "set" => self.assignment(),
            "macro" => self.definition(),
            "call" => self.call_block(),
            "with" => self.with(),
            "filter" => Ok(Stmt::Filtered(self.filters()?, self.block("endfilter")?)),
            "generation" => Ok(Stmt::Plain(self.block("endgeneration")?)),
            "block" => {
                self.name()?;
                Ok(Stmt::Plain(self.block("endblock")?))
            }
            "autoescape" => {
                self.expression()?;
                Ok(Stmt::Plain(self.block("endautoescape")?))
            }
            "break" if self.in_loop => self.closed(|_| Ok(Stmt::Break)),
            "continue" if self.in_loop => self.closed(|_| Ok(Stmt::Continue)),
            other => self.error(format!("`{other}` is not supported in chat templates")),
        }
    }

    /// Parses a statement with `read`, then the end of the tag.
    fn closed(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<Stmt, SyntaxError>,
    ) -> Result<Stmt, SyntaxError> {
        let statement = read(self)?;
        self.end()?;
        Ok(statement)
    }

    fn conditions(&mut self) -> Result<Stmt, SyntaxError> {
        let mut branches = Vec::new();
        loop {
            let condition = self.tuple(true)?;
            self.end()?;
            let (body, end) = self.body(&["elif", "else", "endif"])?;
            branches.push((condition, body));
            match end {
                "elif" => {}
                "else" => return Ok(Stmt::If(branches, self.block("endif")?)),
                _ => {
                    self.end()?;
                    return Ok(Stmt::If(branches, Vec::new()));
                }
            }
        }
    }

    fn repetition(&mut self) -> Result<Stmt, SyntaxError> {
        let target = self.target()?;
        if !self.skip_name("in") {
            return self.error("`in` is missing");
        }
        let items = self.tuple(false)?;
        let condition = if self.skip_name("if") {
            Some(self.expression()?)
        } else {
            None
        };
        let recursive = self.skip_name("recursive");
        self.end()?;
        let outer = std::mem::replace(&mut self.in_loop, true);
        let (body, end) = self.body(&["else", "endfor"])?;
        self.in_loop = outer;
        let otherwise = if end == "else" {
            self.block("endfor")?
        } else {
            self.end()?;
            Vec::new()
        };
        Ok(Stmt::For(Arc::new(For {
            target,
            items,
            condition,
            recursive,
            body,
            otherwise,
        })))
    }

    fn target(&mut self) -> Result<AssignTarget, SyntaxError> {
        let first = self.one_target()?;
        if !self.at_op(",") {
            return Ok(first);
        }
        let mut several = vec![first];
        while self.skip_op(",") {
            several.push(self.one_target()?);
        }
        Ok(AssignTarget::Several(several))
    }

    fn one_target(&mut self) -> Result<AssignTarget, SyntaxError> {
        if self.skip_op("(") {
            self.depth += 1;
            if self.depth > 8 {
                return self.error("names are nested too deeply");
            }
            let inner = self.target()?;
            self.depth -= 1;
            self.expect_op(")")?;
            return Ok(inner);
        }
        let name = self.name()?;
        if !variable(&name) {
            return self.error(format!("`{name}` cannot be set"));
        }
        if self.skip_op(".") {
            Ok(AssignTarget::Field(name, self.name()?))
        } else {
            Ok(AssignTarget::Name(name))
        }
    }

    fn assignment(&mut self) -> Result<Stmt, SyntaxError> {
        let target = self.target()?;
        if self.skip_op("=") {
            return self.closed(|parser| Ok(Stmt::Set(target, parser.tuple(true)?)));
        }
        let filters = if self.skip_op("|") {
            self.filters()?
        } else {
            Vec::new()
        };
        Ok(Stmt::Capture(target, filters, self.block("endset")?))
    }

    /// Parses a filter chain; the first filter has no `|` before it.
    fn filters(&mut self) -> Result<Vec<Filter>, SyntaxError> {
        let mut filters = vec![self.filter_call()?];
        while self.skip_op("|") {
            filters.push(self.filter_call()?);
        }
        Ok(filters)
    }

    fn definition(&mut self) -> Result<Stmt, SyntaxError> {
        let name = self.name()?;
        self.expect_op("(")?;
        let params = self.params()?;
        let body = self.own_block("endmacro")?;
        Ok(Stmt::Macro(Arc::new(Macro {
            name,
            params: Arc::new(params),
            body: Arc::new(body),
        })))
    }

    /// A body whose loops are its own.
    fn own_block(&mut self, end: &'static str) -> Result<Vec<Stmt>, SyntaxError> {
        let outer = std::mem::replace(&mut self.in_loop, false);
        let body = self.block(end)?;
        self.in_loop = outer;
        Ok(body)
    }

    fn call_block(&mut self) -> Result<Stmt, SyntaxError> {
        let params = if self.skip_op("(") {
            self.params()?
        } else {
            Vec::new()
        };
        let Node::Call(callee, args) = *self.expression()?.node else {
            return self.error("`call` needs the call of a macro");
        };
        let body = Arc::new(self.own_block("endcall")?);
        let caller = Macro {
            name: Arc::from("caller"),
            params: Arc::new(params),
            body,
        };
        Ok(Stmt::Call(Box::new(CallBlock {
            caller,
            callee,
            args,
        })))
    }

    /// Parameters up to the closing parenthesis.
    fn params(&mut self) -> Result<Params, SyntaxError> {
        let mut params = Vec::new();
        while !self.skip_op(")") {
            if !params.is_empty() {
                self.expect_op(",")?;
                if self.skip_op(")") {
                    break;
                }
            }
            let param = self.name()?;
            let default = if self.skip_op("=") {
                Some(self.expression()?)
            } else {
                None
            };
            params.push((param, default));
        }
        Ok(params)
    }

    fn with(&mut self) -> Result<Stmt, SyntaxError> {
        let mut names = Vec::new();
        while self.peek() != Some(&Tok::End) {
            if !names.is_empty() {
                self.expect_op(",")?;
            }
            let target = self.one_target()?;
            self.expect_op("=")?;
            names.push((target, self.expression()?));
        }
        Ok(Stmt::With(names, self.block("endwith")?))
    }
}
