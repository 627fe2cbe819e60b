//! Tests of the client with servers in this process, with servers that break the rules, and with
//! real processes.

#![expect(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod hostile;
mod http;
#[cfg(unix)]
mod process;
mod protocol;

use std::time::Duration;

use mcp::Limits;

/// Limits that make a test of a limit fast.
fn small() -> Limits {
    Limits {
        start: Duration::from_secs(10),
        request: Duration::from_secs(10),
        message_bytes: 64 << 10,
        traffic_bytes: 256 << 10,
        tools: 20,
        resources: 20,
        schema_bytes: 1_000,
        description_bytes: 200,
        result_bytes: 1_000,
        ..Limits::default()
    }
}
