//! `lore`: copies lorebooks. `lore test` reports activated entries, using files only; tokens are
//! estimated, because no model is loaded.

mod report;

use std::fs;
use std::path::Path;
use std::sync::Arc;

use context::lore::{
    Bindings, CardTexts, Chance, ExpandedText, GenerationKind, LoreCharacter, LoreInput,
    LoreMessage, LoreOutcome, LoreSettings, NamedBook, PreparedBooks, Profile, TimedState,
    activate, cases,
};
use context::macros::{self, MacroScope, MacroState};
use context::{CountTokens as _, Estimate};
use domain::card::Card;
use domain::lorebook::Book;
use domain::prompt::Segment;
use engine::Engine;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use self::report::{Report, shown};
use crate::cli::{LoreProfile, LoreTestArgs};
use crate::failure::CommandError;
use crate::find;
use crate::output::Output;

pub(crate) fn test(args: &LoreTestArgs, out: &Output) -> Result<(), CommandError> {
    match (&args.vectors, &args.out) {
        (Some(vectors), Some(file)) => run_cases(vectors, file, args.profile, out),
        _ => test_files(args, out),
    }
}

pub(crate) async fn duplicate(
    engine: &Engine,
    name: &str,
    out: &Output,
) -> Result<(), CommandError> {
    let copy = engine
        .duplicate_lorebook(find::lorebook(engine, name).await?.id)
        .await?
        .about;
    out.answer(&json!({ "id": copy.id, "name": copy.name }), |_| {
        copy.id.to_string()
    })
}

impl From<LoreProfile> for Profile {
    fn from(profile: LoreProfile) -> Self {
        match profile {
            LoreProfile::Compatible => Self::Compatible,
            LoreProfile::Corrected => Self::Corrected,
        }
    }
}

fn run_cases(
    vectors: &Path,
    file: &Path,
    profile: Option<LoreProfile>,
    out: &Output,
) -> Result<(), CommandError> {
    let bad = |error: cases::CaseError| {
        CommandError::because("badInput", format!("{}: {error}", vectors.display()))
    };
    let (header, cases) = cases::read(&text(vectors)?).map_err(bad)?;
    let profile = profile.map_or(Profile::Compatible, Profile::from);
    let runs: Vec<_> = cases
        .iter()
        .map(|case| cases::run(&header, case, profile))
        .collect();
    let lines: String = runs
        .iter()
        .map(|run| format!("{}\n", run.to_value()))
        .collect();
    fs::write(file, lines)
        .map_err(|error| CommandError::because("io", format!("{}: {error}", file.display())))?;
    let differing: Vec<&str> = runs
        .iter()
        .filter(|run| !run.agrees)
        .map(|run| run.id.as_str())
        .collect();
    let agree = runs.len() - differing.len();
    let answer =
        json!({ "cases": runs.len(), "agree": agree, "differing": differing, "profile": profile });
    out.answer(&answer, |_| {
        let list = if differing.is_empty() {
            String::new()
        } else {
            format!("; these differ: {}", differing.join(" "))
        };
        format!("{agree} of {} cases agree{list}", runs.len())
    })
}

fn test_files(args: &LoreTestArgs, out: &Output) -> Result<(), CommandError> {
    let mut world = LoreTest::read(args)?;
    let settings = settings(args)?;
    let books = PreparedBooks::new(&world.books, &world.bindings, &settings);
    let outcome = world.run(&books, args);
    let report = Report {
        activated: outcome.activated,
        rejected: outcome.rejected,
        tokens: outcome.tokens,
        budget: outcome.budget,
        overflowed: outcome.overflowed,
        patterns_exhausted: outcome.patterns_exhausted,
        profile: settings.profile,
        counting: "estimate",
        skipped: std::mem::take(&mut world.skipped),
    };
    out.answer(&report, shown)
}

fn settings(args: &LoreTestArgs) -> Result<LoreSettings, CommandError> {
    let profile = args.profile.map_or(Profile::Corrected, Profile::from);
    let settings = LoreSettings {
        profile,
        ..LoreSettings::default()
    };
    let Some(file) = &args.settings else {
        return Ok(settings);
    };
    let values: Map<String, Value> = serde_json::from_str(&text(file)?).map_err(|error| {
        CommandError::because(
            "badInput",
            format!("{} does not contain settings: {error}", file.display()),
        )
    })?;
    // SillyTavern nests them one level deeper in its settings file.
    let inner = values.get("world_info_settings").and_then(Value::as_object);
    Ok(settings.with_values(inner.unwrap_or(&values)))
}

/// The files of one test.
struct LoreTest {
    books: Vec<NamedBook>,
    bindings: Bindings,
    skipped: Vec<String>,
    card: Option<Card>,
    file: String,
    user: String,
    character: String,
    chat: Vec<ChatLine>,
}

#[derive(Deserialize)]
struct ChatLine {
    #[serde(default)]
    name: String,
    #[serde(default)]
    is_user: bool,
    #[serde(default)]
    is_system: bool,
    mes: String,
}

/// Header line of a chat, if present.
#[derive(Default, Deserialize)]
struct ChatHeader {
    #[serde(default)]
    user_name: String,
    #[serde(default)]
    character_name: String,
}

impl LoreTest {
    fn read(args: &LoreTestArgs) -> Result<Self, CommandError> {
        let (header, chat) = args
            .chat
            .as_deref()
            .map_or_else(|| Ok((ChatHeader::default(), Vec::new())), chat)?;
        let mut world = Self {
            books: Vec::new(),
            bindings: Bindings::default(),
            skipped: Vec::new(),
            card: None,
            file: args.card.as_deref().map(stem).unwrap_or_default(),
            user: if header.user_name.is_empty() {
                "User".to_owned()
            } else {
                header.user_name
            },
            character: header.character_name,
            chat,
        };
        for file in &args.book {
            world.add_book(file)?;
        }
        if let Some(file) = &args.card {
            world.add_card(file)?;
        }
        Ok(world)
    }

    fn add_book(&mut self, file: &Path) -> Result<(), CommandError> {
        let bad = |error: &dyn std::fmt::Display| {
            CommandError::because("badInput", format!("{}: {error}", file.display()))
        };
        let (book, skipped) = Book::read(&bytes(file)?).map_err(|error| bad(&error))?;
        self.skipped.extend(
            skipped
                .iter()
                .map(|skipped| format!("{}: {skipped}", file.display())),
        );
        let name = self.free_name(stem(file));
        self.bindings.global.push(name.clone());
        self.books.push(NamedBook {
            name: name.into(),
            book: Arc::new(book),
        });
        Ok(())
    }

    fn add_card(&mut self, file: &Path) -> Result<(), CommandError> {
        let bad = |error: &dyn std::fmt::Display| {
            CommandError::because("badInput", format!("{}: {error}", file.display()))
        };
        let (card, _) = Card::read(&bytes(file)?).map_err(|error| bad(&error))?;
        if let Some(book) = card.character_book() {
            let (book, skipped) = Book::from_character_book(book);
            self.skipped.extend(
                skipped
                    .iter()
                    .map(|skipped| format!("{}: {skipped}", file.display())),
            );
            let name = if book.name().is_empty() {
                format!("{}'s book", card.name())
            } else {
                book.name().to_owned()
            };
            let name = self.free_name(name);
            self.bindings.character.push(name.clone());
            self.books.push(NamedBook {
                name: name.into(),
                book: Arc::new(book),
            });
        }
        self.character = card.display_name().to_owned();
        self.card = Some(card);
        Ok(())
    }

    /// Makes the name unique, because two files may have the same name.
    fn free_name(&self, name: String) -> String {
        let taken = |name: &str| self.books.iter().any(|book| &*book.name == name);
        let numbered = (2..).map(|number| format!("{name} ({number})"));
        if taken(&name) {
            numbered
                .into_iter()
                .find(|name| !taken(name))
                .unwrap_or_default()
        } else {
            name
        }
    }

    /// Scans once at the end, or after each message up to the requested one.
    fn run(&self, books: &PreparedBooks, args: &LoreTestArgs) -> LoreOutcome {
        let Some(at) = args.at else {
            return self.scan(books, args, self.chat.len(), &TimedState::default());
        };
        let last = at.min(self.chat.len());
        let mut outcome = LoreOutcome::default();
        for messages in last.min(1)..=last {
            outcome = self.scan(books, args, messages, &outcome.timed);
        }
        outcome
    }

    fn scan(
        &self,
        books: &PreparedBooks,
        args: &LoreTestArgs,
        messages: usize,
        timed: &TimedState,
    ) -> LoreOutcome {
        let messages: Vec<LoreMessage> = self.chat[..messages]
            .iter()
            .map(|it| LoreMessage {
                name: &it.name,
                text: &it.mes,
                from_user: it.is_user,
                hidden: it.is_system,
            })
            .collect();
        let names = MacroScope {
            char: &self.character,
            user: &self.user,
            ..MacroScope::default()
        };
        let card = self.card.as_ref();
        let tags = card.map(Card::tags).unwrap_or_default();
        let depth_prompt = card.and_then(|card| {
            card.extensions()?
                .get("depth_prompt")?
                .get("prompt")?
                .as_str()
        });
        activate(
            books,
            &LoreInput {
                messages: &messages,
                earlier: Default::default(),
                texts: CardTexts {
                    persona: "",
                    description: card.map_or("", Card::description),
                    personality: card.map_or("", Card::personality),
                    depth_prompt: depth_prompt.unwrap_or_default(),
                    scenario: card.map_or("", Card::scenario),
                    creator_notes: card.map_or("", Card::creator_notes),
                },
                injections: &[],
                character: LoreCharacter {
                    file: &self.file,
                    tags: &tags,
                },
                kind: GenerationKind::Normal,
                dry_run: false,
                external: &[],
                context_tokens: args.context_tokens,
                chance: Chance::Seeded(args.seed),
                timed,
                greeting: self.greeting(),
                user_icon: None,
                expand: &|written| {
                    let expanded =
                        macros::expand(written.text(), &names, &mut MacroState::default());
                    ExpandedText {
                        text: expanded.text,
                        hidden_keys: expanded.hidden_keys,
                    }
                },
                count: &|text| {
                    Estimate
                        .count(&Segment {
                            text: text.to_owned(),
                            control: false,
                        })
                        .unwrap_or_default()
                },
            },
        )
    }

    /// Returns the index of the card's greeting that the chat begins with.
    fn greeting(&self) -> Option<u32> {
        let card = self.card.as_ref()?;
        let first = self.chat.first()?;
        let mut greetings = std::iter::once(card.first_mes()).chain(card.alternate_greetings());
        greetings
            .position(|greeting| greeting.trim() == first.mes.trim())
            .and_then(|at| u32::try_from(at).ok())
    }
}

/// Parses a chat into its header, if the first line is not a message, and its messages. The error
/// names an invalid line.
fn chat(file: &Path) -> Result<(ChatHeader, Vec<ChatLine>), CommandError> {
    let text = text(file)?;
    let mut header = ChatHeader::default();
    let mut messages = Vec::new();
    for (number, line) in text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
    {
        match serde_json::from_str(line.trim_start_matches('\u{feff}')) {
            Ok(message) => messages.push(message),
            Err(_) if number == 0 => header = serde_json::from_str(line).unwrap_or_default(),
            Err(error) => {
                let reason = format!(
                    "{}, line {} is not a message: {error}",
                    file.display(),
                    number + 1
                );
                return Err(CommandError::because("badInput", reason));
            }
        }
    }
    Ok((header, messages))
}

fn bytes(file: &Path) -> Result<Vec<u8>, CommandError> {
    fs::read(file).map_err(|error| {
        CommandError::because(
            "badInput",
            format!("cannot read {}: {error}", file.display()),
        )
    })
}

fn text(file: &Path) -> Result<String, CommandError> {
    String::from_utf8(bytes(file)?).map_err(|_| {
        CommandError::because("badInput", format!("{} is not UTF-8 text", file.display()))
    })
}

fn stem(file: &Path) -> String {
    file.file_stem()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}
