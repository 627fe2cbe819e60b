//! What a turn remembers beyond its window.

use context::frame::{BlockKind, Candidate, Share, Source};
use domain::chat::Role;

use crate::Engine;
use crate::collect::Collected;
use crate::error::Answer;

/// Messages judged at least this important stay word for word, as pinned ones do (S4.36).
const IMPORTANT: u8 = 8;

/// What was found for one turn.
#[derive(Debug, Clone, Default)]
pub(crate) struct Recalled {
    /// What the digest may be made of.
    pub(crate) digest: Vec<Candidate>,
    /// What this turn's context block may be made of.
    pub(crate) context: Vec<Candidate>,
}

impl Recalled {
    /// Memories, not excerpts of this chat.
    pub(crate) fn count(&self) -> usize {
        let all = self.digest.iter().chain(&self.context);
        all.filter(|candidate| candidate.kind.share() == Some(Share::Memory)).count()
    }

    /// The texts of some kinds, a line each.
    pub(crate) fn joined(&self, kinds: &[BlockKind]) -> String {
        let all = self.digest.iter().chain(&self.context);
        let texts = all.filter(|candidate| kinds.contains(&candidate.kind)).map(|candidate| candidate.text.as_str());
        texts.collect::<Vec<_>>().join("\n")
    }
}

impl Engine {
    /// What there is to remember. A failure costs the memories of this turn, never the turn (S2.31).
    pub(crate) async fn recall(&self, collected: &Collected) -> Recalled {
        self.find(collected).await.unwrap_or_else(|error| {
            tracing::warn!(?error, "nothing could be recalled");
            Recalled::default()
        })
    }

    async fn find(&self, collected: &Collected) -> Answer<Recalled> {
        Ok(Recalled { digest: self.pinned(collected).await?, context: Vec::new() })
    }

    /// Messages that left the window and that the user, or their importance, keeps word for word.
    async fn pinned(&self, collected: &Collected) -> Answer<Vec<Candidate>> {
        let Some(first) = collected.history.first() else { return Ok(Vec::new()) };
        let (chat, first) = (collected.chat.id, first.id);
        let marked = self.store().read(move |store| store.messages().marked_before(chat, first, IMPORTANT)).await?;
        let after = collected.chat.scene_after.unwrap_or(-1);
        let candidate = |message: store::WindowMessage| {
            let speaker = match message.role {
                Role::User => &collected.persona.name,
                _ => collected.speaker(),
            };
            let source = Source::Message { id: message.id, speaker: speaker.to_owned() };
            let reason = if message.pinned { "pinned by you" } else { "judged important" };
            let score = message.importance.map_or(10.0, f32::from);
            Candidate::new(BlockKind::Pinned, source, reason, message.text)
                .scored(score)
                .titled(speaker)
                .about(vec![message.id])
        };
        Ok(marked.into_iter().filter(|message| message.position > after).map(candidate).collect())
    }
}
