//! Which lorebook entries a turn wakes, why, and where their texts go. Pure: the same input gives the same outcome.
//!
//! [`PreparedBooks::new`] compiles the books that are bound to a chat, once; [`activate`] runs them over a turn. All plain keys
//! of all books are found in one pass over each text, so the cost hardly grows with the number of entries.
//!
//! The algorithm is formats.md 1.4.3, in two profiles. [`Profile::Compatible`] is what SillyTavern 1.18 does, to the letter:
//! every case of the recorded vectors agrees. [`Profile::Corrected`], the default, adds the V3 rules (LB-03 to LB-14 and the
//! twenty decorators, DC-01 to DC-05) and mends these peculiarities, one test each:
//!
//! | peculiarity | compatible | corrected |
//! |---|---|---|
//! | `multi_word_key_is_substring` | whole words: a key of several words is a substring | it is whole words too |
//! | `ascii_word_boundary` | only A-Z, a-z, 0-9 and _ make words | Unicode does; scripts without spaces are substrings |
//! | `unicode_lower_case` | lower case, with final sigma and a two-letter `İ` | case folding: `ß` is `SS`, `ς` is `σ`, `İ` is `i` |
//! | `message_separator_in_scan_text` | each text begins with U+0001 | texts are whole lines of their own |
//! | `blank_key_always_matches` | a key of spaces is always found | never |
//! | `depth_zero_sees_nothing` | at depth 0 nothing at all is scanned | no messages; card texts, notes and recursion are |
//! | `score_counts_blank_and_untrimmed_keys` | scores neither trim nor skip empty keys | they count what activation finds |
//! | `delay_levels_run_without_recursion` | second levels run with recursion off | no levels without recursion |
//! | `disabled_entries_set_delay_levels` | disabled entries make levels | they make none |
//! | `min_activations_depth_overshoots_by_one` | one past the maximum, one past the chat | up to it |
//! | `min_activations_pass_ignores_recursion_text` | a widening pass does not see recursion text | it does |
//! | `min_activations_pass_is_followed_by_recursion` | always, if there is recursion text | only after something new |
//! | `group_remove_twice` | a second removal takes the last candidate along | it does nothing |
//! | `group_removed_member_still_counts` | a removed member may win another group | it is out |
//! | `group_active_compares_whole_string` | "a, b" is not "a" | each name counts |
//! | `group_drops_sticky_entry_on_cooldown` | it pushes out the others, then goes | it stays |
//! | `zero_percent_passes_on_roll_zero` | roll <= percent | roll < percent |
//! | `exact_budget_overflows` | reaching the budget is too much | exceeding it is |
//! | `overflow_ends_the_scan` | an entry that does not fit excludes later ones | entries that fit are kept, passes go on |
//! | `ignore_budget_text_counts_against_neighbours` | it counts in its pass | it counts nowhere |
//! | `over_budget_text_still_recurses` | in later delay levels | what did not fit wakes nobody |
//! | `prevent_recursion_text_not_budgeted` | forgotten in later passes | counted |
//! | `stale_timed_effect_kept` | a changed entry's effect blocks a new one | it is dropped |
//! | `decorator_needs_exact_line` | a trailing space or CR disarms it | it does not |
//! | `decorator_only_text_is_kept` | a text of decorators alone is sent | nothing is |
//! | `tokens_counted_on_joined_text` | the pass's text is counted as one | entry by entry |
//! | `external_goes_first` | before all but sticky ones | in its place |
//! | `external_repeats_failed_roll` | rolled again in each pass | once |
//! | `example_top_is_descending` | highest order first | as everywhere: last |
//! | `outlets_are_descending` | highest order first | as everywhere: last |
//! | spaces around a group's name | are part of it | are not |
//!
//! Decisions the sources leave open: `reverse_depth` counts from the chat's start (the V3 text that it is to be ignored in chats
//! looks like an error); the `instruct_*` decorators are for text without turns, so here their fallbacks are tried;
//! `use_regex` in an entry that SillyTavern wrote says nothing, for it writes it everywhere; a book's
//! `recursive_scanning` decides for its own texts, the setting where it is silent; stated priorities are kept among the entries
//! of one book; decorators stand at the start of a text, blank lines between them included; hidden keys (MC-07) feed
//! recursion and nothing else, and an entry that holds nothing else still does so.

mod budget;
pub mod cases;
mod chance;
mod check;
mod decorators;
mod fold;
mod groups;
mod input;
mod key_regex;
mod keys;
mod literals;
mod outcome;
mod placement;
mod prepare;
mod scan;
mod settings;
mod text;
mod timed;

pub use chance::Chance;
pub use input::{CardTexts, Earlier, GenerationKind, LoreCharacter, LoreInput, LoreMessage, Told, Written};
pub use outcome::{Activated, Found, LoreOutcome, Pass, PassKind, Reason, Rejected, Rule, UiPrompt};
pub use placement::{AtDepth, Place, Placements, placements};
pub use prepare::{Bindings, NamedBook, PreparedBooks};
pub use scan::activate;
pub use settings::{LoreSettings, Profile, Strategy};
pub use timed::{Effect, TimedState};
