//! Counting, tokenizing and embedding; works during a reply.

use std::sync::Arc;

use ::worker::protocol::{WorkerReply, WorkerRequest};
use domain::prompt::Segment;
use provider::ProviderError;

use super::loaded::ModelNeed;
use super::wire::segment;
use super::{Actor, PictureSizes, TextsJob, TextsReceiver};
use crate::failure;
use crate::status::WorkerState;

impl Actor {
    /// Runs a job that does not have to wait for a reply.
    pub(super) async fn texts(&mut self, job: TextsJob) {
        if let Err(error) = self.load(&job.path, job.need(), None).await {
            job.receiver.fail(error);
            return;
        }
        self.publish(WorkerState::Busy);
        self.ask(job).await;
        while !self.asked.is_empty() {
            let answered = self.until(None, self.settings.policy.reply_timeout, |reply| {
                let answer = !matches!(
                    reply,
                    WorkerReply::Loading { .. }
                        | WorkerReply::Loaded(_)
                        | WorkerReply::Ready { .. }
                );
                answer.then_some(Ok(()))
            });
            if let Err(ProviderError {
                kind,
                message,
                hint,
                ..
            }) = answered.await
            {
                for (_, answer) in self.asked.drain() {
                    answer.fail(ProviderError::new(kind, message.as_str(), hint.as_str()));
                }
            }
        }
    }

    /// Passes a job to the worker, which has the model loaded.
    pub(super) async fn ask(&mut self, job: TextsJob) {
        let id = self.next_id();
        let texts = |texts: &[Segment]| texts.iter().map(segment).collect();
        let frame = match job.receiver {
            TextsReceiver::Counts(_) => match job.pictures {
                Some(pictures) => WorkerRequest::CountPictures {
                    id,
                    sizes: pictures.sizes,
                },
                None => WorkerRequest::Count {
                    id,
                    texts: texts(&job.texts),
                },
            },
            TextsReceiver::Tokens(_) => WorkerRequest::Tokenize {
                id,
                texts: texts(&job.texts),
            },
            TextsReceiver::Embeddings(_) => WorkerRequest::Embed {
                id,
                texts: job.texts.into_iter().map(|text| text.text).collect(),
            },
            TextsReceiver::Bos(answer) => {
                let loaded = self
                    .worker
                    .as_ref()
                    .and_then(|worker| worker.loaded.as_ref());
                let _ = answer.send(
                    loaded
                        .map(|loaded| loaded.info.bos)
                        .ok_or_else(failure::shut_down),
                );
                return;
            }
        };
        self.asked.insert(id, job.receiver);
        if let Err(error) = self.send(&frame).await
            && let Some(answer) = self.asked.remove(&id)
        {
            answer.fail(error);
        }
    }

    /// Passes a result to its receiver.
    pub(super) fn answer(&mut self, reply: WorkerReply) {
        match reply {
            WorkerReply::Counts { id, counts } => {
                if let Some(TextsReceiver::Counts(answer)) = self.asked.remove(&id) {
                    let _ = answer.send(Ok(counts));
                }
            }
            WorkerReply::Tokens { id, tokens } => {
                if let Some(TextsReceiver::Tokens(answer)) = self.asked.remove(&id) {
                    let _ = answer.send(Ok(tokens));
                }
            }
            WorkerReply::Embeddings { id, texts } => {
                if let Some(TextsReceiver::Embeddings(answer)) = self.asked.remove(&id) {
                    let _ = answer.send(texts.into_iter().map(crate::embedding::read).collect());
                }
            }
            WorkerReply::Error {
                id: Some(id),
                code,
                message,
            } => {
                if let Some(answer) = self.asked.remove(&id) {
                    answer.fail(failure::from_worker(code, message));
                }
            }
            _ => {}
        }
    }
}

impl TextsJob {
    /// The purpose for which the job needs the model.
    pub(super) fn need(&self) -> ModelNeed {
        if let Some(PictureSizes {
            context, options, ..
        }) = &self.pictures
        {
            return ModelNeed::Replies {
                context: *context,
                options: Arc::clone(options),
            };
        }
        match self.receiver {
            TextsReceiver::Embeddings(_) => ModelNeed::Embeddings,
            TextsReceiver::Counts(_) | TextsReceiver::Tokens(_) | TextsReceiver::Bos(_) => {
                ModelNeed::Vocabulary
            }
        }
    }
}

impl TextsReceiver {
    pub(super) fn fail(self, error: ProviderError) {
        // The receiver may have stopped waiting.
        let _ = match self {
            Self::Counts(answer) => answer.send(Err(error)).is_ok(),
            Self::Tokens(answer) => answer.send(Err(error)).is_ok(),
            Self::Embeddings(answer) => answer.send(Err(error)).is_ok(),
            Self::Bos(answer) => answer.send(Err(error)).is_ok(),
        };
    }
}
