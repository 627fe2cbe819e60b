//! Selects the model that answers a turn, and prepares its provider, chat template, token budget
//! and token counter.

use std::path::Path;
use std::sync::Arc;

use context::budget::Chunk;
use context::{Budget, ChatTemplate};
use domain::ModelId;
use domain::chat::Chat;
use domain::model::{Endpoint, EndpointDialect, LocalModel, ModelChoice};
use domain::prompt::Segment;
use domain::sampling::Sampling;
use domain::settings::Values;
use local::gguf::{self};
use provider::Provider;
use provider::endpoint::EndpointClient;
use store::PresetKind;

use crate::api::TurnOptions;
use crate::base::error::{ApiResult, internal};
use crate::settings::counting::remote_count::{Calibrating, RemoteCounting};
use crate::settings::counting::token_counter::TokenCounting;
use crate::settings::endpoints::dialect::{self, DialectLearner};
use crate::settings::model_handles::ModelHandles;
use crate::settings::model_handles::chat_template::{self, KnownTemplate, guess_note, parse};
use crate::settings::model_handles::handle::{LocalSight, ModelHandle};
use crate::settings::models::files;

/// Upper limit of the planned context in tokens, even if an endpoint accepts more.
const MAX_CONTEXT: u32 = 200_000;

/// Minimum number of parameters (about one billion) at which a model's summaries are trusted.
const CAPABLE: u64 = 900_000_000;

/// Options and settings of a turn, before its model is prepared.
struct TurnSettings {
    /// Context size in tokens, if the user chose one.
    context: Option<u32>,
    sampling: Sampling,
    values: Values,
    withdrawals: i64,
}

impl TurnSettings {
    /// Handle for the injected provider, which is treated like an endpoint.
    fn scripted(self, provider: Arc<dyn Provider>) -> ModelHandle {
        let context = self.context.unwrap_or(8_192);
        let counting = TokenCounting::Remote(RemoteCounting::default());
        self.remote("scripted".to_owned(), context, provider, counting)
    }

    /// Handle for a model with a context of `context` tokens behind an endpoint. All its names are
    /// `name`.
    fn remote(
        self,
        name: String,
        context: u32,
        provider: Arc<dyn Provider>,
        counting: TokenCounting,
    ) -> ModelHandle {
        let Self {
            sampling,
            values,
            withdrawals,
            ..
        } = self;
        ModelHandle {
            key: name.clone(),
            model_name: name.clone(),
            name,
            provider,
            template: None,
            budget: within(Budget::remote(context, sampling.max_tokens), &values),
            sampling,
            sees: values.sees_images,
            sight: None,
            tiny: false,
            note: None,
            values,
            withdrawals,
            counting,
        }
    }
}

/// Applies the settings that override the model's default budget.
fn within(budget: Budget, values: &Values) -> Budget {
    Budget {
        reserve: values
            .reply_reserve
            .map_or(budget.reserve, |tokens| tokens.min(budget.limit / 4)),
        history_cap: values
            .history_cap
            .map_or(budget.history_cap, |tokens| tokens.min(budget.limit)),
        retrieval_cap: values.retrieval_cap.or(budget.retrieval_cap),
        chunk: values.trim_chunk.map_or(budget.chunk, Chunk::Tokens),
        min_tail_messages: values.min_tail_messages as usize,
        message_trim: values.message_ceiling.map(|messages| messages as usize),
        ..budget
    }
}

impl ModelHandles {
    /// Prepares the model that answers in `chat`. [`SettingLayers::choice_and_retractions`] says
    /// which.
    pub(crate) async fn model_handle(
        &self,
        chat: &Chat,
        options: &TurnOptions,
    ) -> ApiResult<ModelHandle> {
        let (choice, withdrawals) = self
            .setting_layers
            .choice_and_retractions(chat, options)
            .await?;
        let values = self
            .setting_layers
            .resolved(
                chat,
                choice.as_ref().ok().copied(),
                options.template.as_deref(),
            )
            .await?
            .values;
        let sampling = options.sampler.over(values.sampling(crate::seed()));
        let context = options
            .context
            .filter(|tokens| *tokens > 0)
            .or(values.context_limit);
        let asked = TurnSettings {
            context,
            sampling,
            values,
            withdrawals,
        };
        if let Some(provider) = self.base().injected_provider() {
            return Ok(asked.scripted(provider));
        }
        let choice = choice?;
        let gone = options.model.is_none() && chat.model.is_some_and(|wanted| wanted != choice);
        let model_handle = match choice {
            ModelChoice::Local(id) => {
                self.local_handle(self.model_lookup.local_model(id).await?, asked)
                    .await
            }
            ModelChoice::Remote(id) => {
                self.remote_handle(self.endpoints.chosen_endpoint(id).await?, asked)
                    .await
            }
        }?;
        let notice = gone.then(|| {
            format!(
                "The model of this chat no longer exists, so {} answers.",
                model_handle.name
            )
        });
        let notes: Vec<String> = notice
            .into_iter()
            .chain(model_handle.note.clone())
            .collect();
        Ok(ModelHandle {
            note: (!notes.is_empty()).then(|| notes.join(" ")),
            ..model_handle
        })
    }

    async fn local_handle(&self, model: LocalModel, asked: TurnSettings) -> ApiResult<ModelHandle> {
        if !Path::new(&model.path).exists() {
            return Err(files::file_gone(&model));
        }
        let KnownTemplate {
            template,
            uncounted,
            parameters,
            note,
        } = self.template_of(&model, &asked.values.chat_format).await?;
        let default = || local::library::default_context(model.context);
        let context = asked
            .context
            .map_or_else(default, |tokens| tokens.min(model.context));
        let TurnSettings {
            sampling,
            values,
            withdrawals,
            ..
        } = asked;
        let options = self.models.load_options(&model, &values).await?;
        let provider = self.local().provider_with(&model, context, options.clone());
        let sight = options.projector.is_some().then(|| LocalSight {
            model: model.clone(),
            context,
            options,
        });
        let budget = within(
            Budget {
                margin: uncounted,
                ..Budget::local(provider.context(), sampling.max_tokens)
            },
            &values,
        );
        Ok(ModelHandle {
            name: model.name.clone(),
            model_name: model.name.clone(),
            key: model.sha256.clone(),
            provider,
            template: Some(template),
            budget,
            sampling,
            sees: sight.is_some(),
            sight,
            tiny: parameters < CAPABLE,
            note,
            values,
            withdrawals,
            counting: TokenCounting::Local(model),
        })
    }

    /// Chat template of a model: the one that the settings name, else the file's own, else one
    /// guessed from the model's architecture, name and tokens. Each is read and probed once.
    async fn template_of(&self, model: &LocalModel, chosen: &str) -> ApiResult<KnownTemplate> {
        let own = self.own_format(chosen).await?;
        let missing = chat_template::missing(chosen, own.is_some());
        let chosen = if missing.is_some() { "auto" } else { chosen };
        let key = (model.id, own.as_ref().unwrap_or(&chosen.to_owned()).clone());
        if let Some(known) = self.templates().get(&key) {
            return Ok(known.clone().noting(missing));
        }
        let path = model.path.clone();
        let read = move || {
            let header = gguf::read(Path::new(&path))?;
            // Only a file without a template needs its vocabulary, for the guess.
            let vocabulary = if header.chat_template.is_none() {
                gguf::vocabulary(Path::new(&path)).ok()
            } else {
                None
            };
            Ok((header, vocabulary))
        };
        let (header, vocabulary) = tokio::task::spawn_blocking(read)
            .await
            .map_err(|_| internal("a model's header could not be read"))?
            .map_err(|error: gguf::GgufError| files::unusable(&error.to_string()))?;
        let own = own.and_then(|document| serde_json::from_str(&document).ok());
        let template = parse(&header, vocabulary.as_ref(), chosen, own)?;
        let assumed = chosen == "auto" && header.chat_template.is_none();
        let note = assumed.then(|| guess_note(&header, vocabulary.as_ref()));
        let known = self
            .with_begin_token(model, template, header.bos.unwrap_or_default())
            .await?;
        let known = KnownTemplate {
            parameters: header.parameters,
            note,
            ..known
        };
        self.templates().insert(key, known.clone());
        Ok(known.noting(missing))
    }

    /// If the worker would add a begin token to prompts, the template adds it instead, so that it
    /// is counted like other text. If the token's text is unknown or is not exactly one token, one
    /// token stays uncounted.
    async fn with_begin_token(
        &self,
        model: &LocalModel,
        template: ChatTemplate,
        bos: String,
    ) -> ApiResult<KnownTemplate> {
        if !self.local().adds_bos(model).await? {
            return Ok(KnownTemplate {
                template: Arc::new(template),
                uncounted: 0,
                parameters: 0,
                note: None,
            });
        }
        let counted = self
            .local()
            .count(
                model,
                &[Segment {
                    text: bos,
                    control: true,
                }],
            )
            .await?;
        Ok(match counted[..] {
            [1] => KnownTemplate {
                template: Arc::new(template.leading_with_bos()),
                uncounted: 0,
                parameters: 0,
                note: None,
            },
            _ => KnownTemplate {
                template: Arc::new(template),
                uncounted: 1,
                parameters: 0,
                note: None,
            },
        })
    }

    /// The stored JSON of a user-defined chat format.
    async fn own_format(&self, name: &str) -> ApiResult<Option<String>> {
        if name == "auto" {
            return Ok(None);
        }
        let key = name.to_owned();
        let preset = self
            .base()
            .store()
            .read(move |store| store.presets().get(PresetKind::ChatFormat, &key))
            .await?;
        Ok(preset.map(|preset| preset.json))
    }

    async fn remote_handle(
        &self,
        endpoint: Endpoint,
        asked: TurnSettings,
    ) -> ApiResult<ModelHandle> {
        let known = dialect::known(self.base().store(), &endpoint).await?;
        let config = self
            .endpoints
            .endpoint_config(&endpoint)
            .await?
            .with_dialect(known);
        let format = self
            .text_format(&endpoint, &asked.values.chat_format)
            .await?;
        let key = format!("{} {}", endpoint.id, endpoint.model);
        let name = self.endpoints.shown_name(&endpoint).await?;
        let model_name = if endpoint.model.is_empty() {
            endpoint.name.clone()
        } else {
            endpoint.model.clone()
        };
        let context = asked
            .context
            .unwrap_or(MAX_CONTEXT)
            .min(endpoint.context)
            .max(512);
        let counting = RemoteCounting::of(
            self.base().store(),
            self.token_counts.tokenizer_files(),
            &endpoint,
        )
        .await?;
        let margin = counting.calibration.margin();
        let client = DialectLearner::new(
            Arc::new(EndpointClient::new(config)?),
            self.base().store().clone(),
            &endpoint,
        );
        let client = Arc::new(client);
        let provider = Arc::new(Calibrating::new(
            client,
            self.base().store().clone(),
            &endpoint,
            counting.clone(),
        ));
        let handle = asked.remote(name, context, provider, TokenCounting::Remote(counting));
        let margin = (handle.budget.limit as f32 * margin) as u32;
        let budget = Budget {
            margin,
            ..handle.budget
        };
        Ok(match format {
            // A text prompt has no place for pictures.
            Some((template, note)) => ModelHandle {
                model_name,
                key,
                budget,
                template: Some(template),
                note,
                sees: false,
                ..handle
            },
            None => ModelHandle {
                model_name,
                key,
                budget,
                ..handle
            },
        })
    }

    /// The chat format of an endpoint with text completions: the one that the settings name, else
    /// one guessed from the model's name, with a notice. `None` for other endpoints.
    async fn text_format(
        &self,
        endpoint: &Endpoint,
        chosen: &str,
    ) -> ApiResult<Option<(Arc<ChatTemplate>, Option<String>)>> {
        if endpoint.dialect != EndpointDialect::Text {
            return Ok(None);
        }
        let own = self.own_format(chosen).await?;
        let missing = chat_template::missing(chosen, own.is_some());
        let chosen = if missing.is_some() { "auto" } else { chosen };
        let id = ModelId(endpoint.id.0);
        let key = (
            id,
            format!("{} {}", own.as_deref().unwrap_or(chosen), endpoint.model),
        );
        if let Some(known) = self.templates().get(&key) {
            let KnownTemplate { template, note, .. } = known.clone().noting(missing);
            return Ok(Some((template, note)));
        }
        let own = own.and_then(|document| serde_json::from_str(&document).ok());
        let (template, note) = chat_template::of_name(&endpoint.model, chosen, own)?;
        let known = KnownTemplate {
            template: Arc::new(template),
            uncounted: 0,
            parameters: 0,
            note,
        };
        self.templates().insert(key, known.clone());
        let KnownTemplate { template, note, .. } = known.noting(missing);
        Ok(Some((template, note)))
    }
}
