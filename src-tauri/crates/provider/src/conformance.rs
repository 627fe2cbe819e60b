//! Conformance suite for implementations of [`Provider`]. It is always compiled so that tests of
//! other crates can use it.

mod abilities;

pub use abilities::{
    Abilities, CALLS, MEDIA_TYPE, RESULT, TOOL, calls, check_abilities, forced, results,
};
use domain::prompt::PromptRole;
use futures_util::StreamExt;
use tokio_util::sync::CancellationToken;

use crate::{EventStream, FinishReason, GenerationEvent, Provider, ProviderError, Request, Usage};

/// Violation of the `Provider` contract.
#[derive(Debug, thiserror::Error)]
pub enum Violation {
    #[error("the request failed: {0}")]
    Failed(#[from] ProviderError),
    #[error("the stream ended without `Finished` or an error")]
    NoEnding,
    #[error("an event followed the final event")]
    AfterEnding,
    #[error("a piece of text was empty")]
    EmptyText,
    #[error("the stream finished without any text")]
    NoText,
    #[error(
        "prompt processing went from {before} to {after} of {total} tokens, {reused} of them reused"
    )]
    Prefill {
        before: u32,
        after: u32,
        total: u32,
        reused: u32,
    },
    #[error("the usage counts are inconsistent: {0:?}")]
    Usage(Usage),
    #[error("{when}, the reply ended as {reason:?}")]
    Reason {
        when: &'static str,
        reason: FinishReason,
    },
    #[error("text arrived although the request was cancelled before it began")]
    TextAfterCancel,
    #[error("expected {expected}, but got {got}")]
    Ability { expected: &'static str, got: String },
}

/// Runs the suite against `provider`, which must be able to answer `request` with text. Sends the
/// request several times.
///
/// # Errors
/// The first violation.
pub async fn check(provider: &dyn Provider, request: &Request) -> Result<(), Violation> {
    whole(provider, request).await?;
    cancelled_before(provider, request).await?;
    cancelled_after_the_first_text(provider, request).await?;
    let mut second = request.clone();
    for message in second
        .prompt
        .messages
        .iter_mut()
        .filter(|message| message.role == PromptRole::User)
    {
        message.text.push_str(" Once more.");
    }
    whole(provider, &second).await
}

async fn whole(provider: &dyn Provider, request: &Request) -> Result<(), Violation> {
    let seen = read(
        provider.stream(request.clone(), CancellationToken::new()),
        None,
    )
    .await?;
    if seen.reason == FinishReason::Cancelled {
        return Err(Violation::Reason {
            when: "uncancelled",
            reason: seen.reason,
        });
    }
    if seen.texts == 0 {
        return Err(Violation::NoText);
    }
    adds_up(seen.usage)
}

async fn cancelled_before(provider: &dyn Provider, request: &Request) -> Result<(), Violation> {
    let cancel = CancellationToken::new();
    cancel.cancel();
    let seen = read(provider.stream(request.clone(), cancel), None).await?;
    if seen.texts > 0 {
        return Err(Violation::TextAfterCancel);
    }
    must_be_cancelled("cancelled before it began", &seen)
}

async fn cancelled_after_the_first_text(
    provider: &dyn Provider,
    request: &Request,
) -> Result<(), Violation> {
    let cancel = CancellationToken::new();
    let seen = read(
        provider.stream(request.clone(), cancel.clone()),
        Some(cancel),
    )
    .await?;
    // A reply of one piece ends before the test can cancel it.
    if seen.texts == 1 && seen.reason != FinishReason::Cancelled {
        return Ok(());
    }
    must_be_cancelled("cancelled after its first text", &seen)
}

fn must_be_cancelled(when: &'static str, seen: &ObservedReply) -> Result<(), Violation> {
    match seen.reason {
        FinishReason::Cancelled => Ok(()),
        reason => Err(Violation::Reason { when, reason }),
    }
}

fn adds_up(usage: Usage) -> Result<(), Violation> {
    match usage {
        Usage {
            prompt: Some(prompt),
            reused: Some(reused),
            evaluated: Some(evaluated),
            ..
        } if reused.checked_add(evaluated) != Some(prompt) => Err(Violation::Usage(usage)),
        _ => Ok(()),
    }
}

struct ObservedReply {
    texts: usize,
    reason: FinishReason,
    usage: Usage,
}

/// Reads `events` to the end. Cancels `at_first_text` when the first text arrives.
async fn read(
    mut events: EventStream,
    at_first_text: Option<CancellationToken>,
) -> Result<ObservedReply, Violation> {
    let mut texts = 0;
    let mut ending = None;
    let mut before = 0;
    while let Some(event) = events.next().await {
        if ending.is_some() {
            return Err(Violation::AfterEnding);
        }
        match event? {
            GenerationEvent::Text(text) if text.is_empty() => return Err(Violation::EmptyText),
            GenerationEvent::Text(_) => {
                texts += 1;
                at_first_text.iter().for_each(CancellationToken::cancel);
            }
            GenerationEvent::Prefill {
                done: after,
                total,
                reused,
            } => {
                if after < before || after > total || reused > total {
                    return Err(Violation::Prefill {
                        before,
                        after,
                        total,
                        reused,
                    });
                }
                before = after;
            }
            GenerationEvent::Finished { reason, usage, .. } => ending = Some((reason, usage)),
            GenerationEvent::Thoughts(text) if text.is_empty() => return Err(Violation::EmptyText),
            GenerationEvent::Thoughts(_)
            | GenerationEvent::SignedThought(_)
            | GenerationEvent::ToolCall(_)
            | GenerationEvent::Choices(_)
            | GenerationEvent::Queued
            | GenerationEvent::Loading { .. }
            | GenerationEvent::Retrying { .. }
            | GenerationEvent::Stalled { .. } => {}
        }
    }
    let (reason, usage) = ending.ok_or(Violation::NoEnding)?;
    Ok(ObservedReply {
        texts,
        reason,
        usage,
    })
}

#[cfg(test)]
mod tests {
    use domain::prompt::{Prompt, PromptMessage};
    use domain::sampling::SamplerOptions;

    use super::*;
    use crate::{FakeProvider, ReplyScript};

    fn request() -> Request {
        let message = PromptMessage {
            role: PromptRole::User,
            text: "Good evening.".to_owned(),
        };
        Request {
            cache_key: "chat".to_owned(),
            background: false,
            prompt: Prompt {
                messages: vec![message],
                ..Prompt::default()
            },
            sampling: SamplerOptions::default().resolve(1),
            response_schema: None,
        }
    }

    #[tokio::test]
    async fn fake_provider_conforms() {
        check(&FakeProvider::new(), &request()).await.unwrap();
    }

    #[tokio::test]
    async fn fake_provider_calls_tools_as_scripted() {
        let fake = FakeProvider::new();
        fake.play(ReplyScript::new().call(TOOL, "{\"sides\":6}"))
            .reply("No.");
        calls(&fake, &request()).await.unwrap();
        fake.reply(RESULT);
        results(&fake, &request()).await.unwrap();
        assert_eq!(fake.last_request().unwrap().prompt.tools.rounds.len(), 1);
        let error = calls(&fake, &request()).await.unwrap_err().to_string();
        assert!(error.starts_with("expected a call"), "{error}");
    }

    #[tokio::test]
    async fn reports_each_violation() {
        for (script, expected) in [
            (
                ReplyScript::new().text("Hi.").text(""),
                "a piece of text was empty",
            ),
            (ReplyScript::new(), "the stream finished without any text"),
            (
                ReplyScript::new().prefill(5, 4, 0).text("Hi."),
                "prompt processing went from 0 to 5 of 4 tokens, 0 of them reused",
            ),
            (
                ReplyScript::new()
                    .text("Hi.")
                    .finish(FinishReason::Cancelled),
                "uncancelled, the reply ended as Cancelled",
            ),
            (
                ReplyScript::new().cut(),
                "the request failed: the connection ended before the reply did",
            ),
        ] {
            let fake = FakeProvider::new();
            fake.play(script);
            assert_eq!(
                check(&fake, &request()).await.unwrap_err().to_string(),
                expected
            );
        }
    }
}
