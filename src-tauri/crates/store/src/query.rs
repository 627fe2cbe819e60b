//! Words to look for, in the two languages of the full-text indexes.

use rusqlite::{Connection, OptionalExtension, params};

use crate::StoreError;

/// At most so many words; a pasted page is not a question.
const MAX_WORDS: usize = 32;
/// The index of letters knows runs of three.
const RUN: usize = 3;
/// Rows that one search weighs at the most: weighing takes a microsecond a row or two, people use the same words again and
/// again, and a turn has milliseconds (P-6). On LoCoMo a seventh of all messages finds what all of them find.
const ROWS: u32 = 500;

/// Words to look for. Any of them may be found; the rarer one counts more.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// For the index of words.
    pub(crate) words: Vec<String>,
    /// For the index of letters.
    pub(crate) letters: Vec<String>,
}

/// What is asked of one index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sought {
    /// Its query.
    pub(crate) text: String,
    /// Only rows with a larger number are looked at.
    pub(crate) after: i64,
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
        Self { words: quoted(&plain), letters: quoted(&runs) }
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && self.letters.is_empty()
    }
}

/// The words that are worth weighing: the rarest, as many as [`ROWS`] rows have. What is left out is in so many rows that it
/// tells them apart the least. If every word is that common, the rarest is looked for in the newest rows that have it.
pub(crate) fn sought(conn: &Connection, index: &str, words: &[String]) -> Result<Option<Sought>, StoreError> {
    let mut count = conn.prepare_cached(&format!(
        "SELECT count(*) FROM (SELECT 1 FROM {index} WHERE {index} MATCH ?1 LIMIT {})",
        ROWS + 1
    ))?;
    let counted = words.iter().map(|word| Ok((count.query_row([word], |row| row.get::<_, u32>(0))?, word.as_str())));
    let mut counted = counted.collect::<Result<Vec<_>, rusqlite::Error>>()?;
    counted.retain(|(rows, _)| *rows > 0);
    counted.sort();
    let Some((least, rarest)) = counted.first().copied() else { return Ok(None) };
    if least > ROWS {
        return Ok(Some(Sought { text: rarest.to_owned(), after: newest(conn, index, rarest)? }));
    }
    let mut left = ROWS;
    let kept = counted.iter().map_while(|(rows, word)| {
        left = left.checked_sub(*rows)?;
        Some(*word)
    });
    Ok(Some(Sought { text: kept.collect::<Vec<_>>().join(" OR "), after: 0 }))
}

/// The row behind which the newest [`ROWS`] rows stand that have `word`.
fn newest(conn: &Connection, index: &str, word: &str) -> Result<i64, StoreError> {
    let sql = format!("SELECT rowid FROM {index} WHERE {index} MATCH ?1 ORDER BY rowid DESC LIMIT 1 OFFSET ?2");
    Ok(conn.prepare_cached(&sql)?.query_row(params![word, ROWS], |row| row.get(0)).optional()?.unwrap_or(0))
}

/// Quoted, so that no word is an operator.
fn quoted(words: &[String]) -> Vec<String> {
    words.iter().map(|word| format!("\"{word}\"")).collect()
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
        assert_eq!(query.words, [r#""nuts""#, r#""NOT""#, r#""ab""#]);
        assert_eq!(query.letters, [r#""花生过""#, r#""生过敏""#]);
        assert!(Query::any_of(["\"", "*"]).is_empty());
    }

    fn index(rows: impl Iterator<Item = String>) -> Connection {
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch("CREATE VIRTUAL TABLE said USING fts5(text, tokenize = 'porter unicode61')").unwrap();
        let mut insert = conn.prepare("INSERT INTO said (text) VALUES (?1)").unwrap();
        rows.for_each(|text| assert_eq!(insert.execute([text]).unwrap(), 1));
        drop(insert);
        conn
    }

    fn asked(conn: &Connection, words: &[&str]) -> Option<Sought> {
        sought(conn, "said", &Query::any_of(words.iter().copied()).words).unwrap()
    }

    #[test]
    fn of_common_words_the_rarest_are_looked_for() {
        let rows = i64::from(ROWS);
        let conn = index((0..rows * 2).map(|row| {
            let lamp = if row < 10 { "the lamps" } else { "it" };
            let river = if row % 2 == 0 { "rivers" } else { "roads" };
            format!("{lamp} by the {river} at night")
        }));
        assert_eq!(asked(&conn, &["zebulon"]), None);
        let one = asked(&conn, &["night", "river", "lamp", "zebulon"]).unwrap();
        assert_eq!(
            (one.text.as_str(), one.after),
            (r#""lamp""#, 0),
            "the others together have more rows than are weighed"
        );
        let most = asked(&conn, &["river", "night"]).unwrap();
        assert_eq!((most.text.as_str(), most.after), (r#""river""#, 0));
        let newest = asked(&conn, &["night"]).unwrap();
        assert_eq!((newest.text.as_str(), newest.after), (r#""night""#, rows));
    }
}
