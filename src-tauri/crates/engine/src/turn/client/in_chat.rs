//! A reply that joins a stored chat. The turn is the same as in the window; this follows its
//! events.

use std::time::{Duration, Instant};

use domain::chat::Chat;
use domain::{ChatId, MessageId};
use tokio::sync::OwnedMutexGuard;
use tokio_util::sync::CancellationToken;

use crate::api::client::{
    ReplyEnd, ReplyEvent, ReplyFinish, ReplyPlace, ReplySpeaker, ReplyStream, ReplyUsage,
};
use crate::api::{self, ApiError, EndReason, Event, Started, TurnOptions};
use crate::base::error::{ApiResult, bad_input};
use crate::base::events::Events;
use crate::turn::client::Clients;
use crate::turn::client::stream::{self, EventSender};

/// Maximum time that a request waits for earlier replies in its chat.
const PATIENCE: Duration = Duration::from_secs(600);
/// Pause before another attempt while the window uses the chat.
const PAUSE: Duration = Duration::from_millis(50);

/// Follows one reply for a client.
struct Follower {
    sender: EventSender,
    chat: ChatId,
    message: MessageId,
    /// Number of the next piece.
    seq: u32,
    /// The shown text that was sent.
    sent: String,
    /// Pieces are missing, so the rest is sent at the end.
    gap: bool,
    /// Text that was sent turned out to be thoughts.
    retold: bool,
    /// The reply has begun. Events before that belong to an earlier reply in the chat.
    begun: bool,
    /// The replies so far, if the chat is a group.
    scene: Option<SceneText>,
}

/// The replies of a group to one message, told as one text with the names of their speakers.
#[derive(Default)]
struct SceneText {
    /// The speaker whose text has not begun.
    next: Option<String>,
    name: String,
    told: Vec<String>,
    usage: ReplyUsage,
}

impl Clients {
    /// Stores `text` as the user's message, and starts the reply. Requests for one chat wait for
    /// each other. One whose client is `gone` stores nothing.
    ///
    /// # Errors
    /// The errors of [`Sending::send_with`](crate::turn::sending::Sending::send_with); `BadInput`
    /// if nobody replies. `Busy` if the chat is in use for ten minutes.
    pub(crate) async fn client_reply_in(
        &self,
        chat: &Chat,
        text: String,
        options: TurnOptions,
        wants_tokens: bool,
        gone: &CancellationToken,
    ) -> ApiResult<ReplyStream> {
        let place = gone
            .run_until_cancelled(self.client_queue().enter(chat.id))
            .await
            .ok_or_else(left)?;
        let mut events = self.base().events().subscribe();
        let id = chat.id;
        let is_group = !self
            .base()
            .store()
            .read(move |store| store.groups().members(id))
            .await?
            .is_empty();
        let Started { sent, reply } = self.send_when_free(chat, text, options, gone).await?;
        let Some(reply) = reply else {
            return Err(match sent {
                Some(_) => bad_input(
                    "Nobody replies in this group chat by itself.",
                    "Let a character reply in the app.",
                ),
                None => failure(&mut events, chat.id).await,
            });
        };
        let shown = ReplyPlace {
            chat: Some(chat.id),
            message: Some(reply.id),
            manifest: reply
                .swipes
                .get(reply.selected as usize)
                .map(|swipe| swipe.id.to_string()),
            character: Some(reply.name),
        };
        let (sender, stop, stream) = stream::channel(self, shown);
        let chat = chat.id;
        let follower = Follower {
            sender,
            chat,
            message: reply.id,
            seq: 0,
            sent: String::new(),
            gap: false,
            retold: false,
            begun: false,
            scene: is_group.then(SceneText::default),
        };
        let clients = self.clone();
        let at_work = self.base().idle().at_work();
        tokio::spawn(async move {
            clients
                .follow_for_client(follower, events, stop, place, wants_tokens)
                .await;
            drop(clients);
            drop(at_work);
        });
        Ok(stream)
    }

    async fn send_when_free(
        &self,
        chat: &Chat,
        text: String,
        options: TurnOptions,
        gone: &CancellationToken,
    ) -> ApiResult<Started> {
        let begun = Instant::now();
        loop {
            if gone.is_cancelled() {
                return Err(left());
            }
            match self
                .sending
                .send_with(chat.id, text.clone(), options.clone())
                .await
            {
                Err(ApiError::Busy { .. }) if begun.elapsed() < PATIENCE => {
                    tokio::time::sleep(PAUSE).await
                }
                sent => return sent,
            }
        }
    }

    async fn follow_for_client(
        &self,
        mut follower: Follower,
        mut events: Events,
        stop: CancellationToken,
        place: OwnedMutexGuard<()>,
        wants_tokens: bool,
    ) {
        let mut place = Some(place);
        loop {
            let event = tokio::select! {
                biased;
                () = stop.cancelled() => {
                    self.base().running().stop(follower.chat);
                    break;
                }
                event = events.next() => event,
            };
            let Some(event) = event else { break };
            match event {
                Event::Ended {
                    chat,
                    message,
                    reason,
                    following,
                    ..
                } if chat == follower.chat && follower.begun => {
                    let is_last = follower.scene.is_none() || following == 0;
                    if is_last {
                        // Free the chat first, so that the client's next request need not wait.
                        drop(place.take());
                    }
                    let ended = self
                        .ended_for_client(&mut follower, message, reason, wants_tokens)
                        .await;
                    if follower.pass_end(ended, is_last).await {
                        return;
                    }
                }
                Event::Started { chat, message, .. } if chat == follower.chat => {
                    follower.begin(message)
                }
                event => follower.take(event).await,
            }
        }
    }

    async fn ended_for_client(
        &self,
        follower: &mut Follower,
        message: Option<api::Message>,
        reason: EndReason,
        wants_tokens: bool,
    ) -> ApiResult<(Vec<ReplyEvent>, ReplyEnd)> {
        let finish = match reason {
            EndReason::Failed { error } if stream::is_filtered(&error) => {
                ReplyFinish::ContentFilter
            }
            EndReason::Failed { error } => return Err(error),
            EndReason::Length => ReplyFinish::Length,
            EndReason::Stop | EndReason::Cancelled => ReplyFinish::Stop,
        };
        let Some(message) = message.filter(|message| message.id == follower.message) else {
            return Ok((
                Vec::new(),
                ReplyEnd {
                    finish,
                    usage: ReplyUsage::default(),
                    text: None,
                },
            ));
        };
        let stored = self.library().chat_lookup.message(message.id).await?;
        let mut events: Vec<ReplyEvent> = Vec::new();
        let swipe = &message.swipes[message.selected as usize];
        let shown = swipe
            .display
            .as_ref()
            .map_or(swipe.text.as_str(), |display| display.text.as_str());
        if let Some(rest) = follower.rest(shown) {
            events.extend(follower.opening());
            events.push(ReplyEvent::Text(rest.to_owned()));
        }
        if wants_tokens && let Some(choices) = self.reply_store.choices_of(&stored).await? {
            events.push(ReplyEvent::Tokens(choices.tokens));
        }
        let calls = stored.swipe().tool_calls.clone();
        let finish = if finish == ReplyFinish::Stop && !calls.is_empty() {
            ReplyFinish::ToolCalls
        } else {
            finish
        };
        events.extend(calls.into_iter().map(ReplyEvent::ToolCall));
        let count = |count: Option<u32>| count.unwrap_or(0);
        let usage = swipe
            .figures
            .as_ref()
            .map_or_else(ReplyUsage::default, |figures| ReplyUsage {
                prompt: count(figures.prompt),
                cached: count(figures.reused).min(count(figures.prompt)),
                generated: count(figures.generated),
            });
        Ok((
            events,
            ReplyEnd {
                finish,
                usage,
                text: Some(shown.to_owned()),
            },
        ))
    }
}

impl Follower {
    /// Follows another reply. Before the client's own reply has begun, only that one counts.
    fn begin(&mut self, reply: api::Message) {
        if !self.begun && reply.id != self.message {
            return;
        }
        (self.begun, self.message, self.seq, self.retold) = (true, reply.id, 0, false);
        self.sent.clear();
        if let Some(scene) = &mut self.scene {
            scene.next = Some(reply.name);
        }
    }

    /// In a group, the name in front of a reply's text.
    fn opening(&mut self) -> Vec<ReplyEvent> {
        let Some(scene) = &mut self.scene else {
            return Vec::new();
        };
        let Some(name) = scene.next.take() else {
            return Vec::new();
        };
        let apart = if scene.told.is_empty() { "" } else { "\n\n" };
        let text = format!("{apart}{name}: ");
        scene.name.clone_from(&name);
        let speaker = ReplySpeaker {
            name,
            message: self.message,
        };
        vec![ReplyEvent::Speaker(speaker), ReplyEvent::Text(text)]
    }

    /// Passes on how a reply ended. Returns whether the client's reply is complete.
    async fn pass_end(
        &mut self,
        ended: ApiResult<(Vec<ReplyEvent>, ReplyEnd)>,
        is_last: bool,
    ) -> bool {
        let (events, end) = match ended {
            Ok(ended) => ended,
            Err(error) => {
                // A client that is gone receives nothing.
                let _ = self.sender.send(Err(error)).await;
                return true;
            }
        };
        let end = self.told(end);
        for event in events
            .into_iter()
            .chain(is_last.then_some(ReplyEvent::Ended(end)))
        {
            let _ = self.sender.send(Ok(event)).await;
        }
        is_last
    }

    /// Adds the end of a reply to those before it in the scene.
    fn told(&mut self, end: ReplyEnd) -> ReplyEnd {
        let Some(scene) = &mut self.scene else {
            return end;
        };
        scene
            .told
            .extend(end.text.map(|text| format!("{}: {text}", scene.name)));
        scene.usage.prompt = scene.usage.prompt.saturating_add(end.usage.prompt);
        scene.usage.cached = scene.usage.cached.saturating_add(end.usage.cached);
        scene.usage.generated = scene.usage.generated.saturating_add(end.usage.generated);
        let text = Some(scene.told.join("\n\n")).filter(|text| !text.is_empty());
        ReplyEnd {
            text,
            usage: scene.usage,
            ..end
        }
    }

    /// Passes on an event that is about the reply.
    async fn take(&mut self, event: Event) {
        let passed = match event {
            Event::Missed => {
                // The start may be among what was missed.
                (self.gap, self.begun) = (true, true);
                None
            }
            Event::Token {
                message, seq, text, ..
            } if message == self.message => self.next(seq).then(|| {
                self.sent.push_str(&text);
                ReplyEvent::Text(text)
            }),
            Event::Thought {
                message, seq, text, ..
            } if message == self.message => self.next(seq).then_some(ReplyEvent::Thoughts(text)),
            Event::ThoughtsClosed { message, seq, .. } if message == self.message => {
                self.retold |= self.next(seq) && !self.sent.is_empty();
                None
            }
            event => self.waiting(event).map(ReplyEvent::Waiting),
        };
        let Some(passed) = passed else { return };
        let opening = if matches!(passed, ReplyEvent::Text(_)) {
            self.opening()
        } else {
            Vec::new()
        };
        for event in opening.into_iter().chain([passed]) {
            // A dropped receiver cancels `stop`, which the caller waits for.
            let _ = self.sender.send(Ok(event)).await;
        }
    }

    /// Whether the piece with this number is the next one.
    fn next(&mut self, seq: u32) -> bool {
        self.gap |= seq != self.seq;
        self.seq += u32::from(!self.gap);
        !self.gap
    }

    fn waiting(&self, event: Event) -> Option<String> {
        let (chat, text) = match event {
            Event::Queued { chat } => (chat, "queued".to_owned()),
            Event::Loading { chat, fraction } => {
                (chat, format!("loading {:.0} %", fraction * 100.0))
            }
            Event::Prefill {
                chat, done, total, ..
            } => (chat, format!("reading {done}/{total}")),
            Event::Retrying { chat, attempt, .. } => (chat, format!("retrying {attempt}")),
            Event::Stalled { chat, seconds } => (chat, format!("silent for {seconds} s")),
            _ => return None,
        };
        (chat == self.chat).then_some(text)
    }

    /// The part of the stored text that was not sent, if what was sent is its beginning.
    fn rest<'t>(&self, shown: &'t str) -> Option<&'t str> {
        if self.retold {
            return None;
        }
        shown
            .strip_prefix(self.sent.as_str())
            .filter(|rest| !rest.is_empty())
    }
}

/// The error for a client that no longer waits, which nobody reads.
fn left() -> ApiError {
    bad_input("The client no longer waits.", "Send the request again.")
}

/// The error of a reply that could not start.
async fn failure(events: &mut Events, chat: ChatId) -> ApiError {
    while let Some(event) = events.next().await {
        match event {
            Event::Ended {
                chat: of,
                reason: EndReason::Failed { error },
                ..
            } if of == chat => return error,
            Event::Missed => break,
            _ => {}
        }
    }
    crate::base::error::internal("a reply could not start")
}
