//! The access token of a run, and one-time tickets for requests in which a browser cannot send a
//! header.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use subtle::ConstantTimeEq;

/// Length of 256 bits in unpadded base64.
const TOKEN_LENGTH: usize = 43;

/// The secret that clients send as `Authorization: Bearer <token>`.
#[derive(Clone, PartialEq, Eq)]
pub struct AccessToken(String);

/// The token is too short, or has characters that a header or a URL would have to escape.
#[derive(Debug, thiserror::Error)]
#[error("the token is too weak: use at least {TOKEN_LENGTH} letters, digits, `-` or `_`")]
pub struct WeakToken;

impl AccessToken {
    /// Creates a token from 256 random bits.
    pub fn random() -> Self {
        Self(random_text())
    }

    /// # Errors
    /// [`WeakToken`] for fewer than 43 characters, or for characters other than letters, digits,
    /// `-` and `_`.
    pub fn parse(text: &str) -> Result<Self, WeakToken> {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if text.len() < TOKEN_LENGTH || !text.bytes().all(allowed) {
            return Err(WeakToken);
        }
        Ok(Self(text.to_owned()))
    }

    /// Returns the secret itself, for clients.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Compares in constant time.
    pub(crate) fn matches(&self, secret: &str) -> bool {
        bool::from(secret.as_bytes().ct_eq(self.0.as_bytes()))
    }

    pub(crate) fn presented(&self, headers: &HeaderMap) -> PresentedToken {
        let mut values = headers.get_all(AUTHORIZATION).iter();
        match (values.next(), values.next()) {
            (None, _) => PresentedToken::Nothing,
            (Some(value), None) if self.matches_header(value.as_bytes()) => PresentedToken::Token,
            _ => PresentedToken::SomethingElse,
        }
    }

    fn matches_header(&self, value: &[u8]) -> bool {
        const SCHEME: &[u8] = b"Bearer ";
        value
            .split_at_checked(SCHEME.len())
            .is_some_and(|(scheme, token)| {
                scheme.eq_ignore_ascii_case(SCHEME) && bool::from(token.ct_eq(self.0.as_bytes()))
            })
    }
}

/// Hides the secret, so that it cannot get into a log.
impl fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(..)")
    }
}

/// Contents of a request's `Authorization` header.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PresentedToken {
    Nothing,
    Token,
    SomethingElse,
}

/// Issued tickets that were not used yet.
#[derive(Default)]
pub(crate) struct Tickets(Mutex<VecDeque<(String, Instant)>>);

impl Tickets {
    pub(crate) const LIFE: Duration = Duration::from_secs(30);
    const MOST: usize = 64;

    pub(crate) fn issue(&self, now: Instant) -> String {
        let ticket = random_text();
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|(_, until)| *until > now);
        if open.len() == Self::MOST {
            open.pop_front();
        }
        open.push_back((ticket.clone(), now + Self::LIFE));
        ticket
    }

    /// Returns true once for each ticket, within its lifetime.
    pub(crate) fn redeem(&self, ticket: &str, now: Instant) -> bool {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|(_, until)| *until > now);
        let found = open
            .iter()
            .position(|(known, _)| bool::from(known.as_bytes().ct_eq(ticket.as_bytes())));
        found.and_then(|index| open.remove(index)).is_some()
    }
}

fn random_text() -> String {
    URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticket_works_once() {
        let (tickets, now) = (Tickets::default(), Instant::now());
        let ticket = tickets.issue(now);
        assert!(!tickets.redeem("", now));
        assert!(tickets.redeem(&ticket, now));
        assert!(!tickets.redeem(&ticket, now));
    }

    #[test]
    fn ticket_expires() {
        let (tickets, now) = (Tickets::default(), Instant::now());
        let ticket = tickets.issue(now);
        assert!(!tickets.redeem(&ticket, now + Tickets::LIFE));
    }

    #[test]
    fn too_many_tickets_drop_the_oldest() {
        let (tickets, now) = (Tickets::default(), Instant::now());
        let first = tickets.issue(now);
        let last = (0..Tickets::MOST)
            .map(|_| tickets.issue(now))
            .last()
            .unwrap();
        assert!(!tickets.redeem(&first, now));
        assert!(tickets.redeem(&last, now));
    }

    #[test]
    fn tokens_have_256_bits_and_differ() {
        let (one, other) = (AccessToken::random(), AccessToken::random());
        assert_eq!(URL_SAFE_NO_PAD.decode(one.reveal()).unwrap().len(), 32);
        assert_ne!(one, other);
        assert_eq!(AccessToken::parse(one.reveal()).unwrap(), one);
    }

    #[test]
    fn refuses_weak_tokens() {
        for weak in [
            "",
            "secret",
            &"a".repeat(42),
            &"a b".repeat(20),
            &"ü".repeat(40),
        ] {
            assert!(AccessToken::parse(weak).is_err(), "{weak}");
        }
    }

    #[test]
    fn debug_output_hides_the_token() {
        let token = AccessToken::random();
        assert!(!format!("{token:?}").contains(token.reveal()));
    }
}
