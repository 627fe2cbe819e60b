//! Handles Ctrl-C and SIGTERM.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interrupt {
    /// Ctrl-C: stop the current work.
    Stop,
    /// SIGTERM: exit.
    Quit,
}

/// Handles signals from its creation on; before that, both end the process as usual.
#[cfg(unix)]
pub(crate) struct Interrupts {
    int: tokio::signal::unix::Signal,
    term: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Interrupts {
    pub(crate) fn listen() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            int: signal(SignalKind::interrupt())?,
            term: signal(SignalKind::terminate())?,
        })
    }

    pub(crate) async fn next(&mut self) -> Interrupt {
        tokio::select! {
            _ = self.int.recv() => Interrupt::Stop,
            _ = self.term.recv() => Interrupt::Quit,
        }
    }
}

#[cfg(not(unix))]
pub(crate) struct Interrupts;

#[cfg(not(unix))]
impl Interrupts {
    pub(crate) fn listen() -> std::io::Result<Self> {
        Ok(Self)
    }

    pub(crate) async fn next(&mut self) -> Interrupt {
        match tokio::signal::ctrl_c().await {
            Ok(()) => Interrupt::Stop,
            Err(_) => Interrupt::Quit,
        }
    }
}
