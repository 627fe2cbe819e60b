//! Reading and writing cards and lorebooks.

#![recursion_limit = "256"]
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod cards;
mod lorebooks;

/// Cases of a property: all of them with `cargo xtask test --all-rounds` and in `cargo xtask fuzz`,
/// a tenth otherwise.
fn rounds(all: u32) -> u32 {
    if std::env::var_os("INGLENOOK_ALL_ROUNDS").is_some() {
        all
    } else {
        all / 10
    }
}
