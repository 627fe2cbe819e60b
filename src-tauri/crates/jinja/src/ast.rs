//! Syntax tree of a template.

use std::sync::Arc;

pub(crate) type Name = Arc<str>;

pub(crate) enum Stmt {
    Text(String),
    Emit(Expr),
    /// Conditions with their bodies, tried in order, and the `else`.
    If(Vec<(Expr, Vec<Stmt>)>, Vec<Stmt>),
    For(Arc<For>),
    Set(AssignTarget, Expr),
    /// `{% set x | filter %}…{% endset %}`
    Capture(AssignTarget, Vec<Filter>, Vec<Stmt>),
    Macro(Arc<Macro>),
    /// `{% call(a) f(b) %}…{% endcall %}`: the parameters, the call and the body.
    Call(Box<CallBlock>),
    /// `{% filter f %}…{% endfilter %}`
    Filtered(Vec<Filter>, Vec<Stmt>),
    With(Vec<(AssignTarget, Expr)>, Vec<Stmt>),
    /// A block that has no effect here: `generation`, `block`, `autoescape`.
    Plain(Vec<Stmt>),
    Break,
    Continue,
}

pub(crate) struct For {
    pub(crate) target: AssignTarget,
    pub(crate) items: Expr,
    pub(crate) condition: Option<Expr>,
    /// `loop(items)` runs the loop for other items.
    pub(crate) recursive: bool,
    pub(crate) body: Vec<Stmt>,
    pub(crate) otherwise: Vec<Stmt>,
}

pub(crate) enum AssignTarget {
    Name(Name),
    /// `ns.field`
    Field(Name, Name),
    Several(Vec<AssignTarget>),
}

pub(crate) type Params = Vec<(Name, Option<Expr>)>;

#[derive(Clone)]
pub(crate) struct Macro {
    pub(crate) name: Name,
    pub(crate) params: Arc<Params>,
    pub(crate) body: Arc<Vec<Stmt>>,
}

pub(crate) struct CallBlock {
    pub(crate) caller: Macro,
    pub(crate) callee: Expr,
    pub(crate) args: Args,
}

/// An expression and the height of its tree.
pub(crate) struct Expr {
    pub(crate) node: Box<Node>,
    pub(crate) height: u16,
}

pub(crate) enum Node {
    Name(Name),
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    List(Vec<Expr>),
    Tuple(Vec<Expr>),
    Map(Vec<(Expr, Expr)>),
    Not(Expr),
    Negative(Expr),
    And(Expr, Expr),
    Or(Expr, Expr),
    Binary(Op, Expr, Expr),
    /// `a ~ b ~ c`
    Concat(Vec<Expr>),
    /// `a < b <= c`
    Compare(Expr, Vec<(ComparisonOp, Expr)>),
    /// Condition, then, else.
    Choice(Expr, Expr, Option<Expr>),
    Field(Expr, Name),
    Item(Expr, Expr),
    Slice(Expr, [Option<Expr>; 3]),
    Filter(Expr, Filter),
    Test(Expr, Filter),
    Call(Expr, Args),
}

/// The name and arguments of a filter or test.
pub(crate) struct Filter {
    pub(crate) name: Name,
    pub(crate) args: Args,
}

#[derive(Default)]
pub(crate) struct Args {
    pub(crate) positional: Vec<Expr>,
    pub(crate) named: Vec<(Name, Expr)>,
    /// `*list`
    pub(crate) spread: Vec<Expr>,
    /// `**map`
    pub(crate) named_spread: Vec<Expr>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Op {
    Add,
    Sub,
    Mul,
    Div,
    FloorDiv,
    Rem,
    Pow,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ComparisonOp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    In,
    NotIn,
}
