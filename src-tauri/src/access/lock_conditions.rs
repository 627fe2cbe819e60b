//! What decides when the app locks itself: the settings, the user's activity, running replies.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use engine::api::Settings;
use tokio::sync::watch;

use crate::access::running_replies::RunningReplies;

/// The settings about locking.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct LockRules {
    /// The time without input after which the app locks itself.
    pub(crate) idle: Option<Duration>,
    /// Lock when the computer sleeps or its session is locked.
    pub(crate) on_suspend: bool,
    pub(crate) finish_replies: bool,
}

impl LockRules {
    pub(crate) fn of(settings: &Settings) -> Self {
        let minutes = u64::from(settings.lock_after_minutes);
        Self {
            idle: (minutes > 0).then(|| Duration::from_secs(60 * minutes)),
            on_suspend: settings.lock_on_suspend,
            finish_replies: settings.finish_replies_before_lock,
        }
    }

    /// When an app whose last input was at `last` is idle for too long.
    fn idle_end(self, last: Instant) -> Option<Instant> {
        last.checked_add(self.idle?)
    }
}

/// What decides when the app locks itself.
pub(crate) struct LockConditions {
    rules: watch::Sender<LockRules>,
    last_active: Mutex<Instant>,
    pub(crate) replies: RunningReplies,
}

impl LockConditions {
    pub(crate) fn new() -> Self {
        Self {
            rules: watch::Sender::new(LockRules::default()),
            last_active: Mutex::new(Instant::now()),
            replies: RunningReplies::default(),
        }
    }

    pub(crate) fn rules(&self) -> LockRules {
        *self.rules.borrow()
    }

    pub(crate) fn rule_changes(&self) -> watch::Receiver<LockRules> {
        self.rules.subscribe()
    }

    pub(crate) fn set_rules(&self, rules: LockRules) {
        self.rules.send_if_modified(|before| {
            let is_new = *before != rules;
            *before = rules;
            is_new
        });
    }

    /// Records that the user typed, clicked or scrolled at `now`.
    pub(crate) fn mark_active(&self, now: Instant) {
        *self
            .last_active
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = now;
    }

    /// When the app locks itself if the user does nothing more.
    pub(crate) fn idle_end(&self) -> Option<Instant> {
        let last = self
            .last_active
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        self.rules().idle_end(*last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(lock_after_minutes: u32) -> LockRules {
        LockRules::of(&Settings {
            lock_after_minutes,
            ..Settings::default()
        })
    }

    #[test]
    fn input_moves_the_end_of_the_idle_time() {
        let conditions = LockConditions::new();
        assert_eq!(conditions.idle_end(), None, "no settings are known yet");
        conditions.set_rules(rules(5));
        let now = Instant::now();
        for seconds in [0, 15, 90] {
            let input = now + Duration::from_secs(seconds);
            conditions.mark_active(input);
            let end = input + Duration::from_secs(300);
            assert_eq!(conditions.idle_end(), Some(end));
        }
        conditions.set_rules(rules(0));
        assert_eq!(conditions.idle_end(), None, "0 means never");
    }

    #[test]
    fn equal_rules_wake_nobody() {
        let conditions = LockConditions::new();
        conditions.set_rules(rules(5));
        let changes = conditions.rule_changes();
        conditions.set_rules(rules(5));
        assert!(!changes.has_changed().unwrap());
        conditions.set_rules(rules(6));
        assert!(changes.has_changed().unwrap());
    }
}
