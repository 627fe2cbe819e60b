//! Learning by reading: in idle time the encoder makes vectors of what was said, so that it is found by its meaning. What is
//! still to be read stands in the store and outlives the program (S3.30); a search does with what there is.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use domain::ChatId;
use domain::chat::Chat;
use store::{Store, UnreadText};

use super::encoder::Encoder;
use super::nearness::{InAdvance, NearCache};
use super::texts::TextCache;
use super::typed::Lately;
use super::vectors::VectorCache;
use crate::Engine;
use crate::convert::Speakers;
use crate::engine::WeakEngine;
use crate::error::Answer;
use crate::panics::contained;

/// Texts that are looked up at a time.
pub(super) const AT_ONCE: u32 = 32;
/// Texts that are kept at a time.
const AT_A_TIME: usize = 8;
/// Between two looks whether somebody still waits.
const REST: Duration = Duration::from_millis(200);

/// What the engine reads with, and what of it is at hand.
pub(crate) struct Reading {
    encoder: Option<Encoder>,
    cache: Arc<VectorCache>,
    texts: Arc<TextCache>,
    near: Arc<NearCache>,
    in_advance: InAdvance,
    lately: Lately,
    /// Prompts that are being made.
    asking: Arc<AtomicUsize>,
}

/// Somebody waits for what is remembered, until it is dropped.
pub(super) struct Asking(Arc<AtomicUsize>);

impl Drop for Asking {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Reading {
    pub(crate) fn new(encoder: Option<Encoder>) -> Self {
        Self {
            encoder,
            cache: Arc::default(),
            texts: Arc::default(),
            near: Arc::default(),
            in_advance: InAdvance::default(),
            lately: Lately::default(),
            asking: Arc::default(),
        }
    }

    pub(super) fn lately(&self) -> &Lately {
        &self.lately
    }

    pub(super) fn in_advance(&self) -> &InAdvance {
        &self.in_advance
    }

    /// Nothing is read meanwhile: the cores, and the encoder, are for who waits.
    pub(super) fn ask(&self) -> Asking {
        self.asking.fetch_add(1, Ordering::Relaxed);
        Asking(Arc::clone(&self.asking))
    }

    fn is_asked(&self) -> bool {
        self.asking.load(Ordering::Relaxed) > 0
    }

    pub(crate) fn encoder(&self) -> Option<&Encoder> {
        self.encoder.as_ref()
    }

    pub(crate) fn cache(&self) -> Arc<VectorCache> {
        Arc::clone(&self.cache)
    }

    pub(crate) fn texts(&self) -> Arc<TextCache> {
        Arc::clone(&self.texts)
    }

    pub(crate) fn near(&self) -> Arc<NearCache> {
        Arc::clone(&self.near)
    }

    pub(crate) async fn shutdown(&self) {
        if let Some(encoder) = &self.encoder {
            encoder.shutdown().await;
        }
    }
}

/// What became of a round of reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Round {
    /// There is more.
    Read,
    /// Somebody waits for a reply.
    Interrupted,
    /// Everything is read.
    Done,
}

impl Engine {
    /// Reads what was said whenever nobody waits for a reply, until the engine ends. Without an encoder nothing is done.
    pub(crate) fn read_in_background(&self) {
        if let Some(encoder) = self.reading().encoder().cloned() {
            tokio::spawn(read_on(self.downgrade(), encoder));
        }
    }

    /// Reads everything that is to be read, and says how many texts that were; 0 without an encoder (`nook memory learn`).
    ///
    /// # Errors
    /// The encoder cannot be run, or the store not be written.
    pub async fn learn(&self) -> Answer<u32> {
        let Some(encoder) = self.reading().encoder() else { return Ok(0) };
        self.begin_reading(encoder).await?;
        self.look_through_books(|| false).await?;
        let count = |store: &store::Read<'_>| Ok(store.vectors().count_unread()? + store.meanings().count_unread()?);
        let unread = self.store().read(count).await?;
        while self.read_some(encoder, || false).await? == Round::Read {}
        Ok(unread)
    }

    /// What another encoder read, and what was passed over, is to be read.
    async fn begin_reading(&self, encoder: &Encoder) -> Answer<()> {
        let model = encoder.model().to_owned();
        let begin = move |store: &mut store::Write<'_>| {
            store.vectors_mut().read_anew(&model)?;
            store.meanings_mut().read_anew(&model)
        };
        Ok(self.store().write(begin).await?)
    }

    /// Reads a few texts; between two of them it looks whether it is to stop.
    async fn read_some(&self, encoder: &Encoder, stop: impl Fn() -> bool) -> Answer<Round> {
        if stop() {
            return Ok(Round::Interrupted);
        }
        // They are few and short, and who has just written one expects it to count at once (S2.32).
        match self.read_things(encoder, &stop).await? {
            Round::Done => {}
            round => return Ok(round),
        }
        let unread = self.store().read(|store| store.vectors().unread(AT_ONCE)).await?;
        if unread.is_empty() {
            return Ok(Round::Done);
        }
        let speakers = self.heard_in(unread.iter().map(|text| text.chat).collect()).await?;
        let (learned, left): (Vec<_>, Vec<_>) = unread.into_iter().partition(|text| speakers.contains_key(&text.chat));
        for text in left {
            self.store().write(move |store| store.vectors_mut().pass_over(&text)).await?;
        }
        for few in learned.chunks(AT_A_TIME) {
            if !read(self.store(), encoder, few, &speakers, &stop).await? {
                return Ok(Round::Interrupted);
            }
        }
        Ok(Round::Read)
    }

    /// Who talks in each of `chats`, but those where memory is off: nothing is read there (S3.24).
    async fn heard_in(&self, chats: HashSet<ChatId>) -> Answer<HashMap<ChatId, Speakers>> {
        let mut heard = HashMap::with_capacity(chats.len());
        for id in chats {
            let chat: Option<Chat> = self.store().read(move |store| store.chats().get(id)).await?;
            let Some(chat) = chat else { continue };
            if self.resolved(&chat, None, None).await?.values.memory {
                heard.insert(id, self.speakers(&chat).await?);
            }
        }
        Ok(heard)
    }
}

/// Whether all of `texts` was read and kept; what was read until it was told to `stop` is kept. `speakers` are those of their
/// chats.
async fn read(
    store: &Store,
    encoder: &Encoder,
    texts: &[UnreadText],
    speakers: &HashMap<ChatId, Speakers>,
    stop: impl Fn() -> bool,
) -> Answer<bool> {
    let (mut read, model) = (Vec::with_capacity(texts.len()), encoder.model().to_owned());
    for text in texts {
        let Some(passages) = encoder.read(text, &speakers[&text.chat], &stop).await? else { break };
        read.push((text.clone(), passages));
    }
    let all = read.len() == texts.len();
    let keep = move |store: &mut store::Write<'_>| {
        read.iter().try_for_each(|(text, passages)| store.vectors_mut().keep(text, &model, passages))
    };
    store.write(keep).await?;
    Ok(all)
}

/// Reads all of a store at one go, in whose chats `speakers` talk.
pub(crate) async fn read_all(store: &Store, encoder: &Encoder, speakers: &HashMap<ChatId, Speakers>) -> Answer<()> {
    loop {
        let unread = store.read(|store| store.vectors().unread(AT_ONCE)).await?;
        if unread.is_empty() {
            return Ok(());
        }
        read(store, encoder, &unread, speakers, || false).await?;
    }
}

/// Whatever happens may have brought something to read. A failure waits for the next occasion.
async fn read_on(engine: WeakEngine, encoder: Encoder) {
    let Some((mut news, ended)) =
        engine.upgrade().map(|engine| (engine.subscribe(), engine.reading_ahead().ended().clone()))
    else {
        return;
    };
    let mut begun = false;
    loop {
        let Some(engine) = engine.upgrade().filter(|_| !ended.is_cancelled()) else { return };
        let at_work = engine.reading_ahead().at_work();
        let round = {
            let round = async {
                if !begun {
                    engine.begin_reading(&encoder).await?;
                    begun = true;
                }
                let stop = || ended.is_cancelled() || !engine.running().none() || engine.reading().is_asked();
                engine.read_some(&encoder, stop).await
            };
            // A panic on one text must not stop the reading of all others.
            contained(round).await
        };
        drop(engine);
        drop(at_work);
        match round {
            Ok(Round::Read) => {}
            Ok(Round::Interrupted) => {
                let _ = ended.run_until_cancelled(tokio::time::sleep(REST)).await;
            }
            Ok(Round::Done) | Err(_) => {
                if let Err(error) = round {
                    tracing::warn!(%error, "what was said could not be read");
                }
                match ended.run_until_cancelled(news.next()).await {
                    Some(Some(_)) => {}
                    _ => return,
                }
            }
        }
    }
}
