//! Shows which lorebook entries a text would activate, in a chat or alone. Nothing is sent or
//! stored.

use std::collections::HashMap;

use context::lore::{
    self, Activated, CardTexts, Chance, EntryPosition, ExpandedText, GenerationKind, KeyLocation,
    LoreCharacter, LoreInput, LoreMessage, LoreOutcome, PreparedBooks, TimedState,
};
use context::macros::{self, MacroScope, MacroState};
use context::{CountTokens as _, Estimate};
use domain::chat::{Chat, WindowState};
use domain::lorebook::Uid;
use domain::prompt::Segment;
use domain::{CharacterId, ChatId, LorebookId};
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use crate::api::{LoreFound, LorePosition, LoreTrial, SilentEntry, ToldEntry, TurnOptions};
use crate::base::error::{ApiResult, bad_input};
use crate::library::lorebooks::entries::title;
use crate::library::snapshots::chat_macros::StoredMacroState;
use crate::settings::model_handles::handle::ModelHandle;
use crate::turn::inputs::turn_inputs::TurnInputs;
use crate::turn::lore::activation::{ActivationInput, EXHAUSTED, MAX_RUNS, outcome};
use crate::turn::lore::books::{self, BookSet};
use crate::turn::lore::counts::LoreTokenCounter;
use crate::turn::lore::left_out;
use crate::turn::lore::macros::EntryMacros;
use crate::turn::previews::Previews;

/// Maximum length of the text, in bytes. A longer text is a file pasted by mistake.
const MAX_TEXT: usize = 1 << 20;
/// Maximum number of inactive entries in the result.
const MAX_SILENT: usize = 500;
/// Prompt size in tokens if no model is set up.
const ROOM: u32 = 8_192;

impl Previews {
    /// Activates entries as if `text` were the next message of `chat`. Uses the books that apply
    /// there, and `book` regardless of its bindings. Without a text, shows what the last message
    /// activated. Without a chat, only `text` and `book` are used.
    ///
    /// # Errors
    /// `NotFound` if the book or the chat does not exist; `BadInput` if both are missing or the
    /// text is too long; `NoModel` if the chat has no model.
    pub(crate) async fn try_lore(
        &self,
        book: Option<LorebookId>,
        text: String,
        chat: Option<ChatId>,
    ) -> ApiResult<LoreTrial> {
        if text.len() > MAX_TEXT {
            return Err(bad_input(
                "The text is too long to try.",
                "Use a shorter text.",
            ));
        }
        match (chat, book) {
            (Some(chat), book) => self.try_in_chat(chat, text, book).await,
            (None, Some(book)) => self.try_alone(book, &text).await,
            (None, None) => Err(bad_input(
                "There is nothing to try.",
                "Choose a lorebook or a chat.",
            )),
        }
    }

    async fn try_in_chat(
        &self,
        chat: ChatId,
        text: String,
        book: Option<LorebookId>,
    ) -> ApiResult<LoreTrial> {
        // Without a text, the trial scans the last messages.
        let options = TurnOptions {
            regenerate: text.is_empty(),
            ..TurnOptions::default()
        };
        let (chat, last) = self.inputs.chat_and_last(chat).await?;
        let (reply_to, model_handle) = tokio::try_join!(
            self.reply_to_of_preview(&chat, last, text, &options),
            self.config().model_handles.model_handle(&chat, &options)
        )?;
        let inputs = self
            .assembly
            .collect(chat, reply_to, &model_handle, &options)
            .await?
            .inputs;
        let shelf = self.shelf_with(&inputs, book).await?;
        let books = shelf.prepared(&books::settings(&inputs.values));
        let head_at = inputs
            .snapshot
            .head_at()
            .unwrap_or_else(|| inputs.answered_at(self.base().now()));
        let mut scene =
            ActivationInput::new(&inputs, &model_handle, (self.base().clock(), head_at));
        scene.near = self
            .lore_activation
            .near_entries(&inputs, shelf.ids())
            .await;
        let run = |counting: &LoreTokenCounter<'_>| {
            let words = inputs.snapshot.macro_names();
            let reading = EntryMacros::new(&words, &scene);
            let outcome = outcome(&inputs, &books, &scene, (&words, &reading, counting));
            (outcome, reading.finish().1)
        };
        let (outcome, notices) = self.counted(&model_handle, run).await?;
        let speaker = |index: usize| {
            inputs
                .history
                .get(index)
                .map(|message| message.speaker.clone())
        };
        let messages = inputs.history.len();
        Ok(Telling {
            books: &books,
            shelf: &shelf,
            messages,
            speaker: &speaker,
        }
        .trial(outcome, true, notices))
    }

    async fn try_alone(&self, book: LorebookId, text: &str) -> ApiResult<LoreTrial> {
        let found = self.library().lorebooks.lorebook(book).await?;
        let mut shelf = BookSet::default();
        shelf.add(&found.name(), found.book);
        let values = self
            .config()
            .setting_layers
            .resolved_before_chat(None)
            .await?
            .values;
        let books = shelf.prepared(&books::settings(&values));
        let user = self.library().personas.persona_of(None).await?.name;
        // Exact counts are optional here: without a model, an estimate is used.
        let model_handle = self
            .config()
            .model_handles
            .model_handle(&nobodys_chat(), &TurnOptions::default())
            .await
            .ok();
        let (outcome, counted) = match &model_handle {
            Some(model_handle) => {
                let room = model_handle
                    .budget
                    .limit
                    .saturating_sub(model_handle.budget.reserve);
                let run = |counting: &LoreTokenCounter<'_>| {
                    alone(&books, &user, text, room, &|text| counting.tokens(text))
                };
                (self.counted(model_handle, run).await?, true)
            }
            None => (alone(&books, &user, text, ROOM, &estimate), false),
        };
        let speaker = |_| Some(user.clone());
        Ok(Telling {
            books: &books,
            shelf: &shelf,
            messages: 1,
            speaker: &speaker,
        }
        .trial(outcome, counted, Vec::new()))
    }

    /// The books of the chat, and `book` if it is not one of them.
    async fn shelf_with(
        &self,
        inputs: &TurnInputs,
        book: Option<LorebookId>,
    ) -> ApiResult<BookSet> {
        let own = inputs.snapshot.chat.character;
        let is_there =
            |id: &LorebookId| id.0 == own.0 || inputs.bound.iter().any(|bound| bound.id == *id);
        let extra = book.filter(|id| !is_there(id));
        let mut shelf = self.lore_activation.shelf(inputs).await?;
        if let Some(id) = extra {
            let found = self.library().lorebooks.lorebook(id).await?;
            shelf.add(&found.name(), found.book);
        }
        Ok(shelf)
    }

    /// Repeats the run until all token counts that it used are exact.
    async fn counted<T>(
        &self,
        model_handle: &ModelHandle,
        run: impl Fn(&LoreTokenCounter<'_>) -> T,
    ) -> ApiResult<T> {
        for _ in 1..MAX_RUNS {
            let counting = LoreTokenCounter::new(&self.lore_activation, model_handle);
            let outcome = run(&counting);
            let guessed = counting.finish();
            if guessed.is_empty() {
                return Ok(outcome);
            }
            self.lore_activation
                .count_lore(model_handle, guessed)
                .await?;
        }
        Ok(run(&LoreTokenCounter::new(
            &self.lore_activation,
            model_handle,
        )))
    }
}

/// Context for converting an outcome to API types.
struct Telling<'a> {
    books: &'a PreparedBooks,
    shelf: &'a BookSet,
    messages: usize,
    speaker: &'a dyn Fn(usize) -> Option<String>,
}

impl Telling<'_> {
    fn trial(&self, outcome: LoreOutcome, counted: bool, mut notices: Vec<String>) -> LoreTrial {
        if outcome.patterns_exhausted {
            notices.push(EXHAUSTED.to_owned());
        }
        notices.extend(left_out::notice(&outcome, self.books));
        let titles = self.titles();
        let silent = outcome
            .rejected
            .iter()
            .take(MAX_SILENT)
            .map(|entry| SilentEntry {
                book: entry.book.to_string(),
                entry: entry.uid.to_string(),
                title: titles
                    .get(&(&*entry.book, &entry.uid))
                    .copied()
                    .unwrap_or_default()
                    .to_owned(),
                rule: word(&entry.rule),
            });
        LoreTrial {
            silent: silent.collect(),
            silent_count: u32::try_from(outcome.rejected.len()).unwrap_or(u32::MAX),
            tokens: outcome.tokens,
            budget: outcome.budget,
            overflowed: outcome.overflowed,
            counted,
            notices,
            told: outcome
                .activated
                .into_iter()
                .map(|entry| self.told(entry))
                .collect(),
        }
    }

    fn titles(&self) -> HashMap<(&str, &Uid), &str> {
        let entries = self.shelf.books().iter().flat_map(|book| {
            let name = &*book.name;
            book.book
                .entries
                .iter()
                .map(move |entry| ((name, &entry.uid), title(entry)))
        });
        entries.collect()
    }

    fn told(&self, entry: Activated) -> ToldEntry {
        let (position, depth) = self.place(&entry.place);
        ToldEntry {
            title: self.books.title(&entry).to_owned(),
            book: entry.book.to_string(),
            entry: entry.uid.to_string(),
            reason: word(&entry.reason),
            found: entry.found.and_then(|found| self.found(found)),
            key: entry.key,
            pass: entry.pass,
            position,
            depth: depth.map(|depth| depth.clamp(0, i32::MAX.into()) as i32),
            outlet: match entry.place {
                EntryPosition::Outlet(name) => Some(name),
                _ => None,
            },
            order: entry.order,
            tokens: entry.tokens,
            text: entry.content,
        }
    }

    fn found(&self, found: KeyLocation) -> Option<LoreFound> {
        Some(match found {
            KeyLocation::Message(index) => LoreFound::Message {
                speaker: (self.speaker)(index).unwrap_or_default(),
                ago: u32::try_from(self.messages.saturating_sub(index + 1)).unwrap_or(u32::MAX),
            },
            KeyLocation::Persona => LoreFound::Persona,
            KeyLocation::Entry => LoreFound::Entry,
            KeyLocation::Prompt => LoreFound::Note,
            KeyLocation::Anywhere => return None,
            KeyLocation::Description
            | KeyLocation::Personality
            | KeyLocation::DepthPrompt
            | KeyLocation::Scenario
            | KeyLocation::CreatorNotes => LoreFound::Card,
        })
    }

    fn place(&self, place: &EntryPosition) -> (Option<LorePosition>, Option<i64>) {
        let at = |depth: i64| (Some(LorePosition::AtDepth), Some(depth));
        match place {
            EntryPosition::BeforeChar => (Some(LorePosition::BeforeCharacter), None),
            EntryPosition::AfterChar | EntryPosition::Personality | EntryPosition::Scenario => {
                (Some(LorePosition::AfterCharacter), None)
            }
            EntryPosition::NoteTop => (Some(LorePosition::NoteTop), None),
            EntryPosition::NoteBottom => (Some(LorePosition::NoteBottom), None),
            EntryPosition::Depth(depth) => at(*depth),
            EntryPosition::FromStart(messages) => at(self.messages as i64 - messages),
            EntryPosition::ExampleTop => (Some(LorePosition::BeforeExamples), None),
            EntryPosition::ExampleBottom => (Some(LorePosition::AfterExamples), None),
            EntryPosition::Outlet(_) => (Some(LorePosition::Outlet), None),
            EntryPosition::Nowhere => (None, None),
        }
    }
}

/// Activation for one message of the user, without a character.
fn alone(
    books: &PreparedBooks,
    user: &str,
    text: &str,
    room: u32,
    count: &dyn Fn(&str) -> u32,
) -> LoreOutcome {
    let names = MacroScope {
        user,
        ..MacroScope::default()
    };
    lore::activate(
        books,
        &LoreInput {
            messages: &[LoreMessage {
                name: user,
                text,
                from_user: true,
                hidden: false,
            }],
            earlier: Default::default(),
            texts: CardTexts::default(),
            injections: &[],
            character: LoreCharacter::default(),
            kind: GenerationKind::Normal,
            dry_run: true,
            external: &[],
            context_tokens: room,
            chance: Chance::Seeded(0),
            timed: &TimedState::default(),
            greeting: None,
            user_icon: None,
            expand: &|written| {
                let expanded = macros::expand(written.text(), &names, &mut MacroState::default());
                ExpandedText {
                    text: expanded.text,
                    hidden_keys: expanded.hidden_keys,
                }
            },
            count,
        },
    )
}

fn estimate(text: &str) -> u32 {
    Estimate
        .count(&Segment {
            text: text.to_owned(),
            control: false,
        })
        .unwrap_or_default()
}

/// An empty chat, to find the default model.
fn nobodys_chat() -> Chat {
    Chat {
        id: ChatId(Uuid::nil()),
        character: CharacterId(Uuid::nil()),
        persona: None,
        title: String::new(),
        model: None,
        draft: String::new(),
        window: WindowState::default(),
        scene_after: None,
        variables: StoredMacroState::default().to_json(),
        created: domain::Timestamp(0),
        updated: domain::Timestamp(0),
    }
}

fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        _ => String::new(),
    }
}
