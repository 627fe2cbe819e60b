//! Case folding for flag `i` without `u`: characters are equivalent if they have the same upper
//! case, mapped one unit to one unit. Non-ASCII characters are never equivalent to ASCII ones.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Maps each character to its equivalence class, for classes with several members.
static KIN: LazyLock<HashMap<char, Vec<char>>> = LazyLock::new(|| {
    let mut by_form: HashMap<char, Vec<char>> = HashMap::new();
    for c in '\0'..='\u{ffff}' {
        by_form.entry(form(c)).or_default().push(c);
    }
    let families = by_form.into_values().filter(|family| family.len() > 1);
    families
        .flat_map(|family| family.clone().into_iter().map(move |c| (c, family.clone())))
        .collect()
});

/// The keys of [`KIN`], sorted for range queries.
static SORTED: LazyLock<Vec<char>> = LazyLock::new(|| {
    let mut all: Vec<char> = KIN.keys().copied().collect();
    all.sort_unstable();
    all
});

fn form(c: char) -> char {
    let mut upper = c.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(upper), None) if (upper as u32) < 0x1_0000 && (c.is_ascii() || !upper.is_ascii()) => {
            upper
        }
        _ => c,
    }
}

/// The characters equivalent to `c`, including `c`; empty if there is no other.
pub(super) fn kin(c: char) -> &'static [char] {
    KIN.get(&c).map_or(&[], Vec::as_slice)
}

/// The equivalent characters of all characters in a range.
pub(super) fn kin_of_range(first: char, last: char) -> impl Iterator<Item = char> {
    let from = SORTED.partition_point(|c| *c < first);
    let to = SORTED.partition_point(|c| *c <= last);
    SORTED[from..to.max(from)]
        .iter()
        .flat_map(|c| kin(*c))
        .copied()
}
