//! The plan and the prompt: decides which candidates fit, reports dropped ones, and compiles the
//! prompt.

mod compile;
mod context_block;
mod depths;
mod digest;
mod draft;
mod epoch;
mod fill;
mod head;
mod item;
mod layout;
mod outcome;
mod overflow;
mod price;
mod setup;
mod tool_rows;
mod what_if;
mod window_fit;

use domain::chat::WindowState;
use draft::PlanDraft;
pub use epoch::{EpochReason, base};
pub use outcome::{
    AssembleError, Assembled, Dropped, Largest, Overflow, PlannedBlock, PlannedPicture, Shares,
};
pub use setup::{Placement, Retention, Setup, Watermark};
pub use what_if::leave_out;

use crate::chat_template::ChatTemplate;
use crate::frame::Frame;
use crate::{CountTokens, line_ends};

/// Makes the prompt of a turn. Send, regenerate, continue, preview and tests all use this function.
///
/// Errors [`AssembleError::Uncounted`] requests token counts; [`AssembleError::Overflow`] means
/// that required content does not fit.
pub fn assemble(
    frame: &Frame,
    setup: &Setup<'_>,
    state: &WindowState,
    counter: &dyn CountTokens,
) -> Result<Assembled, AssembleError> {
    let fallback;
    let layout = match setup.template {
        Some(template) => template,
        None => {
            fallback = ChatTemplate::chatml();
            &fallback
        }
    };
    let mut frozen = crate::frozen::EpochState::read(&state.frozen);
    frozen.digest.iter_mut().for_each(line_ends::unix_frozen);
    let frame = line_ends::unix_frame(frame);
    let mut draft = PlanDraft::new(&frame, setup, state, &frozen, layout, counter)?;
    draft.plan()?;
    let compiled = draft.settle()?;
    Ok(draft.finish(compiled))
}
