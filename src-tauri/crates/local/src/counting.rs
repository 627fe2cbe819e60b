//! Decides whether this process or the worker counts a model's tokens. This process counts once its
//! tokenizer agrees with the worker on a sample.
//!
//! The verdict is stored per content hash of the model file, also on disk, so that counting does
//! not load the model.

mod tokenizer_check;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use domain::model::LocalModel;
use domain::prompt::Segment;
use provider::ProviderError;
use serde::{Deserialize, Serialize};
use tokenizer::{Tokenizer, Unsupported};
use tokio::sync::OnceCell;

use crate::gguf;
use crate::host::LocalHost;

/// Revision of the comparison. Increment it when the tokenizers, the samples or the worker's
/// llama.cpp change; this invalidates older verdicts and counts.
pub const REVISION: u32 = 1;

/// Which process counts the tokens of a model. Both counts are exact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CountingMethod {
    /// Not decided before the first count.
    Unknown,
    ThisProcess,
    Worker {
        /// Why this process cannot count.
        reason: String,
    },
}

impl std::fmt::Display for CountingMethod {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unknown => {
                formatter.write_str("exact; the first count decides which process counts")
            }
            Self::ThisProcess => formatter.write_str("exact"),
            Self::Worker { reason } => write!(formatter, "exact, by the model process ({reason})"),
        }
    }
}

/// Tokenizer and verdict of one model.
#[derive(Debug)]
pub(crate) struct ModelCounting {
    /// Present if it agrees with the worker.
    tokenizer: Option<Tokenizer>,
    verdict: Verdict,
}

/// Result of the comparison with the worker.
#[derive(Debug, Serialize, Deserialize)]
struct Verdict {
    revision: u32,
    /// The worker adds a beginning-of-sequence token before prompts.
    adds_bos: bool,
    /// Why the worker must count; `None` if both agree.
    against: Option<String>,
}

/// Verdicts of this process, by the SHA-256 of the model file.
#[derive(Debug, Default)]
pub(crate) struct CountingCache(Mutex<HashMap<String, Arc<OnceCell<ModelCounting>>>>);

impl CountingCache {
    fn cell(&self, sha256: &str) -> Arc<OnceCell<ModelCounting>> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(known.entry(sha256.to_owned()).or_default())
    }
}

impl ModelCounting {
    fn by(&self) -> CountingMethod {
        match &self.verdict.against {
            None => CountingMethod::ThisProcess,
            Some(reason) => CountingMethod::Worker {
                reason: reason.clone(),
            },
        }
    }
}

impl LocalHost {
    /// Counts the tokens of each of `texts` with the model's own tokenizer, even during a reply. A
    /// prompt has the sum of its segments, plus one token if [`LocalHost::adds_bos`].
    ///
    /// # Errors
    /// The model cannot be loaded, or the worker died.
    pub async fn count(
        &self,
        model: &LocalModel,
        texts: &[Segment],
    ) -> Result<Vec<u32>, ProviderError> {
        match self.in_process(model, texts, Tokenizer::count_all).await? {
            Some(counts) => Ok(counts),
            None => self.count_by_worker(Path::new(&model.path), texts).await,
        }
    }

    /// Returns the token ids of each of `texts`.
    ///
    /// # Errors
    /// Same as [`LocalHost::count`].
    pub async fn tokenize(
        &self,
        model: &LocalModel,
        texts: &[Segment],
    ) -> Result<Vec<Vec<i32>>, ProviderError> {
        // Ids are below 2^20, the maximum vocabulary size that is read from a file.
        let ids = |tokenizer: &Tokenizer, texts: &[Segment]| {
            texts
                .iter()
                .map(|text| {
                    tokenizer
                        .tokenize(text)
                        .into_iter()
                        .map(|id| id as i32)
                        .collect()
                })
                .collect()
        };
        match self.in_process(model, texts, ids).await? {
            Some(tokens) => Ok(tokens),
            None => self.tokenize_by_worker(Path::new(&model.path), texts).await,
        }
    }

    /// Whether the worker adds a beginning-of-sequence token before prompts whose first control
    /// segment does not begin with it.
    ///
    /// # Errors
    /// Same as [`LocalHost::count`].
    pub async fn adds_bos(&self, model: &LocalModel) -> Result<bool, ProviderError> {
        match self.counting(model).await?.get() {
            Some(counting) => Ok(counting.verdict.adds_bos),
            None => self.adds_bos_by_worker(Path::new(&model.path)).await,
        }
    }

    /// Returns which process counts for `model`, if this is already decided.
    pub fn counted_by(&self, model: &LocalModel) -> CountingMethod {
        let cell = self.countings().cell(&model.sha256);
        let kept = || {
            self.kept(&model.sha256).map(|verdict| {
                ModelCounting {
                    tokenizer: None,
                    verdict,
                }
                .by()
            })
        };
        cell.get()
            .map(ModelCounting::by)
            .or_else(kept)
            .unwrap_or(CountingMethod::Unknown)
    }

    /// Applies `work` to `texts` with the model's tokenizer. Returns `None` if the worker must do
    /// it.
    async fn in_process<T: Send + 'static>(
        &self,
        model: &LocalModel,
        texts: &[Segment],
        work: impl FnOnce(&Tokenizer, &[Segment]) -> T + Send + 'static,
    ) -> Result<Option<T>, ProviderError> {
        let cell = self.counting(model).await?;
        if cell
            .get()
            .is_none_or(|counting| counting.tokenizer.is_none())
        {
            return Ok(None);
        }
        let texts = texts.to_vec();
        let worked = tokio::task::spawn_blocking(move || {
            Some(work(cell.get()?.tokenizer.as_ref()?, &texts))
        });
        // If our tokenizer panics, the worker can still count.
        Ok(worked.await.unwrap_or_default())
    }

    /// Returns the counting method of `model`, which the first call determines. Empty for a file
    /// without a hash, whose verdict cannot be stored.
    async fn counting(
        &self,
        model: &LocalModel,
    ) -> Result<Arc<OnceCell<ModelCounting>>, ProviderError> {
        if model.sha256.is_empty() {
            return Ok(Arc::default());
        }
        let cell = self.countings().cell(&model.sha256);
        cell.get_or_try_init(|| self.decide(model)).await?;
        Ok(cell)
    }

    async fn decide(&self, model: &LocalModel) -> Result<ModelCounting, ProviderError> {
        let path = PathBuf::from(&model.path);
        let kept = self.kept(&model.sha256);
        if let Some(verdict) = kept.as_ref().filter(|verdict| verdict.against.is_some()) {
            tracing::debug!(against = ?verdict.against, "the worker counts tokens for this model");
            return Ok(ModelCounting {
                tokenizer: None,
                verdict: kept.unwrap_or_else(|| Verdict::new(false, None)),
            });
        }
        let opened = tokio::task::spawn_blocking(move || gguf::open_tokenizer(&path)).await;
        let tokenizer =
            opened.unwrap_or_else(|_| Err(Unsupported::Vocabulary("it cannot be read".to_owned())));
        if let (Some(verdict), Ok(_)) = (&kept, &tokenizer) {
            let verdict = Verdict::new(verdict.adds_bos, None);
            return Ok(ModelCounting {
                tokenizer: tokenizer.ok(),
                verdict,
            });
        }
        let adds_bos = self.adds_bos_by_worker(Path::new(&model.path)).await?;
        let against = match &tokenizer {
            Ok(tokenizer) => self.difference(model, tokenizer).await?,
            Err(unsupported) => Some(unsupported.to_string()),
        };
        let verdict = Verdict::new(adds_bos, against);
        self.keep(&model.sha256, &verdict);
        Ok(ModelCounting {
            tokenizer: tokenizer.ok().filter(|_| verdict.against.is_none()),
            verdict,
        })
    }

    /// Returns the first sample that the worker tokenizes differently.
    async fn difference(
        &self,
        model: &LocalModel,
        tokenizer: &Tokenizer,
    ) -> Result<Option<String>, ProviderError> {
        let samples = tokenizer_check::segments(tokenizer);
        let theirs = self
            .tokenize_by_worker(Path::new(&model.path), &samples)
            .await?;
        let difference = tokenizer_check::difference(tokenizer, &samples, &theirs);
        Ok(difference.map(|text| format!("the worker tokenizes {text:?} differently")))
    }

    fn kept(&self, sha256: &str) -> Option<Verdict> {
        let text = std::fs::read(self.verdict_path(sha256)?).ok()?;
        serde_json::from_slice(&text)
            .ok()
            .filter(|verdict: &Verdict| verdict.revision == REVISION)
    }

    fn keep(&self, sha256: &str, verdict: &Verdict) {
        let Some(path) = self.verdict_path(sha256) else {
            return;
        };
        let written = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        let written = written.and_then(|()| std::fs::write(&path, serde_json::to_vec(verdict)?));
        if let Err(error) = written {
            // The next start repeats the comparison, which takes about a second.
            tracing::info!(%error, "the counting verdict could not be saved");
        }
    }

    fn verdict_path(&self, sha256: &str) -> Option<PathBuf> {
        let safe = !sha256.is_empty() && sha256.bytes().all(|byte| byte.is_ascii_hexdigit());
        safe.then(|| {
            self.state_dir()
                .map(|folder| folder.join(format!("counting-{sha256}.json")))
        })
        .flatten()
    }
}

impl Verdict {
    fn new(adds_bos: bool, against: Option<String>) -> Self {
        Self {
            revision: REVISION,
            adds_bos,
            against,
        }
    }
}
