//! Threads that own the connections. Futures wait for them, so threads of the async runtime never
//! access the disk.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::StoreError;

type Job = Box<dyn FnOnce(&mut Connection) + Send>;

pub(crate) struct Pool {
    jobs: Option<Sender<Job>>,
    threads: Vec<JoinHandle<()>>,
}

impl Pool {
    /// Starts one thread per connection. With one connection, jobs run in the order of the calls.
    pub(crate) fn start(name: &str, connections: Vec<Connection>) -> std::io::Result<Self> {
        let (jobs, queue) = channel();
        let queue = Arc::new(Mutex::new(queue));
        let threads = connections
            .into_iter()
            .map(|conn| {
                let queue = Arc::clone(&queue);
                thread::Builder::new()
                    .name(name.to_owned())
                    .spawn(move || serve(conn, &queue))
            })
            .collect::<Result<_, _>>()?;
        Ok(Self {
            jobs: Some(jobs),
            threads,
        })
    }

    /// Queues `work` immediately. The future only waits for the result, so dropping it does not
    /// cancel the work.
    pub(crate) fn run<T, F>(
        &self,
        work: F,
    ) -> impl Future<Output = Result<T, StoreError>> + Send + use<T, F>
    where
        T: Send + 'static,
        F: FnOnce(&mut Connection) -> Result<T, StoreError> + Send + 'static,
    {
        let (reply, result) = oneshot::channel();
        let job: Job = Box::new(move |conn| {
            // The caller may have dropped the future. The work is done anyway.
            let _ = reply.send(work(conn));
        });
        if let Some(jobs) = &self.jobs {
            // If the queue is closed, the job drops its sender, which the future reports.
            let _ = jobs.send(job);
        }
        async move { result.await.unwrap_or(Err(StoreError::Closed)) }
    }
}

/// Finishes all queued jobs, then closes the connections.
impl Drop for Pool {
    fn drop(&mut self) {
        self.jobs = None;
        let me = thread::current().id();
        for handle in self.threads.drain(..) {
            // The last owner may be a closure that runs on this thread, and a thread cannot join
            // itself.
            if handle.thread().id() != me && handle.join().is_err() {
                tracing::error!("a store thread panicked");
            }
        }
    }
}

fn serve(mut conn: Connection, queue: &Mutex<Receiver<Job>>) {
    loop {
        let job = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = job else { break };
        // A panic in a closure rolls back its transaction and fails its caller. Other jobs
        // continue.
        if catch_unwind(AssertUnwindSafe(|| job(&mut conn))).is_err() {
            tracing::error!("a database closure panicked");
        }
    }
}
