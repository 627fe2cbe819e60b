//! Converts a prompt to the report for the API and the manifest.

use std::collections::BTreeMap;

use context::frame::{Source, Zone};
use context::plan::PlannedBlock;
use context::reason::BlockReason;
use context::reuse::reuse;
use context::{AssembleError, Assembled, EpochReason, Overflow};
use serde::Serialize;

use crate::api::{self, ApiError, PromptReport};
use crate::base::error::internal;
use crate::library::chats::manifest::Recorded;
use crate::settings::model_handles::chat_template::faulty_format;
use crate::settings::model_handles::handle::ModelHandle;
use crate::turn::assembly::activated::ActivatedTurn;
use crate::turn::assembly::made::BuiltPrompt;
use crate::turn::assembly::source_label::label;

impl BuiltPrompt {
    /// The control text that opens the reply.
    pub(crate) fn opened(&self) -> &str {
        self.assembled
            .segments
            .last()
            .filter(|segment| segment.control)
            .map_or("", |segment| &segment.text)
    }

    /// `previous` is the turn before, with its reply. The model has already read the part that this
    /// prompt shares with it.
    pub(crate) fn report(
        &self,
        turn: &ActivatedTurn,
        model_handle: &ModelHandle,
        previous: Option<&(Recorded, String)>,
    ) -> PromptReport {
        let Assembled {
            prompt,
            segments,
            blocks,
            total,
            budget,
            shares,
            exact,
            window,
            new_epoch,
            ..
        } = &self.assembled;
        let before = previous.into_iter().flat_map(|(kept, reply)| {
            kept.report
                .segments
                .iter()
                .map(|segment| segment.text.as_str())
                .chain([reply.as_str()])
        });
        let reused = reuse(before, &self.assembled);
        let mut by_zone = api::ZoneTokens::default();
        for planned in blocks.iter().filter(|planned| planned.dropped.is_none()) {
            *zone_tokens(&mut by_zone, planned.zone) += planned.tokens;
        }
        let block = |(index, planned): (usize, &PlannedBlock)| {
            let is_reused = reused.blocks.get(index).copied().unwrap_or(false);
            self.block(index, planned, is_reused, turn)
        };
        PromptReport {
            text: segments
                .iter()
                .map(|segment| segment.text.as_str())
                .collect(),
            segments: segments
                .iter()
                .map(|segment| api::PromptSegment {
                    text: segment.text.clone(),
                    control: segment.control,
                })
                .collect(),
            messages: prompt
                .messages
                .iter()
                .map(|message| api::PromptMessage {
                    role: message.role.as_str().to_owned(),
                    text: message.text.clone(),
                })
                .collect(),
            blocks: blocks.iter().enumerate().map(block).collect(),
            tokens: api::PromptTokens {
                total: *total,
                limit: budget.limit,
                reserve: budget.reserve,
                by_zone,
                reusable: previous.map(|_| reused.tokens),
                measured: None,
                exact: *exact,
                counted: Some(model_handle.counted()),
            },
            shares: api::PromptShares {
                history_budget: shares.history_budget,
                history_used: shares.history_used,
                retrieval_budget: shares.retrieval_budget,
                retrieval_used: shares.retrieval_used,
                digest: shares.digest_used,
            },
            placement: self.placement,
            epoch: window.epoch,
            new_epoch: new_epoch
                .map(EpochReason::description)
                .or_else(|| begun_since(previous, window.epoch))
                .map(str::to_owned),
            new_epoch_code: new_epoch.and_then(code).or_else(|| {
                begun_since(previous, window.epoch).map(|_| "sincePreviousTurn".to_owned())
            }),
            anchor: window.anchor.map(|id| id.to_string()),
            model: model_handle.name.clone(),
            template: turn.inputs.template.id.clone(),
            notices: self.notices.clone(),
            timings: self.timings,
        }
    }

    fn block(
        &self,
        index: usize,
        planned: &PlannedBlock,
        reused: bool,
        turn: &ActivatedTurn,
    ) -> api::PromptBlock {
        let id = planned
            .message
            .map_or_else(|| planned.source.key(), |id| id.to_string());
        api::PromptBlock {
            id: format!("{id}-{index}"),
            zone: planned.zone,
            priority: Some(planned.priority),
            kind: planned.kind.as_str().to_owned(),
            source: planned.source.description(),
            label: label(&planned.source),
            origin: origin(&planned.source, turn),
            key: planned.source.key(),
            reason: planned.reasons.to_string(),
            reasons: planned.reasons.iter().map(reason).collect(),
            role: planned.role.as_str().to_owned(),
            turn: planned.turn.map(|turn| turn as u32),
            segment: planned.segment.map(|segment| segment as u32),
            score: planned.score,
            signals: planned.signals.clone(),
            tokens: planned.tokens,
            kept: planned.dropped.is_none(),
            dropped_reason: planned
                .dropped
                .map(|dropped| dropped.description().to_owned()),
            dropped_code: planned.dropped.and_then(code),
            reused,
            text: planned.text.clone(),
            own_text: planned.own.clone(),
            source_text: planned.written.clone(),
            known_to: known_to(planned, turn),
        }
    }
}

/// The character that alone knows a block, in a group scene. With a window of its own, that is
/// everything but the head.
fn known_to(planned: &PlannedBlock, turn: &ActivatedTurn) -> Option<String> {
    let known = &turn.inputs.known;
    let alone = known.window_of().is_some() && planned.zone != Zone::Head;
    (turn.is_private(&planned.source) || alone).then(|| turn.inputs.speaker.clone())
}

/// The window was cut in idle time, or the turn that started the epoch has no reply.
fn begun_since(previous: Option<&(Recorded, String)>, epoch: u32) -> Option<&'static str> {
    previous
        .filter(|(kept, _)| kept.report.epoch < epoch)
        .map(|_| "it began after the previous turn")
}

/// The error of a prompt that cannot be assembled, with a reference to the block that is too long.
pub(crate) fn refusal(error: AssembleError, turn: &ActivatedTurn) -> ApiError {
    match error {
        AssembleError::Overflow(overflow) => too_long(&overflow, turn),
        AssembleError::Template(error) if turn.inputs.values.chat_format != "auto" => {
            faulty_format(&error, &turn.inputs.values.chat_format)
        }
        AssembleError::Template(error) => error.into(),
        AssembleError::Uncounted(_) => internal("tokens of a prompt were not counted"),
    }
}

fn too_long(overflow: &Overflow, turn: &ActivatedTurn) -> ApiError {
    let Overflow {
        largest,
        needed,
        available,
    } = overflow;
    let shorten = largest.as_ref().map_or_else(String::new, |largest| {
        format!(
            "Shorten the {}, which takes {} of them, or choose",
            overflow.block(),
            largest.tokens
        )
    });
    let choose = if shorten.is_empty() {
        "Choose"
    } else {
        &shorten
    };
    ApiError::ContextOverflow {
        message: format!(
            "The prompt and the reply need {needed} tokens; the model takes {available}."
        ),
        hint: format!("{choose} a larger context size."),
        block: largest.as_ref().map(|largest| {
            Box::new(api::LargeBlock {
                kind: largest.kind.as_str().to_owned(),
                source: largest.source.description(),
                label: label(&largest.source),
                origin: origin(&largest.source, turn),
                tokens: largest.tokens,
            })
        }),
        missing: overflow.missing(),
        needed: *needed,
        available: *available,
    }
}

fn reason(reason: &BlockReason) -> api::BlockReason {
    let json = serde_json::to_value(reason).and_then(serde_json::from_value);
    json.unwrap_or_else(|_| api::BlockReason {
        code: "text".to_owned(),
        values: BTreeMap::new(),
    })
}

/// The serialized name of a reason without values.
fn code(reason: impl Serialize) -> Option<String> {
    serde_json::to_value(reason)
        .ok()?
        .as_str()
        .map(str::to_owned)
}

fn zone_tokens(by_zone: &mut api::ZoneTokens, zone: Zone) -> &mut u32 {
    match zone {
        Zone::Head => &mut by_zone.head,
        Zone::Digest => &mut by_zone.digest,
        Zone::Window => &mut by_zone.window,
        Zone::Input => &mut by_zone.input,
    }
}

fn origin(source: &Source, turn: &ActivatedTurn) -> api::Origin {
    let character = || turn.inputs.snapshot.chat.character.to_string();
    match source {
        Source::BuiltIn => api::Origin::BuiltIn,
        Source::Template { template, section } => api::Origin::Template {
            template: template.clone(),
            section: section.clone(),
        },
        Source::CardField { field, .. } => api::Origin::Card {
            character: character(),
            field: field.clone(),
        },
        Source::ChatText { field } => api::Origin::ChatText {
            field: field.clone(),
        },
        Source::Persona { .. } => api::Origin::Persona {
            id: turn.inputs.snapshot.persona.id.to_string(),
        },
        Source::Lore { book, entry, .. } => api::Origin::Lore {
            book: book.clone(),
            entry: entry.clone(),
        },
        Source::Memory { id } => api::Origin::Memory { id: id.clone() },
        Source::Keyframe { id } => {
            let known = turn
                .memory
                .keyframes
                .iter()
                .find(|keyframe| keyframe.id.to_string() == *id);
            let first = known
                .and_then(|keyframe| keyframe.messages.first())
                .map(ToString::to_string);
            api::Origin::Keyframe {
                id: id.clone(),
                first,
            }
        }
        Source::Message { id, .. } => api::Origin::Message { id: id.to_string() },
        Source::Older { first, last, count } => api::Origin::Older {
            first: first.to_string(),
            last: last.to_string(),
            count: *count as u32,
        },
        // One row for everything that did not fit; the retrieval cap decides how much does.
        Source::Others { .. } => api::Origin::Setting {
            key: "retrieval_cap".to_owned(),
        },
        Source::Document { id, name, .. } => api::Origin::Document {
            id: id.clone(),
            name: name.clone(),
        },
        Source::Clock => api::Origin::Clock,
        Source::Mode { name } => api::Origin::Mode { name: name.clone() },
        Source::Reminder => api::Origin::Setting {
            key: "reminder".to_owned(),
        },
        Source::Note => api::Origin::Setting {
            key: "author_note".to_owned(),
        },
        Source::Hint => api::Origin::Hint,
        Source::Client => api::Origin::Client,
        Source::Setting { key } => api::Origin::Setting { key: key.clone() },
        Source::ToolRound {
            message: Some(id), ..
        } => api::Origin::Message { id: id.to_string() },
        Source::ToolRound { message: None, .. } => api::Origin::Setting {
            key: "tool_rounds".to_owned(),
        },
    }
}
