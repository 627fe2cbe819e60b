//! Activates lorebook entries for a turn and places their texts in the prompt.

use std::collections::{BTreeMap, HashSet};

use context::frame::{
    BlockKind, Candidate, InsertionPoint, Placed, SignalKind, Source, USUAL_ORDER,
};
use context::lore::{
    self, Activated, CardTexts, Chance, LoreCharacter, LoreInput, LoreMessage, LoreOutcome,
    PreparedBooks, Reason, TimedState,
};
use context::macros::MacroState;
use context::plan::PlannedBlock;
use context::reason::Reasons;
use domain::lorebook::{self, Book};
use domain::prompt::PromptRole;
use domain::{CharacterId, Timestamp};

use crate::api;
use crate::base::clock::Clock;
use crate::base::error::ApiResult;
use crate::library::scripts::run::ScriptRun;
use crate::library::snapshots::chat_macros::StoredMacroState;
use crate::library::snapshots::macro_changes::VariableChanges;
use crate::library::snapshots::macro_scope::{self, MacroMoment, MacroNames};
use crate::settings::model_handles::handle::ModelHandle;
use crate::turn::assembly::notes;
use crate::turn::inputs::turn_inputs::TurnInputs;
use crate::turn::lore::counts::LoreTokenCounter;
use crate::turn::lore::lines::{self, LoreLine};
use crate::turn::lore::macros::EntryMacros;
use crate::turn::lore::reasons::{place, script_context, shown, why};
use crate::turn::lore::similarity::NearEntry;
use crate::turn::lore::{LoreActivation, left_out};

/// Maximum number of activation runs per turn. A run that used estimated token counts is repeated
/// with exact ones. One or two runs are usually enough.
pub(crate) const MAX_RUNS: usize = 8;
/// Notice that some keys were not tried.
pub(crate) const EXHAUSTED: &str =
    "The lorebooks' patterns took too long; some were not tried. Make them simpler.";

/// Result of the activation for one turn.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lore {
    pub(crate) placed: Vec<Placed>,
    /// Texts for `{{outlet::name}}`, in order.
    pub(crate) outlets: BTreeMap<String, String>,
    /// State of sticky and cooldown effects for the next turn.
    pub(crate) timed: TimedState,
    /// Macro variables as the head finds them: after the macros of the entries, without the head's
    /// own earlier changes in this epoch.
    pub(crate) variables: MacroState,
    /// Changes that entries in the head made to the variables.
    pub(crate) head_changes: VariableChanges,
    /// Whether an entry in the head depends on the time.
    pub(crate) volatile: bool,
    pub(crate) notices: Vec<String>,
    /// Report rows of entries that exceeded the lore budget.
    pub(crate) left_out: Vec<PlannedBlock>,
    /// Entries that only the speaker of a group scene knows.
    pub(crate) private: HashSet<Source>,
}

/// Placeholders in a composed section for the entries of one place, which become separate blocks.
/// No text contains these characters.
const MARKS: [(InsertionPoint, &str); 2] = [
    (InsertionPoint::BeforeCharacter, "\u{fdd0}"),
    (InsertionPoint::AfterCharacter, "\u{fdd1}"),
];

impl Lore {
    /// Placeholder in a template section for the entries of `place`; empty if the head has none of
    /// them.
    pub(crate) fn mark(&self, place: InsertionPoint, classic: bool) -> &'static str {
        let there = self
            .placed
            .iter()
            .any(|placed| placed.place == place && (classic || placed.constant));
        MARKS
            .iter()
            .find(|(of, _)| there && *of == place)
            .map_or("", |(_, mark)| mark)
    }

    /// Splits a section's text at its placeholder: the place of the entries, and the text before
    /// and after them.
    pub(crate) fn apart(text: &str) -> Option<(InsertionPoint, String, String)> {
        let (place, (before, after)) = MARKS
            .iter()
            .find_map(|(place, mark)| Some((*place, text.split_once(mark)?)))?;
        let clean = |text: &str| {
            MARKS
                .iter()
                .fold(text.to_owned(), |text, (_, mark)| text.replace(mark, ""))
        };
        Some((place, clean(before), clean(after)))
    }

    /// The texts of a place, for the template preview.
    pub(crate) fn shown(&self, place: InsertionPoint, classic: bool) -> String {
        let texts = self
            .placed
            .iter()
            .filter(|placed| placed.place == place && (classic || placed.constant));
        texts
            .map(|placed| placed.candidate.text.trim())
            .collect::<Vec<_>>()
            .join("\n\n")
    }
}

impl LoreActivation {
    pub(crate) async fn card_lore(&self, character: CharacterId) -> ApiResult<Vec<api::LoreEntry>> {
        let character = self.library().characters.character(character).await?;
        let (card, _) = self.library().characters.card(&character)?;
        let book = card
            .character_book()
            .map(|raw| Book::from_character_book(raw).0);
        Ok(book
            .iter()
            .flat_map(|book| &book.entries)
            .map(shown)
            .collect())
    }

    /// Activates the entries of the chat's books for a head at the time `head_at`. The budgets of
    /// the books use the same token counts as the prompt: the run is repeated until no count is
    /// estimated.
    pub(crate) async fn lore(
        &self,
        inputs: &TurnInputs,
        model_handle: &ModelHandle,
        head_at: Timestamp,
    ) -> ApiResult<Lore> {
        let mut scene = ActivationInput::new(inputs, model_handle, (self.base().clock(), head_at));
        let Some(books) = self.books(inputs).await? else {
            return Ok(Lore {
                variables: scene.of_head,
                ..Lore::default()
            });
        };
        scene.near = self.near_entries(inputs, &books.ids).await;
        for _ in 0..MAX_RUNS {
            let counting = LoreTokenCounter::new(self, model_handle);
            let lore =
                activate(inputs, &books.prepared, &scene, &counting).with_private(&books.private);
            let guessed = counting.finish();
            if guessed.is_empty() {
                return Ok(lore);
            }
            self.count_lore(model_handle, guessed).await?;
        }
        let lore = activate(
            inputs,
            &books.prepared,
            &scene,
            &LoreTokenCounter::new(self, model_handle),
        );
        Ok(lore.with_private(&books.private))
    }
}

/// Time, variables and limits of an activation run.
pub(crate) struct ActivationInput<'a> {
    pub(crate) now: MacroMoment<'a>,
    /// Macro scope of constant entries in the head, which stays the same until the epoch ends.
    pub(crate) head: Option<MacroMoment<'a>>,
    /// Variables as this turn's texts find them.
    pub(crate) of_now: MacroState,
    /// Variables as the head's texts find them: without their own earlier changes in this epoch,
    /// which they repeat.
    pub(crate) of_head: MacroState,
    timed: TimedState,
    /// Maximum prompt size in tokens.
    room: u32,
    /// Entries that match by meaning.
    pub(crate) near: Vec<NearEntry>,
}

impl<'a> ActivationInput<'a> {
    pub(crate) fn new(
        inputs: &'a TurnInputs,
        model_handle: &'a ModelHandle,
        (clock, head_at): (&Clock, Timestamp),
    ) -> Self {
        let kept = StoredMacroState::of(&inputs.snapshot.chat);
        let mut of_head = inputs.snapshot.variables.clone();
        if kept.head_at == Some(head_at) {
            kept.head.undo(&mut of_head);
        }
        let model = model_handle.facts();
        let in_head = inputs.placement() == context::Placement::CacheFirst;
        Self {
            now: MacroMoment {
                model,
                ..inputs.now(clock)
            },
            head: in_head.then(|| MacroMoment {
                model,
                ..inputs.beginning(clock, head_at)
            }),
            of_now: inputs.snapshot.variables.clone(),
            of_head,
            // Effects that other members' turns started may follow from messages that this speaker
            // missed.
            timed: if inputs.known.window_of().is_some() {
                TimedState::default()
            } else {
                kept.timed
            },
            room: model_handle
                .budget
                .limit
                .saturating_sub(model_handle.budget.reserve),
            near: Vec::new(),
        }
    }

    /// Similarity of an entry that was activated by meaning.
    fn nearness(&self, entry: &Activated) -> Option<f32> {
        let same = |near: &&NearEntry| *near.book == *entry.book && near.uid == entry.uid.as_str();
        self.near
            .iter()
            .find(same)
            .filter(|_| entry.reason == Reason::External)
            .map(|near| near.nearness)
    }

    fn in_head(&self, entry: &Activated) -> bool {
        self.head.is_some() && entry.reason == Reason::Constant
    }
}

fn activate(
    inputs: &TurnInputs,
    books: &PreparedBooks,
    scene: &ActivationInput<'_>,
    counting: &LoreTokenCounter<'_>,
) -> Lore {
    let words = inputs.snapshot.macro_names();
    let reading = EntryMacros::new(&words, scene);
    let outcome = outcome(inputs, books, scene, (&words, &reading, counting));
    let exhausted = outcome.patterns_exhausted.then(|| EXHAUSTED.to_owned());
    let notice = exhausted
        .into_iter()
        .chain(left_out::notice(&outcome, books));
    let left_out = left_out::blocks(&outcome, books);
    let (read, noticed) = reading.finish();
    let mut lore = Lore {
        timed: outcome.timed,
        variables: read.head,
        head_changes: read.changes,
        volatile: read.volatile,
        notices: notice.chain(noticed).collect(),
        left_out,
        ..Lore::default()
    };
    let mut of_now = (ScriptRun::new(&inputs.scripts, &words, scene.now), read.now);
    let mut of_head = (
        ScriptRun::new(&inputs.scripts, &words, scene.head.unwrap_or(scene.now)),
        lore.variables.clone(),
    );
    for mut entry in outcome.activated {
        let in_head = scene.in_head(&entry);
        let (run, variables) = if in_head { &mut of_head } else { &mut of_now };
        let rewritten = run.apply(&entry.content, script_context(&entry.place), variables);
        // Text that scripts insert may depend on the time as well.
        lore.volatile |= in_head && !rewritten.scripts.is_empty();
        entry.content = rewritten.text;
        let nearness = scene.nearness(&entry);
        lore.add(entry, nearness, &rewritten.scripts, books, inputs);
    }
    lore.notices
        .extend(of_now.0.notices().chain(of_head.0.notices()));
    lore.notices.dedup();
    lore
}

pub(crate) fn outcome(
    inputs: &TurnInputs,
    books: &PreparedBooks,
    scene: &ActivationInput<'_>,
    (words, reading, counting): (&MacroNames<'_>, &EntryMacros<'_>, &LoreTokenCounter<'_>),
) -> LoreOutcome {
    let scanned = lines::of(inputs);
    let messages: Vec<LoreMessage<'_>> = scanned.iter().map(LoreLine::message).collect();
    let card = inputs.voice().0;
    let tags = card.tags();
    let shown = |text: &str| {
        words
            .expand(text, &scene.now, &mut scene.of_now.clone())
            .text
    };
    let persona = shown(&inputs.snapshot.persona.description);
    let depth_prompt = shown(macro_scope::depth_prompt(card));
    let description = shown(card.description());
    let personality = shown(card.personality());
    let external: Vec<(&str, &str)> = scene
        .near
        .iter()
        .map(|near| (near.book.as_str(), near.uid.as_str()))
        .collect();
    let scenario = shown(card.scenario());
    let creator_notes = shown(card.creator_notes());
    let notes = notes::of(&inputs.values, inputs.user_messages)
        .into_iter()
        .filter(|note| note.absent.is_none());
    let injections: Vec<&str> = notes.map(|note| note.written).collect();
    lore::activate(
        books,
        &LoreInput {
            messages: &messages,
            earlier: inputs.earlier,
            texts: CardTexts {
                persona: &persona,
                description: &description,
                personality: &personality,
                depth_prompt: &depth_prompt,
                scenario: &scenario,
                creator_notes: &creator_notes,
            },
            injections: &injections,
            character: LoreCharacter {
                file: card.name(),
                tags: &tags,
            },
            kind: inputs.kind,
            dry_run: false,
            external: &external,
            context_tokens: scene.room,
            chance: Chance::Seeded(scene.now.seed),
            timed: &scene.timed,
            greeting: inputs.greeting,
            // The asset for the user's icon has the name of the persona.
            user_icon: card.user_icon(&inputs.snapshot.persona.name),
            expand: &|written| reading.tell(written),
            count: &|text| counting.tokens(text),
        },
    )
}

impl Lore {
    /// Takes the entries of `books`, which only the speaker knows, out of the head that all members
    /// share.
    fn with_private(mut self, books: &HashSet<String>) -> Self {
        for placed in &mut self.placed {
            if let Source::Lore { book, .. } = &placed.candidate.source
                && books.contains(book)
            {
                placed.constant = false;
                self.private.insert(placed.candidate.source.clone());
            }
        }
        self
    }

    fn add(
        &mut self,
        entry: Activated,
        nearness: Option<f32>,
        scripts: &[String],
        books: &PreparedBooks,
        inputs: &TurnInputs,
    ) {
        if entry.content.trim().is_empty() {
            return;
        }
        let place = match place(&entry.place, inputs) {
            Ok(place) => place,
            Err(Some(outlet)) => {
                let text = self.outlets.entry(outlet).or_default();
                let join = if text.is_empty() { "" } else { "\n" };
                *text = format!("{text}{join}{}", entry.content);
                return;
            }
            Err(None) => return,
        };
        let title = books.title(&entry).to_owned();
        let source = Source::Lore {
            book: entry.book.to_string(),
            entry: entry.uid.to_string(),
            title: title.clone(),
        };
        let mut reasons = Reasons::from(why(&entry, nearness, inputs));
        reasons.push_scripts(scripts);
        let written = books.written(&entry).map_or("", |written| &written.content);
        let candidate = Candidate::new(BlockKind::Lore, source, reasons, entry.content)
            .with_source_text(written)
            .with_signals(
                nearness
                    .map(|cosine| SignalKind::Nearness.is(cosine))
                    .into_iter()
                    .collect(),
            )
            // Later passes match other entries instead of messages, so they rank lower.
            .with_score(entry.order as f32 - entry.pass as f32 * 1_000.0);
        let role = match entry.role {
            lorebook::InsertionRole::System => PromptRole::System,
            lorebook::InsertionRole::User => PromptRole::User,
            lorebook::InsertionRole::Assistant => PromptRole::Character,
        };
        let constant = entry.reason == Reason::Constant;
        let order = entry.order as i32;
        let injection_order = USUAL_ORDER;
        self.placed.push(Placed {
            candidate,
            place,
            role,
            order,
            injection_order,
            constant,
        });
    }
}
