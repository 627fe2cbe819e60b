//! Both ends of the pipe: a thread that reads requests during computation, and the replies.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use worker::frame::{self, FrameError};
use worker::protocol::{ErrorCode, WorkerReply, WorkerRequest};

/// Stdout, shared by the reading and the inference thread.
pub(crate) struct ReplyWriter(Mutex<Box<dyn Write + Send>>);

impl ReplyWriter {
    pub(crate) fn new(pipe: impl Write + Send + 'static) -> Self {
        Self(Mutex::new(Box::new(pipe)))
    }

    /// Sends one frame. An error means that the supervisor has closed the pipe.
    pub(crate) fn send(&self, reply: &WorkerReply) -> Result<(), FrameError> {
        frame::write(
            &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner),
            reply,
        )
    }
}

/// Requests in order of arrival.
pub(crate) struct Inbox {
    arriving: Receiver<WorkerRequest>,
    waiting: VecDeque<WorkerRequest>,
    leaving: Arc<AtomicBool>,
}

impl Inbox {
    /// Starts the reading thread.
    pub(crate) fn read(pipe: impl Read + Send + 'static, replies: Arc<ReplyWriter>) -> Self {
        let (sender, arriving) = channel();
        let leaving = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&leaving);
        std::thread::spawn(move || {
            read_all(pipe, &sender, &replies, &flag);
            flag.store(true, Ordering::Release);
            drop(sender);
            // The inference thread sees the closed pipe at its next step and exits. If a step takes
            // longer, its result is not needed any more.
            std::thread::sleep(Duration::from_secs(1));
            std::process::exit(0);
        });
        Self {
            arriving,
            waiting: VecDeque::new(),
            leaving,
        }
    }

    /// True once the pipe is closed or a shutdown has arrived.
    pub(crate) fn is_closing(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.leaving)
    }

    /// Waits for the next request; `None` at the end of the pipe.
    pub(crate) fn next(&mut self) -> Option<WorkerRequest> {
        self.waiting
            .pop_front()
            .or_else(|| self.arriving.recv().ok())
    }

    /// Returns a request that has already arrived, without waiting.
    pub(crate) fn arrived(&self) -> Arrived {
        match self.arriving.try_recv() {
            Ok(request) => Arrived::Request(Box::new(request)),
            Err(TryRecvError::Empty) => Arrived::Nothing,
            Err(TryRecvError::Disconnected) => Arrived::End,
        }
    }

    /// Waits for a request that has not arrived yet.
    pub(crate) fn arriving(&self) -> Arrived {
        self.arriving
            .recv()
            .map_or(Arrived::End, |request| Arrived::Request(Box::new(request)))
    }

    /// Queues a request behind the others until the current one ends.
    pub(crate) fn queue(&mut self, request: WorkerRequest) {
        self.waiting.push_back(request);
    }

    /// Queues a request as the next one after the current one.
    pub(crate) fn queue_first(&mut self, request: WorkerRequest) {
        self.waiting.push_front(request);
    }

    /// Removes the queued generation `id`. Returns whether it was queued.
    pub(crate) fn unqueue(&mut self, id: u64) -> bool {
        let before = self.waiting.len();
        self.waiting.retain(
            |request| !matches!(request, WorkerRequest::Generate(waiting) if waiting.id == id),
        );
        self.waiting.len() < before
    }
}

/// See [`Inbox::arrived`].
pub(crate) enum Arrived {
    Request(Box<WorkerRequest>),
    Nothing,
    End,
}

fn read_all(
    mut pipe: impl Read,
    sender: &Sender<WorkerRequest>,
    replies: &ReplyWriter,
    leaving: &AtomicBool,
) {
    loop {
        match frame::read(&mut pipe) {
            Ok(None) => return,
            Ok(Some(request)) => {
                if request == WorkerRequest::Shutdown {
                    leaving.store(true, Ordering::Release);
                }
                if sender.send(request).is_err() {
                    return;
                }
            }
            Err(error @ FrameError::Malformed(_)) => {
                let message = error.to_string();
                if replies
                    .send(&WorkerReply::Error {
                        id: None,
                        code: ErrorCode::Malformed,
                        message,
                    })
                    .is_err()
                {
                    return;
                }
            }
            Err(error) => {
                eprintln!("inglenook-worker: {error}");
                return;
            }
        }
    }
}
