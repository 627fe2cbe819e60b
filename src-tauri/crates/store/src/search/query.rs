//! Builds the query of the full-text index from the terms of a search.

use domain::search_query::SearchTerm;

use super::fold::is_unspaced;
use super::terms;

/// The query for texts with every term; `None` if the terms contain no letter or digit.
pub(crate) fn index_query(terms: &[SearchTerm]) -> Option<String> {
    let parts: Vec<String> = terms.iter().flat_map(parts).collect();
    (!parts.is_empty()).then(|| parts.join(" AND "))
}

fn parts(term: &SearchTerm) -> Vec<String> {
    match term {
        SearchTerm::Phrase(text) => phrase(text).into_iter().collect(),
        SearchTerm::Word(text) => phrase(text)
            .map(|phrase| phrase + prefix(text))
            .into_iter()
            .collect(),
    }
}

/// Adjacent terms are a phrase. A single letter of a script without spaces is in the column of
/// letters.
fn phrase(text: &str) -> Option<String> {
    let words: Vec<String> = terms::words(text).map(|term| term.text).collect();
    let only_letter = words.len() == 1
        && terms::letters(text)
            .map(|letter| letter.text)
            .eq(words.iter().cloned());
    let column = if only_letter { "letters" } else { "words" };
    (!words.is_empty()).then(|| format!("{column} : \"{}\"", words.join(" ")))
}

/// An unfinished word matches as a prefix. Pairs of letters are always whole.
fn prefix(word: &str) -> &'static str {
    let unspaced = super::fold::fold(word)
        .chars()
        .next_back()
        .is_some_and(is_unspaced);
    if unspaced { "" } else { " *" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(terms: &[SearchTerm], expected: Option<&str>) {
        assert_eq!(index_query(terms).as_deref(), expected);
    }

    #[test]
    fn every_word_is_required_and_the_last_may_be_unfinished() {
        let words = |text: &str| {
            text.split(' ')
                .map(|word| SearchTerm::Word(word.to_owned()))
                .collect::<Vec<_>>()
        };
        check(
            &words("Lamp oil"),
            Some(r#"words : "lamp" * AND words : "oil" *"#),
        );
        check(&words("it's"), Some(r#"words : "it s" *"#));
        check(&words("桜"), Some(r#"letters : "桜""#));
        check(&words("桜の木"), Some(r#"words : "桜の の木""#));
        check(&words("\" * ( ) -- OR"), Some(r#"words : "or" *"#));
        check(&words("…"), None);
        check(
            &words("C++ 🦊 ﾗﾝﾌﾟ"),
            Some(r#"words : "c＋＋" * AND words : "🦊" * AND words : "ラン ンプ""#),
        );
        check(
            &[SearchTerm::Phrase("the LAMP".into())],
            Some(r#"words : "the lamp""#),
        );
    }
}
