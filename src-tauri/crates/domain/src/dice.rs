//! Dice formulas such as `d6`, `2d6+3`, `20`, `1d20-1d4`, `d%` and `4d6kh3` (keep the highest
//! three).

use std::fmt;

/// Maximum number of dice in a formula.
const MAX_DICE: u32 = 1_000;
/// Maximum number of sides of a die.
const MAX_SIDES: u32 = 1_000_000_000;
/// Longest list of single dice in [`Rolled`]'s text. More dice are shown as their sum.
const SHOWN_DICE: usize = 30;

/// A parsed formula.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiceFormula(Vec<DiceTerm>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct DiceTerm {
    negative: bool,
    /// Number of dice, or the value of a plain number.
    count: u32,
    /// `None` for a plain number.
    sides: Option<u32>,
    /// `None` keeps all dice.
    keep: Option<Keep>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keep {
    Highest(u32),
    Lowest(u32),
}

/// The result of a roll.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rolled {
    pub total: i64,
    terms: Vec<RolledTerm>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct RolledTerm {
    negative: bool,
    /// Value of each die and whether it is kept. A plain number is one kept value.
    values: Vec<(i64, bool)>,
}

impl DiceFormula {
    /// Parses a formula; spaces and case do not matter. A number alone is one die with that many
    /// sides. `None` if the formula is invalid, or has more than 1,000 dice or 1,000,000,000 sides.
    pub fn parse(formula: &str) -> Option<Self> {
        let formula: String = formula
            .chars()
            .filter(|c| !c.is_whitespace())
            .collect::<String>()
            .to_ascii_lowercase();
        if let Ok(sides) = formula.parse() {
            let die = DiceTerm {
                negative: false,
                count: 1,
                sides: Some(sides),
                keep: None,
            };
            return (1..=MAX_SIDES).contains(&sides).then(|| Self(vec![die]));
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
            let term = DiceTerm::parse(term, negative)?;
            dice += term.sides.map_or(0, |_| term.count);
            if dice > MAX_DICE || terms.len() > MAX_DICE as usize {
                return None;
            }
            terms.push(term);
            rest = behind;
        }
        (!terms.is_empty()).then_some(Self(terms))
    }

    /// Rolls the dice. `draw` returns a random number from 0 up to, but not including, its
    /// argument.
    pub fn roll(&self, mut draw: impl FnMut(u64) -> u64) -> Rolled {
        let terms: Vec<RolledTerm> = self.0.iter().map(|term| term.roll(&mut draw)).collect();
        Rolled {
            total: terms.iter().map(RolledTerm::sum).sum(),
            terms,
        }
    }
}

impl DiceTerm {
    fn parse(text: &str, negative: bool) -> Option<Self> {
        let digits = |text: &str| {
            text.bytes()
                .all(|byte| byte.is_ascii_digit())
                .then(|| text.parse::<u32>().ok())?
        };
        let Some((count, sides)) = text.split_once('d') else {
            return Some(Self {
                negative,
                count: digits(text)?,
                sides: None,
                keep: None,
            });
        };
        let (sides, keep) = match sides.split_once('k') {
            Some((sides, keep)) => (sides, Some(keep)),
            None => (sides, None),
        };
        let count = if count.is_empty() { 1 } else { digits(count)? };
        let sides = if sides == "%" { 100 } else { digits(sides)? };
        let number = |text: &str| {
            if text.is_empty() {
                Some(1)
            } else {
                digits(text)
            }
        };
        let keep = match keep {
            None => None,
            Some(keep) => Some(match (keep.strip_prefix('h'), keep.strip_prefix('l')) {
                (_, Some(lowest)) => Keep::Lowest(number(lowest)?),
                (Some(highest), _) => Keep::Highest(number(highest)?),
                _ => Keep::Highest(number(keep)?),
            }),
        };
        let kept = match keep {
            Some(Keep::Highest(kept) | Keep::Lowest(kept)) => kept,
            None => count,
        };
        let sane = (1..=MAX_DICE).contains(&count)
            && (1..=MAX_SIDES).contains(&sides)
            && (1..=count).contains(&kept);
        sane.then_some(Self {
            negative,
            count,
            sides: Some(sides),
            keep,
        })
    }

    fn roll(&self, draw: &mut impl FnMut(u64) -> u64) -> RolledTerm {
        let Some(sides) = self.sides else {
            return RolledTerm {
                negative: self.negative,
                values: vec![(i64::from(self.count), true)],
            };
        };
        let mut values: Vec<(i64, bool)> = (0..self.count)
            .map(|_| (1 + draw(u64::from(sides)).cast_signed(), true))
            .collect();
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by_key(|at| values[*at].0);
        let dropped = match self.keep {
            None => 0..0,
            Some(Keep::Highest(kept)) => 0..values.len() - kept as usize,
            Some(Keep::Lowest(kept)) => kept as usize..values.len(),
        };
        for at in &order[dropped] {
            values[*at].1 = false;
        }
        RolledTerm {
            negative: self.negative,
            values,
        }
    }
}

impl RolledTerm {
    fn sum(&self) -> i64 {
        let sum: i64 = self
            .values
            .iter()
            .filter(|(_, kept)| *kept)
            .map(|(value, _)| value)
            .sum();
        if self.negative { -sum } else { sum }
    }

    fn write(&self, out: &mut String) {
        let shown = |(value, kept): &(i64, bool)| {
            if *kept {
                value.to_string()
            } else {
                format!("[{value}]")
            }
        };
        let values: Vec<String> = self.values.iter().map(shown).collect();
        let several = values.len() > 1 && self.negative;
        out.push_str(&if several {
            format!("({})", values.join(" + "))
        } else {
            values.join(" + ")
        });
    }
}

/// `9 (3 + 5 + 1)`: the total and its parts. Dice that are not kept are in brackets: `11 (6 + 5 +
/// [2])`.
impl fmt::Display for Rolled {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.total)?;
        let count: usize = self.terms.iter().map(|term| term.values.len()).sum();
        if !(2..=SHOWN_DICE).contains(&count) {
            return Ok(());
        }
        let mut parts = String::new();
        for (at, term) in self.terms.iter().enumerate() {
            parts.push_str(match (at, term.negative) {
                (0, false) => "",
                (0, true) => "-",
                (_, false) => " + ",
                (_, true) => " - ",
            });
            term.write(&mut parts);
        }
        write!(formatter, " ({parts})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every die shows its highest side.
    fn highest(formula: &str) -> Option<i64> {
        Some(DiceFormula::parse(formula)?.roll(|sides| sides - 1).total)
    }

    /// Dice show these values in turn.
    fn shows(formula: &str, values: &[u64]) -> String {
        let mut values = values.iter();
        DiceFormula::parse(formula)
            .unwrap()
            .roll(|_| values.next().unwrap() - 1)
            .to_string()
    }

    #[test]
    fn rolls_valid_formulas() {
        assert_eq!(highest("20"), Some(20));
        assert_eq!(highest("D6"), Some(6));
        assert_eq!(highest(" 2d6 + 3 "), Some(15));
        assert_eq!(highest("d%-1d4+10-1"), Some(105));
        assert_eq!(highest("4d6kh3"), Some(18));
    }

    #[test]
    fn rejects_invalid_and_absurd_formulas() {
        for formula in [
            "",
            "d",
            "0",
            "d0",
            "0d6",
            "2d",
            "d6+",
            "6d6d6",
            "two",
            "1001d6",
            "600d6+600d6",
            "d9999999999",
            "+-1",
            "2d6kh3",
            "2d6k0",
            "2d6kx",
            "2kh1",
            "4d6kh3kl1",
        ] {
            assert_eq!(highest(formula), None, "{formula}");
        }
    }

    #[test]
    fn shows_every_die() {
        assert_eq!(shows("2d6+1", &[3, 5]), "9 (3 + 5 + 1)");
        assert_eq!(shows("d20", &[17]), "17");
        assert_eq!(shows("10-2d4", &[1, 2]), "7 (10 - (1 + 2))");
        assert_eq!(highest("100d6"), Some(600));
        assert_eq!(
            DiceFormula::parse("100d6").unwrap().roll(|_| 0).to_string(),
            "100"
        );
    }

    #[test]
    fn keeps_the_highest_or_lowest_dice() {
        assert_eq!(shows("4d6kh3", &[2, 6, 4, 3]), "13 ([2] + 6 + 4 + 3)");
        assert_eq!(shows("4d6k3", &[2, 6, 4, 3]), "13 ([2] + 6 + 4 + 3)");
        assert_eq!(shows("2d20kl", &[11, 4]), "4 ([11] + 4)");
    }
}
