//! The plan and the prompt: what fits, what is left out and why, and the bytes that are sent.

use domain::MessageId;
use domain::chat::{Role, WindowState};
use domain::prompt::{Prompt, PromptMessage, PromptRole, Segment};

use crate::frame::{Block, BlockKind, Frame, Zone};
use crate::template::{ChatTemplate, Piece, TemplateError, Turn};
use crate::window::{Cost, leaving};
use crate::{Budget, CountTokens};

/// What must stay does not fit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{block} is too long: the prompt needs {needed} tokens, and {available} are there")]
pub struct Overflow {
    /// The largest of what must stay, in words.
    pub block: String,
    pub block_tokens: u32,
    /// With the reply's reserve.
    pub needed: u32,
    pub available: u32,
}

/// Why there is no prompt.
#[derive(Debug, thiserror::Error)]
pub enum AssembleError {
    /// Not an error of the turn: these counts are needed, and then the same call again.
    #[error("{} segments are not counted yet", .0.len())]
    Uncounted(Vec<Segment>),
    #[error(transparent)]
    Overflow(#[from] Overflow),
    #[error(transparent)]
    Template(#[from] TemplateError),
}

/// A candidate and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedBlock {
    pub block: Block,
    /// With the control text in front of it, so that the kept blocks add up to the prompt.
    pub tokens: u32,
    /// Why it was left out; `None` where it was kept (invariant 9).
    pub dropped: Option<&'static str>,
}

/// A prompt with the account of how it came to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assembled {
    pub prompt: Prompt,
    /// The prompt as runs of text, as counted. For remote models a likeness, for the X-ray only.
    pub segments: Vec<Segment>,
    pub blocks: Vec<PlannedBlock>,
    /// Tokens of the prompt.
    pub total: u32,
    pub budget: Budget,
    pub exact: bool,
    /// Where the window stands now. A larger epoch than before means that the prefix is new.
    pub window: WindowState,
    /// Messages whose frozen context block ended with the epoch.
    pub stale_context: Vec<MessageId>,
}

/// Makes the prompt of a turn: the one function behind send, regenerate, continue, preview and tests.
///
/// `template` is the local model's; `None` means a remote chat endpoint, which has its own. `model` tells models apart, for
/// a change of it ends the epoch. The history in `frame` starts at `state.anchor`.
///
/// # Errors
/// [`AssembleError::Uncounted`] asks for counts; [`AssembleError::Overflow`] if what must stay does not fit.
pub fn assemble(
    frame: &Frame,
    template: Option<&ChatTemplate>,
    model: &str,
    budget: Budget,
    state: &WindowState,
    stop: Vec<String>,
    counter: &dyn CountTokens,
) -> Result<Assembled, AssembleError> {
    let fallback;
    let layout = match template {
        Some(template) => template,
        None => {
            fallback = ChatTemplate::chatml();
            &fallback
        }
    };
    let mut draft = Draft::new(frame, layout, counter)?;
    draft.fit_head(&budget)?;
    draft.fit_history(&budget)?;
    let (mut segments, mut total) = draft.settle(&budget)?;

    let fingerprint = draft.fingerprint(model, &budget);
    let anchor = draft.first_kept_message().filter(|_| draft.trimmed).or(state.anchor);
    let new_epoch = draft.trimmed || state.fingerprint != fingerprint;
    let stale_context = if new_epoch { draft.drop_stale_context() } else { Vec::new() };
    if !stale_context.is_empty() {
        (segments, total) = draft.settle(&budget)?;
    }

    let window =
        WindowState { epoch: state.epoch + u32::from(new_epoch), anchor, fingerprint, frozen: state.frozen.clone() };
    let prompt = Prompt {
        messages: draft.messages(),
        segments: if template.is_some() { segments.clone() } else { Vec::new() },
        continues: draft.continues,
        stop,
    };
    Ok(Assembled {
        prompt,
        segments,
        blocks: draft.blocks,
        total,
        budget,
        exact: counter.exact(),
        window,
        stale_context,
    })
}

struct Draft<'a> {
    blocks: Vec<PlannedBlock>,
    layout: &'a ChatTemplate,
    counter: &'a dyn CountTokens,
    /// The message that is answered or gone on with; it is never cut (S2.30).
    last: Option<MessageId>,
    continues: bool,
    trimmed: bool,
}

impl<'a> Draft<'a> {
    /// Everything kept, and every block's cost known.
    fn new(frame: &Frame, layout: &'a ChatTemplate, counter: &'a dyn CountTokens) -> Result<Self, AssembleError> {
        let blocks =
            frame.blocks.iter().cloned().map(|block| PlannedBlock { block, tokens: 0, dropped: None }).collect();
        let last = frame.blocks.last().filter(|block| block.zone != Zone::Head);
        let mut draft = Self {
            blocks,
            layout,
            counter,
            last: last.and_then(|block| block.message),
            continues: last.is_some_and(|block| block.role == Role::Character),
            trimmed: false,
        };
        draft.price()?;
        Ok(draft)
    }

    fn must_stay(&self, block: &Block) -> bool {
        match block.zone {
            Zone::Head => block.kind != BlockKind::Examples,
            Zone::Window | Zone::Input => block.message == self.last,
        }
    }

    /// What must stay, against the limit; then the examples, which get what the history cannot have. Their room depends on
    /// the head alone: it must not come and go with the length of the user's words, for the head stands before everything.
    fn fit_head(&mut self, budget: &Budget) -> Result<(), AssembleError> {
        let fixed = self.fixed();
        let Some(usable) = budget.usable(fixed) else { return Err(self.overflow(fixed, budget).into()) };
        let beside_head = budget.usable(self.head()).unwrap_or(0);
        let room = (beside_head - budget.history(beside_head)).min(usable);
        for planned in &mut self.blocks {
            if planned.block.kind == BlockKind::Examples && planned.tokens > room {
                planned.dropped = Some("no room for examples beside the history");
            }
        }
        Ok(())
    }

    /// The messages before the last one, against the history's share.
    fn fit_history(&mut self, budget: &Budget) -> Result<(), AssembleError> {
        let Some(usable) = budget.usable(self.fixed()) else { return Ok(()) };
        let examples: u32 =
            self.kept().filter(|each| each.block.kind == BlockKind::Examples).map(|each| each.tokens).sum();
        let history = budget.history(usable).min(usable.saturating_sub(examples));
        let (ids, costs): (Vec<MessageId>, Vec<Cost>) = self.history().into_iter().unzip();
        let gone = leaving(&costs, history, budget);
        self.leave_out(&ids[..gone]);
        Ok(())
    }

    fn leave_out(&mut self, messages: &[MessageId]) {
        self.trimmed |= !messages.is_empty();
        for planned in &mut self.blocks {
            if planned.block.message.is_some_and(|id| messages.contains(&id)) {
                planned.dropped = Some("older than the window");
            }
        }
    }

    /// Prices the result; while a template's whims make it too long after all, the oldest messages go.
    fn settle(&mut self, budget: &Budget) -> Result<(Vec<Segment>, u32), AssembleError> {
        loop {
            let segments = self.price()?;
            let total = self.total();
            if budget.usable(total).is_some() {
                return Ok((segments, total));
            }
            let history = self.history();
            if history.is_empty() {
                return Err(self.overflow(total, budget).into());
            }
            // Up to the next words of the user: no reply without its question (S3.17).
            let turn =
                history.iter().skip(1).position(|(_, cost)| cost.role == Role::User).map_or(history.len(), |at| at + 1);
            let oldest: Vec<MessageId> = history[..turn].iter().map(|(id, _)| *id).collect();
            self.leave_out(&oldest);
        }
    }

    /// Kept messages before the last, oldest first, with their cost.
    fn history(&self) -> Vec<(MessageId, Cost)> {
        let mut costs: Vec<(MessageId, Cost)> = Vec::new();
        for planned in
            self.kept().filter(|planned| planned.block.zone != Zone::Head && planned.block.message != self.last)
        {
            let Some(id) = planned.block.message else { continue };
            match costs.last_mut() {
                Some((last, cost)) if *last == id => cost.tokens += planned.tokens,
                _ => costs.push((id, Cost { tokens: planned.tokens, role: planned.block.role })),
            }
        }
        costs
    }

    /// An epoch drops what it said about time, except the newest word on it.
    fn drop_stale_context(&mut self) -> Vec<MessageId> {
        let newest =
            self.kept().rfind(|planned| planned.block.kind == BlockKind::ContextBlock).and_then(|p| p.block.message);
        let mut stale = Vec::new();
        for planned in &mut self.blocks {
            let block = &planned.block;
            if block.kind == BlockKind::ContextBlock && planned.dropped.is_none() && block.message != newest {
                planned.dropped = Some("from an earlier epoch");
                stale.extend(block.message);
            }
        }
        stale
    }

    /// Renders what is kept and gives every block its cost: its text, and the control text in front of it. Control text at
    /// the very end opens the reply and counts with the last block.
    fn price(&mut self) -> Result<Vec<Segment>, AssembleError> {
        let pieces = self.layout.render(&self.turns(), self.continues)?;
        let mut segments = Vec::with_capacity(pieces.len());
        let mut owners = Vec::with_capacity(pieces.len());
        let mut joined = false;
        for piece in pieces {
            match piece {
                Piece::Control(text) => {
                    segments.push(Segment { text, control: true });
                    owners.push(None);
                    joined = false;
                }
                Piece::Part(index) => {
                    segments.push(Segment { text: part_text(&self.blocks[index].block.text, joined), control: false });
                    owners.push(Some(index));
                    joined = true;
                }
            }
        }
        let counts: Vec<Option<u32>> = segments.iter().map(|segment| self.counter.count(segment)).collect();
        if counts.contains(&None) {
            let uncounted = segments.into_iter().zip(counts).filter(|(_, count)| count.is_none());
            return Err(AssembleError::Uncounted(uncounted.map(|(segment, _)| segment).collect()));
        }
        self.charge(&owners, &counts);
        Ok(segments)
    }

    fn charge(&mut self, owners: &[Option<usize>], counts: &[Option<u32>]) {
        for planned in self.blocks.iter_mut().filter(|planned| planned.dropped.is_none()) {
            planned.tokens = 0;
        }
        let mut waiting = 0;
        let mut last = None;
        for (owner, count) in owners.iter().zip(counts) {
            waiting += count.unwrap_or(0);
            if let Some(index) = *owner {
                self.blocks[index].tokens += std::mem::take(&mut waiting);
                last = Some(index);
            }
        }
        if let Some(index) = last {
            self.blocks[index].tokens += waiting;
        }
    }

    /// The head as one system turn, then a turn for each message.
    fn turns(&self) -> Vec<Turn> {
        let mut turns: Vec<(Option<MessageId>, Turn)> = Vec::new();
        for (index, planned) in self.blocks.iter().enumerate().filter(|(_, planned)| planned.dropped.is_none()) {
            match turns.last_mut() {
                Some((message, turn)) if *message == planned.block.message => turn.parts.push(index),
                _ => {
                    turns.push((planned.block.message, Turn { role: prompt_role(&planned.block), parts: vec![index] }))
                }
            }
        }
        turns.into_iter().map(|(_, turn)| turn).collect()
    }

    fn messages(&self) -> Vec<PromptMessage> {
        let text = |turn: &Turn| {
            let texts = turn.parts.iter().enumerate();
            texts.map(|(place, index)| part_text(&self.blocks[*index].block.text, place > 0)).collect()
        };
        self.turns().iter().map(|turn| PromptMessage { role: turn.role, text: text(turn) }).collect()
    }

    fn kept(&self) -> impl DoubleEndedIterator<Item = &PlannedBlock> {
        self.blocks.iter().filter(|planned| planned.dropped.is_none())
    }

    fn total(&self) -> u32 {
        self.kept().map(|planned| planned.tokens).sum()
    }

    /// What must stay, and what has been granted to the head.
    fn fixed(&self) -> u32 {
        self.kept().filter(|planned| self.must_stay(&planned.block)).map(|planned| planned.tokens).sum()
    }

    /// Of that, the head's part.
    fn head(&self) -> u32 {
        let of_head = |planned: &&PlannedBlock| planned.block.zone == Zone::Head && self.must_stay(&planned.block);
        self.kept().filter(of_head).map(|planned| planned.tokens).sum()
    }

    fn first_kept_message(&self) -> Option<MessageId> {
        self.kept().find_map(|planned| planned.block.message)
    }

    fn overflow(&self, fixed: u32, budget: &Budget) -> Overflow {
        let largest = self.kept().filter(|planned| self.must_stay(&planned.block)).max_by_key(|planned| planned.tokens);
        let name = |planned: &PlannedBlock| format!("{} ({})", planned.block.kind.as_str(), planned.block.source);
        Overflow {
            block: largest.map(name).unwrap_or_default(),
            block_tokens: largest.map_or(0, |planned| planned.tokens),
            needed: fixed + budget.reserve + budget.margin,
            available: budget.limit,
        }
    }

    /// Everything whose change makes the prefix a new one: [`base`], and the head's texts.
    fn fingerprint(&self, model: &str, budget: &Budget) -> String {
        let head =
            self.kept().filter(|planned| planned.block.zone == Zone::Head).map(|planned| planned.block.text.as_str());
        format!("{}{:016x}", base(model, budget), hash(head))
    }
}

/// The part of an epoch's fingerprint that stands for the model and its budget. While it is the same, the anchor stays
/// where it is; another model, or another budget, finds its own (requirements, section 2.3, rule 6).
pub fn base(model: &str, budget: &Budget) -> String {
    let budget = format!("{} {}", budget.limit, budget.history_cap);
    format!("{:016x}-", hash([model, &budget].into_iter()))
}

/// FNV-1a: a change is to be noticed, nobody is to be kept out; and it is the same on every platform and release.
fn hash<'a>(texts: impl Iterator<Item = &'a str>) -> u64 {
    let bytes = texts.flat_map(|text| text.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// Parts of one message are paragraphs of it. The blank line goes in front, so that a part's own text stays as it is.
fn part_text(text: &str, joined: bool) -> String {
    if joined { format!("\n\n{text}") } else { text.to_owned() }
}

fn prompt_role(block: &Block) -> PromptRole {
    match (block.zone, block.role) {
        (Zone::Head, _) => PromptRole::System,
        (_, Role::Character) => PromptRole::Character,
        // Local templates refuse or misplace a system turn in mid-chat, so narration reaches the model as the user's words.
        (_, Role::User | Role::Narrator | Role::Tool | Role::Event) => PromptRole::User,
    }
}
