//! Embeds messages in idle time, so that a search can find them by meaning. The list of texts to
//! embed is in the store and outlives the program. A search uses the embeddings that exist.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use domain::ChatId;
use domain::chat::Chat;
use store::{QueuedText, Store};

use crate::base::error::ApiResult;
use crate::base::panics::contained;
use crate::base::records::convert::Speakers;
use crate::recall_service::embeddings::encoder::Encoder;
use crate::recall_service::handle::{RecallService, WeakRecallService};

/// Texts that are read from the store at a time.
pub(crate) const AT_ONCE: u32 = 32;
/// Texts that are stored at a time.
const AT_A_TIME: usize = 8;
/// Pause while a user waits for a reply.
const REST: Duration = Duration::from_millis(200);

/// The outcome of one round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Round {
    /// There may be more to embed.
    Read,
    /// A user waits for a reply.
    Interrupted,
    /// Everything is embedded.
    Done,
}

impl RecallService {
    /// Embeds messages in idle time until the engine ends, as long as there is an encoder.
    pub(crate) fn read_in_background(&self) {
        tokio::spawn(read_on(self.downgrade()));
    }

    /// Embeds everything that is not embedded yet and returns the number of texts; 0 without an
    /// encoder (`nook memory learn`).
    ///
    /// # Errors
    /// The encoder cannot run, or the store cannot be written.
    pub(crate) async fn learn(&self) -> ApiResult<u32> {
        let Some(encoder) = self.reading().encoder() else {
            return Ok(0);
        };
        self.begin_reading(&encoder).await?;
        self.look_through_books(|| false).await?;
        let count = |store: &store::ReadTransaction<'_>| {
            Ok(store.vectors().count_queued()? + store.item_embeddings().count_queued()?)
        };
        let unread = self.base().store().read(count).await?;
        while self.read_some(&encoder, || false).await? == Round::Read {}
        Ok(unread)
    }

    /// Queues the texts that another encoder embedded, and those that were skipped.
    pub(crate) async fn begin_reading(&self, encoder: &Encoder) -> ApiResult<()> {
        let model = encoder.model().to_owned();
        let begin = move |store: &mut store::WriteTransaction<'_>| {
            store.vectors_mut().queue_all(&model)?;
            store.item_embeddings_mut().queue_all(&model)
        };
        Ok(self.base().store().write(begin).await?)
    }

    /// Embeds a few texts; calls `stop` between two of them.
    async fn read_some(&self, encoder: &Encoder, stop: impl Fn() -> bool) -> ApiResult<Round> {
        if stop() {
            return Ok(Round::Interrupted);
        }
        // Memories, passages and entries come first: they are few and short, and users expect a new
        // one to be found at once.
        match self.read_things(encoder, &stop).await? {
            Round::Done => {}
            round => return Ok(round),
        }
        let unread = self
            .base()
            .store()
            .read(|store| store.vectors().queued(AT_ONCE))
            .await?;
        if unread.is_empty() {
            return Ok(Round::Done);
        }
        let speakers = self
            .heard_in(unread.iter().map(|text| text.chat).collect())
            .await?;
        let (learned, left): (Vec<_>, Vec<_>) = unread
            .into_iter()
            .partition(|text| speakers.contains_key(&text.chat));
        for text in left {
            self.base()
                .store()
                .write(move |store| store.vectors_mut().dequeue(&text))
                .await?;
        }
        for few in learned.chunks(AT_A_TIME) {
            if !read(self.base().store(), encoder, few, &speakers, &stop).await? {
                return Ok(Round::Interrupted);
            }
        }
        Ok(Round::Read)
    }

    /// The speakers of each chat. Chats in which memory is off are missing, because they are not
    /// embedded.
    async fn heard_in(&self, chats: HashSet<ChatId>) -> ApiResult<HashMap<ChatId, Speakers>> {
        let mut heard = HashMap::with_capacity(chats.len());
        for id in chats {
            let chat: Option<Chat> = self
                .base()
                .store()
                .read(move |store| store.chats().get(id))
                .await?;
            let Some(chat) = chat else { continue };
            if self
                .config()
                .setting_layers
                .resolved(&chat, None, None)
                .await?
                .values
                .memory
            {
                heard.insert(id, self.library().groups.speakers(&chat).await?);
            }
        }
        Ok(heard)
    }
}

/// Embeds and stores `texts`. Returns false if it was stopped; the texts embedded until then are
/// stored. `speakers` are those of their chats.
async fn read(
    store: &Store,
    encoder: &Encoder,
    texts: &[QueuedText],
    speakers: &HashMap<ChatId, Speakers>,
    stop: impl Fn() -> bool,
) -> ApiResult<bool> {
    let mut read = Vec::with_capacity(texts.len());
    let model = encoder.model().to_owned();
    for text in texts {
        let Some(passages) = encoder.read(text, &speakers[&text.chat], &stop).await? else {
            break;
        };
        read.push((text.clone(), passages));
    }
    let all = read.len() == texts.len();
    let keep = move |store: &mut store::WriteTransaction<'_>| {
        read.iter()
            .try_for_each(|(text, passages)| store.vectors_mut().keep(text, &model, passages))
    };
    store.write(keep).await?;
    Ok(all)
}

/// Embeds all messages of a store at once; `speakers` are those of its chats.
#[cfg(any(test, feature = "evaluation"))]
pub(crate) async fn read_all(
    store: &Store,
    encoder: &Encoder,
    speakers: &HashMap<ChatId, Speakers>,
) -> ApiResult<()> {
    loop {
        let unread = store.read(|store| store.vectors().queued(AT_ONCE)).await?;
        if unread.is_empty() {
            return Ok(());
        }
        read(store, encoder, &unread, speakers, || false).await?;
    }
}

/// Any event may bring new texts to embed. After a failure it waits for the next event.
async fn read_on(recall_service: WeakRecallService) {
    let Some((mut news, ended)) = recall_service.upgrade().map(|recall_service| {
        (
            recall_service.base().events().subscribe(),
            recall_service.base().idle().ended().clone(),
        )
    }) else {
        return;
    };
    // Name of the encoder for which all texts are queued.
    let mut begun = None;
    loop {
        let Some(recall_service) = recall_service.upgrade().filter(|_| !ended.is_cancelled())
        else {
            return;
        };
        let at_work = recall_service.base().idle().at_work();
        let round = {
            let round = async {
                let Some(encoder) = recall_service.reading().encoder() else {
                    return Ok(Round::Done);
                };
                if begun.as_deref() != Some(encoder.model()) {
                    recall_service.begin_reading(&encoder).await?;
                    begun = Some(encoder.model().to_owned());
                }
                let is_replaced = || {
                    recall_service
                        .reading()
                        .encoder()
                        .is_none_or(|current| current.model() != encoder.model())
                };
                let stop = || {
                    ended.is_cancelled()
                        || !recall_service.base().running().none()
                        || recall_service.reading().is_asked()
                        || is_replaced()
                };
                recall_service.read_some(&encoder, stop).await
            };
            // A panic on one text must not stop the embedding of all others.
            contained(round).await
        };
        drop(recall_service);
        drop(at_work);
        match round {
            Ok(Round::Read) => {}
            Ok(Round::Interrupted) => {
                let _ = ended.run_until_cancelled(tokio::time::sleep(REST)).await;
            }
            Ok(Round::Done) | Err(_) => {
                if let Err(error) = round {
                    tracing::warn!(%error, "messages could not be embedded");
                }
                match ended.run_until_cancelled(news.next()).await {
                    Some(Some(_)) => {}
                    _ => return,
                }
            }
        }
    }
}
