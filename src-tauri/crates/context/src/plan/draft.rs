//! A prompt under construction, and the order of the planning decisions.

use std::borrow::Cow;

use domain::MessageId;
use domain::chat::{Role, WindowState};
use domain::prompt::PromptRole;

use super::epoch::{self, EpochReason};
use super::head::{self, HeadItem};
use super::item::Item;
use super::price::{Costs, Overhead};
use super::{AssembleError, Dropped, Placement, Retention, Setup, Shares};
use crate::chat_template::ChatTemplate;
use crate::frame::{BlockKind, Frame, HistoryMessage, Source};
use crate::frozen::{EpochState, FrozenBlock};
use crate::tools::ToolForm;
use crate::window::Cost;
use crate::{CountTokens, clock, wording};

pub(crate) struct PlanDraft<'a> {
    pub(crate) frame: &'a Frame,
    pub(crate) setup: &'a Setup<'a>,
    pub(crate) state: &'a WindowState,
    pub(crate) frozen: &'a EpochState,
    pub(crate) layout: &'a ChatTemplate,
    pub(crate) costs: Costs<'a>,
    pub(crate) overhead: Overhead,
    /// Tokens of the definitions of tools, unless they are part of the head's text.
    pub(crate) tool_definition_tokens: u32,
    pub(crate) head: Vec<HeadItem<'a>>,
    pub(crate) digest: Vec<Item<'a>>,
    /// Context items of this turn, kept or dropped.
    pub(crate) late: Vec<Item<'a>>,
    /// Set if the prefix is new.
    pub(crate) epoch: Option<EpochReason>,
    pub(crate) fingerprint: String,
    /// Index of the first message of the window.
    pub(crate) start: usize,
    /// Index of the message to answer or to continue, which ends the window; the length of the
    /// history if there is none.
    pub(crate) last: usize,
    /// Index of the newest message that carries the time. A new epoch keeps that time.
    pub(crate) newest_clock: Option<usize>,
    pub(crate) shares: Shares,
    /// The window exceeds its share of the budget, because retrieval may not need the rest.
    pub(crate) grown: bool,
    pub(crate) left: Vec<MessageId>,
    pub(crate) judged: Vec<(MessageId, u8)>,
    pub(crate) uncovered: Vec<MessageId>,
}

impl<'a> PlanDraft<'a> {
    pub(crate) fn new(
        frame: &'a Frame,
        setup: &'a Setup<'a>,
        state: &'a WindowState,
        frozen: &'a EpochState,
        layout: &'a ChatTemplate,
        counter: &'a dyn CountTokens,
    ) -> Result<Self, AssembleError> {
        let mut costs = Costs::new(counter);
        let overhead = Overhead::measure(layout, &mut costs)?;
        let head = head::gather(frame, setup, &overhead, &mut costs);
        let last = frame.history.len().saturating_sub(1);
        let mut draft = Self {
            frame,
            setup,
            state,
            frozen,
            layout,
            costs,
            overhead,
            tool_definition_tokens: 0,
            head,
            digest: Vec::new(),
            late: Vec::new(),
            epoch: None,
            fingerprint: String::new(),
            start: 0,
            last,
            newest_clock: frame.history[..last].iter().rposition(clock::tells),
            shares: Shares::default(),
            grown: false,
            left: Vec::new(),
            judged: Vec::new(),
            uncovered: Vec::new(),
        };
        draft.tool_definition_tokens = draft.definition_tokens();
        Ok(draft)
    }

    /// Makes all decisions from token counts. Rendering comes later.
    pub(crate) fn plan(&mut self) -> Result<(), AssembleError> {
        head::fit_examples(&mut self.head, &self.setup.budget);
        self.drop_examples_for_last_exchange();
        self.check_prefix();
        self.gather_context();
        if !self.grow() {
            self.fit_window();
        }
        self.fit_retrieval()
    }

    fn fit_retrieval(&mut self) -> Result<(), AssembleError> {
        self.fit_digest();
        self.fit_context();
        self.costs.settle()
    }

    /// Plans the window again within its share, because other blocks need the tokens that it had
    /// grown into.
    pub(crate) fn shrink(&mut self) -> Result<(), AssembleError> {
        self.grown = false;
        self.gather_context();
        self.fit_window();
        self.fit_retrieval()
    }

    /// Checks whether the prefix is still valid.
    fn check_prefix(&mut self) {
        self.take_fingerprint();
        let base = epoch::base(self.setup.model, &self.setup.budget);
        self.epoch = epoch::changed(self.state, &self.fingerprint, &base);
        // In classic placement, scripts that depend on the depth change messages in the middle of
        // the window without an edit.
        let promises = self.setup.placement == Placement::CacheFirst;
        let window = &self.frame.history[self.anchor()..];
        if self.epoch.is_none() && promises && !epoch::continues(&self.frozen.marks, window) {
            self.epoch = Some(EpochReason::Edited);
        }
    }

    /// Computes the fingerprint of the kept items.
    pub(crate) fn take_fingerprint(&mut self) {
        let kept = self.head.iter().filter(|item| item.kept());
        let head = kept.flat_map(|item| item.texts().map(|text| (item.role, text)));
        let definitions = wording_of_tools(self.frame);
        let tools = definitions
            .iter()
            .map(|text| (PromptRole::System, text.as_str()));
        self.fingerprint = epoch::fingerprint(self.setup, head.chain(tools));
    }

    /// Starts a new epoch, unless one has already begun. Frozen blocks of the input become
    /// candidates again.
    pub(crate) fn begin(&mut self, reason: EpochReason) {
        let resent = self.resends();
        self.epoch = self.epoch.or(Some(reason));
        if resent {
            self.gather_context();
        }
    }

    /// Index of the previous start of the window.
    pub(crate) fn anchor(&self) -> usize {
        let at = |id| {
            self.frame
                .history
                .iter()
                .position(|message| message.id == id)
        };
        self.state.anchor.and_then(at).unwrap_or(0)
    }

    pub(crate) fn input(&self) -> Option<&'a HistoryMessage> {
        self.frame.input()
    }

    /// The message that owns the context block of this turn, which is never stale: the input, or
    /// the message that an open reply answers.
    fn answered(&self) -> Option<usize> {
        self.frame
            .history
            .iter()
            .rposition(|message| message.role != Role::Character)
    }

    /// True if the input was already sent in this epoch and is re-sent unchanged.
    pub(crate) fn resends(&self) -> bool {
        self.epoch.is_none()
            && self.setup.retention == Retention::AppendOnly
            && self
                .input()
                .is_some_and(|message| message.context.is_some())
    }

    /// The context block of a message other than the input.
    pub(crate) fn sent_with(&self, index: usize) -> Cow<'a, [FrozenBlock]> {
        let blocks = self.frame.history[index]
            .context
            .as_deref()
            .unwrap_or_default();
        let stale = self.epoch.is_some() && Some(index) != self.answered();
        match (self.setup.retention, stale) {
            (Retention::Ephemeral, _) => Cow::Borrowed(&[]),
            (_, false) => Cow::Borrowed(blocks),
            (_, true) if Some(index) == self.newest_clock => Cow::Owned(
                blocks
                    .iter()
                    .filter(|block| block.kind == BlockKind::Clock)
                    .cloned()
                    .collect(),
            ),
            (_, true) => Cow::Borrowed(&[]),
        }
    }

    /// The text of a message as sent now, and the names of the scripts that changed it.
    pub(crate) fn message_text(&self, index: usize) -> (&'a str, &'a [String]) {
        self.frame.history[index].message_text(self.epoch.is_some())
    }

    /// The token count of a message other than the input.
    pub(crate) fn cost_of(&mut self, index: usize) -> Cost {
        let message = &self.frame.history[index];
        let blocks = self.sent_with(index);
        let context: u32 = wording::context_block(&blocks)
            .into_iter()
            .map(|part| self.costs.plain(part))
            .sum();
        let words = self.costs.plain(wording::paragraph(
            self.message_text(index).0,
            !blocks.is_empty(),
        ));
        let rounds = self.round_tokens(&message.rounds);
        let tokens = context
            + words
            + self.overhead.of(prompt_role(message.role))
            + message.extra_tokens
            + rounds;
        Cost {
            tokens,
            role: message.role,
        }
    }

    /// True if the user excludes this source in a what-if preview.
    pub(crate) fn left_out(&self, source: &Source) -> bool {
        !self.setup.without.is_empty() && self.setup.without.contains(&source.key())
    }

    /// Tokens of the kept head items.
    pub(crate) fn head_tokens(&self) -> u32 {
        let head: u32 = self
            .head
            .iter()
            .filter(|item| item.kept())
            .map(|item| item.tokens)
            .sum();
        head + self.tool_definition_tokens
    }

    /// Tokens of the last message, including the lines before it that do not depend on retrieval.
    pub(crate) fn input_tokens(&mut self) -> u32 {
        let open = self.round_tokens(&self.frame.tools.rounds);
        let Some(message) = self.frame.history.get(self.last) else {
            return self.overhead.closing + open;
        };
        let lines = self
            .late
            .iter()
            .filter(|item| item.kept() && item.place.is_none());
        let lines: u32 = lines
            .filter(|item| self.resends() || !item.retrieved())
            .map(|item| item.tokens)
            .sum();
        let joined = self
            .late
            .iter()
            .any(|item| item.kept() && item.place.is_none());
        let words = self
            .costs
            .plain(wording::paragraph(self.message_text(self.last).0, joined));
        let rounds = open + self.round_tokens(&message.rounds);
        let start = if self.opens_reply() {
            self.costs.plain(self.frame.reply_start.clone())
                + self.overhead.of(PromptRole::Character)
        } else {
            0
        };
        let around = self.overhead.of(prompt_role(message.role)) + self.overhead.closing;
        words + lines + around + message.extra_tokens + rounds + start
    }

    /// Tokens that head and input leave for history and retrieval.
    pub(crate) fn usable(&mut self) -> u32 {
        let fixed = self.head_tokens() + self.input_tokens();
        self.setup.budget.usable(fixed).unwrap_or(0)
    }

    /// Drops the examples if the last exchange would not fit otherwise.
    fn drop_examples_for_last_exchange(&mut self) {
        if self
            .head
            .iter()
            .all(|item| item.must_stay() || !item.kept())
        {
            return;
        }
        let from = self.frame.history[..self.last]
            .iter()
            .rposition(|message| message.role == Role::User);
        let exchange: u32 = from.map_or(0, |from| {
            (from..self.last)
                .map(|index| self.cost_of(index).tokens)
                .sum()
        });
        let needed = self.head_tokens() + self.input_tokens() + exchange;
        if needed > self.setup.budget.room() {
            for item in self
                .head
                .iter_mut()
                .filter(|item| item.kept() && !item.must_stay())
            {
                item.dropped = Some(Dropped::OverLimit);
            }
        }
    }
}

/// The definitions of tools that the prefix depends on but the head's texts do not contain.
fn wording_of_tools(frame: &Frame) -> Option<String> {
    let tools = &frame.tools;
    let apart = !tools.definitions.is_empty() && tools.form != ToolForm::Text;
    apart.then(|| crate::tools::wording::definitions(&tools.definitions))
}

pub(crate) fn prompt_role(role: Role) -> PromptRole {
    match role {
        Role::Character => PromptRole::Character,
        // Local templates reject or misplace system turns within a chat, so narration is sent in
        // the user role.
        Role::User | Role::Narrator | Role::Tool | Role::Event => PromptRole::User,
    }
}
