//! Libraries of the MinGW compiler that the Windows packages contain.

use super::component::Component;
use std::path::PathBuf;

/// Lists the libraries, whose licences Debian's packages of the compiler contain.
pub(super) fn libraries() -> [Component; 2] {
    [
        (
            "GCC runtime libraries (libgcc, libgomp, libstdc++)",
            "GPL-3.0-or-later WITH GCC-exception-3.1",
            "gcc-mingw-w64-base",
        ),
        (
            "MinGW-w64 runtime and winpthreads",
            "MIT AND LicenseRef-public-domain",
            "mingw-w64-common",
        ),
    ]
    .map(|(name, licence, package)| {
        let text = PathBuf::from("/usr/share/doc")
            .join(package)
            .join("copyright");
        Component {
            licence: Some(licence.to_owned()),
            licence_files: Some(text)
                .filter(|text| text.is_file())
                .into_iter()
                .collect(),
            ..Component::library(name)
        }
    })
}
