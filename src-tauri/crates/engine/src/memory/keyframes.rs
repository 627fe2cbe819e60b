//! Keyframes: what a stretch of messages, twenty by default, came to (S4.31-S4.33). The last two whose messages have left the
//! window stand in the digest, from one epoch to the next (S4.32, C7).
//!
//! Promises
//! - Nothing leaves the window uncovered (C26): where no keyframe tells of it, some of its first sentences do, written with the
//!   cut itself. That asks no model.
//! - A keyframe goes with the first of its messages that changes; the store sees to that.

use context::frame::{BlockKind, Candidate, Source};
use context::importance::judge;
use context::prompt_template::sentences;
use context::{CountTokens, Estimate};
use domain::keyframe::Keyframe;
use domain::prompt::Segment;
use domain::settings::Values;
use domain::{ChatId, KeyframeId, MessageId, Timestamp};
use store::{Read, StoreError, Told, Write};
use uuid::Uuid;

use super::Recalled;
use crate::Engine;
use crate::answer::Answerer;
use crate::collect::{Collected, Made};
use crate::convert::Speakers;
use crate::error::Answer;
use crate::history::said;
use crate::turn::TurnOptions;

/// Tokens of a summary, about: two of them stand in every prompt.
pub(super) const TOKENS: u32 = 110;
/// Letters of one message's first sentences.
const SENTENCES: usize = 140;
/// Words below which a sentence says nothing.
const TELLING: usize = 4;
/// Those that stand in the digest at the most, and one to spare where one of them is still in the window.
const BEFORE: u32 = 3;
/// How much first sentences matter, for nobody has read them.
const UNREAD: u8 = 3;

/// A keyframe that is not on the disk yet, and what it was made from.
#[derive(Debug, Clone)]
pub(crate) struct Cover {
    keyframe: Keyframe,
    told: Vec<Told>,
}

/// Messages of one (setting `keyframe_every_messages`).
pub(super) fn every(values: &Values) -> usize {
    values.keyframe_every_messages as usize
}

/// Stretches of `told` that are due: each of `every` messages that no keyframe covers, or as many as there are in front of one
/// that is covered. The newest are not due until they are so many, and those of `short` count among them.
pub(super) fn due(told: Vec<Told>, short: Option<&Keyframe>, every: usize) -> Vec<Vec<Told>> {
    let (mut due, mut stretch, mut goes_on) = (Vec::new(), Vec::new(), false);
    let begins = short.and_then(|short| short.messages.first().copied());
    for text in told {
        let begins = begins == Some(text.message);
        goes_on |= begins;
        let ends = text.covered && !goes_on;
        if (ends || begins || stretch.len() == every) && !stretch.is_empty() {
            due.push(std::mem::take(&mut stretch));
        }
        if !ends {
            stretch.push(text);
        }
    }
    if stretch.len() == every {
        due.push(stretch);
    }
    due
}

/// The last of `keyframes`, if it is of first sentences and may go on: a small window would leave one for every exchange.
pub(super) fn short(keyframes: &[Keyframe], every: usize) -> Option<&Keyframe> {
    keyframes.last().filter(|keyframe| keyframe.fallback && keyframe.messages.len() < every)
}

/// A keyframe of first sentences; `None` where nothing is said in them. It is `short` gone on with, if it begins there.
pub(super) fn of_words(
    chat: ChatId,
    told: &[Told],
    short: Option<&Keyframe>,
    (speakers, now): (&Speakers, Timestamp),
) -> Option<Keyframe> {
    let (first, last) = (told.first()?, told.last()?);
    let summary = Some(first_sentences(told, speakers)).filter(|summary| !summary.is_empty())?;
    let grown = short.filter(|short| short.messages.first() == Some(&first.message));
    Some(Keyframe {
        id: grown.map_or_else(|| KeyframeId(Uuid::now_v7()), |short| short.id),
        chat,
        messages: told.iter().map(|text| text.message).collect(),
        first: first.position,
        last: last.position,
        summary,
        analysis: String::new(),
        rating: UNREAD,
        characters: Vec::new(),
        fallback: true,
        created: now,
    })
}

/// The first sentences of the messages that matter most, in their order and with who says them.
fn first_sentences(told: &[Told], speakers: &Speakers) -> String {
    let names: Vec<&str> = told.iter().map(|text| speakers.of(text.message, text.role)).collect();
    let line = |text: &Told| {
        let start = whole_marks(sentences(&said(text.role, text.text.clone()), SENTENCES));
        let says = start.split_whitespace().count() >= TELLING || !start.is_ascii() && start.chars().count() >= TELLING;
        says.then(|| format!("{}: {start}", speakers.of(text.message, text.role)))
    };
    let mut lines: Vec<(usize, u8, String)> = (0..)
        .zip(told)
        .filter_map(|(at, text)| Some((at, judge(&text.text, names.iter().copied()).value, line(text)?)))
        .collect();
    lines.sort_by_key(|(at, value, _)| (std::cmp::Reverse(*value), *at));
    let mut room = TOKENS;
    lines.retain(|(_, _, line)| match room.checked_sub(tokens(line)) {
        Some(left) => {
            room = left;
            true
        }
        None => false,
    });
    lines.sort_by_key(|(at, ..)| *at);
    lines.into_iter().map(|(_, _, line)| line).collect::<Vec<_>>().join(" ")
}

/// Without the marks of what is done where one of them is left alone: all behind it would be done as well.
fn whole_marks(start: String) -> String {
    if start.matches('*').count().is_multiple_of(2) { start } else { start.replace('*', "") }
}

/// About.
pub(super) fn tokens(text: &str) -> u32 {
    Estimate.count(&Segment { text: text.to_owned(), control: false }).unwrap_or(0)
}

fn candidate(keyframe: &Keyframe) -> Candidate {
    let made = if keyframe.fallback { "first sentences of messages" } else { "summary of messages" };
    let reason = format!("{made} {} to {}", keyframe.first + 1, keyframe.last + 1);
    let source = Source::Keyframe { id: keyframe.id.to_string() };
    Candidate::new(BlockKind::Keyframe, source, reason, keyframe.summary.clone())
        .scored(f32::from(keyframe.rating))
        .about(keyframe.messages.clone())
}

/// Keeps what covers messages that leave the window, with the window itself.
pub(crate) fn keep(store: &mut Write<'_>, covers: &[Cover]) -> Result<(), StoreError> {
    for cover in covers {
        store.keyframes_mut().put(&cover.keyframe, &cover.told)?;
    }
    Ok(())
}

impl Recalled {
    /// Has `keyframes` in the digest, oldest first.
    pub(super) fn tell_story(&mut self, mut keyframes: Vec<Keyframe>) {
        keyframes.sort_by_key(|keyframe| keyframe.first);
        self.digest.retain(|candidate| candidate.kind != BlockKind::Keyframe);
        self.digest.extend(keyframes.iter().map(candidate));
        self.keyframes = keyframes;
    }
}

/// The texts among `left` that no keyframe covers, in stretches. The first of them goes on with `short` where nothing else was
/// said between the two.
fn uncovered(
    store: &Read<'_>,
    chat: ChatId,
    left: &[MessageId],
    short: Option<&Keyframe>,
    every: usize,
) -> Result<Vec<Vec<Told>>, StoreError> {
    let ends = left.first().zip(left.last());
    let Some((first, last)) = ends else { return Ok(Vec::new()) };
    let (first, last) = (store.messages().position(*first)?, store.messages().position(*last)?);
    let Some((first, last)) = first.zip(last) else { return Ok(Vec::new()) };
    let told = store.message_texts().told_between(chat, first, last)?;
    let stretches = told.chunk_by(|one, next| !one.covered && !next.covered);
    let bare = stretches.filter(|stretch| stretch.iter().all(|text| !text.covered));
    let mut bare: Vec<Vec<Told>> = bare.flat_map(|stretch| stretch.chunks(every)).map(<[Told]>::to_vec).collect();
    if let Some((stretch, short)) = bare.first_mut().zip(short.filter(|short| short.last < first))
        && let Some(end) = stretch.last().map(|text| text.position)
        && short.messages.len() + stretch.len() <= every
    {
        let whole = store.message_texts().told_between(chat, short.first, end)?;
        if whole.len() == short.messages.len() + stretch.len() {
            *stretch = whole;
        }
    }
    Ok(bare)
}

impl Engine {
    /// Makes the prompt, counting what is not counted yet. What leaves the window with it is covered by a keyframe.
    pub(crate) async fn make(
        &self,
        collected: &mut Collected,
        answerer: &Answerer,
        options: &TurnOptions,
    ) -> Answer<Made> {
        let made = self.make_as_is(collected, answerer, options).await?;
        match self.cover(collected, &made.assembled.left).await? {
            true => self.make_as_is(collected, answerer, options).await,
            false => Ok(made),
        }
    }

    /// Whether something left that nothing told of until now.
    async fn cover(&self, collected: &mut Collected, left: &[MessageId]) -> Answer<bool> {
        if !collected.values.memory || left.is_empty() {
            return Ok(false);
        }
        let (chat, left) = (collected.chat.id, left.to_vec());
        let every = every(&collected.values);
        let shorter = short(&collected.memory.keyframes, every).cloned();
        let stretches = {
            let shorter = shorter.clone();
            self.store().read(move |store| uncovered(store, chat, &left, shorter.as_ref(), every)).await?
        };
        let (speakers, now) = (&collected.speakers, self.now());
        let cover = |told: Vec<Told>| {
            of_words(chat, &told, shorter.as_ref(), (speakers, now)).map(|keyframe| Cover { keyframe, told })
        };
        let covers: Vec<Cover> = stretches.into_iter().filter_map(cover).collect();
        let grown = |keyframe: &&Keyframe| covers.iter().any(|cover| cover.keyframe.id == keyframe.id);
        let known = collected.memory.keyframes.iter().filter(|keyframe| !grown(keyframe));
        let all = known.chain(covers.iter().map(|cover| &cover.keyframe)).cloned().collect();
        collected.memory.tell_story(all);
        let any = !covers.is_empty();
        collected.memory.covers.extend(covers);
        Ok(any)
    }

    /// Those that may stand in the digest: of messages in the window and right before it, and of its scene.
    pub(super) async fn keyframes_near(&self, collected: &Collected) -> Answer<Vec<Keyframe>> {
        let Some(first) = collected.history.first().map(|message| message.id) else { return Ok(Vec::new()) };
        let (chat, after) = (collected.chat.id, collected.chat.scene_after.unwrap_or(-1));
        let read = move |store: &Read<'_>| {
            let position = store.messages().position(first)?.unwrap_or(i64::MAX);
            store.keyframes().around(chat, position, BEFORE)
        };
        let found = self.store().read(read).await?;
        Ok(found.into_iter().filter(|keyframe| keyframe.first > after).collect())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use domain::chat::Role;

    use super::*;

    /// A message as the store tells it.
    pub(in crate::memory) fn told(position: i64, role: Role, text: &str, covered: bool) -> Told {
        Told {
            number: position,
            message: MessageId(Uuid::from_u128(position as u128 + 1)),
            position,
            role,
            created: Timestamp(position),
            text: text.to_owned(),
            context_block: None,
            covered,
        }
    }

    const TWENTY: usize = 20;

    fn speakers() -> Speakers {
        Speakers { character: "Mira".into(), persona: "Tom".into(), others: Default::default() }
    }

    fn talk(covered: &[bool]) -> Vec<Told> {
        covered.iter().zip(0..).map(|(covered, at)| told(at, Role::User, "We sail on Monday.", *covered)).collect()
    }

    fn lengths(covered: &[bool]) -> Vec<usize> {
        due(talk(covered), None, TWENTY).iter().map(Vec::len).collect()
    }

    #[test]
    fn every_twenty_messages_are_due() {
        assert_eq!(lengths(&[false; 19]), [0; 0]);
        assert_eq!(lengths(&[false; 20]), [20]);
        assert_eq!(lengths(&[false; 45]), [20, 20]);
        let with_a_gap = [[true; 5].as_slice(), &[false; 3], &[true; 5], &[false; 19]].concat();
        assert_eq!(lengths(&with_a_gap), [3], "what has lost its keyframe is due again, however short");
    }

    #[test]
    fn a_short_keyframe_goes_on_until_it_is_whole() {
        let with_short = |covered: &[bool], first: usize| {
            let talk = talk(covered);
            let of_short: Vec<Told> = talk[first..].iter().take_while(|text| text.covered).cloned().collect();
            let short = of_words(ChatId(Uuid::nil()), &of_short, None, (&speakers(), Timestamp(1))).unwrap();
            assert_eq!(super::short(std::slice::from_ref(&short), TWENTY), Some(&short));
            due(talk, Some(&short), TWENTY)
                .iter()
                .map(|stretch| (stretch[0].position, stretch.len()))
                .collect::<Vec<_>>()
        };
        let covered = [[true; 5].as_slice(), &[false; 15]].concat();
        assert_eq!(with_short(&covered, 0), [(0, 20)]);
        assert_eq!(with_short(&covered[..19], 0), []);
        let behind_a_gap = [[true; 3].as_slice(), &[false; 2], &[true; 5], &[false; 18]].concat();
        assert_eq!(with_short(&behind_a_gap, 5), [(3, 2), (5, 20)]);
    }

    #[test]
    fn first_sentences_are_short_and_say_who_says_what() {
        let mut talk = talk(&[false; 3]);
        talk[0].text = "Hm.".into();
        talk[1].text =
            "*smiles* My boat is the Zebulon. She was built in 1931, and nobody has sailed her since.".into();
        let laughs = "*She laughs at the boat. The door is shut, and behind it the wind goes on and on as if nobody had ever told \
                      it that the night is for sleeping.* \"What a name for a boat!\"";
        talk[2] = told(2, Role::Character, laughs, false);
        let keyframe = of_words(ChatId(Uuid::nil()), &talk, None, (&speakers(), Timestamp(1))).unwrap();
        assert!(keyframe.summary.contains("Tom: *smiles* My boat is the Zebulon."), "{}", keyframe.summary);
        assert!(keyframe.summary.ends_with("Mira: She laughs at the boat."), "{}", keyframe.summary);
        assert!(!keyframe.summary.contains("Hm") && keyframe.fallback);
        assert_eq!((keyframe.first, keyframe.last, keyframe.messages.len()), (0, 2, 3));
        let long = vec![told(0, Role::User, &"We sail on Monday, if the wind is fair. ".repeat(90), false); TWENTY];
        let long = of_words(ChatId(Uuid::nil()), &long, None, (&speakers(), Timestamp(1))).unwrap();
        assert!(tokens(&long.summary) <= TOKENS + 20, "{}", long.summary);
    }
}
