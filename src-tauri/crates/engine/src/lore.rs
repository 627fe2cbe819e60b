//! Lorebook entries for a turn: which books count, what they answer, and where their texts go.

use std::collections::BTreeMap;
use std::sync::Arc;

use context::frame::{BlockKind, Candidate, Place, Placed, SignalKind, Source};
use context::lore::{
    self, Activated, CardTexts, Chance, Found, LoreCharacter, LoreInput, LoreMessage, LoreOutcome, PreparedBooks,
    Reason, TimedState,
};
use context::macros::MacroState;
use context::plan::PlannedBlock;
use context::regex_script::{self, Channel, Occasion};
use domain::Timestamp;
use domain::chat::Role;
use domain::lorebook::{self, Book};
use domain::prompt::PromptRole;
use domain::regex_script::Placement;

use crate::Engine;
use crate::answer::Answerer;
use crate::api;
use crate::clock::Clock;
use crate::collect::{Collected, placement};
use crate::error::Answer;
use crate::lore_books::Shelved;
use crate::lore_counts::Counting;
use crate::lore_left_out;
use crate::lore_near::NearEntry;
use crate::lore_reading::Reading;
use crate::macro_variables::Changes;
use crate::scripts::Run;
use crate::words::{self, Kept, Moment, Words};

/// Runs over the books of one turn at the most. Each counts what it guessed, so that the next decides by counts what this
/// one decided by guesses; one or two are enough.
pub(crate) const MAX_RUNS: usize = 8;
/// Told where some keys were not tried.
pub(crate) const EXHAUSTED: &str = "The lorebooks' patterns took too long; some were not tried. Make them simpler.";

/// What the lorebooks say to one turn.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lore {
    pub(crate) placed: Vec<Placed>,
    /// Texts for `{{outlet::name}}`, in order.
    pub(crate) outlets: BTreeMap<String, String>,
    /// What the next turn goes on from.
    pub(crate) timed: TimedState,
    /// As the head finds them: after the entries' macros, without what it made of them earlier in the epoch.
    pub(crate) variables: MacroState,
    /// What the entries of the head made of them.
    pub(crate) head_changes: Changes,
    /// An entry of the head tells of the moment.
    pub(crate) volatile: bool,
    pub(crate) notices: Vec<String>,
    /// Report rows of entries that exceeded the lore budget.
    pub(crate) left_out: Vec<PlannedBlock>,
}

/// Stand in a composed section for the entries of one place, which are blocks of their own: no text holds these characters.
const MARKS: [(Place, &str); 2] = [(Place::BeforeCharacter, "\u{fdd0}"), (Place::AfterCharacter, "\u{fdd1}")];

impl Lore {
    /// What a template's section has in place of the entries of `place`; empty if the head has none of them.
    pub(crate) fn mark(&self, place: Place, classic: bool) -> &'static str {
        let there = self.placed.iter().any(|placed| placed.place == place && (classic || placed.constant));
        MARKS.iter().find(|(of, _)| there && *of == place).map_or("", |(_, mark)| mark)
    }

    /// Takes a section's text apart: the place of the entries, and what stands before and after them.
    pub(crate) fn apart(text: &str) -> Option<(Place, String, String)> {
        let (place, (before, after)) = MARKS.iter().find_map(|(place, mark)| Some((*place, text.split_once(mark)?)))?;
        let clean = |text: &str| MARKS.iter().fold(text.to_owned(), |text, (_, mark)| text.replace(mark, ""));
        Some((place, clean(before), clean(after)))
    }

    /// The texts of a place, for people who look at the template.
    pub(crate) fn shown(&self, place: Place, classic: bool) -> String {
        let texts = self.placed.iter().filter(|placed| placed.place == place && (classic || placed.constant));
        texts.map(|placed| placed.candidate.text.trim()).collect::<Vec<_>>().join("\n\n")
    }
}

/// The books that were prepared last: the next turn is likely of the same chat.
#[derive(Default)]
pub(crate) struct LoreCache {
    pub(crate) last: Option<(u64, Arc<Shelved>)>,
}

impl Engine {
    pub async fn card_lore(&self, character: String) -> Answer<Vec<api::LoreEntry>> {
        let character = self.character(character.parse()?).await?;
        let (card, _) = self.card(&character)?;
        let book = card.character_book().map(|raw| Book::from_character_book(raw).0);
        Ok(book.iter().flat_map(|book| &book.entries).map(shown).collect())
    }

    /// Runs the books that are bound to the chat over its messages, for a head that tells of `head_at`. Their budgets are held
    /// by the counts that the prompt is made with: what was guessed is counted, and the books are run again.
    pub(crate) async fn lore(&self, collected: &Collected, answerer: &Answerer, head_at: Timestamp) -> Answer<Lore> {
        let mut scene = Scene::new(collected, answerer, (self.clock(), head_at));
        let Some(books) = self.books(collected).await? else {
            return Ok(Lore { variables: scene.of_head, ..Lore::default() });
        };
        scene.near = self.near_entries(collected, &books.ids).await;
        for _ in 0..MAX_RUNS {
            let counting = Counting::new(self, answerer);
            let lore = activate(collected, &books.prepared, &scene, &counting);
            let guessed = counting.finish();
            if guessed.is_empty() {
                return Ok(lore);
            }
            self.count_lore(answerer, guessed).await?;
        }
        Ok(activate(collected, &books.prepared, &scene, &Counting::new(self, answerer)))
    }
}

/// When the books are run, and what their macros find.
pub(crate) struct Scene<'a> {
    pub(crate) now: Moment<'a>,
    /// Of constant entries, where they stand in the head: it stays as it is until the epoch ends.
    pub(crate) head: Option<Moment<'a>>,
    /// The variables as this turn's texts find them.
    pub(crate) of_now: MacroState,
    /// As those of the head do: without what they made of them earlier in the epoch, for they do it again.
    pub(crate) of_head: MacroState,
    timed: TimedState,
    /// Tokens of the prompt.
    room: u32,
    /// Entries that are told for what they mean.
    pub(crate) near: Vec<NearEntry>,
}

impl<'a> Scene<'a> {
    pub(crate) fn new(collected: &'a Collected, answerer: &'a Answerer, (clock, head_at): (&Clock, Timestamp)) -> Self {
        let kept = Kept::of(&collected.chat);
        let mut of_head = collected.variables_before.clone();
        if kept.head_at == Some(head_at) {
            kept.head.undo(&mut of_head);
        }
        let model = answerer.facts();
        let in_head = placement(collected) == context::Placement::CacheFirst;
        Self {
            now: Moment { model, ..collected.now(clock) },
            head: in_head.then(|| Moment { model, ..collected.beginning(clock, head_at) }),
            of_now: collected.variables_before.clone(),
            of_head,
            timed: kept.timed,
            room: answerer.budget.limit.saturating_sub(answerer.budget.reserve),
            near: Vec::new(),
        }
    }

    /// How near an entry is that is told for what it means.
    fn nearness(&self, entry: &Activated) -> Option<f32> {
        let same = |near: &&NearEntry| *near.book == *entry.book && near.uid == entry.uid.as_str();
        self.near.iter().find(same).filter(|_| entry.reason == Reason::External).map(|near| near.nearness)
    }

    /// Whether an entry stands in the head.
    fn in_head(&self, entry: &Activated) -> bool {
        self.head.is_some() && entry.reason == Reason::Constant
    }
}

fn activate(collected: &Collected, books: &PreparedBooks, scene: &Scene<'_>, counting: &Counting<'_>) -> Lore {
    let words = collected.words();
    let reading = Reading::new(&words, scene);
    let outcome = outcome(collected, books, scene, (&words, &reading, counting));
    let exhausted = outcome.patterns_exhausted.then(|| EXHAUSTED.to_owned());
    let notice = exhausted.into_iter().chain(lore_left_out::notice(&outcome, books));
    let left_out = lore_left_out::blocks(&outcome, books);
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
    let mut of_now = (Run::new(&collected.scripts, &words, scene.now), read.now);
    let mut of_head = (Run::new(&collected.scripts, &words, scene.head.unwrap_or(scene.now)), lore.variables.clone());
    for mut entry in outcome.activated {
        let in_head = scene.in_head(&entry);
        let (run, variables) = if in_head { &mut of_head } else { &mut of_now };
        let rewritten = run.apply(&entry.content, occasion(&entry.place), variables);
        // What scripts put in may tell of the moment as well.
        lore.volatile |= in_head && !rewritten.scripts.is_empty();
        entry.content = rewritten.text;
        let nearness = scene.nearness(&entry);
        lore.add(entry, nearness, &rewritten.scripts, books, collected);
    }
    lore.notices.extend(of_now.0.notices().chain(of_head.0.notices()));
    lore.notices.dedup();
    lore
}

pub(crate) fn outcome(
    collected: &Collected,
    books: &PreparedBooks,
    scene: &Scene<'_>,
    (words, reading, counting): (&Words<'_>, &Reading<'_>, &Counting<'_>),
) -> LoreOutcome {
    let messages: Vec<LoreMessage<'_>> = collected
        .history
        .iter()
        .map(|message| LoreMessage {
            name: &message.speaker,
            text: &message.text,
            from_user: message.role == Role::User,
            hidden: false,
        })
        .collect();
    let card = &collected.card;
    let tags = card.tags();
    let shown = |text: &str| words.expand(text, &scene.now, &mut scene.of_now.clone()).text;
    let (persona, depth_prompt) = (shown(&collected.persona.description), shown(words::depth_prompt(card)));
    let (description, personality) = (shown(card.description()), shown(card.personality()));
    let external: Vec<(&str, &str)> = scene.near.iter().map(|near| (near.book.as_str(), near.uid.as_str())).collect();
    let (scenario, creator_notes) = (shown(card.scenario()), shown(card.creator_notes()));
    lore::activate(
        books,
        &LoreInput {
            messages: &messages,
            earlier: collected.earlier,
            texts: CardTexts {
                persona: &persona,
                description: &description,
                personality: &personality,
                depth_prompt: &depth_prompt,
                scenario: &scenario,
                creator_notes: &creator_notes,
            },
            injections: &[&collected.values.author_note],
            character: LoreCharacter { file: card.name(), tags: &tags },
            kind: collected.kind,
            dry_run: false,
            external: &external,
            context_tokens: scene.room,
            chance: Chance::Seeded(scene.now.seed),
            timed: &scene.timed,
            greeting: collected.greeting,
            // A card's picture for the user bears the name of whom the user plays (V3-14).
            user_icon: card.user_icon(&collected.persona.name),
            expand: &|written| reading.tell(written),
            count: &|text| counting.tokens(text),
        },
    )
}

impl Lore {
    fn add(
        &mut self,
        entry: Activated,
        nearness: Option<f32>,
        scripts: &[String],
        books: &PreparedBooks,
        collected: &Collected,
    ) {
        if entry.content.trim().is_empty() {
            return;
        }
        let place = match place(&entry.place, collected) {
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
        let source = Source::Lore { book: entry.book.to_string(), entry: entry.uid.to_string(), title: title.clone() };
        let reason = regex_script::reason(&why(&entry, nearness, collected), scripts);
        let written = books.written(&entry).map_or("", |written| &written.content);
        let candidate = Candidate::new(BlockKind::Lore, source, reason, entry.content)
            .made_of(written)
            .because(nearness.map(|cosine| SignalKind::Nearness.is(cosine)).into_iter().collect())
            // Later passes found it by what lore said, not by what people said.
            .scored(entry.order as f32 - entry.pass as f32 * 1_000.0);
        let role = match entry.role {
            lorebook::Role::System => PromptRole::System,
            lorebook::Role::User => PromptRole::User,
            lorebook::Role::Assistant => PromptRole::Character,
        };
        let constant = entry.reason == Reason::Constant;
        self.placed.push(Placed { candidate, place, role, order: entry.order as i32, constant });
    }
}

/// How scripts meet an entry: only one at a depth has a depth.
fn occasion(place: &lore::Place) -> Occasion {
    let depth = match place {
        lore::Place::Depth(depth) => u32::try_from(*depth).ok(),
        _ => None,
    };
    Occasion { placement: Placement::Lorebook, channel: Channel::Prompt, depth, edited: false }
}

fn shown(entry: &lorebook::Entry) -> api::LoreEntry {
    let title = if entry.comment.is_empty() { &entry.name } else { &entry.comment };
    api::LoreEntry {
        id: entry.uid.to_string(),
        title: title.clone(),
        keys: entry.keys.clone(),
        secondary_keys: if entry.selective { entry.secondary_keys.clone() } else { Vec::new() },
        content: entry.content.clone(),
        constant: entry.constant,
        enabled: !entry.disable,
    }
}

/// Where the text goes, or the outlet that asks for it, or nowhere.
fn place(place: &lore::Place, collected: &Collected) -> Result<Place, Option<String>> {
    let depth = |depth: i64| Place::Depth(u32::try_from(depth.max(0)).unwrap_or(u32::MAX));
    Ok(match place {
        lore::Place::BeforeChar => Place::BeforeCharacter,
        lore::Place::AfterChar | lore::Place::Personality | lore::Place::Scenario => Place::AfterCharacter,
        lore::Place::NoteTop | lore::Place::NoteBottom => Place::Depth(collected.values.author_note_depth),
        lore::Place::Depth(n) => depth(*n),
        lore::Place::FromStart(n) => depth(collected.history.len() as i64 - n),
        lore::Place::ExampleTop => Place::BeforeExamples,
        lore::Place::ExampleBottom => Place::AfterExamples,
        lore::Place::Outlet(name) => return Err(Some(name.clone())),
        lore::Place::Nowhere => return Err(None),
    })
}

/// In words, for the X-ray.
fn why(entry: &Activated, nearness: Option<f32>, collected: &Collected) -> String {
    let key = entry.key.as_deref().unwrap_or_default();
    let place = match entry.found {
        Some(Found::Message(index)) => match collected.history.get(index) {
            Some(message) if index + 1 == collected.history.len() => format!("in the words of {}", message.speaker),
            Some(message) => {
                format!("in what {} said {} messages ago", message.speaker, collected.history.len() - 1 - index)
            }
            None => "in a message".to_owned(),
        },
        Some(Found::Persona) => "in the persona".to_owned(),
        Some(Found::Entry) => "in another entry".to_owned(),
        Some(Found::Prompt) => "in a note".to_owned(),
        Some(Found::Anywhere) | None => String::new(),
        Some(_) => "in the card".to_owned(),
    };
    match entry.reason {
        Reason::Key => format!("key \"{key}\" {place}").trim_end().to_owned(),
        Reason::Constant => "always on".to_owned(),
        Reason::Sticky => "held by an earlier turn".to_owned(),
        Reason::Decorator => "asked for by its own text".to_owned(),
        Reason::External => format!("by meaning, {:.2}", nearness.unwrap_or_default()),
        Reason::Kept => "found once, and kept".to_owned(),
    }
}
