//! A message that fits a question, and the line of a prompt that it becomes.

use context::frame::{BlockKind, Candidate, Signal, SignalKind, Source};
use store::NamedMessage;

use super::about::About;
use super::by_words::NAMED;
use super::excerpt::{Sought, excerpt};
use super::interaction::Nearest;
use super::news::News;
use super::scores::Scores;
use super::signals::Place;
use super::things::Thing;
use crate::clock::Clock;
use crate::convert::Speakers;
use crate::history::said;

/// A message that fits.
#[derive(Debug, Clone)]
pub(crate) struct Hit {
    pub(crate) message: NamedMessage,
    /// Its words.
    pub(super) text: String,
    /// Which of the stretches it stands in.
    pub(crate) stretch: usize,
    /// From 0 to 1; less where it only asks, or says what others say.
    pub(crate) score: f32,
    /// What it is made of.
    pub(crate) signals: Vec<Signal>,
    /// Where in it the question is met best.
    pub(crate) nearest: Option<Nearest>,
    /// Others that have the same words.
    pub(super) twins: usize,
    /// Why it is told, where it is for one that fits and is from before it.
    pub(super) since: Option<Since>,
}

/// What was said since.
#[derive(Debug, Clone)]
pub(super) enum Since {
    /// That something has changed.
    News(News),
    /// Something more of what is asked about, and nothing after that.
    LastWord(Thing),
}

impl Hit {
    pub(super) fn new(message: NamedMessage, stretch: usize, score: f32) -> Self {
        Self { message, text: String::new(), stretch, score, signals: Vec::new(), nearest: None, twins: 0, since: None }
    }

    /// What was said again is told as it was said last; `timed`: as it fits best.
    pub(super) fn has_twin(&mut self, twin: Self, timed: bool) {
        self.twins += 1;
        if !timed && twin.message.created > self.message.created {
            (self.message, self.stretch) = (twin.message, twin.stretch);
        }
    }

    pub(super) fn place(&self) -> Place {
        (self.stretch, self.message.position)
    }

    pub(super) fn hinted(&mut self, about: &About, clock: &Clock) {
        self.signals.extend(about.hints(self.message.role, clock.civil(self.message.created)));
    }

    pub(super) fn names(&mut self, things: &[Thing], named: &Scores) {
        if !things.is_empty() {
            self.signals.push(SignalKind::Named.is(named.of(self.place()) / NAMED));
        }
    }
}

/// A message as a line of the context block: whose words, of which day. Of a long one only what is about the question.
pub(crate) fn candidate(hit: Hit, sought: &Sought, speakers: &Speakers, clock: &Clock) -> Option<Candidate> {
    let Hit { message, text, score, signals, nearest, twins, since, .. } = hit;
    let (id, role) = (message.id, message.role);
    let own = match &since {
        None => None,
        Some(Since::News(news)) => Some(news.sought()),
        Some(Since::LastWord(thing)) => Some(sought.and(thing.sought())),
    };
    // What it is told for besides may stand elsewhere in it than what the encoder finds nearest to the question.
    let nearest = nearest.filter(|_| own.is_none());
    let text = excerpt(&said(role, text), own.as_ref().unwrap_or(sought), nearest);
    if text.is_empty() {
        return None;
    }
    let speaker = speakers.of(id, role);
    let day = if message.undated { "date unknown".to_owned() } else { clock.day(message.created) };
    let title = if speaker.is_empty() { day } else { format!("{speaker}, {day}") };
    let source = Source::Message { id, speaker: speaker.to_owned() };
    let reason = match since {
        None => "about this turn",
        Some(Since::News(_)) => "says what has changed since",
        Some(Since::LastWord(_)) => "what was said last of what is asked about",
    };
    let reason = match twins {
        0 => format!("{reason}, {score:.2}"),
        _ => format!("{reason}, {score:.2}; the same words were said {} times", twins + 1),
    };
    let excerpt = Candidate::new(BlockKind::Excerpt, source, reason, text);
    Some(excerpt.scored(score).because(signals).titled(title).about(vec![id]))
}

#[cfg(test)]
mod tests {
    use domain::chat::Role;
    use domain::{MessageId, Timestamp};
    use uuid::Uuid;

    use super::*;
    use crate::memory::things::things;

    #[test]
    fn what_was_said_last_of_something_is_told_where_it_is_named() {
        let text = format!(
            "I saw a stray dog. {}\n\nI have to walk my dog. Come, Zebulon!",
            "It rained on my hat. ".repeat(90)
        );
        let message = NamedMessage {
            id: MessageId(Uuid::nil()),
            position: 7,
            role: Role::User,
            created: Timestamp(0),
            undated: false,
        };
        let told = |since| {
            let hit = Hit {
                text: text.clone(),
                nearest: Some(Nearest { passage: 0, at: 0.0 }),
                since,
                ..Hit::new(message, 0, 0.9)
            };
            let speakers =
                Speakers { character: "Mira".to_owned(), persona: "Tom".to_owned(), others: Default::default() };
            let sought = Sought::of(&["dog".to_owned(), "called".to_owned()]);
            candidate(hit, &sought, &speakers, &Clock::stopped(Timestamp(0))).unwrap().text
        };
        assert!(told(None).starts_with("I saw a stray dog."), "{}", told(None));
        let thing = things("What is my dog called?", Role::User).remove(0);
        assert!(told(Some(Since::LastWord(thing))).ends_with("Come, Zebulon!"));
    }
}
