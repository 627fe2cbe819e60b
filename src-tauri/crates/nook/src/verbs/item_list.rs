//! Prints a list of items: one line for each, or one JSON object.

use serde::Serialize;

use crate::failure::CommandError;
use crate::output::Output;

#[derive(Serialize)]
pub(super) struct ItemList<T> {
    pub(super) items: Vec<T>,
}

pub(super) fn lines<T: Serialize>(
    items: ItemList<T>,
    out: &Output,
    line: impl Fn(&T) -> String,
) -> Result<(), CommandError> {
    out.answer(&items, |items| {
        items.items.iter().map(line).collect::<Vec<_>>().join("\n")
    })
}
