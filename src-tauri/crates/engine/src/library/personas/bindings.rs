//! Personas bound to characters. A new chat begins with the persona of its character, else with the
//! default.

use domain::persona::Persona;
use domain::{CharacterId, PersonaId};

use crate::api::Changed;
use crate::base::error::{ApiResult, not_found};
use crate::library::personas::Personas;

impl Personas {
    /// Sets the persona with which new chats with a character begin; without one, the default
    /// applies again. Chats that exist keep theirs.
    ///
    /// # Errors
    /// `NotFound` if the character or the persona does not exist.
    pub(crate) async fn bind_persona(
        &self,
        character: CharacterId,
        persona: Option<PersonaId>,
    ) -> ApiResult<()> {
        let character = self.characters.character(character).await?.id;
        if let Some(id) = persona {
            let known = self
                .base()
                .store()
                .read(move |store| store.personas().get(id))
                .await?;
            known.ok_or_else(|| not_found("persona"))?;
        }
        self.base()
            .store()
            .write(move |store| store.bound_personas_mut().set(character, persona))
            .await?;
        self.base()
            .events()
            .changed(Changed::Personas, persona.map(|id| id.to_string()));
        Ok(())
    }

    /// The persona of a new chat with `characters`: that of the first of them that has one, else
    /// the default.
    pub(crate) async fn persona_of_new_chat(
        &self,
        characters: &[CharacterId],
    ) -> ApiResult<Persona> {
        let characters = characters.to_vec();
        let bound = self.base().store().read(move |store| {
            for character in characters {
                if let Some(persona) = store.bound_personas().of(character)? {
                    return Ok(Some(persona));
                }
            }
            Ok(None)
        });
        self.persona_of(bound.await?).await
    }
}
