//! "Remember that ..." and "forget that ..." in what the user says: understood without a model (S3.31).

/// What the user asked of the memory, in their own words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Asked {
    Remember(String),
    Forget(String),
}

/// Longest thing to remember, in letters; more is a text, and stays in the chat.
const MAX: usize = 500;

const REMEMBER: &[&str] = &[
    "remember that ",
    "remember this: ",
    "remember: ",
    "don't forget that ",
    "don’t forget that ",
    "do not forget that ",
    "never forget that ",
    "always remember that ",
    "keep in mind that ",
];
const FORGET: &[&str] = &["forget that ", "forget this: ", "forget: ", "forget about ", "forget what i said about "];
/// Questions and stories about remembering, not wishes.
const NOT_A_WISH: &[&str] = &["time ", "day ", "night ", "one time ", "it", "this"];

/// Conservative: a sentence that begins with the wish and is no question. What somebody says within quotes, or a story tells,
/// is none.
pub(crate) fn asked(text: &str) -> Option<Asked> {
    sentences(text).find_map(|sentence| {
        let wish = skip(skip(sentence, "and "), "please ");
        let wish = skip(wish, "please, ");
        let about = |openings: &[&str]| openings.iter().find_map(|opening| after(wish, opening)).and_then(thing);
        about(REMEMBER).map(Asked::Remember).or_else(|| about(FORGET).map(Asked::Forget))
    })
}

/// What is wished, if it is a thing at all.
fn thing(rest: &str) -> Option<String> {
    let rest = rest.trim();
    let said = rest.trim_end_matches(['.', '!']).trim_end();
    let question = rest.ends_with('?');
    let story =
        NOT_A_WISH.iter().any(|word| after(said, word).is_some() && (word.ends_with(' ') || said.len() == word.len()));
    let length = said.chars().count();
    (!question && !story && said.split_whitespace().count() >= 2 && length <= MAX).then(|| said.to_owned())
}

/// Sentences and lines, with the mark that ends them.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .flat_map(|line| line.split_inclusive(". ").flat_map(|part| part.split_inclusive(['!', '?'])))
        .map(str::trim)
}

fn skip<'t>(text: &'t str, word: &str) -> &'t str {
    after(text, word).unwrap_or(text)
}

/// What stands after `start`, in whatever case.
fn after<'t>(text: &'t str, start: &str) -> Option<&'t str> {
    let head = text.get(..start.len())?;
    head.eq_ignore_ascii_case(start).then(|| &text[start.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        match asked(text) {
            Some(Asked::Remember(thing)) => format!("+ {thing}"),
            Some(Asked::Forget(thing)) => format!("- {thing}"),
            None => String::new(),
        }
    }

    #[test]
    fn wishes_are_understood() {
        for (text, wish) in [
            ("Remember that I am allergic to nuts.", "+ I am allergic to nuts"),
            ("Lovely. Please remember that my sister is called Ida!", "+ my sister is called Ida"),
            ("Remember: the key is under the mat", "+ the key is under the mat"),
            ("Don't forget that we meet on Friday.", "+ we meet on Friday"),
            ("Forget that I like tea.", "- I like tea"),
            ("Please forget about my sister Ida.", "- my sister Ida"),
            ("One thing.\nKeep in mind that I have two cats", "+ I have two cats"),
        ] {
            assert_eq!(shown(text), wish, "{text}");
        }
    }

    #[test]
    fn questions_stories_and_quotes_are_none() {
        for text in [
            "Do you remember that I am allergic to nuts?",
            "Remember that time we sailed to Lisbon.",
            "Remember that I like tea?",
            "I remember that you were there.",
            "She says, \"Remember that I love you.\"",
            "\"Remember that I love you,\" he whispers.",
            "*I will never remember that name*",
            "Forget it.",
            "Forget that.",
            "Remember that",
            "I forget that a lot.",
            "",
        ] {
            assert_eq!(shown(text), "", "{text}");
        }
    }
}
