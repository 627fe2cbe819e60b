//! Cleans up a pasted API key.

use secrecy::{ExposeSecret, SecretString};

use crate::{ProviderError, ProviderErrorKind};

/// Removes surrounding whitespace, invisible characters, quotation marks and the word `Bearer`. A
/// blank key yields `None`.
///
/// # Errors
/// `BadRequest`, which describes the fault and never shows the key.
pub(crate) fn read(pasted: &SecretString) -> Result<Option<SecretString>, ProviderError> {
    let visible: String = pasted
        .expose_secret()
        .chars()
        .filter(|letter| !is_invisible(*letter))
        .collect();
    let mut key = visible.trim();
    loop {
        let before = key;
        for prefix in ["authorization:", "bearer "] {
            if key
                .get(..prefix.len())
                .is_some_and(|head| head.eq_ignore_ascii_case(prefix))
            {
                key = key[prefix.len()..].trim();
            }
        }
        key = key
            .strip_prefix(is_quote)
            .and_then(|key| key.strip_suffix(is_quote))
            .unwrap_or(key)
            .trim();
        if key == before {
            break;
        }
    }
    match fault(key) {
        Some((why, hint)) => Err(ProviderError::new(ProviderErrorKind::BadRequest, why, hint)),
        None if key.is_empty() || key.eq_ignore_ascii_case("bearer") => Ok(None),
        None => Ok(Some(SecretString::from(key))),
    }
}

/// Invisible characters that are often copied along with text.
pub(crate) fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{AD}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2064}' | '\u{FEFF}')
}

fn is_quote(letter: char) -> bool {
    matches!(
        letter,
        '"' | '\'' | '`' | '“' | '”' | '„' | '‘' | '’' | '‚' | '«' | '»'
    )
}

/// Returns the fault of a key and its remedy.
fn fault(key: &str) -> Option<(&'static str, &'static str)> {
    let has = |wrong: fn(char) -> bool| key.contains(wrong);
    if has(|letter| matches!(letter, '\n' | '\r' | '\u{2028}' | '\u{2029}')) {
        return Some((
            "the key contains a line break; perhaps two keys were pasted",
            "Paste one key, without a line break.",
        ));
    }
    if has(char::is_whitespace) {
        return Some((
            "the key contains a space",
            "Copy the key again, without any text around it.",
        ));
    }
    if has(|letter| matches!(letter, '…' | '•' | '●' | '*')) || key.contains("...") {
        return Some((
            "the key is incomplete (it contains … or •)",
            "Copy the whole key with the page's copy button, or create a new one.",
        ));
    }
    if has(is_quote) {
        return Some((
            "the key contains a quotation mark",
            "Copy the key again, without quotation marks.",
        ));
    }
    has(|letter| !letter.is_ascii_graphic()).then_some((
        "the key contains a character that keys never contain",
        "Copy the key again, from the page that issued it.",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pasted: &str) -> Result<Option<String>, String> {
        let key = super::read(&SecretString::from(pasted)).map_err(|error| error.message)?;
        Ok(key.map(|key| key.expose_secret().to_owned()))
    }

    #[test]
    fn removes_text_around_a_pasted_key() {
        for pasted in [
            "sk-a",
            " sk-a\n",
            "\u{200b}sk-a",
            "\u{feff}sk-a\u{a0}",
            "sk\u{200d}-a",
            "“sk-a”",
            "\"sk-a\"",
            "'sk-a'",
            "Bearer sk-a",
            "bearer  sk-a\r\n",
            "Authorization: Bearer sk-a",
            "\"Bearer sk-a\"",
            "sk-a\u{2060}",
        ] {
            assert_eq!(read(pasted), Ok(Some("sk-a".to_owned())), "{pasted:?}");
        }
        for blank in ["", " ", "\u{200b}\n", "Bearer ", "\"\""] {
            assert_eq!(read(blank), Ok(None), "{blank:?}");
        }
    }

    #[test]
    fn names_the_fault_of_a_key() {
        for (pasted, why) in [
            ("sk-a\nsk-b", "line break"),
            ("sk-a\r\nsk-b", "line break"),
            ("sk-a\u{2028}sk-b", "line break"),
            ("sk-a sk-b", "space"),
            ("sk-a\u{a0}b", "space"),
            ("sk-…", "incomplete"),
            ("sk-abc...xyz", "incomplete"),
            ("sk-••••", "incomplete"),
            ("sk-”a", "quotation"),
            ("sk-ä", "character"),
            ("sk-a\u{7}", "character"),
        ] {
            let message = read(pasted).unwrap_err();
            assert!(
                message.contains(why) && !message.contains("sk-"),
                "{pasted:?}: {message}"
            );
        }
    }
}
