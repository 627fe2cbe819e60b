//! Embeds memories, passages of documents, and lorebook entries that are marked for it. The user
//! wrote, attached or marked them to be found, so no setting of a chat excludes them.

use domain::LorebookId;
use domain::lorebook::{Book, Entry};
use recall::similarity::bytes;
use store::{EmbeddedKind, LoreEntryText, QueuedItem};

use crate::api::EntryMeaning;
use crate::base::error::ApiResult;
use crate::library::lorebooks::entries::title;
use crate::recall_service::embeddings::encoder::Encoder;
use crate::recall_service::embeddings::queue::{AT_ONCE, Round};
use crate::recall_service::handle::RecallService;

impl RecallService {
    /// Looks through a few changed books, then embeds a few things; calls `stop` between two of
    /// them.
    pub(crate) async fn read_things(
        &self,
        encoder: &Encoder,
        stop: impl Fn() -> bool,
    ) -> ApiResult<Round> {
        let books = self.look_through_books(&stop).await?;
        let queued = self
            .base()
            .store()
            .read(|store| store.item_embeddings().queued(AT_ONCE))
            .await?;
        if queued.is_empty() {
            return Ok(if books { Round::Read } else { Round::Done });
        }
        let entries = queued.iter().any(|thing| thing.kind == EmbeddedKind::Entry);
        for thing in queued {
            if stop() {
                return Ok(Round::Interrupted);
            }
            self.read_thing(encoder, thing).await?;
        }
        if entries {
            // The editor of lorebooks shows which entries are embedded.
            self.library().lorebooks.lorebooks_changed(None);
        }
        Ok(Round::Read)
    }

    async fn read_thing(&self, encoder: &Encoder, thing: QueuedItem) -> ApiResult<()> {
        let mut parts = Vec::new();
        for part in parts_of(&thing.text) {
            parts.extend(
                encoder
                    .understand(&part)
                    .await?
                    .map(|part| bytes(&part.mean)),
            );
        }
        let model = encoder.model().to_owned();
        Ok(self
            .base()
            .store()
            .write(move |store| store.item_embeddings_mut().keep(&thing, &model, &parts))
            .await?)
    }

    /// Queues the marked entries of changed books; returns whether there was such a book.
    pub(crate) async fn look_through_books(&self, stop: impl Fn() -> bool) -> ApiResult<bool> {
        let books = self
            .base()
            .store()
            .read(|store| store.item_embeddings().queued_books(AT_ONCE))
            .await?;
        let some = !books.is_empty();
        for id in books {
            if stop() {
                break;
            }
            let entries = self
                .library()
                .lorebooks
                .lorebook(id)
                .await
                .map(|found| marked(&found.book))
                .unwrap_or_default();
            self.base()
                .store()
                .write(move |store| store.item_embeddings_mut().put_entries(id, &entries))
                .await?;
        }
        Ok(some)
    }

    /// The entries of a book that are marked for search by meaning, and whether each is embedded;
    /// empty without an encoder.
    pub(crate) async fn entry_meanings(&self, id: LorebookId) -> ApiResult<Vec<EntryMeaning>> {
        if self.reading().encoder().is_none() {
            return Ok(Vec::new());
        }
        let marked = marked(&self.library().lorebooks.lorebook(id).await?.book);
        let known = self
            .base()
            .store()
            .read(move |store| store.item_embeddings().entries(id))
            .await?;
        let state = |entry: LoreEntryText| {
            let ready = known.iter().any(|(uid, ready)| *uid == entry.uid && *ready);
            EntryMeaning {
                entry: entry.uid,
                ready,
            }
        };
        Ok(marked.into_iter().map(state).collect())
    }
}

/// The passages of a text. A long text has several topics, and the model reads a page at most.
fn parts_of(text: &str) -> Vec<String> {
    match text.trim() {
        "" => Vec::new(),
        text if text.len() <= domain::document::MAX_PASSAGE => vec![text.to_owned()],
        text => documents::passages(text)
            .into_iter()
            .map(|passage| passage.text)
            .collect(),
    }
}

/// The entries of a book that are marked for search by meaning. If several have the same uid, only
/// the first is included.
fn marked(book: &Book) -> Vec<LoreEntryText> {
    let mut marked: Vec<LoreEntryText> = Vec::new();
    for entry in book
        .entries
        .iter()
        .filter(|entry| entry.vectorized && !entry.disable)
    {
        let uid = entry.uid.to_string();
        let text = told(entry);
        if !text.is_empty() && marked.iter().all(|known| known.uid != uid) {
            marked.push(LoreEntryText { uid, text });
        }
    }
    marked
}

/// The text to embed, with pronouns in place of the two speakers.
fn told(entry: &Entry) -> String {
    let text = format!("{}\n{}", title(entry), entry.content);
    text.replace("{{user}}", "I")
        .replace("{{char}}", "you")
        .trim()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embeds_enabled_marked_entries_with_titles() {
        let (book, _) = Book::read(
            br#"{"entries":{
                "0":{"uid":0,"comment":"The mill","content":"{{char}} never lights it for {{user}}.","vectorized":true},
                "1":{"uid":1,"content":"Off.","vectorized":true,"disable":true},
                "2":{"uid":2,"content":"Only by keys."},
                "3":{"uid":3,"content":"  ","vectorized":true}
            }}"#,
        )
        .unwrap();
        let entries = marked(&book);
        assert_eq!(entries.len(), 1, "{entries:?}");
        assert_eq!(
            (entries[0].uid.as_str(), entries[0].text.as_str()),
            ("0", "The mill\nyou never lights it for I.")
        );
    }
}
