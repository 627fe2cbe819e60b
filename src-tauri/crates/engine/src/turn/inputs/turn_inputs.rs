//! The inputs of one turn, as read from the store.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use context::frame::HistoryMessage;
use context::lore::{Earlier, GenerationKind};
use context::prompt_template::{Mode, ResolvedTemplate};
use domain::card::Card;
use domain::settings::{PlacementMode, Values};
use domain::{MessageId, Timestamp, ToolRound};
use store::BoundLorebook;

use crate::api::client::ClientOptions;
use crate::base::records::convert::Speakers;
use crate::library::groups::presence::Knowledge;
use crate::library::groups::scene::NextSpeaker;
use crate::library::scripts::run::ActiveScripts;
use crate::library::snapshots::snapshot::ChatSnapshot;
use crate::recall_service::embeddings::turn_embedding::TurnEmbedding;
use crate::recall_service::query::TurnQuery;
use crate::turn::inputs::late_events::LateEvents;
use crate::turn::inputs::story::Story;

/// The message that the reply answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ReplyTo {
    /// The last message of the chat.
    Last,
    /// The last message of the chat, by a new message of this speaker.
    By(NextSpeaker),
    /// The message before the reply that gets another swipe.
    Before(MessageId),
    /// Text that is not in the chat yet, for a preview.
    Draft(String),
}

impl ReplyTo {
    /// The reply that this turn replaces.
    pub(crate) fn replaced(&self) -> Option<MessageId> {
        match self {
            Self::Before(reply) => Some(*reply),
            Self::Last | Self::By(_) | Self::Draft(_) => None,
        }
    }
}

/// Everything that a turn reads before lorebooks and memory are searched.
pub(crate) struct TurnInputs {
    pub(crate) snapshot: ChatSnapshot,
    pub(crate) values: Values,
    pub(crate) template: ResolvedTemplate,
    pub(crate) mode: Mode,
    pub(crate) story: Story,
    pub(crate) speakers: Speakers,
    /// Name of the character or narrator who writes the reply.
    pub(crate) speaker: String,
    /// Knowledge of the speaker.
    pub(crate) known: Knowledge,
    pub(crate) scripts: Arc<ActiveScripts>,
    /// Why the reply is generated.
    pub(crate) kind: GenerationKind,
    /// The reply that this turn replaces. Facts learned from it do not apply yet.
    pub(crate) replaced: Option<MessageId>,
    /// Number of swipes of the chat's last message, and the selected one or the one being written,
    /// from 1.
    pub(crate) swipes: (u64, u64),
    /// Messages of the window, after the scripts that change only the prompt.
    pub(crate) history: Vec<HistoryMessage>,
    /// Text that the prompt adds after a message for its pictures and tool calls.
    pub(crate) notes: HashMap<MessageId, String>,
    /// Rounds of a reply without text, which this turn continues.
    pub(crate) open_rounds: Vec<ToolRound>,
    /// The lorebooks that apply in the chat.
    pub(crate) bound: Vec<BoundLorebook>,
    /// Embedding of the query, computed on first use.
    pub(crate) embedding: TurnEmbedding,
    /// Tokens of history that the budget allows at most.
    pub(crate) history_tokens: u32,
    /// Counts of the messages before the history.
    pub(crate) earlier: Earlier,
    /// Index of the greeting that the chat began with: 0 is the first message, the alternates
    /// follow.
    pub(crate) greeting: Option<u32>,
    /// Number of user messages in the chat.
    pub(crate) user_messages: i64,
    /// Number of messages up to the user's last one, and how many of them follow the user's message
    /// before that.
    pub(crate) said: (i64, i64),
    /// Reports of the context block for this turn alone.
    pub(crate) late_events: LateEvents,
    /// Options of a program that uses the local API.
    pub(crate) client: Option<Arc<ClientOptions>>,
    /// The prompt is speculative, so its token counts are not stored.
    pub(crate) in_passing: bool,
    pub(crate) notices: Vec<String>,
    /// Retraction counter before the first read. If it has changed since, the inputs may contain
    /// retracted text.
    pub(crate) withdrawals: i64,
    pub(crate) started: Instant,
    /// Duration of the reads.
    pub(crate) collect_ms: f64,
}

impl TurnInputs {
    /// Time of the message that is answered; `now` if there is none.
    pub(crate) fn answered_at(&self, now: Timestamp) -> Timestamp {
        self.history.last().map_or(now, |message| message.created)
    }

    /// The card of the speaker, for its lorebook and notes, with the card's hash.
    pub(crate) fn voice(&self) -> (&Arc<Card>, u64) {
        self.known
            .card(&self.snapshot.card, self.snapshot.card_hash)
    }

    /// Key of the KV sequence that holds the prompt.
    pub(crate) fn cache_key(&self) -> String {
        self.known.cache_key(&self.snapshot.chat)
    }

    /// The placement of lore and notes in this turn.
    pub(crate) fn placement(&self) -> context::Placement {
        match self.values.placement {
            PlacementMode::CacheFirst => context::Placement::CacheFirst,
            PlacementMode::Classic => context::Placement::Classic,
        }
    }

    /// The turn as recall sees it.
    pub(crate) fn recall_query(&self) -> TurnQuery<'_> {
        TurnQuery {
            chat: &self.snapshot.chat,
            card: &self.snapshot.card,
            persona: &self.snapshot.persona,
            speaker: &self.speaker,
            known: &self.known,
            speakers: &self.speakers,
            history: &self.history,
            values: &self.values,
            replaced: self.replaced,
            history_tokens: self.history_tokens,
            embedding: &self.embedding,
        }
    }
}
