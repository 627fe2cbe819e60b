//! Removes invisible letters from names and texts of strangers before a person or a model reads
//! them: file names, names in files, texts of tool servers.
//!
//! Such letters can reverse the order of a name, hide bytes in it, or make two names look the same.
//! The text that a person sees must be the text that a model reads.

/// Removes invisible letters. Line breaks and tabs stay.
pub fn visible(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\n' | '\t' => kept.push(letter),
            '\u{2028}' | '\u{2029}' | '\u{85}' => kept.push('\n'),
            // They look like a blank.
            '\u{2800}' => kept.push(' '),
            JOINER | NON_JOINER if joins(kept.chars().next_back(), letters.peek().copied()) => {
                kept.push(letter)
            }
            TEXT_STYLE | EMOJI_STYLE if kept.chars().next_back().is_some_and(has_styles) => {
                kept.push(letter)
            }
            letter if is_hidden(letter) => {}
            letter => kept.push(letter),
        }
    }
    kept
}

/// Removes invisible letters, and replaces line breaks and tabs, for a text on one line such as a
/// name.
pub fn visible_line(text: &str) -> String {
    visible(text).replace(['\n', '\t'], " ")
}

const NON_JOINER: char = '\u{200c}';
const JOINER: char = '\u{200d}';
const TEXT_STYLE: char = '\u{fe0e}';
const EMOJI_STYLE: char = '\u{fe0f}';

/// Control characters, and the characters that Unicode ignores when it draws text
/// (`Default_Ignorable_Code_Point`).
fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{16fe4}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a joiner between both letters changes how they are drawn: in emoji, and in scripts with
/// joined letters.
fn joins(before: Option<char>, after: Option<char>) -> bool {
    let joined = |letter: char| is_emoji(letter) || has_joined_letters(letter);
    before.is_some_and(|before| joined(before) || before == EMOJI_STYLE)
        && after.is_some_and(joined)
}

/// Whether a letter has a form as text and one as an emoji.
fn has_styles(letter: char) -> bool {
    is_emoji(letter)
        || letter.is_ascii_digit()
        || matches!(letter, '#' | '*' | '©' | '®' | '〰' | '〽' | '㊗' | '㊙')
}

fn is_emoji(letter: char) -> bool {
    matches!(letter, '\u{203c}'..='\u{3030}' | '\u{1f000}'..='\u{1faff}')
        && !letter.is_alphabetic()
        && !is_hidden(letter)
}

/// Arabic, the scripts of India and its neighbours, and Mongolian.
fn has_joined_letters(letter: char) -> bool {
    matches!(letter, '\u{600}'..='\u{8ff}' | '\u{900}'..='\u{109f}' | '\u{1780}'..='\u{18af}' | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
        && !is_hidden(letter)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn invisible_letters_are_removed() {
        for hidden in [
            "\u{202e}",
            "\u{200b}",
            "\u{2060}",
            "\u{2063}",
            "\u{115f}",
            "\u{3164}",
            "\u{ffa0}",
            "\u{e0100}",
            "\u{e01ef}",
            "\u{e0041}",
            "\u{fe00}",
            "\u{fe0f}",
            "\u{ad}",
            "\u{200d}",
            "\u{200e}",
            "\u{feff}",
            "\u{180e}",
            "\u{1b}",
            "\u{2066}",
            "\u{034f}",
            "\u{fe0f}\u{fe0e}\u{fe0f}",
        ] {
            assert_eq!(visible(&format!("a{hidden}b")), "ab", "{hidden:?}");
        }
        assert_eq!(visible("❤\u{200c}\u{fe0f}"), "❤\u{fe0f}");
        assert_eq!(
            visible("/home/u/\u{202e}gnp.exe.json"),
            "/home/u/gnp.exe.json"
        );
        assert_eq!(visible_line("a\r\nb\tc\u{2028}d\u{2800}e"), "a b c d e");
    }

    #[test]
    fn letters_that_are_drawn_stay() {
        for text in [
            "👩\u{200d}🚀",
            "❤\u{fe0f}",
            "1\u{fe0f}⃣",
            "👩🏽\u{200d}❤\u{fe0f}\u{200d}👨",
            "می\u{200c}خواهم",
            "क्\u{200d}ष",
            "Zoë — «ok»\n\t佐々木",
        ] {
            assert_eq!(visible(text), text);
        }
    }

    proptest! {
        #[test]
        fn cleaning_twice_changes_nothing(text in "\\PC{0,30}|[\u{200b}-\u{200f}\u{fe00}-\u{fe0f}a👩❤ی]{0,20}") {
            let once = visible(&text);
            prop_assert_eq!(visible(&once), once.clone());
            prop_assert!(visible_line(&text).lines().count() <= 1);
        }
    }
}
