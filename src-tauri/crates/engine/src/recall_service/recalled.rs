//! The result of a recall: candidates for digest and context block.

use std::collections::HashSet;

use context::frame::{BlockKind, Candidate, Share, Source};
use domain::keyframe::Keyframe;
use tokio::time::error::Elapsed;

use crate::base::error::ApiResult;
use crate::recall_service::messages::keyframes::Cover;

/// Everything that was recalled for a turn.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recalled {
    /// Candidates for the digest.
    pub(crate) digest: Vec<Candidate>,
    /// Candidates for this turn's context block.
    pub(crate) context: Vec<Candidate>,
    /// Keyframes of messages in the window and right before it, oldest first.
    pub(crate) keyframes: Vec<Keyframe>,
    /// Those of them that must be stored with the window as it is cut now.
    pub(crate) covers: Vec<Cover>,
    /// Sources that only the speaker of a group scene knows.
    pub(crate) private: HashSet<Source>,
    /// Why something is missing, for the user.
    pub(crate) notices: Vec<String>,
}

impl Recalled {
    /// Number of memories. Excerpts of messages are not memories.
    pub(crate) fn count(&self) -> usize {
        self.each()
            .filter(|candidate| candidate.kind.share() == Some(Share::Memory))
            .count()
    }

    pub(super) fn add(&mut self, facts: Self) {
        self.digest.extend(facts.digest);
        self.context.extend(facts.context);
        self.notices.extend(facts.notices);
        self.private.extend(facts.private);
    }

    /// Moves candidates for the digest that only the speaker knows to the context block of this
    /// turn. The digest stays in the prompts of all members.
    pub(super) fn keep_private(&mut self, private: HashSet<Source>) {
        let (own, shared) = self
            .digest
            .drain(..)
            .partition(|candidate| private.contains(&candidate.source));
        self.digest = shared;
        self.context.extend::<Vec<Candidate>>(own);
        self.private = private;
    }

    /// The result of a search. If it failed or was too slow, a notice says that `what` is missing,
    /// and why.
    pub(super) fn unless_late<T>(&mut self, what: &str, found: Late<T>) -> Option<T> {
        let notice = match found {
            Ok(Ok(found)) => return Some(found),
            Ok(Err(error)) => {
                tracing::warn!(?error, "a part of recall failed");
                format!("{what} were not searched: reading them failed.")
            }
            Err(_) => format!("{what} were not searched: it took too long."),
        };
        if !self.notices.contains(&notice) {
            self.notices.push(notice);
        }
        None
    }

    /// All candidates, without repeating one that is in the digest and in the context block.
    fn each(&self) -> impl Iterator<Item = &Candidate> {
        let standing: HashSet<&Source> = self
            .digest
            .iter()
            .map(|candidate| &candidate.source)
            .collect();
        let called = self
            .context
            .iter()
            .filter(move |candidate| !standing.contains(&candidate.source));
        self.digest.iter().chain(called)
    }

    /// The texts of some kinds, one per line.
    pub(crate) fn joined(&self, kinds: &[BlockKind]) -> String {
        let texts = self
            .each()
            .filter(|candidate| kinds.contains(&candidate.kind))
            .map(|candidate| candidate.text.as_str());
        texts.collect::<Vec<_>>().join("\n")
    }

    /// The passages of documents, each with its source. Their text comes from outside, so their
    /// macros must not run.
    pub(crate) fn citations(&self) -> String {
        let passages = self
            .each()
            .filter(|candidate| candidate.kind == BlockKind::Document);
        let cited = passages
            .map(|passage| format!("{}: {}", passage.title, passage.text).replace("{{", "{ {"));
        cited.collect::<Vec<_>>().join("\n")
    }
}

/// The result of a search, or its timeout.
pub(super) type Late<T> = Result<ApiResult<T>, Elapsed>;
