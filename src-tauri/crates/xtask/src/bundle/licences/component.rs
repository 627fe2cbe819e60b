//! A crate, a package, a model or other data that is not ours.

use std::path::PathBuf;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ComponentKind {
    Library,
    Model,
    Data,
}

#[derive(Debug, Clone)]
pub(crate) struct Component {
    pub(crate) kind: ComponentKind,
    pub(crate) name: String,
    pub(crate) version: Option<String>,
    /// The package whose source contains it, such as `ring 0.17.14`.
    pub(crate) part_of: Option<String>,
    /// SPDX expression, as the package states it.
    pub(crate) licence: Option<String>,
    pub(crate) authors: Vec<String>,
    /// Package URL.
    pub(crate) purl: Option<String>,
    /// Checksum of the downloaded file, in hexadecimal.
    pub(crate) sha256: Option<String>,
    pub(crate) licence_files: Vec<PathBuf>,
}

impl Component {
    /// Returns a library of which only the name is known.
    pub(crate) fn library(name: &str) -> Self {
        Self {
            kind: ComponentKind::Library,
            name: name.to_owned(),
            version: None,
            part_of: None,
            licence: None,
            authors: Vec::new(),
            purl: None,
            sha256: None,
            licence_files: Vec::new(),
        }
    }

    /// Name with version, or with the package that contains it.
    pub(crate) fn label(&self) -> String {
        match (&self.version, &self.part_of) {
            (Some(version), _) => format!("{} {version}", self.name),
            (None, Some(package)) => format!("{} (in {package})", self.name),
            (None, None) => self.name.clone(),
        }
    }
}
