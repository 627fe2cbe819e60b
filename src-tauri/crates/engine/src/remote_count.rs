//! Counting for remote models: the encoding that fits, or an estimate, set right by what the endpoint reports.

use std::sync::Arc;

use context::{CountTokens, Counts, Estimate};
use domain::EndpointId;
use domain::model::Endpoint;
use domain::prompt::{Prompt, Segment};
use futures_util::StreamExt;
use provider::{Calibration, Encoding, EventStream, GenerationEvent, Provider, Request};
use store::Store;
use tokio_util::sync::CancellationToken;

use crate::error::Answer;

/// What an endpoint adds around a message, in tokens: a marker before it and one behind. Calibration takes up the rest.
const MARKER: u32 = 2;

/// How the tokens of one model at one endpoint are counted.
#[derive(Debug, Clone, Default)]
pub(crate) struct RemoteCounting {
    pub(crate) encoding: Option<Encoding>,
    pub(crate) calibration: Calibration,
}

impl RemoteCounting {
    /// What is known of `endpoint`'s model.
    pub(crate) async fn of(store: &Store, endpoint: &Endpoint) -> Answer<Self> {
        let (id, model) = (endpoint.id, endpoint.model.clone());
        let json = store.read(move |store| store.calibrations().get(id, &model)).await?;
        // A calibration of another version is begun anew.
        let calibration = json.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default();
        Ok(Self { encoding: Encoding::of(&endpoint.model), calibration })
    }

    /// Tokens by our own count.
    pub(crate) fn raw(&self, segment: &Segment) -> u32 {
        match self.encoding {
            _ if segment.control => MARKER,
            Some(encoding) => encoding.count(&segment.text),
            None => Estimate.count(segment).unwrap_or(0),
        }
    }

    /// Tokens of `text` as the endpoint would count them, more or less.
    pub(crate) fn about(&self, text: &str) -> u32 {
        self.calibration.apply(self.raw(&Segment { text: text.to_owned(), control: false }))
    }

    fn raw_prompt(&self, prompt: &Prompt) -> u32 {
        let texts = prompt.messages.iter().map(|message| Segment { text: message.text.clone(), control: false });
        texts.map(|text| self.raw(&text).saturating_add(2 * MARKER)).fold(0, u32::saturating_add)
    }
}

/// Counts that are nearly right.
#[derive(Debug, Default)]
pub(crate) struct About(pub(crate) Counts);

impl CountTokens for About {
    fn count(&self, segment: &Segment) -> Option<u32> {
        self.0.count(segment)
    }

    fn exact(&self) -> bool {
        false
    }
}

/// A remote model whose reports are learned from.
pub(crate) struct Calibrating {
    inner: Arc<dyn Provider>,
    store: Store,
    endpoint: EndpointId,
    model: String,
    counting: RemoteCounting,
}

impl Calibrating {
    pub(crate) fn new(inner: Arc<dyn Provider>, store: Store, endpoint: &Endpoint, counting: RemoteCounting) -> Self {
        Self { inner, store, endpoint: endpoint.id, model: endpoint.model.clone(), counting }
    }

    fn lesson(&self, prompt: Prompt) -> Lesson {
        let (store, model) = (self.store.clone(), self.model.clone());
        Lesson { store, endpoint: self.endpoint, model, counting: self.counting.clone(), prompt }
    }
}

impl Provider for Calibrating {
    fn stream(&self, request: Request, cancel: CancellationToken) -> EventStream {
        let mut lesson = Some(self.lesson(request.prompt.clone()));
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

/// A prompt that was sent.
struct Lesson {
    store: Store,
    endpoint: EndpointId,
    model: String,
    counting: RemoteCounting,
    prompt: Prompt,
}

impl Lesson {
    /// The reply is there already: failing to learn is no reason to fail.
    async fn learn(self, reported: u32) {
        let Self { store, endpoint, model, mut counting, prompt } = self;
        let learned = tokio::task::spawn_blocking(move || {
            let counted = counting.raw_prompt(&prompt);
            counting.calibration.observe(counted, reported);
            counting.calibration
        });
        let Ok(calibration) = learned.await else { return };
        let Ok(json) = serde_json::to_string(&calibration) else { return };
        let kept = store.write(move |store| store.calibrations_mut().set(endpoint, &model, &json)).await;
        if let Err(error) = kept {
            tracing::info!(%error, "what an endpoint reported could not be kept");
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
            let usage = Usage { prompt: Some(request.prompt.messages.iter().map(tokens).sum()), ..Usage::default() };
            let (reason, timings) = (FinishReason::Stop, Timings::default());
            futures_util::stream::iter([Ok(GenerationEvent::Finished { reason, usage, timings })]).boxed()
        }
    }

    fn message(turn: usize) -> PromptMessage {
        let texts = ["She counts the ships on the quay. ", "Она считает корабли. ", "她数着港口里的船。"];
        PromptMessage { role: PromptRole::User, text: texts[turn % texts.len()].repeat(4 + turn % 5) }
    }

    #[tokio::test]
    async fn what_an_endpoint_reports_is_learned_and_kept() {
        let store = Store::in_memory().unwrap();
        let endpoint = Endpoint {
            id: EndpointId(Uuid::nil()),
            name: "elsewhere".into(),
            url: "http://127.0.0.1:9/v1".into(),
            model: "mystery-7b".into(),
            context: 8_192,
        };
        let row = endpoint.clone();
        store.write(move |store| store.endpoints_mut().insert(&row)).await.unwrap();
        let mut prompt = Prompt::default();
        for turn in 0..20 {
            prompt.messages.push(message(turn));
            let counting = RemoteCounting::of(&store, &endpoint).await.unwrap();
            let provider = Calibrating::new(Arc::new(Reporting), store.clone(), &endpoint, counting);
            let sampling = SamplerOptions::default().resolve(1);
            let request = Request { cache_key: "chat".into(), prompt: prompt.clone(), sampling };
            assert_eq!(provider.stream(request, CancellationToken::new()).count().await, 1);
        }
        let learned = RemoteCounting::of(&store, &endpoint).await.unwrap();
        assert_eq!(learned.encoding, None);
        assert_eq!(learned.calibration.margin(), 0.03);
        let truth: u32 = prompt.messages.iter().map(|message| Encoding::Cl100k.count(&message.text) + 7).sum();
        let about = learned.calibration.apply(learned.raw_prompt(&prompt));
        assert!(about.abs_diff(truth) * 20 <= truth, "{about} for {truth}");
    }
}
