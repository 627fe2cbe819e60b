//! The facts about one file that the counters need, as plain data.

use crate::house::code::conversions::Conversions;
use crate::house::code::definitions::Definitions;
use crate::house::code::functions::{self, FunctionSize};
use crate::house::code::production;
use crate::house::code::shapes::{self, Shape};
use crate::house::uses::calls::{self, Call};
use crate::house::uses::modules::{self, ModuleNames};

/// A parsed file of production code. Syntax trees cannot leave the thread that parsed them.
pub(crate) struct ParsedFile {
    pub(crate) functions: Vec<FunctionSize>,
    pub(crate) shapes: Vec<Shape>,
    pub(crate) definitions: Definitions,
    /// The file's own module first.
    pub(crate) modules: Vec<ModuleNames>,
    pub(crate) calls: Vec<Call>,
    pub(crate) conversions: Conversions,
    /// Modules that are only built for tests, relative to the file's own module.
    pub(crate) test_modules: Vec<Vec<String>>,
}

impl ParsedFile {
    /// # Errors
    /// The text is not Rust code.
    pub(crate) fn parse(text: &str) -> syn::Result<Self> {
        let mut file = syn::parse_file(text)?;
        let test_modules = production::remove_tests(&mut file.items);
        Ok(Self {
            functions: functions::functions(&file),
            shapes: shapes::shapes(&file),
            definitions: Definitions::of(&file),
            modules: modules::modules(&file),
            calls: calls::calls(&file),
            conversions: Conversions::in_text(text),
            test_modules,
        })
    }
}
