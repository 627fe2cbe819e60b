//! Desktop tests: the real window with the real worker and the real SmolLM2, controlled like a
//! user, without a network.
//!
//! Each test runs isolated (`isolated`). Screenshots are stored in `e2e` in the target folder.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a story that cannot go on has failed")]

mod desk;
mod display;
mod failure;
mod isolated;
mod memory;
mod processes;
mod stories;
mod window;

macro_rules! stories {
    ($($(#[doc = $doc:literal])* $name:ident: $story:path;)*) => {
        $(
            $(#[doc = $doc])*
            #[test]
            fn $name() {
                isolated::isolated(stringify!($name), $story);
            }
        )*
    };
}

stories! {
    /// Greeting, first message, figures, swipes.
    the_first_start_answers_offline: stories::first_light::answers_offline;
    /// Chat, swipes and imports survive a restart.
    everything_is_there_after_a_restart: stories::first_light::survives_a_restart;
    a_card_dropped_on_the_window_is_imported: stories::imports::by_drop;
    a_card_picked_in_the_dialog_is_imported: stories::imports::by_dialog;
    a_folder_of_sillytaverns_is_imported: stories::imports::from_sillytavern;
    refused_file_is_reported: stories::imports::refused;
    a_second_start_hands_over_its_files_and_leaves: stories::instances::second_start;
    closing_leaves_no_process_behind: stories::instances::closing;
    typed_text_survives_a_closed_window: stories::drafts::closed_at_once;
    window_restores_its_position: stories::instances::place;
    a_page_zooms_and_asks_before_a_link_opens: stories::reading::zoom_and_links;
    damaged_database_shows_a_dialog: stories::instances::damaged_database;
    a_killed_app_loses_no_message: stories::kills::app;
    a_killed_worker_costs_one_reply: stories::kills::worker;
    a_killed_page_comes_back_with_typed_text: stories::kills::page;
    /// A wrong passphrase, the right one, and `nook lock`.
    a_locked_app_shows_and_holds_no_chat: stories::locking::locked;
    page_cannot_escape: stories::walls::forbidden;
    a_page_that_reloads_joins_its_reply: stories::walls::reload;
    no_message_runs_or_fetches_anything: stories::payloads::inert;
    no_message_blanks_or_blocks_the_chat: stories::payloads::readable;
    start_and_memory_stay_near_an_empty_window: stories::costs::measured;
}
