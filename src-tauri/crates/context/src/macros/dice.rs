//! Dice formulas such as `d6`, `2d6+3`, `20`, `1d20-1d4` and `d%`.

/// Maximum number of dice in a formula.
const MAX_DICE: u32 = 1_000;
/// Maximum number of sides of a die.
const MAX_SIDES: u32 = 1_000_000_000;

#[derive(Debug, PartialEq, Eq)]
struct Term {
    negative: bool,
    count: u32,
    /// `None` for a plain number.
    sides: Option<u32>,
}

/// Rolls a formula; `draw` returns a number below its argument. A number alone is one die with that many sides.
/// `None` if the formula is invalid or exceeds the limits.
pub(super) fn roll(formula: &str, mut draw: impl FnMut(u64) -> u64) -> Option<i64> {
    let terms = terms(formula)?;
    let mut total = 0_i64;
    for term in terms {
        let sum: i64 = match term.sides {
            None => i64::from(term.count),
            Some(sides) => (0..term.count).map(|_| 1 + draw(u64::from(sides)).cast_signed()).sum(),
        };
        total += if term.negative { -sum } else { sum };
    }
    Some(total)
}

fn terms(formula: &str) -> Option<Vec<Term>> {
    let formula: String = formula.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_ascii_lowercase();
    if let Ok(sides) = formula.parse() {
        return (1..=MAX_SIDES).contains(&sides).then(|| vec![Term { negative: false, count: 1, sides: Some(sides) }]);
    }
    let mut terms = Vec::new();
    let mut dice = 0_u32;
    let mut rest = formula.as_str();
    while !rest.is_empty() {
        let negative = rest.starts_with('-');
        rest = match rest.strip_prefix(['+', '-']) {
            Some(behind) => behind,
            None if terms.is_empty() => rest,
            None => return None,
        };
        let (term, behind) = rest.split_at(rest.find(['+', '-']).unwrap_or(rest.len()));
        let term = self::term(term, negative)?;
        dice += term.sides.map_or(0, |_| term.count);
        if dice > MAX_DICE || terms.len() > MAX_DICE as usize {
            return None;
        }
        terms.push(term);
        rest = behind;
    }
    (!terms.is_empty()).then_some(terms)
}

fn term(text: &str, negative: bool) -> Option<Term> {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse::<u32>().ok())?;
    let Some((count, sides)) = text.split_once('d') else {
        return Some(Term { negative, count: digits(text)?, sides: None });
    };
    let count = if count.is_empty() { 1 } else { digits(count)? };
    let sides = if sides == "%" { 100 } else { digits(sides)? };
    let sane = (1..=MAX_DICE).contains(&count) && (1..=MAX_SIDES).contains(&sides);
    sane.then_some(Term { negative, count, sides: Some(sides) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every die shows its highest side.
    fn highest(formula: &str) -> Option<i64> {
        roll(formula, |sides| sides - 1)
    }

    #[test]
    fn rolls_valid_formulas() {
        assert_eq!(highest("20"), Some(20));
        assert_eq!(highest("D6"), Some(6));
        assert_eq!(highest(" 2d6 + 3 "), Some(15));
        assert_eq!(highest("d%-1d4+10-1"), Some(105));
    }

    #[test]
    fn rejects_invalid_and_absurd_formulas() {
        for formula in
            ["", "d", "0", "d0", "0d6", "2d", "d6+", "6d6d6", "two", "1001d6", "600d6+600d6", "d9999999999", "+-1"]
        {
            assert_eq!(highest(formula), None, "{formula}");
        }
    }
}
