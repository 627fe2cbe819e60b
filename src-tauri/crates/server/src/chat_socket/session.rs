//! One open socket: reads requests, starts turns, and forwards events.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use axum::extract::ws::{CloseFrame, Message, Utf8Bytes, WebSocket, close_code};
use domain::ChatId;
use engine::api::{
    ApiGrant, CommandOutcome, CommandSetting, EndReason, Event, MessageSource, Started,
    VisionReport,
};
use engine::{Engine, Events, TurnOptions};
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval, timeout};

use super::places::SocketPlace;
use super::protocol::{Addressee, ClientRequest, ServerEvent, TokenUsage};
use super::rate::RateLimit;
use super::turn::FollowedTurn;
use super::{KEY_LIMIT, addressee};
use crate::caller::Caller;
use crate::shares::Holder;
use crate::state::SharedState;

/// A client that accepts no data for this long is disconnected.
const SEND_LIMIT: Duration = Duration::from_secs(30);
/// Interval of pings, which notice a client that is gone.
const PING: Duration = Duration::from_secs(30);
/// Frames that wait for the client. A client that falls further behind is disconnected.
const BACKLOG: usize = 4_096;
/// Messages at once, and per second in the long run.
const MESSAGES: (u32, f64) = (20, 0.5);
/// Frames of any kind at once, and per second in the long run.
const FRAMES: (u32, f64) = (200, 20.0);

/// User of the socket.
enum User {
    Unknown,
    Owner,
    Key(String),
}

struct Session {
    shared: SharedState,
    user: User,
    /// Held as long as the socket is open.
    _place: SocketPlace,
    out: mpsc::Sender<Message>,
    /// The chat of the last frame.
    chat: Option<ChatId>,
    turn: Option<FollowedTurn>,
    messages: RateLimit,
    frames: RateLimit,
}

/// Whether the socket stays open.
type Flow = ControlFlow<()>;

pub(super) async fn run(
    shared: SharedState,
    socket: WebSocket,
    caller: Caller,
    place: SocketPlace,
) {
    // Subscribes first, so that no event of the first turn is missed.
    let events = shared.engine.subscribe_without_user();
    let (sink, stream) = socket.split();
    let (out, queue) = mpsc::channel(BACKLOG);
    let writer = tokio::spawn(write(sink, queue));
    let user = User::from(caller);
    let now = Instant::now();
    let session = Session {
        shared,
        user,
        _place: place,
        out,
        chat: None,
        turn: None,
        messages: RateLimit::new(MESSAGES.0, MESSAGES.1, now),
        frames: RateLimit::new(FRAMES.0, FRAMES.1, now),
    };
    session.serve(stream, events).await;
    // Ends once the queue is empty.
    if let Err(error) = writer.await {
        tracing::error!(%error, "the writer of a chat socket failed");
    }
}

/// Sends what is queued, until the queue closes or the client stops reading.
async fn write(mut sink: SplitSink<WebSocket, Message>, mut queue: mpsc::Receiver<Message>) {
    let mut pings = interval(PING);
    pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let message = tokio::select! {
            biased;
            message = queue.recv() => match message {
                Some(message) => message,
                None => break,
            },
            _ = pings.tick() => Message::Ping(Vec::new().into()),
        };
        if !matches!(timeout(SEND_LIMIT, sink.send(message)).await, Ok(Ok(()))) {
            break;
        }
    }
}

impl Session {
    async fn serve(mut self, mut stream: SplitStream<WebSocket>, mut events: Events) {
        let stopping = self.shared.stopping.clone();
        let key_due = tokio::time::sleep(KEY_LIMIT);
        tokio::pin!(key_due);
        loop {
            let flow = tokio::select! {
                () = stopping.cancelled() => self.close(close_code::AWAY, "the server is stopping"),
                () = &mut key_due, if matches!(self.user, User::Unknown) => {
                    self.dismiss(&unauthorized(), "no key was sent")
                }
                // The writer ends if the client stops reading.
                () = self.out.closed() => Flow::Break(()),
                event = events.next() => match event {
                    Some(event) => self.forward(event).await,
                    None => self.close(close_code::AWAY, "the app is closing"),
                },
                frame = stream.next() => match frame {
                    Some(Ok(Message::Text(text))) => self.receive(&text).await,
                    Some(Ok(Message::Binary(_))) => {
                        self.send(&ServerEvent::error("bad_frame", "Binary frames are not supported.", "Send text frames."))
                    }
                    Some(Ok(Message::Ping(_) | Message::Pong(_))) => Flow::Continue(()),
                    Some(Ok(Message::Close(_)) | Err(_)) | None => Flow::Break(()),
                },
            };
            if flow.is_break() {
                break;
            }
        }
        // Nobody reads the rest of the reply. What it has so far is kept.
        if let Some(turn) = self.turn.take()
            && let Err(error) = self.engine().stop(turn.chat()).await
        {
            tracing::warn!(%error, "the reply of a closed chat socket could not be stopped");
        }
    }

    fn engine(&self) -> &Engine {
        &self.shared.engine
    }

    async fn receive(&mut self, text: &Utf8Bytes) -> Flow {
        if !self.frames.allows(Instant::now()) {
            return self.send(&too_fast());
        }
        match (ClientRequest::read(text), &self.user) {
            (Ok(ClientRequest::Key(key)), User::Unknown) => self.log_in(&key).await,
            (_, User::Unknown) => self.send(&unauthorized()),
            (Err(refusal), _) => self.send(&refusal),
            (Ok(ClientRequest::Key(_)), _) => self.send(&ServerEvent::error(
                "bad_frame",
                "The socket already has a key.",
                "Send a message.",
            )),
            (Ok(request), _) => self.handle(request).await,
        }
    }

    async fn log_in(&mut self, key: &str) -> Flow {
        let (user, holder, name) = if self.shared.token.matches(key) {
            (User::Owner, Holder::Owner, OWNER.to_owned())
        } else {
            match self.shared.engine.authorize_api(key).await {
                Ok(Some(grant)) => (
                    User::Key(key.to_owned()),
                    Holder::Key(grant.name.clone()),
                    grant.name,
                ),
                Ok(None) => {
                    return self.dismiss(&unauthorized(), "the key is not valid");
                }
                Err(error) => return self.send(&error.into()),
            }
        };
        let Some(place) = self.shared.chat_sockets.place_for_user(&holder) else {
            return self.close(close_code::AGAIN, "too many chat sockets are open");
        };
        (self.user, self._place) = (user, place);
        self.send(&ServerEvent::Authorized { name })
    }

    async fn handle(&mut self, request: ClientRequest) -> Flow {
        // A key that was revoked, or the switch of the API, takes effect with the next frame.
        let grant = match self.grant().await {
            Ok(grant) => grant,
            Err(refusal) => {
                return self.dismiss(&refusal, "the key is no longer valid");
            }
        };
        let done = match request {
            // Every request of a socket may store something.
            _ if grant.read_only => Err(ServerEvent::error(
                "forbidden",
                "This key is read-only.",
                "Use a key that may store messages.",
            )),
            ClientRequest::Message { text, to, source } => {
                self.message(&grant, text, to, source).await
            }
            ClientRequest::Vision { report, to } => self.vision(&grant, report, to).await,
            ClientRequest::Stop => self.stop().await,
            ClientRequest::Key(_) => Ok(Vec::new()),
        };
        self.send_all(done.unwrap_or_else(|refusal| vec![refusal]))
    }

    async fn grant(&self) -> Result<ApiGrant, ServerEvent> {
        if !self.shared.is_api_on().await? {
            return Err(ServerEvent::error(
                "api_off",
                "The local API was switched off.",
                "Switch it on again.",
            ));
        }
        match &self.user {
            User::Unknown => Err(unauthorized()),
            User::Owner => Ok(ApiGrant::full(OWNER)),
            User::Key(key) => self
                .engine()
                .authorize_api(key)
                .await?
                .ok_or_else(unauthorized),
        }
    }

    async fn chat_for(&mut self, grant: &ApiGrant, to: Addressee) -> Result<ChatId, ServerEvent> {
        let chat = addressee::find(self.engine(), grant, to, self.chat).await?;
        self.chat = Some(chat);
        Ok(chat)
    }

    /// Sends a message, or runs its slash command.
    async fn message(
        &mut self,
        grant: &ApiGrant,
        text: String,
        to: Addressee,
        source: MessageSource,
    ) -> Result<Vec<ServerEvent>, ServerEvent> {
        if self.turn.is_some() {
            let hint = "Wait for its `end`, or send {\"stop\": true}.";
            return Err(ServerEvent::error(
                "busy",
                "A reply is being written.",
                hint,
            ));
        }
        if !self.messages.allows(Instant::now()) {
            return Err(too_fast());
        }
        let chat = self.chat_for(grant, to).await?;
        let options = TurnOptions {
            source,
            ..TurnOptions::default()
        };
        match self
            .engine()
            .api_command(grant.clone(), chat, text, options)
            .await?
        {
            CommandOutcome::Started { started } => Ok(self.started(chat, &started)),
            CommandOutcome::Set {
                setting: CommandSetting::Mode,
                value,
            } => Ok(vec![ServerEvent::ModeChanged { mode: value, chat }]),
            CommandOutcome::Refused { refusal } => Err(refusal.into()),
            outcome => Ok(vec![ServerEvent::Command {
                outcome: Box::new(outcome),
            }]),
        }
    }

    /// Follows the turn. If nobody answers, it is over at once.
    fn started(&mut self, chat: ChatId, started: &Started) -> Vec<ServerEvent> {
        if started.sent.is_some() && started.reply.is_none() {
            let message = None;
            let text = String::new();
            return vec![ServerEvent::End {
                reason: "no_reply",
                chat,
                message,
                text,
                usage: TokenUsage::default(),
                following: 0,
            }];
        }
        self.turn = Some(FollowedTurn::new(chat, started));
        Vec::new()
    }

    async fn vision(
        &mut self,
        grant: &ApiGrant,
        report: VisionReport,
        to: Addressee,
    ) -> Result<Vec<ServerEvent>, ServerEvent> {
        let chat = self.chat_for(grant, to).await?;
        self.engine().report_vision(chat, report).await?;
        // The engine's event confirms it.
        Ok(Vec::new())
    }

    async fn stop(&mut self) -> Result<Vec<ServerEvent>, ServerEvent> {
        match &self.turn {
            Some(turn) => self.engine().stop(turn.chat()).await?,
            None => {
                return Err(ServerEvent::error(
                    "bad_input",
                    "No reply is being written.",
                    "Send a message.",
                ));
            }
        }
        Ok(Vec::new())
    }

    async fn forward(&mut self, event: Event) -> Flow {
        match event {
            Event::Vision { chat, status } if self.chat == Some(chat) => {
                self.send(&ServerEvent::Vision {
                    state: status.state,
                    text: status.text,
                    chat,
                })
            }
            Event::Missed => self.catch_up().await,
            event => {
                let Some(turn) = &mut self.turn else {
                    return Flow::Continue(());
                };
                let (frames, over) = turn.follow(event);
                if over {
                    self.turn = None;
                }
                self.send_all(frames)
            }
        }
    }

    /// Ends the turn if its end was among the events that were missed.
    async fn catch_up(&mut self) -> Flow {
        let Some(turn) = &self.turn else {
            return Flow::Continue(());
        };
        let chat = match self.engine().whole_chat(turn.chat()).await {
            Ok(chat) => chat,
            Err(error) => return self.send(&error.into()),
        };
        if chat.generating.is_some() {
            return Flow::Continue(());
        }
        let frames = turn.ended(chat.page.messages.last(), EndReason::Stop, 0);
        self.turn = None;
        self.send_all(frames)
    }

    fn send_all(&self, frames: Vec<ServerEvent>) -> Flow {
        frames.iter().try_for_each(|frame| self.send(frame))
    }

    /// Queues a frame. A client that is too far behind is disconnected.
    fn send(&self, frame: &ServerEvent) -> Flow {
        let json = serde_json::to_string(frame).unwrap_or_else(|error| {
            tracing::error!(%error, "cannot serialise an event");
            r#"{"event":"error","code":"internal","message":"An event was lost.","hint":""}"#
                .to_owned()
        });
        match self.out.try_send(Message::Text(json.into())) {
            Ok(()) => Flow::Continue(()),
            Err(_) => Flow::Break(()),
        }
    }

    /// Sends an error and closes the socket.
    fn dismiss(&self, error: &ServerEvent, reason: &'static str) -> Flow {
        match self.send(error) {
            Flow::Continue(()) => self.close(close_code::POLICY, reason),
            over => over,
        }
    }

    /// Queues the last frame.
    fn close(&self, code: u16, reason: &'static str) -> Flow {
        let _ = self.out.try_send(Message::Close(Some(CloseFrame {
            code,
            reason: reason.into(),
        })));
        Flow::Break(())
    }
}

impl From<Caller> for User {
    fn from(caller: Caller) -> Self {
        match caller {
            Caller::Nobody => Self::Unknown,
            Caller::Owner => Self::Owner,
            Caller::Key { secret, .. } => Self::Key(secret),
        }
    }
}

/// Name of the server's own token.
const OWNER: &str = "access token";

fn unauthorized() -> ServerEvent {
    ServerEvent::error(
        "unauthorized",
        "The socket has no valid key.",
        "Send {\"key\": \"...\"} first.",
    )
}

fn too_fast() -> ServerEvent {
    ServerEvent::error(
        "rate_limited",
        "The client sends too many frames.",
        "Wait a few seconds.",
    )
}
