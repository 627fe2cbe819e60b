//! Generates the title of a chat in idle time, once there is something to name. A title by the user
//! always stays.

use std::ops::RangeInclusive;

use context::display;
use domain::ChatId;
use domain::chat::Role;
use domain::settings::ChatTitles;
use futures_util::StreamExt;
use provider::{FinishReason, GenerationEvent};
use tokio_util::sync::CancellationToken;

use crate::api::{Ask, Changed, TurnOptions};
use crate::base::error::ApiResult;
use crate::learn::handle::Learning;
use crate::turn::inputs::turn_inputs::ReplyTo;
use crate::turn::replies::passages::Passages;
use crate::turn::replies::prepared::PreparedTurn;

/// Numbers of user messages at which a title is tried. A greeting alone names nothing, and a model
/// that has failed three times will fail again.
const WHEN: RangeInclusive<usize> = 2..=4;

/// Number of recent messages among which the user's are counted.
const NEAR: u32 = 20;

/// Maximum length of a title, in characters and in words. Longer output is not a title and is
/// discarded.
const LONGEST: usize = 60;
const MOST_WORDS: usize = 10;

impl Learning {
    /// Generates a title in idle time, if it is due and the user has set none. After a failure the
    /// fallback stays.
    pub(crate) async fn title_in_idle(&self, chat: ChatId, options: &TurnOptions) {
        self.read(|leave| self.write_title(chat, options, leave))
            .await;
    }

    async fn write_title(
        &self,
        id: ChatId,
        options: &TurnOptions,
        leave: CancellationToken,
    ) -> ApiResult<()> {
        let chat = self.library().chat_lookup.chat(id).await?;
        let fallback = self
            .library()
            .characters
            .character(chat.character)
            .await?
            .name;
        if chat.title != fallback || !self.is_time_for_a_title(id).await? {
            return Ok(());
        }
        let options = TurnOptions {
            ask: Some(Ask::Title),
            ..options.clone()
        };
        let model_handle = self
            .config()
            .model_handles
            .model_handle(&chat, &options)
            .await?;
        let wanted = match model_handle.values.chat_titles {
            // Idle work on an endpoint costs money.
            ChatTitles::Auto => model_handle.is_local(),
            ChatTitles::On => true,
            ChatTitles::Off => false,
        };
        if !wanted {
            return Ok(());
        }
        let mut turn = self
            .turns()
            .assembly
            .collect(chat, ReplyTo::Last, &model_handle, &options)
            .await?;
        let made = self
            .turns()
            .assembly
            .make(&mut turn, &model_handle, &options)
            .await?;
        if made.assembled.new_epoch.is_some() {
            // The prompt would begin a new epoch, so the model would read all of it again. A title
            // is not worth that.
            return Ok(());
        }
        let mut passages = Passages::new("Title", made.opened());
        let prepared = PreparedTurn {
            model_handle,
            turn,
            made,
        };
        let mut stream = prepared
            .model_handle
            .provider
            .stream(prepared.request(&self.turns().generation).await?, leave);
        let mut words = String::new();
        while let Some(event) = stream.next().await {
            match event? {
                GenerationEvent::Text(text) => passages
                    .push(&text)
                    .iter()
                    .for_each(|part| part.add_to(&mut words)),
                // A partial title is useless.
                GenerationEvent::Finished {
                    reason: FinishReason::Cancelled,
                    ..
                } => return Ok(()),
                _ => {}
            }
        }
        self.library()
            .stale_caches
            .note_if_withdrawn(
                prepared.turn.inputs.snapshot.chat.id,
                prepared.turn.inputs.withdrawals,
            )
            .await?;
        passages
            .finish()
            .iter()
            .for_each(|part| part.add_to(&mut words));
        match clean(&words, &fallback) {
            Some(title) => self.keep_title(id, fallback, title).await,
            None => Ok(()),
        }
    }

    async fn is_time_for_a_title(&self, chat: ChatId) -> ApiResult<bool> {
        let near = self
            .base()
            .store()
            .read(move |store| store.messages().page(chat, None, NEAR))
            .await?;
        let said = near
            .iter()
            .filter(|message| message.role == Role::User)
            .count();
        Ok(near.len() < NEAR as usize && WHEN.contains(&said))
    }

    /// Stores the title, unless the user has named the chat meanwhile.
    async fn keep_title(&self, chat: ChatId, fallback: String, title: String) -> ApiResult<()> {
        let kept = self.base().store().checkpoint(move |store| {
            let unnamed = store
                .chats()
                .get(chat)?
                .is_some_and(|row| row.title == fallback);
            if unnamed {
                store.chats_mut().set_title(chat, &title)?;
            }
            Ok(unnamed)
        });
        if kept.await? {
            self.base()
                .events()
                .changed(Changed::Chats, Some(chat.to_string()));
        }
        Ok(())
    }
}

/// Extracts a title from a model's output: its first line with text, without markup, quotes and
/// invisible characters. `None` if it is empty, equals the fallback, or is too long.
fn clean(written: &str, fallback: &str) -> Option<String> {
    let shown = display::display(written).map(|display| display.text);
    let shown = shown.as_deref().unwrap_or(written);
    let title = shown
        .lines()
        .map(line)
        .find(|line| line.chars().any(char::is_alphanumeric))?;
    let brief = title.chars().count() <= LONGEST && title.split_whitespace().count() <= MOST_WORDS;
    let says = title
        .chars()
        .filter(|letter| letter.is_alphabetic())
        .nth(1)
        .is_some();
    (brief && says && !title.eq_ignore_ascii_case(fallback)).then_some(title)
}

/// Removes tags, marks and quotes from a line, and joins blanks.
fn line(line: &str) -> String {
    let mut in_tag = false;
    let plain = line.chars().filter(|letter| {
        let tag = in_tag || *letter == '<';
        in_tag = tag && *letter != '>';
        !tag && !is_mark(*letter)
    });
    let plain: String = plain
        .map(|letter| if letter.is_control() { ' ' } else { letter })
        .collect();
    let words = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    let label = words
        .split_once(':')
        .filter(|(label, _)| label.eq_ignore_ascii_case("title"));
    let words = label.map_or(words.as_str(), |(_, rest)| rest);
    let edge = |letter: char| letter.is_whitespace() || ".,:;-–—'’‘".contains(letter);
    words.trim_matches(edge).to_owned()
}

/// Markup, quotes, brackets, and characters that reorder or hide text.
fn is_mark(letter: char) -> bool {
    "*_#`~|[]{}\\\"“”„«»「」『』".contains(letter)
        || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(written: &str) -> Option<String> {
        clean(written, "Mira")
    }

    #[test]
    fn a_title_is_one_plain_line() {
        for (written, title) in [
            ("The Lamp on the Quay", "The Lamp on the Quay"),
            (
                "\n\n  \"The Lamp  on the Quay.\"\nAnd a second line",
                "The Lamp on the Quay",
            ),
            ("**Title:** Soup and Stories", "Soup and Stories"),
            (
                "# Fog\u{202e} <b>at</b> Midnight <script>x</script>",
                "Fog at Midnight x",
            ),
            ("<think>Hm, a name.</think>「灯台の夜」", "灯台の夜"),
            ("Don't Look Back", "Don't Look Back"),
        ] {
            assert_eq!(check(written).as_deref(), Some(title), "{written}");
        }
    }

    #[test]
    fn meaningless_output_keeps_the_fallback() {
        for silly in [
            "",
            " \n ",
            "\"\"",
            "...",
            "42",
            "A",
            "mira",
            "*Mira*",
            "<img src=x",
            "\u{200b}\u{200b}",
        ] {
            assert_eq!(check(silly), None, "{silly}");
        }
    }

    #[test]
    fn long_output_is_not_a_title() {
        assert_eq!(
            check("In Other Worlds: You are an important character who is very kind"),
            None
        );
        assert_eq!(check("A man and a dog and a cat go to sea"), None);
        assert_eq!(check(&"x".repeat(LONGEST + 1)), None);
        assert!(check(&"灯".repeat(LONGEST)).is_some());
    }

    proptest! {
        #[test]
        fn any_output_gives_a_short_plain_title(written in "(?s).{0,200}") {
            if let Some(title) = check(&written) {
                prop_assert!(title.chars().count() <= LONGEST);
                prop_assert!(!title.contains(['\n', '"', '<', '*']) && title.trim() == title);
            }
        }
    }
}
