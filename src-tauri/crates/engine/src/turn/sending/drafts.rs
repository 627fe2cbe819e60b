//! The user's next message, written by the model as a draft for the composer. It is never sent by
//! itself.

use domain::ChatId;
use domain::chat::Chat;
use futures_util::StreamExt;
use provider::{FinishReason, GenerationEvent};

use crate::api::{Ask, EndReason, Event, Figures, TurnOptions};
use crate::base::error::{ApiResult, bad_input, internal};
use crate::base::panics::contained_as;
use crate::base::running::ChatReservation;
use crate::turn::inputs::turn_inputs::ReplyTo;
use crate::turn::replies::generate::Finish;
use crate::turn::replies::passages::{Passages, ReplyPart};
use crate::turn::replies::prepared::PreparedTurn;
use crate::turn::replies::stream;
use crate::turn::sending::Sending;

const DEFECT: &str = "the draft could not be written";

/// Text and figures of the draft so far.
#[derive(Default)]
struct Words {
    text: String,
    figures: Figures,
}

impl Sending {
    /// Starts a draft of the user's next message in their persona's voice. `Event::Draft` and
    /// `Event::Drafted` report its progress. [`Self::stop`] ends it and keeps the text so far.
    ///
    /// # Errors
    /// `Busy` while something is being written in the chat; `BadInput` if the composer is not
    /// empty.
    pub(crate) async fn impersonate(&self, chat: ChatId) -> ApiResult<()> {
        self.impersonate_with(chat, TurnOptions::default()).await
    }

    /// Works like [`Self::impersonate`], with options for this draft.
    ///
    /// # Errors
    /// The errors of [`Self::impersonate`].
    pub(crate) async fn impersonate_with(
        &self,
        chat: ChatId,
        options: TurnOptions,
    ) -> ApiResult<()> {
        let reservation = self.base().running().begin_reply(chat)?;
        let chat = self.library().chat_lookup.chat(chat).await?;
        if !chat.draft.trim().is_empty() {
            return Err(bad_input(
                "The message box is not empty.",
                "Send or clear its text first.",
            ));
        }
        self.base().idle().stop();
        reservation.draft("");
        self.base()
            .events()
            .announce(Event::Drafting { chat: chat.id });
        let options = TurnOptions {
            ask: Some(Ask::Impersonate),
            ..options
        };
        let sending = self.clone();
        let at_work = self.base().idle().at_work();
        tokio::spawn(async move {
            sending.draft(chat, options, reservation).await;
            drop(sending);
            drop(at_work);
        });
        Ok(())
    }

    async fn draft(&self, chat: Chat, options: TurnOptions, reservation: ChatReservation) {
        let mut words = Words::default();
        let written = contained_as(
            DEFECT,
            Box::pin(self.write_draft(&chat, &options, &reservation, &mut words)),
        )
        .await;
        let text = words.text.trim_end().to_owned();
        let reason = match written {
            Ok(FinishReason::Stop) if text.is_empty() => EndReason::Failed {
                error: crate::turn::replies::draft::silent(),
            },
            Ok(FinishReason::Length) if text.is_empty() => EndReason::Failed {
                error: crate::turn::replies::draft::only_thoughts(FinishReason::Length),
            },
            Ok(FinishReason::Stop) => EndReason::Stop,
            Ok(FinishReason::Length) => EndReason::Length,
            Ok(FinishReason::Cancelled) => EndReason::Cancelled,
            Err(error) => EndReason::Failed { error },
        };
        let id = chat.id;
        let kept = text.clone();
        let keep = move |store: &mut store::WriteTransaction<'_>| {
            if kept.is_empty() {
                Ok(())
            } else {
                store.chats_mut().set_draft(id, &kept)
            }
        };
        let kept = self.base().store().write(keep).await;
        let reason = kept.map_or_else(
            |error| EndReason::Failed {
                error: error.into(),
            },
            |()| reason,
        );
        drop(reservation);
        self.base().events().announce(Event::Drafted {
            chat: id,
            text,
            figures: words.figures,
            reason,
        });
    }

    async fn write_draft(
        &self,
        chat: &Chat,
        options: &TurnOptions,
        reservation: &ChatReservation,
        words: &mut Words,
    ) -> ApiResult<FinishReason> {
        let started = std::time::Instant::now();
        let preparing = self.generation.prepare(chat, ReplyTo::Last, options);
        let Some(prepared) = reservation.cancel.run_until_cancelled(preparing).await else {
            return Ok(FinishReason::Cancelled);
        };
        let prepared = prepared?;
        let PreparedTurn {
            model_handle,
            turn,
            made,
        } = &prepared;
        let id = chat.id;
        let mut passages = Passages::new(&turn.inputs.snapshot.persona.name, made.opened());
        let mut stream = model_handle.provider.stream(
            prepared.request(&self.generation).await?,
            reservation.cancel.clone(),
        );
        let mut first_text_ms = None;
        let finish = loop {
            let Some(event) = stream.next().await else {
                return Err(internal("a draft's stream ended early"));
            };
            match event? {
                GenerationEvent::Text(text) => {
                    first_text_ms.get_or_insert_with(|| crate::base::clock::millis(started));
                    for part in passages.push(&text) {
                        self.say(reservation, id, part, words);
                    }
                }
                GenerationEvent::Finished {
                    reason,
                    usage,
                    timings,
                } => {
                    break Finish {
                        reason,
                        usage,
                        timings,
                    };
                }
                event => stream::news(id, event)
                    .into_iter()
                    .for_each(|event| self.base().events().announce(event)),
            }
        };
        self.library()
            .stale_caches
            .note_if_withdrawn(turn.inputs.snapshot.chat.id, turn.inputs.withdrawals)
            .await?;
        for part in passages.finish() {
            self.say(reservation, id, part, words);
        }
        words.figures = crate::turn::replies::draft::figures(
            Some(&finish),
            made.assembled.total,
            first_text_ms,
        );
        Ok(finish.reason)
    }

    fn say(&self, reservation: &ChatReservation, chat: ChatId, part: ReplyPart, words: &mut Words) {
        // The end of the draft sends the final text to listeners again.
        if part.closes_thoughts {
            words.text.clear();
            reservation.restart_draft();
        }
        let piece = part.words;
        if piece.is_empty() {
            return;
        }
        words.text.push_str(&piece);
        let seq = reservation.draft(&piece);
        self.base().events().announce(Event::Draft {
            chat,
            seq,
            text: piece,
        });
    }
}
