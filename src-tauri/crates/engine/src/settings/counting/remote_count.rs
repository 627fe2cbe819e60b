//! Counts tokens for remote models: with the model's own `tokenizer.json`, a matching encoding or
//! an estimate, calibrated with the usage that the endpoint reports.

use std::sync::Arc;

use context::{CountTokens, Estimate};
use domain::EndpointId;
use domain::model::{Endpoint, EndpointDialect};
use domain::prompt::{Prompt, Segment};
use futures_util::StreamExt;
use provider::{
    Calibration, Encoding, EventStream, GenerationEvent, Provider, Request, TokenizerJson,
};
use serde::{Deserialize, Serialize};
use store::{AssetHash, Store};
use tokio_util::sync::CancellationToken;

use crate::api::CountedWith;
use crate::base::error::{ApiResult, internal};
use crate::settings::counting::tokenizer_files::TokenizerFiles;

/// Tokens that an endpoint adds before each message and after the last one. The plan has one
/// control segment at each of these places. Calibration corrects the rest.
const MARKER: u32 = 2;

/// How the tokens of a remote model are counted.
#[derive(Debug, Clone, Default)]
pub(crate) enum Tokens {
    File(AssetHash, Arc<TokenizerJson>),
    Encoding(Encoding),
    #[default]
    Estimate,
}

impl Tokens {
    /// The encoding that fits `model`, else an estimate.
    fn of_model(model: &str) -> Self {
        Encoding::of(model).map_or(Self::Estimate, Self::Encoding)
    }

    fn count(&self, text: &Segment) -> u32 {
        let counted = match self {
            Self::File(_, file) => file.count(&text.text),
            Self::Encoding(encoding) => Some(encoding.count(&text.text)),
            Self::Estimate => None,
        };
        counted.or_else(|| Estimate.count(text)).unwrap_or(0)
    }

    fn key(&self) -> String {
        match self {
            Self::File(hash, _) => file_key(*hash),
            Self::Encoding(encoding) => encoding.name().to_owned(),
            Self::Estimate => "estimate".to_owned(),
        }
    }

    pub(crate) fn shown(&self) -> CountedWith {
        match self {
            Self::File(..) => CountedWith::TokenizerJson,
            Self::Encoding(Encoding::O200k) => CountedWith::O200k,
            Self::Encoding(Encoding::Cl100k) => CountedWith::Cl100k,
            Self::Estimate => CountedWith::Estimate,
        }
    }
}

/// How the tokens of one model at one endpoint are counted.
#[derive(Debug, Clone, Default)]
pub(crate) struct RemoteCounting {
    pub(crate) tokens: Tokens,
    pub(crate) calibration: Calibration,
    /// The app writes the control text itself, so it is counted like other text.
    whole_text: bool,
}

/// A calibration as it is stored. It is valid for one tokenizer only.
#[derive(Serialize, Deserialize)]
struct Learned {
    tokens: String,
    calibration: Calibration,
}

impl RemoteCounting {
    /// Loads the counting for `endpoint`'s model, with its `tokenizer.json` if it has one.
    pub(crate) async fn of(
        store: &Store,
        files: &TokenizerFiles,
        endpoint: &Endpoint,
    ) -> ApiResult<Self> {
        let id = endpoint.id;
        let model = endpoint.model.clone();
        let given = store
            .read(move |store| store.endpoints().tokenizer(id, &model))
            .await?;
        let file = match given {
            Some(hash) => files
                .get(store, hash)
                .await
                .map(|file| Tokens::File(hash, file)),
            None => None,
        };
        let tokens = file.unwrap_or_else(|| Tokens::of_model(&endpoint.model));
        let calibration = calibration(store, endpoint, &key_at(endpoint, tokens.key())).await?;
        Ok(Self {
            tokens,
            calibration,
            whole_text: takes_text(endpoint),
        })
    }

    /// Identifies the counts, and the calibration for them.
    pub(crate) fn key(&self) -> String {
        key_for(self.whole_text, self.tokens.key())
    }

    /// Tokens by the app's own count.
    pub(crate) fn raw(&self, segment: &Segment) -> u32 {
        if segment.control && !self.whole_text {
            MARKER
        } else {
            self.tokens.count(segment)
        }
    }

    /// Tokens of each text by the app's own count, on a blocking thread.
    pub(crate) async fn raw_all(&self, texts: Vec<Segment>) -> ApiResult<Vec<u32>> {
        let counting = self.clone();
        tokio::task::spawn_blocking(move || texts.iter().map(|text| counting.raw(text)).collect())
            .await
            .map_err(|_| internal("a prompt could not be counted"))
    }

    /// Estimates how many tokens the endpoint would count for `text`.
    pub(crate) async fn about(&self, text: Segment) -> ApiResult<u32> {
        let counted: u32 = self.raw_all(vec![text]).await?.into_iter().sum();
        Ok(self.calibration.apply(counted))
    }

    /// Counts a prompt as the plan does, so that the calibration applies to the plan's totals.
    fn raw_prompt(&self, prompt: &Prompt) -> u32 {
        if self.whole_text {
            return prompt
                .segments
                .iter()
                .map(|segment| self.raw(segment))
                .fold(0, u32::saturating_add);
        }
        let texts = prompt.messages.iter().map(|message| Segment {
            text: message.text.clone(),
            control: false,
        });
        texts
            .map(|text| self.raw(&text).saturating_add(MARKER))
            .fold(MARKER, u32::saturating_add)
    }
}

/// How `endpoint`'s tokens are counted and the mean error, without loading a tokenizer.
pub(crate) async fn described(
    store: &Store,
    endpoint: &Endpoint,
) -> ApiResult<(CountedWith, Option<f32>)> {
    let id = endpoint.id;
    let model = endpoint.model.clone();
    let (key, shown) = match store
        .read(move |store| store.endpoints().tokenizer(id, &model))
        .await?
    {
        Some(hash) => (file_key(hash), CountedWith::TokenizerJson),
        None => {
            let tokens = Tokens::of_model(&endpoint.model);
            (tokens.key(), tokens.shown())
        }
    };
    Ok((
        shown,
        calibration(store, endpoint, &key_at(endpoint, key))
            .await?
            .mean_error(),
    ))
}

fn takes_text(endpoint: &Endpoint) -> bool {
    endpoint.dialect == EndpointDialect::Text
}

fn key_at(endpoint: &Endpoint, tokens: String) -> String {
    key_for(takes_text(endpoint), tokens)
}

fn key_for(whole_text: bool, tokens: String) -> String {
    if whole_text {
        format!("text {tokens}")
    } else {
        tokens
    }
}

fn file_key(hash: AssetHash) -> String {
    format!("tokenizer.json {hash}")
}

/// Loads the calibration for `tokens`. Starts a new one if the stored one is of another version or
/// tokenizer.
async fn calibration(store: &Store, endpoint: &Endpoint, tokens: &str) -> ApiResult<Calibration> {
    let id = endpoint.id;
    let model = endpoint.model.clone();
    let json = store
        .read(move |store| store.calibrations().get(id, &model))
        .await?;
    let learned = json.and_then(|json| serde_json::from_str::<Learned>(&json).ok());
    Ok(learned
        .filter(|learned| learned.tokens == tokens)
        .map(|learned| learned.calibration)
        .unwrap_or_default())
}

/// Counts at once, without a cache.
impl CountTokens for RemoteCounting {
    fn count(&self, segment: &Segment) -> Option<u32> {
        Some(self.calibration.apply(self.raw(segment)))
    }

    fn exact(&self) -> bool {
        false
    }
}

/// A remote model whose reported usage calibrates the counts.
pub(crate) struct Calibrating {
    inner: Arc<dyn Provider>,
    store: Store,
    endpoint: EndpointId,
    model: String,
    counting: RemoteCounting,
}

impl Calibrating {
    pub(crate) fn new(
        inner: Arc<dyn Provider>,
        store: Store,
        endpoint: &Endpoint,
        counting: RemoteCounting,
    ) -> Self {
        Self {
            inner,
            store,
            endpoint: endpoint.id,
            model: endpoint.model.clone(),
            counting,
        }
    }

    fn lesson(&self, prompt: Prompt) -> Lesson {
        let store = self.store.clone();
        let model = self.model.clone();
        Lesson {
            store,
            endpoint: self.endpoint,
            model,
            counting: self.counting.clone(),
            prompt,
        }
    }
}

impl Provider for Calibrating {
    fn stream(&self, request: Request, cancel: CancellationToken) -> EventStream {
        // The cost of pictures cannot be separated from that of the text.
        let only_words = request.prompt.pictures.is_empty();
        let mut lesson = only_words.then(|| self.lesson(request.prompt.clone()));
        let events = self.inner.stream(request, cancel);
        let learned = events.then(move |event| {
            let reported = match &event {
                Ok(GenerationEvent::Finished { usage, .. }) => usage.prompt,
                _ => None,
            };
            let lesson = reported.and_then(|reported| Some((lesson.take()?, reported)));
            async move {
                if let Some((lesson, reported)) = lesson {
                    lesson.learn(reported).await;
                }
                event
            }
        });
        learned.boxed()
    }
}

/// A sent prompt, to compare with the reported usage.
struct Lesson {
    store: Store,
    endpoint: EndpointId,
    model: String,
    counting: RemoteCounting,
    prompt: Prompt,
}

impl Lesson {
    /// An error is ignored, because the reply is already complete.
    async fn learn(self, reported: u32) {
        let Self {
            store,
            endpoint,
            model,
            mut counting,
            prompt,
        } = self;
        let learned = tokio::task::spawn_blocking(move || {
            let counted = counting.raw_prompt(&prompt);
            counting.calibration.observe(counted, reported);
            Learned {
                tokens: counting.key(),
                calibration: counting.calibration,
            }
        });
        let Ok(learned) = learned.await else { return };
        let Ok(json) = serde_json::to_string(&learned) else {
            return;
        };
        let kept = store
            .write(move |store| store.calibrations_mut().set(endpoint, &model, &json))
            .await;
        if let Err(error) = kept {
            tracing::info!(%error, "the token calibration of an endpoint could not be stored");
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::prompt::{PromptMessage, PromptRole};
    use domain::sampling::SamplerOptions;
    use provider::{FinishReason, Timings, Usage};
    use uuid::Uuid;

    use super::*;

    /// An endpoint that counts by an encoding of its own and adds a few tokens to each message.
    struct Reporting;

    impl Provider for Reporting {
        fn stream(&self, request: Request, _cancel: CancellationToken) -> EventStream {
            let tokens = |message: &PromptMessage| Encoding::Cl100k.count(&message.text) + 7;
            let usage = Usage {
                prompt: Some(request.prompt.messages.iter().map(tokens).sum()),
                ..Usage::default()
            };
            let reason = FinishReason::Stop;
            let timings = Timings::default();
            futures_util::stream::iter([Ok(GenerationEvent::Finished {
                reason,
                usage,
                timings,
            })])
            .boxed()
        }
    }

    fn message(turn: usize) -> PromptMessage {
        let texts = [
            "She counts the ships on the quay. ",
            "Она считает корабли. ",
            "她数着港口里的船。",
        ];
        PromptMessage {
            role: PromptRole::User,
            text: texts[turn % texts.len()].repeat(4 + turn % 5),
        }
    }

    #[tokio::test]
    async fn reported_usage_calibrates_the_counts() {
        let store = Store::in_memory().unwrap();
        let files = TokenizerFiles::default();
        let endpoint = Endpoint {
            id: EndpointId(Uuid::nil()),
            name: "elsewhere".into(),
            dialect: domain::model::EndpointDialect::OpenAi,
            url: "http://127.0.0.1:9/v1".into(),
            model: "mystery-7b".into(),
            context: 8_192,
            headers: Vec::new(),
        };
        let row = endpoint.clone();
        store
            .write(move |store| store.endpoints_mut().insert(&row))
            .await
            .unwrap();
        let mut prompt = Prompt::default();
        for turn in 0..20 {
            prompt.messages.push(message(turn));
            let counting = RemoteCounting::of(&store, &files, &endpoint).await.unwrap();
            let provider =
                Calibrating::new(Arc::new(Reporting), store.clone(), &endpoint, counting);
            let sampling = SamplerOptions::default().resolve(1);
            let cache_key = "chat".into();
            let prompt = prompt.clone();
            let request = Request {
                cache_key,
                background: false,
                prompt,
                sampling,
                response_schema: None,
            };
            assert_eq!(
                provider
                    .stream(request, CancellationToken::new())
                    .count()
                    .await,
                1
            );
        }
        let learned = RemoteCounting::of(&store, &files, &endpoint).await.unwrap();
        assert_eq!(learned.tokens.shown(), CountedWith::Estimate);
        assert!(described(&store, &endpoint).await.unwrap().1.unwrap() <= 0.05);
        let other = Endpoint {
            model: "gpt-4o".into(),
            ..endpoint.clone()
        };
        assert_eq!(
            described(&store, &other).await.unwrap(),
            (CountedWith::O200k, None)
        );
        assert_eq!(learned.calibration.margin(), 0.03);
        let truth: u32 = prompt
            .messages
            .iter()
            .map(|message| Encoding::Cl100k.count(&message.text) + 7)
            .sum();
        let about = learned.calibration.apply(learned.raw_prompt(&prompt));
        assert!(about.abs_diff(truth) * 20 <= truth, "{about} for {truth}");
    }
}
