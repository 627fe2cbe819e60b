//! The two ends of the pipe: a thread that reads requests while the inference thread computes, and the replies.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use worker::frame::{self, FrameError};
use worker::protocol::{ErrorCode, Reply, Request};

/// Stdout, shared by the thread that reads and the one that computes.
pub(crate) struct Replies(Mutex<Box<dyn Write + Send>>);

impl Replies {
    pub(crate) fn new(pipe: impl Write + Send + 'static) -> Self {
        Self(Mutex::new(Box::new(pipe)))
    }

    /// Sends one frame. An error means that nobody is listening any more.
    pub(crate) fn send(&self, reply: &Reply) -> Result<(), FrameError> {
        frame::write(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), reply)
    }
}

/// Requests, in order of arrival.
pub(crate) struct Inbox {
    arriving: Receiver<Request>,
    waiting: VecDeque<Request>,
    leaving: Arc<AtomicBool>,
}

impl Inbox {
    /// Starts the reading thread.
    pub(crate) fn read(pipe: impl Read + Send + 'static, replies: Arc<Replies>) -> Self {
        let (sender, arriving) = channel();
        let leaving = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&leaving);
        std::thread::spawn(move || {
            read_all(pipe, &sender, &replies, &flag);
            flag.store(true, Ordering::Release);
            drop(sender);
            // The inference thread sees the closed pipe at its next step and leaves in order. Should a step take
            // longer, nobody is left who would want its result.
            std::thread::sleep(Duration::from_secs(1));
            std::process::exit(0);
        });
        Self { arriving, waiting: VecDeque::new(), leaving }
    }

    /// True once the pipe has ended, or a shutdown has arrived.
    pub(crate) fn leaving(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.leaving)
    }

    /// The next request, waiting for it; `None` at the end of the pipe.
    pub(crate) fn next(&mut self) -> Option<Request> {
        self.waiting.pop_front().or_else(|| self.arriving.recv().ok())
    }

    /// What has arrived by now, without waiting.
    pub(crate) fn arrived(&self) -> Arrived {
        match self.arriving.try_recv() {
            Ok(request) => Arrived::Request(request),
            Err(TryRecvError::Empty) => Arrived::Nothing,
            Err(TryRecvError::Disconnected) => Arrived::End,
        }
    }

    /// Puts a request off until the running one is done.
    pub(crate) fn put_off(&mut self, request: Request) {
        self.waiting.push_back(request);
    }

    /// Puts a request off until the running one is done, and no longer.
    pub(crate) fn put_first(&mut self, request: Request) {
        self.waiting.push_front(request);
    }

    /// Takes back the generation `id` that has been put off.
    pub(crate) fn take_back(&mut self, id: u64) -> bool {
        let before = self.waiting.len();
        self.waiting.retain(|request| !matches!(request, Request::Generate(waiting) if waiting.id == id));
        self.waiting.len() < before
    }
}

/// See [`Inbox::arrived`].
pub(crate) enum Arrived {
    Request(Request),
    Nothing,
    End,
}

fn read_all(mut pipe: impl Read, sender: &Sender<Request>, replies: &Replies, leaving: &AtomicBool) {
    loop {
        match frame::read(&mut pipe) {
            Ok(None) => return,
            Ok(Some(request)) => {
                if request == Request::Shutdown {
                    leaving.store(true, Ordering::Release);
                }
                if sender.send(request).is_err() {
                    return;
                }
            }
            Err(error @ FrameError::Malformed(_)) => {
                let message = error.to_string();
                if replies.send(&Reply::Error { id: None, code: ErrorCode::Malformed, message }).is_err() {
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
