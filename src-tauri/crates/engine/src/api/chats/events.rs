//! Events that the engine announces to every listener.

use domain::{ChatId, MessageId, ModelId, SwipeId};
use serde::{Deserialize, Serialize};
use specta::Type;

use crate::api::{
    CommandOutcome, Download, EndReason, Figures, ImportProgress, ImportReport, LoadNote, Memory,
    Message, ModelMove, ReplyTurn, ToolRequest, ToolRound, UpdateStatus, VisionStatus,
};

/// An event of the engine, sent to all listeners. An event of a chat names the chat, so that no
/// other chat shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(
    tag = "event",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum Event {
    /// A reply has begun. `message` has its new, empty swipe selected; `sent` is the message right
    /// before it, if that is new. `turn` is set if several characters answer one message.
    Started {
        chat: ChatId,
        sent: Option<Message>,
        message: Message,
        #[serde(default)]
        turn: Option<ReplyTurn>,
    },
    /// Another reply uses the model; this one waits.
    Queued { chat: ChatId },
    /// The model is being loaded; `fraction` is from 0 to 1.
    Loading { chat: ChatId, fraction: f32 },
    /// Prompt processing: `done` of `total` tokens, of which `reused` came from the cache.
    Prefill {
        chat: ChatId,
        done: u32,
        total: u32,
        reused: u32,
    },
    /// A piece of the reply. `seq` counts from 0 without gaps within a swipe.
    Token {
        chat: ChatId,
        message: MessageId,
        swipe: SwipeId,
        seq: u32,
        text: String,
    },
    /// A piece of the model's reasoning; `seq` is shared with `token`.
    Thought {
        chat: ChatId,
        message: MessageId,
        swipe: SwipeId,
        seq: u32,
        text: String,
    },
    /// The text of this reply so far was reasoning, which ends here. If the reply continues an
    /// older text, that text stays. `text` is the reasoning; `seq` is shared with `token`.
    ThoughtsClosed {
        chat: ChatId,
        message: MessageId,
        swipe: SwipeId,
        seq: u32,
        text: String,
    },
    /// The request failed before its first token and is sent again.
    Retrying {
        chat: ChatId,
        attempt: u32,
        after_ms: f64,
        why: String,
    },
    /// Nothing has arrived for a while.
    Stalled { chat: ChatId, seconds: u32 },
    /// Tools are called for a reply, or a round of calls has ended: the reply's rounds so far.
    ToolsUsed {
        chat: ChatId,
        message: MessageId,
        swipe: SwipeId,
        rounds: Vec<ToolRound>,
        running: bool,
    },
    /// The user is asked whether a tool may run. The reply waits.
    ToolAsked { chat: ChatId, request: ToolRequest },
    /// The question has been answered, or the reply was stopped.
    ToolAnswered { chat: ChatId, request: String },
    /// The reply has ended, complete or not, and is stored as in `message`. A failed reply without
    /// text leaves no message. `anchor` is the first message in the window; `null` if all are.
    /// `following` replies of other characters start now, one after the other.
    Ended {
        chat: ChatId,
        message: Option<Message>,
        anchor: Option<MessageId>,
        reason: EndReason,
        #[serde(default)]
        following: u32,
    },
    /// A draft of the user's next message has begun.
    Drafting { chat: ChatId },
    /// A piece of the draft. `seq` counts from 0 without gaps.
    Draft {
        chat: ChatId,
        seq: u32,
        text: String,
    },
    /// The draft has ended, complete or not, and `text` is in the composer. Nothing was sent.
    Drafted {
        chat: ChatId,
        text: String,
        figures: Figures,
        reason: EndReason,
    },
    /// The user's message asked to remember something, and it was stored.
    Remembered { chat: ChatId, memory: Memory },
    /// The user's message asked to forget something, and it was forgotten; `restore_memory` undoes
    /// it.
    Forgot { chat: ChatId, memory: Memory },
    /// A program with a camera has reported what the user does.
    Vision { chat: ChatId, status: VisionStatus },
    /// A quick reply has run by itself, with these outcomes.
    QuickReplyRan {
        chat: ChatId,
        label: String,
        outcomes: Vec<CommandOutcome>,
    },
    /// A local model is loaded, but not as wished. Replies come nevertheless.
    LoadedDifferently { model: String, notes: Vec<LoadNote> },
    /// A list or an item has changed; a view of it should reload.
    Changed { what: Changed, id: Option<String> },
    /// Files were imported by a drop, a dialog or a second start.
    Imported { report: ImportReport },
    /// A folder of another app is being imported.
    Importing { progress: ImportProgress },
    /// The import of a folder has ended, completely or not, as the report says; without a report it
    /// failed.
    ImportEnded { report: Option<ImportReport> },
    /// Progress or a new state of a download.
    Downloading { download: Download },
    /// A download has ended. `model` is the id of the model in the library; `null` if the user
    /// cancelled.
    DownloadEnded {
        id: String,
        name: String,
        model: Option<String>,
        makes_default: bool,
    },
    /// Progress or a new state of the move of a model.
    ModelMoving { moving: ModelMove },
    /// A move has ended. It was given up unless `moved`.
    ModelMoveEnded {
        model: ModelId,
        name: String,
        folder: String,
        moved: bool,
    },
    /// Progress or a new state of an update.
    UpdateChanged { status: Box<UpdateStatus> },
    /// The listener was too slow and missed events: it should reload what it shows.
    Missed,
}

/// The kind of data that changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum Changed {
    Characters,
    Chats,
    /// The warnings about the user's data.
    DataWarnings,
    /// The folders of both lists.
    Folders,
    /// The messages of chat `id`.
    Messages,
    Personas,
    /// Private characters are shown or hidden now, or others are private. Every list may have changed.
    PrivateCharacters,
    Models,
    Endpoints,
    /// Tool server `id`, or the list of tool servers.
    ToolServers,
    Settings,
    /// Templates, modes, regex scripts.
    Presets,
    /// The memories of character `id`, or of any character without an `id`.
    Memories,
    /// The documents of the chat, the character or the lorebook `id`.
    Documents,
    /// Lorebook `id`, or the list of lorebooks.
    Lorebooks,
}
