//! What answers a turn: the provider, its template, its budget, and who counts for it.

use std::path::Path;
use std::sync::Arc;

use context::budget::Chunk;
use context::macros::ModelFacts;
use context::{Budget, ChatTemplate, TemplateError, chat_template};
use domain::chat::Chat;
use domain::model::{Endpoint, LocalModel, ModelChoice};
use domain::prompt::Segment;
use domain::sampling::Sampling;
use domain::settings::Values;
use domain::{EndpointId, ModelId};
use local::gguf::{self, Header, Vocabulary};
use provider::Provider;
use provider::openai::OpenAiClient;
use store::PresetKind;

use crate::Engine;
use crate::api::{ApiError, Counted, CountedWith};
use crate::chat_formats::OwnFormat;
use crate::counting::Counting;
use crate::endpoint_dialect::{self, Learning};
use crate::error::{Answer, bad_input, internal, not_found};
use crate::remote_count::{Calibrating, RemoteCounting};
use crate::turn::TurnOptions;
use crate::{convert, models};

/// Tokens of context that are planned for, however many more an endpoint takes (S2.1).
const MAX_CONTEXT: u32 = 200_000;

/// Parameters of the smallest models that sum a talk up without making things up: a billion, about.
const CAPABLE: u64 = 900_000_000;

/// Everything that is needed to ask one model.
pub(crate) struct Answerer {
    /// As the reply names it.
    pub(crate) name: String,
    /// Name for macros: the model's name without the endpoint's.
    model_name: String,
    /// Tells it from every other, whatever their names.
    pub(crate) key: String,
    pub(crate) provider: Arc<dyn Provider>,
    /// The local model's; remote endpoints have their own.
    pub(crate) template: Option<Arc<ChatTemplate>>,
    pub(crate) budget: Budget,
    pub(crate) sampling: Sampling,
    /// It can look at pictures.
    pub(crate) sees: bool,
    /// It is too small to be believed in what it sums up.
    pub(crate) tiny: bool,
    /// Notice for the user, for example that the chat format is a guess.
    pub(crate) note: Option<String>,
    /// The settings of the turn, resolved.
    pub(crate) values: Values,
    /// How often something had been withdrawn from prompts when these were read: a switch of memory counts among it.
    pub(crate) withdrawals: i64,
    counting: Counting,
}

/// What turn and settings ask of whatever answers.
struct Asked {
    /// Tokens of context, where somebody chose.
    context: Option<u32>,
    sampling: Sampling,
    values: Values,
    withdrawals: i64,
}

impl Asked {
    /// For the injected provider, which stands for an endpoint.
    fn scripted(self, provider: Arc<dyn Provider>) -> Answerer {
        let Self { context, sampling, values, withdrawals } = self;
        let budget = within(Budget::remote(context.unwrap_or(8_192), sampling.max_tokens), &values);
        let name = "scripted".to_owned();
        let counting = Counting::Remote(RemoteCounting::default());
        let sees = values.sees_images;
        Answerer {
            key: name.clone(),
            model_name: name.clone(),
            name,
            provider,
            template: None,
            budget,
            sampling,
            sees,
            tiny: false,
            note: None,
            values,
            withdrawals,
            counting,
        }
    }
}

/// `budget` with what the settings say in place of what fits a model of its kind.
fn within(budget: Budget, values: &Values) -> Budget {
    Budget {
        reserve: values.reply_reserve.map_or(budget.reserve, |tokens| tokens.min(budget.limit / 4)),
        history_cap: values.history_cap.map_or(budget.history_cap, |tokens| tokens.min(budget.limit)),
        retrieval_cap: values.retrieval_cap.or(budget.retrieval_cap),
        chunk: values.trim_chunk.map_or(budget.chunk, Chunk::Tokens),
        min_tail_messages: values.min_tail_messages as usize,
        message_trim: values.message_ceiling.map(|messages| messages as usize),
        ..budget
    }
}

/// A chat template, and the tokens in front of prompts that none of its segments holds.
#[derive(Clone)]
pub(crate) struct KnownTemplate {
    template: Arc<ChatTemplate>,
    uncounted: u32,
    /// Of the model.
    parameters: u64,
    /// Notice for the user if the format is a guess.
    note: Option<String>,
}

/// The template of a model with this `header`. The date is only a first one: each prompt is given that of its epoch.
fn parse(
    header: &Header,
    vocabulary: Option<&Vocabulary>,
    chosen: &str,
    own: Option<OwnFormat>,
) -> Answer<ChatTemplate> {
    let bos = header.bos.as_deref().unwrap_or_default();
    let eos = header.eos.as_deref().unwrap_or_default();
    let date = jiff::civil::DateTime::default();
    if let Some(OwnFormat { jinja, stop, .. }) = own {
        let template = ChatTemplate::parse(&jinja, bos, eos, date).map_err(|error| faulty_format(&error, chosen))?;
        return Ok(template.with_stops(stop.iter().map(String::as_str)));
    }
    if chosen != "auto" {
        let format = chat_template::format(chosen).ok_or_else(|| {
            let names: Vec<_> = chat_template::formats().iter().map(|format| format.name.as_str()).collect();
            bad_input(format!("There is no chat format \"{chosen}\"."), format!("Choose one of: {}.", names.join(", ")))
        })?;
        return Ok(format.template(bos, eos, date)?);
    }
    if let Some(source) = &header.chat_template {
        return Ok(ChatTemplate::parse(source, bos, eos, date)?);
    }
    match guessed(header, vocabulary) {
        Some(format) => Ok(format.template(bos, eos, date)?),
        None => Ok(ChatTemplate::chatml()),
    }
}

fn guessed(header: &Header, vocabulary: Option<&Vocabulary>) -> Option<&'static chat_template::Format> {
    let name = header.name.as_deref().unwrap_or_default();
    let has = |token: &str| vocabulary.is_some_and(|words| words.tokens.iter().any(|known| &**known == token));
    chat_template::guess(&header.architecture, name, &has)
}

/// Notice about a model file without a chat template.
pub(crate) fn guess_note(header: &Header, vocabulary: Option<&Vocabulary>) -> String {
    let format = guessed(header, vocabulary).map_or("ChatML", |format| &format.title);
    format!(
        "The model file has no chat template, so the format \"{format}\" is assumed. If replies look wrong, choose another \
         chat format in Settings."
    )
}

/// Error for a fault in the chat format that the settings select.
pub(crate) fn faulty_format(error: &TemplateError, chosen: &str) -> ApiError {
    let message = format!("The chat format \"{chosen}\": {error}.");
    bad_input(message, "Correct the format, or choose another one in Settings.")
}

impl Answerer {
    /// What macros may tell of it.
    pub(crate) fn facts(&self) -> ModelFacts<'_> {
        ModelFacts {
            name: &self.model_name,
            context: Some(self.budget.limit),
            response: Some(self.sampling.max_tokens),
        }
    }

    /// Whose tokens are counted.
    pub(crate) fn counting(&self) -> &Counting {
        &self.counting
    }

    /// Who counts its tokens, and how well.
    pub(crate) fn counted(&self) -> Counted {
        let margin = self.budget.margin;
        match &self.counting {
            Counting::Local(_) => Counted { with: CountedWith::Model, margin, mean_error: None },
            Counting::Remote(remote) => {
                Counted { with: remote.tokens.shown(), margin, mean_error: remote.calibration.mean_error() }
            }
        }
    }
}

impl Engine {
    /// What answers in `chat`: the turn's choice, else the chat's, else the default, else any local model.
    pub(crate) async fn answerer(&self, chat: &Chat, options: &TurnOptions) -> Answer<Answerer> {
        let choice = self.choice(chat, options).await;
        let withdrawals = self.store().read(|store| store.memories().withdrawals()).await?;
        let values = self.resolved(chat, choice.as_ref().ok().copied(), options.template.as_deref()).await?.values;
        let sampling = options.sampler.over(values.sampling(crate::seed()));
        let context = options.context.filter(|tokens| *tokens > 0).or(values.context_limit);
        let asked = Asked { context, sampling, values, withdrawals };
        if let Some(provider) = self.injected_provider() {
            return Ok(asked.scripted(provider));
        }
        match choice? {
            ModelChoice::Local(id) => self.local_answerer(self.local_model(id).await?, asked).await,
            ModelChoice::Remote(id) => self.remote_answerer(self.chosen_endpoint(id).await?, asked).await,
        }
    }

    /// The model of a turn: its own, else the chat's, else the default, else any on this machine.
    pub(crate) async fn choice(&self, chat: &Chat, options: &TurnOptions) -> Answer<ModelChoice> {
        let turn = options.model.as_ref().map(convert::model_choice).transpose()?;
        let default = self.settings().default_model.as_ref().map(convert::model_choice).transpose()?;
        self.first_there([turn, chat.model, default]).await
    }

    /// A turn's own choice must be there; an older choice whose model is gone gives way to the next.
    async fn first_there(&self, choices: [Option<ModelChoice>; 3]) -> Answer<ModelChoice> {
        if let Some(turn) = choices[0] {
            return Ok(turn);
        }
        let known = self.store().read(move |store| {
            for choice in choices.into_iter().flatten() {
                let there = match choice {
                    ModelChoice::Local(id) => store.models().get(id)?.is_some(),
                    ModelChoice::Remote(id) => store.endpoint_models().resolve(id)?.is_some(),
                };
                if there {
                    return Ok((Some(choice), Vec::new()));
                }
            }
            Ok((None, store.models().list()?))
        });
        let (chosen, models) = known.await?;
        let any = models.iter().find(|model| Path::new(&model.path).exists()).map(|model| ModelChoice::Local(model.id));
        chosen.or(any).ok_or_else(|| ApiError::NoModel {
            message: "No model is set up, so nobody can answer.".into(),
            hint: "Add a model file, or connect an endpoint.".into(),
        })
    }

    async fn local_answerer(&self, model: LocalModel, asked: Asked) -> Answer<Answerer> {
        let KnownTemplate { template, uncounted, parameters, note } =
            self.template_of(&model, &asked.values.chat_format).await?;
        let default = || local::library::default_context(model.context);
        let context = asked.context.map_or_else(default, |tokens| tokens.min(model.context));
        let Asked { sampling, values, withdrawals, .. } = asked;
        let provider = self.local().provider(&model, context);
        let budget =
            within(Budget { margin: uncounted, ..Budget::local(provider.context(), sampling.max_tokens) }, &values);
        Ok(Answerer {
            name: model.name.clone(),
            model_name: model.name.clone(),
            key: model.sha256.clone(),
            provider,
            template: Some(template),
            budget,
            sampling,
            sees: false,
            tiny: parameters < CAPABLE,
            note,
            values,
            withdrawals,
            counting: Counting::Local(model),
        })
    }

    /// The chat template of a model: the one that the settings name, else the file's own, else one that models of its kind
    /// know. Each is read and probed once.
    async fn template_of(&self, model: &LocalModel, chosen: &str) -> Answer<KnownTemplate> {
        let own = self.own_format(chosen).await?;
        let key = (model.id, own.as_ref().unwrap_or(&chosen.to_owned()).clone());
        if let Some(known) = self.templates().get(&key) {
            return Ok(known.clone());
        }
        let path = model.path.clone();
        let read = move || {
            let header = gguf::read(Path::new(&path))?;
            // Only a file without a template is known by its words.
            let vocabulary =
                if header.chat_template.is_none() { gguf::vocabulary(Path::new(&path)).ok() } else { None };
            Ok((header, vocabulary))
        };
        let (header, vocabulary) = tokio::task::spawn_blocking(read)
            .await
            .map_err(|_| internal("a model's header could not be read"))?
            .map_err(|error: gguf::GgufError| models::unusable(&error.to_string()))?;
        let own = own.and_then(|document| serde_json::from_str(&document).ok());
        let template = parse(&header, vocabulary.as_ref(), chosen, own)?;
        let assumed = chosen == "auto" && header.chat_template.is_none();
        let note = assumed.then(|| guess_note(&header, vocabulary.as_ref()));
        let known = self.with_begin_token(model, template, header.bos.unwrap_or_default()).await?;
        let known = KnownTemplate { parameters: header.parameters, note, ..known };
        self.templates().insert(key, known.clone());
        Ok(known)
    }

    /// Where the worker puts a begin token in front of prompts, the template does, so that it is counted like everything
    /// else and the worker adds none (S0.6). Where its text is unknown, or is not one token, one is left uncounted.
    async fn with_begin_token(&self, model: &LocalModel, template: ChatTemplate, bos: String) -> Answer<KnownTemplate> {
        if !self.local().adds_bos(model).await? {
            return Ok(KnownTemplate { template: Arc::new(template), uncounted: 0, parameters: 0, note: None });
        }
        let counted = self.local().count(model, &[Segment { text: bos, control: true }]).await?;
        Ok(match counted[..] {
            [1] => KnownTemplate {
                template: Arc::new(template.leading_with_bos()),
                uncounted: 0,
                parameters: 0,
                note: None,
            },
            _ => KnownTemplate { template: Arc::new(template), uncounted: 1, parameters: 0, note: None },
        })
    }

    /// The document of a chat format that the user brought.
    async fn own_format(&self, name: &str) -> Answer<Option<String>> {
        if name == "auto" {
            return Ok(None);
        }
        let key = name.to_owned();
        let preset = self.store().read(move |store| store.presets().get(PresetKind::ChatFormat, &key)).await?;
        Ok(preset.map(|preset| preset.json))
    }

    async fn remote_answerer(&self, endpoint: Endpoint, asked: Asked) -> Answer<Answerer> {
        let known = endpoint_dialect::known(self.store(), &endpoint).await?;
        let config = self.endpoint_config(&endpoint).await?.with_dialect(known);
        let key = format!("{} {}", endpoint.id, endpoint.model);
        let name = self.shown_name(&endpoint).await?;
        let model_name = if endpoint.model.is_empty() { endpoint.name.clone() } else { endpoint.model.clone() };
        let context = asked.context.unwrap_or(MAX_CONTEXT).min(endpoint.context).max(512);
        let Asked { sampling, values, withdrawals, .. } = asked;
        let budget = within(Budget::remote(context, sampling.max_tokens), &values);
        let remote = RemoteCounting::of(self.store(), self.tokenizer_files(), &endpoint).await?;
        let budget = Budget { margin: (budget.limit as f32 * remote.calibration.margin()) as u32, ..budget };
        let client = Learning::new(Arc::new(OpenAiClient::new(config)?), self.store().clone(), &endpoint);
        let client = Arc::new(client);
        let provider = Arc::new(Calibrating::new(client, self.store().clone(), &endpoint, remote.clone()));
        let counting = Counting::Remote(remote);
        let sees = values.sees_images;
        Ok(Answerer {
            name,
            model_name,
            key,
            provider,
            template: None,
            budget,
            sampling,
            sees,
            tiny: false,
            note: None,
            values,
            withdrawals,
            counting,
        })
    }

    pub(crate) async fn local_model(&self, id: ModelId) -> Answer<LocalModel> {
        self.store().read(move |store| store.models().get(id)).await?.ok_or_else(|| not_found("model"))
    }

    pub(crate) async fn endpoint(&self, id: EndpointId) -> Answer<Endpoint> {
        self.store().read(move |store| store.endpoints().get(id)).await?.ok_or_else(|| not_found("endpoint"))
    }
}
