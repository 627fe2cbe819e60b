//! Compiles a draft: kept items become messages, and messages become segments with their token
//! counts and owning blocks.

use domain::MessageId;
use domain::chat::WindowState;
use domain::prompt::{Prompt, PromptMessage, PromptTools, Segment};

use super::draft::PlanDraft;
use super::item::Item;
use super::{AssembleError, Assembled, PlannedBlock, PlannedPicture, Retention, epoch};
use crate::chat_template::{RenderedRun, RenderedTurn, inside_quotes};
use crate::frame::{BlockKind, Zone};
use crate::frozen::{EpochState, FrozenBlock};
use crate::tools::ToolForm;

/// A rendered prompt that may still exceed the limit.
pub(crate) struct CompiledPrompt {
    pub(crate) blocks: Vec<PlannedBlock>,
    messages: Vec<PromptMessage>,
    apart: Vec<usize>,
    tools: PromptTools,
    segments: Vec<Segment>,
    tokens: Vec<u32>,
    pub(crate) total: u32,
    continues: bool,
}

/// Turns runs of the rendered template into segments, and notes which block each belongs to.
struct SegmentWriter {
    blocks: Vec<PlannedBlock>,
    /// The text of each part, with the index of its block.
    parts: Vec<(usize, String)>,
    segments: Vec<Segment>,
    owners: Vec<Option<usize>>,
}

impl SegmentWriter {
    fn write(&mut self, run: RenderedRun) {
        match run {
            RenderedRun::Control(text) => self.push(text, true, None),
            RenderedRun::Quoted(part) => {
                let (block, text) = &self.parts[part];
                let block = *block;
                self.blocks[block].add(text);
                let quoted = inside_quotes(text);
                self.push(quoted, false, Some(block));
            }
            RenderedRun::Part(part) => self.write_part(part),
        }
    }

    fn write_part(&mut self, part: usize) {
        let (block, text) = &mut self.parts[part];
        let block = *block;
        let mut text = std::mem::take(text);
        let is_tool = self.blocks[block].kind == BlockKind::Tool;
        if is_tool {
            self.blocks[block].add(&text);
        }
        let follows_text = self.segments.last().is_some_and(|before| !before.control);
        // The template merged two messages into one.
        if follows_text && (is_tool || !text.starts_with('\n')) {
            text.insert_str(0, "\n\n");
        }
        self.blocks[block].segment = Some(self.segments.len());
        if !is_tool {
            self.blocks[block].say(text.trim_start_matches('\n'));
        }
        self.push(text, false, Some(block));
    }

    fn push(&mut self, text: String, control: bool, owner: Option<usize>) {
        self.segments.push(Segment { text, control });
        self.owners.push(owner);
    }
}

impl<'a> PlanDraft<'a> {
    /// Renders the kept items.
    pub(crate) fn compile(&mut self) -> Result<CompiledPrompt, AssembleError> {
        let mut layout = self.lay_out();
        let tools = self.rendered_tools(&mut layout);
        let (messages, apart, of_request) = self.messages(&mut layout);
        let turns: Vec<RenderedTurn> = layout
            .turns
            .into_iter()
            .map(|turn| RenderedTurn {
                role: turn.role,
                parts: turn.parts,
            })
            .collect();
        let continues = self.continues() || self.opens_reply();
        let pieces = self.layout.render_with(&turns, &tools, continues)?;
        let mut segments = SegmentWriter {
            blocks: layout.blocks,
            parts: layout.parts,
            segments: Vec::with_capacity(pieces.len()),
            owners: Vec::with_capacity(pieces.len()),
        };
        for piece in pieces {
            segments.write(piece);
        }
        let SegmentWriter {
            mut blocks,
            segments,
            owners,
            ..
        } = segments;
        let tokens: Vec<u32> = segments
            .iter()
            .map(|segment| self.costs.of(segment))
            .collect();
        self.costs.settle()?;
        charge(&mut blocks, &owners, &tokens);
        let extra = self.charge_pictures(&mut blocks) + self.charge_definitions(&mut blocks);
        let total = tokens.iter().sum::<u32>() + extra;
        Ok(CompiledPrompt {
            blocks,
            messages,
            apart,
            tools: of_request,
            segments,
            tokens,
            total,
            continues,
        })
    }

    pub(crate) fn continues(&self) -> bool {
        !self.frame.history.is_empty() && self.input().is_none()
    }

    /// Whether the prompt ends with the beginning of the reply. A reply that has used tools has
    /// begun already.
    pub(crate) fn opens_reply(&self) -> bool {
        !self.frame.reply_start.trim().is_empty()
            && !self.continues()
            && self.frame.tools.rounds.is_empty()
    }

    pub(super) fn late_blocks(&self) -> Vec<FrozenBlock> {
        self.late
            .iter()
            .filter(|item| item.kept() && item.place.is_none())
            .map(Item::freeze)
            .collect()
    }

    /// Adds the tokens of pictures to the blocks of their messages.
    fn charge_pictures(&self, blocks: &mut [PlannedBlock]) -> u32 {
        let mut pictures = self.frame.history[self.start..]
            .iter()
            .filter(|message| message.extra_tokens > 0)
            .peekable();
        let mut total = 0;
        for block in blocks
            .iter_mut()
            .filter(|block| block.kind == BlockKind::Message)
        {
            if let Some(message) = pictures.next_if(|message| Some(message.id) == block.message) {
                block.tokens += message.extra_tokens;
                total += message.extra_tokens;
            }
        }
        total
    }

    /// Adds the tokens of definitions that are sent next to the messages.
    fn charge_definitions(&mut self, blocks: &mut [PlannedBlock]) -> u32 {
        if self.frame.tools.form != ToolForm::Request {
            return 0;
        }
        let tokens = self.definition_tokens();
        let is_apart =
            |block: &&mut PlannedBlock| block.kind == BlockKind::Tool && block.zone == Zone::Head;
        blocks
            .iter_mut()
            .filter(is_apart)
            .for_each(|block| block.tokens = tokens);
        tokens
    }

    fn pictures(&self, blocks: &[PlannedBlock]) -> Vec<PlannedPicture> {
        let mut with = self.frame.history[self.start..]
            .iter()
            .filter(|message| !message.pictures.is_empty())
            .peekable();
        let mut planned = Vec::new();
        for block in blocks
            .iter()
            .filter(|block| block.kind == BlockKind::Message)
        {
            let message = with.next_if(|message| Some(message.id) == block.message);
            if let (Some(message), Some(turn)) = (message, block.turn) {
                let place = |hash: &String| PlannedPicture {
                    turn,
                    segment: block.segment,
                    hash: hash.clone(),
                };
                planned.extend(message.pictures.iter().map(place));
            }
        }
        planned
    }

    /// Builds the result with its report.
    pub(crate) fn finish(mut self, compiled: CompiledPrompt) -> Assembled {
        let CompiledPrompt {
            blocks,
            messages,
            apart,
            tools,
            segments,
            tokens,
            total,
            continues,
        } = compiled;
        let window = self.window_state();
        let context_blocks = self.context_blocks();
        let pictures = self.pictures(&blocks);
        let of_zone = |zone: Zone| -> u32 {
            blocks
                .iter()
                .filter(|block| block.zone == zone && block.dropped.is_none())
                .map(|block| block.tokens)
                .sum()
        };
        self.shares.history_used = of_zone(Zone::Window);
        self.shares.digest_used = of_zone(Zone::Digest);
        let retrieved = |block: &&PlannedBlock| {
            block.dropped.is_none()
                && block.score.is_some()
                && block.kind.share().is_some()
                && block.zone != Zone::Digest
        };
        self.shares.retrieval_used = blocks
            .iter()
            .filter(retrieved)
            .map(|block| block.tokens)
            .sum();
        let local = self.setup.template.is_some();
        Assembled {
            prompt: Prompt {
                messages,
                apart,
                segments: if local { segments.clone() } else { Vec::new() },
                pictures: Vec::new(),
                tools,
                continues,
                stop: self.setup.stop.to_vec(),
            },
            segments,
            segment_tokens: tokens,
            blocks,
            pictures,
            total,
            shares: self.shares,
            budget: self.setup.budget,
            exact: self.costs.exact(),
            window,
            new_epoch: self.epoch,
            context_blocks,
            left: self.left,
            judged: self.judged,
            uncovered: self.uncovered,
        }
    }

    fn window_state(&self) -> WindowState {
        let kept = self.digest.iter().filter(|item| item.kept());
        let window = &self.frame.history[self.start..];
        let sent = if self.continues() {
            &window[..window.len() - 1]
        } else {
            window
        };
        let begins = self.epoch.is_some();
        // The newest message may be a prediction of what the user will say.
        let before_newest = self
            .frame
            .history
            .iter()
            .nth_back(1)
            .map(|message| message.id);
        let state = EpochState {
            digest: kept.map(Item::freeze).collect(),
            marks: epoch::marks(sent, begins),
            began: if begins {
                before_newest
            } else {
                self.frozen.began
            },
        };
        let moved = self.start > 0 || self.state.anchor.is_some();
        WindowState {
            epoch: self.state.epoch + u32::from(self.epoch.is_some()),
            anchor: if moved {
                window.first().map(|message| message.id)
            } else {
                None
            },
            fingerprint: self.fingerprint.clone(),
            frozen: state.write(),
        }
    }

    /// Context blocks that must be stored so that the next turn re-sends them unchanged.
    fn context_blocks(&self) -> Vec<(MessageId, Vec<FrozenBlock>)> {
        if self.setup.retention == Retention::Ephemeral {
            return Vec::new();
        }
        let mut changed = Vec::new();
        for index in self.start..self.last {
            let message = &self.frame.history[index];
            let now = self.sent_with(index);
            if message
                .context
                .as_deref()
                .is_some_and(|before| before != &*now)
            {
                changed.push((message.id, now.into_owned()));
            }
        }
        if let Some(input) = self.input() {
            let blocks = self.late_blocks();
            if input.context.as_ref() != Some(&blocks) {
                changed.push((input.id, blocks));
            }
        }
        changed
    }
}

/// Assigns token counts to blocks: each block pays for its text and for the control text before it.
/// Control text at the end, which opens the reply, is added to the last block.
fn charge(blocks: &mut [PlannedBlock], owners: &[Option<usize>], tokens: &[u32]) {
    for block in blocks.iter_mut().filter(|block| block.dropped.is_none()) {
        block.tokens = 0;
    }
    let mut waiting = 0;
    let mut last = None;
    for (owner, count) in owners.iter().zip(tokens) {
        waiting += count;
        if let Some(index) = *owner {
            blocks[index].tokens += std::mem::take(&mut waiting);
            last = Some(index);
        }
    }
    if let Some(index) = last {
        blocks[index].tokens += waiting;
    }
}
