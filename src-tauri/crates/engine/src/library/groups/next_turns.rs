//! The next speakers of a group scene, and the rows that a scene is made of.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use domain::chat::{Chat, GroupSettings, MemberState, Speaker};
use domain::{ChatId, MessageId};
use store::{Character, ReadTransaction, StoreError};

use crate::base::error::{ApiResult, bad_input};
use crate::library::characters::card_rows::CardRows;
use crate::library::groups::Groups;
use crate::library::groups::scene::{Member, NextSpeaker, Scene, distinct};
use crate::library::groups::turn_order::SpokenLine;

/// The default template of a group scene.
pub(crate) const TEMPLATE: &str = "group-scene";

/// Maximum number of characters besides the chat's own.
pub(crate) const MAX_MEMBERS: usize = 20;

/// Number of messages in which the last speaker is searched.
pub(crate) const LOOK_BACK: u32 = 60;

/// The rows of a group scene.
pub(crate) struct GroupRows {
    members: Vec<MemberRow>,
    /// Messages of other chats that any member missed.
    elsewhere: HashSet<MessageId>,
    speakers: HashMap<MessageId, Speaker>,
    settings: GroupSettings,
    missed_by_only: Option<HashMap<MessageId, ChatId>>,
}

struct MemberRow {
    character: Character,
    state: MemberState,
    missed: HashSet<MessageId>,
    missed_here: bool,
}

impl GroupRows {
    pub(crate) fn read(store: &ReadTransaction<'_>, chat: &Chat) -> Result<Self, StoreError> {
        let groups = store.groups();
        let id = chat.id;
        let ids = groups.members(id)?;
        let own = Some(chat.character).filter(|_| !ids.is_empty());
        let missed_by_only = ids
            .is_empty()
            .then(|| groups.missed_by(chat.character))
            .transpose()?;
        let states = groups.states(id)?;
        let absentees = groups.absentees(id)?;
        let mut members = Vec::new();
        let mut elsewhere = HashSet::new();
        for member in own.into_iter().chain(ids) {
            let Some(character) = store.characters().get(member)? else {
                continue;
            };
            let missed = groups.missed_by(member)?;
            elsewhere.extend(
                missed
                    .iter()
                    .filter(|(_, chat)| **chat != id)
                    .map(|(message, _)| *message),
            );
            let missed = missed.into_keys().collect::<HashSet<_>>();
            let state = states.get(&member).copied().unwrap_or_default();
            members.push(MemberRow {
                character,
                state,
                missed,
                missed_here: absentees.contains_key(&member),
            });
        }
        let speakers = groups.speakers(id)?;
        let settings = groups.settings(id)?;
        Ok(Self {
            members,
            elsewhere,
            speakers,
            settings,
            missed_by_only,
        })
    }
}

impl Groups {
    /// Loads the members and speakers of `chat`.
    pub(crate) async fn group(&self, chat: &Chat) -> ApiResult<Scene> {
        let row = chat.clone();
        let read = self
            .base()
            .store()
            .read(move |store| Ok((GroupRows::read(store, &row)?, CardRows::read(store, &row)?)));
        let (rows, card) = read.await?;
        self.scene(chat, rows, card)
    }

    /// The scene of the rows. `own` is the card of the chat's own character.
    pub(crate) fn scene(&self, chat: &Chat, rows: GroupRows, own: CardRows) -> ApiResult<Scene> {
        let GroupRows {
            members: rows,
            elsewhere,
            speakers,
            settings,
            missed_by_only,
        } = rows;
        let mut members = Vec::with_capacity(rows.len());
        for MemberRow {
            character,
            state,
            missed,
            missed_here,
        } in rows
        {
            let id = character.id;
            let (card, card_hash) = if id == chat.character {
                let own = self.characters.card_of(own.clone())?;
                (own.card, own.hash)
            } else {
                self.characters.card(&character)?
            };
            let name = distinct(
                card.display_name(),
                members.iter().map(|member: &Member| member.name.as_str()),
            );
            members.push(Member {
                id,
                name,
                card,
                card_hash,
                state,
                missed: Arc::new(missed),
                missed_here,
            });
        }
        if members.len() < 2 {
            members.clear();
        }
        Ok(Scene {
            members,
            speakers,
            settings,
            missed_elsewhere: Arc::new(elsewhere),
            missed_by_only,
        })
    }

    /// All speakers who answer the newest message, one after the other. None if the user has to
    /// call upon one. `scene` is the scene of `chat`.
    pub(crate) async fn next_turns(
        &self,
        chat: &Chat,
        scene: &Scene,
    ) -> ApiResult<Vec<NextSpeaker>> {
        let messages = self.newest_lines(chat).await?;
        Ok(scene.all_next(
            messages
                .iter()
                .rev()
                .filter(|message| !message.hidden)
                .map(SpokenLine::from),
        ))
    }

    /// The speaker who goes on after the newest message without the user. `None` if everybody has
    /// had a turn.
    pub(crate) async fn following_turn(&self, chat: &Chat) -> ApiResult<Option<NextSpeaker>> {
        let group = self.group(chat).await?;
        let messages = self.newest_lines(chat).await?;
        let lines: Vec<_> = messages
            .iter()
            .rev()
            .filter(|message| !message.hidden)
            .map(SpokenLine::from)
            .collect();
        Ok(group.after(&lines))
    }

    /// The newest messages, oldest first.
    pub(crate) async fn newest_lines(&self, chat: &Chat) -> ApiResult<Vec<domain::chat::Message>> {
        let id = chat.id;
        Ok(self
            .base()
            .store()
            .read(move |store| store.messages().page(id, None, LOOK_BACK))
            .await?)
    }

    /// The turn of `speaker`, or of the narrator if it is `None`.
    ///
    /// # Errors
    /// `BadInput` if the character does not take part or is away, or if the chat is not a group
    /// scene.
    pub(crate) async fn turn_named(
        &self,
        chat: &Chat,
        speaker: Option<&str>,
    ) -> ApiResult<NextSpeaker> {
        let group = self.group(chat).await?;
        if !group.is_scene() {
            return Err(bad_input(
                "Only one character takes part.",
                "Add others in the chat's settings.",
            ));
        }
        let Some(speaker) = speaker else {
            return Ok(NextSpeaker::narrator());
        };
        let turn = group.turn_of(speaker.parse()?);
        let turn = turn.ok_or_else(|| {
            bad_input(
                "This character does not take part.",
                "Add it in the chat's settings.",
            )
        })?;
        match group.member(&turn) {
            Some(member) if member.state.away => {
                let name = &member.name;
                Err(bad_input(
                    format!("{name} is away."),
                    format!("Bring {name} back in the group panel first."),
                ))
            }
            _ => Ok(turn),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::groups::scene::named;
    use crate::library::groups::turn_order::tests::group;

    #[test]
    fn each_card_names_its_own_character() {
        assert_eq!(
            named("{{Char}} sails. <BOT> sings to {{user}}. İ{{CHAR}}", "Bo"),
            "Bo sails. Bo sings to {{user}}. İBo"
        );
    }

    #[test]
    fn members_of_one_name_get_numbers() {
        let mut names: Vec<String> = Vec::new();
        for name in ["Bo", "bo", "Ada", "Bo", "Bo (2)"] {
            let next = distinct(name, names.iter().map(String::as_str));
            names.push(next);
        }
        assert_eq!(names, ["Bo", "bo (2)", "Ada", "Bo (3)", "Bo (2) (2)"]);
    }

    #[test]
    fn every_name_of_a_scene_is_a_stop_string() {
        assert_eq!(
            group().stops("Tom"),
            ["\nAda:", "\nBo:", "\nMary Ann:", "\nNarrator:", "\nTom:"]
        );
        assert!(Scene::default().stops("Tom").is_empty());
    }
}
