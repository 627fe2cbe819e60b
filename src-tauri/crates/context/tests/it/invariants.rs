//! Property test of the invariants of prompts. It generates chats with messages, regenerations,
//! edits, deletions, and changes of model, card, chat format and layout. It uses several limits,
//! with and without timely summaries.

use std::collections::HashSet;

use super::support::*;
use context::{
    Assembled, BlockKind, Budget, Candidate, ChatTemplate, CountTokens, EpochReason, Frame,
    HistoryMessage, InsertionPoint, Placed, Placement, PlannedBlock, PromptTime, Retention, Setup,
    Source, Watermark, Zone, assemble, chat_template, frozen,
};
use domain::chat::{Role, WindowState};
use domain::prompt::{PromptRole, Segment};
use domain::{MessageId, Timestamp};
use proptest::prelude::*;

/// An event before the next prompt. Lengths are in fortieths of the limit.
#[derive(Debug, Clone)]
enum Act {
    Say {
        user: usize,
        reply: usize,
        recalled: Vec<usize>,
    },
    Regenerate,
    EditTheLastWords,
    EditAnOldMessage(usize),
    DeleteTheLastExchange,
    TakeAnotherModel,
    TakeAnotherFormat(usize),
    ChangeTheRetention,
    EditTheCard,
    /// Covers this percentage of the chat by summaries.
    Summarise(usize),
}

/// Formats with and without a system role, strict about turns or not. The last two rewrite earlier
/// replies.
const FORMATS: [&str; 7] = [
    "chatml",
    "llama-3",
    "gemma",
    "mistral-v7",
    "alpaca",
    "llama-2",
    "vicuna",
];

fn format(index: usize) -> ChatTemplate {
    let format = chat_template::format(FORMATS[index % FORMATS.len()]).unwrap();
    format
        .template("<s>", "</s>", jiff::civil::DateTime::default())
        .unwrap()
        .leading_with_bos()
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let say = (
        1_usize..3,
        1_usize..4,
        proptest::collection::vec(0_usize..12, 0..5),
    )
        .prop_map(|(user, reply, recalled)| Act::Say {
            user,
            reply,
            recalled,
        });
    let act = prop_oneof![
        12 => say,
        2 => Just(Act::Regenerate),
        1 => Just(Act::EditTheLastWords),
        1 => any::<usize>().prop_map(Act::EditAnOldMessage),
        1 => Just(Act::DeleteTheLastExchange),
        1 => Just(Act::TakeAnotherModel),
        1 => any::<usize>().prop_map(Act::TakeAnotherFormat),
        1 => Just(Act::ChangeTheRetention),
        1 => Just(Act::EditTheCard),
        2 => (50_usize..100).prop_map(Act::Summarise),
    ];
    proptest::collection::vec(act, 1..40)
}

/// Everything except the messages that affects the bytes: card, model, format, retention.
type Look = (usize, usize, usize, Retention);

/// A chat as stored by the engine.
struct Story {
    budget: Budget,
    placement: Placement,
    look: Look,
    template: ChatTemplate,
    /// True if only summarized messages may leave, and the last summarized message.
    summarises: bool,
    summarised: Option<MessageId>,
    history: Vec<HistoryMessage>,
    state: WindowState,
    made: u128,
    /// The previous prompt, if the next one must extend it.
    before: Option<Assembled>,
    /// The look of the previous prompt, and whether it contained the examples.
    sent: Option<(Look, bool)>,
    /// A message was changed since the previous prompt.
    edited: bool,
}

impl Story {
    fn new(
        limit: u32,
        placement: Placement,
        retention: Retention,
        format_at: usize,
        summarises: bool,
    ) -> Self {
        let budget = Budget {
            reserve: limit / 10,
            ..Budget::local(limit, 0)
        };
        let mut story = Self {
            budget,
            placement,
            look: (0, 0, format_at % FORMATS.len(), retention),
            template: format(format_at),
            summarises,
            summarised: None,
            history: Vec::new(),
            state: WindowState::default(),
            made: 0,
            before: None,
            sent: None,
            edited: false,
        };
        story.speak(Role::Character, 5);
        story
    }

    fn speak(&mut self, role: Role, length: usize) {
        self.made += 1;
        let text = format!("{} {}", self.made, words(length));
        let mut message = said(self.made, role, &text);
        message.created = Timestamp(self.made as i64 * 7 * 60_000);
        message.importance = (self.made % 11 == 3).then_some(9);
        self.history.push(message);
    }

    fn unit(&self) -> usize {
        self.budget.limit as usize / 40
    }

    fn frame(&self, recalled: &[usize]) -> Frame {
        let last = self.history.last().unwrap();
        let old = |at: &usize| &self.history[*at % self.history.len()];
        let mut context: Vec<Candidate> = recalled
            .iter()
            .map(|at| {
                fact(
                    &format!("{at}"),
                    &format!("fact {at} {}", words(9)),
                    *at as f32,
                )
            })
            .zip(recalled)
            .map(|(fact, at)| fact.with_source_messages(vec![old(at).id]))
            .collect();
        context.extend(recalled.iter().map(old).map(|message| {
            let source = Source::Message {
                id: message.id,
                speaker: "Sam".into(),
            };
            Candidate::new(
                BlockKind::Excerpt,
                source,
                context::Reasons::default(),
                message.text.clone(),
            )
            .with_score(0.5)
        }));
        let digest = recalled
            .iter()
            .map(|at| fact(&format!("d{at}"), &format!("standing fact {at}"), 1.0));
        let placed = recalled.iter().enumerate().map(|(index, at)| Placed {
            injection_order: [50, 100, 200][at % 3],
            candidate: lore(
                &format!("{at}"),
                &format!("lore {at} {}", words(at * 3)),
                *at as f32,
            ),
            place: [
                InsertionPoint::BeforeCharacter,
                InsertionPoint::AfterCharacter,
                InsertionPoint::Depth(0),
                InsertionPoint::Depth(3),
            ][index % 4],
            role: [PromptRole::System, PromptRole::User, PromptRole::Character][at % 3],
            order: *at as i32,
            constant: false,
        });
        Frame {
            head: head(
                &format!("Card {} {}", self.look.0, words(self.unit())),
                &words(self.unit()),
            ),
            digest: digest.collect(),
            history: self.history.clone(),
            context,
            placed: placed.collect(),
            lore: Vec::new(),
            without_lore: if self.look.1 % 3 == 2 {
                vec![InsertionPoint::AfterCharacter]
            } else {
                Vec::new()
            },
            clock: Some(PromptTime {
                at: last.created,
                words: format!("minute {}", last.created.0 / 60_000),
            }),
            ..Frame::default()
        }
    }

    fn assemble(&self, frame: &Frame) -> Assembled {
        let model = format!("model {}", self.look.1);
        let setup = Setup {
            placement: self.placement,
            retention: self.look.3,
            watermark: match (self.summarises, self.summarised) {
                (false, _) => Watermark::Off,
                (true, None) => Watermark::Nothing,
                (true, Some(id)) => Watermark::Upto(id),
            },
            ..Setup::new(Some(&self.template), &model, self.budget)
        };
        assemble(frame, &setup, &self.state, &Words).unwrap()
    }

    /// Sends the frame, stores its results, and checks the invariants.
    fn send(&mut self, recalled: &[usize]) -> Assembled {
        let frame = self.frame(recalled);
        let sent = self.assemble(&frame);
        assert_eq!(
            sent,
            self.assemble(&frame),
            "assembly must be deterministic"
        );
        check(&frame, &sent);
        self.check_shares(&sent);
        self.check_covered(&sent);
        self.check_epoch(&sent);
        self.state = sent.window.clone();
        store(&mut self.history, &sent);
        for message in &mut self.history {
            // Writes and reads the blocks, as after a restart.
            message.context = message
                .context
                .take()
                .map(|blocks| frozen::read(&frozen::write(&blocks)));
        }
        sent
    }

    fn play(&mut self, act: Act) {
        self.edited |= matches!(
            act,
            Act::EditTheLastWords | Act::EditAnOldMessage(_) | Act::DeleteTheLastExchange
        );
        let unit = self.unit();
        let answered = self
            .history
            .iter()
            .rposition(|message| message.role == Role::User);
        match act {
            Act::Say {
                user,
                reply,
                recalled,
            } => {
                self.speak(Role::User, user * unit);
                let sent = self.send(&recalled);
                if let Some(before) = &self.before {
                    self.check_reuse(before, &sent);
                }
                self.speak(Role::Character, reply * unit);
                self.before = Some(sent);
            }
            Act::Regenerate => {
                let Some(at) = answered else { return };
                let reply = self.history.split_off(at + 1);
                let sent = self.send(&[3, 5]);
                if self.placement == Placement::CacheFirst && self.look.3 == Retention::AppendOnly {
                    let before = self.before.as_ref().filter(|_| sent.new_epoch.is_none());
                    // Texts at a depth are those of the new recall.
                    let moves =
                        |before: &Assembled| moving(before).is_some() || moving(&sent).is_some();
                    assert!(
                        before.is_none_or(|before| moves(before) || text(before) == text(&sent)),
                        "a swipe must use the same prompt"
                    );
                }
                self.before = Some(sent);
                self.history.extend(reply);
            }
            Act::EditTheLastWords => {
                let Some(at) = answered else { return };
                self.history[at].text.push_str(" edited");
                self.before = None;
            }
            Act::EditAnOldMessage(which) => {
                let at = which % self.history.len();
                self.history[at].text.push_str(" edited");
                self.before = None;
            }
            Act::DeleteTheLastExchange => {
                self.history
                    .truncate(answered.unwrap_or(self.history.len()).max(1));
                self.before = None;
            }
            Act::TakeAnotherModel => self.look.1 += 1,
            Act::TakeAnotherFormat(index) => {
                self.look.2 = index % FORMATS.len();
                self.template = format(index);
            }
            Act::ChangeTheRetention => {
                self.look.3 = match self.look.3 {
                    Retention::AppendOnly => Retention::Ephemeral,
                    Retention::Ephemeral => Retention::AppendOnly,
                };
            }
            Act::EditTheCard => self.look.0 += 1,
            Act::Summarise(hundredths) => {
                self.summarised =
                    Some(self.history[(self.history.len() - 1) * hundredths / 100].id);
            }
        }
    }

    /// An epoch begins if the bytes change, and only for a known reason.
    fn check_epoch(&mut self, sent: &Assembled) {
        let examples = kept(sent).any(|block| block.kind == BlockKind::Examples);
        if let Some((look, had_examples)) = self.sent.replace((self.look, examples)) {
            let other = look != self.look || had_examples != examples;
            assert!(
                sent.new_epoch.is_some() || !other,
                "{look:?} {:?}",
                self.look
            );
            let by_itself = matches!(
                sent.new_epoch,
                None | Some(EpochReason::Full | EpochReason::OverLimit)
            );
            assert!(
                by_itself || other || self.edited,
                "{:?} for nothing",
                sent.new_epoch
            );
        }
        self.edited = false;
    }

    /// New windows stay within the share of history, and retrieval and digest within theirs.
    fn check_shares(&self, sent: &Assembled) {
        let shares = sent.shares;
        let messages = kept(sent)
            .filter(|block| block.kind == BlockKind::Message)
            .count();
        if self.placement == Placement::Classic || self.summarises {
            return;
        }
        if sent.new_epoch.is_some() && messages > 3 {
            assert!(shares.history_used <= shares.history_budget, "{shares:?}");
        }
        assert!(
            shares.retrieval_used <= shares.retrieval_budget + 2,
            "{shares:?}"
        );
        let excerpts = kept(sent)
            .filter(|block| block.zone == Zone::Digest && block.kind == BlockKind::Pinned);
        let excerpts: u32 = excerpts.map(|block| block.tokens).sum();
        assert!(
            sent.new_epoch.is_none() || excerpts <= shares.history_budget / 10,
            "{excerpts} of {shares:?}"
        );
    }

    /// Messages without a summary leave only if they do not fit next to content of higher priority.
    fn check_covered(&self, sent: &Assembled) {
        if !self.summarises {
            return;
        }
        let place = |id: &MessageId| self.history.iter().position(|message| message.id == *id);
        let covered = self.summarised.as_ref().and_then(place);
        let left: Vec<usize> = sent.left.iter().filter_map(place).collect();
        let bare: Vec<usize> = left
            .iter()
            .copied()
            .filter(|at| Some(*at) > covered)
            .collect();
        let Some(first) = bare.first() else { return };
        // If the window moves back to include a reply, it also includes the message that the reply
        // answers.
        let asked = self.history[..=*first]
            .iter()
            .rposition(|message| message.role == Role::User)
            .unwrap_or(0);
        let back = left.iter().filter(|at| **at >= asked);
        let of_context =
            |block: &frozen::FrozenBlock| Words.count(&plain(&block.text)).unwrap() + 8;
        let weight = |at: &usize| {
            let message = &self.history[*at];
            let blocks = message
                .context
                .iter()
                .flatten()
                .map(of_context)
                .sum::<u32>();
            Words.count(&plain(&message.text)).unwrap() + blocks + 6
        };
        let retrieved: u32 = kept(sent)
            .filter(|block| block.score.is_some())
            .map(|block| block.tokens)
            .sum();
        // The plan weighs a message with the maximum overhead that its format adds for the role.
        let around = 2 * self.history.len() as u32;
        let with_them = sent.total - retrieved + back.map(weight).sum::<u32>() + around;
        let room = sent.budget.room();
        assert!(
            with_them > room,
            "{} left uncovered: {with_them} in {room}\n{}",
            bare.len(),
            plan(sent)
        );
        assert!(
            bare.iter()
                .all(|at| sent.uncovered.contains(&self.history[*at].id)),
            "uncovered messages must be reported"
        );
    }

    /// Between epochs, a prompt begins with the previous prompt and its reply. Texts that are
    /// messages of their own at a depth move with the end of the chat, so the common part ends
    /// before the first of them.
    fn check_reuse(&self, before: &Assembled, now: &Assembled) {
        if now.new_epoch.is_some()
            || self.placement == Placement::Classic
            || !self.template.append_only()
        {
            return;
        }
        let append_only = self.look.3 == Retention::AppendOnly;
        // Otherwise the common prefix ends before the last user message, whose context block is
        // gone.
        let input = || {
            kept(before)
                .filter(|block| block.zone == Zone::Input)
                .filter_map(|block| block.segment)
                .min()
        };
        let shared = if append_only {
            before.segments.len()
        } else {
            input().unwrap()
        };
        let moves = |sent| moving(sent).is_some();
        if moves(before) || moves(now) {
            let (was, is) = (fixed(before, shared), fixed(now, now.segments.len()));
            assert!(
                is.starts_with(&was) || was.starts_with(&is),
                "the fixed part must be the same:\n{was}\n---\n{is}"
            );
            return;
        }
        let shared: String = before.segments[..shared]
            .iter()
            .map(|segment| segment.text.as_str())
            .collect();
        let now = text(now);
        assert!(
            now.starts_with(&shared),
            "the previous prompt must be a prefix:\n{shared}\n---\n{now}"
        );
        if append_only {
            let reply = &self.history[self.history.len() - 2].text;
            assert!(
                now[shared.len()..].starts_with(reply.as_str()),
                "the reply must follow it"
            );
        }
    }
}

/// The first segment of a text that is a message of its own at a depth.
fn moving(sent: &Assembled) -> Option<usize> {
    let own = kept(sent).filter(|block| {
        block
            .turn
            .is_some_and(|turn| sent.prompt.apart.contains(&turn))
    });
    own.filter_map(|block| block.segment).min()
}

/// The text before segment `end` that does not move, without the control tokens at its end.
fn fixed(sent: &Assembled, end: usize) -> String {
    let segments = &sent.segments[..moving(sent).map_or(end, |moving| moving.min(end))];
    let length = segments
        .iter()
        .rposition(|segment| !segment.control)
        .map_or(0, |last| last + 1);
    segments[..length]
        .iter()
        .map(|segment| segment.text.as_str())
        .collect()
}

fn plain(text: &str) -> Segment {
    Segment {
        text: text.to_owned(),
        control: false,
    }
}

fn kept(sent: &Assembled) -> impl Iterator<Item = &PlannedBlock> {
    sent.blocks.iter().filter(|block| block.dropped.is_none())
}

/// Checks the invariants that hold for every prompt, whatever came before.
fn check(frame: &Frame, sent: &Assembled) {
    // The prompt fits, and the figures add up.
    assert!(sent.total + sent.budget.reserve + sent.budget.margin <= sent.budget.limit);
    assert_eq!(
        kept(sent).map(|block| block.tokens).sum::<u32>(),
        sent.total
    );
    assert_eq!(sent.segment_tokens.iter().sum::<u32>(), sent.total);
    // Counted text equals sent text, and each kept block is part of it.
    for block in kept(sent) {
        let segment = &sent.prompt.segments[block.segment.unwrap()];
        assert!(!segment.control && segment.text.trim_start_matches('\n') == block.text);
        assert!(
            sent.prompt.messages[block.turn.unwrap()]
                .text
                .contains(&block.text)
        );
    }
    // No content appears twice.
    let window: HashSet<MessageId> = kept(sent)
        .filter(|block| block.kind == BlockKind::Message)
        .filter_map(|block| block.message)
        .collect();
    let mut repeated = HashSet::new();
    for block in kept(sent).filter(|block| {
        matches!(
            block.kind,
            BlockKind::Message | BlockKind::Excerpt | BlockKind::Pinned
        )
    }) {
        let Source::Message { id, .. } = &block.source else {
            panic!("{block:?}")
        };
        assert!(repeated.insert(*id), "{} twice", block.source.description());
    }
    // Only memories of this turn, not those in frozen blocks.
    for block in kept(sent).filter(|block| block.score.is_some() && block.zone == Zone::Input) {
        let candidate = frame
            .context
            .iter()
            .find(|candidate| candidate.source == block.source);
        let about = candidate
            .map(|candidate| candidate.about.as_slice())
            .unwrap_or_default();
        assert!(
            about.is_empty() || !about.iter().all(|id| window.contains(id)),
            "{block:?}"
        );
    }
    // The window has the newest messages without a gap and ends with the message to answer.
    let newest: Vec<MessageId> = frame
        .history
        .iter()
        .rev()
        .take(window.len())
        .map(|message| message.id)
        .collect();
    assert!(newest.iter().all(|id| window.contains(id)));
    assert!(text(sent).contains(&frame.history.last().unwrap().text));
    // Every candidate is accounted for, and every dropped block has a reason.
    let placed = frame.placed.iter().map(|placed| &placed.candidate);
    for candidate in frame.context.iter().chain(placed).chain(&frame.digest) {
        assert!(
            sent.blocks
                .iter()
                .any(|block| block.source == candidate.source),
            "{candidate:?} is unaccounted for"
        );
    }
    let older: usize = sent
        .blocks
        .iter()
        .map(|block| {
            if let Source::Older { count, .. } = &block.source {
                *count
            } else {
                0
            }
        })
        .sum();
    assert_eq!(
        older + window.len(),
        frame.history.len(),
        "every message must be in the window or in the row of older ones"
    );
    assert!(
        sent.blocks
            .iter()
            .all(|block| block.dropped.is_none() == block.segment.is_some())
    );
    // No heading without items.
    for block in kept(sent).filter(|block| block.kind.share().is_some()) {
        let mut lines = block
            .text
            .lines()
            .skip_while(|line| !line.ends_with(':') || line.starts_with([' ', '-']));
        assert!(
            lines.next().is_none() || lines.next().is_some_and(|line| line.starts_with("- ")),
            "{}",
            block.text
        );
    }
    // Exactly one begin token, at the start.
    let begins = sent
        .segments
        .iter()
        .filter(|segment| segment.control && segment.text.starts_with("<s>"))
        .count();
    assert!(
        sent.segments[0].text.starts_with("<s>")
            && begins >= 1
            && !sent.segments[0].text.starts_with("<s><s>")
    );
}

fn layouts() -> impl Strategy<Value = (Placement, Retention)> {
    prop_oneof![
        3 => Just((Placement::CacheFirst, Retention::AppendOnly)),
        1 => Just((Placement::CacheFirst, Retention::Ephemeral)),
        1 => Just((Placement::Classic, Retention::AppendOnly)),
        1 => Just((Placement::Classic, Retention::Ephemeral)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn invariants_hold_for_any_events(
        acts in acts(),
        limit in prop_oneof![Just(4_000_u32), Just(8_000), Just(32_000), Just(200_000)],
        (placement, retention) in layouts(),
        format_at in 0..FORMATS.len(),
        summarises in any::<bool>(),
    ) {
        // With a large limit the texts are long, so fewer events suffice.
        let acts = acts.into_iter().take(if limit > 10_000 { 24 } else { 40 });
        let mut story = Story::new(limit, placement, retention, format_at, summarises);
        for act in acts {
            story.play(act);
        }
    }
}

/// A hundred runs give the same bytes.
#[test]
fn same_state_gives_same_bytes() {
    let mut story = Story::new(
        4_000,
        Placement::CacheFirst,
        Retention::AppendOnly,
        0,
        false,
    );
    for turn in 0..20 {
        story.play(Act::Say {
            user: 2,
            reply: 3,
            recalled: vec![turn, turn + 1, turn * 2],
        });
    }
    story.speak(Role::User, 30);
    let frame = story.frame(&[1, 5, 7]);
    let first = story.assemble(&frame);
    for _ in 0..100 {
        assert_eq!(story.assemble(&frame), first);
    }
}
