//! The story of a chat: its scene, its setting, and its planned episodes.

use context::display::{EPISODE_END, display};
use context::prompt_template::Given;
use domain::ChatId;
use domain::chat::Chat;
use domain::settings::{Owner, Values};
use store::{StoreError, WriteTransaction};

use crate::base::error::ApiResult;
use crate::library::snapshots::macro_scope;
use crate::settings::layers::random_places::draw;
use crate::turn::inputs::Inputs;

/// Maximum number of episodes in a plan, and of stages in an episode.
const MAX_EPISODES: usize = 500;
const MAX_STAGES: usize = 50;

/// The story in one turn.
#[derive(Debug, Default)]
pub(crate) struct Story {
    scene: String,
    setting: String,
    episodes: Vec<Episode>,
    /// Index of the current episode; the number of episodes if all are over.
    now: usize,
    drawn: Vec<(&'static str, String)>,
}

/// A planned episode.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Episode {
    theme: String,
    stages: Vec<String>,
}

impl Story {
    /// Random values of this turn that are not stored yet, by settings key.
    pub(crate) fn drawn(&self) -> &[(&'static str, String)] {
        &self.drawn
    }

    /// Adds the template variables of the story.
    pub(crate) fn tell(&self, given: Given) -> Given {
        let now = self.episodes.get(self.now);
        let themes = |episodes: &[Episode]| {
            episodes
                .iter()
                .map(|one| one.theme.clone())
                .collect::<Vec<_>>()
        };
        given
            .text("scene", &self.scene)
            .text("setting", &self.setting)
            .list("episodes", themes(&self.episodes))
            .text("episode.theme", now.map_or("", |episode| &episode.theme))
            .list(
                "episode.stages",
                now.map_or_else(Vec::new, |episode| episode.stages.clone()),
            )
            .text(
                "episode.summary",
                themes(&self.episodes[..self.now.min(self.episodes.len())]).join("; "),
            )
    }
}

impl Inputs {
    /// The story of `chat` for the turn that answers the message at `position`.
    pub(crate) async fn story(
        &self,
        chat: &Chat,
        values: &Values,
        position: i64,
    ) -> ApiResult<Story> {
        let seed = macro_scope::seed(chat.id, None);
        let mut drawn = Vec::new();
        let mut choose = |key, written: &str| {
            let Some(place) = draw(key, written, seed) else {
                return written.to_owned();
            };
            drawn.push((key, place.to_owned()));
            place.to_owned()
        };
        let scene = choose("scene", &values.scene);
        let setting = choose("setting", &values.setting);
        let episodes = plan(&values.episodes);
        let now = match values.episode {
            _ if episodes.is_empty() => 0,
            Some(number) => number.saturating_sub(1) as usize,
            None => self.episodes_over(chat.id, position).await?,
        };
        Ok(Story {
            scene,
            setting,
            episodes,
            now,
            drawn,
        })
    }

    /// Number of replies up to `position` that ended an episode. Only the stored messages decide,
    /// so that deleting or editing a reply also undoes its episode end.
    async fn episodes_over(&self, chat: ChatId, position: i64) -> ApiResult<usize> {
        let texts = self
            .base()
            .store()
            .read(move |store| store.messages().containing(chat, EPISODE_END, position))
            .await?;
        // The mark may be part of a model's thoughts, where it is ignored.
        Ok(texts
            .iter()
            .filter(|text| display(text).is_some_and(|shown| shown.ends_episode))
            .count())
    }
}

/// Stores the drawn values as settings of the chat, so that they do not change later.
pub(crate) fn keep(
    store: &mut WriteTransaction<'_>,
    chat: ChatId,
    drawn: &[(&'static str, String)],
) -> Result<(), StoreError> {
    for (key, place) in drawn {
        store.scoped_settings_mut().set(
            Owner::Chat(chat),
            key,
            &serde_json::Value::from(place.as_str()).to_string(),
        )?;
    }
    Ok(())
}

/// Parses the episodes of a plan, one per line.
fn plan(text: &str) -> Vec<Episode> {
    text.lines()
        .filter_map(episode)
        .take(MAX_EPISODES)
        .collect()
}

fn episode(line: &str) -> Option<Episode> {
    let (theme, stages) = line.split_once(':').unwrap_or((line, ""));
    let stages = stages
        .split(';')
        .map(str::trim)
        .filter(|stage| !stage.is_empty());
    let theme = theme.trim().trim_end_matches('.').to_owned();
    (!theme.is_empty()).then(|| Episode {
        theme,
        stages: stages.take(MAX_STAGES).map(str::to_owned).collect(),
    })
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn a_plan_has_one_episode_per_line() {
        let read: Vec<_> = plan("The storm: clouds; rain;\n\n  : lost\nThe calm.\n")
            .into_iter()
            .map(|one| (one.theme, one.stages))
            .collect();
        let stages = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
        assert_eq!(
            read,
            [
                ("The storm".to_owned(), stages(&["clouds", "rain"])),
                ("The calm".to_owned(), stages(&[]))
            ]
        );
    }
}
