//! Our Rust code as plain data. Syntax trees stay in the threads that parse them.

pub(crate) mod conversions;
pub(crate) mod definitions;
pub(crate) mod functions;
pub(crate) mod parsed;
pub(crate) mod production;
pub(crate) mod shapes;
pub(crate) mod source;
