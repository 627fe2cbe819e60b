//! The one list of settings. Defaults are those of requirements.md, section 2.4.
//!
//! Each has a reader. What answers a turn: limits, caps, `chat_format`, samplers. What frames its prompt: `placement`, `lore_strategy`,
//! `context_retention` and the groups of prompts and of the story. A new chat: `start_mode`. A chat that is opened: `eager_load_tokens`. A
//! reply on its way: `show_streaming`. The window: `show_thoughts`. Those of memory come with memory.

use std::borrow::Cow;

use super::owner::Scope;
use super::value::{FromValue, Kind, Value};
use crate::sampling::{Dry, Dynatemp, Mirostat, Sampling, Xtc};

/// In front of a setting's key, in capitals: `INGLENOOK_CONTEXT_LIMIT=4096` overrides `context_limit`.
pub const ENVIRONMENT_PREFIX: &str = "INGLENOOK_";

/// What a number counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    None,
    Tokens,
    Messages,
    /// What the user says, and what is answered.
    Exchanges,
}

/// Where the settings screens show it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    Context,
    Prompt,
    Story,
    Chat,
    Sampler,
}

/// One setting, declared.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    pub key: &'static str,
    pub group: Group,
    pub kind: Kind,
    pub unit: Unit,
    pub default: Value,
    /// Layers it may be set on.
    pub scopes: &'static [Scope],
}

impl Setting {
    /// Name of the environment variable that overrides it.
    pub fn variable(&self) -> String {
        format!("{ENVIRONMENT_PREFIX}{}", self.key.to_ascii_uppercase())
    }
}

/// The setting of that key.
pub fn setting(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.key == key)
}

/// The setting of that key, if it is one of those that sampler presets hold. The size of the context is none of them: how
/// a token is drawn must not decide how much a chat remembers.
pub fn preset_setting(key: &str) -> Option<&'static Setting> {
    setting(key).filter(|setting| setting.group == Group::Sampler && setting.key != "sampler_preset")
}

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal),* $(,)? })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$variant_doc])* $variant),* }

        impl $name {
            /// The default comes first.
            pub const WORDS: &'static [&'static str] = &[$($word),*];

            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }
        }

        impl Default for $name {
            fn default() -> Self {
                [$(Self::$variant),*][0]
            }
        }

        impl FromValue for $name {
            fn from_value(value: &Value) -> Option<Self> {
                let Value::Text(text) = value else { return None };
                [$(Self::$variant),*].into_iter().find(|each| each.as_str() == text)
            }
        }
    )*};
}

words! {
    /// Where lore and notes stand in the prompt (design, section 4).
    Placement {
        /// Where they cost the least re-reading.
        CacheFirst = "cache-first",
        /// Exactly where SillyTavern would put them.
        Classic = "classic",
    }

    /// Whether a context block stays in the prompt after its turn (C5).
    ContextRetention {
        AppendOnly = "append-only",
        Ephemeral = "ephemeral",
    }

    /// In which order the books of the character and those that count everywhere are listed, which decides where the budget for
    /// lore is short, and between entries of the same order (formats 1.4.3, step 2).
    LoreStrategy {
        CharacterFirst = "character-first",
        GlobalFirst = "global-first",
        /// By the order of their entries alone.
        Evenly = "evenly",
    }

    /// Role of the author's note in the prompt.
    NoteRole {
        /// Sent as instructions.
        System = "system",
        User = "user",
        Character = "character",
    }

    /// How lorebook entries are activated.
    LoreProfile {
        /// Follows the card specifications. Word boundaries follow Unicode.
        Corrected = "corrected",
        /// Behaves like SillyTavern, including its quirks.
        Compatible = "compatible",
    }

    /// Who begins a chat (S4.24).
    StartMode {
        /// The card's greeting stands there (S4.24's `system`).
        Character = "character",
        /// Nothing stands there; the user writes first (S4.24's `user` and `none`, which are one state here).
        Empty = "empty",
    }

    /// How a reply is gone on with that broke off (S4.16).
    ContinueBy {
        /// The unfinished reply stands at the end of the prompt; an endpoint that has refused that is asked in words.
        Auto = "auto",
        Prefill = "prefill",
        /// The `continue` prompt stands behind it.
        Asking = "asking",
    }

    /// Whether the model names chats in idle time (S4.16).
    ChatTitles {
        /// Local models do; endpoints may cost money.
        Auto = "auto",
        On = "on",
        Off = "off",
    }

    /// Whether a model reads what was said in idle time, for keyframes and facts (S4.58, C30).
    MemoryLearning {
        /// Local models do; endpoints may cost money.
        Auto = "auto",
        On = "on",
        /// No model is asked (S4.59).
        Off = "off",
    }

    /// What templates are told about the tone (S4.26). Nobody's words are rewritten for it.
    ContentRating {
        /// Not a word about it.
        Unset = "unset",
        Everyone = "everyone",
        Teen = "teen",
        Mature = "mature",
        Adult = "adult",
    }
}

const EVERYWHERE: &[Scope] = &Scope::ALL;
/// What depends on the machine and the model, not on who is talked with.
const MACHINE: &[Scope] = &[Scope::Global, Scope::Model, Scope::Chat];
const PEOPLE: &[Scope] = &[Scope::Global, Scope::Character, Scope::Chat];
const BEFORE_A_CHAT: &[Scope] = &[Scope::Global, Scope::Character];
const WINDOW: &[Scope] = &[Scope::Global];

const fn text(text: &'static str) -> Value {
    Value::Text(Cow::Borrowed(text))
}

const fn auto(min: u32) -> Kind {
    Kind::WholeOr { word: "auto", min, max: 2_000_000 }
}

const OFF_OR_TOKENS: Kind = Kind::WholeOr { word: "off", min: 1, max: 2_000_000 };

macro_rules! settings {
    ($($(#[doc = $doc:literal])* $key:ident: $ty:ty = $default:expr, $kind:expr, $unit:ident, $group:ident, $scopes:ident;)*) => {
        /// Every setting, in the order in which it is shown.
        pub static SETTINGS: &[Setting] = &[$(Setting {
            key: stringify!($key),
            group: Group::$group,
            kind: $kind,
            unit: Unit::$unit,
            default: $default,
            scopes: $scopes,
        }),*];

        /// Every setting resolved.
        #[derive(Debug, Clone, PartialEq)]
        pub struct Values {
            $($(#[doc = $doc])* pub $key: $ty,)*
        }

        impl Values {
            /// Values by key; what `value` does not know is built in.
            pub(crate) fn gather(value: impl Fn(&str) -> Option<Value>) -> Self {
                Self {
                    $($key: value(stringify!($key))
                        .and_then(|value| FromValue::from_value(&value))
                        .or_else(|| FromValue::from_value(&$default))
                        .unwrap_or_default(),)*
                }
            }
        }
    };
}

settings! {
    /// Tokens of context to plan for, never more than the model takes (S2.1). `None`: the model's own size, at most 200,000,
    /// and for local models what memory allows.
    context_limit: Option<u32> = text("auto"), auto(512), Tokens, Context, MACHINE;
    /// Tokens of history at the most (S2.2, S1.14). `None`: as the model's kind has it.
    history_cap: Option<u32> = text("auto"), auto(200), Tokens, Context, EVERYWHERE;
    /// Tokens of lore, memories and excerpts at the most (S2.3). `None`: a quarter of what head and input leave.
    retrieval_cap: Option<u32> = text("auto"), auto(0), Tokens, Context, EVERYWHERE;
    /// Tokens kept free for the reply, never more than a quarter of the context. `None`: the longest reply.
    reply_reserve: Option<u32> = text("auto"), auto(16), Tokens, Context, EVERYWHERE;
    /// Tokens that leave the window when it overflows (C3). `None`: half of the history for local models, where reading it
    /// again costs time, an eighth for remote ones, at least 1,000; never more than half.
    trim_chunk: Option<u32> = text("auto"), auto(100), Tokens, Context, EVERYWHERE;
    /// Messages that stay in the window if the tokens allow it (S1.11).
    min_tail_messages: u32 = Value::Whole(10), Kind::Whole { min: 0, max: 200 }, Messages, Context, EVERYWHERE;
    /// Messages in the window at the most (S4.30). `None`: only tokens decide.
    message_ceiling: Option<u32> = text("off"), Kind::WholeOr { word: "off", min: 1, max: 10_000 }, Messages, Context, EVERYWHERE;
    placement: Placement = text("cache-first"), Kind::Choice(Placement::WORDS), None, Context, EVERYWHERE;
    context_retention: ContextRetention = text("append-only"), Kind::Choice(ContextRetention::WORDS), None, Context, EVERYWHERE;
    /// The model can look at pictures. Off: it is told in words that there was one (S2.8). Models on this machine see none.
    sees_images: bool = Value::Switch(false), Kind::Switch, None, Context, MACHINE;
    /// Tokens that a picture counts, whatever its size (S2.8): what OpenAI's models take for a square of 1,024 pixels.
    image_tokens: u32 = Value::Whole(765), Kind::Whole { min: 0, max: 100_000 }, Tokens, Context, MACHINE;
    /// A local model reads what the next turn will need while nobody waits: the open chat at the start, and a window that is
    /// due to be cut (design, section 4). Off: it works only when it is asked.
    read_ahead: bool = Value::Switch(true), Kind::Switch, None, Context, MACHINE;
    /// Off: nothing is recalled and nothing is learnt (S3.24, S4.59). How the window is cut is no memory: pinned messages, and
    /// those that matter, stay word for word (requirements, section 2.3, rule 4).
    memory: bool = Value::Switch(true), Kind::Switch, None, Context, PEOPLE;
    /// Off: a chat calls up nothing that was said in other chats of the same pair (S4.62).
    memory_other_chats: bool = Value::Switch(true), Kind::Switch, None, Context, PEOPLE;
    /// Who sums up what was said, and looks for facts in it, while nobody waits (S4.58, S4.59). Off: no model is asked.
    memory_learn: MemoryLearning = text("auto"), Kind::Choice(MemoryLearning::WORDS), None, Context, PEOPLE;
    /// Messages of one summary (S4.31, C24).
    keyframe_every_messages: u32 = Value::Whole(20), Kind::Whole { min: 5, max: 50 }, Messages, Context, PEOPLE;
    /// Exchanges that facts are looked for in at a time (S4.58, C24).
    memory_extract_every_exchanges: u32 = Value::Whole(5), Kind::Whole { min: 1, max: 20 }, Exchanges, Context, PEOPLE;
    /// Id of the model or endpoint that does it (S4.39); `auto` is the chat's own. Where it is gone, that one does it too.
    memory_model: String = text("auto"), Kind::NameOr { word: "auto" }, None, Context, PEOPLE;
    lore_strategy: LoreStrategy = text("character-first"), Kind::Choice(LoreStrategy::WORDS), None, Context, PEOPLE;
    lore_profile: LoreProfile = text("corrected"), Kind::Choice(LoreProfile::WORDS), None, Context, PEOPLE;
    /// Number of recent messages to scan for keys, unless the entry or its book overrides it.
    lore_scan_depth: u32 = Value::Whole(2), Kind::Whole { min: 0, max: 1_000 }, Messages, Context, PEOPLE;
    /// Maximum share of the context for lore, in percent, excluding the reply.
    lore_budget_percent: u32 = Value::Whole(25), Kind::Whole { min: 1, max: 100 }, None, Context, PEOPLE;
    /// Maximum number of lore tokens, regardless of the share. `None`: only the share applies.
    lore_budget_cap: Option<u32> = text("off"), OFF_OR_TOKENS, Tokens, Context, PEOPLE;
    /// Texts of active entries can activate other entries.
    lore_recursive: bool = Value::Switch(true), Kind::Switch, None, Context, PEOPLE;
    /// Maximum number of scan passes, including the first. `None`: no limit.
    lore_recursion_steps: Option<u32> = text("off"), Kind::WholeOr { word: "off", min: 1, max: 100 }, None, Context, PEOPLE;
    lore_case_sensitive: bool = Value::Switch(false), Kind::Switch, None, Context, PEOPLE;
    /// If off, a key also matches inside a word. Languages with many word endings need this.
    lore_whole_words: bool = Value::Switch(true), Kind::Switch, None, Context, PEOPLE;
    /// Also scans the names of the speakers.
    lore_include_names: bool = Value::Switch(true), Kind::Switch, None, Context, PEOPLE;
    /// Scans further back until this many entries are active. 0 turns this off.
    lore_min_activations: u32 = Value::Whole(0), Kind::Whole { min: 0, max: 100 }, None, Context, PEOPLE;
    /// Maximum scan depth for that, in messages. `None`: to the start of the chat.
    lore_min_activations_depth: Option<u32> = text("off"), Kind::WholeOr { word: "off", min: 1, max: 1_000 }, Messages, Context, PEOPLE;
    /// In an inclusion group, the entries with the most matching keys win.
    lore_group_scoring: bool = Value::Switch(false), Kind::Switch, None, Context, PEOPLE;

    /// Id of the prompt template; `auto` is the built-in one for role-play.
    template: String = text("auto"), Kind::NameOr { word: "auto" }, None, Prompt, EVERYWHERE;
    /// Name of the mode: how the character is in the mood to talk (S1.7).
    mode: String = text("default"), Kind::NameOr { word: "default" }, None, Prompt, PEOPLE;
    /// Name of a built-in chat format that replaces the model's own; `auto` is the model's own.
    chat_format: String = text("auto"), Kind::NameOr { word: "auto" }, None, Prompt, MACHINE;
    continue_by: ContinueBy = text("auto"), Kind::Choice(ContinueBy::WORDS), None, Prompt, MACHINE;
    /// Id of the template that asks to go on, to write for the user, to name the chat; `auto` is the built-in one.
    continue_prompt: String = text("auto"), Kind::NameOr { word: "auto" }, None, Prompt, EVERYWHERE;
    impersonate_prompt: String = text("auto"), Kind::NameOr { word: "auto" }, None, Prompt, EVERYWHERE;
    title_prompt: String = text("auto"), Kind::NameOr { word: "auto" }, None, Prompt, EVERYWHERE;
    /// Added to the rules; the user's own words, passed unchanged (C31).
    extra_instructions: String = text(""), Kind::Text { max: 20_000 }, None, Prompt, EVERYWHERE;
    /// The date and the time are told, and again when they have moved on (S3.10). Off: for stories in a time of their own.
    tell_time: bool = Value::Switch(true), Kind::Switch, None, Prompt, EVERYWHERE;
    /// Said again from time to time, in the turn's context block (S4.34). Empty: nothing to remind of.
    reminder: String = text(""), Kind::Text { max: 4_000 }, None, Prompt, PEOPLE;
    remind_every_messages: u32 = Value::Whole(6), Kind::Whole { min: 1, max: 1_000 }, Messages, Prompt, PEOPLE;
    /// The author's note: text held at a depth.
    author_note: String = text(""), Kind::Text { max: 20_000 }, None, Prompt, PEOPLE;
    /// Messages from the end; 0 is behind the last one.
    author_note_depth: u32 = Value::Whole(4), Kind::Whole { min: 0, max: 1_000 }, Messages, Prompt, PEOPLE;
    /// Every so many messages of the user; 0 is never.
    author_note_every_messages: u32 = Value::Whole(1), Kind::Whole { min: 0, max: 1_000 }, Messages, Prompt, PEOPLE;
    author_note_role: NoteRole = text("system"), Kind::Choice(NoteRole::WORDS), None, Prompt, PEOPLE;
    /// Stop strings, one per line. `\\n` is a line break, `\\\\` a backslash.
    stop_strings: String = text(""), Kind::Text { max: 20_000 }, None, Prompt, EVERYWHERE;

    /// Where the story stands (S4.23). `random` draws one for each chat. Empty: what the setting tells.
    scene: String = text(""), Kind::Text { max: 4_000 }, None, Story, PEOPLE;
    /// The world around the scene (S4.23). `random` draws one for each chat. Empty: nothing is told.
    setting: String = text(""), Kind::Text { max: 4_000 }, None, Story, PEOPLE;
    /// Off: neither scene nor setting is told (S4.11).
    include_scene: bool = Value::Switch(true), Kind::Switch, None, Story, PEOPLE;
    /// Persona and character introduce themselves before the first message (S4.77).
    introductions: bool = Value::Switch(false), Kind::Switch, None, Story, PEOPLE;
    /// What the conversation is steered towards (S4.25). Empty: nowhere.
    session_goal: String = text(""), Kind::Text { max: 4_000 }, None, Story, PEOPLE;
    /// Planned episodes, one a line: the theme, and behind a colon its stages, parted by semicolons (S4.22).
    episodes: String = text(""), Kind::Text { max: 20_000 }, None, Story, PEOPLE;
    /// Number of the episode that is on, from 1. `None`: the one behind those that replies have ended.
    episode: Option<u32> = text("auto"), auto(1), None, Story, PEOPLE;
    /// What templates may tell of the people and the place besides (S4.28), one a line: the name of a variable, a colon, its
    /// value.
    details: String = text(""), Kind::Text { max: 20_000 }, None, Story, PEOPLE;
    content_rating: ContentRating = text("unset"), Kind::Choice(ContentRating::WORDS), None, Story, PEOPLE;

    chat_titles: ChatTitles = text("auto"), Kind::Choice(ChatTitles::WORDS), None, Chat, EVERYWHERE;
    start_mode: StartMode = text("character"), Kind::Choice(StartMode::WORDS), None, Chat, BEFORE_A_CHAT;
    /// Off: a reply is shown at once when it is whole (S4.40).
    show_streaming: bool = Value::Switch(true), Kind::Switch, None, Chat, EVERYWHERE;
    /// A model's thoughts are open in the chat, not folded (S4.71, S4.72).
    show_thoughts: bool = Value::Switch(false), Kind::Switch, None, Chat, EVERYWHERE;
    /// Tokens of a chat, about, that are loaded before it can be used (S1.13).
    eager_load_tokens: u32 = Value::Whole(3_000), Kind::Whole { min: 200, max: 100_000 }, Tokens, Chat, WINDOW;

    /// Name of the preset whose values count where the same layer sets none of its own; `none` is no preset.
    sampler_preset: String = text("none"), Kind::NameOr { word: "none" }, None, Sampler, EVERYWHERE;
    /// 0 always takes the likeliest token.
    temperature: f32 = Value::Number(0.8), Kind::Number { min: 0.0, max: 2.0 }, None, Sampler, EVERYWHERE;
    /// 0 is off.
    min_p: f32 = Value::Number(0.05), Kind::Number { min: 0.0, max: 1.0 }, None, Sampler, EVERYWHERE;
    /// 1 is off.
    top_p: f32 = Value::Number(0.95), Kind::Number { min: 0.0, max: 1.0 }, None, Sampler, EVERYWHERE;
    /// 0 is off.
    top_k: u32 = Value::Whole(40), Kind::Whole { min: 0, max: 1_000 }, None, Sampler, EVERYWHERE;
    /// 1 is off.
    typical_p: f32 = Value::Number(1.0), Kind::Number { min: 0.0, max: 1.0 }, None, Sampler, EVERYWHERE;
    /// 0 is off.
    top_n_sigma: f32 = Value::Number(0.0), Kind::Number { min: 0.0, max: 10.0 }, None, Sampler, EVERYWHERE;
    /// 1 is off.
    repeat_penalty: f32 = Value::Number(1.1), Kind::Number { min: 0.5, max: 3.0 }, None, Sampler, EVERYWHERE;
    /// How far the three penalties look back; 0 is not at all.
    repeat_range: u32 = Value::Whole(64), Kind::Whole { min: 0, max: 100_000 }, Tokens, Sampler, EVERYWHERE;
    /// 0 is off.
    frequency_penalty: f32 = Value::Number(0.0), Kind::Number { min: -2.0, max: 2.0 }, None, Sampler, EVERYWHERE;
    /// 0 is off.
    presence_penalty: f32 = Value::Number(0.0), Kind::Number { min: -2.0, max: 2.0 }, None, Sampler, EVERYWHERE;
    /// 0 is off.
    dry_multiplier: f32 = Value::Number(0.0), Kind::Number { min: 0.0, max: 5.0 }, None, Sampler, EVERYWHERE;
    dry_base: f32 = Value::Number(1.75), Kind::Number { min: 1.0, max: 4.0 }, None, Sampler, EVERYWHERE;
    dry_allowed_length: u32 = Value::Whole(2), Kind::Whole { min: 1, max: 100 }, Tokens, Sampler, EVERYWHERE;
    /// 0 is all of it.
    dry_range: u32 = Value::Whole(0), Kind::Whole { min: 0, max: 100_000 }, Tokens, Sampler, EVERYWHERE;
    /// 0 is off.
    xtc_probability: f32 = Value::Number(0.0), Kind::Number { min: 0.0, max: 1.0 }, None, Sampler, EVERYWHERE;
    xtc_threshold: f32 = Value::Number(0.1), Kind::Number { min: 0.0, max: 0.5 }, None, Sampler, EVERYWHERE;
    /// 0 is off; 1 and 2 are its versions.
    mirostat: u32 = Value::Whole(0), Kind::Whole { min: 0, max: 2 }, None, Sampler, EVERYWHERE;
    mirostat_tau: f32 = Value::Number(5.0), Kind::Number { min: 0.0, max: 10.0 }, None, Sampler, EVERYWHERE;
    mirostat_eta: f32 = Value::Number(0.1), Kind::Number { min: 0.0, max: 1.0 }, None, Sampler, EVERYWHERE;
    /// 0 is off.
    dynatemp_range: f32 = Value::Number(0.0), Kind::Number { min: 0.0, max: 2.0 }, None, Sampler, EVERYWHERE;
    dynatemp_exponent: f32 = Value::Number(1.0), Kind::Number { min: 0.0, max: 10.0 }, None, Sampler, EVERYWHERE;
    /// `None` draws a new one for each reply; with one, the same prompt gives the same reply.
    seed: Option<u32> = text("random"), Kind::WholeOr { word: "random", min: 0, max: u32::MAX }, None, Sampler, EVERYWHERE;
    /// Tokens of reply at the most.
    max_tokens: u32 = Value::Whole(512), Kind::Whole { min: 1, max: 100_000 }, Tokens, Sampler, EVERYWHERE;
}

/// As built in.
impl Default for Values {
    fn default() -> Self {
        Self::gather(|_| None)
    }
}

impl Values {
    /// How the next token is drawn, where the turn itself does not say. `seed` counts where the settings have none.
    pub fn sampling(&self, seed: u32) -> Sampling {
        Sampling {
            temperature: self.temperature,
            top_p: self.top_p,
            top_k: self.top_k,
            min_p: self.min_p,
            typical_p: self.typical_p,
            top_n_sigma: self.top_n_sigma,
            repeat_penalty: self.repeat_penalty,
            repeat_range: self.repeat_range,
            frequency_penalty: self.frequency_penalty,
            presence_penalty: self.presence_penalty,
            dry: Dry {
                multiplier: self.dry_multiplier,
                base: self.dry_base,
                allowed_length: self.dry_allowed_length,
                range: self.dry_range,
            },
            xtc: Xtc { probability: self.xtc_probability, threshold: self.xtc_threshold },
            mirostat: Mirostat { version: self.mirostat, tau: self.mirostat_tau, eta: self.mirostat_eta },
            dynatemp: Dynatemp { range: self.dynatemp_range, exponent: self.dynatemp_exponent },
            max_tokens: self.max_tokens,
            seed: self.seed.unwrap_or(seed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_one_that_its_setting_takes() {
        for setting in SETTINGS {
            assert_eq!(setting.kind.check(setting.default.clone()).as_ref(), Ok(&setting.default), "{}", setting.key);
            assert!(setting.scopes.contains(&Scope::Global), "{} has no global layer", setting.key);
        }
    }

    #[test]
    fn keys_are_unique_and_name_their_variables() {
        let mut keys: Vec<_> = SETTINGS.iter().map(|setting| setting.key).collect();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), SETTINGS.len());
        assert_eq!(setting("context_limit").unwrap().variable(), "INGLENOOK_CONTEXT_LIMIT");
    }

    #[test]
    fn what_is_built_in_is_what_the_numbers_sheet_says() {
        let built_in = Values::default();
        assert_eq!((built_in.context_limit, built_in.message_ceiling), (None, None));
        assert_eq!(
            (built_in.min_tail_messages, built_in.remind_every_messages, built_in.eager_load_tokens),
            (10, 6, 3_000)
        );
        assert_eq!((built_in.placement, built_in.start_mode), (Placement::CacheFirst, StartMode::Character));
        assert!(built_in.show_streaming && !built_in.show_thoughts);
        assert_eq!(built_in.sampling(7).temperature, 0.8);
        assert_eq!((built_in.sampling(7).seed, Values { seed: Some(3), ..built_in }.sampling(7).seed), (7, 3));
    }
}
