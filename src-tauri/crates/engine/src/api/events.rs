use serde::{Deserialize, Serialize};
use specta::Type;

use super::{EndReason, Figures, ImportProgress, ImportReport, Memory, Message};

/// News from the engine, to any number of listeners. Events of one chat name it, so that none shows up in another (S1.20).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Type)]
#[serde(tag = "event", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Event {
    /// A reply has begun. `message` has its new, empty swipe selected; `sent` is what was said right before it, if that is
    /// new.
    Started { chat: String, sent: Option<Message>, message: Message },
    /// Another reply holds the model; this one waits.
    Queued { chat: String },
    /// The model is being loaded; 0 to 1.
    Loading { chat: String, fraction: f32 },
    /// Prompt processing: `done` of `total` tokens, of which `reused` came from the cache.
    Prefill { chat: String, done: u32, total: u32, reused: u32 },
    /// A piece of the reply. `seq` counts from 0 without gaps within a swipe.
    Token { chat: String, message: String, swipe: String, seq: u32, text: String },
    /// A piece of what a reasoning model says to itself; `seq` is shared with `token`.
    Thought { chat: String, message: String, swipe: String, seq: u32, text: String },
    /// The words of this reply so far were thoughts, which end here; those that it goes on from stay. `text` is what they
    /// were; `seq` is shared with `token`.
    ThoughtsClosed { chat: String, message: String, swipe: String, seq: u32, text: String },
    /// The request failed before its first token and is sent again.
    Retrying { chat: String, attempt: u32, after_ms: f64, why: String },
    /// Nothing has arrived for a while.
    Stalled { chat: String, seconds: u32 },
    /// The reply is done, whole or not, and stored as `message` has it. An empty failed reply leaves no message.
    Ended { chat: String, message: Option<Message>, reason: EndReason },
    /// A draft of the user's next message has begun.
    Drafting { chat: String },
    /// A piece of it. `seq` counts from 0 without gaps.
    Draft { chat: String, seq: u32, text: String },
    /// It is done, whole or not, and stands in the composer as `text`. Nothing was sent.
    Drafted { chat: String, text: String, figures: Figures, reason: EndReason },
    /// The user's words asked to remember something, and it is.
    Remembered { chat: String, memory: Memory },
    /// The user's words asked to forget something, and it is; `restore_memory` undoes it.
    Forgot { chat: String, memory: Memory },
    /// A list or a thing changed; whoever shows it asks again.
    Changed { what: Changed, id: Option<String> },
    /// Files came in by a drop, a dialog, or a second start.
    Imported { report: ImportReport },
    /// A folder of another app's is coming in.
    Importing { progress: ImportProgress },
    /// It is through, or was cancelled, as the report says; without a report it failed.
    ImportEnded { report: Option<ImportReport> },
    /// The listener was too slow and missed events: it should reload what it shows.
    Missed,
}

/// What changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Type)]
#[serde(rename_all = "camelCase")]
pub enum Changed {
    Characters,
    Chats,
    /// The messages of chat `id`.
    Messages,
    Personas,
    Models,
    Endpoints,
    Settings,
    /// Templates, modes, regex scripts.
    Presets,
    /// What is remembered of character `id`, or of any without it.
    Memories,
    /// The documents of the chat, the character or the lorebook `id`.
    Documents,
    /// Lorebook `id`, or the list of them.
    Lorebooks,
}
