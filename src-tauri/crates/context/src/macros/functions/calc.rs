//! Evaluates arithmetic expressions such as `2 * (3 + 4) >= 10`.

use crate::macros::state;

/// Maximum nesting depth of parentheses and signs.
const MAX_DEPTH: usize = 64;

/// Binary operators by precedence, lowest first. Longer operators precede their prefixes.
const OPERATORS: [&[&str]; 6] = [
    &["||"],
    &["&&"],
    &["<=", ">=", "==", "!=", "<", ">", "="],
    &["+", "-"],
    &["*", "/", "%"],
    &["^"],
];

/// Evaluates an expression. `None` if it is invalid or has no finite result.
pub(crate) fn shown(sum: &str) -> Option<String> {
    let mut rest = Rest(sum);
    let value = rest.binary(0, 0)?;
    rest.0.trim().is_empty().then(|| state::shown(value))?
}

struct Rest<'a>(&'a str);

impl Rest<'_> {
    fn binary(&mut self, rank: usize, depth: usize) -> Option<f64> {
        let Some(operators) = OPERATORS.get(rank) else {
            return self.single(depth);
        };
        let mut left = self.binary(rank + 1, depth)?;
        while let Some(operator) = operators.iter().find(|operator| self.takes(operator)) {
            let right = self.binary(rank + 1, depth)?;
            left = apply(left, operator, right);
        }
        Some(left)
    }

    fn single(&mut self, depth: usize) -> Option<f64> {
        if depth > MAX_DEPTH {
            None
        } else if self.takes("(") {
            let value = self.binary(0, depth + 1)?;
            self.takes(")").then_some(value)
        } else if self.takes("-") {
            Some(-self.single(depth + 1)?)
        } else if self.takes("!") {
            Some(truth(self.single(depth + 1)? == 0.0))
        } else {
            self.number()
        }
    }

    fn number(&mut self) -> Option<f64> {
        let text = self.0.trim_start();
        let end = text
            .find(|c: char| !(c.is_ascii_digit() || c == '.'))
            .unwrap_or(text.len());
        self.0 = &text[end..];
        text[..end].parse().ok()
    }

    fn takes(&mut self, mark: &str) -> bool {
        let behind = self.0.trim_start().strip_prefix(mark);
        self.0 = behind.unwrap_or(self.0);
        behind.is_some()
    }
}

fn apply(left: f64, operator: &str, right: f64) -> f64 {
    match operator {
        "+" => left + right,
        "-" => left - right,
        "*" => left * right,
        "/" => left / right,
        "%" => left % right,
        "^" => left.powf(right),
        "<" => truth(left < right),
        ">" => truth(left > right),
        "<=" => truth(left <= right),
        ">=" => truth(left >= right),
        "!=" => truth(left != right),
        "&&" => truth(left != 0.0 && right != 0.0),
        "||" => truth(left != 0.0 || right != 0.0),
        _ => truth(left == right),
    }
}

fn truth(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn operators_follow_usual_precedence() {
        assert_eq!(shown("1 + 2 * 3 ^ 2").as_deref(), Some("19"));
        assert_eq!(shown("-(7 % 4) / 2").as_deref(), Some("-1.5"));
        assert_eq!(shown("2 < 3 && !(1 = 2) || 0").as_deref(), Some("1"));
    }

    #[test]
    fn invalid_expressions_give_none() {
        for sum in [
            "",
            "1 +",
            "1 2",
            "(1",
            "1)",
            "1 / 0",
            "x",
            "1..2",
            &"(".repeat(10_000),
            &"-".repeat(10_000),
        ] {
            assert_eq!(shown(sum), None, "{sum}");
        }
    }
}
