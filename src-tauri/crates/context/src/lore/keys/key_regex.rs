//! Keys of the form `/pattern/flags`, with JavaScript semantics.

use crate::js_regex::{self, Dialect, RegexFlags, Units};

/// Backtracking steps per search. Hostile patterns reach the limit, which is treated as no match.
const BACKTRACK_LIMIT: usize = 100_000;
/// Maximum size of a compiled pattern in bytes.
const SIZE_LIMIT: usize = 1 << 20;
/// Maximum length of a pattern in bytes.
const MAX_PATTERN: usize = 20_000;

#[derive(Debug)]
pub(crate) struct JsRegex {
    engine: KeyEngine,
    units: bool,
}

#[derive(Debug)]
enum KeyEngine {
    Plain(regex::Regex),
    Fancy(Box<fancy_regex::Regex>),
    /// Valid, but beyond our limits; never matches.
    Refused,
}

/// Parses flags. Returns also whether the match must be at the start (`y`). `None` for an unknown
/// or repeated flag.
fn flags(text: &str) -> Option<(RegexFlags, bool)> {
    let mut flags = RegexFlags::default();
    let mut sticky = false;
    for (at, flag) in text.char_indices() {
        if text[..at].contains(flag) {
            return None;
        }
        match flag {
            'g' => {}
            'i' => flags.ignore_case = true,
            'm' => flags.multi_line = true,
            's' => flags.dot_all = true,
            'u' => flags.unicode = true,
            'y' => sticky = true,
            _ => return None,
        }
    }
    Some((flags, sticky))
}

impl JsRegex {
    /// `None` if the key is plain text: not of this form, with an unescaped slash inside, or an
    /// invalid pattern.
    pub(crate) fn from_key(key: &str) -> Option<Self> {
        let (pattern, flags) = key.strip_prefix('/')?.rsplit_once('/')?;
        let unescaped = pattern
            .match_indices('/')
            .any(|(at, _)| !pattern[..at].ends_with('\\'));
        if pattern.is_empty() || unescaped {
            return None;
        }
        Self::new(pattern, flags)
    }

    /// `None` if JavaScript would reject the pattern or its flags.
    pub(crate) fn new(pattern: &str, text_of_flags: &str) -> Option<Self> {
        let (flags, sticky) = flags(text_of_flags)?;
        if pattern.len() > MAX_PATTERN {
            return Some(Self {
                engine: KeyEngine::Refused,
                units: false,
            });
        }
        let translated = js_regex::translate(pattern, flags, Dialect::Exact).ok()?;
        let start = if sticky { "\\A" } else { "" };
        Some(Self {
            engine: compile(&format!("{start}{}", translated.pattern)),
            units: !flags.unicode,
        })
    }

    /// Byte offset of the first match.
    pub(crate) fn find(&self, text: &Text) -> Option<usize> {
        let units = text.units.as_ref().filter(|_| self.units);
        let seen = units.map_or(text.plain(), Units::text);
        let at = match &self.engine {
            KeyEngine::Plain(regex) => regex.find(seen)?.start(),
            KeyEngine::Fancy(regex) => regex.find(seen).ok()??.start(),
            KeyEngine::Refused => return None,
        };
        Some(units.map_or(at, |units| units.original(at)))
    }
}

fn compile(source: &str) -> KeyEngine {
    if let Ok(regex) = regex::RegexBuilder::new(source)
        .size_limit(SIZE_LIMIT)
        .build()
    {
        return KeyEngine::Plain(regex);
    }
    let fancy = fancy_regex::RegexBuilder::new(source)
        .backtrack_limit(BACKTRACK_LIMIT)
        .delegate_size_limit(SIZE_LIMIT)
        .build();
    fancy.map_or(KeyEngine::Refused, |regex| {
        KeyEngine::Fancy(Box::new(regex))
    })
}

/// A text to search, also in UTF-16 units if needed.
#[derive(Debug)]
pub(crate) struct Text {
    plain: String,
    units: Option<Units>,
}

impl Text {
    pub(crate) fn new(plain: String) -> Self {
        let units = Units::of(&plain);
        Self { plain, units }
    }

    pub(crate) fn plain(&self) -> &str {
        &self.plain
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::test_cases::config;

    proptest! {
        #![proptest_config(config(4_000))]

        #[test]
        fn any_key_is_a_pattern_or_plain_text(
            pattern in "([()\\[\\]{}?*+|^$.:<>=!a-c0-3,éİ😀-]|\\\\[a-zA-Z0-9-]|\\(\\?[:=!<]|\\\\u\\{[0-9a-f]{0,6}\\}){0,14}",
            flags in "[gimsuyx]{0,3}",
        ) {
            if let Some(regex) = JsRegex::from_key(&format!("/{pattern}/{flags}")) {
                for text in ["", "aab-😀é İ\nc", &"a".repeat(300)] {
                    let at = regex.find(&Text::new(text.to_owned()));
                    prop_assert!(at.is_none_or(|at| text.is_char_boundary(at)));
                }
            }
        }
    }

    fn found(key: &str, text: &str) -> bool {
        let regex = JsRegex::from_key(key).unwrap_or_else(|| panic!("{key} is plain text"));
        assert!(
            !matches!(regex.engine, KeyEngine::Refused),
            "{key} is refused"
        );
        regex.find(&Text::new(text.to_owned())).is_some()
    }

    #[test]
    fn pattern_rejected_by_javascript_is_plain_text() {
        for key in [
            "",
            "/",
            "//",
            "///",
            "/a",
            "a/",
            "/a/b/",
            "/a/ii",
            "/a/q",
            "/(a/",
            "/a)/",
            "/[a/",
            "/*a/",
            "/a**/",
            "/a{2,1}/",
            "/[z-a]/",
            "/(?<n>a)(?<n>b)/",
            "/(?i)a/",
            "/(?P<n>a)/",
            "/a++/",
            "/(?<=a)*/",
            "/\\k<x>(?<n>a)/",
            "/\\p{Foo/u",
            "/\\q/u",
            "/]/u",
            "/{/u",
            "/a{/u",
            "/\\1/u",
            "/[\\d-z]/u",
            "/\\-/u",
            "/a\\-b/iu",
            "/\\_/u",
            "/a\\/",
        ] {
            assert!(JsRegex::from_key(key).is_none(), "{key}");
        }
    }

    #[test]
    fn flags_work_as_in_javascript() {
        for (key, text, expected) in [
            ("/dragon/", "Dragon", false),
            ("/dragon/i", "DRAGON", true),
            ("/a.b/", "a\nb", false),
            ("/a.b/s", "a\nb", true),
            ("/^b/", "a\nb", false),
            ("/^b/m", "a\nb", true),
            ("/^b/m", "a\rb", true),
            ("/a$/", "a\n", false),
            ("/a$/m", "a\n", true),
            ("/b/y", "ab", false),
            ("/a/y", "ab", true),
            ("/^.$/", "😀", false),
            ("/^..$/", "😀", true),
            ("/^.$/u", "😀", true),
            ("/[😀]$/", "😃", false),
            ("/^[😀]/", "😃", true),
            ("/\\u{61}/u", "a", true),
            ("/a[\\-_]b/u", "a-b", true),
            ("/a\\-b/", "a-b", true),
            ("/\\u{61}/", "a", false),
            ("/\\uD83D\\uDE00/", "😀", true),
            ("/\\uD83D\\uDE00/u", "😀", true),
        ] {
            assert_eq!(found(key, text), expected, "{key} in {text:?}");
        }
    }

    #[test]
    fn classes_and_boundaries_are_ascii() {
        for (key, text, expected) in [
            ("/\\bкот/", "кот", false),
            ("/\\bcat\\b/", "a cat!", true),
            ("/caf\\b/", "café", true),
            ("/\\B/", "ab", true),
            ("/^\\B/", "ab", false),
            ("/^\\w$/", "é", false),
            ("/^\\W$/", "é", true),
            ("/^\\d$/", "٣", false),
            ("/^\\s$/", "\u{feff}", true),
            ("/^\\s$/", "\u{85}", false),
            ("/^[^]$/", "\n", true),
            ("/[]/", "a", false),
            ("/^[\\w-]+$/", "a-b", true),
            ("/^[[]$/", "[", true),
            ("/^[a&&b]+$/", "a&b", true),
            ("/^[^\\D]$/", "3", true),
            ("/[\\b]/", "\u{8}", true),
        ] {
            assert_eq!(found(key, text), expected, "{key} in {text:?}");
        }
    }

    #[test]
    fn folds_case_like_javascript() {
        for (key, text, expected) in [
            ("/s/i", "ſ", false),
            ("/s/iu", "ſ", true),
            ("/k/i", "\u{212a}", false),
            ("/σ/i", "ς", true),
            ("/ß/i", "ẞ", false),
            ("/ß/iu", "ẞ", true),
            ("/ß/i", "SS", false),
            ("/[а-я]/i", "К", true),
            ("/[^a]/i", "A", false),
            ("/é/i", "É", true),
            ("/(a)\\1/i", "aA", true),
            ("/İ/i", "i", false),
        ] {
            assert_eq!(found(key, text), expected, "{key} in {text:?}");
        }
    }

    #[test]
    fn supports_lookaround_and_backreferences() {
        for (key, text, expected) in [
            ("/(?<=black )wolf/", "black wolf", true),
            ("/(?<=black )wolf/", "white wolf", false),
            ("/(?<!black +)wolf/", "white wolf", true),
            ("/wolf(?! pack)/", "wolf pack", false),
            ("/wolf(?= pack)/", "wolf pack", true),
            ("/(\\w)\\1/", "moon", true),
            ("/(?<x>\\w)\\k<x>/", "moon", true),
            ("/(\\w)\\1/", "mon", false),
            ("/^(a)?\\1b/", "b", true),
            ("/\\1(a)/", "a", true),
            ("/a{,2}/", "a{,2}", true),
            ("/\\a\\-\\_/", "a-_", true),
            ("/x{2}/", "xx", true),
            ("/]{/", "]{", true),
            ("/\\x41\\cJ\\0/", "A\n\0", true),
            ("/\\101/", "A", true),
            ("/\\8/", "8", true),
            ("/either\\/or/", "either/or", true),
            ("/\\p{Script=Greek}/u", "λ", true),
            ("/\\p{L}/", "p{L}", true),
            ("/(?:ab|c)d/", "cd", true),
            ("/a|/", "", true),
        ] {
            assert_eq!(found(key, text), expected, "{key} in {text:?}");
        }
    }

    #[test]
    fn match_offset_refers_to_original_text() {
        let text = Text::new("😀 é wolf".to_owned());
        for key in ["/wolf/", "/wolf/u"] {
            assert_eq!(
                JsRegex::from_key(key).unwrap().find(&text),
                Some("😀 é ".len()),
                "{key}"
            );
        }
    }

    #[test]
    fn exploding_pattern_never_matches() {
        let regex = JsRegex::from_key("/(?=(a+)+b)(a+)+\\1$/").unwrap();
        assert_eq!(regex.find(&Text::new("a".repeat(5_000))), None);
        assert!(
            JsRegex::from_key("/(a{1000}){1000}/")
                .unwrap()
                .find(&Text::new("a".into()))
                .is_none()
        );
    }
}
