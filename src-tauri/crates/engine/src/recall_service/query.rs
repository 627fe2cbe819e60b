//! The input of recall for one turn.

use context::frame::HistoryMessage;
use domain::MessageId;
use domain::card::Card;
use domain::chat::Chat;
use domain::persona::Persona;
use domain::settings::Values;

use crate::base::records::convert::Speakers;
use crate::library::groups::presence::Knowledge;
use crate::recall_service::embeddings::turn_embedding::TurnEmbedding;

/// Input of recall. The turn builds it from what it has read of the chat.
#[derive(Clone, Copy)]
pub(crate) struct TurnQuery<'t> {
    pub(crate) chat: &'t Chat,
    pub(crate) card: &'t Card,
    pub(crate) persona: &'t Persona,
    /// Name of the character that replies.
    pub(crate) speaker: &'t str,
    /// Knowledge of the speaker.
    pub(crate) known: &'t Knowledge,
    pub(crate) speakers: &'t Speakers,
    /// Messages of the window; the user's new message is the last.
    pub(crate) history: &'t [HistoryMessage],
    pub(crate) values: &'t Values,
    /// The reply that this turn replaces. Facts learned from it do not apply yet.
    pub(crate) replaced: Option<MessageId>,
    /// Tokens of history that the budget allows at most.
    pub(crate) history_tokens: u32,
    /// Embedding of the query, computed at most once a turn.
    pub(crate) embedding: &'t TurnEmbedding,
}
