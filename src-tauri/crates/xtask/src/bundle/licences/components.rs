//! Everything in the packages that is not ours: crates, npm packages, code inside them, models, data.

use super::component::Component;
use super::{bundled_data, cargo_packages, mingw, npm_packages};
use anyhow::Result;

/// Lists all components of the packages for the target triple `target`, in the order of their
/// labels.
///
/// # Errors
/// Cargo or npm has not fetched a package, or a list cannot be read.
pub(crate) fn gather(target: &str) -> Result<Vec<Component>> {
    let mut components = cargo_packages::packages(target)?;
    components.extend(npm_packages::packages()?);
    components.extend(bundled_data::models()?);
    components.push(bundled_data::encodings());
    if target.ends_with("windows-gnu") {
        components.extend(mingw::libraries());
    }
    components.sort_by_cached_key(Component::label);
    Ok(components)
}
