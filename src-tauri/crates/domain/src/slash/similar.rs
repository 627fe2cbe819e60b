//! Names that a user may have meant.

/// Maximum number of names in an answer.
const MOST: usize = 5;
/// Longest name that is compared, in characters.
const LONGEST: usize = 60;

/// The names that begin with `wanted` or differ from it by a few letters, the most similar first.
/// Case is ignored.
pub fn similar<'n>(wanted: &str, names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let wanted: Vec<char> = wanted.to_lowercase().chars().take(LONGEST).collect();
    let allowed = match wanted.len() {
        0 => return Vec::new(),
        1..=2 => 1,
        3..=5 => 2,
        _ => 3,
    };
    let mut found: Vec<(usize, &str)> = Vec::new();
    for name in names {
        let letters: Vec<char> = name.to_lowercase().chars().take(LONGEST).collect();
        let contains = letters.windows(wanted.len()).any(|part| part == wanted);
        let differing = if letters.starts_with(&wanted) {
            0
        } else {
            distance(&wanted, &letters)
        };
        if contains || differing <= allowed {
            found.push((
                if contains {
                    differing.min(1)
                } else {
                    differing
                },
                name,
            ));
        }
    }
    found.sort_by_key(|(differing, _)| *differing);
    found.truncate(MOST);
    found.into_iter().map(|(_, name)| name).collect()
}

/// Edit distance in which swapped neighbours are one edit.
fn distance(one: &[char], other: &[char]) -> usize {
    let mut rows: [Vec<usize>; 3] = [Vec::new(), Vec::new(), (0..=other.len()).collect()];
    for (at, letter) in one.iter().enumerate() {
        rows.rotate_left(1);
        let mut row = vec![at + 1];
        for (place, compared) in other.iter().enumerate() {
            let exchanged = rows[1][place] + usize::from(letter != compared);
            let mut best = exchanged.min(rows[1][place + 1] + 1).min(row[place] + 1);
            if at > 0 && place > 0 && *letter == other[place - 1] && one[at - 1] == *compared {
                best = best.min(rows[0][place - 1] + 1);
            }
            row.push(best);
        }
        rows[2] = row;
    }
    rows[2][other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_names_with_typing_errors() {
        let names = ["mode", "model", "remember", "regenerate", "roll"];
        assert_eq!(similar("mdoe", names), ["mode", "model"]);
        assert_eq!(similar("REM", names), ["remember"]);
        assert_eq!(similar("regnerate", names), ["regenerate"]);
        assert!(similar("teleport", names).is_empty());
        assert!(similar("", names).is_empty());
    }

    #[test]
    fn finds_a_part_of_a_name() {
        assert_eq!(similar("ann", ["Mary Ann", "Bo"]), ["Mary Ann"]);
    }
}
