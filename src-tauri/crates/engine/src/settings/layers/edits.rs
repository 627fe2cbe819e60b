//! Layered settings of prompts and replies: reads them, changes one, and applies overrides of the
//! environment.

use domain::model::ModelChoice;
use domain::settings::{
    ConfigValue, IgnoredValue, InvalidValue, Owner, Resolved, SETTINGS, Setting, SettingOrigin,
    ValueType, resolve, setting,
};

use crate::api::{ApiError, Changed, LayeredSettings, SettingChoice, SettingOwner, SettingValue};
use crate::base::error::{ApiResult, bad_input};
use crate::base::records::convert;
use crate::settings::endpoints::dialect;
use crate::settings::environment::Environment;
use crate::settings::layers::values::suggest;
use crate::settings::layers::{SettingEdits, random_places, shown};
use crate::settings::prompts::templates;

/// The setting that names a sampler preset.
pub(super) const PRESET: &str = "sampler_preset";

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
        // The pages read the space that is taken after the event.
        let applied = self.privacy.apply_privacy(setting).await;
        self.base()
            .events()
            .changed(Changed::Settings, owner.id().map(|id| id.to_string()));
        applied?;
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
