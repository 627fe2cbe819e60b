//! New group chats.

use domain::CharacterId;
use domain::chat::{GroupSettings, Speaker, TurnOrder};
use store::NewMessage;

use crate::api::{self, Changed};
use crate::base::error::{ApiResult, bad_input};
use crate::library::chats::Chats;
use crate::library::groups::scene::distinct;

/// Maximum length of a title, in characters.
const MAX_TITLE: usize = 200;

impl Chats {
    /// Starts a chat with several characters. The first greets; of the others, those greet whose
    /// cards have greetings for groups only. Without a title, the names are the title.
    ///
    /// # Errors
    /// `BadInput` with fewer than two characters, or if one occurs twice; `NotFound`.
    pub(crate) async fn new_group(
        &self,
        title: String,
        characters: Vec<CharacterId>,
    ) -> ApiResult<api::Chat> {
        let Some((own, others)) = characters
            .split_first()
            .filter(|(_, others)| !others.is_empty())
        else {
            return Err(bad_input(
                "A group needs at least two characters.",
                "Choose more characters.",
            ));
        };
        self.groups.check_members(*own, others).await?;
        let persona = self.personas.persona_of_new_chat(&characters).await?;
        let members = self.names_in_group(&characters).await?;
        let (mut chat, first) = self.first_state_in_group(*own, &persona, &members).await?;
        let id = chat.id;
        let mut names = vec![chat.title.clone()];
        let mut greetings: Vec<(NewMessage, Option<Speaker>)> = vec![(first, None)];
        for (other, name) in others.iter().zip(members.iter().skip(1)) {
            let row = self.characters.character(*other).await?;
            names.push(row.name.clone());
            let (card, _) = self.characters.card(&row)?;
            if card
                .group_only_greetings()
                .iter()
                .any(|greeting| !greeting.trim().is_empty())
            {
                let (_, greeting) = self
                    .first_state_in_group(*other, &persona, &members)
                    .await?;
                let speaker = Speaker {
                    character: Some(*other),
                    name: name.clone(),
                };
                greetings.push((
                    NewMessage {
                        chat: id,
                        ..greeting
                    },
                    Some(speaker),
                ));
            }
        }
        let title = title.trim();
        chat.title = if title.is_empty() {
            names.join(", ")
        } else {
            title.to_owned()
        };
        chat.title = chat.title.chars().take(MAX_TITLE).collect();
        let others = others.to_vec();
        let write = self.base().store().write(move |store| {
            store.chats_mut().insert(&chat)?;
            store.groups_mut().set_members(id, &others)?;
            let settings = GroupSettings {
                order: TurnOrder::Natural,
                several_replies: true,
                ..GroupSettings::default()
            };
            store.groups_mut().set_settings(id, &settings)?;
            for (greeting, speaker) in greetings
                .iter()
                .filter(|(greeting, _)| !greeting.swipes.is_empty())
            {
                let message = store.messages_mut().append(greeting)?;
                if let Some(speaker) = speaker {
                    store.groups_mut().set_speaker(message.id, speaker)?;
                }
            }
            Ok(())
        });
        write.await?;
        self.base()
            .events()
            .changed(Changed::Chats, Some(id.to_string()));
        self.open_chat(id).await
    }

    /// The names of the members of a new group, the first one first.
    async fn names_in_group(&self, members: &[CharacterId]) -> ApiResult<Vec<String>> {
        let mut names: Vec<String> = Vec::with_capacity(members.len());
        for id in members {
            let (card, _) = self
                .characters
                .card(&self.characters.character(*id).await?)?;
            let name = distinct(card.display_name(), names.iter().map(String::as_str));
            names.push(name);
        }
        Ok(names)
    }
}
