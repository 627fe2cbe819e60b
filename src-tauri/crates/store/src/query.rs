//! Builds queries for the full-text indexes: words, and trigrams for scripts without spaces.

use domain::script::{has_unspaced_script, is_unspaced_letter};
use rusqlite::{Connection, OptionalExtension, params};

use crate::StoreError;

/// Maximum number of words, because users may paste a whole page.
const MAX_WORDS: usize = 32;
/// Length of the n-grams in the trigram index.
const NGRAM: usize = 3;
/// Maximum number of rows that one search ranks. Ranking takes a microsecond for one or two rows,
/// and a turn has only milliseconds. Half of this value misses 3 % of the answers among 5,000
/// messages.
const MAX_ROWS: u32 = 500;

/// Words to search for. A row matches if it has any of them; rarer words weigh more.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// For the word index.
    pub(crate) words: Vec<String>,
    /// For the trigram index.
    pub(crate) letters: Vec<String>,
}

/// A range of index rows, including both ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RowRange {
    pub(crate) first: i64,
    pub(crate) last: i64,
}

impl RowRange {
    pub(crate) const ALL: Self = Self {
        first: 1,
        last: i64::MAX,
    };
}

/// A query of one index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IndexQuery {
    /// Query terms, rarest first.
    pub(crate) words: Vec<String>,
    /// Search only these rows.
    pub(crate) rows: RowRange,
}

impl IndexQuery {
    /// Returns the query for rows with any of the words.
    pub(crate) fn any(&self) -> String {
        self.words.join(" OR ")
    }
}

impl Query {
    /// `words` are single words of any script. All characters except letters and digits are
    /// ignored.
    pub fn any_word<'w>(words: impl IntoIterator<Item = &'w str>) -> Self {
        let mut plain = Vec::new();
        let mut runs = Vec::new();
        for word in words.into_iter().take(MAX_WORDS) {
            let letters: Vec<char> = word
                .chars()
                .filter(|letter| letter.is_alphanumeric() || is_unspaced_letter(*letter))
                .collect();
            if letters.iter().copied().any(is_unspaced_letter) {
                runs.extend(
                    letters
                        .windows(NGRAM)
                        .take(MAX_WORDS)
                        .map(|run| run.iter().collect::<String>()),
                );
            } else if !letters.is_empty() {
                plain.push(letters.iter().collect::<String>());
            }
        }
        Self {
            words: quoted(&plain),
            letters: quoted(&runs),
        }
    }
}

/// Returns the queries of the word index and the trigram index for rows that contain every word.
/// Each word matches as a prefix, because the user may still be typing. Runs shorter than a trigram
/// are ignored.
pub(crate) fn all_words(words: &[String]) -> (String, String) {
    let mut plain = Vec::new();
    let mut runs = Vec::new();
    let parts = words.iter().flat_map(|word| {
        word.split(|letter: char| !letter.is_alphanumeric() && !is_unspaced_letter(letter))
    });
    for part in parts.filter(|part| !part.is_empty()).take(MAX_WORDS) {
        if !has_unspaced_script(part) {
            plain.push(format!("\"{part}\"*"));
        } else if part.chars().count() >= NGRAM {
            runs.push(format!("\"{part}\""));
        }
    }
    (plain.join(" AND "), runs.join(" AND "))
}

/// Selects the rarest words that together occur in at most [`MAX_ROWS`] rows. The dropped words
/// distinguish rows the least. If every word is too common, this selects the rarest word in the
/// newest rows that have it. Rows outside `among` are ignored.
pub(crate) fn sought(
    conn: &Connection,
    index: &str,
    words: &[String],
    among: RowRange,
) -> Result<Option<IndexQuery>, StoreError> {
    let mut count = conn.prepare_cached(&format!(
        "SELECT count(*) FROM (SELECT 1 FROM {index} WHERE {index} MATCH ?1 AND rowid BETWEEN ?2 AND ?3 LIMIT {})",
        MAX_ROWS + 1
    ))?;
    let mut rows_with = |word: &String| {
        count.query_row(params![word, among.first, among.last], |row| {
            row.get::<_, u32>(0)
        })
    };
    let counted = words
        .iter()
        .map(|word| Ok((rows_with(word)?, word.as_str())));
    let mut counted = counted.collect::<Result<Vec<_>, rusqlite::Error>>()?;
    counted.retain(|(rows, _)| *rows > 0);
    counted.sort();
    let Some((least, rarest)) = counted.first().copied() else {
        return Ok(None);
    };
    if least > MAX_ROWS {
        let rows = RowRange {
            first: newest(conn, index, rarest, among)?,
            ..among
        };
        return Ok(Some(IndexQuery {
            words: vec![rarest.to_owned()],
            rows,
        }));
    }
    let mut left = MAX_ROWS;
    let kept = counted.iter().map_while(|(rows, word)| {
        left = left.checked_sub(*rows)?;
        Some(*word)
    });
    Ok(Some(IndexQuery {
        words: kept.map(str::to_owned).collect(),
        rows: among,
    }))
}

/// Returns the first of the newest [`MAX_ROWS`] rows that contain `word`.
fn newest(conn: &Connection, index: &str, word: &str, among: RowRange) -> Result<i64, StoreError> {
    let sql = format!(
        "SELECT rowid FROM {index} WHERE {index} MATCH ?1 AND rowid BETWEEN ?2 AND ?3 ORDER BY rowid DESC LIMIT 1 OFFSET ?4"
    );
    let mut newest = conn.prepare_cached(&sql)?;
    let first = newest
        .query_row(
            params![word, among.first, among.last, MAX_ROWS - 1],
            |row| row.get(0),
        )
        .optional()?;
    Ok(first.unwrap_or(among.first))
}

/// Quotes the words, so that none is an operator.
fn quoted(words: &[String]) -> Vec<String> {
    words.iter().map(|word| format!("\"{word}\"")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_words_and_splits_spaceless_scripts() {
        let query = Query::any_word(["nuts", "NOT", "a\"b*", "花生过敏", "猫", ""]);
        assert_eq!(query.words, [r#""nuts""#, r#""NOT""#, r#""ab""#]);
        assert_eq!(query.letters, [r#""花生过""#, r#""生过敏""#]);
        assert_eq!(Query::any_word(["\"", "*"]), Query::default());
    }

    #[test]
    fn every_typed_word_is_required() {
        let typed = [
            "Half-Elf".to_owned(),
            "lampl".to_owned(),
            "\"* OR".to_owned(),
            "花生过敏".to_owned(),
            "猫".to_owned(),
        ];
        let (words, letters) = all_words(&typed);
        assert_eq!(words, r#""Half"* AND "Elf"* AND "lampl"* AND "OR"*"#);
        assert_eq!(letters, r#""花生过敏""#);
    }

    fn index(rows: impl Iterator<Item = String>) -> Connection {
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch(
            "CREATE VIRTUAL TABLE said USING fts5(text, tokenize = 'porter unicode61')",
        )
        .unwrap();
        let mut insert = conn.prepare("INSERT INTO said (text) VALUES (?1)").unwrap();
        rows.for_each(|text| assert_eq!(insert.execute([text]).unwrap(), 1));
        drop(insert);
        conn
    }

    fn asked(conn: &Connection, words: &[&str], among: RowRange) -> Option<IndexQuery> {
        sought(
            conn,
            "said",
            &Query::any_word(words.iter().copied()).words,
            among,
        )
        .unwrap()
    }

    #[test]
    fn selects_the_rarest_words() {
        let rows = i64::from(MAX_ROWS);
        let conn = index((0..rows * 2).map(|row| {
            let lamp = if row < 10 { "the lamps" } else { "it" };
            let river = if row % 2 == 0 { "rivers" } else { "roads" };
            format!("{lamp} by the {river} at night")
        }));
        assert_eq!(asked(&conn, &["zebulon"], RowRange::ALL), None);
        let one = asked(&conn, &["night", "river", "lamp", "zebulon"], RowRange::ALL).unwrap();
        assert_eq!(
            (one.any().as_str(), one.rows),
            (r#""lamp""#, RowRange::ALL),
            "the other words together exceed the row limit"
        );
        let most = asked(&conn, &["river", "night"], RowRange::ALL).unwrap();
        assert_eq!(
            (most.any().as_str(), most.rows),
            (r#""river""#, RowRange::ALL)
        );
        let newest = asked(&conn, &["night"], RowRange::ALL).unwrap();
        assert_eq!(
            (newest.any().as_str(), newest.rows),
            (
                r#""night""#,
                RowRange {
                    first: rows + 1,
                    ..RowRange::ALL
                }
            )
        );
        let early = RowRange {
            first: 1,
            last: rows,
        };
        let few = asked(&conn, &["night"], early).unwrap();
        assert_eq!(
            (few.any().as_str(), few.rows),
            (r#""night""#, early),
            "later rows are ignored"
        );
        assert_eq!(
            asked(
                &conn,
                &["lamp"],
                RowRange {
                    first: 11,
                    last: rows
                }
            ),
            None
        );
    }
}
