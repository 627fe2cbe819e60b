//! The story that a chat tells: its scene, its setting, and the episodes that are planned for it (S4.22, S4.23).

use std::sync::LazyLock;

use context::display::{EPISODE_END, display};
use context::prompt_template::Given;
use domain::ChatId;
use domain::chat::Chat;
use domain::settings::{Owner, Value, Values};
use serde::Deserialize;
use store::{StoreError, Write};

use crate::Engine;
use crate::error::Answer;
use crate::words;

/// Stands in place of a scene or a setting that is to be drawn.
const RANDOM: &str = "random";

/// Episodes of a plan, and stages of an episode, that are read.
const MAX_EPISODES: usize = 500;
const MAX_STAGES: usize = 50;

/// What is drawn from.
#[derive(Debug, Default, Deserialize)]
struct Places {
    scenes: Vec<String>,
    settings: Vec<String>,
}

static PLACES: LazyLock<Places> =
    LazyLock::new(|| serde_json::from_str(include_str!("../../../../presets/stories/places.json")).unwrap_or_default());

/// The story as one turn tells it.
#[derive(Debug, Default)]
pub(crate) struct Story {
    scene: String,
    setting: String,
    episodes: Vec<Episode>,
    /// Index of the one that is on; behind the last one, all are over.
    now: usize,
    drawn: Vec<(&'static str, String)>,
}

/// An episode that is planned.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Episode {
    theme: String,
    stages: Vec<String>,
}

impl Story {
    /// What was drawn for this turn and is not kept yet: keys of settings with their values.
    pub(crate) fn drawn(&self) -> &[(&'static str, String)] {
        &self.drawn
    }

    /// Adds what templates are told of it.
    pub(crate) fn tell(&self, given: Given) -> Given {
        let now = self.episodes.get(self.now);
        let themes = |episodes: &[Episode]| episodes.iter().map(|one| one.theme.clone()).collect::<Vec<_>>();
        given
            .text("scene", &self.scene)
            .text("setting", &self.setting)
            .list("episodes", themes(&self.episodes))
            .text("episode.theme", now.map_or("", |episode| &episode.theme))
            .list("episode.stages", now.map_or_else(Vec::new, |episode| episode.stages.clone()))
            .text("episode.summary", themes(&self.episodes[..self.now.min(self.episodes.len())]).join("; "))
    }
}

impl Engine {
    /// The story of `chat` for the turn that answers the message at `position`.
    pub(crate) async fn story(&self, chat: &Chat, values: &Values, position: i64) -> Answer<Story> {
        let seed = words::seed(chat.id, None);
        let mut drawn = Vec::new();
        let mut choose = |key, written: &str| {
            let Some(place) = draw(key, written, seed) else { return written.to_owned() };
            drawn.push((key, place.to_owned()));
            place.to_owned()
        };
        let (scene, setting) = (choose("scene", &values.scene), choose("setting", &values.setting));
        let episodes = plan(&values.episodes);
        let now = match values.episode {
            _ if episodes.is_empty() => 0,
            Some(number) => number.saturating_sub(1) as usize,
            None => self.episodes_over(chat.id, position).await?,
        };
        Ok(Story { scene, setting, episodes, now, drawn })
    }

    /// How many replies up to `position` have ended an episode. The transcript alone tells: what is deleted, edited or written
    /// anew takes its episode back.
    async fn episodes_over(&self, chat: ChatId, position: i64) -> Answer<usize> {
        let texts = self.store().read(move |store| store.messages().containing(chat, EPISODE_END, position)).await?;
        // The mark may stand among a model's thoughts.
        Ok(texts.iter().filter(|text| display(text).is_some_and(|shown| shown.ends_episode)).count())
    }
}

/// Keeps what was drawn as the chat's own settings, so that it never changes by itself.
pub(crate) fn keep(store: &mut Write<'_>, chat: ChatId, drawn: &[(&'static str, String)]) -> Result<(), StoreError> {
    for (key, place) in drawn {
        store.scoped_settings_mut().set(
            Owner::Chat(chat),
            key,
            &serde_json::Value::from(place.as_str()).to_string(),
        )?;
    }
    Ok(())
}

/// `value`, or what is drawn in its place where a chat itself is told to draw: each time anew.
pub(crate) fn drawn_now(owner: Owner, key: &str, value: Value) -> Value {
    let (Owner::Chat(_), Value::Text(written)) = (owner, &value) else { return value };
    match draw(key, written, crate::seed().into()) {
        Some(place) => Value::Text(place.into()),
        None => value,
    }
}

/// A place for `key`, if it holds places and `written` asks to draw one.
fn draw(key: &str, written: &str, seed: u64) -> Option<&'static str> {
    let places = match key {
        "scene" => &PLACES.scenes,
        "setting" => &PLACES.settings,
        _ => return None,
    };
    let asked = written.trim().eq_ignore_ascii_case(RANDOM) && !places.is_empty();
    asked.then(|| places[(seed % places.len() as u64) as usize].as_str())
}

/// The episodes of a plan, one a line.
fn plan(text: &str) -> Vec<Episode> {
    text.lines().filter_map(episode).take(MAX_EPISODES).collect()
}

fn episode(line: &str) -> Option<Episode> {
    let (theme, stages) = line.split_once(':').unwrap_or((line, ""));
    let stages = stages.split(';').map(str::trim).filter(|stage| !stage.is_empty());
    let theme = theme.trim().trim_end_matches('.').to_owned();
    (!theme.is_empty()).then(|| Episode { theme, stages: stages.take(MAX_STAGES).map(str::to_owned).collect() })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_plan_has_an_episode_a_line() {
        let read: Vec<_> = plan("The storm: clouds; rain;\n\n  : lost\nThe calm.\n")
            .into_iter()
            .map(|one| (one.theme, one.stages))
            .collect();
        let stages = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
        assert_eq!(read, [("The storm".to_owned(), stages(&["clouds", "rain"])), ("The calm".to_owned(), stages(&[]))]);
    }

    #[test]
    fn there_is_something_to_draw_from() {
        for places in [&PLACES.scenes, &PLACES.settings] {
            let different: BTreeSet<_> = places.iter().collect();
            assert!(different.len() == places.len() && places.len() >= 20, "{}", places.len());
            assert!(places.iter().all(|place| place.trim() == place && !place.is_empty()));
        }
        assert_eq!(draw("scene", " Random ", 3), Some(PLACES.scenes[3].as_str()));
        assert_eq!(draw("scene", "on the pier", 3), None);
        assert_eq!(draw("reminder", RANDOM, 3), None);
    }
}
