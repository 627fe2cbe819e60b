//! The replies that are being written: at most one per chat, in any number of chats.

use std::collections::HashMap;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use domain::{ChatId, MessageId, SwipeId};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::api::{ApiError, Drafting, Generating, ReplyTurn};
use crate::base::error::ApiResult;

#[derive(Clone, Default)]
pub(crate) struct Running {
    replies: Arc<Mutex<HashMap<ChatId, ReplyInProgress>>>,
    /// Notified when a reservation ends.
    ended: Arc<Notify>,
}

struct ReplyInProgress {
    /// `None` while the chat is only reserved, by an edit or by a reply that is about to start.
    generating: Option<Generating>,
    /// A draft of the user's next message, so far.
    drafting: Option<Drafting>,
    cancel: CancellationToken,
    /// The user stopped it.
    stopped: bool,
}

/// The reservation of a chat. Dropping it lets the next reply start, however this one ended.
pub(crate) struct ChatReservation {
    running: Running,
    chat: ChatId,
    pub(crate) cancel: CancellationToken,
    /// The reservation that this one is taken from.
    loan: Option<Arc<Loan>>,
}

tokio::task_local! {
    /// The reservation that work in this task may take.
    static LENT: Arc<Loan>;
}

/// A reservation whose holder lets other work use the chat, one part after the other.
struct Loan {
    chat: ChatId,
    cancel: CancellationToken,
    taken: AtomicBool,
}

impl Loan {
    /// Takes the reservation of `chat`. `false` if it is another chat's, or taken.
    fn take(&self, chat: ChatId) -> bool {
        self.chat == chat && !self.taken.swap(true, Ordering::AcqRel)
    }

    fn give_back(&self) {
        self.taken.store(false, Ordering::Release);
    }
}

impl Running {
    /// Reserves the chat for an edit. Only the holder may change the chat's messages. Work that
    /// [`ChatReservation::lend`] runs takes the chat from that reservation.
    pub(crate) fn begin(&self, chat: ChatId) -> ApiResult<ChatReservation> {
        if let Ok(Some(loan)) = LENT.try_with(|loan| loan.take(chat).then(|| loan.clone())) {
            return Ok(ChatReservation {
                running: self.clone(),
                chat,
                cancel: loan.cancel.clone(),
                loan: Some(loan),
            });
        }
        self.begin_reply(chat)
    }

    /// Reserves the chat as soon as no reply is written in it.
    pub(crate) async fn begin_when_free(&self, chat: ChatId) -> ChatReservation {
        loop {
            let mut ended = pin!(self.ended.notified());
            // An end between the attempt and the wait must not be missed.
            ended.as_mut().enable();
            if let Ok(reservation) = self.begin(chat) {
                return reservation;
            }
            ended.await;
        }
    }

    /// Reserves the chat for a reply or a draft, which outlives the work that starts it. It is
    /// therefore refused inside [`ChatReservation::lend`].
    pub(crate) fn begin_reply(&self, chat: ChatId) -> ApiResult<ChatReservation> {
        let mut replies = self.lock();
        if replies.contains_key(&chat) {
            return Err(busy());
        }
        let cancel = CancellationToken::new();
        let reply = ReplyInProgress {
            generating: None,
            drafting: None,
            cancel: cancel.clone(),
            stopped: false,
        };
        replies.insert(chat, reply);
        Ok(ChatReservation {
            running: self.clone(),
            chat,
            cancel,
            loan: None,
        })
    }

    pub(crate) fn of(&self, chat: ChatId) -> Option<Generating> {
        self.lock().get(&chat)?.generating.clone()
    }

    pub(crate) fn draft_of(&self, chat: ChatId) -> Option<Drafting> {
        self.lock().get(&chat)?.drafting.clone()
    }

    /// Whether replies are being written in other chats.
    pub(crate) fn others(&self, chat: ChatId) -> bool {
        self.lock().keys().any(|other| *other != chat)
    }

    /// Whether no chat is reserved.
    pub(crate) fn none(&self) -> bool {
        self.lock().is_empty()
    }

    pub(crate) fn none_in(&self, chat: ChatId) -> bool {
        !self.lock().contains_key(&chat)
    }

    /// Cancels the chat's reply or draft for the user.
    pub(crate) fn stop(&self, chat: ChatId) {
        if let Some(reply) = self.lock().get_mut(&chat) {
            reply.stopped = true;
            reply.cancel.cancel();
        }
    }

    /// Cancels everything, because the app ends.
    pub(crate) fn cancel_all(&self) {
        self.lock().values().for_each(|reply| reply.cancel.cancel());
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ChatId, ReplyInProgress>> {
        self.replies.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ChatReservation {
    /// Runs `work`, which may reserve the same chat for edits. Nobody else can reserve it
    /// meanwhile.
    pub(crate) async fn lend<T>(&self, work: impl Future<Output = T>) -> T {
        let loan = Loan {
            chat: self.chat,
            cancel: self.cancel.clone(),
            taken: AtomicBool::new(false),
        };
        LENT.scope(Arc::new(loan), work).await
    }

    /// Whether the user stopped it. The end of the app cancels too.
    pub(crate) fn stopped(&self) -> bool {
        self.running
            .lock()
            .get(&self.chat)
            .is_some_and(|reply| reply.stopped)
    }

    /// Records which reply is being written, and which text it continues.
    pub(crate) fn describe(
        &self,
        message: MessageId,
        swipe: SwipeId,
        base: &str,
        turn: Option<ReplyTurn>,
    ) {
        let (text, thoughts) = match context::display::display(base) {
            Some(display) => (display.text, display.thoughts),
            None => (base.to_owned(), String::new()),
        };
        if let Some(reply) = self.running.lock().get_mut(&self.chat) {
            reply.generating = Some(Generating {
                message,
                swipe,
                text,
                thoughts,
                seq: 0,
                turn,
            });
        }
    }

    /// Starts a draft if `piece` is empty; otherwise appends the piece and returns its number.
    pub(crate) fn draft(&self, piece: &str) -> u32 {
        let mut replies = self.running.lock();
        let Some(reply) = replies.get_mut(&self.chat) else {
            return 0;
        };
        let drafting = reply.drafting.get_or_insert_default();
        if piece.is_empty() {
            return 0;
        }
        drafting.text.push_str(piece);
        drafting.seq += 1;
        drafting.seq - 1
    }

    /// Clears the draft, because its text was thoughts.
    pub(crate) fn restart_draft(&self) {
        if let Some(drafting) = self
            .running
            .lock()
            .get_mut(&self.chat)
            .and_then(|reply| reply.drafting.as_mut())
        {
            drafting.text.clear();
        }
    }

    /// Adds a piece of text and returns its sequence number.
    pub(crate) fn write(&self, text: &str) -> u32 {
        self.grow(|reply| reply.text.push_str(text))
    }

    /// Adds to the thoughts, which share the sequence with the text.
    pub(crate) fn think(&self, thoughts: &str) -> u32 {
        self.grow(|reply| reply.thoughts.push_str(thoughts))
    }

    /// Turns the reply's text after `base` into thoughts. Returns the number of the event.
    pub(crate) fn turn_into_thoughts(&self, base: &str) -> u32 {
        let base = context::display::display(base).map_or(base.len(), |display| display.text.len());
        self.grow(|reply| {
            let thoughts = reply.text.split_off(reply.text.floor_char_boundary(base));
            reply.thoughts.push_str(&thoughts);
        })
    }

    fn grow(&self, change: impl FnOnce(&mut Generating)) -> u32 {
        let mut replies = self.running.lock();
        let Some(reply) = replies
            .get_mut(&self.chat)
            .and_then(|reply| reply.generating.as_mut())
        else {
            return 0;
        };
        change(reply);
        reply.seq += 1;
        reply.seq - 1
    }
}

impl Drop for ChatReservation {
    fn drop(&mut self) {
        match &self.loan {
            Some(loan) => loan.give_back(),
            None => {
                self.running.lock().remove(&self.chat);
                self.running.ended.notify_waiters();
            }
        }
    }
}

fn busy() -> ApiError {
    ApiError::Busy {
        message: "A reply is being written in this chat.".into(),
        hint: "Wait until it ends, or stop it.".into(),
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn one_reply_per_chat_and_late_listeners_can_join() {
        let running = Running::default();
        let chat = ChatId(Uuid::from_u128(1));
        let begin = |chat| running.begin(chat);
        let reservation = begin(chat).unwrap();
        assert!(running.of(chat).is_none());
        reservation.describe(MessageId(Uuid::nil()), SwipeId(Uuid::nil()), "", None);
        assert!(matches!(begin(chat), Err(ApiError::Busy { .. })));
        let other = begin(ChatId(Uuid::from_u128(2))).unwrap();

        assert_eq!(
            (reservation.write("Once "), reservation.write("upon")),
            (0, 1)
        );
        let joined = running.of(chat).unwrap();
        assert_eq!((joined.text.as_str(), joined.seq), ("Once upon", 2));

        assert_eq!(reservation.turn_into_thoughts("Once "), 2);
        let turned = running.of(chat).unwrap();
        assert_eq!(
            (turned.text.as_str(), turned.thoughts.as_str(), turned.seq),
            ("Once ", "upon", 3)
        );

        drop((reservation, other));
        assert!(running.of(chat).is_none());
        begin(chat).unwrap();
    }

    #[tokio::test]
    async fn a_chat_is_reserved_when_its_reply_ends() {
        let running = Running::default();
        let chat = ChatId(Uuid::from_u128(1));
        let reply = running.begin_reply(chat).unwrap();
        let waiting = tokio::spawn({
            let running = running.clone();
            async move { running.begin_when_free(chat).await }
        });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        drop(reply);
        let reserved = waiting.await.unwrap();
        assert!(running.begin(chat).is_err());
        drop(reserved);
    }

    #[tokio::test]
    async fn work_inside_a_reservation_uses_its_chat() {
        let running = Running::default();
        let chat = ChatId(Uuid::from_u128(1));
        let elsewhere = running.clone();
        let reservation = running.begin(chat).unwrap();
        let edits = async {
            drop(running.begin(chat).unwrap());
            let edit = running.begin(chat).unwrap();
            assert!(running.begin(chat).is_err(), "one edit at a time");
            assert!(running.begin_reply(chat).is_err());
            tokio::spawn(async move { assert!(elsewhere.begin(chat).is_err()) })
                .await
                .unwrap();
            drop(edit);
            assert!(
                running.begin_reply(chat).is_err(),
                "a reply outlives the loan"
            );
        };
        reservation.lend(edits).await;
        assert!(running.begin(chat).is_err());
        drop(reservation);
        running.begin(chat).unwrap();
    }
}
