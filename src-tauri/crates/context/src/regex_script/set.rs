//! A list of scripts, compiled once, and which of them a text meets.

use std::borrow::Cow;

use domain::regex_script::{Placement, RegexScript, Substitution};
use sha2::{Digest, Sha256};

use super::budget::Budget;
use super::pattern::Pattern;
use super::run;
use crate::macros::{self, MacroScope, MacroState};

/// Scripts that one set holds; more are reported and not run.
const MAX_SCRIPTS: usize = 500;

/// What becomes of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channel {
    /// It is stored: scripts that are for neither display nor prompt alone.
    Stored,
    /// It is shown.
    Display,
    /// It is sent. Lore, which is stored nowhere, also meets the scripts for what is stored.
    Prompt,
}

/// Which text a set of scripts is run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occasion {
    pub placement: Placement,
    pub channel: Channel,
    /// Messages from the end, the last one being 0; `None` for what is no message.
    pub depth: Option<u32>,
    /// The text was edited, not newly said: only scripts that ask for it run.
    pub edited: bool,
}

/// Why a script did not run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Why {
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
    #[error("the scripts did more work on one text than it may cost; remove or simplify some")]
    OutOfBudget,
    #[error("it took too long and was stopped; make its pattern simpler")]
    OutOfTime,
}

impl Why {
    /// The script costs too much on this text; one that does so repeatedly is better switched off.
    pub fn is_overrun(&self) -> bool {
        matches!(
            self,
            Self::TooManySteps | Self::TooManyHits | Self::ResultTooLarge | Self::OutOfBudget | Self::OutOfTime
        )
    }
}

/// A script that did not run, by its place in the list that the set was made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub script: usize,
    pub name: String,
    pub why: Why,
}

/// A script that found something, and how often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ran {
    pub script: usize,
    pub hits: usize,
}

/// A text after the scripts. A script that failed left it as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied<'t> {
    pub text: Cow<'t, str>,
    pub ran: Vec<Ran>,
    pub failed: Vec<Failure>,
}

/// Scripts in the order in which they run.
#[derive(Debug, Default)]
pub struct CompiledScripts {
    scripts: Vec<Compiled>,
    failed: Vec<Failure>,
    /// Some of them look only at texts of a certain depth.
    by_depth: bool,
}

#[derive(Debug)]
pub(super) struct Compiled {
    index: usize,
    source: RegexScript,
    pub(super) pattern: Pattern,
    /// With their macros resolved, and none of them empty.
    pub(super) trims: Vec<String>,
    digest: u64,
    settled: bool,
}

impl CompiledScripts {
    /// Compiles the scripts that are switched on. Macros in patterns and trims are resolved now, so a set belongs to one chat.
    pub fn new(scripts: &[RegexScript], scope: &MacroScope<'_>, state: &MacroState) -> Self {
        let mut set = Self::default();
        let active = scripts.iter().enumerate().filter(|(_, script)| !script.disabled && !script.find_regex.is_empty());
        for (index, script) in active {
            let compiled = match set.scripts.len() {
                MAX_SCRIPTS.. => Err(Why::TooManyScripts),
                _ => Compiled::new(index, script, scope, &mut state.clone()),
            };
            match compiled {
                Ok(compiled) => {
                    set.by_depth |= !compiled.reaches(0) || !compiled.reaches(i64::MAX);
                    set.scripts.push(compiled);
                }
                Err(why) => set.failed.push(Failure { script: index, name: script.script_name.clone(), why }),
            }
        }
        set
    }

    /// Scripts that never run.
    pub fn failed(&self) -> &[Failure] {
        &self.failed
    }

    /// The name of a script that ran.
    pub fn name(&self, ran: &Ran) -> &str {
        let script = self.scripts.iter().find(|script| script.index == ran.script);
        script.map_or("", |script| &script.source.script_name)
    }

    /// Whether any script would look at such a text.
    pub fn concerns(&self, occasion: &Occasion) -> bool {
        self.scripts.iter().any(|script| script.meets(occasion))
    }

    /// Whether the same scripts look at a text on both occasions.
    pub fn alike(&self, one: &Occasion, other: &Occasion) -> bool {
        let differ_in_depth = || *one == Occasion { depth: one.depth, ..*other };
        one == other
            || (!self.by_depth && differ_in_depth())
            || self.scripts.iter().all(|script| script.meets(one) == script.meets(other))
    }

    /// Stands for all that this set does to a text on such an occasion: the same fingerprint and the same text give the same
    /// result, in every run of the program. `None` where macros make it depend on more, such as the time or a variable.
    pub fn fingerprint(&self, occasion: &Occasion) -> Option<u64> {
        let mut scripts = self.scripts.iter().filter(|script| script.meets(occasion));
        scripts.try_fold(0xCBF2_9CE4_8422_2325, |mixed: u64, script| {
            let next = (mixed ^ script.digest).wrapping_mul(0x0000_0100_0000_01B3);
            script.settled.then_some(next.rotate_left(29))
        })
    }

    /// Runs the scripts that are for such an occasion, one on the result of the other. Their macros may change the variables.
    pub fn apply<'t>(
        &self,
        text: &'t str,
        occasion: &Occasion,
        scope: &MacroScope<'_>,
        state: &mut MacroState,
        budget: &mut Budget<'_>,
    ) -> Applied<'t> {
        let mut applied = Applied { text: text.into(), ran: Vec::new(), failed: Vec::new() };
        for script in self.scripts.iter().filter(|script| script.meets(occasion)) {
            match run::replace(script, &applied.text, scope, state, budget) {
                Ok(None) => {}
                Ok(Some((text, hits))) => {
                    applied.text = text.into();
                    applied.ran.push(Ran { script: script.index, hits });
                }
                Err(why) => {
                    let name = script.source.script_name.clone();
                    applied.failed.push(Failure { script: script.index, name, why });
                }
            }
        }
        applied
    }
}

impl Compiled {
    fn new(index: usize, script: &RegexScript, scope: &MacroScope<'_>, state: &mut MacroState) -> Result<Self, Why> {
        let find = match script.substitute_regex {
            Substitution::None => script.find_regex.clone(),
            Substitution::Raw => macros::expand_pattern(&script.find_regex, scope, state, str::to_owned),
            Substitution::Escaped => macros::expand_pattern(&script.find_regex, scope, state, regex::escape),
        };
        let pattern = Pattern::new(&find)?;
        let trims = script.trim_strings.iter().map(|trim| macros::expand(trim, scope, state).text);
        let trims: Vec<String> = trims.filter(|trim| !trim.is_empty()).collect();
        let settled = macros::is_settled(&script.replace_string);
        let mut hash = Sha256::new();
        for part in
            [&find, &script.replace_string, scope.user, scope.char].into_iter().chain(trims.iter().map(String::as_str))
        {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        let digest = hash.finalize().iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte));
        Ok(Self { index, source: script.clone(), pattern, trims, digest, settled })
    }

    pub(super) fn replacement(&self) -> &str {
        &self.source.replace_string
    }

    fn meets(&self, occasion: &Occasion) -> bool {
        let Occasion { placement, channel, depth, edited } = *occasion;
        self.source.works_on(placement)
            && self.is_for(channel, placement)
            && (!edited || self.source.run_on_edit)
            && depth.filter(|_| channel != Channel::Stored).is_none_or(|depth| self.reaches(depth.into()))
    }

    fn is_for(&self, channel: Channel, placement: Placement) -> bool {
        let (display, prompt) = (self.source.changes_display(), self.source.changes_prompt());
        match channel {
            Channel::Stored => !display && !prompt,
            Channel::Display => display,
            Channel::Prompt => prompt || (placement == Placement::Lorebook && !display),
        }
    }

    fn reaches(&self, depth: i64) -> bool {
        let least = self.source.min_depth.filter(|least| *least >= 0);
        let most = self.source.max_depth.filter(|most| *most >= 0);
        least.is_none_or(|least| depth >= least) && most.is_none_or(|most| depth <= most)
    }
}
