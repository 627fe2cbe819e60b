//! Words to look for, in the two languages of the full-text indexes.

/// At most so many words; a pasted page is not a question.
const MAX_WORDS: usize = 32;
/// The index of letters knows runs of three.
const RUN: usize = 3;

/// Words to look for. Any of them may be found; the rarer one counts more.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// For the index of words; empty for none.
    pub(crate) words: String,
    /// For the index of letters; empty for none.
    pub(crate) letters: String,
}

impl Query {
    /// `words` are letters and digits of any script, each word by itself; what else is in them is not looked for.
    pub fn any_of<'w>(words: impl IntoIterator<Item = &'w str>) -> Self {
        let (mut plain, mut runs) = (Vec::new(), Vec::new());
        for word in words.into_iter().take(MAX_WORDS) {
            let letters: Vec<char> =
                word.chars().filter(|letter| letter.is_alphanumeric() || spaceless(*letter)).collect();
            if letters.iter().copied().any(spaceless) {
                runs.extend(letters.windows(RUN).take(MAX_WORDS).map(|run| run.iter().collect::<String>()));
            } else if !letters.is_empty() {
                plain.push(letters.iter().collect::<String>());
            }
        }
        Self { words: alternatives(&plain), letters: alternatives(&runs) }
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && self.letters.is_empty()
    }
}

/// Quoted, so that no word is an operator.
fn alternatives(words: &[String]) -> String {
    words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(" OR ")
}

/// Of a script that puts no spaces between words, as the triggers of the indexes have it.
fn spaceless(letter: char) -> bool {
    matches!(letter, '\u{e00}'..='\u{e7f}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_and_spaceless_scripts_are_cut_into_runs() {
        let query = Query::any_of(["nuts", "NOT", "a\"b*", "花生过敏", "猫", ""]);
        assert_eq!(query.words, r#""nuts" OR "NOT" OR "ab""#);
        assert_eq!(query.letters, r#""花生过" OR "生过敏""#);
        assert!(Query::any_of(["\"", "*"]).is_empty());
    }
}
