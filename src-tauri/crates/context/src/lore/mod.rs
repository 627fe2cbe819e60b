//! Lorebook activation: which entries a turn triggers, why, and where their texts go. Pure: the
//! same input gives the same outcome.
//!
//! [`PreparedBooks::new`] compiles the books bound to a chat once; [`activate`] runs them for a
//! turn. One pass over each text finds all plain keys of all books, so the cost hardly depends on
//! the number of entries.
//!
//! There are two profiles. [`Profile::Compatible`] reproduces SillyTavern 1.18 exactly, as tested
//! by recorded cases. [`Profile::Corrected`], the default, adds the rules of Character Card V3
//! (among them twenty decorators) and corrects these peculiarities, with one test each:
//!
//! | peculiarity | compatible | corrected |
//! |---|---|---|
//! | `multi_word_key_is_substring` | whole-word matching: a key of several words matches as a substring | it must match whole words too |
//! | `ascii_word_boundary` | only A-Z, a-z, 0-9 and _ are word characters | Unicode rules; in scripts without spaces keys are substrings |
//! | `unicode_lower_case` | lower case, with final sigma and a two-letter `İ` | case folding: `ß` is `SS`, `ς` is `σ`, `İ` is `i` |
//! | `message_separator_in_scan_text` | each text begins with U+0001 | texts are separate lines |
//! | `blank_key_always_matches` | a key of spaces always matches | never |
//! | `depth_zero_sees_nothing` | at depth 0 nothing is scanned | only messages are not scanned |
//! | `score_counts_blank_and_untrimmed_keys` | scores neither trim keys nor skip empty ones | scores use the same keys as activation |
//! | `delay_levels_run_without_recursion` | further delay levels run with recursion off | no levels without recursion |
//! | `disabled_entries_set_delay_levels` | disabled entries create levels | they create none |
//! | `min_activations_depth_overshoots_by_one` | one message past the maximum or the chat | up to the maximum |
//! | `min_activations_pass_ignores_recursion_text` | a widening pass does not scan recursion text | it does |
//! | `min_activations_pass_is_followed_by_recursion` | always, if there is recursion text | only after a new activation |
//! | `group_remove_twice` | a second removal removes the last candidate | it has no effect |
//! | `group_removed_member_still_counts` | a removed member may win another group | it cannot win |
//! | `group_active_compares_whole_string` | "a, b" is not "a" | each name is compared |
//! | `group_drops_sticky_entry_on_cooldown` | it removes the others, then itself | it stays |
//! | `zero_percent_passes_on_roll_zero` | roll <= percent | roll < percent |
//! | `exact_budget_overflows` | reaching the budget overflows | exceeding it overflows |
//! | `overflow_ends_the_scan` | an entry that does not fit excludes later ones | entries that fit are kept, passes continue |
//! | `ignore_budget_text_counts_against_neighbours` | it counts in its pass | it does not count |
//! | `over_budget_text_still_recurses` | in later delay levels | entries that did not fit trigger nothing |
//! | `prevent_recursion_text_not_budgeted` | not counted in later passes | counted |
//! | `stale_timed_effect_kept` | the effect of a changed entry blocks a new one | it is dropped |
//! | `decorator_needs_exact_line` | a trailing space or CR disables it | it does not |
//! | `decorator_only_text_is_kept` | a text of decorators alone is sent | it is not |
//! | `tokens_counted_on_joined_text` | the text of a pass is counted as one | entry by entry |
//! | `external_goes_first` | before all but sticky entries | in list order |
//! | `external_repeats_failed_roll` | rolled again in each pass | once |
//! | `example_top_is_descending` | highest order first | last, as at other places |
//! | `outlets_are_descending` | highest order first | last, as at other places |
//! | spaces around a group name | part of the name | trimmed |
//!
//! Decisions where the sources are silent:
//! - `reverse_depth` counts from the start of the chat. The V3 text that chats ignore it appears to
//!   be an error.
//! - The `instruct_*` decorators are for text without turns, so their fallbacks are tried.
//! - `use_regex` is ignored in entries written by SillyTavern, which sets it everywhere.
//! - A book's `recursive_scanning` decides for its own texts; without it the setting decides.
//! - Priorities order the entries within one book.
//! - Decorators are at the start of a text; blank lines may separate them.
//! - Hidden keys only feed recursion; an entry with nothing else still feeds it.

mod budget;
pub mod cases;
mod chance;
mod check;
mod decorators;
mod groups;
mod input;
pub(crate) mod keys;
mod outcome;
mod placement;
mod position;
mod prepare;
mod scan;
mod settings;
mod text;
mod timed;
mod timed_state;

pub use chance::Chance;
pub use input::{
    CardTexts, Earlier, ExpandedText, GenerationKind, LoreCharacter, LoreInput, LoreMessage,
    Written,
};
pub use outcome::{
    Activated, KeyLocation, LoreOutcome, Pass, PassKind, Reason, Rejected, Rule, UiPrompt,
};
pub use placement::{AtDepth, Placements, placements};
pub use position::EntryPosition;
pub use prepare::{Bindings, NamedBook, PreparedBooks};
pub use scan::activate;
pub use settings::{LoreSettings, Profile, Strategy};
pub use timed_state::{Effect, TimedState};
