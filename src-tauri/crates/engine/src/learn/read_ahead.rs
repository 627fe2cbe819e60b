//! Prefill in idle time: reads the open chat at startup, and after a reply the window that the next turn would have
//! to cut. Any action of the user has priority and cancels it.

use context::EpochReason;
use domain::ChatId;
use domain::chat::{Chat, Role};
use domain::prompt::Prompt;
use domain::sampling::Sampling;
use futures_util::StreamExt;
use provider::{GenerationEvent, Request};
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use crate::api::Changed;
use crate::api::TurnOptions;
use crate::base::error::ApiResult;
use crate::base::panics::contained;
use crate::learn::handle::Learning;
use crate::library::macro_variables;
use crate::settings::model_handle::ModelHandle;
use crate::turn::activated::ActivatedTurn;
use crate::turn::inputs::Aim;
use crate::turn::made::BuiltPrompt;

/// Number of messages in which the user's last one is searched.
const NEAR: u32 = 20;

impl Learning {
    /// Loads the model that will answer next and lets it read the open chat, so that the first reply comes sooner.
    pub(crate) fn warm_up_in_background(&self) {
        let (learning, at_work) = (self.clone(), self.base().idle().at_work());
        tokio::spawn(async move {
            learning.read(|leave| learning.read_open_chat(leave)).await;
            learning.recall_service().read_in_background();
            learning.read(|leave| learning.learn_from_open_chat(leave)).await;
            drop(learning);
            drop(at_work);
        });
    }

    /// Cuts the window that the next turn would have to cut, and reads the rest of it.
    pub(crate) async fn make_room(&self, chat: ChatId, options: &TurnOptions) {
        self.read(|leave| self.try_to_make_room(chat, options, leave)).await;
    }

    /// Runs idle work. An error is only logged, because the next reply reports it.
    pub(crate) async fn read<F: Future<Output = ApiResult<()>>>(&self, work: impl FnOnce(CancellationToken) -> F) {
        let leave = self.base().idle().begin();
        // A reply that starts after this check cancels the work.
        if !self.base().running().none() {
            return;
        }
        if let Some(Err(error)) =
            leave.run_until_cancelled(contained(work(leave.clone())).instrument(tracing::debug_span!("idle"))).await
        {
            tracing::info!(%error, "a chat was not read ahead");
        }
    }

    async fn read_open_chat(&self, leave: CancellationToken) -> ApiResult<()> {
        let Some(open) = self.library().startup().await?.chat else { return Ok(()) };
        let chat = self.library().chat(open.parse()?).await?;
        let options = TurnOptions::default();
        let Some(answerer) = self.reader(&chat, &options).await? else { return Ok(()) };
        let mut turn = self.turns().collect(chat, Aim::Last, &answerer, &options).await?;
        let made = self.turns().make(&mut turn, &answerer, &options).await?;
        let prompt = self.library().with_pictures(&made.assembled).await;
        read_prompt(turn.inputs.cache_key(), &answerer, prompt, leave).await?;
        self.library().note_if_withdrawn(turn.inputs.snapshot.chat.id, turn.inputs.withdrawals).await
    }

    /// Learns what was pending when the app closed.
    async fn learn_from_open_chat(&self, leave: CancellationToken) -> ApiResult<()> {
        match self.library().startup().await?.chat {
            Some(open) => self.learn_from(open.parse()?, &TurnOptions::default(), leave).await,
            None => Ok(()),
        }
    }

    async fn try_to_make_room(&self, chat: ChatId, options: &TurnOptions, leave: CancellationToken) -> ApiResult<()> {
        let chat = self.library().chat(chat).await?;
        let Some(answerer) = self.reader(&chat, options).await? else { return Ok(()) };
        let Some(words) = self.likely_words(chat.id).await? else { return Ok(()) };
        let mut turn = self.turns().collect(chat, Aim::Words(words), &answerer, options).await?;
        let made = self.turns().make(&mut turn, &answerer, options).await?;
        // The window of a single character is cut by its own turn.
        let shared = turn.inputs.known.window_of().is_none();
        if !shared || made.assembled.new_epoch != Some(EpochReason::Full) || !self.keep_cut(&turn, &made).await? {
            return Ok(());
        }
        let prompt = self.library().with_pictures(&made.assembled).await;
        read_prompt(turn.inputs.cache_key(), &answerer, prompt, leave).await
    }

    /// The model that reads `chat` ahead: a local one, because it keeps a cache, and only if the settings allow it.
    async fn reader(&self, chat: &Chat, options: &TurnOptions) -> ApiResult<Option<ModelHandle>> {
        let answerer = self.config().answerer(chat, options).await?;
        Ok((answerer.is_local() && answerer.values.read_ahead).then_some(answerer))
    }

    /// The user's last message. The next one is probably of similar length.
    pub(crate) async fn likely_words(&self, chat: ChatId) -> ApiResult<Option<String>> {
        let near = self.base().store().read(move |store| store.messages().page(chat, None, NEAR)).await?;
        let last = near.iter().rev().find(|message| message.role == Role::User && !message.hidden);
        Ok(last.map(|message| message.text().to_owned()))
    }

    /// Stores the window as `made` has cut it. Returns false if a turn came first. A turn reserves its chat before it
    /// writes, so none can have started from the old window.
    async fn keep_cut(&self, turn: &ActivatedTurn, made: &BuiltPrompt) -> ApiResult<bool> {
        let (planned, covers) = (&turn.inputs.snapshot.chat, turn.memory.covers.clone());
        let covered = !covers.is_empty();
        let (id, before, running) = (planned.id, planned.window.clone(), self.base().running().clone());
        let (window, head_at, head) = (made.assembled.window.clone(), made.head_at, made.head_changes.clone());
        let (blocks, judged) = (turn.lasting(&made.assembled.context_blocks), made.assembled.judged.clone());
        let withdrawals = turn.inputs.withdrawals;
        let kept = self.base().store().checkpoint(move |store| {
            let Some(chat) = store.chats().get(id)?.filter(|chat| chat.window == before) else { return Ok(false) };
            if !running.none_in(id) || store.memories().retraction_count()? != withdrawals {
                return Ok(false);
            }
            // The guessed message has no stored block.
            for (message, blocks) in blocks.iter().filter(|(message, _)| !message.0.is_nil()) {
                store.messages_mut().set_context_block(*message, Some(&context::frozen::write(blocks)))?;
            }
            for (message, importance) in &judged {
                store.messages_mut().set_importance(*message, Some(*importance))?;
            }
            crate::recall_service::keyframes::keep(store, &covers)?;
            macro_variables::keep_head(store, &chat, head_at, head)?;
            store.chats_mut().set_window(id, &window)?;
            Ok(true)
        });
        let kept = kept.await?;
        if kept && covered {
            self.base().events().changed(Changed::Memories, Some(planned.character.to_string()));
        }
        Ok(kept)
    }
}

/// Reads the prompt and generates nothing. Its tokens stay in the worker's cache for the next prompt, which starts
/// with them.
async fn read_prompt(
    cache_key: String,
    answerer: &ModelHandle,
    prompt: Prompt,
    leave: CancellationToken,
) -> ApiResult<()> {
    let sampling = Sampling { max_tokens: 0, ..answerer.sampling.clone() };
    let request = Request { cache_key, background: false, prompt, sampling, response_schema: None };
    let mut reading = answerer.provider.stream(request, leave);
    while let Some(event) = reading.next().await {
        if let GenerationEvent::Finished { usage, .. } = event? {
            tracing::info!(read_ahead = usage.evaluated.unwrap_or(0), "a prompt was read ahead");
        }
    }
    Ok(())
}
