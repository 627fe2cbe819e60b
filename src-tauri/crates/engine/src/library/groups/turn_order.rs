//! Decides who speaks next in a group scene. The choice depends only on the messages and on the
//! group's settings, so a preview shows the speaker of the real turn. With the order Director,
//! `directed` in `turn/sending/director.rs` may replace the choice.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use domain::chat::{Message, Role, Speaker, TurnOrder};
use domain::script::has_unspaced_script;
use domain::{CharacterId, MessageId};
use serde_json::Value;
use store::WindowMessage;

use crate::library::groups::next_turns::LOOK_BACK;
use crate::library::groups::scene::{Member, NARRATOR, NextSpeaker, Scene};

/// Talkativeness of a card that sets none, 0 to 1, as in SillyTavern.
const TALKATIVENESS: f64 = 0.5;
/// Minimum letters of the first word of a longer name that stands for the name.
const FIRST_NAME: usize = 3;

/// The parts of a message that decide who is next.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SpokenLine<'m> {
    pub(crate) id: MessageId,
    pub(crate) role: Role,
    pub(crate) text: &'m str,
}

impl<'m> From<&'m Message> for SpokenLine<'m> {
    fn from(message: &'m Message) -> Self {
        Self {
            id: message.id,
            role: message.role,
            text: message.text(),
        }
    }
}

impl<'m> From<&'m WindowMessage> for SpokenLine<'m> {
    fn from(message: &'m WindowMessage) -> Self {
        Self {
            id: message.id,
            role: message.role,
            text: &message.text,
        }
    }
}

impl Scene {
    /// The speaker of the reply after `lines`, newest first. The order of precedence: the speaker
    /// that an event calls upon, the speaker of a continued reply, the member that the user names,
    /// the turn order. `None` if the user has to call upon somebody.
    pub(crate) fn next<'m>(
        &self,
        lines: impl IntoIterator<Item = SpokenLine<'m>>,
    ) -> Option<NextSpeaker> {
        if !self.is_scene() {
            return Some(NextSpeaker::OWN);
        }
        let lines: Vec<SpokenLine<'m>> = lines.into_iter().take(LOOK_BACK as usize).collect();
        match lines.first() {
            Some(newest) if matches!(newest.role, Role::Character | Role::Narrator) => {
                Some(self.who_said(newest.id, newest.role))
            }
            Some(newest)
                if newest.role == Role::Event && self.speakers.contains_key(&newest.id) =>
            {
                Some(self.called(newest.id))
            }
            _ => self.after(&lines),
        }
    }

    /// All speakers of the replies after `lines`, newest first. The first is [`Self::next`]; others
    /// follow in natural order if the group allows it: all that the user names, then those that
    /// speak up by their talkativeness.
    pub(crate) fn all_next<'m>(
        &self,
        lines: impl IntoIterator<Item = SpokenLine<'m>>,
    ) -> Vec<NextSpeaker> {
        let lines: Vec<SpokenLine<'m>> = lines.into_iter().take(LOOK_BACK as usize).collect();
        let Some(first) = self.next(lines.iter().copied()) else {
            return Vec::new();
        };
        let mut speakers = vec![first];
        let several = self.settings.several_replies && self.order() == TurnOrder::Natural;
        let said = lines
            .first()
            .filter(|line| several && self.is_scene() && line.role == Role::User);
        let Some(said) = said else { return speakers };
        let able = self.able(Some(said));
        let told: Vec<&SpokenLine<'_>> = lines.iter().collect();
        let eager = in_drawn_order(
            &told,
            able.iter()
                .copied()
                .filter(|member| is_eager(&told, member))
                .collect(),
        );
        let others = self
            .all_named_in(said, &able)
            .into_iter()
            .chain(eager.into_iter().filter_map(|id| self.turn_of(id)));
        for speaker in others {
            if !speakers.contains(&speaker) {
                speakers.push(speaker);
            }
        }
        speakers
    }

    /// The speaker after `lines`, newest first, by name or by the turn order. It never continues a
    /// reply. `None` if nobody may speak, or if everybody has spoken.
    pub(crate) fn after(&self, lines: &[SpokenLine<'_>]) -> Option<NextSpeaker> {
        // Arrivals and departures are no lines that somebody answers.
        let told = |line: &&SpokenLine<'_>| {
            line.role != Role::Event || self.speakers.contains_key(&line.id)
        };
        let lines: Vec<&SpokenLine<'_>> = lines.iter().filter(told).collect();
        let able = self.able(lines.first().copied());
        if self.order() == TurnOrder::Manual || able.is_empty() {
            return None;
        }
        let newest = lines.first();
        let named = newest.and_then(|line| self.named_in(line, &able));
        if let Some(named) = named {
            return Some(named);
        }
        let last = lines
            .iter()
            .find(|line| line.role == Role::Character)
            .map(|line| self.speaker_id(line.id));
        let chosen = match self.order() {
            TurnOrder::List => self.following(last, &able),
            TurnOrder::Pooled => self.silent_so_far(&lines, &able),
            TurnOrder::Natural | TurnOrder::Director | TurnOrder::Manual => {
                self.talkative(&lines, last, &able)
            }
        };
        self.turn_of(chosen?)
    }

    /// Whether a name, an event or a reply to continue decides who is next, whatever the turn
    /// order.
    pub(crate) fn is_settled(&self, lines: &[SpokenLine<'_>]) -> bool {
        let called = |line: &SpokenLine<'_>| {
            line.role == Role::Event && self.speakers.contains_key(&line.id)
        };
        let able = self.able(lines.first());
        lines
            .first()
            .is_none_or(|line| called(line) || self.named_in(line, &able).is_some())
    }

    /// The first member that may speak, for a preview of a turn in which nobody would.
    pub(crate) fn anyone(&self) -> NextSpeaker {
        let able = self.able(None);
        able.first()
            .and_then(|member| self.turn_of(member.id))
            .unwrap_or(NextSpeaker::OWN)
    }

    /// The members that may answer `newest`: neither muted nor away, present when it was said, and
    /// not its speaker.
    pub(crate) fn able(&self, newest: Option<&SpokenLine<'_>>) -> Vec<&Member> {
        let own =
            newest.filter(|line| line.role == Role::Character && !self.settings.self_responses);
        let own = own.and_then(|line| self.speaker_id(line.id));
        let heard = |member: &&Member| {
            !member.state.muted
                && !member.state.away
                && newest.is_none_or(|line| !member.missed.contains(&line.id))
                && own != Some(member.id)
        };
        self.members.iter().filter(heard).collect()
    }

    /// The speaker that an event calls upon.
    fn called(&self, event: MessageId) -> NextSpeaker {
        match self.speakers.get(&event) {
            Some(Speaker {
                character: Some(id),
                ..
            }) => self.turn_of(*id).unwrap_or(NextSpeaker::OWN),
            _ => NextSpeaker::narrator(),
        }
    }

    /// The character that wrote a message; `None` if it was deleted.
    fn speaker_id(&self, message: MessageId) -> Option<CharacterId> {
        match self.speakers.get(&message) {
            Some(speaker) => speaker.character,
            None => self.members.first().map(|own| own.id),
        }
    }

    /// The member after `last` that is able. After an unknown speaker, it is the member after the
    /// chat's own character; before any reply, it is the first.
    fn following(
        &self,
        last: Option<Option<CharacterId>>,
        able: &[&Member],
    ) -> Option<CharacterId> {
        let count = self.members.len();
        let from = match last {
            None => 0,
            Some(last) => {
                last.and_then(|id| self.members.iter().position(|member| member.id == id))
                    .unwrap_or(0)
                    + 1
            }
        };
        let in_turn = (from..from + count).map(|at| self.members[at % count].id);
        in_turn
            .into_iter()
            .find(|id| able.iter().any(|member| member.id == *id))
    }

    /// One of the members that have not spoken since the user's last message.
    fn silent_so_far(&self, lines: &[&SpokenLine<'_>], able: &[&Member]) -> Option<CharacterId> {
        let since = lines.iter().take_while(|line| line.role != Role::User);
        let spoken: Vec<_> = since
            .filter(|line| line.role == Role::Character)
            .map(|line| self.speaker_id(line.id))
            .collect();
        let silent = able
            .iter()
            .filter(|member| !spoken.contains(&Some(member.id)));
        silent
            .min_by_key(|member| roll(lines, member.id, "pool"))
            .map(|member| member.id)
    }

    /// As in SillyTavern: each member speaks up with the chance of its talkativeness, and one of
    /// them gets the turn. If nobody speaks up, any member with some talkativeness does. The last
    /// speaker goes again only if nobody else does. A member without talkativeness speaks only if
    /// nobody present has any.
    fn talkative(
        &self,
        lines: &[&SpokenLine<'_>],
        last: Option<Option<CharacterId>>,
        able: &[&Member],
    ) -> Option<CharacterId> {
        let eager = |member: &&&Member| is_eager(lines, member);
        let others: Vec<&Member> = able
            .iter()
            .copied()
            .filter(|member| last != Some(Some(member.id)))
            .collect();
        let drawn = |from: &mut dyn Iterator<Item = &&Member>| {
            from.min_by_key(|member| roll(lines, member.id, "draw"))
                .map(|member| member.id)
        };
        drawn(&mut others.iter().filter(eager))
            .or_else(|| drawn(&mut able.iter().filter(eager)))
            .or_else(|| drawn(&mut others.iter().filter(|member| talkativeness(member) > 0.0)))
            .or_else(|| drawn(&mut able.iter().filter(|member| talkativeness(member) > 0.0)))
            .or_else(|| drawn(&mut able.iter().filter(|_| !self.has_talkative())))
    }

    /// Whether any member that is neither muted nor away has some talkativeness.
    fn has_talkative(&self) -> bool {
        let mut present = self
            .members
            .iter()
            .filter(|member| !member.state.muted && !member.state.away);
        present.any(|member| talkativeness(member) > 0.0)
    }

    /// The able member or the narrator whom a line names first.
    fn named_in(&self, line: &SpokenLine<'_>, able: &[&Member]) -> Option<NextSpeaker> {
        self.all_named_in(line, able).into_iter().next()
    }

    /// The able members and the narrator that a line names, in the order of their names in it. Only
    /// the user can call upon the narrator.
    fn all_named_in(&self, line: &SpokenLine<'_>, able: &[&Member]) -> Vec<NextSpeaker> {
        if !matches!(line.role, Role::User | Role::Character) {
            return Vec::new();
        }
        let text = line.text.to_lowercase();
        let members = able
            .iter()
            .map(|member| (member.name.as_str(), self.turn_of(member.id)));
        let narrator = (line.role == Role::User).then(|| (NARRATOR, Some(NextSpeaker::narrator())));
        let named = members
            .chain(narrator)
            .filter_map(|(name, turn)| Some((named_at(name, &text)?, turn?)));
        let mut named: Vec<(Mention, NextSpeaker)> = named.collect();
        // A longer name hides a shorter one at the same place: "Bo (2)" is not "Bo".
        let hides =
            |other: &Mention, place: &Mention| other.at == place.at && other.whole > place.whole;
        let places: Vec<Mention> = named.iter().map(|(place, _)| *place).collect();
        named.retain(|(place, _)| !places.iter().any(|other| hides(other, place)));
        named.sort_by_key(|(place, _)| place.at);
        named.into_iter().map(|(_, turn)| turn).collect()
    }

    /// The able member whom a model's answer names first.
    pub(crate) fn chosen_by_name(&self, answer: &str, able: &[CharacterId]) -> Option<NextSpeaker> {
        let text = answer.to_lowercase();
        let members = self
            .members
            .iter()
            .filter(|member| able.contains(&member.id));
        let named = members.filter_map(|member| Some((named_at(&member.name, &text)?, member.id)));
        self.turn_of(
            named
                .min_by_key(|(place, _)| (place.at, std::cmp::Reverse(place.whole)))?
                .1,
        )
    }
}

/// Talkativeness of a card, 0 to 1. SillyTavern stores it as a number or as a text.
fn talkativeness(member: &Member) -> f64 {
    let written = member
        .card
        .extensions()
        .and_then(|all| all.get("talkativeness"));
    let value = written.and_then(|value| match value {
        Value::String(text) => text.trim().parse().ok(),
        value => value.as_f64(),
    });
    value
        .filter(|value: &f64| value.is_finite())
        .unwrap_or(TALKATIVENESS)
        .clamp(0.0, 1.0)
}

/// Whether a member speaks up, with the chance of its talkativeness.
fn is_eager(lines: &[&SpokenLine<'_>], member: &Member) -> bool {
    let share = roll(lines, member.id, "talk") as f64 / u64::MAX as f64;
    share < talkativeness(member)
}

fn in_drawn_order(lines: &[&SpokenLine<'_>], mut members: Vec<&Member>) -> Vec<CharacterId> {
    members.sort_by_key(|member| roll(lines, member.id, "draw"));
    members.into_iter().map(|member| member.id).collect()
}

/// A number that stays the same for the same messages. The newest message is left out, because a
/// preview does not know its id.
fn roll(lines: &[&SpokenLine<'_>], member: CharacterId, use_of: &str) -> u64 {
    let before = lines.get(1).map_or(0, |line| line.id.0.as_u128());
    let mut hasher = DefaultHasher::new();
    (before, member.0.as_u128(), use_of).hash(&mut hasher);
    hasher.finish()
}

/// The mention of a name in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mention {
    at: usize,
    /// Length of the whole name; 0 if the text has only its first word.
    whole: usize,
}

/// The mention of `name` in `text`, in lower case: the whole name, else its first word.
fn named_at(name: &str, text: &str) -> Option<Mention> {
    let first = || {
        name.split_whitespace()
            .next()
            .filter(|word| word.chars().count() >= FIRST_NAME && *word != name)
    };
    let whole = place_of(name, text).map(|at| Mention {
        at,
        whole: name.len(),
    });
    let by_first = || {
        place_of(
            first().filter(|word| !word.eq_ignore_ascii_case("the"))?,
            text,
        )
    };
    whole.or_else(|| by_first().map(|at| Mention { at, whole: 0 }))
}

/// Position of `name` as a whole word in `text`, which is in lower case. Scripts without spaces
/// have no word boundaries.
fn place_of(name: &str, text: &str) -> Option<usize> {
    let name = name.to_lowercase();
    let unspaced = has_unspaced_script(&name);
    let apart =
        |letter: Option<char>| letter.is_none_or(|letter| unspaced || !letter.is_alphanumeric());
    let alone = |at: &usize| {
        apart(text[..*at].chars().next_back()) && apart(text[at + name.len()..].chars().next())
    };
    text.match_indices(&name)
        .map(|(at, _)| at)
        .filter(|_| !name.is_empty())
        .find(alone)
}

#[cfg(test)]
pub(crate) mod tests;
