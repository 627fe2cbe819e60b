//! The manifest of a turn: what was sent and what it cost. It is stored with the reply, and the
//! X-ray shows it.
//!
//! Prompts of an epoch start alike, so a manifest stores only what the previous one does not
//! contain. Storage therefore grows linearly with the chat. Each text is stored once, in the
//! segments. A block stores its own text and its source text only if they differ from what was
//! sent.

pub(crate) mod expiry;

use std::collections::BTreeMap;

use domain::{ChatId, SwipeId};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use store::{ReadTransaction, StoreError};

use crate::api::{BlockReason, Figures, Origin, PromptBlock, PromptReport, PromptSegment};
use crate::base::error::ApiResult;
use crate::library::chats::Chats;

/// Maximum length of a chain of manifests, before the next one is stored completely.
const CHAIN: usize = 64;

/// Start of the JSON of a manifest without texts.
const BARE: &str = "{\"bare\":true";

/// Notice for a prompt whose texts were removed.
pub(crate) const WORDS_GONE: &str = "The text of this prompt was removed, because something it may quote was edited or permanently deleted.";

/// A manifest as it is stored.
#[derive(Serialize, Deserialize)]
struct Stored {
    /// Whether [`without_words`] has removed the texts. It is the first field, so that it is found
    /// without parsing the rest.
    #[serde(default)]
    bare: bool,
    shared: Option<SharedPrefix>,
    /// Without the shared parts, and without texts that the segments contain.
    report: PromptReport,
}

/// The part of a manifest that an earlier one contains.
#[derive(Clone, Serialize, Deserialize)]
struct SharedPrefix {
    swipe: String,
    segments: usize,
    blocks: usize,
    /// Number of links to the first manifest that is stored completely.
    links: usize,
    /// Checksum of the shared segments, because the earlier manifest may have been replaced. Empty
    /// in a manifest without texts, which must reveal nothing about them.
    checksum: String,
}

/// A manifest that was read back. `links` is the number of manifests that it depends on.
pub(crate) struct Recorded {
    pub(crate) swipe: SwipeId,
    pub(crate) report: PromptReport,
    /// Its own texts were removed. Some of the shared texts may still exist.
    pub(crate) bare: bool,
    links: usize,
}

/// The JSON to store for `report`. It refers to `previous` for the part that both share.
pub(crate) fn to_json(report: &PromptReport, previous: Option<&Recorded>) -> String {
    let shared = previous
        .filter(|kept| kept.links < CHAIN)
        .and_then(|kept| shared(report, kept));
    let mut report = without_texts(report);
    if let Some(shared) = &shared {
        report.segments.drain(..shared.segments);
        report.blocks.drain(..shared.blocks);
    }
    serde_json::to_string(&Stored {
        bare: false,
        shared,
        report,
    })
    .unwrap_or_default()
}

/// Removes the texts from a manifest. The blocks, their reasons and their costs stay. `None` if the
/// texts are already removed. An unreadable manifest becomes empty.
pub(crate) fn without_words(json: &str) -> Option<String> {
    if json.starts_with(BARE) {
        return None;
    }
    let Ok(stored) = serde_json::from_str::<Stored>(json) else {
        return (!json.is_empty()).then(String::new);
    };
    let Stored {
        shared, mut report, ..
    } = stored;
    let shared = shared.map(|shared| SharedPrefix {
        checksum: String::new(),
        ..shared
    });
    report.text.clear();
    report
        .segments
        .iter_mut()
        .for_each(|segment| segment.text.clear());
    report
        .messages
        .iter_mut()
        .for_each(|message| message.text.clear());
    report.blocks.iter_mut().for_each(take_words);
    report.notices = vec![WORDS_GONE.to_owned()];
    serde_json::to_string(&Stored {
        bare: true,
        shared,
        report,
    })
    .ok()
}

fn take_words(block: &mut PromptBlock) {
    block.text.clear();
    block.own_text = None;
    block.source_text = None;
    match &mut block.origin {
        Origin::Document { name, .. } => {
            name.clear();
            "document".clone_into(&mut block.source);
            block.label = None;
        }
        // The reason contains the keyword that matched.
        Origin::Lore { .. } if block.reason.starts_with("key ") => {
            "by a key".clone_into(&mut block.reason);
            block.reasons = vec![BlockReason {
                code: "removedKey".to_owned(),
                values: BTreeMap::new(),
            }];
        }
        _ => {}
    }
}

fn shared(report: &PromptReport, kept: &Recorded) -> Option<SharedPrefix> {
    let segments = common(&report.segments, &kept.report.segments, |one, other| {
        one == other
    });
    let blocks = common(&report.blocks, &kept.report.blocks, |one, other| {
        let reused = one.reused;
        *one == PromptBlock {
            reused,
            ..other.clone()
        }
    });
    (segments > 0).then(|| SharedPrefix {
        swipe: kept.swipe.to_string(),
        segments,
        blocks,
        links: kept.links + 1,
        checksum: checksum(&report.segments[..segments]),
    })
}

fn common<T>(one: &[T], other: &[T], same: impl Fn(&T, &T) -> bool) -> usize {
    one.iter()
        .zip(other)
        .take_while(|(one, other)| same(one, other))
        .count()
}

fn checksum(segments: &[PromptSegment]) -> String {
    let mut hash = Sha256::new();
    for segment in segments {
        hash.update([u8::from(segment.control)]);
        hash.update(segment.text.as_bytes());
    }
    hex::encode(&hash.finalize()[..16])
}

/// Clears each text that equals the text of its segments.
fn without_texts(report: &PromptReport) -> PromptReport {
    let mut bare = report.clone();
    bare.text = String::new();
    for block in &mut bare.blocks {
        if text_of(block, &report.segments).is_some_and(|text| text == block.text) {
            block.text = String::new();
        }
    }
    for (turn, message) in bare.messages.iter_mut().enumerate() {
        if text_of_turn(turn, &report.blocks, &report.segments) == message.text {
            message.text = String::new();
        }
    }
    bare
}

fn text_of<'s>(block: &PromptBlock, segments: &'s [PromptSegment]) -> Option<&'s str> {
    let segment = segments.get(block.segment? as usize)?;
    Some(segment.text.trim_start_matches('\n'))
}

fn text_of_turn(turn: usize, blocks: &[PromptBlock], segments: &[PromptSegment]) -> String {
    let of_turn = blocks
        .iter()
        .filter(|block| block.turn == Some(turn as u32));
    of_turn
        .filter_map(|block| segments.get(block.segment? as usize))
        .map(|segment| segment.text.as_str())
        .collect()
}

/// Restores the texts that [`without_texts`] has cleared.
fn with_texts(mut report: PromptReport) -> PromptReport {
    report.text = report
        .segments
        .iter()
        .map(|segment| segment.text.as_str())
        .collect();
    for block in report
        .blocks
        .iter_mut()
        .filter(|block| block.text.is_empty())
    {
        block.text = text_of(block, &report.segments)
            .unwrap_or_default()
            .to_owned();
    }
    for turn in 0..report.messages.len() {
        if report.messages[turn].text.is_empty() {
            report.messages[turn].text = text_of_turn(turn, &report.blocks, &report.segments);
        }
    }
    report
}

/// Reads a chain of manifests, each of which refers to the next. `None` if a link does not match.
/// If a manifest without texts refers to a deleted one, only its own blocks remain.
fn from_chain(chain: Vec<Stored>) -> Option<PromptReport> {
    let mut whole: Option<PromptReport> = None;
    // Number of blocks at the start that are lost.
    let mut gone = 0;
    for Stored {
        bare,
        shared,
        mut report,
    } in chain.into_iter().rev()
    {
        if let Some(shared) = shared {
            match whole.take() {
                Some(before) => {
                    let segments = before.segments.get(..shared.segments)?;
                    if !bare && checksum(segments) != shared.checksum {
                        return None;
                    }
                    report.segments.splice(0..0, segments.iter().cloned());
                    gone = gone.min(shared.blocks);
                    let blocks = before.blocks.get(..shared.blocks - gone)?.iter().cloned();
                    report.blocks.splice(
                        0..0,
                        blocks.map(|block| PromptBlock {
                            reused: block.kept,
                            ..block
                        }),
                    );
                }
                None if bare => {
                    let silent = PromptSegment {
                        text: String::new(),
                        control: false,
                    };
                    report.segments.splice(0..0, vec![silent; shared.segments]);
                    gone = shared.blocks;
                }
                None => return None,
            }
        } else {
            gone = 0;
        }
        whole = Some(report);
    }
    whole.map(with_texts)
}

impl Chats {
    /// The manifest of `swipe`; `None` if there is none or it is incomplete.
    pub(crate) async fn kept_manifest(&self, swipe: SwipeId) -> ApiResult<Option<Recorded>> {
        let chain = self
            .base()
            .store()
            .read(move |store| chain_of(store, swipe))
            .await?;
        Ok(recorded(swipe, chain))
    }

    /// Whether a prompt of the chat was removed or never kept, because the settings say so.
    pub(crate) async fn lacks_prompts(&self, chat: ChatId) -> ApiResult<bool> {
        let lacks = self
            .base()
            .store()
            .read(move |store| store.manifests().lacks_prompts(chat));
        Ok(lacks.await?)
    }
}

/// The manifest of `swipe`, followed by those whose texts it shares.
fn chain_of(store: &ReadTransaction<'_>, swipe: SwipeId) -> Result<Vec<Stored>, StoreError> {
    let mut chain = Vec::new();
    let mut next = Some(swipe);
    while let Some(id) = next.filter(|_| chain.len() <= CHAIN) {
        let json = store.manifests().get(id)?.unwrap_or_default();
        let Ok(stored) = serde_json::from_str::<Stored>(&json) else {
            break;
        };
        next = stored
            .shared
            .as_ref()
            .and_then(|shared| shared.swipe.parse().ok());
        chain.push(stored);
    }
    Ok(chain)
}

fn recorded(swipe: SwipeId, chain: Vec<Stored>) -> Option<Recorded> {
    let links = chain.len().saturating_sub(1);
    let bare = chain.first().is_some_and(|stored| stored.bare);
    from_chain(chain).map(|report| Recorded {
        swipe,
        report,
        bare,
        links,
    })
}

impl Chats {
    /// The newest manifest of the chat and its reply, other than that of the swipe `except`. It is
    /// what the model has read last.
    pub(crate) async fn turn_before(
        &self,
        chat: ChatId,
        except: Option<SwipeId>,
    ) -> ApiResult<Option<(Recorded, String)>> {
        // Do not read more than needed: an imported chat has thousands of messages without a
        // manifest, and all would be searched.
        let asked = 1 + u32::from(except.is_some());
        let read = self.base().store().read(move |store| {
            let newest = store.manifests().past(chat, i64::MAX, asked)?;
            let Some(last) = newest
                .into_iter()
                .find(|manifest| Some(manifest.swipe) != except)
            else {
                return Ok(None);
            };
            Ok(Some((last.swipe, chain_of(store, last.swipe)?, last.text)))
        });
        let Some((swipe, chain, text)) = read.await? else {
            return Ok(None);
        };
        Ok(recorded(swipe, chain).map(|kept| (kept, text)))
    }
}

/// The JSON of the figures, which is stored next to the manifest.
pub(crate) fn figures_json(figures: &Figures) -> String {
    serde_json::to_string(figures).unwrap_or_default()
}

pub(crate) fn figures(json: &str) -> Option<Figures> {
    serde_json::from_str(json).ok()
}

#[cfg(test)]
mod tests;
