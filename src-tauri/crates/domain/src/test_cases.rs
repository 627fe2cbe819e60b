//! Number of cases of the property tests.

/// Cases of a property: all of them with `cargo xtask test --all-rounds` and in `cargo xtask fuzz`,
/// a tenth otherwise.
pub(crate) fn rounds(all: u32) -> u32 {
    if std::env::var_os("INGLENOOK_ALL_ROUNDS").is_some() {
        all
    } else {
        all / 10
    }
}
