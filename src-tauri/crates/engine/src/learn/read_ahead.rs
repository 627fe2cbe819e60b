//! Prefill in idle time: reads the open chat at startup, and after a reply everything that the next
//! turn will send before the user's message. If the next turn would have to cut the window, it is
//! cut now. Any action of the user has priority and cancels it.

use context::EpochReason;
use domain::ChatId;
use domain::chat::{Chat, Message, Role};
use domain::prompt::Prompt;
use domain::sampling::Sampling;
use futures_util::StreamExt;
use provider::{GenerationEvent, Request};
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use crate::api::{Changed, TurnOptions};
use crate::base::error::{ApiResult, without_content};
use crate::base::panics::contained;
use crate::learn::handle::Learning;
use crate::library::snapshots::macro_variables;
use crate::settings::model_handles::handle::ModelHandle;
use crate::turn::assembly::activated::ActivatedTurn;
use crate::turn::assembly::made::BuiltPrompt;
use crate::turn::inputs::turn_inputs::ReplyTo;

/// Number of messages in which the user's last one and the longest context block are searched.
const NEAR: u32 = 20;

impl Learning {
    /// Loads the model that will answer next and lets it read the open chat, so that the first
    /// reply comes sooner.
    pub(crate) fn warm_up_in_background(&self) {
        let learning = self.clone();
        let at_work = self.base().idle().at_work();
        tokio::spawn(async move {
            learning.read(|leave| learning.read_open_chat(leave)).await;
            learning.recall_service().read_in_background();
            learning
                .read(|leave| learning.learn_from_open_chat(leave))
                .await;
            drop(learning);
            drop(at_work);
        });
    }

    /// Reads what the next turn will send before the user's message. The model knows most of it,
    /// unless the reply is split into other tokens than it was written in, or scripts rewrite it.
    /// Cuts the window if the next turn would have to.
    pub(crate) async fn make_room(&self, chat: ChatId, options: &TurnOptions) {
        self.read(|leave| self.try_to_make_room(chat, options, leave))
            .await;
    }

    /// Runs idle work. An error is only logged, because the next reply reports it.
    pub(crate) async fn read<F: Future<Output = ApiResult<()>>>(
        &self,
        work: impl FnOnce(CancellationToken) -> F,
    ) {
        let leave = self.base().idle().begin();
        // A reply that starts after this check cancels the work.
        if !self.base().running().none() {
            return;
        }
        if let Some(Err(error)) = leave
            .run_until_cancelled(
                contained(work(leave.clone())).instrument(tracing::debug_span!("idle")),
            )
            .await
        {
            tracing::info!(error = without_content(&error), "a chat was not read ahead");
        }
    }

    async fn read_open_chat(&self, leave: CancellationToken) -> ApiResult<()> {
        let Some(open) = self.library().chats.startup().await?.chat else {
            return Ok(());
        };
        let chat = self.library().chat_lookup.chat(open).await?;
        let options = TurnOptions::default();
        let Some(model_handle) = self.reader(&chat, &options).await? else {
            return Ok(());
        };
        let mut turn = self
            .turns()
            .assembly
            .collect(chat, ReplyTo::Last, &model_handle, &options)
            .await?;
        let made = self
            .turns()
            .assembly
            .make(&mut turn, &model_handle, &options)
            .await?;
        let prompt = self.library().assets.with_pictures(&made.assembled).await;
        read_prompt(turn.inputs.cache_key(), &model_handle, prompt, leave).await?;
        self.library()
            .stale_caches
            .note_if_withdrawn(turn.inputs.snapshot.chat.id, turn.inputs.withdrawals)
            .await
    }

    /// Learns what was pending when the app closed.
    async fn learn_from_open_chat(&self, leave: CancellationToken) -> ApiResult<()> {
        match self.library().chats.startup().await?.chat {
            Some(open) => self.learn_from(open, &TurnOptions::default(), leave).await,
            None => Ok(()),
        }
    }

    async fn try_to_make_room(
        &self,
        chat: ChatId,
        options: &TurnOptions,
        leave: CancellationToken,
    ) -> ApiResult<()> {
        let chat = self.library().chat_lookup.chat(chat).await?;
        let Some(model_handle) = self.reader(&chat, options).await? else {
            return Ok(());
        };
        let Some(words) = self.long_input(chat.id).await? else {
            return Ok(());
        };
        let mut turn = self
            .turns()
            .assembly
            .collect(chat, ReplyTo::Draft(words), &model_handle, options)
            .await?;
        let mut made = self
            .turns()
            .assembly
            .make(&mut turn, &model_handle, options)
            .await?;
        // The window of a single character is cut by its own turn.
        let shared = turn.inputs.known.window_of().is_none();
        let is_ready = match made.assembled.new_epoch {
            None => true,
            Some(EpochReason::Full) => shared && self.keep_cut(&turn, &made).await?,
            Some(_) => false,
        };
        if !is_ready {
            return Ok(());
        }
        remove_guess(&mut made.assembled.prompt);
        let prompt = self.library().assets.with_pictures(&made.assembled).await;
        read_prompt(turn.inputs.cache_key(), &model_handle, prompt, leave).await?;
        self.library()
            .stale_caches
            .note_if_withdrawn(turn.inputs.snapshot.chat.id, turn.inputs.withdrawals)
            .await
    }

    /// The model that reads `chat` ahead: a local one, because it keeps a cache, and only if the
    /// settings allow it.
    async fn reader(&self, chat: &Chat, options: &TurnOptions) -> ApiResult<Option<ModelHandle>> {
        let model_handle = self
            .config()
            .model_handles
            .model_handle(chat, options)
            .await?;
        Ok((model_handle.is_local() && model_handle.values.read_ahead).then_some(model_handle))
    }

    /// The user's last message. The next one is probably of similar length.
    pub(crate) async fn likely_words(&self, chat: ChatId) -> ApiResult<Option<String>> {
        let near = self
            .base()
            .store()
            .read(move |store| store.messages().page(chat, None, NEAR))
            .await?;
        let last = near
            .iter()
            .rev()
            .find(|message| message.role == Role::User && !message.hidden);
        Ok(last.map(|message| message.text().to_owned()))
    }

    /// The user's last message, repeated until it is as long as with the longest of the last
    /// context blocks. New words bring a new block, and a guess without one would leave some cuts
    /// to the next turn, while the user waits.
    async fn long_input(&self, chat: ChatId) -> ApiResult<Option<String>> {
        let near = self
            .base()
            .store()
            .read(move |store| store.messages().page(chat, None, NEAR))
            .await?;
        let said: Vec<_> = near
            .iter()
            .filter(|message| message.role == Role::User && !message.hidden)
            .collect();
        let Some(last) = said.last().map(|message| message.text()) else {
            return Ok(None);
        };
        let block = said
            .iter()
            .map(|message| block_length(message))
            .max()
            .unwrap_or(0);
        Ok(Some(vec![last; 1 + block / last.len().max(1)].join(" ")))
    }

    /// Stores the window as `made` has cut it. Returns false if a turn came first. A turn reserves
    /// its chat before it writes, so none can have started from the old window.
    async fn keep_cut(&self, turn: &ActivatedTurn, made: &BuiltPrompt) -> ApiResult<bool> {
        let planned = &turn.inputs.snapshot.chat;
        let covers = turn.memory.covers.clone();
        let covered = !covers.is_empty();
        let id = planned.id;
        let before = planned.window.clone();
        let running = self.base().running().clone();
        let window = made.assembled.window.clone();
        let head_at = made.head_at;
        let head = made.head_changes.clone();
        let blocks = turn.lasting(&made.assembled.context_blocks);
        let judged = made.assembled.judged.clone();
        let withdrawals = turn.inputs.withdrawals;
        let kept = self.base().store().checkpoint(move |store| {
            let Some(chat) = store.chats().get(id)?.filter(|chat| chat.window == before) else {
                return Ok(false);
            };
            if !running.none_in(id) || store.memories().retraction_count()? != withdrawals {
                return Ok(false);
            }
            // The guessed message has no stored block.
            for (message, blocks) in blocks.iter().filter(|(message, _)| !message.0.is_nil()) {
                store
                    .messages_mut()
                    .set_context_block(*message, Some(&context::frozen::write(blocks)))?;
            }
            for (message, importance) in &judged {
                store
                    .messages_mut()
                    .set_importance(*message, Some(*importance))?;
            }
            crate::recall_service::messages::keyframes::keep(store, &covers)?;
            macro_variables::keep_head(store, &chat, head_at, head)?;
            store.chats_mut().set_window(id, &window)?;
            Ok(true)
        });
        let kept = kept.await?;
        if kept && covered {
            self.base()
                .events()
                .changed(Changed::Memories, Some(planned.character.to_string()));
        }
        Ok(kept)
    }
}

/// Bytes of the context block of a message, about as it is sent.
fn block_length(message: &Message) -> usize {
    /// A bullet, and the speaker and date of an excerpt.
    const START: usize = 40;
    let blocks = message
        .context_block
        .as_deref()
        .map(context::frozen::read)
        .unwrap_or_default();
    blocks
        .iter()
        .map(|block| START + block.heading.len() + block.title.len() + block.text.len())
        .sum()
}

/// Removes the guessed message and what follows it. It is the last text that does not belong to the
/// chat format.
fn remove_guess(prompt: &mut Prompt) {
    let guess = prompt.segments.iter().rposition(|segment| !segment.control);
    prompt.segments.truncate(guess.unwrap_or(0));
}

/// Reads the prompt and generates nothing. Its tokens stay in the worker's cache for the next
/// prompt, which starts with them.
async fn read_prompt(
    cache_key: String,
    model_handle: &ModelHandle,
    prompt: Prompt,
    leave: CancellationToken,
) -> ApiResult<()> {
    let sampling = Sampling {
        max_tokens: 0,
        ..model_handle.sampling.clone()
    };
    let request = Request {
        cache_key,
        background: false,
        prompt,
        sampling,
        response_schema: None,
    };
    let mut reading = model_handle.provider.stream(request, leave);
    while let Some(event) = reading.next().await {
        if let GenerationEvent::Finished { usage, .. } = event? {
            tracing::info!(
                read_ahead = usage.evaluated.unwrap_or(0),
                "a prompt was read ahead"
            );
        }
    }
    Ok(())
}
