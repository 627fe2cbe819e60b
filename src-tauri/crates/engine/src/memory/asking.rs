//! What a turn asks for: its words, and whose words, and of when.

use domain::chat::Role;
use store::Query;

use super::about::{self, About};
use super::request::{self, QUESTION};
use super::terms;
use crate::collect::Collected;

/// What ends other sentences.
const ENDS: [char; 5] = ['.', '!', '。', '！', '\n'];

/// `words`, to be looked for.
pub(super) fn query(words: &[String]) -> Query {
    Query::any_of(words.iter().map(String::as_str))
}

/// The words of this turn that say something.
pub(super) fn own_words(collected: &Collected) -> Vec<String> {
    terms::sought(last_said(collected), &spoken_names(collected))
}

/// [`own_words`], and where they lean back to the message before, its words as well ("And what was her name?").
pub(super) fn telling_words(collected: &Collected) -> Vec<String> {
    let mut words = own_words(collected);
    let [user, character @ ..] = spoken_names(collected);
    if about::leans_back(last_said(collected), user, character) {
        let before = collected.history.iter().rev().filter(|message| message.role == Role::User).nth(1);
        words.extend(before.into_iter().flat_map(|before| terms::sought(&before.text, &spoken_names(collected))));
    }
    words
}

/// The user's, then the character's.
fn spoken_names(collected: &Collected) -> [&str; 3] {
    [&collected.persona.name, collected.card.name(), collected.speaker()]
}

/// The words of this turn as the encoder is to read them.
pub(super) fn plain_words(collected: &Collected) -> String {
    let said = collected.history.iter().rev().filter(|message| message.role == Role::User);
    let said: Vec<&str> = said.take(2).map(|message| message.text.as_str()).collect();
    about::plain(&said, &collected.persona.name, [collected.card.name(), collected.speaker()])
}

/// Earlier messages are looked for when they may be asked about (S2.15). What a story tells shares words with all that was
/// told before; as each excerpt stays in the window, that would only be full, and read anew, the sooner.
pub(super) fn asks(collected: &Collected) -> bool {
    request::asks(last_said(collected))
}

/// What part of `text` asks something, from 0 to 1: an answer tells. Every message is asked that once, so sentences are cut at
/// their marks, in one walk.
pub(super) fn asking_part(text: &str) -> f32 {
    let asking = sentences(text).filter(|sentence| sentence.ends_with(QUESTION));
    asking.map(str::len).sum::<usize>() as f32 / text.len().max(1) as f32
}

/// The sentences of `text` that do not ask.
pub(super) fn told_part(text: &str) -> String {
    sentences(text).filter(|sentence| !sentence.ends_with(QUESTION)).collect()
}

fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(|letter: char| QUESTION.contains(&letter) || ENDS.contains(&letter))
}

/// Whose words, and of when, this turn asks for.
pub(super) fn about(collected: &Collected) -> About {
    About::of(last_said(collected), &[&collected.persona.name], &[collected.card.name(), collected.speaker()])
}

/// The user's words that this turn answers.
pub(crate) fn last_said(collected: &Collected) -> &str {
    let said = collected.history.iter().rev().find(|message| message.role == Role::User);
    said.map_or("", |message| &message.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_with_a_mark_of_a_question_asks() {
        let part = |text: &str| (asking_part(text) * 100.0).round() as i32;
        assert_eq!(part("I live by the sea. It is loud."), 0);
        assert_eq!(part("Where do you live?"), 100);
        assert_eq!(part("I live here. And you now?"), 52);
        assert_eq!(part("*nods* \"And you?\" *waves*"), 64);
        assert_eq!(part("我住在海边。你呢？"), 33);
        assert_eq!(part(""), 0);
        assert_eq!(told_part("My dog? I live here. And you now?"), " I live here.");
    }
}
