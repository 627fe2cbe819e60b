//! Parses expressions with Jinja's operator precedence.

mod height;

use std::sync::Arc;

use self::height::tallest;
use super::ast::{Args, ComparisonOp, Expr, Filter, Node, Op};
use super::lex::Tok;
use super::parse::{Parser, SyntaxError};

/// Maximum height of an expression tree, including long operator chains.
const HEIGHT: u16 = 60;

/// True for a name that is neither a literal nor an operator keyword.
pub(super) fn variable(name: &str) -> bool {
    !matches!(
        name,
        "true"
            | "false"
            | "none"
            | "True"
            | "False"
            | "None"
            | "and"
            | "or"
            | "not"
            | "if"
            | "else"
            | "in"
            | "is"
    )
}

type ParsedExpr = Result<Expr, SyntaxError>;

impl Parser<'_> {
    fn made(&self, node: Node) -> ParsedExpr {
        let height = 1 + tallest(&node);
        if height > HEIGHT {
            return self.error("the expression is too long or nested too deeply");
        }
        Ok(Expr {
            node: Box::new(node),
            height,
        })
    }

    /// Parses an expression or a tuple. Without `choice`, `a if b` is allowed in brackets only,
    /// because the `if` of a loop may follow.
    pub(super) fn tuple(&mut self, choice: bool) -> ParsedExpr {
        let first = if choice {
            self.expression()?
        } else {
            self.guarded(Self::or)?
        };
        if !self.at_op(",") {
            return Ok(first);
        }
        let mut items = vec![first];
        while self.skip_op(",") {
            if matches!(self.peek(), Some(Tok::End) | None) || self.at_op(")") {
                break;
            }
            items.push(if choice {
                self.expression()?
            } else {
                self.guarded(Self::or)?
            });
        }
        self.made(Node::Tuple(items))
    }

    pub(super) fn expression(&mut self) -> ParsedExpr {
        self.guarded(Self::choice)
    }

    /// Parses with a limit on the recursion depth.
    fn guarded(&mut self, read: impl FnOnce(&mut Self) -> ParsedExpr) -> ParsedExpr {
        self.depth += 1;
        if self.depth > HEIGHT {
            return self.error("expressions are nested too deeply");
        }
        let expr = read(self)?;
        self.depth -= 1;
        Ok(expr)
    }

    fn choice(&mut self) -> ParsedExpr {
        let mut expr = self.or()?;
        while self.skip_name("if") {
            let condition = self.or()?;
            let otherwise = if self.skip_name("else") {
                Some(self.expression()?)
            } else {
                None
            };
            expr = self.made(Node::Choice(condition, expr, otherwise))?;
        }
        Ok(expr)
    }

    fn or(&mut self) -> ParsedExpr {
        let mut left = self.and()?;
        while self.skip_name("or") {
            let right = self.and()?;
            left = self.made(Node::Or(left, right))?;
        }
        Ok(left)
    }

    fn and(&mut self) -> ParsedExpr {
        let mut left = self.not()?;
        while self.skip_name("and") {
            let right = self.not()?;
            left = self.made(Node::And(left, right))?;
        }
        Ok(left)
    }

    fn not(&mut self) -> ParsedExpr {
        if self.skip_name("not") {
            let inner = self.guarded(Self::not)?;
            return self.made(Node::Not(inner));
        }
        self.compare()
    }

    fn compare(&mut self) -> ParsedExpr {
        let left = self.sum()?;
        let mut others = Vec::new();
        while let Some(comparison) = self.comparison()? {
            others.push((comparison, self.sum()?));
        }
        if others.is_empty() {
            Ok(left)
        } else {
            self.made(Node::Compare(left, others))
        }
    }

    fn comparison(&mut self) -> Result<Option<ComparisonOp>, SyntaxError> {
        let comparison = match self.peek() {
            Some(Tok::Op("==")) => ComparisonOp::Eq,
            Some(Tok::Op("!=")) => ComparisonOp::Ne,
            Some(Tok::Op("<")) => ComparisonOp::Lt,
            Some(Tok::Op("<=")) => ComparisonOp::Le,
            Some(Tok::Op(">")) => ComparisonOp::Gt,
            Some(Tok::Op(">=")) => ComparisonOp::Ge,
            Some(Tok::Name(name)) if name == "in" => ComparisonOp::In,
            Some(Tok::Name(name)) if name == "not" => {
                self.next();
                if !self.at_name("in") {
                    return self.error("`in` is missing");
                }
                ComparisonOp::NotIn
            }
            _ => return Ok(None),
        };
        self.next();
        Ok(Some(comparison))
    }

    /// Parses left-associative operators of one precedence level.
    fn chain(
        &mut self,
        ops: &[(&str, Op)],
        operand: impl Fn(&mut Self) -> ParsedExpr,
    ) -> ParsedExpr {
        let mut left = operand(self)?;
        while let Some((_, op)) = ops.iter().find(|(sign, _)| self.at_op(sign)) {
            self.next();
            let right = operand(self)?;
            left = self.made(Node::Binary(*op, left, right))?;
        }
        Ok(left)
    }

    fn sum(&mut self) -> ParsedExpr {
        self.chain(&[("+", Op::Add), ("-", Op::Sub)], Self::concat)
    }

    fn concat(&mut self) -> ParsedExpr {
        let first = self.product()?;
        if !self.at_op("~") {
            return Ok(first);
        }
        let mut texts = vec![first];
        while self.skip_op("~") {
            texts.push(self.product()?);
        }
        self.made(Node::Concat(texts))
    }

    fn product(&mut self) -> ParsedExpr {
        let ops = [
            ("*", Op::Mul),
            ("/", Op::Div),
            ("//", Op::FloorDiv),
            ("%", Op::Rem),
        ];
        self.chain(&ops, |parser| {
            parser.chain(&[("**", Op::Pow)], |parser| parser.unary(true))
        })
    }

    fn unary(&mut self, filters: bool) -> ParsedExpr {
        let expr = if self.skip_op("-") {
            let inner = self.guarded(|parser| parser.unary(false))?;
            self.made(Node::Negative(inner))?
        } else if self.skip_op("+") {
            self.guarded(|parser| parser.unary(false))?
        } else {
            self.primary()?
        };
        let expr = self.postfix(expr)?;
        if filters {
            self.filtered(expr)
        } else {
            Ok(expr)
        }
    }

    fn primary(&mut self) -> ParsedExpr {
        let node = match self.next() {
            Some(Tok::Name(name)) => match name.as_str() {
                "true" | "True" => Node::Bool(true),
                "false" | "False" => Node::Bool(false),
                "none" | "None" => Node::None,
                _ if variable(&name) => Node::Name(Arc::from(name)),
                _ => return self.error(format!("expected a value, found `{name}`")),
            },
            Some(Tok::Str(mut text)) => {
                while let Some(Tok::Str(more)) = self.peek() {
                    text.push_str(more);
                    self.next();
                }
                Node::Text(text)
            }
            Some(Tok::Int(value)) => Node::Int(value),
            Some(Tok::Float(value)) => Node::Float(value),
            Some(Tok::Op("(")) => return self.bracketed(),
            Some(Tok::Op("[")) => Node::List(self.list("]")?),
            Some(Tok::Op("{")) => self.map()?,
            _ => return self.error("a value is missing"),
        };
        self.made(node)
    }

    fn bracketed(&mut self) -> ParsedExpr {
        let expr = if self.at_op(")") {
            self.made(Node::Tuple(Vec::new()))?
        } else {
            self.tuple(true)?
        };
        self.expect_op(")")?;
        Ok(expr)
    }

    fn list(&mut self, end: &str) -> Result<Vec<Expr>, SyntaxError> {
        let mut items = Vec::new();
        while !self.skip_op(end) {
            if !items.is_empty() {
                self.expect_op(",")?;
                if self.skip_op(end) {
                    break;
                }
            }
            items.push(self.expression()?);
        }
        Ok(items)
    }

    fn map(&mut self) -> Result<Node, SyntaxError> {
        let mut entries = Vec::new();
        while !self.skip_op("}") {
            if !entries.is_empty() {
                self.expect_op(",")?;
                if self.skip_op("}") {
                    break;
                }
            }
            let key = self.expression()?;
            self.expect_op(":")?;
            entries.push((key, self.expression()?));
        }
        Ok(Node::Map(entries))
    }

    fn postfix(&mut self, mut expr: Expr) -> ParsedExpr {
        loop {
            let node = if self.skip_op(".") {
                match self.peek() {
                    Some(Tok::Int(index)) => {
                        let index = self.made(Node::Int(*index))?;
                        self.next();
                        Node::Item(expr, index)
                    }
                    _ => Node::Field(expr, self.name()?),
                }
            } else if self.skip_op("[") {
                self.subscript(expr)?
            } else if self.at_op("(") {
                Node::Call(expr, self.args()?)
            } else {
                return Ok(expr);
            };
            expr = self.made(node)?;
        }
    }

    fn subscript(&mut self, expr: Expr) -> Result<Node, SyntaxError> {
        let mut parts = [None, None, None];
        let mut place = 0;
        while !self.skip_op("]") {
            if self.skip_op(":") {
                place += 1;
                if place > 2 {
                    return self.error("a slice has three parts");
                }
            } else if parts[place].is_some() {
                return self.error("`]` is missing");
            } else {
                parts[place] = Some(self.expression()?);
            }
        }
        match (place, parts) {
            (0, [Some(index), ..]) => Ok(Node::Item(expr, index)),
            (0, _) => self.error("an index is missing"),
            (_, parts) => Ok(Node::Slice(expr, parts)),
        }
    }

    fn args(&mut self) -> Result<Args, SyntaxError> {
        self.expect_op("(")?;
        let mut args = Args::default();
        let mut first = true;
        while !self.skip_op(")") {
            if !std::mem::take(&mut first) {
                self.expect_op(",")?;
                if self.skip_op(")") {
                    break;
                }
            }
            if self.skip_op("*") {
                args.spread.push(self.expression()?);
                continue;
            }
            if self.skip_op("**") {
                args.named_spread.push(self.expression()?);
                continue;
            }
            let value = self.expression()?;
            match *value.node {
                Node::Name(name) if self.at_op("=") => {
                    self.next();
                    args.named.push((name, self.expression()?));
                }
                _ if !args.named.is_empty() => {
                    return self.error("a plain argument follows a named one");
                }
                node => args.positional.push(Expr {
                    node: Box::new(node),
                    height: value.height,
                }),
            }
        }
        Ok(args)
    }

    pub(super) fn filter_call(&mut self) -> Result<Filter, SyntaxError> {
        let name = self.name()?;
        let args = if self.at_op("(") {
            self.args()?
        } else {
            Args::default()
        };
        Ok(Filter { name, args })
    }

    fn filtered(&mut self, mut expr: Expr) -> ParsedExpr {
        loop {
            let node = if self.skip_op("|") {
                Node::Filter(expr, self.filter_call()?)
            } else if self.skip_name("is") {
                self.test(expr)?
            } else if self.at_op("(") {
                Node::Call(expr, self.args()?)
            } else {
                return Ok(expr);
            };
            expr = self.made(node)?;
        }
    }

    fn test(&mut self, expr: Expr) -> Result<Node, SyntaxError> {
        let negated = self.skip_name("not");
        let mut test = self.filter_call()?;
        let takes_operand = match self.peek() {
            Some(Tok::Name(name)) => !matches!(
                name.as_str(),
                "else" | "or" | "and" | "is" | "if" | "in" | "not"
            ),
            Some(Tok::Str(_) | Tok::Int(_) | Tok::Float(_) | Tok::Op("[" | "{")) => true,
            _ => false,
        };
        if takes_operand && test.args.positional.is_empty() && test.args.named.is_empty() {
            let operand = self.guarded(Self::primary)?;
            test.args.positional.push(self.postfix(operand)?);
        } else if self.at_name("is") {
            return self.error("tests cannot be chained");
        }
        let node = Node::Test(expr, test);
        Ok(if negated {
            Node::Not(self.made(node)?)
        } else {
            node
        })
    }
}
