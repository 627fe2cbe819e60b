//! Cleans texts of servers.

use domain::shown_text::visible;

/// Removes characters that hide or reorder text, and cuts at `most` bytes. Line breaks and tabs
/// stay.
pub(crate) fn clean(text: &str, most: usize) -> String {
    let mut kept = String::with_capacity(text.len().min(most));
    for letter in visible(text).chars() {
        if kept.len() + letter.len_utf8() > most {
            kept.push('…');
            break;
        }
        kept.push(letter);
    }
    kept
}

/// Cleans a text for one line.
pub(crate) fn clean_line(text: &str, most: usize) -> String {
    let visible = clean(text, text.len());
    clean(
        &visible.split_whitespace().collect::<Vec<_>>().join(" "),
        most,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_removed() {
        let text = "a\u{1b}[31mb\u{202e}c\u{e0041}d\r\n\te\u{0}";
        assert_eq!(clean(text, 100), "a[31mbcd\n\te");
        assert_eq!(clean_line(" a \u{7}\n b ", 100), "a b");
    }

    #[test]
    fn long_text_is_cut_between_letters() {
        assert_eq!(clean("äöü", 4), "äö…");
        assert_eq!(clean("äöü", 6), "äöü");
    }

    #[test]
    fn joined_emoji_stay_whole() {
        assert_eq!(clean("👩\u{200d}🚀", 100), "👩\u{200d}🚀");
    }
}
