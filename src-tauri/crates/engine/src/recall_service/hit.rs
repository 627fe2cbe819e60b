//! A message that matches a question, and the candidate for the prompt that it becomes.

use context::frame::{BlockKind, Candidate, Signal, SignalKind, Source};
use context::reason::{BlockReason, Reasons, two_decimals};
use recall::excerpt::{ExcerptTerms, excerpt};
use recall::hints::QueryHints;
use recall::late_interaction::Nearest;
use recall::possessions::Possession;
use recall::scores::Scores;
use recall::signals::MessagePosition;
use recall::updates::Update;
use store::MessageKey;

use crate::base::clock::Clock;
use crate::base::records::convert::Speakers;
use crate::library::chats::chat::said;

/// A message that matches the question.
#[derive(Debug, Clone)]
pub(crate) struct Hit {
    pub(crate) message: MessageKey,
    /// Its text.
    pub(crate) text: String,
    /// Index of the searched range that it is in.
    pub(crate) stretch: usize,
    /// Relevance, 0 to 1; penalties for questions and for repetition may lower it below 0.
    pub(crate) score: f32,
    /// The parts of the score.
    pub(crate) signals: Vec<Signal>,
    /// The position in its text that matches the question best.
    pub(crate) nearest: Option<Nearest>,
    /// Number of other messages with the same text.
    pub(crate) twins: usize,
    /// The reason, if it is included because it updates an older hit.
    pub(crate) since: Option<Since>,
}

/// How a message updates an older hit.
#[derive(Debug, Clone)]
pub(crate) enum Since {
    /// It says that something has changed.
    Update(Update),
    /// It is the newest message about a possession that the question names.
    LastWord(Possession),
}

impl Hit {
    pub(crate) fn new(message: MessageKey, stretch: usize, score: f32) -> Self {
        Self {
            message,
            text: String::new(),
            stretch,
            score,
            signals: Vec::new(),
            nearest: None,
            twins: 0,
            since: None,
        }
    }

    /// Merges a duplicate. The newer message is shown, except if the question names a date
    /// (`timed`); then the better match is.
    pub(crate) fn has_twin(&mut self, twin: Self, timed: bool) {
        self.twins += 1;
        if !timed && twin.message.created > self.message.created {
            (self.message, self.stretch) = (twin.message, twin.stretch);
        }
    }

    pub(crate) fn place(&self) -> MessagePosition {
        (self.stretch, self.message.position)
    }

    pub(crate) fn hinted(&mut self, about: &QueryHints, clock: &Clock) {
        self.signals
            .extend(about.hints(self.message.role, clock.civil(self.message.created)));
    }

    pub(crate) fn names(&mut self, possessions: &[Possession], named: &Scores) {
        if !possessions.is_empty() {
            self.signals
                .push(SignalKind::Named.is(named.of(self.place())));
        }
    }
}

/// Heading of messages from other chats of the same people.
const OTHER_CHATS: &str = "From other chats:";

/// A line of the context block, with the speaker and the day. A long message is cut to the part
/// about the question.
pub(crate) fn candidate(
    hit: Hit,
    sought: &ExcerptTerms,
    speakers: &Speakers,
    clock: &Clock,
) -> Option<Candidate> {
    let Hit {
        message,
        text,
        score,
        signals,
        nearest,
        twins,
        since,
        stretch,
    } = hit;
    let id = message.id;
    let role = message.role;
    let own = match &since {
        None => None,
        Some(Since::Update(news)) => Some(news.sought()),
        Some(Since::LastWord(thing)) => Some(sought.and(thing.sought())),
    };
    // The update may be in another part of the message than the best match of the question.
    let nearest = nearest.filter(|_| own.is_none());
    let text = excerpt(&said(role, text), own.as_ref().unwrap_or(sought), nearest);
    if text.is_empty() {
        return None;
    }
    let speaker = speakers.of(id, role);
    let day = if message.undated {
        "date unknown".to_owned()
    } else {
        clock.day(message.created)
    };
    let title = if speaker.is_empty() {
        day
    } else {
        format!("{speaker}, {day}")
    };
    let source = Source::Message {
        id,
        speaker: speaker.to_owned(),
    };
    let excerpt = Candidate::new(
        BlockKind::Excerpt,
        source,
        reasons(since.as_ref(), score, twins),
        text,
    );
    // The first range is the chat itself.
    let heading = if stretch == 0 { "" } else { OTHER_CHATS };
    let excerpt = excerpt
        .with_score(score)
        .with_signals(signals)
        .with_title(title)
        .with_heading(heading);
    Some(excerpt.with_source_messages(vec![id]))
}

fn reasons(since: Option<&Since>, score: f32, twins: usize) -> Reasons {
    let score = two_decimals(score);
    let mut reasons = Reasons::from(match since {
        None => BlockReason::AboutThisTurn { score },
        Some(Since::Update(_)) => BlockReason::UpdateOfOlder { score },
        Some(Since::LastWord(_)) => BlockReason::NewestAboutSame { score },
    });
    if twins > 0 {
        reasons.push(BlockReason::SaidRepeatedly { times: twins + 1 });
    }
    reasons
}

#[cfg(test)]
mod tests {
    use domain::chat::Role;
    use domain::{MessageId, Timestamp};
    use recall::possessions::possessions;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn excerpt_of_last_mention_names_the_possession() {
        let text = format!(
            "I saw a stray dog. {}\n\nI have to walk my dog. Come, Zebulon!",
            "It rained on my hat. ".repeat(90)
        );
        let message = MessageKey {
            id: MessageId(Uuid::nil()),
            position: 7,
            role: Role::User,
            created: Timestamp(0),
            undated: false,
        };
        let told = |since| {
            let hit = Hit {
                text: text.clone(),
                nearest: Some(Nearest {
                    passage: 0,
                    at: 0.0,
                }),
                since,
                ..Hit::new(message, 0, 0.9)
            };
            let speakers = Speakers {
                character: "Mira".to_owned(),
                persona: "Tom".to_owned(),
                others: Default::default(),
            };
            let sought = ExcerptTerms::of(&["dog".to_owned(), "called".to_owned()]);
            candidate(hit, &sought, &speakers, &Clock::stopped(Timestamp(0)))
                .unwrap()
                .text
        };
        assert!(
            told(None).starts_with("I saw a stray dog."),
            "{}",
            told(None)
        );
        let thing = possessions("What is my dog called?", Role::User).remove(0);
        assert!(told(Some(Since::LastWord(thing))).ends_with("Come, Zebulon!"));
    }
}
