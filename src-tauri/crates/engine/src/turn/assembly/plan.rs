//! Plans what fits into the prompt, and counts the tokens that the plan needs.

use std::borrow::Cow;
use std::time::Instant;

use context::{AssembleError, ChatTemplate, Setup, Watermark, assemble};
use domain::Timestamp;
use domain::settings::Values;

use crate::api::{self, AssemblyTimings, TurnOptions};
use crate::base::clock::millis;
use crate::base::error::ApiResult;
use crate::settings::counting::token_counter::Counter;
use crate::settings::model_handles::handle::ModelHandle;
use crate::turn::assembly::Assembly;
use crate::turn::assembly::activated::ActivatedTurn;
use crate::turn::assembly::frame::Built;
use crate::turn::assembly::made::BuiltPrompt;
use crate::turn::assembly::report::refusal;

/// Notice for chat formats that rewrite earlier messages, so that the prompt cannot be append-only.
const RE_READS: &str = "This model's chat format writes earlier messages differently once they are answered, so the model reads \
                        part of the prompt again on every turn.";

const NO_START: &str = "This endpoint does not continue a reply that has begun, so replies do not begin with the text of the \
                        setting \"Start of replies\".";

impl Assembly {
    /// Assembles the prompt from what the frame offers. `head_at` is the time that the head shows.
    ///
    /// # Errors
    /// `ContextOverflow` if the blocks that must stay do not fit; `Provider` if the model cannot
    /// count.
    pub(crate) async fn plan(
        &self,
        turn: &ActivatedTurn,
        model_handle: &ModelHandle,
        options: &TurnOptions,
        mut built: Built,
        head_at: Timestamp,
    ) -> ApiResult<BuiltPrompt> {
        let inputs = &turn.inputs;
        let stop = stop_strings(&mut built, model_handle);
        let template = model_handle
            .template
            .as_ref()
            .map(|template| template.at(self.base().clock().civil(head_at)));
        let setup = Setup {
            template: template.as_ref(),
            model: &model_handle.key,
            budget: model_handle.budget,
            placement: inputs.placement(),
            // The context blocks that are stored with the messages belong to the window of the
            // chat.
            retention: if inputs.known.window_of().is_some() {
                context::Retention::Ephemeral
            } else {
                retention(&inputs.values)
            },
            watermark: Watermark::Off,
            without: &options.without,
            stop: &stop,
        };
        let mut window = Cow::Borrowed(&inputs.snapshot.chat.window);
        if !options.without.is_empty() {
            context::leave_out(&mut built.frame, window.to_mut(), &options.without);
        }
        self.check_reply_start(&mut built, model_handle);
        let mut timings = AssemblyTimings {
            collect_ms: inputs.collect_ms,
            activate_ms: turn.activate_ms,
            ..AssemblyTimings::default()
        };
        let mut counter =
            Counter::new(&self.config().token_counts, model_handle).in_passing(inputs.in_passing);
        loop {
            let started = Instant::now();
            let result = assemble(&built.frame, &setup, &window, &counter);
            timings.plan_ms += millis(started);
            match result {
                Ok(mut assembled) => {
                    counter.finish();
                    assembled
                        .blocks
                        .extend(turn.lore.left_out.iter().chain(&built.left_out).cloned());
                    timings.total_ms = millis(inputs.started);
                    let notices = notices(turn, &built, template.as_ref(), model_handle);
                    let Built {
                        variables,
                        head_changes,
                        frame,
                        ..
                    } = built;
                    let reply_start =
                        context::unix_lines(frame.reply_start.trim_end()).into_owned();
                    let opens = assembled.prompt.continues
                        && assembled
                            .prompt
                            .messages
                            .last()
                            .is_some_and(|last| last.text == reply_start);
                    let reply_start = if opens { reply_start } else { String::new() };
                    let placement = shown(setup.placement);
                    return Ok(BuiltPrompt {
                        assembled,
                        reply_start,
                        head_at,
                        placement,
                        notices,
                        variables,
                        head_changes,
                        timings,
                    });
                }
                Err(AssembleError::Uncounted(segments)) => {
                    let started = Instant::now();
                    counter.learn(segments).await?;
                    timings.count_ms += millis(started);
                    timings.counted = counter.counted;
                }
                Err(error) => return Err(refusal(error, turn)),
            }
        }
    }
}

impl Assembly {
    /// Removes the beginning of the reply for an endpoint that has refused to continue one, with a
    /// notice.
    fn check_reply_start(&self, built: &mut Built, model_handle: &ModelHandle) {
        let refused =
            model_handle.template.is_none() && self.without_prefill().contains(&model_handle.key);
        if refused && !built.frame.reply_start.trim().is_empty() {
            built.frame.reply_start.clear();
            built.notices.push(NO_START.to_owned());
        }
    }
}

/// Stop strings of the frame and of the chat template, with Unix line ends.
fn stop_strings(built: &mut Built, model_handle: &ModelHandle) -> Vec<String> {
    let mut stop = std::mem::take(&mut built.stop);
    if turn_text_tools(&built.frame.tools) {
        // Models continue with an invented result otherwise.
        stop.push("<tool_response>".to_owned());
    }
    let of_format = model_handle
        .template
        .iter()
        .flat_map(|template| template.stop_strings());
    stop.extend(of_format.filter(|text| !text.trim().is_empty()).cloned());
    stop.iter()
        .map(|text| context::unix_lines(text).into_owned())
        .collect()
}

/// Whether the model writes calls as text.
fn turn_text_tools(tools: &context::tools::FrameTools) -> bool {
    !tools.definitions.is_empty() && tools.form != context::tools::ToolForm::Request
}

fn notices(
    turn: &ActivatedTurn,
    built: &Built,
    template: Option<&ChatTemplate>,
    model_handle: &ModelHandle,
) -> Vec<String> {
    let re_reads = template
        .filter(|template| !template.append_only())
        .map(|_| RE_READS.to_owned());
    let own = turn
        .notices()
        .map(str::to_owned)
        .chain(built.notices.iter().cloned());
    own.chain(re_reads)
        .chain(model_handle.note.clone())
        .collect()
}

fn shown(placement: context::Placement) -> api::Placement {
    match placement {
        context::Placement::CacheFirst => api::Placement::CacheFirst,
        context::Placement::Classic => api::Placement::Classic,
    }
}

fn retention(values: &Values) -> context::Retention {
    use domain::settings::ContextRetention;
    match values.context_retention {
        ContextRetention::AppendOnly => context::Retention::AppendOnly,
        ContextRetention::Ephemeral => context::Retention::Ephemeral,
    }
}
