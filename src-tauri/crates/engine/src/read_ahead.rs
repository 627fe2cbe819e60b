//! Reading while nobody waits: the open chat at the start, and after a reply the window that the next turn would have to cut
//! (design, section 4). Whatever the user does comes first and ends it.

use std::sync::{Arc, Mutex, PoisonError};

use context::EpochReason;
use domain::ChatId;
use domain::chat::{Chat, Role};
use domain::sampling::Sampling;
use futures_util::StreamExt;
use provider::Request;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use crate::Engine;
use crate::answer::Answerer;
use crate::api::Changed;
use crate::collect::{Aim, Collected, Made};
use crate::error::Answer;
use crate::macro_variables;
use crate::memory;
use crate::panics::contained;
use crate::turn::TurnOptions;

/// Messages among which the user's last one is looked for.
const NEAR: u32 = 20;

/// Who may use the model while nobody waits for it.
pub(crate) struct ReadingAhead {
    leave: Mutex<CancellationToken>,
    /// Cancelled at the end, with every leave.
    ended: CancellationToken,
    at_work: Arc<watch::Sender<usize>>,
}

/// Counts among the work until it is dropped, which whoever has an engine does behind that: then the data folder is free.
pub(crate) struct AtWork(Arc<watch::Sender<usize>>);

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.send_modify(|works| *works -= 1);
    }
}

impl Default for ReadingAhead {
    fn default() -> Self {
        let ended = CancellationToken::new();
        Self { leave: Mutex::new(ended.child_token()), ended, at_work: Arc::new(watch::Sender::new(0)) }
    }
}

impl ReadingAhead {
    /// A new leave, which ends the one before.
    fn begin(&self) -> CancellationToken {
        let leave = self.ended.child_token();
        let mut held = self.leave.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *held, leave.clone()).cancel();
        leave
    }

    /// The user is here: the model is theirs.
    pub(crate) fn stop(&self) {
        self.leave.lock().unwrap_or_else(PoisonError::into_inner).cancel();
    }

    /// Cancelled when nothing is to be done in idle time any more.
    pub(crate) fn ended(&self) -> &CancellationToken {
        &self.ended
    }

    /// Nothing is read ahead any more.
    pub(crate) fn end(&self) {
        self.ended.cancel();
    }

    pub(crate) fn at_work(&self) -> AtWork {
        self.at_work.send_modify(|works| *works += 1);
        AtWork(Arc::clone(&self.at_work))
    }
}

impl Engine {
    /// Loads the model that will answer next and lets it read the open chat, so that the first reply need not wait.
    pub fn warm_up_in_background(&self) {
        let (engine, at_work) = (self.clone(), self.reading_ahead().at_work());
        tokio::spawn(async move {
            engine.read(|leave| engine.read_open_chat(leave)).await;
            engine.read_in_background();
            engine.read(|leave| engine.learn_from_open_chat(leave)).await;
            drop(engine);
            drop(at_work);
        });
    }

    /// Waits until nothing is written and nothing read ahead.
    pub async fn settle(&self) {
        let mut at_work = self.reading_ahead().at_work.subscribe();
        // The sender lives as long as the engine.
        let _ = at_work.wait_for(|works| *works == 0).await;
    }

    /// Cuts the window that the next turn would have to cut, and reads what is left of it.
    pub(crate) async fn make_room(&self, chat: ChatId, options: &TurnOptions) {
        self.read(|leave| self.try_to_make_room(chat, options, leave)).await;
    }

    /// Failing is for the next reply to tell.
    pub(crate) async fn read<F: Future<Output = Answer<()>>>(&self, work: impl FnOnce(CancellationToken) -> F) {
        let leave = self.reading_ahead().begin();
        // Whoever takes a place after this look ends the leave.
        if !self.running().none() {
            return;
        }
        if let Some(Err(error)) =
            leave.run_until_cancelled(contained(work(leave.clone())).instrument(tracing::debug_span!("idle"))).await
        {
            tracing::info!(%error, "a chat was not read ahead");
        }
    }

    async fn read_open_chat(&self, leave: CancellationToken) -> Answer<()> {
        let Some(open) = self.startup().await?.chat else { return Ok(()) };
        let chat = self.chat(open.parse()?).await?;
        let options = TurnOptions::default();
        let Some(answerer) = self.reader(&chat, &options).await? else { return Ok(()) };
        let mut collected = self.collect(chat, Aim::Last, &answerer, &options).await?;
        let made = self.make(&mut collected, &answerer, &options).await?;
        read_prompt(collected.chat.id, &answerer, made, leave).await?;
        self.note_if_withdrawn(&collected).await
    }

    /// What was due when the program ended.
    async fn learn_from_open_chat(&self, leave: CancellationToken) -> Answer<()> {
        match self.startup().await?.chat {
            Some(open) => self.learn_from(open.parse()?, &TurnOptions::default(), leave).await,
            None => Ok(()),
        }
    }

    async fn try_to_make_room(&self, chat: ChatId, options: &TurnOptions, leave: CancellationToken) -> Answer<()> {
        let chat = self.chat(chat).await?;
        let Some(answerer) = self.reader(&chat, options).await? else { return Ok(()) };
        let Some(words) = self.likely_words(chat.id).await? else { return Ok(()) };
        let mut collected = self.collect(chat, Aim::Words(words), &answerer, options).await?;
        let made = self.make(&mut collected, &answerer, options).await?;
        if made.assembled.new_epoch != Some(EpochReason::Full) || !self.keep_cut(&collected, &made).await? {
            return Ok(());
        }
        read_prompt(collected.chat.id, &answerer, made, leave).await
    }

    /// Who reads `chat`: only a local model has something of it, and only if it may.
    async fn reader(&self, chat: &Chat, options: &TurnOptions) -> Answer<Option<Answerer>> {
        let answerer = self.answerer(chat, options).await?;
        Ok((answerer.template.is_some() && answerer.values.read_ahead).then_some(answerer))
    }

    /// What the user said last; what they say next is about as long.
    pub(crate) async fn likely_words(&self, chat: ChatId) -> Answer<Option<String>> {
        let near = self.store().read(move |store| store.messages().page(chat, None, NEAR)).await?;
        let last = near.iter().rev().find(|message| message.role == Role::User && !message.hidden);
        Ok(last.map(|message| message.text().to_owned()))
    }

    /// Keeps the window as `made` has it; false if somebody came first. A turn takes its place before it asks the writer
    /// for anything, so none can have begun on the window as it was.
    async fn keep_cut(&self, collected: &Collected, made: &Made) -> Answer<bool> {
        let (planned, covers) = (&collected.chat, collected.memory.covers.clone());
        let covered = !covers.is_empty();
        let (id, before, running) = (planned.id, planned.window.clone(), self.running().clone());
        let (window, head_at, head) = (made.assembled.window.clone(), made.head_at, made.head_changes.clone());
        let (blocks, judged) = (made.assembled.context_blocks.clone(), made.assembled.judged.clone());
        let withdrawals = collected.withdrawals;
        let kept = self.store().checkpoint(move |store| {
            let Some(chat) = store.chats().get(id)?.filter(|chat| chat.window == before) else { return Ok(false) };
            if !running.none_in(id) || store.memories().withdrawals()? != withdrawals {
                return Ok(false);
            }
            // The words that were only guessed have no block to keep.
            for (message, blocks) in blocks.iter().filter(|(message, _)| !message.0.is_nil()) {
                store.messages_mut().set_context_block(*message, Some(&context::frozen::write(blocks)))?;
            }
            for (message, importance) in &judged {
                store.messages_mut().set_importance(*message, Some(*importance))?;
            }
            memory::keep_covers(store, &covers)?;
            macro_variables::keep_head(store, &chat, head_at, head)?;
            store.chats_mut().set_window(id, &window)?;
            Ok(true)
        });
        let kept = kept.await?;
        if kept && covered {
            self.events().changed(Changed::Memories, Some(planned.character.to_string()));
        }
        Ok(kept)
    }
}

/// Nothing is written: the tokens stay in the worker's cache for the next prompt, which begins with them.
async fn read_prompt(chat: ChatId, answerer: &Answerer, made: Made, leave: CancellationToken) -> Answer<()> {
    let sampling = Sampling { max_tokens: 0, ..answerer.sampling };
    let request = Request { cache_key: chat.to_string(), prompt: made.assembled.prompt, sampling, shape: None };
    let mut reading = answerer.provider.stream(request, leave);
    while let Some(event) = reading.next().await {
        event?;
    }
    Ok(())
}
