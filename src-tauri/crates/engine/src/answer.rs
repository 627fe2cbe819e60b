//! What answers a turn: the provider, its template, its budget, and who counts for it.

use std::path::Path;
use std::sync::Arc;

use context::budget::Chunk;
use context::{Budget, ChatTemplate, CountTokens, Counts, chat_template};
use domain::chat::Chat;
use domain::model::{Endpoint, LocalModel, ModelChoice};
use domain::prompt::Segment;
use domain::sampling::Sampling;
use domain::settings::Values;
use domain::{EndpointId, ModelId};
use local::gguf::{self, Header, Vocabulary};
use provider::Provider;
use provider::openai::{EndpointConfig, OpenAiClient};
use store::{PresetKind, TextHash};

use crate::Engine;
use crate::api::{ApiError, Counted, CountedWith};
use crate::error::{Answer, bad_input, internal, not_found};
use crate::remote_count::{About, Calibrating, RemoteCounting, Tokens};
use crate::turn::TurnOptions;
use crate::{convert, models};

/// Tokens of context that are planned for, however many more an endpoint takes (S2.1).
const MAX_CONTEXT: u32 = 200_000;

/// Everything that is needed to ask one model.
pub(crate) struct Answerer {
    /// As the reply names it.
    pub(crate) name: String,
    /// Tells it from every other, whatever their names.
    pub(crate) key: String,
    pub(crate) provider: Arc<dyn Provider>,
    /// The local model's; remote endpoints have their own.
    pub(crate) template: Option<Arc<ChatTemplate>>,
    pub(crate) budget: Budget,
    pub(crate) sampling: Sampling,
    /// The settings of the turn, resolved.
    pub(crate) values: Values,
    counting: Counting,
}

/// Whose tokens are counted.
enum Counting {
    /// Exactly, by the model on this machine.
    Local(LocalModel),
    /// More or less.
    Remote(RemoteCounting),
}

/// What turn and settings ask of whatever answers.
struct Asked {
    /// Tokens of context, where somebody chose.
    context: Option<u32>,
    sampling: Sampling,
    values: Values,
}

impl Asked {
    /// For the injected provider, which stands for an endpoint.
    fn scripted(self, provider: Arc<dyn Provider>) -> Answerer {
        let Self { context, sampling, values } = self;
        let budget = within(Budget::remote(context.unwrap_or(8_192), sampling.max_tokens), &values);
        let name = "scripted".to_owned();
        let counting = Counting::Remote(RemoteCounting::default());
        Answerer { key: name.clone(), name, provider, template: None, budget, sampling, values, counting }
    }
}

/// `budget` with what the settings say in place of what fits a model of its kind.
fn within(budget: Budget, values: &Values) -> Budget {
    Budget {
        reserve: values.reply_reserve.map_or(budget.reserve, |tokens| tokens.min(budget.limit / 4)),
        history_cap: values.history_cap.map_or(budget.history_cap, |tokens| tokens.min(budget.limit)),
        retrieval_cap: values.retrieval_cap.unwrap_or(budget.retrieval_cap),
        chunk: values.trim_chunk.map_or(budget.chunk, Chunk::Tokens),
        min_tail_messages: values.min_tail_messages as usize,
        message_trim: values.message_ceiling.map(|messages| messages as usize),
        ..budget
    }
}

fn parse(
    header: &Header,
    vocabulary: Option<&Vocabulary>,
    chosen: &str,
    date: jiff::civil::DateTime,
) -> Answer<ChatTemplate> {
    let bos = header.bos.as_deref().unwrap_or_default();
    let eos = header.eos.as_deref().unwrap_or_default();
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
    let name = header.name.as_deref().unwrap_or_default();
    let has = |token: &str| vocabulary.is_some_and(|words| words.tokens.iter().any(|known| &**known == token));
    match chat_template::guess(&header.architecture, name, &has) {
        Some(format) => Ok(format.template(bos, eos, date)?),
        None => Ok(ChatTemplate::chatml()),
    }
}

impl Answerer {
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

/// Counts for one prompt: by the model's own tokenizer or an encoding that fits, memoised in the store, or estimated.
pub(crate) struct Counter<'a> {
    counting: &'a Counting,
    exact: Counts,
    about: About,
}

impl<'a> Counter<'a> {
    pub(crate) fn new(answerer: &'a Answerer) -> Self {
        Self { counting: &answerer.counting, exact: Counts::default(), about: About::default() }
    }

    pub(crate) fn counts(&self) -> &dyn CountTokens {
        match self.counting {
            Counting::Local(_) => &self.exact,
            Counting::Remote(_) => &self.about,
        }
    }

    /// Learns the counts of `segments`: those of old texts from the store, the rest from the tokenizer.
    pub(crate) async fn count(&mut self, engine: &Engine, segments: Vec<Segment>) -> Answer<()> {
        match self.counting {
            Counting::Local(model) => {
                let count = async |texts: &[Segment]| Ok(engine.local().count(model, texts).await?);
                let counted = memoised(engine, &model.sha256, segments, count).await?;
                counted.into_iter().for_each(|(segment, count)| self.exact.insert(segment, count));
            }
            Counting::Remote(remote) => {
                let counted = match &remote.tokens {
                    // Estimating is faster than asking the store.
                    Tokens::Estimate => {
                        segments.into_iter().map(|segment| (segment.clone(), remote.raw(&segment))).collect()
                    }
                    tokens => {
                        let count = async |texts: &[Segment]| remote.raw_all(texts.to_vec()).await;
                        memoised(engine, &tokens.key(), segments, count).await?
                    }
                };
                for (segment, count) in counted {
                    self.about.0.insert(segment, remote.calibration.apply(count));
                }
            }
        }
        Ok(())
    }
}

/// The counts of `segments`: those that `tokenizer` has counted before from the store, the rest by `count`.
async fn memoised(
    engine: &Engine,
    tokenizer: &str,
    segments: Vec<Segment>,
    count: impl AsyncFnOnce(&[Segment]) -> Answer<Vec<u32>>,
) -> Answer<Vec<(Segment, u32)>> {
    let hashes: Vec<TextHash> = segments.iter().map(hash).collect();
    let (asked, key) = (hashes.clone(), tokenizer.to_owned());
    let known = engine.store().read(move |store| store.token_counts().get_many(&key, &asked)).await?;
    let (old, new): (Vec<_>, Vec<_>) = segments.into_iter().zip(hashes).partition(|(_, hash)| known.contains_key(hash));
    let mut counts: Vec<(Segment, u32)> =
        old.into_iter().filter_map(|(segment, hash)| Some((segment, *known.get(&hash)?))).collect();
    if new.is_empty() {
        return Ok(counts);
    }
    let (texts, hashes): (Vec<Segment>, Vec<TextHash>) = new.into_iter().unzip();
    let counted = count(&texts).await?;
    let fresh: Vec<(TextHash, u32)> = hashes.into_iter().zip(counted.iter().copied()).collect();
    counts.extend(texts.into_iter().zip(counted));
    let key = tokenizer.to_owned();
    engine.store().checkpoint(move |store| store.token_counts_mut().insert_many(&key, &fresh)).await?;
    Ok(counts)
}

/// The same words cost differently as control text and as contents.
fn hash(segment: &Segment) -> TextHash {
    TextHash::of(&format!("{}{}", if segment.control { "c" } else { "p" }, segment.text))
}

impl Engine {
    /// What answers in `chat`: the turn's choice, else the chat's, else the default, else any local model.
    pub(crate) async fn answerer(&self, chat: &Chat, options: &TurnOptions) -> Answer<Answerer> {
        let choice = self.choice(chat, options).await;
        let values = self.resolved(chat, choice.as_ref().ok().copied(), options.template.as_deref()).await?.values;
        let sampling = options.sampler.over(values.sampling(crate::seed()));
        let asked =
            Asked { context: options.context.filter(|tokens| *tokens > 0).or(values.context_limit), sampling, values };
        if let Some(provider) = self.injected_provider() {
            return Ok(asked.scripted(provider));
        }
        match choice? {
            ModelChoice::Local(id) => self.local_answerer(self.local_model(id).await?, asked).await,
            ModelChoice::Remote(id) => self.remote_answerer(self.endpoint(id).await?, asked).await,
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
        let (models, endpoints) =
            self.store().read(|store| Ok((store.models().list()?, store.endpoints().list()?))).await?;
        let there = |choice: &ModelChoice| match choice {
            ModelChoice::Local(id) => models.iter().any(|model| model.id == *id),
            ModelChoice::Remote(id) => endpoints.iter().any(|endpoint| endpoint.id == *id),
        };
        let any = models.iter().find(|model| Path::new(&model.path).exists()).map(|model| ModelChoice::Local(model.id));
        choices.into_iter().flatten().find(there).or(any).ok_or_else(|| ApiError::NoModel {
            message: "No model is set up, so nobody can answer.".into(),
            hint: "Add a model file, or connect an endpoint.".into(),
        })
    }

    async fn local_answerer(&self, model: LocalModel, asked: Asked) -> Answer<Answerer> {
        let (template, adds_bos) = self.template_of(&model, &asked.values.chat_format).await?;
        let default = || local::library::default_context(model.context);
        let context = asked.context.map_or_else(default, |tokens| tokens.min(model.context));
        let Asked { sampling, values, .. } = asked;
        let provider = self.local().provider(&model, context);
        // The worker may put one token in front of the prompt that no segment holds.
        let margin = u32::from(adds_bos);
        let budget = within(Budget { margin, ..Budget::local(provider.context(), sampling.max_tokens) }, &values);
        Ok(Answerer {
            name: model.name.clone(),
            key: model.sha256.clone(),
            provider,
            template: Some(template),
            budget,
            sampling,
            values,
            counting: Counting::Local(model),
        })
    }

    /// The chat template of a model: the one that the settings name, else the file's own, else one that models of its kind
    /// know. Each is read and probed once.
    async fn template_of(&self, model: &LocalModel, chosen: &str) -> Answer<(Arc<ChatTemplate>, bool)> {
        let key = (model.id, chosen.to_owned());
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
        let date = self.clock().civil(self.now());
        let template = match self.own_format(chosen).await? {
            Some(jinja) => {
                let (bos, eos) = (header.bos.as_deref().unwrap_or_default(), header.eos.as_deref().unwrap_or_default());
                ChatTemplate::parse(&jinja, bos, eos, date)?
            }
            None => parse(&header, vocabulary.as_ref(), chosen, date)?,
        };
        let adds_bos = self.local().adds_bos(model).await?;
        let known = (Arc::new(template), adds_bos);
        self.templates().insert(key, known.clone());
        Ok(known)
    }

    /// The Jinja of a chat format that the user brought.
    async fn own_format(&self, name: &str) -> Answer<Option<String>> {
        let key = name.to_owned();
        let preset = self.store().read(move |store| store.presets().get(PresetKind::ChatFormat, &key)).await?;
        let document = preset.and_then(|preset| serde_json::from_str::<serde_json::Value>(&preset.json).ok());
        Ok(document.and_then(|document| Some(document.get("jinja")?.as_str()?.to_owned())))
    }

    async fn remote_answerer(&self, endpoint: Endpoint, asked: Asked) -> Answer<Answerer> {
        let secret = self.key(endpoint.id).await?;
        let config = EndpointConfig::new(&endpoint.url, endpoint.model.clone(), secret)?;
        let key = format!("{} {}", endpoint.id, endpoint.model);
        let name = if endpoint.model.is_empty() { endpoint.name.clone() } else { endpoint.model.clone() };
        let context = asked.context.unwrap_or(MAX_CONTEXT).min(endpoint.context).max(512);
        let Asked { sampling, values, .. } = asked;
        let budget = within(Budget::remote(context, sampling.max_tokens), &values);
        let remote = RemoteCounting::of(self.store(), self.tokenizer_files(), &endpoint).await?;
        let budget = Budget { margin: (budget.limit as f32 * remote.calibration.margin()) as u32, ..budget };
        let client = Arc::new(OpenAiClient::new(config)?);
        let provider = Arc::new(Calibrating::new(client, self.store().clone(), &endpoint, remote.clone()));
        let counting = Counting::Remote(remote);
        Ok(Answerer { name, key, provider, template: None, budget, sampling, values, counting })
    }

    pub(crate) async fn local_model(&self, id: ModelId) -> Answer<LocalModel> {
        self.store().read(move |store| store.models().get(id)).await?.ok_or_else(|| not_found("model"))
    }

    pub(crate) async fn endpoint(&self, id: EndpointId) -> Answer<Endpoint> {
        self.store().read(move |store| store.endpoints().get(id)).await?.ok_or_else(|| not_found("endpoint"))
    }
}
