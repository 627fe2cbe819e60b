//! Finds what a name in a command means: a persona, a mode, a model, a template.

use domain::PersonaId;
use domain::chat::Chat;
use domain::slash::{CommandInfo, similar};

use crate::api::{CommandRefusal, ModelRef, RefusalCode};
use crate::base::error::ApiResult;
use crate::turn::slash::Slash;
use crate::turn::slash::halt::{Halt, refused};

/// The word for the app's default model or template.
pub(crate) const DEFAULT: &str = "default";

/// Maximum number of names that a refusal lists.
const LISTED: usize = 30;

/// The only item with this name, or else the only one whose name begins with it; case is ignored.
pub(crate) fn choose<T>(
    info: &CommandInfo,
    wanted: &str,
    items: Vec<(String, T)>,
) -> Result<(String, T), Halt> {
    let folded = wanted.to_lowercase();
    let places = |fits: &dyn Fn(&str) -> bool| -> Vec<usize> {
        (0..items.len())
            .filter(|at| fits(&items[*at].0.to_lowercase()))
            .collect()
    };
    let mut found = places(&|name| name == folded);
    if found.is_empty() {
        found = places(&|name| name.starts_with(&folded));
    }
    let names = || items.iter().map(|(name, _)| name.as_str());
    match found.as_slice() {
        [] => {
            let near: Vec<String> = similar(wanted, names())
                .into_iter()
                .map(str::to_owned)
                .collect();
            Err(with_names(
                not_one(RefusalCode::UnknownName, info, wanted, near),
                names(),
            ))
        }
        [one] => items
            .into_iter()
            .nth(*one)
            .ok_or_else(|| unnamed(info, wanted)),
        several => {
            let near = several.iter().map(|at| items[*at].0.clone()).collect();
            Err(not_one(RefusalCode::AmbiguousName, info, wanted, near))
        }
    }
}

fn unnamed(info: &CommandInfo, wanted: &str) -> Halt {
    refused(
        RefusalCode::UnknownName,
        info.name,
        wanted,
        format!("Nothing is named \"{wanted}\"."),
    )
}

fn not_one(code: RefusalCode, info: &CommandInfo, wanted: &str, near: Vec<String>) -> Halt {
    let listed = near.join(", ");
    let message = match (code, near.is_empty()) {
        (RefusalCode::AmbiguousName, _) => {
            format!("\"{wanted}\" may mean several: {listed}. Write the whole name.")
        }
        (_, true) => format!("Nothing is named \"{wanted}\"."),
        (_, false) => format!("Nothing is named \"{wanted}\". Did you mean {listed}?"),
    };
    let command = info.name.to_owned();
    let value = wanted.to_owned();
    Halt::Refused(CommandRefusal {
        code,
        command,
        value,
        near,
        message,
    })
}

/// Names what there is in a refusal that suggests nothing.
fn with_names<'n>(halt: Halt, names: impl Iterator<Item = &'n str>) -> Halt {
    match halt {
        Halt::Refused(mut refusal) if refusal.near.is_empty() => {
            refusal.near = names.take(LISTED).map(str::to_owned).collect();
            refusal.message = format!(
                "{} The names are: {}.",
                refusal.message,
                refusal.near.join(", ")
            );
            Halt::Refused(refusal)
        }
        other => other,
    }
}

impl Slash {
    pub(crate) async fn mode_names(&self) -> ApiResult<Vec<String>> {
        Ok(self
            .config()
            .prompts
            .list_modes()
            .await?
            .into_iter()
            .map(|mode| mode.name)
            .collect())
    }

    /// Personas by name, with their ids.
    pub(crate) async fn persona_names(&self) -> ApiResult<Vec<(String, PersonaId)>> {
        Ok(self
            .library()
            .personas
            .list_personas()
            .await?
            .into_iter()
            .map(|one| (one.name, one.id))
            .collect())
    }

    /// The default, local models by name, and endpoints by name, with their models as
    /// `endpoint/model`.
    pub(crate) async fn model_names(&self) -> ApiResult<Vec<(String, Option<ModelRef>)>> {
        let (local, endpoints) = tokio::try_join!(
            self.config().models.list_models(),
            self.config().endpoints.list_endpoints()
        )?;
        let mut names = vec![(DEFAULT.to_owned(), None)];
        names.extend(
            local
                .into_iter()
                .map(|model| (model.name, Some(ModelRef::Local { id: model.id }))),
        );
        for endpoint in endpoints {
            let of_model = |name: &str| format!("{}/{name}", endpoint.name);
            names.extend(endpoint.models.iter().map(|model| {
                (
                    of_model(&model.name),
                    Some(ModelRef::Remote {
                        id: model.id.clone(),
                    }),
                )
            }));
            names.push((
                endpoint.name,
                Some(ModelRef::Remote {
                    id: endpoint.id.to_string(),
                }),
            ));
        }
        Ok(names)
    }

    /// Templates of chats by name, with their ids. Utility templates are left out.
    pub(crate) async fn template_names(&self) -> ApiResult<Vec<(String, String)>> {
        let all = self.config().prompts.list_templates().await?;
        let chats = all
            .into_iter()
            .filter(|template| template.kind == crate::api::TemplateKind::Roleplay);
        let default = [(DEFAULT.to_owned(), "auto".to_owned())];
        Ok(default
            .into_iter()
            .chain(chats.map(|template| (template.name, template.id)))
            .collect())
    }

    /// The name of the model that replies in `chat`.
    pub(crate) async fn chosen_model(&self, chat: &Chat) -> ApiResult<String> {
        let Some(choice) = chat.model else {
            return Ok(DEFAULT.to_owned());
        };
        let wanted = Some(crate::base::records::convert::model_ref(choice));
        let found = self
            .model_names()
            .await?
            .into_iter()
            .find(|(_, model)| *model == wanted);
        Ok(found.map_or_else(|| DEFAULT.to_owned(), |(name, _)| name))
    }
}

#[cfg(test)]
mod tests {
    use domain::slash::command;

    use super::*;

    fn chosen(wanted: &str) -> Result<u32, (RefusalCode, Vec<String>)> {
        let items = [
            ("Ann", 1),
            ("Mary Ann", 2),
            ("Annika", 3),
            ("Bo", 4),
            ("bo", 5),
        ];
        let items = items.map(|(name, id)| (name.to_owned(), id)).into();
        match choose(command("persona").unwrap(), wanted, items) {
            Ok((_, id)) => Ok(id),
            Err(Halt::Refused(refusal)) => Err((refusal.code, refusal.near)),
            Err(Halt::Failed(error)) => panic!("{error:?}"),
        }
    }

    #[test]
    fn names_are_found_or_suggested() {
        assert_eq!(
            chosen("ann"),
            Ok(1),
            "a whole name precedes the start of another"
        );
        assert_eq!(chosen("mary"), Ok(2));
        assert_eq!(
            chosen("an").unwrap_err(),
            (
                RefusalCode::AmbiguousName,
                vec!["Ann".into(), "Annika".into()]
            )
        );
        assert_eq!(chosen("BO").unwrap_err().0, RefusalCode::AmbiguousName);
        assert_eq!(
            chosen("Anikka").unwrap_err(),
            (RefusalCode::UnknownName, vec!["Annika".into()])
        );
        assert_eq!(
            chosen("Zebedee").unwrap_err(),
            (
                RefusalCode::UnknownName,
                ["Ann", "Mary Ann", "Annika", "Bo", "bo"]
                    .map(str::to_owned)
                    .into()
            )
        );
    }
}
