//! Reads the layers of settings of an owner, and resolves them.

use std::collections::BTreeMap;

use domain::chat::Chat;
use domain::model::ModelChoice;
use domain::settings::{
    ConfigValue, IgnoredValue, Layer, Layers, Owner, Resolved, Scope, SettingOrigin, resolve,
};
use domain::{CharacterId, ChatId};
use store::{Preset, ReadTransaction, StoreError};

use crate::api::TurnOptions;
use crate::base::error::{ApiResult, not_found};
use crate::settings::layers::SettingLayers;
use crate::settings::layers::edits::PRESET;
use crate::settings::layers::stack::{PresetValues, SettingsStack};
use crate::settings::prompts::{sampler_presets, templates};

/// Adds the values that the template suggests. The template is `named`, or else the one that the
/// layers choose.
pub(super) fn suggest(
    layers: &mut Layers,
    named: Option<&str>,
    own_templates: &[Preset],
) -> ApiResult<()> {
    let id = named.map_or_else(|| resolve(layers).values.template, str::to_owned);
    let (template, _) = templates::template_among(own_templates, &id)?;
    layers.put(
        SettingOrigin::Template,
        Layer::of_template(template.suggested()),
    );
    Ok(())
}

/// Stored settings of `owner`. A model of an endpoint inherits the endpoint's settings and can
/// override them.
pub(super) fn of_owner(
    store: &ReadTransaction<'_>,
    owner: Owner,
) -> Result<BTreeMap<String, String>, StoreError> {
    let own = store.scoped_settings().of(owner)?;
    let Owner::Model(ModelChoice::Remote(id)) = owner else {
        return Ok(own);
    };
    match store.endpoint_models().resolve(id)? {
        Some(endpoint) if endpoint.id != id => {
            let mut all = store
                .scoped_settings()
                .of(Owner::Model(ModelChoice::Remote(endpoint.id)))?;
            all.extend(own);
            Ok(all)
        }
        _ => Ok(own),
    }
}

pub(super) fn owners(
    chat: Option<ChatId>,
    character: Option<CharacterId>,
    model: Option<ModelChoice>,
) -> Vec<Owner> {
    let own = [
        model.map(Owner::Model),
        character.map(Owner::Character),
        chat.map(Owner::Chat),
    ];
    std::iter::once(Owner::Global)
        .chain(own.into_iter().flatten())
        .collect()
}

impl SettingLayers {
    /// The settings of a turn in `chat` with `model`.
    ///
    /// `template` is the turn's own template, if it has one.
    pub(crate) async fn resolved(
        &self,
        chat: &Chat,
        model: Option<ModelChoice>,
        template: Option<&str>,
    ) -> ApiResult<Resolved> {
        let stack = self
            .read_stack(owners(Some(chat.id), Some(chat.character), model), template)
            .await?;
        Ok(resolve(&stack.layers))
    }

    /// The settings as they apply to `owner`.
    pub(crate) async fn resolved_for(&self, owner: Owner) -> ApiResult<Resolved> {
        Ok(resolve(&self.stack(owner).await?.layers))
    }

    /// The settings that apply before there is a chat.
    pub(crate) async fn resolved_before_chat(
        &self,
        character: Option<CharacterId>,
    ) -> ApiResult<Resolved> {
        Ok(resolve(
            &self
                .read_stack(owners(None, character, None), None)
                .await?
                .layers,
        ))
    }

    pub(super) async fn stack(&self, owner: Owner) -> ApiResult<SettingsStack> {
        let owners = match owner {
            Owner::Global => owners(None, None, None),
            Owner::Model(ModelChoice::Local(id)) => {
                self.model_lookup.local_model(id).await?;
                owners(None, None, Some(ModelChoice::Local(id)))
            }
            Owner::Model(ModelChoice::Remote(id)) => {
                self.endpoints.chosen_endpoint(id).await?;
                owners(None, None, Some(ModelChoice::Remote(id)))
            }
            Owner::Character(id) => {
                let known = self
                    .base()
                    .store()
                    .read(move |store| store.characters().get(id))
                    .await?;
                owners(
                    None,
                    Some(known.ok_or_else(|| not_found("character"))?.id),
                    None,
                )
            }
            Owner::Chat(id) => {
                let chat = self
                    .base()
                    .store()
                    .read(move |store| store.chats().get(id))
                    .await?;
                let chat = chat.ok_or_else(|| not_found("chat"))?;
                let model = self.choice(&chat, &TurnOptions::default()).await.ok();
                owners(Some(id), Some(chat.character), model)
            }
        };
        self.read_stack(owners, None).await
    }

    pub(super) async fn read_stack(
        &self,
        owners: Vec<Owner>,
        template: Option<&str>,
    ) -> ApiResult<SettingsStack> {
        let asked = owners.clone();
        let read = self.base().store().read(move |store| {
            let stored = asked
                .iter()
                .map(|owner| of_owner(store, *owner))
                .collect::<Result<Vec<_>, _>>()?;
            Ok((stored, templates::own_templates(store)?))
        });
        let (stored, own_templates) = read.await?;
        let mut layers = Layers::default();
        let mut problems = Vec::new();
        for (owner, stored) in owners.iter().zip(stored) {
            let pairs = stored
                .iter()
                .map(|(key, json)| (key.as_str(), json.as_str()));
            let (layer, found) = Layer::read(owner.scope(), pairs);
            problems.extend(
                found
                    .into_iter()
                    .map(|problem| (owner.scope().into(), problem)),
            );
            layers.put(owner.scope().into(), layer);
        }
        let environment = self.app_settings.environment();
        layers.put(SettingOrigin::Environment, environment.layer.clone());
        problems.extend(
            environment
                .problems
                .iter()
                .map(|problem| (SettingOrigin::Environment, problem.clone())),
        );
        let mut stack = SettingsStack {
            layers,
            problems,
            preset: None,
            owners,
        };
        self.fill_in(&mut stack).await?;
        suggest(&mut stack.layers, template, &own_templates)?;
        Ok(stack)
    }

    /// Adds the values of the chosen sampler preset to the layer that chose it, unless that layer
    /// sets them itself.
    pub(super) async fn fill_in(&self, stack: &mut SettingsStack) -> ApiResult<()> {
        let Some((origin, ConfigValue::Text(id))) = stack.layers.find(PRESET) else {
            return Ok(());
        };
        if id == "none" {
            return Ok(());
        }
        let Some(preset) = self.prompts.sampler_preset(id).await? else {
            let reason = format!("the sampler preset \"{id}\" no longer exists");
            stack.problems.push((
                origin,
                IgnoredValue {
                    key: PRESET,
                    reason,
                },
            ));
            return Ok(());
        };
        let scope = Scope::ALL
            .into_iter()
            .find(|scope| SettingOrigin::from(*scope) == origin);
        let mut layer = stack.layers.layer(origin).cloned().unwrap_or_default();
        let keys = layer.fill(&sampler_presets::layer(&preset), scope);
        stack.layers.put(origin, layer);
        stack.preset = Some(PresetValues {
            origin,
            keys,
            name: preset.name,
        });
        Ok(())
    }
}
