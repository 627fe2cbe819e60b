//! Arguments of a command: `"Mary Ann" Good evening.` and `name="Mary Ann" Good evening.`

/// Splits the first word from the rest. Quotes keep spaces: `"Mary Ann" waves` is `Mary Ann` and
/// `waves`. Without a closing quote, the quote is part of the word.
pub fn leading_word(arguments: &str) -> (&str, &str) {
    let arguments = arguments.trim();
    if let Some((word, rest)) = quoted(arguments) {
        return (word, rest.trim_start());
    }
    match arguments.split_once(char::is_whitespace) {
        Some((word, rest)) => (word, rest.trim_start()),
        None => (arguments, ""),
    }
}

/// The value of an argument that begins with `name=`, as SillyTavern writes it, and the rest.
pub fn named_argument<'a>(arguments: &'a str, name: &str) -> Option<(&'a str, &'a str)> {
    let value = arguments.trim().strip_prefix(name)?.strip_prefix('=')?;
    Some(leading_word(value))
}

fn quoted(text: &str) -> Option<(&str, &str)> {
    let pairs = [('"', '"'), ('“', '”'), ('„', '“'), ('«', '»')];
    pairs
        .iter()
        .find_map(|(open, close)| text.strip_prefix(*open)?.split_once(*close))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_keep_spaces() {
        assert_eq!(
            leading_word("Mira  Good evening. "),
            ("Mira", "Good evening.")
        );
        assert_eq!(
            leading_word("\"Mary Ann\" Good evening."),
            ("Mary Ann", "Good evening.")
        );
        assert_eq!(
            leading_word("„Mary Ann“ Guten Abend."),
            ("Mary Ann", "Guten Abend.")
        );
        assert_eq!(leading_word("\"Mary Ann"), ("\"Mary", "Ann"));
        assert_eq!(leading_word("  "), ("", ""));
    }

    #[test]
    fn reads_named_arguments() {
        assert_eq!(
            named_argument("name=\"Mary Ann\" Hi", "name"),
            Some(("Mary Ann", "Hi"))
        );
        assert_eq!(
            named_argument("name=Bo Hi there", "name"),
            Some(("Bo", "Hi there"))
        );
        assert_eq!(named_argument("names Hi", "name"), None);
    }
}
