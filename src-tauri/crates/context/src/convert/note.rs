//! Notes about what a conversion changes or leaves out.

/// A field that was not converted exactly.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ConversionNote {
    pub field: String,
    pub what: String,
}

impl ConversionNote {
    pub(super) fn new(field: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            what: what.into(),
        }
    }
}
