//! Runs regex scripts over texts, within a time limit, and caches results.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ahash::RandomState;
use context::display::{PassageFilter, ReplyPassage};
use context::frame::RewrittenText;
use context::macros::MacroState;
use context::regex_script::{CompiledScripts, ScriptBudget, ScriptContext, ScriptError};
use domain::regex_script::ScriptTarget;

use crate::base::panics;
use crate::library::snapshots::macro_scope::{MacroMoment, MacroNames};

/// Time limit for all scripts of a turn. A [`ScriptBudget`] counts their work, so that the result
/// does not depend on the machine. This limit is for patterns that are slower than their count; if
/// it is reached, the user gets a notice.
pub(crate) const AT_LAST: Duration = Duration::from_secs(5);

/// Number of cached results, so that old messages are not processed again on every turn.
pub(crate) const REMEMBERED: usize = 20_000;

/// Reason shown if a bug in the app made a script fail.
pub(crate) const DEFECT: &str = "an error inside Inglenook; the log has the details";

pub(crate) type Results = HashMap<(u64, u64), Arc<ScriptOutcome>, RandomState>;

/// The scripts that apply in one chat.
#[derive(Default)]
pub(crate) struct ActiveScripts {
    pub(crate) set: CompiledScripts,
    pub(crate) results: Mutex<Results>,
}

/// Result of the scripts for a text. The same scripts and text always have the same result,
/// including failures.
#[derive(Clone, Default)]
pub(crate) struct ScriptOutcome {
    /// `None` if no script matches.
    pub(crate) rewritten: Option<RewrittenText>,
    /// Names of the scripts that failed, with the reasons.
    pub(crate) failed: Vec<String>,
    /// Whether the time limit was reached. This depends on the machine, so the result is not
    /// cached.
    pub(crate) late: bool,
}

/// The set that was compiled last, because the next turn is probably in the same chat.
#[derive(Default)]
pub(crate) struct ScriptCache {
    pub(crate) last: Option<(u64, Arc<ActiveScripts>)>,
}

/// One turn's run of scripts.
pub(crate) struct ScriptRun<'a> {
    pub(crate) scripts: &'a ActiveScripts,
    pub(crate) words: &'a MacroNames<'a>,
    pub(crate) moment: MacroMoment<'a>,
    pub(crate) until: Instant,
    pub(crate) failed: Vec<String>,
    pub(crate) late: bool,
    pub(crate) worked: bool,
    /// Occasions of this turn, with fingerprints of the scripts that run on them.
    pub(crate) fingerprints: Vec<(ScriptContext, Option<u64>)>,
}

impl<'a> ScriptRun<'a> {
    pub(crate) fn new(
        scripts: &'a ActiveScripts,
        words: &'a MacroNames<'a>,
        moment: MacroMoment<'a>,
    ) -> Self {
        let until = Instant::now() + AT_LAST;
        Self {
            scripts,
            words,
            moment,
            until,
            failed: Vec::new(),
            late: false,
            worked: false,
            fingerprints: Vec::new(),
        }
    }

    /// Remembers fingerprints, because a window has hundreds of messages but only two kinds of
    /// them.
    pub(crate) fn fingerprint(&mut self, occasion: &ScriptContext) -> Option<u64> {
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

    /// Returns `text` after the scripts, or unchanged if none applies.
    pub(crate) fn apply(
        &mut self,
        text: &str,
        occasion: ScriptContext,
        state: &mut MacroState,
    ) -> RewrittenText {
        let unchanged = || RewrittenText {
            text: text.to_owned(),
            scripts: Vec::new(),
        };
        self.rewritten(text, occasion, state)
            .unwrap_or_else(unchanged)
    }

    /// Works like [`Self::apply`], but returns `None` if no script matches.
    pub(crate) fn rewritten(
        &mut self,
        text: &str,
        occasion: ScriptContext,
        state: &mut MacroState,
    ) -> Option<RewrittenText> {
        if !self.scripts.set.concerns(&occasion) {
            return None;
        }
        let key = self.fingerprint(&occasion).map(|set| (set, hash(text)));
        let outcome = match key.and_then(|key| self.scripts.results().get(&key).cloned()) {
            Some(known) => known,
            None => {
                self.worked = true;
                let failed = || ScriptOutcome {
                    failed: vec![DEFECT.to_owned()],
                    ..ScriptOutcome::default()
                };
                let outcome = Arc::new(panics::or_plain(
                    "regex scripts",
                    || self.work(text, &occasion, state),
                    failed,
                ));
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

    /// Whether any pattern was run since the last call. Cached results run none.
    pub(crate) fn has_worked(&mut self) -> bool {
        std::mem::take(&mut self.worked)
    }

    pub(crate) fn work(
        &self,
        text: &str,
        occasion: &ScriptContext,
        state: &mut MacroState,
    ) -> ScriptOutcome {
        let until = self.until;
        let late = move || Instant::now() >= until;
        let mut budget = ScriptBudget::default().until(&late);
        let scope = self.words.scope(None, &self.moment);
        let set = &self.scripts.set;
        let applied = set.apply(text, occasion, &scope, state, &mut budget);
        let (stopped, failed): (Vec<_>, Vec<_>) = applied
            .failed
            .into_iter()
            .partition(|failure| failure.why == ScriptError::OutOfTime);
        ScriptOutcome {
            rewritten: (!applied.ran.is_empty()).then(|| RewrittenText {
                text: applied.text.into_owned(),
                scripts: applied
                    .ran
                    .iter()
                    .map(|ran| set.name(ran).to_owned())
                    .collect(),
            }),
            failed: failed
                .iter()
                .map(|failure| format!("{}: {}", failure.name, failure.why))
                .collect(),
            late: !stopped.is_empty(),
        }
    }

    /// Applies the scripts to the shown text and to the thoughts of a reply separately. Tags stay
    /// unchanged. So does `base`, the start of a continued reply, which the scripts have already
    /// processed.
    pub(crate) fn reply(
        &mut self,
        base: &str,
        text: &str,
        occasion: ScriptContext,
        state: &mut MacroState,
    ) -> String {
        let mut filter = PassageFilter::default();
        let seen: usize = filter.push(base).iter().map(|piece| piece.raw.len()).sum();
        // The filter holds back text that may become a tag, and returns it with the next piece.
        let mut whole = base.get(..seen).unwrap_or(base).to_owned();
        let mut pieces = filter.push(text);
        pieces.extend(filter.finish());
        for piece in pieces {
            let placement = match piece.passage {
                ReplyPassage::Words => Some(ScriptTarget::AiOutput),
                ReplyPassage::Thoughts => Some(ScriptTarget::Reasoning),
                ReplyPassage::ThoughtsClosed
                | ReplyPassage::Metrics
                | ReplyPassage::Keyframe
                | ReplyPassage::Reminder
                | ReplyPassage::EpisodeEnd => None,
            };
            match placement.filter(|_| !piece.text.is_empty()) {
                Some(placement) => {
                    let changed = self
                        .apply(
                            &piece.text,
                            ScriptContext {
                                placement,
                                ..occasion
                            },
                            state,
                        )
                        .text;
                    whole.push_str(&piece.raw.replacen(&piece.text, &changed, 1));
                }
                None => whole.push_str(&piece.raw),
            }
        }
        whole
    }

    /// Notices for the user about this run.
    pub(crate) fn notices(self) -> impl Iterator<Item = String> {
        let late = self.late.then(|| {
            let seconds = AT_LAST.as_secs();
            format!("The regex scripts took more than {seconds} seconds and were stopped: some texts are sent as they were. Make their patterns simpler.")
        });
        self.failed
            .into_iter()
            .map(|failure| unheard(&failure))
            .chain(late)
    }
}

impl ActiveScripts {
    pub(crate) fn results(&self) -> MutexGuard<'_, Results> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn remember(&self, key: (u64, u64), outcome: Arc<ScriptOutcome>) {
        let mut results = self.results();
        if results.len() >= REMEMBERED {
            results.clear();
        }
        results.insert(key, outcome);
    }

    /// Whether any script runs on such a text.
    pub(crate) fn concern(&self, occasion: &ScriptContext) -> bool {
        self.set.concerns(occasion)
    }

    /// Whether the same scripts run on a text on both occasions.
    pub(crate) fn alike(&self, one: &ScriptContext, other: &ScriptContext) -> bool {
        self.set.alike(one, other)
    }

    /// Notices about scripts that can never run.
    pub(crate) fn broken(&self) -> impl Iterator<Item = String> {
        self.set
            .failed()
            .iter()
            .map(|failure| unheard(&format!("{}: {}", failure.name, failure.why)))
    }
}

pub(crate) fn unheard(failure: &str) -> String {
    format!("A regex script did not run: {failure}")
}

/// A fast hash, because a window has hundreds of messages. Its keys are random per process, so that
/// nobody can construct collisions.
pub(crate) fn hash(text: impl Hash) -> u64 {
    static KEYS: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    KEYS.hash_one(text)
}

#[cfg(test)]
mod tests {
    use domain::card::Card;
    use domain::persona::{Persona, PersonaPlace};
    use domain::regex_script::{RegexScript, ScriptTarget};
    use domain::{ChatId, PersonaId};
    use uuid::Uuid;

    use super::*;
    use crate::library::scripts::on_messages::SAID;

    /// Runs the scripts on `text` until `until`. Returns the result and the notices.
    fn run(scripts: &ActiveScripts, text: &str, until: Instant) -> (RewrittenText, Vec<String>) {
        let card = Card::new("Ada").unwrap();
        let persona = Persona {
            id: PersonaId(Uuid::nil()),
            name: "Sam".into(),
            description: String::new(),
            instructions: String::new(),
            place: PersonaPlace::default(),
        };
        let words = MacroNames::new(&card, &persona, ChatId(Uuid::nil()));
        let mut run = ScriptRun {
            until,
            ..ScriptRun::new(scripts, &words, MacroMoment::default())
        };
        let rewritten = run.apply(text, SAID, &mut MacroState::default());
        (rewritten, run.notices().collect())
    }

    fn scripts(find: &str) -> ActiveScripts {
        let script = RegexScript {
            script_name: "Tidy".into(),
            find_regex: find.into(),
            replace_string: "b".into(),
            placement: vec![ScriptTarget::AiOutput],
            ..RegexScript::default()
        };
        let set = CompiledScripts::new(&[script], &Default::default(), &MacroState::default());
        ActiveScripts {
            set,
            ..ActiveScripts::default()
        }
    }

    fn in_time() -> Instant {
        Instant::now() + Duration::from_secs(3_600)
    }

    #[test]
    fn stopped_run_is_reported_and_not_cached() {
        let scripts = scripts("/a/g");
        let (text, told) = run(&scripts, "a lamp", Instant::now());
        assert_eq!((text.text.as_str(), text.scripts.len()), ("a lamp", 0));
        assert!(
            matches!(told.as_slice(), [one] if one.contains("more than 5 seconds")),
            "{told:?}"
        );
        let (text, told) = run(&scripts, "a lamp", in_time());
        assert_eq!(
            (text.text.as_str(), text.scripts),
            ("b lbmp", vec!["Tidy".to_owned()])
        );
        assert_eq!(told, [""; 0]);
    }

    #[test]
    fn failures_are_cached_and_reported_every_turn() {
        let scripts = scripts(r"/(?=(a+)+$)\1b/");
        let text = "a".repeat(1_000);
        let first = run(&scripts, &text, in_time());
        assert!(
            first.0.text == text && first.1[0].starts_with("A regex script did not run: Tidy: "),
            "{first:?}"
        );
        // A cached result takes no time.
        assert_eq!(run(&scripts, &text, Instant::now()), first);
    }
}
