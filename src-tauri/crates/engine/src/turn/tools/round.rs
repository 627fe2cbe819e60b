//! Runs the calls of one request and keeps their results.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use context::frame::Priority;
use context::plan::PlannedBlock;
use domain::prompt::ToolChoice;
use domain::{ToolArguments, ToolCall, ToolResult, ToolRound};
use futures_util::future::join_all;
use serde_json::{Map, Value};

use crate::api::{Event, ToolRoundFigures};
use crate::base::clock::millis;
use crate::base::error::ApiResult;
use crate::base::panics::contained_as;
use crate::base::records::convert;
use crate::base::step::TurnStep;
use crate::base::tool_source::ToolOutput;
use crate::settings::counting::token_counter::Counter;
use crate::settings::model_handles::handle::ModelHandle;
use crate::turn::assembly::activated::ActivatedTurn;
use crate::turn::assembly::made::BuiltPrompt;
use crate::turn::replies::draft::ReplyDraft;
use crate::turn::replies::generate::ReplyJob;
use crate::turn::tools::cut_result::cut;
use crate::turn::tools::permission::Permission;
use crate::turn::tools::turn_tools::{OfferedTool, TurnTools};
use crate::turn::tools::{Tools, call_ids};

/// Result of a call until it has ended.
const NOT_RUN: &str = "The reply was stopped before this tool ran.";
/// Note in the last results before the model must answer.
const LIMIT_REACHED: &str = "[Tool limit reached. Answer now, without another call.]";
/// Fewest tokens for a result. Below that the model must answer with what it has.
const MIN_TOKENS: u32 = 50;
/// Longest time of a tool.
const PATIENCE: Duration = Duration::from_secs(300);

/// Next step after the calls of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AfterCalls {
    /// There were none to run: the reply is complete.
    Nothing,
    /// The model gets the results.
    CallAgain,
    /// The reply was stopped.
    Stopped,
}

/// The calls of a round while they run.
struct RunningRound<'a> {
    job: &'a ReplyJob,
    speaker: &'a str,
    tools: &'a TurnTools,
    model_handle: &'a ModelHandle,
    /// Tokens for each result.
    room: u32,
}

impl Tools {
    /// Runs the calls that the model has just requested. Every round is stored as it begins and as
    /// results arrive, so that a crash or a stop keeps what there is.
    pub(crate) async fn run_tools(
        &self,
        job: &ReplyJob,
        draft: &mut ReplyDraft,
        turn: &mut ActivatedTurn,
        (made, model_handle): (&BuiltPrompt, &ModelHandle),
    ) -> ApiResult<AfterCalls> {
        let unanswered = job.target.tool_calls().len();
        if draft.tool_calls.len() == unanswered || !turn.tools.can_run() {
            return Ok(AfterCalls::Nothing);
        }
        if job.reservation.cancel.is_cancelled() {
            return Ok(AfterCalls::Stopped);
        }
        let mut calls = draft.tool_calls.split_off(unanswered);
        self.settle_ids(job, draft, &mut calls).await?;
        let model_ms = draft.tools.model_ms();
        let words = draft
            .words
            .get(draft.tools.words..)
            .unwrap_or_default()
            .trim()
            .to_owned();
        let results = calls
            .iter()
            .map(|call| result(call, ToolOutput::error(NOT_RUN)))
            .collect();
        let thoughts = std::mem::take(&mut draft.tools.thoughts);
        draft.tools.rounds.push(ToolRound {
            text: words,
            calls,
            results,
            thoughts,
        });
        self.keep_rounds(job, draft, &model_handle.name).await?;
        self.announce_rounds(job, draft, true);

        let values = &turn.inputs.values;
        let begun = draft.tools.rounds.len() - job.target.tool_rounds().len();
        let room = room_for_each(made, draft, values.tool_result_tokens);
        let speaker = turn.inputs.speaker.clone();
        let round = RunningRound {
            job,
            speaker: &speaker,
            tools: &turn.tools,
            model_handle,
            room,
        };
        let started = Instant::now();
        let stopped = self.run_calls(&round, draft).await?;
        draft.tools.limit = begun >= values.tool_rounds as usize || room < MIN_TOKENS;
        if draft.tools.limit
            && let Some(last) = last_result(draft)
        {
            last.text = format!("{}\n{LIMIT_REACHED}", last.text);
        }
        let tools_ms = millis(started);
        draft.tools.figures.push(ToolRoundFigures {
            tokens: 0,
            model_ms,
            tools_ms,
        });
        self.keep_rounds(job, draft, &model_handle.name).await?;
        self.announce_rounds(job, draft, false);
        TurnStep::ToolRound.done(job.chat.id);

        let open = draft
            .tools
            .rounds
            .iter()
            .skip(job.target.tool_rounds().len());
        turn.tools.frame.rounds = turn
            .inputs
            .open_rounds
            .iter()
            .chain(open)
            .cloned()
            .collect();
        turn.tools.frame.choice = if draft.tools.limit {
            ToolChoice::Never
        } else {
            ToolChoice::Auto
        };
        draft.tools.mood = turn.tools.mood.get();
        Ok(if stopped {
            AfterCalls::Stopped
        } else {
            AfterCalls::CallAgain
        })
    }

    async fn settle_ids(
        &self,
        job: &ReplyJob,
        draft: &ReplyDraft,
        calls: &mut [ToolCall],
    ) -> ApiResult<()> {
        let chat = job.chat.id;
        let mut used = self
            .base()
            .store()
            .checkpoint(move |store| store.swipes().tool_call_ids(chat))
            .await?;
        let of_reply = draft.tools.rounds.iter().flat_map(|round| &round.calls);
        used.extend(of_reply.filter_map(|call| call.id.clone()));
        call_ids::settle(calls, &mut used);
        Ok(())
    }

    /// Calls that only read run together, others in order. Returns whether the reply was stopped.
    async fn run_calls(&self, round: &RunningRound<'_>, draft: &mut ReplyDraft) -> ApiResult<bool> {
        let Some(calls) = draft.tools.rounds.last().map(|round| round.calls.clone()) else {
            return Ok(false);
        };
        let cancel = &round.job.reservation.cancel;
        let mut index = 0;
        while index < calls.len() {
            let together = calls[index..]
                .iter()
                .take_while(|call| round.reads_only(call))
                .count()
                .max(1);
            let batch = &calls[index..index + together];
            let whole = &draft.tools.whole;
            let running = join_all(batch.iter().map(|call| self.run_call(round, call, whole)));
            let outputs = tokio::select! {
                biased;
                () = cancel.cancelled() => return Ok(true),
                outputs = running => outputs,
            };
            for (call, output) in batch.iter().zip(outputs) {
                let Some(output) = output? else {
                    return Ok(true);
                };
                self.take_result(round, draft, index, call, output).await?;
                index += 1;
            }
            self.keep_rounds(round.job, draft, &round.model_handle.name)
                .await?;
        }
        Ok(cancel.is_cancelled())
    }

    /// Keeps a result, cut to its room.
    async fn take_result(
        &self,
        round: &RunningRound<'_>,
        draft: &mut ReplyDraft,
        index: usize,
        call: &ToolCall,
        output: CallOutput,
    ) -> ApiResult<()> {
        let mut counter = Counter::new(&self.config().token_counts, round.model_handle);
        let CallOutput { output, part } = output;
        let is_part = part.is_some();
        let (of, from) = part.unwrap_or_else(|| (id_of(call), 0));
        let shown = cut(
            &output.text,
            &of,
            from,
            round.room.max(MIN_TOKENS),
            &mut counter,
        )
        .await?;
        if !is_part && shown != output.text {
            draft.tools.whole.insert(of, output.text);
        }
        if let Some(slot) = draft
            .tools
            .rounds
            .last_mut()
            .and_then(|round| round.results.get_mut(index))
        {
            *slot = result(
                call,
                ToolOutput {
                    text: shown,
                    error: output.error,
                },
            );
        }
        Ok(())
    }

    /// Runs one call. Every failure becomes a result for the model. `None` if the reply was
    /// stopped.
    async fn run_call(
        &self,
        round: &RunningRound<'_>,
        call: &ToolCall,
        whole: &HashMap<String, String>,
    ) -> ApiResult<Option<CallOutput>> {
        let Some(offered) = round.offered(call) else {
            return Ok(Some(round.unknown(call).into()));
        };
        let Some(arguments) = arguments(call) else {
            return Ok(Some(CallOutput::error(
                "The arguments are not a JSON object. Correct them and call again.",
            )));
        };
        let Some(source) = &offered.source else {
            return Ok(Some(read_on(&arguments, whole)));
        };
        let cancel = &round.job.reservation.cancel;
        let refusal = match self
            .permission(&round.job.chat, round.speaker, (offered, call), cancel)
            .await?
        {
            Permission::Granted => None,
            Permission::Refused => Some("The user does not allow this call."),
            Permission::Unanswered => Some("The user was not there to allow this call."),
            Permission::Stopped => return Ok(None),
        };
        if let Some(refusal) = refusal {
            return Ok(Some(CallOutput::error(refusal)));
        }
        let ran = async {
            Ok(source
                .call(&offered.tool.name, arguments, cancel.child_token())
                .await)
        };
        let ran =
            tokio::time::timeout(PATIENCE, contained_as("a tool failed", Box::pin(ran))).await;
        Ok(Some(match ran {
            Ok(Ok(output)) => output.into(),
            Ok(Err(error)) => CallOutput::error(&format!("The tool failed: {error}")),
            Err(_) => CallOutput::error("The tool did not answer in time."),
        }))
    }

    /// Stores the rounds, also of a reply without text.
    async fn keep_rounds(
        &self,
        job: &ReplyJob,
        draft: &mut ReplyDraft,
        model: &str,
    ) -> ApiResult<()> {
        if !draft.inserted {
            self.reply_store.checkpoint(job, draft, model).await?;
        }
        let swipe = job.target.swipe();
        let rounds = draft.tools.rounds.clone();
        Ok(self
            .base()
            .store()
            .checkpoint(move |store| store.swipes_mut().set_tool_rounds(swipe, &rounds))
            .await?)
    }

    fn announce_rounds(&self, job: &ReplyJob, draft: &ReplyDraft, running: bool) {
        let rounds = draft.tools.rounds.iter().map(convert::tool_round).collect();
        let message = job.target.message();
        let swipe = job.target.swipe();
        self.base().events().announce(Event::ToolsUsed {
            chat: job.chat.id,
            message,
            swipe,
            rounds,
            running,
        });
    }
}

/// The result of a call before it is cut.
struct CallOutput {
    output: ToolOutput,
    /// It is a part of the result of another call, from this character on.
    part: Option<(String, usize)>,
}

impl From<ToolOutput> for CallOutput {
    fn from(output: ToolOutput) -> Self {
        Self {
            output: ToolOutput {
                text: output.text.replace("\r\n", "\n"),
                ..output
            },
            part: None,
        }
    }
}

impl CallOutput {
    fn error(text: &str) -> Self {
        ToolOutput::error(text).into()
    }
}

impl RunningRound<'_> {
    fn offered(&self, call: &ToolCall) -> Option<&OfferedTool> {
        self.tools
            .offered
            .iter()
            .find(|offered| offered.name == call.name)
    }

    fn reads_only(&self, call: &ToolCall) -> bool {
        self.offered(call)
            .is_none_or(|offered| offered.is_harmless() && offered.tool.reads_only)
    }

    fn unknown(&self, call: &ToolCall) -> ToolOutput {
        let names: Vec<&str> = self
            .tools
            .offered
            .iter()
            .map(|offered| offered.name.as_str())
            .collect();
        ToolOutput::error(format!(
            "There is no tool named {}. The tools are: {}.",
            call.name,
            names.join(", ")
        ))
    }
}

/// Reads on in a result that was cut.
fn read_on(arguments: &Map<String, Value>, whole: &HashMap<String, String>) -> CallOutput {
    let of = arguments
        .get("call")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let from = arguments
        .get("from")
        .and_then(Value::as_u64)
        .and_then(|from| usize::try_from(from).ok())
        .unwrap_or(0);
    match whole.get(of) {
        Some(text) => CallOutput {
            output: ToolOutput::text(text.clone()),
            part: Some((of.to_owned(), from)),
        },
        None => CallOutput::error("No result of that call was cut in this reply."),
    }
}

fn id_of(call: &ToolCall) -> String {
    call.id.clone().unwrap_or_default()
}

fn result(call: &ToolCall, output: ToolOutput) -> ToolResult {
    ToolResult {
        call_id: id_of(call),
        text: output.text,
        error: output.error,
    }
}

fn last_result(draft: &mut ReplyDraft) -> Option<&mut ToolResult> {
    draft.tools.rounds.last_mut()?.results.last_mut()
}

fn arguments(call: &ToolCall) -> Option<Map<String, Value>> {
    match &call.arguments {
        ToolArguments::Object(text) => serde_json::from_str(text).ok(),
        ToolArguments::Malformed(_) => None,
    }
}

/// Tokens for each result of the last round: at most half of what the required parts of the prompt
/// leave is given to a round, so that any number of rounds fits.
fn room_for_each(made: &BuiltPrompt, draft: &ReplyDraft, most: u32) -> u32 {
    let kept = made
        .assembled
        .blocks
        .iter()
        .filter(|block| block.dropped.is_none());
    let must = |block: &&PlannedBlock| block.priority == Priority::Must;
    let fixed: u32 = kept.filter(must).map(|block| block.tokens).sum();
    let calls = draft
        .tools
        .rounds
        .last()
        .map_or(1, |round| round.calls.len().max(1));
    let free = made.assembled.budget.room().saturating_sub(fixed) / 2;
    most.min(free / u32::try_from(calls).unwrap_or(u32::MAX))
}
