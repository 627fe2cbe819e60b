//! Declares all settings with their kinds, units, defaults and layers.
//!
//! To add a setting, add it to the `settings!` list below.

use std::borrow::Cow;

use super::owner::Scope;
use super::value::{ConfigValue, FromValue, Syntax, ValueType};
use super::words::{
    CharacterNotePlace, ChatTitles, ContentRating, ContextRetention, ContinueBy, ContinuePostfix,
    FlashAttention, GroupTexts, KvCacheType, LoreProfile, LoreStrategy, MemoryLearning, NotePlace,
    NoteRole, PlacementMode, PromptKeeping, SpritePlace, StartMode,
};
use crate::sampling::STAGES;

/// Prefix of environment variables: `INGLENOOK_CONTEXT_LIMIT=4096` overrides `context_limit`.
pub const ENVIRONMENT_PREFIX: &str = "INGLENOOK_";

/// Unit of a numeric setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    None,
    Tokens,
    Messages,
    /// A user message and its reply.
    Exchanges,
}

/// Section of the settings screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingSection {
    Context,
    Prompt,
    Story,
    Chat,
    /// Tools that a model may call.
    Tools,
    Sampler,
    /// How local models are loaded.
    Loading,
    /// Stored prompts and the log.
    Privacy,
}

/// Declaration of one setting.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    pub key: &'static str,
    pub group: SettingSection,
    pub kind: ValueType,
    pub unit: Unit,
    pub default: ConfigValue,
    /// Layers it may be set on.
    pub scopes: &'static [Scope],
}

impl Setting {
    /// Name of the environment variable that overrides it.
    pub fn variable(&self) -> String {
        format!("{ENVIRONMENT_PREFIX}{}", self.key.to_ascii_uppercase())
    }
}

pub fn setting(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.key == key)
}

/// Returns the setting if sampler presets can contain it. The context size is excluded, because a
/// preset must not change how much of a chat is remembered.
pub fn preset_setting(key: &str) -> Option<&'static Setting> {
    setting(key).filter(|setting| {
        setting.group == SettingSection::Sampler && setting.key != "sampler_preset"
    })
}

const EVERYWHERE: &[Scope] = &Scope::ALL;
/// Scopes of settings that depend on the machine and the model, not on the character.
const MACHINE: &[Scope] = &[Scope::Global, Scope::Model, Scope::Chat];
/// Scopes of settings that decide how a model is loaded.
const LOADING: &[Scope] = &[Scope::Global, Scope::Model];
const PEOPLE: &[Scope] = &[Scope::Global, Scope::Character, Scope::Chat];
const BEFORE_A_CHAT: &[Scope] = &[Scope::Global, Scope::Character];
const WINDOW: &[Scope] = &[Scope::Global];

const fn text(text: &'static str) -> ConfigValue {
    ConfigValue::Text(Cow::Borrowed(text))
}

const fn auto(min: u32) -> ValueType {
    ValueType::WholeOr {
        word: "auto",
        min,
        max: 2_000_000,
    }
}

/// Sequence breakers of llama.cpp, one per line.
const DRY_BREAKERS: &str = "\\n\n:\n\"\n*";

const OFF_OR_TOKENS: ValueType = ValueType::WholeOr {
    word: "off",
    min: 1,
    max: 2_000_000,
};

macro_rules! settings {
    ($($(#[doc = $doc:literal])* $key:ident: $ty:ty = $default:expr, $kind:expr, $unit:ident, $group:ident, $scopes:ident;)*) => {
        /// All settings, in display order.
        pub static SETTINGS: &[Setting] = &[$(Setting {
            key: stringify!($key),
            group: SettingSection::$group,
            kind: $kind,
            unit: Unit::$unit,
            default: $default,
            scopes: $scopes,
        }),*];

        /// Resolved values of all settings.
        #[derive(Debug, Clone, PartialEq)]
        pub struct Values {
            $($(#[doc = $doc])* pub $key: $ty,)*
        }

        impl Values {
            /// Collects values by key. Keys without a value get the built-in default.
            pub(crate) fn gather(value: impl Fn(&str) -> Option<ConfigValue>) -> Self {
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
    /// Context size in tokens, limited by the model's. `None`: the model's own size, at most
    /// 200,000, and for local models what memory allows.
    context_limit: Option<u32> = text("auto"), auto(512), Tokens, Context, MACHINE;
    /// Maximum number of history tokens. `None`: depends on the kind of model.
    history_cap: Option<u32> = text("auto"), auto(200), Tokens, Context, EVERYWHERE;
    /// Maximum number of tokens for lore, memories and excerpts. `None`: a quarter of the space
    /// left by head and input.
    retrieval_cap: Option<u32> = text("auto"), auto(0), Tokens, Context, EVERYWHERE;
    /// Tokens reserved for the reply, at most a quarter of the context. `None`: the maximum reply
    /// length.
    reply_reserve: Option<u32> = text("auto"), auto(16), Tokens, Context, EVERYWHERE;
    /// Tokens to remove from the window when it overflows, at most half of the history. `None`:
    /// half for local models, because re-reading takes time; an eighth for remote models, at least
    /// 1,000.
    trim_chunk: Option<u32> = text("auto"), auto(100), Tokens, Context, EVERYWHERE;
    /// Messages that stay in the window if the token limit allows it.
    min_tail_messages: u32 = ConfigValue::Whole(10), ValueType::Whole { min: 0, max: 200 }, Messages, Context, EVERYWHERE;
    /// Maximum number of messages in the window. `None`: only tokens decide.
    message_ceiling: Option<u32> = text("off"), ValueType::WholeOr { word: "off", min: 1, max: 10_000 }, Messages, Context, EVERYWHERE;
    placement: PlacementMode = text("cache-first"), ValueType::Choice(PlacementMode::WORDS), None, Context, EVERYWHERE;
    context_retention: ContextRetention = text("append-only"), ValueType::Choice(ContextRetention::WORDS), None, Context, EVERYWHERE;
    /// The endpoint's model accepts images. If off, it gets a text that mentions the picture. A
    /// local model accepts images if a file that reads them belongs to it.
    sees_images: bool = ConfigValue::Switch(false), ValueType::Switch, None, Context, MACHINE;
    /// Tokens to count for a picture of any size, for endpoints. The default is what OpenAI's
    /// models use for 1,024 × 1,024 pixels. Local models count exactly.
    image_tokens: u32 = ConfigValue::Whole(765), ValueType::Whole { min: 0, max: 100_000 }, Tokens, Context, MACHINE;
    /// When idle, a local model pre-reads the prefix of the next turn: the open chat after the
    /// start, and a window that is due for trimming.
    read_ahead: bool = ConfigValue::Switch(true), ValueType::Switch, None, Context, MACHINE;
    /// If off, nothing is recalled or learned. Trimming is independent of this: pinned and
    /// important messages stay as verbatim excerpts.
    memory: bool = ConfigValue::Switch(true), ValueType::Switch, None, Context, PEOPLE;
    /// If off, recall does not search other chats of the same character and persona.
    memory_other_chats: bool = ConfigValue::Switch(true), ValueType::Switch, None, Context, PEOPLE;
    /// Which models summarize chats and extract facts when idle. If off, no model is used.
    memory_learn: MemoryLearning = text("auto"), ValueType::Choice(MemoryLearning::WORDS), None, Context, PEOPLE;
    /// Messages per keyframe.
    keyframe_every_messages: u32 = ConfigValue::Whole(20), ValueType::Whole { min: 5, max: 50 }, Messages, Context, PEOPLE;
    /// Exchanges per run of fact extraction.
    memory_extract_every_exchanges: u32 = ConfigValue::Whole(5), ValueType::Whole { min: 1, max: 20 }, Exchanges, Context, PEOPLE;
    /// Id of the model or endpoint that learns memories. `auto`, or a model that no longer exists,
    /// means the chat's own model.
    memory_model: String = text("auto"), ValueType::NameOr { word: "auto" }, None, Context, PEOPLE;
    lore_strategy: LoreStrategy = text("character-first"), ValueType::Choice(LoreStrategy::WORDS), None, Context, PEOPLE;
    lore_profile: LoreProfile = text("corrected"), ValueType::Choice(LoreProfile::WORDS), None, Context, PEOPLE;
    /// Number of recent messages to scan for keys, unless the entry or its book overrides it.
    lore_scan_depth: u32 = ConfigValue::Whole(2), ValueType::Whole { min: 0, max: 1_000 }, Messages, Context, PEOPLE;
    /// Maximum share of the context for lore, in percent, excluding the reply.
    lore_budget_percent: u32 = ConfigValue::Whole(25), ValueType::Whole { min: 1, max: 100 }, None, Context, PEOPLE;
    /// Maximum number of lore tokens, regardless of the share. `None`: only the share applies.
    lore_budget_cap: Option<u32> = text("off"), OFF_OR_TOKENS, Tokens, Context, PEOPLE;
    /// Texts of active entries can activate other entries.
    lore_recursive: bool = ConfigValue::Switch(true), ValueType::Switch, None, Context, PEOPLE;
    /// Maximum number of scan passes, including the first. `None`: no limit.
    lore_recursion_steps: Option<u32> = text("off"), ValueType::WholeOr { word: "off", min: 1, max: 100 }, None, Context, PEOPLE;
    lore_case_sensitive: bool = ConfigValue::Switch(false), ValueType::Switch, None, Context, PEOPLE;
    /// If off, a key also matches inside a word. Languages with many word endings need this.
    lore_whole_words: bool = ConfigValue::Switch(true), ValueType::Switch, None, Context, PEOPLE;
    /// Also scans the names of the speakers.
    lore_include_names: bool = ConfigValue::Switch(true), ValueType::Switch, None, Context, PEOPLE;
    /// Scans further back until this many entries are active. 0 turns this off.
    lore_min_activations: u32 = ConfigValue::Whole(0), ValueType::Whole { min: 0, max: 100 }, None, Context, PEOPLE;
    /// Maximum scan depth for that, in messages. `None`: to the start of the chat.
    lore_min_activations_depth: Option<u32> = text("off"), ValueType::WholeOr { word: "off", min: 1, max: 1_000 }, Messages, Context, PEOPLE;
    /// In an inclusion group, the entries with the most matching keys win.
    lore_group_scoring: bool = ConfigValue::Switch(false), ValueType::Switch, None, Context, PEOPLE;

    /// Id of the prompt template; `auto` is the built-in one for role-play.
    template: String = text("auto"), ValueType::NameOr { word: "auto" }, None, Prompt, EVERYWHERE;
    /// Name of the mode: the character's mood or style.
    mode: String = text("default"), ValueType::NameOr { word: "default" }, None, Prompt, PEOPLE;
    /// Owner of the main prompt, post-history text and scenario in a group chat. The chat's own
    /// texts precede both.
    group_texts: GroupTexts = text("speaker"), ValueType::Choice(GroupTexts::WORDS), None, Prompt, PEOPLE;
    /// Name of a built-in chat format that replaces the model's own; `auto` is the model's own.
    chat_format: String = text("auto"), ValueType::NameOr { word: "auto" }, None, Prompt, MACHINE;
    /// Text that every reply begins with. The model continues it. Macros are allowed.
    reply_start: String = text(""), ValueType::Text { max: 4_000 }, None, Prompt, EVERYWHERE;
    /// The text between a reply and its continuation.
    continue_postfix: ContinuePostfix = text("auto"), ValueType::Choice(ContinuePostfix::WORDS), None, Prompt, EVERYWHERE;
    continue_by: ContinueBy = text("auto"), ValueType::Choice(ContinueBy::WORDS), None, Prompt, MACHINE;
    /// Ids of the templates for continuing a reply, writing for the user and naming the chat;
    /// `auto` is the built-in one.
    continue_prompt: String = text("auto"), ValueType::NameOr { word: "auto" }, None, Prompt, EVERYWHERE;
    impersonate_prompt: String = text("auto"), ValueType::NameOr { word: "auto" }, None, Prompt, EVERYWHERE;
    title_prompt: String = text("auto"), ValueType::NameOr { word: "auto" }, None, Prompt, EVERYWHERE;
    /// More marks around a model's thoughts, one pair per line: opening mark, a space, closing
    /// mark.
    thought_marks: String = text(""), ValueType::Text { max: 1_000 }, None, Prompt, MACHINE;
    /// The user's own text, appended to the rules unchanged.
    extra_instructions: String = text(""), ValueType::Text { max: 20_000 }, None, Prompt, EVERYWHERE;
    /// Includes date and time in the prompt, and again when they change. Turn off for stories set
    /// in another time.
    tell_time: bool = ConfigValue::Switch(true), ValueType::Switch, None, Prompt, EVERYWHERE;
    /// Accepts reports of a program with a camera. The next turn tells them to the model; no
    /// picture is stored.
    vision: bool = ConfigValue::Switch(false), ValueType::Switch, None, Prompt, PEOPLE;
    /// Asks the model to begin each reply with a tag that names its emotion. The tag is never
    /// shown.
    emotion_tags: bool = ConfigValue::Switch(false), ValueType::Switch, None, Prompt, PEOPLE;
    /// The emotions that replies can show, separated by commas.
    emotion_labels: String = text(crate::emotion::DEFAULT_LABELS), ValueType::Text { max: 2_000 }, None, Prompt, PEOPLE;
    /// Guesses the emotion of a reply without a tag, if the character has pictures of emotions.
    emotion_guess: bool = ConfigValue::Switch(false), ValueType::Switch, None, Prompt, PEOPLE;
    /// Tells the model which pictures of the card a reply can show with `${image.NAME}`. Not in
    /// groups.
    picture_tags: bool = ConfigValue::Switch(false), ValueType::Switch, None, Prompt, PEOPLE;
    /// Text repeated periodically in the turn's context block. Empty: no reminder.
    reminder: String = text(""), ValueType::Text { max: 4_000 }, None, Prompt, PEOPLE;
    remind_every_messages: u32 = ConfigValue::Whole(6), ValueType::Whole { min: 1, max: 1_000 }, Messages, Prompt, PEOPLE;
    /// The author's note: text inserted at a fixed depth.
    author_note: String = text(""), ValueType::Text { max: 20_000 }, None, Prompt, PEOPLE;
    /// In messages from the end; 0 is after the last one.
    author_note_depth: u32 = ConfigValue::Whole(4), ValueType::Whole { min: 0, max: 1_000 }, Messages, Prompt, PEOPLE;
    /// Insert the note after every this many user messages; 0 is never.
    author_note_every_messages: u32 = ConfigValue::Whole(1), ValueType::Whole { min: 0, max: 1_000 }, Messages, Prompt, PEOPLE;
    author_note_place: NotePlace = text("in-chat"), ValueType::Choice(NotePlace::WORDS), None, Prompt, PEOPLE;
    author_note_role: NoteRole = text("system"), ValueType::Choice(NoteRole::WORDS), None, Prompt, PEOPLE;
    /// A note of the character, sent together with the author's note in all of its chats.
    character_note: String = text(""), ValueType::Text { max: 20_000 }, None, Prompt, BEFORE_A_CHAT;
    character_note_place: CharacterNotePlace = text("before"), ValueType::Choice(CharacterNotePlace::WORDS), None, Prompt, BEFORE_A_CHAT;
    /// Names of sections of the prompt template that are left out, one per line.
    left_out_sections: String = text(""), ValueType::Text { max: 4_000 }, None, Prompt, PEOPLE;
    /// Stop strings, one per line. `\\n` is a line break, `\\\\` a backslash.
    stop_strings: String = text(""), ValueType::Text { max: 20_000 }, None, Prompt, EVERYWHERE;

    /// The place of the story. `random` draws one for each chat. Empty: the template's own.
    scene: String = text(""), ValueType::Text { max: 4_000 }, None, Story, PEOPLE;
    /// The world around the scene. `random` draws one for each chat. Empty: none.
    setting: String = text(""), ValueType::Text { max: 4_000 }, None, Story, PEOPLE;
    /// If off, scene and setting are not part of the prompt.
    include_scene: bool = ConfigValue::Switch(true), ValueType::Switch, None, Story, PEOPLE;
    /// Persona and character introduce themselves before the first message.
    introductions: bool = ConfigValue::Switch(false), ValueType::Switch, None, Story, PEOPLE;
    /// The goal that the conversation is steered towards. Empty: none.
    session_goal: String = text(""), ValueType::Text { max: 4_000 }, None, Story, PEOPLE;
    /// Planned episodes, one per line: the theme, then a colon and its stages, separated by
    /// semicolons.
    episodes: String = text(""), ValueType::Text { max: 20_000 }, None, Story, PEOPLE;
    /// Number of the current episode, starting at 1. `None`: the one after the last that a reply
    /// has ended.
    episode: Option<u32> = text("auto"), auto(1), None, Story, PEOPLE;
    /// More template variables about the people and the place, one per line: name, colon, value.
    details: String = text(""), ValueType::Text { max: 20_000 }, None, Story, PEOPLE;
    content_rating: ContentRating = text("unset"), ValueType::Choice(ContentRating::WORDS), None, Story, PEOPLE;

    chat_titles: ChatTitles = text("auto"), ValueType::Choice(ChatTitles::WORDS), None, Chat, EVERYWHERE;
    start_mode: StartMode = text("character"), ValueType::Choice(StartMode::WORDS), None, Chat, BEFORE_A_CHAT;
    /// If off, a reply is shown only when it is complete.
    show_streaming: bool = ConfigValue::Switch(true), ValueType::Switch, None, Chat, EVERYWHERE;
    /// Shows a model's thoughts expanded instead of folded.
    show_thoughts: bool = ConfigValue::Switch(false), ValueType::Switch, None, Chat, EVERYWHERE;
    /// Records the probabilities of the tokens of local replies, so that a reply can continue from
    /// another token.
    token_probabilities: bool = ConfigValue::Switch(false), ValueType::Switch, None, Chat, EVERYWHERE;
    /// Position of the characters' pictures that show their emotions.
    sprite_place: SpritePlace = text("beside"), ValueType::Choice(SpritePlace::WORDS), None, Chat, PEOPLE;
    /// Hash of the picture behind the messages.
    background: String = text("none"), ValueType::NameOr { word: "none" }, None, Chat, PEOPLE;
    /// Accent colour of a chat, such as `#7fb2ff`; empty or unreadable: that of the window. The
    /// page adjusts it so that text in it stays readable.
    accent_color: String = text(""), ValueType::Text { max: 7 }, None, Chat, PEOPLE;
    /// Approximate number of tokens to load before a chat is usable.
    eager_load_tokens: u32 = ConfigValue::Whole(3_000), ValueType::Whole { min: 200, max: 100_000 }, Tokens, Chat, WINDOW;

    /// Rounds of tool calls in one reply. Then the model must answer.
    tool_rounds: u32 = ConfigValue::Whole(5), ValueType::Whole { min: 1, max: 12 }, None, Tools, PEOPLE;
    /// Maximum length of one result of a tool. A longer one is cut, with a note for the model.
    tool_result_tokens: u32 = ConfigValue::Whole(1_000), ValueType::Whole { min: 50, max: 50_000 }, Tokens, Tools, PEOPLE;
    /// Describes tools in the prompt to models that know none. Their calls are read from the
    /// reply's text.
    tools_as_text: bool = ConfigValue::Switch(false), ValueType::Switch, None, Tools, PEOPLE;
    /// The model may roll dice.
    tool_dice: bool = ConfigValue::Switch(false), ValueType::Switch, None, Tools, PEOPLE;
    /// The model may ask for date and time.
    tool_clock: bool = ConfigValue::Switch(false), ValueType::Switch, None, Tools, PEOPLE;
    /// The model may search what is remembered about this character and persona.
    tool_memory: bool = ConfigValue::Switch(false), ValueType::Switch, None, Tools, PEOPLE;
    /// The model may search the messages of this chat.
    tool_chat_search: bool = ConfigValue::Switch(false), ValueType::Switch, None, Tools, PEOPLE;
    /// The model may read the lorebook entries of this chat.
    tool_lore: bool = ConfigValue::Switch(false), ValueType::Switch, None, Tools, PEOPLE;
    /// The model may read the documents that are attached to this chat.
    tool_documents: bool = ConfigValue::Switch(false), ValueType::Switch, None, Tools, PEOPLE;
    /// The model may draw from a table.
    tool_table: bool = ConfigValue::Switch(false), ValueType::Switch, None, Tools, PEOPLE;
    /// Tables to draw from, one per line: name, colon, entries separated by semicolons.
    random_tables: String = text(""), ValueType::Text { max: 20_000 }, None, Tools, PEOPLE;
    /// The model may set the emotion that its picture shows.
    tool_mood: bool = ConfigValue::Switch(false), ValueType::Switch, None, Tools, PEOPLE;
    /// The model may change the background of this chat.
    tool_scene: bool = ConfigValue::Switch(false), ValueType::Switch, None, Tools, PEOPLE;

    /// Name of the sampler preset. Its values apply if the same layer sets none of its own. `none`
    /// is no preset.
    sampler_preset: String = text("none"), ValueType::NameOr { word: "none" }, None, Sampler, EVERYWHERE;
    /// 0 always takes the most likely token.
    temperature: f32 = ConfigValue::Number(0.8), ValueType::Number { min: 0.0, max: 2.0 }, None, Sampler, EVERYWHERE;
    /// 0 is off.
    min_p: f32 = ConfigValue::Number(0.05), ValueType::Number { min: 0.0, max: 1.0 }, None, Sampler, EVERYWHERE;
    /// 1 is off.
    top_p: f32 = ConfigValue::Number(0.95), ValueType::Number { min: 0.0, max: 1.0 }, None, Sampler, EVERYWHERE;
    /// 0 is off.
    top_k: u32 = ConfigValue::Whole(40), ValueType::Whole { min: 0, max: 1_000 }, None, Sampler, EVERYWHERE;
    /// 1 is off.
    typical_p: f32 = ConfigValue::Number(1.0), ValueType::Number { min: 0.0, max: 1.0 }, None, Sampler, EVERYWHERE;
    /// 0 is off.
    top_n_sigma: f32 = ConfigValue::Number(0.0), ValueType::Number { min: 0.0, max: 10.0 }, None, Sampler, EVERYWHERE;
    /// 1 is off.
    repeat_penalty: f32 = ConfigValue::Number(1.1), ValueType::Number { min: 0.5, max: 3.0 }, None, Sampler, EVERYWHERE;
    /// Number of tokens that the three penalties look back; 0 is none.
    repeat_range: u32 = ConfigValue::Whole(64), ValueType::Whole { min: 0, max: 100_000 }, Tokens, Sampler, EVERYWHERE;
    /// 0 is off.
    frequency_penalty: f32 = ConfigValue::Number(0.0), ValueType::Number { min: -2.0, max: 2.0 }, None, Sampler, EVERYWHERE;
    /// 0 is off.
    presence_penalty: f32 = ConfigValue::Number(0.0), ValueType::Number { min: -2.0, max: 2.0 }, None, Sampler, EVERYWHERE;
    /// 0 is off.
    dry_multiplier: f32 = ConfigValue::Number(0.0), ValueType::Number { min: 0.0, max: 5.0 }, None, Sampler, EVERYWHERE;
    dry_base: f32 = ConfigValue::Number(1.75), ValueType::Number { min: 1.0, max: 4.0 }, None, Sampler, EVERYWHERE;
    dry_allowed_length: u32 = ConfigValue::Whole(2), ValueType::Whole { min: 1, max: 100 }, Tokens, Sampler, EVERYWHERE;
    /// Number of tokens to look back; 0 is all.
    dry_range: u32 = ConfigValue::Whole(0), ValueType::Whole { min: 0, max: 100_000 }, Tokens, Sampler, EVERYWHERE;
    /// Texts that a repetition does not cross, one per line. `\\n` is a line break, `\\\\` a
    /// backslash.
    dry_breakers: String = text(DRY_BREAKERS), ValueType::Text { max: 4_000 }, None, Sampler, EVERYWHERE;
    /// 0 is off.
    xtc_probability: f32 = ConfigValue::Number(0.0), ValueType::Number { min: 0.0, max: 1.0 }, None, Sampler, EVERYWHERE;
    xtc_threshold: f32 = ConfigValue::Number(0.1), ValueType::Number { min: 0.0, max: 0.5 }, None, Sampler, EVERYWHERE;
    /// 0 is off; 1 and 2 are its versions.
    mirostat: u32 = ConfigValue::Whole(0), ValueType::Whole { min: 0, max: 2 }, None, Sampler, EVERYWHERE;
    mirostat_tau: f32 = ConfigValue::Number(5.0), ValueType::Number { min: 0.0, max: 10.0 }, None, Sampler, EVERYWHERE;
    mirostat_eta: f32 = ConfigValue::Number(0.1), ValueType::Number { min: 0.0, max: 1.0 }, None, Sampler, EVERYWHERE;
    /// 0 is off.
    dynatemp_range: f32 = ConfigValue::Number(0.0), ValueType::Number { min: 0.0, max: 2.0 }, None, Sampler, EVERYWHERE;
    dynatemp_exponent: f32 = ConfigValue::Number(1.0), ValueType::Number { min: 0.0, max: 10.0 }, None, Sampler, EVERYWHERE;
    /// `None` draws a new seed for each reply. A fixed seed makes the reply to the same prompt
    /// reproducible.
    seed: Option<u32> = text("random"), ValueType::WholeOr { word: "random", min: 0, max: u32::MAX }, None, Sampler, EVERYWHERE;
    /// Names of the samplers in the order of application. The default is that of llama.cpp.
    sampler_order: String = text("penalties, dry, top_n_sigma, top_k, typical_p, top_p, min_p, xtc, temperature"), ValueType::Order(STAGES), None, Sampler, EVERYWHERE;
    /// Numbers that are added to the logits of tokens, one per line: a word, an exact text in
    /// quotes or `[token ids]`, then `=` and a number from -100 (never) to 100.
    logit_bias: String = text(""), ValueType::Code(Syntax::LogitBiases), None, Sampler, EVERYWHERE;
    /// Tokens that a reply never contains, one word, quoted text or list of `[token ids]` per line.
    banned_tokens: String = text(""), ValueType::Code(Syntax::Tokens), None, Sampler, EVERYWHERE;
    /// Texts that a reply never contains, one per line, in any letter case. `\\n` is a line break,
    /// `\\\\` a backslash.
    banned_strings: String = text(""), ValueType::Text { max: 20_000 }, None, Sampler, EVERYWHERE;
    /// GBNF that every reply matches. Empty: none.
    grammar: String = text(""), ValueType::Code(Syntax::Grammar), None, Sampler, EVERYWHERE;
    /// JSON Schema that every reply matches. Empty: none.
    json_schema: String = text(""), ValueType::Code(Syntax::JsonSchema), None, Sampler, EVERYWHERE;
    /// The model's end token is excluded up to this length, in tokens.
    min_tokens: u32 = ConfigValue::Whole(0), ValueType::Whole { min: 0, max: 100_000 }, Tokens, Sampler, EVERYWHERE;
    /// Excludes the model's end token, so that only the maximum length or a stop text ends a reply.
    ban_end_token: bool = ConfigValue::Switch(false), ValueType::Switch, None, Sampler, EVERYWHERE;
    /// Maximum length of a reply, in tokens.
    max_tokens: u32 = ConfigValue::Whole(512), ValueType::Whole { min: 1, max: 100_000 }, Tokens, Sampler, EVERYWHERE;

    /// Layers of a local model that graphics devices compute; 0 is none. `None`: as many as fit
    /// their free memory.
    gpu_layers: Option<u32> = text("auto"), ValueType::WholeOr { word: "auto", min: 0, max: 1_000 }, None, Loading, LOADING;
    /// The first layers of a mixture of experts, whose experts stay in the memory of the processor.
    /// `None`: as many as the graphics devices have no room for.
    processor_experts: Option<u32> = text("auto"), ValueType::WholeOr { word: "auto", min: 0, max: 1_000 }, None, Loading, LOADING;
    /// Name of the only graphics device to use. `auto`: all graphics cards, or else the graphics of
    /// the processor.
    gpu_device: String = text("auto"), ValueType::NameOr { word: "auto" }, None, Loading, LOADING;
    kv_cache_type: KvCacheType = text("f16"), ValueType::Choice(KvCacheType::WORDS), None, Loading, LOADING;
    flash_attention: FlashAttention = text("auto"), ValueType::Choice(FlashAttention::WORDS), None, Loading, LOADING;
    /// Threads that compute. `None`: one for each physical core.
    compute_threads: Option<u32> = text("auto"), ValueType::WholeOr { word: "auto", min: 1, max: 512 }, None, Loading, LOADING;
    /// Tokens that are read at once. Stop takes effect between two batches. `None`: by the size of
    /// the model.
    prompt_batch: Option<u32> = text("auto"), ValueType::WholeOr { word: "auto", min: 1, max: 4_096 }, Tokens, Loading, LOADING;
    /// Share of this machine's memory that loaded models may take, in percent. The least recently
    /// used ones are unloaded.
    model_memory_percent: u32 = ConfigValue::Whole(60), ValueType::Whole { min: 5, max: 95 }, None, Loading, WINDOW;
    /// Minutes after which an unused model is unloaded. `None`: it stays.
    model_idle_minutes: Option<u32> = text("off"), ValueType::WholeOr { word: "off", min: 1, max: 1_440 }, None, Loading, WINDOW;

    /// The prompts of past turns that the X-ray can show. Prompts that this does not allow are
    /// deleted; figures of replies and context blocks stay.
    keep_prompts: PromptKeeping = text("on"), ValueType::Choice(PromptKeeping::WORDS), None, Privacy, WINDOW;
    /// If off, the window writes no log, and existing log files are deleted.
    write_log: bool = ConfigValue::Switch(true), ValueType::Switch, None, Privacy, WINDOW;
}

/// The built-in defaults.
impl Default for Values {
    fn default() -> Self {
        Self::gather(|_| None)
    }
}

#[cfg(test)]
mod tests;
