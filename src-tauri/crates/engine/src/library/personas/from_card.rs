//! Converts a character to a persona, and a persona to a character.

use domain::card::Card;
use domain::persona::swap_names;
use domain::{CharacterId, PersonaId};

use crate::api;
use crate::api::PersonaDraft;
use crate::base::error::{ApiResult, not_found};
use crate::library::characters::cards::shown;
use crate::library::personas::Personas;
use crate::library::personas::persona::new_persona;

impl Personas {
    /// Adds a persona with the name, description, personality and picture of a character. The
    /// character stays.
    pub(crate) async fn persona_from_character(
        &self,
        character: CharacterId,
    ) -> ApiResult<api::Persona> {
        let character = self.characters.character(character).await?;
        let (card, _) = self.characters.card(&character)?;
        let about: Vec<&str> = [card.description(), card.personality()]
            .into_iter()
            .map(str::trim)
            .filter(|text| !text.is_empty())
            .collect();
        let description = swap_names(&about.join("\n\n"));
        let new = PersonaDraft {
            description,
            ..new_persona(card.display_name())
        };
        let saved = self.save_persona(new).await?;
        let id = saved.id;
        let picture = character.picture;
        if picture.is_none() {
            return Ok(saved);
        }
        self.keep_persona_picture(id, picture).await
    }

    /// Adds a character with the name, description and picture of a persona. The persona stays.
    pub(crate) async fn character_from_persona(&self, id: PersonaId) -> ApiResult<api::Character> {
        let read = self
            .base()
            .store()
            .read(move |store| Ok((store.personas().get(id)?, store.personas().pictures()?)));
        let (persona, pictures) = read.await?;
        let persona = persona.ok_or_else(|| not_found("persona"))?;
        let mut card = Card::new(&persona.name)?;
        card.set_description(&swap_names(&persona.description));
        card.set_creation_date(self.base().now());
        let mut character = self.characters.add_character(&card, None, None).await?;
        if let Some(picture) = pictures.get(&id) {
            character.picture = Some(*picture);
            let saved = character.clone();
            self.base()
                .store()
                .write(move |store| store.characters_mut().update(&saved))
                .await?;
            self.characters.library_changed();
        }
        shown(&character)
    }
}
