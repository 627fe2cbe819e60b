//! A list of compiled scripts, and the selection of those that apply to a text.

use std::borrow::Cow;

use domain::regex_script::{RegexScript, ScriptTarget, Substitution};
use sha2::{Digest, Sha256};

use super::budget::ScriptBudget;
use super::pattern::Pattern;
use super::run;
use crate::macros::{self, MacroScope, MacroState};

/// Maximum number of scripts in a set; more are reported and not run.
const MAX_SCRIPTS: usize = 500;

/// The use of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channel {
    /// Stored: scripts that are limited neither to display nor to prompts.
    Stored,
    /// Displayed.
    Display,
    /// Sent. Lore is not stored, so scripts for stored text apply to it too.
    Prompt,
}

/// The kind of text that scripts run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScriptContext {
    pub placement: ScriptTarget,
    pub channel: Channel,
    /// Number of messages from the end, where the last one is 0; `None` if the text is not a
    /// message.
    pub depth: Option<u32>,
    /// The text was edited: only scripts that request it run.
    pub edited: bool,
}

/// The reason why a script did not run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScriptError {
    #[error("its pattern is not valid: {0}; correct it in the script")]
    Invalid(String),
    #[error("its pattern is too long; split the script into several")]
    PatternTooLong,
    #[error("there are too many scripts; remove some")]
    TooManyScripts,
    #[error("the text is too long for its pattern; simplify the pattern or limit its depth")]
    TextTooLong,
    #[error("its pattern tries too many ways to match; make nested repeats simpler")]
    TooManySteps,
    #[error("it found too many matches; make its pattern more exact")]
    TooManyHits,
    #[error("its result is too large; make its replacement shorter or its pattern more exact")]
    ResultTooLarge,
    #[error("the scripts exceeded the work limit for one text; remove or simplify some")]
    OutOfBudget,
    #[error("it took too long and was stopped; make its pattern simpler")]
    OutOfTime,
}

impl ScriptError {
    /// True if the script costs too much on this text. A script with repeated overruns should be
    /// disabled.
    pub fn is_overrun(&self) -> bool {
        matches!(
            self,
            Self::TooManySteps
                | Self::TooManyHits
                | Self::ResultTooLarge
                | Self::OutOfBudget
                | Self::OutOfTime
        )
    }
}

/// A script that did not run, with its index in the original list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub script: usize,
    pub name: String,
    pub why: ScriptError,
}

/// A script that matched, and the number of matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScriptRun {
    pub script: usize,
    pub hits: usize,
}

/// A text after the scripts ran. A failed script leaves it unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied<'t> {
    pub text: Cow<'t, str>,
    pub ran: Vec<ScriptRun>,
    pub failed: Vec<Failure>,
}

/// Compiled scripts in the order in which they run.
#[derive(Debug, Default)]
pub struct CompiledScripts {
    scripts: Vec<CompiledScript>,
    failed: Vec<Failure>,
    /// Some scripts are limited to certain depths.
    by_depth: bool,
}

#[derive(Debug)]
pub(super) struct CompiledScript {
    index: usize,
    source: RegexScript,
    pub(super) pattern: Pattern,
    /// Macros are resolved, and empty texts are removed.
    pub(super) trims: Vec<String>,
    digest: u64,
    settled: bool,
}

impl CompiledScripts {
    /// Compiles the enabled scripts. Macros in patterns and trims are resolved here, so a set
    /// belongs to one chat.
    pub fn new(scripts: &[RegexScript], scope: &MacroScope<'_>, state: &MacroState) -> Self {
        let mut set = Self::default();
        let active = scripts
            .iter()
            .enumerate()
            .filter(|(_, script)| !script.disabled && !script.find_regex.is_empty());
        for (index, script) in active {
            let compiled = match set.scripts.len() {
                MAX_SCRIPTS.. => Err(ScriptError::TooManyScripts),
                _ => CompiledScript::new(index, script, scope, &mut state.clone()),
            };
            match compiled {
                Ok(compiled) => {
                    set.by_depth |= !compiled.reaches(0) || !compiled.reaches(i64::MAX);
                    set.scripts.push(compiled);
                }
                Err(why) => set.failed.push(Failure {
                    script: index,
                    name: script.script_name.clone(),
                    why,
                }),
            }
        }
        set
    }

    /// Scripts that could not be compiled and never run.
    pub fn failed(&self) -> &[Failure] {
        &self.failed
    }

    /// The name of a script that ran.
    pub fn name(&self, ran: &ScriptRun) -> &str {
        let script = self
            .scripts
            .iter()
            .find(|script| script.index == ran.script);
        script.map_or("", |script| &script.source.script_name)
    }

    /// True if any script applies to such a text.
    pub fn concerns(&self, occasion: &ScriptContext) -> bool {
        self.scripts.iter().any(|script| script.meets(occasion))
    }

    /// True if the same scripts apply on both occasions.
    pub fn alike(&self, one: &ScriptContext, other: &ScriptContext) -> bool {
        let differ_in_depth = || {
            *one == ScriptContext {
                depth: one.depth,
                ..*other
            }
        };
        one == other
            || (!self.by_depth && differ_in_depth())
            || self
                .scripts
                .iter()
                .all(|script| script.meets(one) == script.meets(other))
    }

    /// Identifies the effect of this set on such a text: equal fingerprints and equal texts give
    /// equal results, also in later runs of the app. `None` if macros make it depend on more, such
    /// as the time or a variable.
    pub fn fingerprint(&self, occasion: &ScriptContext) -> Option<u64> {
        let mut scripts = self.scripts.iter().filter(|script| script.meets(occasion));
        scripts.try_fold(0xCBF2_9CE4_8422_2325, |mixed: u64, script| {
            let next = (mixed ^ script.digest).wrapping_mul(0x0000_0100_0000_01B3);
            script.settled.then_some(next.rotate_left(29))
        })
    }

    /// Runs the scripts for such a text, each on the result of the previous one. Their macros may
    /// change variables.
    pub fn apply<'t>(
        &self,
        text: &'t str,
        occasion: &ScriptContext,
        scope: &MacroScope<'_>,
        state: &mut MacroState,
        budget: &mut ScriptBudget<'_>,
    ) -> Applied<'t> {
        let mut applied = Applied {
            text: text.into(),
            ran: Vec::new(),
            failed: Vec::new(),
        };
        for script in self.scripts.iter().filter(|script| script.meets(occasion)) {
            match run::replace(script, &applied.text, scope, state, budget) {
                Ok(None) => {}
                Ok(Some((text, hits))) => {
                    applied.text = text.into();
                    applied.ran.push(ScriptRun {
                        script: script.index,
                        hits,
                    });
                }
                Err(why) => {
                    let name = script.source.script_name.clone();
                    applied.failed.push(Failure {
                        script: script.index,
                        name,
                        why,
                    });
                }
            }
        }
        applied
    }
}

impl CompiledScript {
    fn new(
        index: usize,
        script: &RegexScript,
        scope: &MacroScope<'_>,
        state: &mut MacroState,
    ) -> Result<Self, ScriptError> {
        let find = match script.substitute_regex {
            Substitution::None => script.find_regex.clone(),
            Substitution::Raw => {
                macros::expand_pattern(&script.find_regex, scope, state, str::to_owned)
            }
            Substitution::Escaped => {
                macros::expand_pattern(&script.find_regex, scope, state, regex::escape)
            }
        };
        let pattern = Pattern::new(&find)?;
        let trims = script
            .trim_strings
            .iter()
            .map(|trim| macros::expand(trim, scope, state).text);
        let trims: Vec<String> = trims.filter(|trim| !trim.is_empty()).collect();
        let settled = macros::is_settled(&script.replace_string);
        let mut hash = Sha256::new();
        for part in [&find, &script.replace_string, scope.user, scope.char]
            .into_iter()
            .chain(trims.iter().map(String::as_str))
        {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        let digest = hash
            .finalize()
            .iter()
            .take(8)
            .fold(0, |number, byte| number << 8 | u64::from(*byte));
        Ok(Self {
            index,
            source: script.clone(),
            pattern,
            trims,
            digest,
            settled,
        })
    }

    pub(super) fn replacement(&self) -> &str {
        &self.source.replace_string
    }

    fn meets(&self, occasion: &ScriptContext) -> bool {
        let ScriptContext {
            placement,
            channel,
            depth,
            edited,
        } = *occasion;
        // A text is stored when it is the last one, so a script with a minimum depth cannot wait
        // for it to get there.
        let depth = depth
            .map(i64::from)
            .or((channel == Channel::Stored).then_some(0));
        self.source.works_on(placement)
            && self.is_for(channel, placement)
            && (!edited || self.source.run_on_edit)
            && depth.is_none_or(|depth| self.reaches(depth))
    }

    fn is_for(&self, channel: Channel, placement: ScriptTarget) -> bool {
        let display = self.source.changes_display();
        let prompt = self.source.changes_prompt();
        match channel {
            Channel::Stored => !display && !prompt,
            Channel::Display => display,
            Channel::Prompt => prompt || (placement == ScriptTarget::Lorebook && !display),
        }
    }

    fn reaches(&self, depth: i64) -> bool {
        let least = self.source.min_depth.filter(|least| *least >= 0);
        let most = self.source.max_depth.filter(|most| *most >= 0);
        least.is_none_or(|least| depth >= least) && most.is_none_or(|most| depth <= most)
    }
}
