//! Key files and sealed files through the crate's interface, in memory, and a folder that another
//! program reads and writes.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod folder;
mod hostile_key_files;
mod key_files;
mod passphrases;
mod sealed_files;
mod world;

/// Cases of a property: all of them with `cargo xtask test --all-rounds`, a tenth otherwise.
fn rounds(all: u32) -> u32 {
    if std::env::var_os("INGLENOOK_ALL_ROUNDS").is_some() {
        all
    } else {
        all / 10
    }
}
