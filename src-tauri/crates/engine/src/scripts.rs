//! Regex scripts at work: the user's own, those of a card once they are allowed, and the texts that they are run on.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ahash::RandomState;
use context::display::{Passage, PassageFilter};
use context::frame::Rewritten;
use context::macros::MacroState;
use context::regex_script::{Budget, Channel, CompiledScripts, Occasion, Why};
use domain::CharacterId;
use domain::chat::{Chat, Message, Role};
use domain::regex_script::{self, Placement, RegexScript};
use serde_json::Value;
use store::{Preset, PresetKind, StoreError};

use crate::Engine;
use crate::api;
use crate::error::Answer;
use crate::panics;
use crate::script_library::listed;
use crate::words::{Kept, Moment, Words};

/// How long scripts may work on one turn altogether. Their work is counted ([`Budget`]), and what it comes to does not depend
/// on the hour (S0.4); this is for patterns that are slower than any count tells, and where it is reached the user is told.
const AT_LAST: Duration = Duration::from_secs(5);
/// Results that are remembered, so that old messages are not searched again on every turn.
const REMEMBERED: usize = 20_000;

/// A text that is stored as it is said.
pub(crate) const SAID: Occasion =
    Occasion { placement: Placement::AiOutput, channel: Channel::Stored, depth: None, edited: false };
/// A text that is stored in the place of another.
const EDITED: Occasion = Occasion { edited: true, ..SAID };

/// Reason shown if a bug in the app made a script fail.
const DEFECT: &str = "an error inside Inglenook; the log has the details";

type Results = HashMap<(u64, u64), Arc<Outcome>, RandomState>;

/// The scripts that count in one chat.
#[derive(Default)]
pub(crate) struct Scripts {
    set: CompiledScripts,
    results: Mutex<Results>,
}

/// What scripts made of a text. The same scripts and the same text come out the same, failures included.
#[derive(Clone, Default)]
struct Outcome {
    /// `None` where none found anything.
    rewritten: Option<Rewritten>,
    /// Names of the scripts that failed, with the reasons.
    failed: Vec<String>,
    /// Not of the text, but of the machine.
    late: bool,
}

/// The set that was compiled last: the next turn is likely of the same chat.
#[derive(Default)]
pub(crate) struct ScriptCache {
    last: Option<(u64, Arc<Scripts>)>,
}

/// One turn's run of scripts.
pub(crate) struct Run<'a> {
    scripts: &'a Scripts,
    words: &'a Words<'a>,
    moment: Moment<'a>,
    until: Instant,
    failed: Vec<String>,
    late: bool,
    worked: bool,
    /// Occasions of this turn, with what stands for the scripts that work then.
    fingerprints: Vec<(Occasion, Option<u64>)>,
}

impl<'a> Run<'a> {
    pub(crate) fn new(scripts: &'a Scripts, words: &'a Words<'a>, moment: Moment<'a>) -> Self {
        let until = Instant::now() + AT_LAST;
        Self { scripts, words, moment, until, failed: Vec::new(), late: false, worked: false, fingerprints: Vec::new() }
    }

    /// A window has hundreds of messages, and two kinds of them.
    fn fingerprint(&mut self, occasion: &Occasion) -> Option<u64> {
        let set = &self.scripts.set;
        let known = self
            .fingerprints
            .iter()
            .find(|(known, _)| known.placement == occasion.placement && set.alike(known, occasion));
        if let Some((_, fingerprint)) = known {
            return *fingerprint;
        }
        let fingerprint = set.fingerprint(occasion);
        self.fingerprints.push((*occasion, fingerprint));
        fingerprint
    }

    /// `text` after the scripts; as it was, where none has a say.
    pub(crate) fn apply(&mut self, text: &str, occasion: Occasion, state: &mut MacroState) -> Rewritten {
        let unchanged = || Rewritten { text: text.to_owned(), scripts: Vec::new() };
        self.rewritten(text, occasion, state).unwrap_or_else(unchanged)
    }

    /// The same; `None` where no script finds anything.
    pub(crate) fn rewritten(&mut self, text: &str, occasion: Occasion, state: &mut MacroState) -> Option<Rewritten> {
        if !self.scripts.set.concerns(&occasion) {
            return None;
        }
        let key = self.fingerprint(&occasion).map(|set| (set, hash(text)));
        let outcome = match key.and_then(|key| self.scripts.results().get(&key).cloned()) {
            Some(known) => known,
            None => {
                self.worked = true;
                let failed = || Outcome { failed: vec![DEFECT.to_owned()], ..Outcome::default() };
                let outcome = Arc::new(panics::or_plain("regex scripts", || self.work(text, &occasion, state), failed));
                if let Some(key) = key.filter(|_| !outcome.late) {
                    self.scripts.remember(key, outcome.clone());
                }
                outcome
            }
        };
        self.late |= outcome.late;
        for failure in &outcome.failed {
            if !self.failed.contains(failure) {
                self.failed.push(failure.clone());
            }
        }
        outcome.rewritten.clone()
    }

    /// Whether patterns were tried since this was asked last, or all was remembered.
    pub(crate) fn has_worked(&mut self) -> bool {
        std::mem::take(&mut self.worked)
    }

    fn work(&self, text: &str, occasion: &Occasion, state: &mut MacroState) -> Outcome {
        let until = self.until;
        let late = move || Instant::now() >= until;
        let mut budget = Budget::default().until(&late);
        let scope = self.words.scope(None, &self.moment);
        let set = &self.scripts.set;
        let applied = set.apply(text, occasion, &scope, state, &mut budget);
        let (stopped, failed): (Vec<_>, Vec<_>) =
            applied.failed.into_iter().partition(|failure| failure.why == Why::OutOfTime);
        Outcome {
            rewritten: (!applied.ran.is_empty()).then(|| Rewritten {
                text: applied.text.into_owned(),
                scripts: applied.ran.iter().map(|ran| set.name(ran).to_owned()).collect(),
            }),
            failed: failed.iter().map(|failure| format!("{}: {}", failure.name, failure.why)).collect(),
            late: !stopped.is_empty(),
        }
    }

    /// The words and thoughts of a reply, each by its own scripts; tags and the rest stay, and so does `base`, which the
    /// reply goes on from and the scripts have seen.
    pub(crate) fn reply(&mut self, base: &str, text: &str, occasion: Occasion, state: &mut MacroState) -> String {
        let mut filter = PassageFilter::default();
        let seen: usize = filter.push(base).iter().map(|piece| piece.raw.len()).sum();
        // What may still become a tag is held, and comes with the next piece.
        let mut whole = base.get(..seen).unwrap_or(base).to_owned();
        let mut pieces = filter.push(text);
        pieces.extend(filter.finish());
        for piece in pieces {
            let placement = match piece.passage {
                Passage::Words => Some(Placement::AiOutput),
                Passage::Thoughts => Some(Placement::Reasoning),
                Passage::ThoughtsClosed
                | Passage::Metrics
                | Passage::Keyframe
                | Passage::Reminder
                | Passage::EpisodeEnd => None,
            };
            match placement.filter(|_| !piece.text.is_empty()) {
                Some(placement) => {
                    let changed = self.apply(&piece.text, Occasion { placement, ..occasion }, state).text;
                    whole.push_str(&piece.raw.replacen(&piece.text, &changed, 1));
                }
                None => whole.push_str(&piece.raw),
            }
        }
        whole
    }

    /// What the user ought to know of this run.
    pub(crate) fn notices(self) -> impl Iterator<Item = String> {
        let late = self.late.then(|| {
            let seconds = AT_LAST.as_secs();
            format!("The regex scripts took more than {seconds} seconds and were stopped: some texts are sent as they were. Make their patterns simpler.")
        });
        self.failed.into_iter().map(|failure| unheard(&failure)).chain(late)
    }
}

impl Scripts {
    fn results(&self) -> MutexGuard<'_, Results> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remember(&self, key: (u64, u64), outcome: Arc<Outcome>) {
        let mut results = self.results();
        if results.len() >= REMEMBERED {
            results.clear();
        }
        results.insert(key, outcome);
    }

    /// Whether any script looks at such a text.
    pub(crate) fn concern(&self, occasion: &Occasion) -> bool {
        self.set.concerns(occasion)
    }

    /// Whether the same scripts look at a text on both occasions.
    pub(crate) fn alike(&self, one: &Occasion, other: &Occasion) -> bool {
        self.set.alike(one, other)
    }

    /// Scripts that never run, for people.
    pub(crate) fn broken(&self) -> impl Iterator<Item = String> {
        self.set.failed().iter().map(|failure| unheard(&format!("{}: {}", failure.name, failure.why)))
    }
}

fn unheard(failure: &str) -> String {
    format!("A regex script did not run: {failure}")
}

/// Of a window of hundreds of messages each, so it is to be quick; drawn anew in each process, so that nobody can make two texts
/// alike.
fn hash(text: impl Hash) -> u64 {
    static KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    KEYS.hash_one(text)
}

impl Engine {
    /// The scripts that count in a chat of `character`: the user's own, then those of the card.
    pub(crate) async fn scripts(
        &self,
        character: CharacterId,
        words: &Words<'_>,
        state: &MacroState,
    ) -> Answer<Arc<Scripts>> {
        self.scripts_among(self.own_scripts().await?, character, words, state).await
    }

    /// The user's own, read at once.
    pub(crate) fn own_scripts(&self) -> impl Future<Output = Result<Vec<Preset>, StoreError>> + Send + use<> {
        self.store().read(|store| store.presets().list(PresetKind::RegexScript))
    }

    /// [`Self::scripts`], where the user's own were read.
    pub(crate) async fn scripts_among(
        &self,
        own: Vec<Preset>,
        character: CharacterId,
        words: &Words<'_>,
        state: &MacroState,
    ) -> Answer<Arc<Scripts>> {
        let of_card = listed(words.card);
        let of_card = if of_card.is_some() && self.allowed().await?.contains(&character) { of_card } else { None };
        let texts: Vec<&str> = own.iter().map(|preset| preset.json.as_str()).collect();
        let names = (words.card.spoken_name(), &words.persona.name, words.chat());
        let key = hash((texts, of_card.map(Value::to_string), names));
        let mut cache = self.script_cache();
        if let Some((_, known)) = cache.last.as_ref().filter(|(known, _)| *known == key) {
            return Ok(known.clone());
        }
        let mut scripts: Vec<RegexScript> =
            own.iter().filter_map(|preset| serde_json::from_str(&preset.json).ok()).collect();
        scripts.extend(of_card.into_iter().flat_map(|listed| regex_script::read(listed).0));
        let moment = Moment::default();
        let set = CompiledScripts::new(&scripts, &words.scope(None, &moment), state);
        let compiled = Arc::new(Scripts { set, ..Scripts::default() });
        cache.last = Some((key, compiled.clone()));
        Ok(compiled)
    }
}

impl Engine {
    /// A reply after the scripts that change what is stored. What it goes on from, `base`, they have changed already.
    pub(crate) async fn stored_reply(&self, chat: &Chat, base: &str, text: String) -> Answer<String> {
        let Some(new) = text.strip_prefix(base) else { return Ok(text) };
        self.with_scripts(chat, |run, state| run.reply(base, new, SAID, state)).await
    }

    /// What `message` becomes when `text` takes the place of its words: after the scripts that ask for edits.
    pub(crate) async fn stored_edit(&self, message: &Message, text: String) -> Answer<String> {
        let chat = self.chat(message.chat).await?;
        let typed = Occasion { placement: Placement::UserInput, ..EDITED };
        self.with_scripts(&chat, |run, state| match message.role {
            Role::User => run.apply(&text, typed, state).text,
            _ => run.reply("", &text, EDITED, state),
        })
        .await
    }

    /// Runs the scripts for display over messages as they are shown; each comes with its place in the chat.
    pub(crate) async fn dress(&self, chat: &Chat, messages: &mut [(i64, api::Message)]) -> Answer<()> {
        if messages.is_empty()
            || self.store().read(|store| store.presets().list(PresetKind::RegexScript)).await?.is_empty()
                && self.allowed().await?.is_empty()
        {
            return Ok(());
        }
        let id = chat.id;
        let last = self.store().read(move |store| store.messages().last(id)).await?.map_or(0, |last| last.position);
        self.with_scripts(chat, |run, state| {
            for (position, message) in messages {
                let depth = u32::try_from(last - *position).ok();
                let own = message.role == api::Role::User;
                for swipe in &mut message.swipes {
                    let (text, thoughts) = match &swipe.display {
                        Some(display) => (display.text.clone(), display.thoughts.clone()),
                        None => (swipe.text.clone(), String::new()),
                    };
                    let occasion = |placement| Occasion { placement, channel: Channel::Display, depth, edited: false };
                    let words = if own { Placement::UserInput } else { Placement::AiOutput };
                    let shown = run.apply(&text, occasion(words), state).text;
                    let thought = run.apply(&thoughts, occasion(Placement::Reasoning), state).text;
                    if shown != text || thought != thoughts {
                        let known = swipe.display.take().unwrap_or_default();
                        swipe.display = Some(api::Display { text: shown, thoughts: thought, ..known });
                    }
                }
            }
        })
        .await
    }

    async fn with_scripts<T>(&self, chat: &Chat, work: impl FnOnce(&mut Run<'_>, &mut MacroState) -> T) -> Answer<T> {
        let card = self.chat_card(chat).await?.card;
        let persona = self.persona_in(chat).await?;
        let words = Words::new(&card, &persona, chat.id);
        let mut state = MacroState { local: Kept::of(chat).variables, global: self.global_variables().await? };
        let scripts = self.scripts(chat.character, &words, &state).await?;
        let mut run = Run::new(&scripts, &words, Moment::default());
        Ok(work(&mut run, &mut state))
    }
}

#[cfg(test)]
mod tests {
    use domain::card::Card;
    use domain::persona::Persona;
    use domain::{ChatId, PersonaId};
    use uuid::Uuid;

    use super::*;

    /// What a run until `until` makes of `text`, and tells.
    fn run(scripts: &Scripts, text: &str, until: Instant) -> (Rewritten, Vec<String>) {
        let card = Card::new("Ada").unwrap();
        let persona = Persona {
            id: PersonaId(Uuid::nil()),
            name: "Sam".into(),
            description: String::new(),
            instructions: String::new(),
        };
        let words = Words::new(&card, &persona, ChatId(Uuid::nil()));
        let mut run = Run { until, ..Run::new(scripts, &words, Moment::default()) };
        let rewritten = run.apply(text, SAID, &mut MacroState::default());
        (rewritten, run.notices().collect())
    }

    fn scripts(find: &str) -> Scripts {
        let script = RegexScript {
            script_name: "Tidy".into(),
            find_regex: find.into(),
            replace_string: "b".into(),
            placement: vec![Placement::AiOutput],
            ..RegexScript::default()
        };
        let set = CompiledScripts::new(&[script], &Default::default(), &MacroState::default());
        Scripts { set, ..Scripts::default() }
    }

    fn in_time() -> Instant {
        Instant::now() + Duration::from_secs(3_600)
    }

    #[test]
    fn a_run_that_was_stopped_is_told_of_and_spoils_no_later_one() {
        let scripts = scripts("/a/g");
        let (text, told) = run(&scripts, "a lamp", Instant::now());
        assert_eq!((text.text.as_str(), text.scripts.len()), ("a lamp", 0));
        assert!(matches!(told.as_slice(), [one] if one.contains("more than 5 seconds")), "{told:?}");
        let (text, told) = run(&scripts, "a lamp", in_time());
        assert_eq!((text.text.as_str(), text.scripts), ("b lbmp", vec!["Tidy".to_owned()]));
        assert_eq!(told, [""; 0]);
    }

    #[test]
    fn what_failed_is_remembered_and_told_on_every_turn() {
        let scripts = scripts(r"/(?=(a+)+$)\1b/");
        let text = "a".repeat(1_000);
        let first = run(&scripts, &text, in_time());
        assert!(first.0.text == text && first.1[0].starts_with("A regex script did not run: Tidy: "), "{first:?}");
        // A remembered result takes no time at all.
        assert_eq!(run(&scripts, &text, Instant::now()), first);
    }
}
