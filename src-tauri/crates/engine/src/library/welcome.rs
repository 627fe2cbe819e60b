//! The work of the first start: adds the sample characters, a persona and a first chat.

use domain::PersonaId;
use domain::card::Card;
use domain::persona::{Persona, PersonaPlace};
use uuid::Uuid;

use crate::base::error::ApiResult;
use crate::base::picture::PngPicture;
use crate::library::handle::Library;
use crate::settings::app_settings::WELCOMED;

/// A sample character that ships with the app: its card, and its picture as PNG.
struct Sample {
    card: &'static str,
    picture: &'static [u8],
}

macro_rules! sample {
    ($name:literal) => {
        Sample {
            card: include_str!(concat!(
                "../../../../../presets/characters/",
                $name,
                ".json"
            )),
            picture: include_bytes!(concat!("../../../../../presets/characters/", $name, ".png")),
        }
    };
}

/// The host comes first: it greets at the first start.
static SAMPLES: [Sample; 3] = [sample!("mira"), sample!("otto-finch"), sample!("sorrel")];

impl Library {
    /// Adds the sample characters, a persona, and a chat with the greeting of the first character.
    /// The next start completes an interrupted welcome.
    pub(crate) async fn welcome(&self) -> ApiResult<()> {
        let (welcomed, personas, known) = self
            .base()
            .store()
            .read(|store| {
                Ok((
                    store.settings().get(WELCOMED)?,
                    store.personas().list()?,
                    store.characters().list()?,
                ))
            })
            .await?;
        if welcomed.is_some() {
            return Ok(());
        }
        if personas.is_empty() {
            let persona = Persona {
                id: PersonaId(Uuid::now_v7()),
                name: "Traveller".into(),
                description: String::new(),
                instructions: String::new(),
                place: PersonaPlace::default(),
            };
            self.base()
                .store()
                .write(move |store| store.personas_mut().insert(&persona))
                .await?;
        }
        let mut host = None;
        for sample in &SAMPLES {
            let (card, _) = Card::from_json(sample.card.as_bytes())?;
            let known = known
                .iter()
                .find(|listed| listed.character.name == card.name());
            let id = match known {
                Some(known) => known.character.id,
                None => {
                    self.characters
                        .add_character(
                            &card,
                            Some(PngPicture {
                                png: sample.picture.to_vec(),
                            }),
                            None,
                        )
                        .await?
                        .id
                }
            };
            host.get_or_insert(id);
        }
        if let Some(host) = host.filter(|_| known.iter().all(|listed| listed.chats == 0)) {
            self.chats.start_chat(host).await?;
        }
        Ok(self
            .base()
            .store()
            .write(|store| store.settings_mut().set(WELCOMED, "true"))
            .await?)
    }
}
