//! Words to look for, in the two languages of the full-text indexes.

use domain::script::{is_spaceless, spaceless};
use rusqlite::{Connection, OptionalExtension, params};

use crate::StoreError;

/// At most so many words; a pasted page is not a question.
const MAX_WORDS: usize = 32;
/// The index of letters knows runs of three.
const RUN: usize = 3;
/// Rows that one search weighs at the most: weighing takes a microsecond a row or two, people use the same words again and
/// again, and a turn has milliseconds (P-6). Half as many lose three of a hundred answers among 5,000 messages.
const ROWS: u32 = 500;

/// Words to look for. Any of them may be found; the rarer one counts more.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// For the index of words.
    pub(crate) words: Vec<String>,
    /// For the index of letters.
    pub(crate) letters: Vec<String>,
}

/// A stretch of the rows of an index, both ends in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rows {
    pub(crate) first: i64,
    pub(crate) last: i64,
}

impl Rows {
    pub(crate) const ALL: Self = Self { first: 1, last: i64::MAX };
}

/// What is asked of one index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sought {
    /// The rarest first; each by itself is a query.
    pub(crate) words: Vec<String>,
    /// Only these are looked at.
    pub(crate) rows: Rows,
}

impl Sought {
    /// The query for rows that have any of the words.
    pub(crate) fn any(&self) -> String {
        self.words.join(" OR ")
    }
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
}

/// What to ask an index of words, and one of letters, for rows that have every one of `words`. The end of a word may be
/// missing, for it may not be typed yet; too few letters for the index of letters are not looked for.
pub(crate) fn every_of(words: &[String]) -> (String, String) {
    let (mut plain, mut runs) = (Vec::new(), Vec::new());
    let parts =
        words.iter().flat_map(|word| word.split(|letter: char| !letter.is_alphanumeric() && !spaceless(letter)));
    for part in parts.filter(|part| !part.is_empty()).take(MAX_WORDS) {
        if !is_spaceless(part) {
            plain.push(format!("\"{part}\"*"));
        } else if part.chars().count() >= RUN {
            runs.push(format!("\"{part}\""));
        }
    }
    (plain.join(" AND "), runs.join(" AND "))
}

/// The words that are worth weighing: the rarest, as many as [`ROWS`] rows have. What is left out is in so many rows that it
/// tells them apart the least. If every word is that common, the rarest is looked for in the newest rows that have it. Rows
/// beyond `among` count for nothing.
pub(crate) fn sought(
    conn: &Connection,
    index: &str,
    words: &[String],
    among: Rows,
) -> Result<Option<Sought>, StoreError> {
    let mut count = conn.prepare_cached(&format!(
        "SELECT count(*) FROM (SELECT 1 FROM {index} WHERE {index} MATCH ?1 AND rowid BETWEEN ?2 AND ?3 LIMIT {})",
        ROWS + 1
    ))?;
    let mut rows_with =
        |word: &String| count.query_row(params![word, among.first, among.last], |row| row.get::<_, u32>(0));
    let counted = words.iter().map(|word| Ok((rows_with(word)?, word.as_str())));
    let mut counted = counted.collect::<Result<Vec<_>, rusqlite::Error>>()?;
    counted.retain(|(rows, _)| *rows > 0);
    counted.sort();
    let Some((least, rarest)) = counted.first().copied() else { return Ok(None) };
    if least > ROWS {
        let rows = Rows { first: newest(conn, index, rarest, among)?, ..among };
        return Ok(Some(Sought { words: vec![rarest.to_owned()], rows }));
    }
    let mut left = ROWS;
    let kept = counted.iter().map_while(|(rows, word)| {
        left = left.checked_sub(*rows)?;
        Some(*word)
    });
    Ok(Some(Sought { words: kept.map(str::to_owned).collect(), rows: among }))
}

/// The first of the newest [`ROWS`] rows that have `word`.
fn newest(conn: &Connection, index: &str, word: &str, among: Rows) -> Result<i64, StoreError> {
    let sql = format!(
        "SELECT rowid FROM {index} WHERE {index} MATCH ?1 AND rowid BETWEEN ?2 AND ?3 ORDER BY rowid DESC LIMIT 1 OFFSET ?4"
    );
    let mut newest = conn.prepare_cached(&sql)?;
    let first = newest.query_row(params![word, among.first, among.last, ROWS - 1], |row| row.get(0)).optional()?;
    Ok(first.unwrap_or(among.first))
}

/// Quoted, so that no word is an operator.
fn quoted(words: &[String]) -> Vec<String> {
    words.iter().map(|word| format!("\"{word}\"")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_and_spaceless_scripts_are_cut_into_runs() {
        let query = Query::any_of(["nuts", "NOT", "a\"b*", "花生过敏", "猫", ""]);
        assert_eq!(query.words, [r#""nuts""#, r#""NOT""#, r#""ab""#]);
        assert_eq!(query.letters, [r#""花生过""#, r#""生过敏""#]);
        assert_eq!(Query::any_of(["\"", "*"]), Query::default());
    }

    #[test]
    fn every_part_of_what_is_typed_is_asked_for() {
        let typed =
            ["Half-Elf".to_owned(), "lampl".to_owned(), "\"* OR".to_owned(), "花生过敏".to_owned(), "猫".to_owned()];
        let (words, letters) = every_of(&typed);
        assert_eq!(words, r#""Half"* AND "Elf"* AND "lampl"* AND "OR"*"#);
        assert_eq!(letters, r#""花生过敏""#);
    }

    fn index(rows: impl Iterator<Item = String>) -> Connection {
        let conn = Connection::open_in_memory().unwrap();
        conn.execute_batch("CREATE VIRTUAL TABLE said USING fts5(text, tokenize = 'porter unicode61')").unwrap();
        let mut insert = conn.prepare("INSERT INTO said (text) VALUES (?1)").unwrap();
        rows.for_each(|text| assert_eq!(insert.execute([text]).unwrap(), 1));
        drop(insert);
        conn
    }

    fn asked(conn: &Connection, words: &[&str], among: Rows) -> Option<Sought> {
        sought(conn, "said", &Query::any_of(words.iter().copied()).words, among).unwrap()
    }

    #[test]
    fn of_common_words_the_rarest_are_looked_for() {
        let rows = i64::from(ROWS);
        let conn = index((0..rows * 2).map(|row| {
            let lamp = if row < 10 { "the lamps" } else { "it" };
            let river = if row % 2 == 0 { "rivers" } else { "roads" };
            format!("{lamp} by the {river} at night")
        }));
        assert_eq!(asked(&conn, &["zebulon"], Rows::ALL), None);
        let one = asked(&conn, &["night", "river", "lamp", "zebulon"], Rows::ALL).unwrap();
        assert_eq!(
            (one.any().as_str(), one.rows),
            (r#""lamp""#, Rows::ALL),
            "the others together have more rows than are weighed"
        );
        let most = asked(&conn, &["river", "night"], Rows::ALL).unwrap();
        assert_eq!((most.any().as_str(), most.rows), (r#""river""#, Rows::ALL));
        let newest = asked(&conn, &["night"], Rows::ALL).unwrap();
        assert_eq!((newest.any().as_str(), newest.rows), (r#""night""#, Rows { first: rows + 1, ..Rows::ALL }));
        let early = Rows { first: 1, last: rows };
        let few = asked(&conn, &["night"], early).unwrap();
        assert_eq!((few.any().as_str(), few.rows), (r#""night""#, early), "the rows behind count for nothing");
        assert_eq!(asked(&conn, &["lamp"], Rows { first: 11, last: rows }), None);
    }
}
