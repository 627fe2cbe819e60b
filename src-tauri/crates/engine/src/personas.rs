//! Personas: whom the user plays.

use domain::PersonaId;
use domain::persona::Persona;
use uuid::Uuid;

use crate::Engine;
use crate::api::{self, Changed};
use crate::convert;
use crate::error::{Answer, bad_input};

impl Engine {
    pub async fn list_personas(&self) -> Answer<Vec<api::Persona>> {
        let personas = self.store().read(|store| store.personas().list()).await?;
        Ok(personas.into_iter().map(convert::persona).collect())
    }

    pub async fn save_persona(&self, persona: api::Persona) -> Answer<api::Persona> {
        let name = persona.name.trim().to_owned();
        if name.is_empty() {
            return Err(bad_input("A persona needs a name.", "Write the name the character should call you."));
        }
        let new = persona.id.is_empty();
        let id = if new { PersonaId(Uuid::now_v7()) } else { persona.id.parse()? };
        let saved = Persona { id, name, description: persona.description, instructions: persona.instructions };
        let row = saved.clone();
        self.store()
            .write(move |store| match new {
                true => store.personas_mut().insert(&row),
                false => store.personas_mut().update(&row),
            })
            .await?;
        self.events().changed(Changed::Personas, Some(id.to_string()));
        Ok(convert::persona(saved))
    }

    pub async fn delete_persona(&self, id: String) -> Answer<()> {
        let id = id.parse::<PersonaId>()?;
        let left = self.store().read(|store| store.personas().list()).await?;
        if left.iter().all(|persona| persona.id == id) {
            return Err(bad_input("This is the last persona.", "Change it, or add another one first."));
        }
        self.store().write(move |store| store.personas_mut().delete(id)).await?;
        self.events().changed(Changed::Personas, Some(id.to_string()));
        Ok(())
    }

    /// The persona of a chat: its own, else the default one, else the first.
    pub(crate) async fn persona_of(&self, chosen: Option<PersonaId>) -> Answer<Persona> {
        let default = self.settings().default_persona.as_deref().and_then(|id| id.parse().ok());
        let personas = self.store().read(|store| store.personas().list()).await?;
        let find = |id: Option<PersonaId>| personas.iter().find(|persona| Some(persona.id) == id);
        let found = find(chosen).or_else(|| find(default)).or_else(|| personas.first());
        Ok(found.cloned().unwrap_or_else(|| Persona {
            id: PersonaId(Uuid::nil()),
            name: "You".into(),
            description: String::new(),
            instructions: String::new(),
        }))
    }
}
