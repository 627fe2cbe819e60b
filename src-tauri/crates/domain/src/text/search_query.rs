//! The text of a search: words, phrases in quotes, and filters such as `from:mira` or
//! `before:2026-01-31`.

/// A part of a search. All parts must occur in a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchTerm {
    /// A word that may be unfinished.
    Word(String),
    /// Words in exactly this order, next to each other.
    Phrase(String),
}

/// A day of the user's calendar. The day may not exist in its month.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchDay {
    pub year: i16,
    pub month: i8,
    pub day: i8,
}

/// A parsed search. Unknown filters and unfinished dates are words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchQuery {
    pub terms: Vec<SearchTerm>,
    /// `from:`: part of the author's name, or one of [`USER`].
    pub from: Option<String>,
    /// `in:`: part of the title of the chat or of the name of its character.
    pub chat: Option<String>,
    /// `after:`: this day or later.
    pub after: Option<SearchDay>,
    /// `before:`: earlier than this day.
    pub before: Option<SearchDay>,
    /// `has:picture`.
    pub has_picture: bool,
}

/// Names for the user in `from:`.
pub const USER: [&str; 4] = ["me", "user", "ich", "you"];

/// Maximum length that is parsed, in bytes: users may paste a page by mistake.
const MAX_LENGTH: usize = 1_000;

impl SearchQuery {
    pub fn parse(text: &str) -> Self {
        let end = (0..=text.len().min(MAX_LENGTH))
            .rev()
            .find(|end| text.is_char_boundary(*end))
            .unwrap_or(0);
        let mut query = Self::default();
        let mut rest = text[..end].trim_start();
        while !rest.is_empty() {
            rest = query.part(rest).trim_start();
        }
        query
    }

    /// Whether it has neither terms nor filters.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Adds the first part of `text` and returns the rest.
    fn part<'t>(&mut self, text: &'t str) -> &'t str {
        if let Some((phrase, rest)) = quoted(text) {
            self.terms.extend(
                (!phrase.trim().is_empty()).then(|| SearchTerm::Phrase(phrase.trim().to_owned())),
            );
            return rest;
        }
        let word = &text[..text.find(char::is_whitespace).unwrap_or(text.len())];
        if let Some((key, value)) = word.split_once(':') {
            let value_start = &text[key.len() + 1..];
            let (value, rest) = quoted(value_start).unwrap_or((value, &text[word.len()..]));
            if self.filter(&key.to_lowercase(), value.trim()) {
                return rest;
            }
        }
        self.terms.push(SearchTerm::Word(word.to_owned()));
        &text[word.len()..]
    }

    /// Returns whether `key` and `value` are a filter.
    fn filter(&mut self, key: &str, value: &str) -> bool {
        let text = || Some(value.to_owned()).filter(|value| !value.is_empty());
        match key {
            "from" => self.from = text(),
            "in" => self.chat = text(),
            "has" if ["picture", "image", "bild"].contains(&value.to_lowercase().as_str()) => {
                self.has_picture = true
            }
            "after" | "before" => {
                let Some(day) = day(value) else { return false };
                *(if key == "after" {
                    &mut self.after
                } else {
                    &mut self.before
                }) = Some(day);
            }
            _ => return false,
        }
        true
    }
}

/// The text between quotes of any kind and the rest. Without an end quote, everything is quoted.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let open = text.chars().next()?;
    let close: &[char] = match open {
        '"' => &['"'],
        '“' => &['”', '"'],
        '„' => &['“', '”', '"'],
        '«' => &['»'],
        '「' => &['」'],
        _ => return None,
    };
    let inside = &text[open.len_utf8()..];
    let end = inside.find(close).unwrap_or(inside.len());
    Some((
        &inside[..end],
        inside[end..].strip_prefix(close).unwrap_or_default(),
    ))
}

/// Parses `2026-01-31`, `2026-01` or `2026`; missing parts are the first ones.
fn day(text: &str) -> Option<SearchDay> {
    let mut parts = text.split('-');
    let year = parts.next().filter(|year| year.len() == 4)?.parse().ok()?;
    let mut part = |most: i8| match parts.next() {
        None => Some(1),
        Some(part) => part
            .parse::<i8>()
            .ok()
            .filter(|part| (1..=most).contains(part)),
    };
    let month = part(12)?;
    let day = part(31)?;
    parts
        .next()
        .is_none()
        .then_some(SearchDay { year, month, day })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn word(text: &str) -> SearchTerm {
        SearchTerm::Word(text.to_owned())
    }

    fn phrase(text: &str) -> SearchTerm {
        SearchTerm::Phrase(text.to_owned())
    }

    #[test]
    fn reads_words_phrases_and_filters() {
        let query = SearchQuery::parse(
            r#" lamp "red door" from:Mira in:"An evening" After:2026-01 before:2026-02-03 has:picture"#,
        );
        assert_eq!(query.terms, [word("lamp"), phrase("red door")]);
        assert_eq!(
            (query.from.as_deref(), query.chat.as_deref()),
            (Some("Mira"), Some("An evening"))
        );
        assert_eq!(
            query.after,
            Some(SearchDay {
                year: 2026,
                month: 1,
                day: 1
            })
        );
        assert_eq!(
            query.before,
            Some(SearchDay {
                year: 2026,
                month: 2,
                day: 3
            })
        );
        assert!(query.has_picture);
    }

    #[test]
    fn unknown_filters_and_unfinished_dates_are_words() {
        for text in [
            "12:30",
            "http://a.b",
            "before:202",
            "before:2026-13",
            "has:wings",
            ":",
            "a:",
        ] {
            assert_eq!(SearchQuery::parse(text).terms, [word(text)], "{text}");
        }
        assert_eq!(SearchQuery::parse("from: x").terms, [word("x")]);
    }

    #[test]
    fn quotes_of_any_kind_may_stay_open() {
        assert_eq!(
            SearchQuery::parse("„rote Tür“ x").terms,
            [phrase("rote Tür"), word("x")]
        );
        assert_eq!(
            SearchQuery::parse("「桜の木」梅").terms,
            [phrase("桜の木"), word("梅")]
        );
        assert_eq!(
            SearchQuery::parse("\"still typing").terms,
            [phrase("still typing")]
        );
        assert!(SearchQuery::parse(" \"\" ").is_empty());
    }

    proptest! {
        #[test]
        fn any_text_is_a_search(text in "\\PC{0,40}") {
            SearchQuery::parse(&text);
        }

        #[test]
        fn any_marks_are_a_search(text in "[\"“„«「”:a ]{0,12}") {
            SearchQuery::parse(&text);
        }
    }
}
