//! Layered settings of prompts and replies: reads them, changes one, and applies overrides of the
//! environment.

use std::collections::BTreeMap;

use domain::chat::Chat;
use domain::model::ModelChoice;
use domain::settings::{
    ConfigValue, IgnoredValue, InvalidValue, Layer, Layers, Owner, Resolved, SETTINGS, Scope,
    Setting, SettingOrigin, ValueType, Values, resolve, setting,
};
use domain::{CharacterId, ChatId};
use store::{Preset, ReadTransaction, StoreError};

use crate::api::{
    ApiError, Changed, LayeredSettings, SettingChoice, SettingOwner, SettingValue, TurnOptions,
};
use crate::base::error::{ApiResult, bad_input, not_found};
use crate::base::records::convert;
use crate::settings::endpoints::dialect;
use crate::settings::environment::Environment;
use crate::settings::layers::stack::{PresetValues, SettingsStack};
use crate::settings::layers::{SettingEdits, SettingLayers, random_places, shown};
use crate::settings::prompts::{sampler_presets, templates};

/// The setting that names a sampler preset.
const PRESET: &str = "sampler_preset";

impl SettingEdits {
    /// The settings as they apply to `owner`: its own layer, those below it, and the environment.
    ///
    /// # Errors
    /// `NotFound` if the owner does not exist.
    pub(crate) async fn layered_settings(&self, owner: SettingOwner) -> ApiResult<LayeredSettings> {
        let owner = convert::owner(&owner)?;
        self.shown(owner).await
    }

    async fn shown(&self, owner: Owner) -> ApiResult<LayeredSettings> {
        let stack = self.setting_layers.stack(owner).await?;
        let dialect = match stack.model() {
            Some(ModelChoice::Remote(id)) => {
                let endpoint = self.endpoints.chosen_endpoint(id).await?;
                let learned = dialect::known(self.base().store(), &endpoint).await?;
                Some(dialect::at_address(&endpoint, learned))
            }
            Some(ModelChoice::Local(_)) | None => None,
        };
        Ok(shown::view(
            &stack,
            &self.prompts.choices().await?,
            dialect.as_ref(),
        ))
    }

    /// Sets one setting of one owner. `None` removes the value, so that the layer below applies.
    ///
    /// # Errors
    /// `BadInput` for an unknown key, an invalid value, or a value that contradicts others. The
    /// error then states the sum.
    pub(crate) async fn set_setting(
        &self,
        owner: SettingOwner,
        key: String,
        value: Option<SettingValue>,
    ) -> ApiResult<LayeredSettings> {
        let owner = convert::owner(&owner)?;
        let setting = settable(&key, owner)?;
        let value = value
            .map(|value| setting.kind.check(value.into()))
            .transpose();
        let value = value.map_err(|refusal| refused(setting, &refusal))?;
        let value = self.known_name(setting, value).await?;
        self.put_setting(owner, setting, value).await
    }

    /// Works like [`Self::set_setting`], with the value as users enter it: `off`, `4096`, `0.8`.
    ///
    /// # Errors
    /// The errors of [`Self::set_setting`].
    pub(crate) async fn set_setting_in_words(
        &self,
        owner: SettingOwner,
        key: String,
        text: String,
    ) -> ApiResult<LayeredSettings> {
        let owner = convert::owner(&owner)?;
        let setting = settable(&key, owner)?;
        let value = setting
            .kind
            .read(&text)
            .map_err(|refusal| refused(setting, &refusal))?;
        let value = self.known_name(setting, Some(value)).await?;
        self.put_setting(owner, setting, value).await
    }

    /// Replaces a title by the name that it stands for, for settings that hold the name of another
    /// object.
    ///
    /// # Errors
    /// `BadInput`, with all names, if nothing has that name.
    async fn known_name(
        &self,
        setting: &'static Setting,
        value: Option<ConfigValue>,
    ) -> ApiResult<Option<ConfigValue>> {
        let (ValueType::NameOr { word }, Some(ConfigValue::Text(name))) = (&setting.kind, &value)
        else {
            return Ok(value);
        };
        if &**name == *word || (&**name == "auto" && setting.key == "mode") {
            return Ok(value);
        }
        // A background can also be a picture of the card.
        if setting.key == "background" {
            return Ok(value);
        }
        let choices = self.prompts.choices().await?.of(setting.key);
        // The devices are unknown until a model was loaded.
        if choices.is_empty() && setting.key == "gpu_device" {
            return Ok(value);
        }
        // The built-in templates of jobs are not listed, because `auto` already means them.
        if setting.key.ends_with("_prompt")
            && self.prompts.template_library().await?.0.get(name).is_some()
        {
            return Ok(value);
        }
        let exact = choices
            .iter()
            .find(|choice| choice.name.as_str() == &**name);
        let like = |text: &str| text.to_lowercase() == name.to_lowercase();
        let alike = || {
            choices
                .iter()
                .find(|choice| like(&choice.name) || like(&choice.title))
        };
        match exact.or_else(alike) {
            Some(choice) => Ok(Some(ConfigValue::Text(choice.name.clone().into()))),
            None => Err(unknown_name(setting, word, name, &choices)),
        }
    }

    /// The notice for the user if the chosen sampler preset no longer exists. Its values then do
    /// not apply.
    pub(crate) async fn missing_preset(&self, values: &Values) -> ApiResult<Option<String>> {
        let id = &values.sampler_preset;
        if id == "none" || self.prompts.sampler_preset(id).await?.is_some() {
            return Ok(None);
        }
        Ok(Some(format!(
            "The sampler preset \"{id}\" no longer exists, so the other settings apply."
        )))
    }

    async fn put_setting(
        &self,
        owner: Owner,
        setting: &'static Setting,
        value: Option<ConfigValue>,
    ) -> ApiResult<LayeredSettings> {
        let value = value.map(|value| random_places::drawn_now(owner, setting.key, value));
        let mut stack = self.setting_layers.stack(owner).await?;
        let origin = SettingOrigin::from(owner.scope());
        let mut own = stack.layers.layer(origin).cloned().unwrap_or_default();
        own.set(setting, value.clone());
        stack.layers.put(origin, own);
        suggest(
            &mut stack.layers,
            None,
            &self.base().store().read(templates::own_templates).await?,
        )?;
        if value.is_some() {
            refuse_contradiction(setting, &resolve(&stack.layers))?;
        }
        let on = value == Some(ConfigValue::Switch(true));
        let json = value.and_then(|value| serde_json::to_string(&value).ok());
        if setting.key.starts_with("memory") {
            // Stop learning that started with the old settings.
            self.base().idle().stop();
        }
        let encoder = self.app_settings.encoder_model();
        self.base()
            .store()
            .write(move |store| {
                match json {
                    Some(json) => store.scoped_settings_mut().set(owner, setting.key, &json)?,
                    None => store.scoped_settings_mut().remove(owner, setting.key)?,
                }
                crate::base::records::retraction::switched(
                    store,
                    owner,
                    (setting.key, on),
                    encoder.as_deref(),
                )
            })
            .await?;
        self.base()
            .events()
            .changed(Changed::Settings, owner.id().map(|id| id.to_string()));
        self.models.apply_loading(setting).await?;
        // Read again: with a preset, one value can bring others.
        self.shown(owner).await
    }

    /// Describes the environment overrides. `Err` names the first problem.
    pub(crate) async fn settings_health(&self) -> Result<String, String> {
        let Environment {
            layer, problems, ..
        } = self.app_settings.environment();
        if let Some(IgnoredValue { key, reason }) = problems.first() {
            let variable = setting(key).map(Setting::variable).unwrap_or_default();
            return Err(format!("{variable} is set, but {reason}"));
        }
        let global = self
            .setting_layers
            .resolved_before_chat(None)
            .await
            .map_err(|error| error.to_string())?;
        if let Some(contradiction) = global.contradictions().first() {
            return Err(contradiction.to_string());
        }
        let shown = |(key, value): (&'static str, &ConfigValue)| {
            let value: String = value.to_string().chars().take(40).collect();
            setting(key).map(|setting| format!("{}={value} overrides {key}", setting.variable()))
        };
        let overridden: Vec<_> = layer.iter().filter_map(shown).collect();
        Ok(if overridden.is_empty() {
            "No environment overrides".to_owned()
        } else {
            overridden.join(", ")
        })
    }
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

    async fn stack(&self, owner: Owner) -> ApiResult<SettingsStack> {
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

    async fn read_stack(
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
    async fn fill_in(&self, stack: &mut SettingsStack) -> ApiResult<()> {
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

/// Adds the values that the template suggests. The template is `named`, or else the one that the
/// layers choose.
fn suggest(layers: &mut Layers, named: Option<&str>, own_templates: &[Preset]) -> ApiResult<()> {
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
fn of_owner(
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

fn owners(
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

fn settable(key: &str, owner: Owner) -> ApiResult<&'static Setting> {
    let setting = setting(key).ok_or_else(|| {
        let keys: Vec<_> = SETTINGS.iter().map(|setting| setting.key).collect();
        let key: String = key.chars().take(60).collect();
        bad_input(
            format!("There is no setting {key}."),
            format!("Choose one of: {}.", keys.join(", ")),
        )
    })?;
    let scope = owner.scope();
    if setting.scopes.contains(&scope) {
        return Ok(setting);
    }
    let scopes: Vec<_> = setting.scopes.iter().map(|scope| scope.as_str()).collect();
    let message = format!("{key} cannot be set for a {}.", scope.as_str());
    Err(bad_input(
        message,
        format!("It can be set here: {}.", scopes.join(", ")),
    ))
}

pub(crate) fn refused(setting: &Setting, refusal: &InvalidValue) -> ApiError {
    let expected = setting.kind.expects();
    bad_input(
        format!("{} is not valid: {refusal}.", setting.key.replace('_', " ")),
        format!("Set it to {expected}."),
    )
}

/// Maximum number of names that a refusal lists.
const LISTED: usize = 30;

fn unknown_name(setting: &Setting, word: &str, name: &str, choices: &[SettingChoice]) -> ApiError {
    let names = std::iter::once(word).chain(
        choices
            .iter()
            .map(|choice| choice.name.as_str())
            .filter(|it| *it != word),
    );
    let mut listed = names.clone().take(LISTED).collect::<Vec<_>>().join(", ");
    let others = names.count().saturating_sub(LISTED);
    if others > 0 {
        listed = format!("{listed}, and {others} more");
    }
    let what = setting.key.replace('_', " ");
    bad_input(
        format!("There is no {what} \"{name}\"."),
        format!("Set it to one of these: {listed}."),
    )
}

/// Rejects a new value only for contradictions that it takes part in.
fn refuse_contradiction(setting: &Setting, resolved: &Resolved) -> ApiResult<()> {
    match resolved
        .contradictions()
        .into_iter()
        .find(|each| each.keys().contains(&setting.key))
    {
        Some(contradiction) => Err(bad_input(
            format!(
                "{} does not fit the other settings: {contradiction}.",
                setting.key.replace('_', " ")
            ),
            "Lower one of them, or raise the limit.",
        )),
        None => Ok(()),
    }
}
