//! Counting, tokenizing and embedding; works during a reply.

use ::worker::protocol::{Reply, Request as Frame};
use domain::prompt::Segment;
use provider::ProviderError;

use super::worker::Need;
use super::{Actor, Answer, TextsJob, segment};
use crate::failure;
use crate::status::State;

impl Actor {
    /// Runs a job that does not have to wait for a reply.
    pub(super) async fn texts(&mut self, job: TextsJob) {
        if let Err(error) = self.load(&job.path, job.need(), None).await {
            job.answer.fail(error);
            return;
        }
        self.note(State::Busy);
        self.ask(job).await;
        while !self.asked.is_empty() {
            let answered = self.until(None, self.settings.policy.silence, |reply| {
                let answer = !matches!(reply, Reply::Loading { .. } | Reply::Loaded(_) | Reply::Ready { .. });
                answer.then_some(Ok(()))
            });
            if let Err(ProviderError { kind, message, hint, .. }) = answered.await {
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
        let frame = match job.answer {
            Answer::Counts(_) => Frame::Count { id, texts: texts(&job.texts) },
            Answer::Tokens(_) => Frame::Tokenize { id, texts: texts(&job.texts) },
            Answer::Embeddings(_) => Frame::Embed { id, texts: job.texts.into_iter().map(|text| text.text).collect() },
            Answer::Bos(answer) => {
                let loaded = self.worker.as_ref().and_then(|worker| worker.loaded.as_ref());
                let _ = answer.send(loaded.map(|(_, loaded)| loaded.bos).ok_or_else(failure::shut_down));
                return;
            }
        };
        self.asked.insert(id, job.answer);
        if let Err(error) = self.send(&frame).await
            && let Some(answer) = self.asked.remove(&id)
        {
            answer.fail(error);
        }
    }

    /// Passes a result to its receiver.
    pub(super) fn answer(&mut self, reply: Reply) {
        match reply {
            Reply::Counts { id, counts } => {
                if let Some(Answer::Counts(answer)) = self.asked.remove(&id) {
                    let _ = answer.send(Ok(counts));
                }
            }
            Reply::Tokens { id, tokens } => {
                if let Some(Answer::Tokens(answer)) = self.asked.remove(&id) {
                    let _ = answer.send(Ok(tokens));
                }
            }
            Reply::Embeddings { id, texts } => {
                if let Some(Answer::Embeddings(answer)) = self.asked.remove(&id) {
                    let _ = answer.send(texts.into_iter().map(crate::embedding::read).collect());
                }
            }
            Reply::Error { id: Some(id), code, message } => {
                if let Some(answer) = self.asked.remove(&id) {
                    answer.fail(failure::from_worker(code, message));
                }
            }
            _ => {}
        }
    }
}

impl TextsJob {
    /// What the job needs the model for.
    pub(super) fn need(&self) -> Need {
        match self.answer {
            Answer::Embeddings(_) => Need::Embeddings,
            Answer::Counts(_) | Answer::Tokens(_) | Answer::Bos(_) => Need::Vocabulary,
        }
    }
}

impl Answer {
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
