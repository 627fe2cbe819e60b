//! Lorebook entries for a turn: which books count, what they answer, and where their texts go.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use context::frame::{BlockKind, Candidate, Place, Placed, Source};
use context::lore::{
    self, Activated, Bindings, CardTexts, Chance, Found, LoreCharacter, LoreInput, LoreMessage, LoreSettings,
    NamedBook, PreparedBooks, Reason, TimedState,
};
use context::macros::{Expanded, MacroState};
use context::regex_script::{self, Channel, Occasion};
use context::{CountTokens as _, Estimate};
use domain::chat::Role;
use domain::lorebook::{self, Book};
use domain::prompt::{PromptRole, Segment};
use domain::regex_script::Placement;

use crate::Engine;
use crate::answer::Answerer;
use crate::api;
use crate::clock::Clock;
use crate::collect::Collected;
use crate::error::Answer;
use crate::scripts::Run;
use crate::words::{self, Kept, Moment, Words};

/// What the lorebooks say to one turn.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lore {
    pub(crate) placed: Vec<Placed>,
    /// Texts for `{{outlet::name}}`, in order.
    pub(crate) outlets: BTreeMap<String, String>,
    /// What the next turn goes on from.
    pub(crate) timed: TimedState,
    /// As the entries' macros left them.
    pub(crate) variables: MacroState,
    pub(crate) notices: Vec<String>,
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
    last: Option<(u64, Arc<PreparedBooks>)>,
}

impl Engine {
    pub async fn card_lore(&self, character: String) -> Answer<Vec<api::LoreEntry>> {
        let character = self.character(character.parse()?).await?;
        let (card, _) = self.card(&character)?;
        let book = card.character_book().map(|raw| Book::from_character_book(raw).0);
        Ok(book.iter().flat_map(|book| &book.entries).map(shown).collect())
    }

    /// Runs the books that are bound to the chat over its messages.
    pub(crate) fn activate(&self, collected: &Collected, answerer: &Answerer, clock: &Clock) -> Lore {
        let variables = collected.variables.clone();
        let Some(books) = self.books(collected) else { return Lore { variables, ..Lore::default() } };
        let kept = Kept::of(&collected.chat);
        let words = Words::new(&collected.card, &collected.persona, collected.chat.id);
        let moment = collected.now(clock);
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
        let reading = Reading::new(&words, moment, variables);
        let expand = |text: &str| reading.expand(text);
        let shown = |text: &str| words.expand(text, &moment, &mut collected.variables.clone()).text;
        let (persona, depth_prompt) = (shown(&collected.persona.description), shown(words::depth_prompt(card)));
        let (description, personality) = (shown(card.description()), shown(card.personality()));
        let (scenario, creator_notes) = (shown(card.scenario()), shown(card.creator_notes()));
        let count = |text: &str| Estimate.count(&Segment { text: text.to_owned(), control: false }).unwrap_or(0);
        let outcome = lore::activate(
            &books,
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
                external: &[],
                context_tokens: answerer.budget.limit.saturating_sub(answerer.budget.reserve),
                chance: Chance::Seeded(moment.seed),
                timed: &kept.timed,
                greeting: None,
                user_icon: None,
                expand: &expand,
                count: &count,
            },
        );
        let notice = outcome
            .patterns_exhausted
            .then(|| "The lorebooks' patterns took too long; some were not tried. Make them simpler.".to_owned());
        let (variables, noticed) = reading.finish();
        let notices = notice.into_iter().chain(noticed).collect();
        let mut lore = Lore { timed: outcome.timed, variables, notices, ..Lore::default() };
        let mut run = Run::new(&collected.scripts, &words, moment);
        let mut state = lore.variables.clone();
        for mut entry in outcome.activated {
            let rewritten = run.apply(&entry.content, occasion(&entry.place), &mut state);
            entry.content = rewritten.text;
            lore.add(entry, &rewritten.scripts, &books, collected);
        }
        lore.notices.extend(run.notices());
        lore
    }

    /// The chat's books, prepared; `None` if there is not one entry.
    fn books(&self, collected: &Collected) -> Option<Arc<PreparedBooks>> {
        let raw = collected.card.character_book()?;
        let mut cache = self.lore_cache();
        if let Some((_, known)) = cache.last.as_ref().filter(|(known, _)| *known == collected.card_hash) {
            return Some(known.clone()).filter(|known| !known.is_empty());
        }
        let (book, _) = Book::from_character_book(raw);
        let name = match book.name() {
            "" => collected.card.name().to_owned(),
            name => name.to_owned(),
        };
        let books = [NamedBook { name: name.as_str().into(), book: Arc::new(book) }];
        let bindings = Bindings { character: vec![name], ..Bindings::default() };
        let prepared = Arc::new(PreparedBooks::new(&books, &bindings, &LoreSettings::default()));
        cache.last = Some((collected.card_hash, prepared.clone()));
        Some(prepared).filter(|prepared| !prepared.is_empty())
    }
}

/// Resolves the macros of keys and entries: each text once a turn, however often it is asked for, so that what one counts is
/// counted once.
struct Reading<'a> {
    words: &'a Words<'a>,
    moment: Moment<'a>,
    so_far: RefCell<SoFar>,
}

#[derive(Default)]
struct SoFar {
    variables: MacroState,
    texts: HashMap<String, String>,
    noticed: Expanded,
}

impl<'a> Reading<'a> {
    fn new(words: &'a Words<'a>, moment: Moment<'a>, variables: MacroState) -> Self {
        Self { words, moment, so_far: RefCell::new(SoFar { variables, ..SoFar::default() }) }
    }

    fn expand(&self, text: &str) -> String {
        let SoFar { variables, texts, noticed } = &mut *self.so_far.borrow_mut();
        if let Some(known) = texts.get(text) {
            return known.clone();
        }
        let expanded = self.words.expand(text, &self.moment, variables);
        noticed.unknown.extend(expanded.unknown);
        noticed.absent.extend(expanded.absent);
        texts.insert(text.to_owned(), expanded.text.clone());
        expanded.text
    }

    /// The variables as they are now, and what the user ought to know.
    fn finish(self) -> (MacroState, Vec<String>) {
        let SoFar { variables, mut noticed, .. } = self.so_far.into_inner();
        for names in [&mut noticed.unknown, &mut noticed.absent] {
            names.sort();
            names.dedup();
        }
        (variables, words::notices("the lorebook", &noticed).collect())
    }
}

impl Lore {
    fn add(&mut self, entry: Activated, scripts: &[String], books: &PreparedBooks, collected: &Collected) {
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
        let reason = regex_script::reason(&why(&entry, collected), scripts);
        let candidate = Candidate::new(BlockKind::Lore, source, reason, entry.content)
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
fn why(entry: &Activated, collected: &Collected) -> String {
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
        Reason::External => "found by meaning".to_owned(),
        Reason::Kept => "found once, and kept".to_owned(),
    }
}
