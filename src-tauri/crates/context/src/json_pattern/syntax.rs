//! Rewrites a JavaScript regular expression, the syntax of JSON Schema, for the parser of the crate
//! `regex-syntax`.

/// The pattern with the classes, escapes and brackets that the parser reads in another way.
///
/// # Errors
/// The reason why the pattern has no counterpart.
pub(super) fn rewritten(pattern: &str) -> Result<String, &'static str> {
    let mut text = String::with_capacity(pattern.len());
    let mut letters = pattern.chars().peekable();
    let mut in_class = false;
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => {
                let escaped = letters.next().ok_or("it ends in a backslash")?;
                escape(escaped, in_class, &mut text)?;
            }
            '[' if !in_class => {
                in_class = true;
                text.push('[');
                if letters.next_if_eq(&'^').is_some() {
                    text.push('^');
                }
                if letters.peek() == Some(&']') {
                    return Err("a class without characters matches nothing, or everything");
                }
            }
            ']' if in_class => {
                in_class = false;
                text.push(']');
            }
            // Nested classes and their operators do not exist in JavaScript.
            '[' | '&' | '~' if in_class => {
                text.push('\\');
                text.push(letter);
            }
            letter => text.push(letter),
        }
    }
    Ok(text)
}

fn escape(letter: char, in_class: bool, text: &mut String) -> Result<(), &'static str> {
    match letter {
        'd' => text.push_str("[0-9]"),
        'D' => text.push_str("[^0-9]"),
        'w' => text.push_str("[0-9A-Za-z_]"),
        'W' => text.push_str("[^0-9A-Za-z_]"),
        's' => text.push_str(r"[\t\n\v\f\r \u00A0\u2028\u2029\uFEFF]"),
        'S' => text.push_str(r"[^\t\n\v\f\r \u00A0\u2028\u2029\uFEFF]"),
        '0' => text.push_str(r"\x00"),
        'b' if in_class => text.push_str(r"\x08"),
        'c' => return Err("the escape `\\c` is not supported"),
        'k' => return Err("backreferences are not supported"),
        'A' | 'z' | 'Z' | 'G' | 'Q' | 'E' | '<' | '>' => text.push(letter),
        letter if letter.is_ascii_punctuation() || letter == ' ' => {
            use std::fmt::Write as _;
            let _ = write!(text, "\\x{:02X}", u32::from(letter));
        }
        letter => {
            text.push('\\');
            text.push(letter);
        }
    }
    Ok(())
}
