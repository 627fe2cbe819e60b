//! Helpers that build chats. The fake tokenizer counts words and control markers, so token counts
//! are easy to check by hand.

use context::{
    AssembleError, Assembled, BlockKind, Budget, Candidate, ChatTemplate, CountTokens, Frame,
    HeadPart, HistoryMessage, PlannedBlock, Setup, Source, assemble,
};
use domain::chat::{Role, WindowState};
use domain::prompt::{PromptRole, Segment};
use domain::{MessageId, Timestamp};

/// Counts each word as a token, and each run of control text.
pub(crate) struct Words;

impl CountTokens for Words {
    fn count(&self, segment: &Segment) -> Option<u32> {
        Some(if segment.control {
            1
        } else {
            segment.text.split_whitespace().count() as u32
        })
    }

    fn exact(&self) -> bool {
        true
    }
}

pub(crate) fn id(number: u128) -> MessageId {
    serde_json::from_value(serde_json::json!(format!("{number:032x}"))).unwrap()
}

pub(crate) fn said(number: u128, role: Role, text: &str) -> HistoryMessage {
    let speaker = if role == Role::Character {
        "Mira"
    } else {
        "Sam"
    };
    HistoryMessage::new(id(number), role, speaker, text, Timestamp(0))
}

pub(crate) fn words(count: usize) -> String {
    vec!["word"; count].join(" ")
}

/// The user and the character alternate, the user last; every message has `length` words.
pub(crate) fn chat(messages: usize, length: usize) -> Vec<HistoryMessage> {
    let role = |index: usize| {
        if (messages - index) % 2 == 1 {
            Role::User
        } else {
            Role::Character
        }
    };
    (0..messages)
        .map(|index| said(index as u128, role(index), &words(length)))
        .collect()
}

/// The rules, and the non-empty texts of the card.
pub(crate) fn head(description: &str, examples: &str) -> Vec<HeadPart> {
    let field = |field: &str| Source::CardField {
        card: "Mira".into(),
        field: field.into(),
    };
    let labelled = format!("Examples of how they talk: {examples}");
    let examples = if examples.is_empty() { "" } else { &labelled };
    let parts = [
        (
            BlockKind::Rules,
            Source::BuiltIn,
            "You are Mira, talking with Sam.",
        ),
        (BlockKind::Description, field("description"), description),
        (BlockKind::Examples, field("examples"), examples),
    ];
    let filled = parts.into_iter().filter(|(_, _, text)| !text.is_empty());
    filled
        .map(|(kind, source, text)| HeadPart {
            kind,
            source,
            reasons: context::Reasons::default(),
            role: PromptRole::System,
            text: text.into(),
            written: None,
        })
        .collect()
}

pub(crate) fn frame(history: Vec<HistoryMessage>, description: &str, examples: &str) -> Frame {
    Frame {
        head: head(description, examples),
        history,
        ..Frame::default()
    }
}

pub(crate) fn lore(entry: &str, text: &str, score: f32) -> Candidate {
    let source = Source::Lore {
        book: "book".into(),
        entry: entry.into(),
        title: entry.into(),
    };
    Candidate::new(
        BlockKind::Lore,
        source,
        context::BlockReason::Key {
            key: entry.to_owned(),
        },
        text,
    )
    .with_score(score)
}

pub(crate) fn fact(id: &str, text: &str, score: f32) -> Candidate {
    Candidate::new(
        BlockKind::Fact,
        Source::Memory { id: id.into() },
        context::Reasons::default(),
        text,
    )
    .with_score(score)
}

pub(crate) fn budget(limit: u32) -> Budget {
    Budget {
        limit,
        reserve: limit / 10,
        retrieval_cap: Some(limit),
        ..Budget::local(limit, 0)
    }
}

pub(crate) fn with(
    frame: &Frame,
    budget: Budget,
    state: &WindowState,
) -> Result<Assembled, AssembleError> {
    let template = ChatTemplate::chatml();
    assemble(
        frame,
        &Setup::new(Some(&template), "model", budget),
        state,
        &Words,
    )
}

pub(crate) fn first(frame: &Frame, limit: u32) -> Result<Assembled, AssembleError> {
    with(frame, budget(limit), &WindowState::default())
}

pub(crate) fn text(assembled: &Assembled) -> String {
    assembled
        .segments
        .iter()
        .map(|segment| segment.text.as_str())
        .collect()
}

/// The plan with one row per block: kept or dropped, tokens, kind and source.
pub(crate) fn plan(assembled: &Assembled) -> String {
    let row = |planned: &PlannedBlock| {
        let sign = if planned.dropped.is_none() { '+' } else { '-' };
        let why = planned
            .dropped
            .map(|why| format!(", {}", why.description()))
            .unwrap_or_default();
        format!(
            "{sign} {:3} {} of {}{why}\n",
            planned.tokens,
            planned.kind.as_str(),
            planned.source.description()
        )
    };
    assembled.blocks.iter().map(row).collect()
}

/// Stores the context blocks of a turn.
pub(crate) fn store(history: &mut [HistoryMessage], assembled: &Assembled) {
    for (id, blocks) in &assembled.context_blocks {
        if let Some(message) = history.iter_mut().find(|message| message.id == *id) {
            message.context = Some(blocks.clone());
        }
    }
}
