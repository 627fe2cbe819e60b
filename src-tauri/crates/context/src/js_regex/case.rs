//! Which characters are the same for flag `i` without `u`: those with the same upper case, one unit to one unit, where
//! nothing outside ASCII becomes ASCII.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Every character that is the same as another, with all of its kin, itself included.
static KIN: LazyLock<HashMap<char, Vec<char>>> = LazyLock::new(|| {
    let mut by_form: HashMap<char, Vec<char>> = HashMap::new();
    for c in '\0'..='\u{ffff}' {
        by_form.entry(form(c)).or_default().push(c);
    }
    let families = by_form.into_values().filter(|family| family.len() > 1);
    families.flat_map(|family| family.clone().into_iter().map(move |c| (c, family.clone()))).collect()
});

/// The same, sorted, for ranges.
static SORTED: LazyLock<Vec<char>> = LazyLock::new(|| {
    let mut all: Vec<char> = KIN.keys().copied().collect();
    all.sort_unstable();
    all
});

fn form(c: char) -> char {
    let mut upper = c.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(upper), None) if (upper as u32) < 0x1_0000 && (c.is_ascii() || !upper.is_ascii()) => upper,
        _ => c,
    }
}

/// The characters that are the same as `c`, or nothing if it is alone.
pub(super) fn kin(c: char) -> &'static [char] {
    KIN.get(&c).map_or(&[], Vec::as_slice)
}

/// The kin of all characters of a range.
pub(super) fn kin_of_range(first: char, last: char) -> impl Iterator<Item = char> {
    let from = SORTED.partition_point(|c| *c < first);
    let to = SORTED.partition_point(|c| *c <= last);
    SORTED[from..to.max(from)].iter().flat_map(|c| kin(*c)).copied()
}
