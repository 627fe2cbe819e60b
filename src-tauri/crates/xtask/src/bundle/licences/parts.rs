//! Code inside crates that has other authors and another licence.

use super::component::Component;
use anyhow::{Result, bail};
use std::path::Path;

struct Part {
    package: &'static str,
    name: &'static str,
    licence: &'static str,
    licence_of: LicenceOf,
}

/// The place of the licence of a part.
enum LicenceOf {
    /// Files in the crate.
    Files(&'static [&'static str]),
    /// The source itself, which names these authors.
    Source(&'static str),
}

use LicenceOf::{Files, Source};

const LLAMA: &str = "llama-cpp-sys-2";
const RING: &str = "ring";
const SQLITE: &str = "sqlite3mc-src";

const PARTS: [Part; 21] = [
    part(LLAMA, "llama.cpp", "MIT", Files(&["llama.cpp/LICENSE"])),
    part(
        LLAMA,
        "cpp-httplib",
        "MIT",
        Files(&["llama.cpp/vendor/cpp-httplib/LICENSE"]),
    ),
    part(
        LLAMA,
        "rotate-bits",
        "MIT",
        Files(&["llama.cpp/vendor/hash/rotate-bits/LICENSE.md"]),
    ),
    part(
        LLAMA,
        "sha256",
        "LicenseRef-public-domain",
        Files(&["llama.cpp/vendor/hash/sha256/LICENSE"]),
    ),
    part(
        LLAMA,
        "xxHash",
        "BSD-2-Clause",
        Files(&["llama.cpp/vendor/hash/xxhash/LICENSE"]),
    ),
    part(
        LLAMA,
        "sha1",
        "LicenseRef-public-domain",
        Source("Steve Reid"),
    ),
    part(LLAMA, "nlohmann/json", "MIT", Source("Niels Lohmann")),
    part(
        LLAMA,
        "stb_image",
        "MIT OR Unlicense",
        Source("Sean Barrett"),
    ),
    part(
        LLAMA,
        "miniaudio",
        "Unlicense OR MIT-0",
        Source("David Reid"),
    ),
    part(LLAMA, "subprocess.h", "Unlicense", Source("Neil Henning")),
    part(
        LLAMA,
        "llamafile sgemm",
        "MIT",
        Source("Mozilla Foundation"),
    ),
    part(
        LLAMA,
        "YaRN",
        "MIT",
        Source("Jeffrey Quesnelle and Bowen Peng"),
    ),
    part(
        RING,
        "fiat-crypto",
        "Apache-2.0",
        Files(&["third_party/fiat/LICENSE"]),
    ),
    part(
        RING,
        "once_cell",
        "MIT OR Apache-2.0",
        Files(&[
            "src/polyfill/once_cell/LICENSE-APACHE",
            "src/polyfill/once_cell/LICENSE-MIT",
        ]),
    ),
    part(
        "rust-stemmers",
        "Snowball",
        "BSD-3-Clause",
        Files(&["algorithms/LICENSE"]),
    ),
    part(
        "regex-syntax",
        "Unicode data",
        "Unicode-DFS-2016",
        Files(&["src/unicode_tables/LICENSE-UNICODE"]),
    ),
    part(
        SQLITE,
        "SQLite",
        "blessing",
        Source("the SQLite authors, who dedicate it to the public domain"),
    ),
    part(
        SQLITE,
        "SQLite3 Multiple Ciphers",
        "MIT",
        Files(&["sqlite3mc/LICENSE"]),
    ),
    part(
        SQLITE,
        "ChaCha20-Poly1305 of libsodium",
        "ISC",
        Source("Frank Denis"),
    ),
    part(SQLITE, "SHA-2", "BSD-3-Clause", Source("Olivier Gay")),
    part(
        SQLITE,
        "fastpbkdf2",
        "CC0-1.0",
        Source("Joseph Birr-Pixton"),
    ),
];

const fn part(
    package: &'static str,
    name: &'static str,
    licence: &'static str,
    licence_of: LicenceOf,
) -> Part {
    Part {
        package,
        name,
        licence,
        licence_of,
    }
}

/// Lists the parts of `package`, whose source is in `folder`.
///
/// # Errors
/// A licence file is no longer where it was.
pub(super) fn of(package: &Component, folder: &Path) -> Result<Vec<Component>> {
    let parts = PARTS.iter().filter(|part| part.package == package.name);
    parts
        .map(|part| part.component(&package.label(), folder))
        .collect()
}

impl Part {
    fn component(&self, package: &str, folder: &Path) -> Result<Component> {
        let mut component = Component {
            part_of: Some(package.to_owned()),
            licence: Some(self.licence.to_owned()),
            ..Component::library(self.name)
        };
        match self.licence_of {
            Files(files) => {
                component.licence_files = files.iter().map(|file| folder.join(file)).collect();
            }
            Source(authors) => component.authors = vec![authors.to_owned()],
        }
        if let Some(file) = component.licence_files.iter().find(|file| !file.is_file()) {
            bail!(
                "the licence {} of {} is gone; correct the list in xtask/src/bundle/licences/parts.rs",
                file.display(),
                self.name
            );
        }
        Ok(component)
    }
}
