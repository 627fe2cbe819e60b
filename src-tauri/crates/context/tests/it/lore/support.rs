//! Helpers: a book "A", a short chat, and the uids of the activated entries.

use std::sync::Arc;

use context::lore::{
    Bindings, CardTexts, Chance, ExpandedText, GenerationKind, LoreCharacter, LoreInput,
    LoreMessage, LoreOutcome, LoreSettings, NamedBook, PreparedBooks, Profile, Rule, TimedState,
    Written, activate,
};
use domain::lorebook::Book;
use serde_json::{Map, Value, json};

/// A turn that can run in both profiles. Tokens are words; messages are scanned without names.
#[derive(Debug, Clone)]
pub(crate) struct Turn {
    pub(crate) book: Value,
    pub(crate) settings: LoreSettings,
    pub(crate) chat: Vec<(bool, String)>,
    pub(crate) description: String,
    pub(crate) note: String,
    pub(crate) context: u32,
    pub(crate) chance: Chance,
    pub(crate) external: Vec<String>,
    pub(crate) timed: TimedState,
    pub(crate) greeting: Option<u32>,
    pub(crate) user_icon: Option<String>,
    pub(crate) dry_run: bool,
}

impl Turn {
    /// Creates native entries; missing fields get the defaults of a new entry. Uids are the
    /// positions.
    pub(crate) fn new(entries: Value) -> Self {
        let entries = entries.as_array().unwrap().iter().enumerate();
        let entries: Map<String, Value> = entries
            .map(|(uid, entry)| (uid.to_string(), native(uid, entry)))
            .collect();
        Self::of_book(json!({ "entries": entries }))
    }

    /// Creates a `character_book`.
    pub(crate) fn of_card(book: Value, entries: Value) -> Self {
        let mut book = book;
        let entries = entries.as_array().unwrap().iter().enumerate();
        book["entries"] = entries
            .map(|(id, entry)| {
                let mut whole = json!({ "id": id, "enabled": true, "insertion_order": 100, "extensions": {}, "content": format!("text {id}") });
                whole.as_object_mut().unwrap().extend(entry.as_object().unwrap().clone());
                whole
            })
            .collect();
        Self::of_book(book)
    }

    fn of_book(book: Value) -> Self {
        Self {
            book,
            settings: LoreSettings {
                recursive: false,
                match_whole_words: false,
                include_names: false,
                ..LoreSettings::default()
            },
            chat: Vec::new(),
            description: String::new(),
            note: String::new(),
            context: 4000,
            chance: Chance::Fixed(0.5),
            external: Vec::new(),
            timed: TimedState::default(),
            greeting: None,
            user_icon: None,
            dry_run: false,
        }
    }

    /// Oldest first; user and character alternate, and the user speaks first.
    pub(crate) fn chat(mut self, messages: &[&str]) -> Self {
        self.chat = messages
            .iter()
            .enumerate()
            .map(|(i, text)| (i % 2 == 0, (*text).to_owned()))
            .collect();
        self
    }

    pub(crate) fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    pub(crate) fn set(mut self, change: impl FnOnce(&mut LoreSettings)) -> Self {
        change(&mut self.settings);
        self
    }

    pub(crate) fn run(&self, profile: Profile) -> LoreOutcome {
        let (book, _) = Book::from_value(self.book.clone()).unwrap();
        let named = NamedBook {
            name: "A".into(),
            book: Arc::new(book),
        };
        let bindings = Bindings {
            global: vec!["A".to_owned()],
            ..Bindings::default()
        };
        let books = PreparedBooks::new(
            &[named],
            &bindings,
            &LoreSettings {
                profile,
                ..self.settings.clone()
            },
        );
        let messages: Vec<LoreMessage> = self
            .chat
            .iter()
            .map(|(from_user, text)| LoreMessage {
                name: "",
                text,
                from_user: *from_user,
                hidden: false,
            })
            .collect();
        let external: Vec<(&str, &str)> = self
            .external
            .iter()
            .map(|uid| ("A", uid.as_str()))
            .collect();
        activate(
            &books,
            &LoreInput {
                messages: &messages,
                earlier: Default::default(),
                texts: CardTexts {
                    description: &self.description,
                    ..CardTexts::default()
                },
                injections: &[&self.note],
                character: LoreCharacter::default(),
                kind: GenerationKind::Normal,
                dry_run: self.dry_run,
                external: &external,
                context_tokens: self.context,
                chance: self.chance,
                timed: &self.timed,
                greeting: self.greeting,
                user_icon: self.user_icon.as_deref(),
                expand: &expand,
                count: &|text| text.split_whitespace().count() as u32,
            },
        )
    }

    /// The uids of the activated entries, in order of acceptance.
    pub(crate) fn fires(&self, profile: Profile) -> String {
        uids(&self.run(profile))
    }

    /// Checks the corrected profile.
    #[track_caller]
    pub(crate) fn check(&self, expected: &str) {
        assert_eq!(self.fires(Profile::Corrected), expected);
    }

    /// Checks both profiles.
    #[track_caller]
    pub(crate) fn check_both(&self, compatible: &str, corrected: &str) {
        assert_eq!(self.fires(Profile::Compatible), compatible, "compatible");
        assert_eq!(self.fires(Profile::Corrected), corrected, "corrected");
    }

    /// The rule that rejects the entry in the corrected profile.
    pub(crate) fn rule(&self, uid: &str) -> Rule {
        let outcome = self.run(Profile::Corrected);
        outcome
            .rejected
            .iter()
            .find(|entry| entry.uid.as_str() == uid)
            .unwrap()
            .rule
    }
}

pub(crate) fn uids(outcome: &LoreOutcome) -> String {
    outcome
        .activated
        .iter()
        .map(|entry| entry.uid.to_string())
        .collect::<Vec<_>>()
        .join(" ")
}

/// Resolves the character's name and hidden keys.
fn expand(written: Written<'_>) -> ExpandedText {
    let text = written.text().replace("{{char}}", "Mira");
    match text
        .split_once("{{hidden_key:")
        .and_then(|(before, rest)| Some((before, rest.split_once("}}")?)))
    {
        Some((before, (key, behind))) => ExpandedText {
            text: format!("{before}{behind}"),
            hidden_keys: vec![key.to_owned()],
        },
        None => text.into(),
    }
}

fn native(uid: usize, entry: &Value) -> Value {
    let mut whole = json!({
        "uid": uid, "key": [], "keysecondary": [], "content": format!("text {uid}"), "selective": true, "order": 100,
        "position": 0, "probability": 100, "useProbability": true,
    });
    whole
        .as_object_mut()
        .unwrap()
        .extend(entry.as_object().unwrap().clone());
    whole
}
