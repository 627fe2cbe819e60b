//! Limits on what a server may do.

use std::time::Duration;

/// Limits of one server.
#[derive(Debug, Clone)]
pub struct Limits {
    /// From the start to the end of the handshake. The first start of a package runner includes its
    /// download.
    pub start: Duration,
    /// Of one request.
    pub request: Duration,
    /// A server that is not used for this long is stopped; the next call starts it again.
    pub idle: Duration,
    /// Time for a process to exit after its input was closed, before it is killed.
    pub farewell: Duration,
    /// Bytes of one message.
    pub message_bytes: usize,
    /// Bytes that a process may send from one request to the next, in any number of messages.
    pub traffic_bytes: usize,
    /// Tools of one server. Further tools are left out.
    pub tools: usize,
    /// Resources of one server. Further resources are left out.
    pub resources: usize,
    /// Bytes of the JSON Schema of a tool's arguments. A tool with a larger one is left out.
    pub schema_bytes: usize,
    /// Bytes of a description. The rest is cut off.
    pub description_bytes: usize,
    /// Bytes of a result. The rest is cut off.
    pub result_bytes: usize,
    /// Deaths within [`Limits::death_window`] after which the server is not started again.
    pub deaths: usize,
    pub death_window: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(60),
            request: Duration::from_secs(60),
            idle: Duration::from_secs(600),
            farewell: Duration::from_millis(500),
            message_bytes: 4 << 20,
            traffic_bytes: 32 << 20,
            tools: 128,
            resources: 500,
            schema_bytes: 16 << 10,
            description_bytes: 2_000,
            result_bytes: 256 << 10,
            deaths: 3,
            death_window: Duration::from_secs(300),
        }
    }
}
