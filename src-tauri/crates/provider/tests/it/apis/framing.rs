//! Streams whose events lack the blank line between them, or stand on one line.

use std::sync::Arc;

use provider::Provider;
use tokio_util::sync::CancellationToken;

use super::service::{Answer, Service, client, services};
use crate::endpoint::support::{FaultServer, request, stream, watch};

/// Plays `service`'s reply to any request, rewritten by `rewrite`.
async fn replayed(
    service: &Arc<dyn Service>,
    answer: &Answer,
    rewrite: fn(&str) -> String,
) -> (String, usize) {
    let body = rewrite(&service.write(answer));
    let server = FaultServer::scripted(move |_, _| stream(&body)).await;
    let events = client(service.as_ref(), server.port).stream(request(), CancellationToken::new());
    let line = watch(events).await.line;
    (line, server.received().len())
}

/// Removes the line breaks between the objects.
fn on_one_line(body: &str) -> String {
    let objects = body
        .lines()
        .filter_map(|line| match line.strip_prefix("data: ") {
            Some("[DONE]") => None,
            Some(object) => Some(object),
            None => line.starts_with('{').then_some(line),
        });
    let prefix = if body.starts_with('{') { "" } else { "data: " };
    format!("{prefix}{}\n\n", objects.collect::<String>())
}

#[tokio::test]
async fn reads_events_without_blank_lines() {
    let answer = Answer {
        thought: "",
        pieces: ["One ", "two ", "three."].map(str::to_owned).into(),
        ..Answer::default()
    };
    type Rewrite = fn(&str) -> String;
    let rewrites: [(&str, Rewrite); 4] = [
        ("one line break", |body| body.replace("\n\n", "\n")),
        ("one CRLF", |body| {
            body.replace("\n\n", "\n").replace('\n', "\r\n")
        }),
        ("one line", on_one_line),
        ("pairs", |body| body.replace("\n\ndata: {", "{")),
    ];
    for service in services() {
        for (name, rewrite) in rewrites {
            let (line, requests) = replayed(&service, &answer, rewrite).await;
            assert_eq!(
                (line.as_str(), requests),
                ("One two three.[Stop]", 1),
                "{:?}, {name}",
                service.kind()
            );
        }
    }
}
