//! Query analysis of a turn: the content words of the user's message and the hints in it.

use context::frame::HistoryMessage;
use domain::chat::Role;
use recall::hints::{self, QueryHints};
use recall::{question, tokens};
use store::Query;

use crate::recall_service::query::TurnQuery;

/// A full-text query that matches any of `words`.
pub(crate) fn query(words: &[String]) -> Query {
    Query::any_word(words.iter().map(String::as_str))
}

/// The content words of the user's latest message.
pub(crate) fn own_words(turn: &TurnQuery<'_>) -> Vec<String> {
    tokens::sought(last_said(turn.history), &spoken_names(turn))
}

/// [`own_words`], and those of the user's message before it if the latest one leans back ("And what
/// was her name?").
pub(crate) fn telling_words(turn: &TurnQuery<'_>) -> Vec<String> {
    let mut words = own_words(turn);
    let [user, character @ ..] = spoken_names(turn);
    if hints::leans_back(last_said(turn.history), user, character) {
        let before = turn
            .history
            .iter()
            .rev()
            .filter(|message| message.role == Role::User)
            .nth(1);
        words.extend(
            before
                .into_iter()
                .flat_map(|before| tokens::sought(&before.text, &spoken_names(turn))),
        );
    }
    words
}

/// The user's name, then the two names of the character.
fn spoken_names<'t>(turn: &TurnQuery<'t>) -> [&'t str; 3] {
    [&turn.persona.name, turn.card.name(), turn.speaker]
}

/// The text to embed for this turn.
pub(crate) fn plain_words(turn: &TurnQuery<'_>) -> String {
    let said = turn
        .history
        .iter()
        .rev()
        .filter(|message| message.role == Role::User);
    let said: Vec<&str> = said.take(2).map(|message| message.text.as_str()).collect();
    hints::plain(&said, &turn.persona.name, [turn.card.name(), turn.speaker])
}

/// Earlier messages are searched only if the user's message asks for something. Story text shares
/// words with everything told before, and each excerpt stays in the window: the window would fill
/// up and be read again sooner.
pub(crate) fn asks(turn: &TurnQuery<'_>) -> bool {
    question::asks(last_said(turn.history))
}

/// The hints in the user's latest message: whose messages it asks about, and from when.
pub(crate) fn about(turn: &TurnQuery<'_>) -> QueryHints {
    QueryHints::of(
        last_said(turn.history),
        &[&turn.persona.name],
        &[turn.card.name(), turn.speaker],
    )
}

/// The user's message that this turn answers.
pub(crate) fn last_said(history: &[HistoryMessage]) -> &str {
    let said = history
        .iter()
        .rev()
        .find(|message| message.role == Role::User);
    said.map_or("", |message| &message.text)
}
