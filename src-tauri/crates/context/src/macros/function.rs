//! Types of the functions that implement macros.

use crate::macros::run::MacroRun;
use crate::macros::scope::MacroScope;
use std::borrow::Cow;

/// Reads a value from the scope.
pub(super) type ReadValue = for<'s> fn(&'s MacroScope<'_>) -> Cow<'s, str>;

/// Reads a value that may be absent from the scope.
pub(super) type ReadOptional = for<'s> fn(&'s MacroScope<'_>) -> Option<Cow<'s, str>>;

/// Reads a text of the card from the scope.
pub(super) type ReadText = for<'s> fn(&MacroScope<'s>) -> &'s str;

/// Runs on resolved arguments. `None` means that the arguments are invalid; the macro then stays as
/// text.
pub(super) type Run = fn(&mut MacroRun<'_>, &[String]) -> Option<String>;

/// Name, minimum and maximum number of arguments, implementation.
pub(super) type Function = (&'static str, usize, usize, Run);
