//! Separates the questions of a text from its statements.

use crate::question::QUESTION;

/// Marks that end a sentence without asking.
const ENDS: [char; 5] = ['.', '!', '。', '！', '\n'];

/// Share of `text` that consists of questions, 0 to 1, in bytes. It is computed for every message,
/// so sentences simply end at their marks.
pub fn question_share(text: &str) -> f32 {
    let asking = sentences(text).filter(|sentence| sentence.ends_with(QUESTION));
    asking.map(str::len).sum::<usize>() as f32 / text.len().max(1) as f32
}

/// The sentences of `text` that are not questions.
pub fn statement_text(text: &str) -> String {
    sentences(text)
        .filter(|sentence| !sentence.ends_with(QUESTION))
        .collect()
}

fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(|letter: char| QUESTION.contains(&letter) || ENDS.contains(&letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn question_mark_makes_a_question() {
        let part = |text: &str| (question_share(text) * 100.0).round() as i32;
        assert_eq!(part("I live by the sea. It is loud."), 0);
        assert_eq!(part("Where do you live?"), 100);
        assert_eq!(part("I live here. And you now?"), 52);
        assert_eq!(part("*nods* \"And you?\" *waves*"), 64);
        assert_eq!(part("我住在海边。你呢？"), 33);
        assert_eq!(part(""), 0);
        assert_eq!(
            statement_text("My dog? I live here. And you now?"),
            " I live here."
        );
    }
}
