//! Personas: the characters that the user plays.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use domain::chat::Chat;
use domain::persona::{Persona, PersonaPlace};
use domain::{ChatId, PersonaId};
use store::{AssetHash, ReadTransaction, StoreError};
use uuid::Uuid;

use crate::api::{self, Changed, PersonaDraft};
use crate::base::error::{ApiResult, bad_input, not_found};
use crate::base::picture;
use crate::base::records::user_names::{self, unless_chosen};
use crate::base::records::{convert, persona_place};
use crate::library::personas::Personas;

impl Personas {
    pub(crate) async fn list_personas(&self) -> ApiResult<Vec<api::Persona>> {
        let read = self.base().store().read(|store| {
            Ok((
                store.personas().list()?,
                store.personas().pictures()?,
                store.bound_personas().all()?,
            ))
        });
        let (personas, pictures, bound) = read.await?;
        let shown = |persona: Persona| {
            let picture = pictures.get(&persona.id).copied();
            let characters = bound.get(&persona.id).map_or(&[][..], Vec::as_slice);
            convert::persona(persona, picture, characters)
        };
        Ok(personas.into_iter().map(shown).collect())
    }

    pub(crate) async fn save_persona(&self, persona: PersonaDraft) -> ApiResult<api::Persona> {
        let name = persona.name.trim().to_owned();
        if name.is_empty() {
            return Err(bad_input(
                "A persona needs a name.",
                "Write the name the character should call you.",
            ));
        }
        let new = persona.id.is_none();
        let id = persona.id.unwrap_or_else(|| PersonaId(Uuid::now_v7()));
        let PersonaDraft {
            description,
            instructions,
            place,
            ..
        } = persona;
        let saved = Persona {
            id,
            name,
            description,
            instructions,
            place: persona_place::stored(place)?,
        };
        let row = saved.clone();
        let default = self.default_persona();
        self.base()
            .store()
            .write(move |store| {
                let before = played_by_default(store, default)?;
                let named = before
                    .map(|id| store.personas().get(id))
                    .transpose()?
                    .flatten();
                if !new
                    && store
                        .personas()
                        .get(id)?
                        .is_some_and(|known| known.name != row.name)
                {
                    user_names::keep_of_persona(store, id, default)?;
                }
                (if new {
                    store.personas_mut().insert(&row)
                } else {
                    store.personas_mut().update(&row)
                })?;
                // Without a chosen default, the first persona by name is used, which may be another
                // one now.
                let anew = played_by_default(store, default)? != before;
                if !anew {
                    return Ok(());
                }
                named.map_or(Ok(()), |persona| {
                    user_names::keep_of_default(store, &persona.name)
                })?;
                crate::base::records::retraction::retract_recalled(store, None)
            })
            .await?;
        self.base()
            .events()
            .changed(Changed::Personas, Some(id.to_string()));
        self.shown_persona(saved).await
    }

    /// Sets or removes a persona's picture. It is re-encoded, so that no metadata of the file
    /// remains.
    pub(crate) async fn set_persona_picture(
        &self,
        id: PersonaId,
        data: Option<String>,
    ) -> ApiResult<api::Persona> {
        let bytes = data.map(|data| BASE64_STANDARD.decode(data)).transpose();
        let bytes =
            bytes.map_err(|_| bad_input("The picture is not base64.", "Send the file again."))?;
        self.set_persona_picture_bytes(id, bytes).await
    }

    pub(crate) async fn set_persona_picture_bytes(
        &self,
        id: PersonaId,
        bytes: Option<Vec<u8>>,
    ) -> ApiResult<api::Persona> {
        let picture = match bytes {
            Some(bytes) => Some(
                self.assets
                    .keep(picture::read(bytes).await?.png, "image/png")
                    .await?,
            ),
            None => None,
        };
        self.keep_persona_picture(id, picture).await
    }

    /// Gives a persona a stored picture, or none.
    ///
    /// # Errors
    /// `NotFound`.
    pub(crate) async fn keep_persona_picture(
        &self,
        id: PersonaId,
        picture: Option<AssetHash>,
    ) -> ApiResult<api::Persona> {
        let set = self.base().store().write(move |store| {
            store.personas_mut().set_picture(id, picture)?;
            store.personas().get(id)
        });
        let persona = set.await?.ok_or_else(|| not_found("persona"))?;
        self.base()
            .events()
            .changed(Changed::Personas, Some(id.to_string()));
        self.shown_persona(persona).await
    }

    pub(crate) async fn shown_persona(&self, persona: Persona) -> ApiResult<api::Persona> {
        let read = self
            .base()
            .store()
            .read(|store| Ok((store.personas().pictures()?, store.bound_personas().all()?)));
        let (pictures, bound) = read.await?;
        let picture = pictures.get(&persona.id).copied();
        let characters = bound.get(&persona.id).map_or(&[][..], Vec::as_slice);
        Ok(convert::persona(persona, picture, characters))
    }

    pub(crate) async fn delete_persona(&self, id: PersonaId) -> ApiResult<()> {
        let left = self
            .base()
            .store()
            .read(|store| store.personas().list())
            .await?;
        if left.iter().all(|persona| persona.id == id) {
            return Err(bad_input(
                "This is the last persona.",
                "Change it, or add another one first.",
            ));
        }
        let default = self.default_persona();
        let delete = self.base().store().write(move |store| {
            user_names::keep_of_persona(store, id, default)?;
            crate::base::records::retraction::retract_recalled(store, Some(id))?;
            if played_by_default(store, default)? == Some(id) {
                crate::base::records::retraction::retract_recalled(store, None)?;
            }
            store.personas_mut().delete(id)
        });
        delete.await?;
        self.base()
            .events()
            .changed(Changed::Personas, Some(id.to_string()));
        Ok(())
    }

    /// The persona of a chat: its own, or else the default, or else the first.
    pub(crate) async fn persona_of(&self, chosen: Option<PersonaId>) -> ApiResult<Persona> {
        let default = self.default_persona();
        Ok(self
            .base()
            .store()
            .read(move |store| chosen_or_default(store, chosen, default))
            .await?)
    }

    /// The user's persona in `chat`. An imported chat keeps its own user name until the user
    /// chooses a persona.
    pub(crate) async fn persona_in(&self, chat: &Chat) -> ApiResult<Persona> {
        let chat = chat.clone();
        let default = self.default_persona();
        Ok(self
            .base()
            .store()
            .read(move |store| of_chat(store, &chat, default))
            .await?)
    }

    /// The user's name in an imported chat without a persona.
    pub(crate) async fn name_kept_in(&self, chat: &Chat) -> ApiResult<Option<String>> {
        let chat = chat.clone();
        Ok(self
            .base()
            .store()
            .read(move |store| kept_name(store, &chat))
            .await?)
    }

    /// Keeps the user's name of an imported chat, so that pages no longer ask for a persona.
    ///
    /// # Errors
    /// `NotFound` for a chat that was not imported.
    pub(crate) async fn keep_chat_name(&self, chat: ChatId) -> ApiResult<()> {
        let id = self.chat_lookup.chat(chat).await?.id;
        self.base()
            .store()
            .write(move |store| store.foreign_mut().settle_name(id))
            .await?;
        self.base()
            .events()
            .changed(Changed::Messages, Some(id.to_string()));
        Ok(())
    }

    /// The default persona of the settings.
    pub(crate) fn default_persona(&self) -> Option<PersonaId> {
        self.config().app_settings.settings().default_persona
    }
}

/// A persona that is not stored yet, without a description.
pub(crate) fn new_persona(name: &str) -> PersonaDraft {
    PersonaDraft {
        id: None,
        name: name.to_owned(),
        description: String::new(),
        instructions: String::new(),
        place: api::PersonaPlace::default(),
    }
}

/// The user's persona in `chat`; see [`Personas::persona_in`].
pub(crate) fn of_chat(
    store: &ReadTransaction<'_>,
    chat: &Chat,
    default: Option<PersonaId>,
) -> Result<Persona, StoreError> {
    match kept_name(store, chat)? {
        Some(name) => Ok(without_description(name)),
        None => chosen_or_default(store, chat.persona, default),
    }
}

fn kept_name(store: &ReadTransaction<'_>, chat: &Chat) -> Result<Option<String>, StoreError> {
    if chat.persona.is_some() {
        return Ok(None);
    }
    let name = store
        .foreign()
        .chat(chat.id)?
        .map(|foreign| foreign.user_name);
    Ok(name.filter(|name| !name.trim().is_empty()))
}

fn chosen_or_default(
    store: &ReadTransaction<'_>,
    chosen: Option<PersonaId>,
    default: Option<PersonaId>,
) -> Result<Persona, StoreError> {
    let personas = store.personas().list()?;
    let found = find(&personas, chosen).or_else(|| unless_chosen(&personas, default));
    Ok(found
        .cloned()
        .unwrap_or_else(|| without_description("You".into())))
}

fn without_description(name: String) -> Persona {
    Persona {
        id: PersonaId(Uuid::nil()),
        name,
        description: String::new(),
        instructions: String::new(),
        place: PersonaPlace::default(),
    }
}

fn find(personas: &[Persona], id: Option<PersonaId>) -> Option<&Persona> {
    personas.iter().find(|persona| Some(persona.id) == id)
}

fn played_by_default(
    store: &ReadTransaction<'_>,
    default: Option<PersonaId>,
) -> Result<Option<PersonaId>, StoreError> {
    Ok(unless_chosen(&store.personas().list()?, default).map(|persona| persona.id))
}
