//! Events around the user's message, which only the context block of its turn reports: what a
//! camera shows, and that the message was spoken.

use context::frame::{BlockKind, Candidate, Source};
use context::reason::BlockReason;
use domain::ChatId;

use crate::api::{Event, VisionReport, VisionState, VisionStatus};
use crate::base::clock::rfc3339;
use crate::base::error::{ApiResult, bad_input};
use crate::base::vision::NewReport;
use crate::turn::inputs::Inputs;

/// Maximum length of a description, in characters.
const MAX_TEXT: usize = 500;

/// The events of one turn.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct LateEvents {
    pub(crate) vision: Option<NewReport>,
    /// The user spoke the message.
    pub(crate) spoken: bool,
}

impl Inputs {
    /// Stores a vision report in memory and announces it. The next turn includes it.
    ///
    /// # Errors
    /// `NotFound`; `BadInput` if vision is off in the chat, or if the report is empty or too long.
    pub(crate) async fn report_vision(&self, chat: ChatId, report: VisionReport) -> ApiResult<()> {
        let chat = self.library().chat_lookup.chat(chat).await?;
        if !self
            .config()
            .setting_layers
            .resolved(&chat, None, None)
            .await?
            .values
            .vision
        {
            return Err(bad_input(
                "Vision is off.",
                "Switch on \"Vision\" in the settings of this chat, or of all chats.",
            ));
        }
        let text = report.text.split_whitespace().collect::<Vec<_>>().join(" ");
        if report.state.is_none() && text.is_empty() {
            return Err(bad_input(
                "The report is empty.",
                "Send a state, a text, or both.",
            ));
        }
        if text.chars().count() > MAX_TEXT {
            let hint = format!("Describe it in at most {MAX_TEXT} characters.");
            return Err(bad_input("The description is too long.", hint));
        }
        let status = VisionStatus {
            state: report.state,
            text,
            at: rfc3339(self.base().now()),
        };
        self.base().vision().report(chat.id, status.clone());
        self.base().events().announce(Event::Vision {
            chat: chat.id,
            status,
        });
        Ok(())
    }

    /// The vision report that the next turn of the chat includes.
    pub(crate) fn new_vision(&self, chat: ChatId, is_on: bool) -> Option<NewReport> {
        self.base().vision().new_report(chat).filter(|_| is_on)
    }

    /// Marks the vision report as included, so that no later turn includes it again.
    pub(crate) fn keep_late_events(&self, chat: ChatId, events: &LateEvents) {
        if let Some(report) = &events.vision {
            self.base().vision().included(chat, report);
        }
    }
}

/// The blocks of the events. The text of a report comes from another program, so its macros are not
/// expanded.
pub(crate) fn candidates(events: &LateEvents, user: &str) -> Vec<Candidate> {
    let vision = events.vision.as_ref().map(|report| {
        let source = Source::Setting {
            key: "vision".to_owned(),
        };
        Candidate::new(
            BlockKind::Event,
            source,
            BlockReason::VisionReport,
            seen(&report.status, user),
        )
    });
    let spoken = events.spoken.then(|| {
        let text = format!("{user} spoke the next message. It may contain recognition errors.");
        Candidate::new(
            BlockKind::Event,
            Source::BuiltIn,
            BlockReason::SpokenMessage,
            text,
        )
    });
    vision.into_iter().chain(spoken).collect()
}

fn seen(status: &VisionStatus, user: &str) -> String {
    let state = status.state.map(|state| match state {
        VisionState::Present => format!("{user} is present."),
        VisionState::Absent => format!("{user} is not there."),
        VisionState::Focused => format!("{user} is looking at the screen."),
    });
    let text = Some(&status.text).filter(|text| !text.is_empty()).cloned();
    format!(
        "The camera shows: {}",
        state.into_iter().chain(text).collect::<Vec<_>>().join(" ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(state: Option<VisionState>, text: &str) -> VisionStatus {
        VisionStatus {
            state,
            text: text.to_owned(),
            at: String::new(),
        }
    }

    #[test]
    fn report_becomes_one_sentence() {
        assert_eq!(
            seen(&status(Some(VisionState::Absent), ""), "Tom"),
            "The camera shows: Tom is not there."
        );
        let both = status(Some(VisionState::Focused), "He smiles.");
        assert_eq!(
            seen(&both, "Tom"),
            "The camera shows: Tom is looking at the screen. He smiles."
        );
        assert_eq!(
            seen(&status(None, "A cat."), "Tom"),
            "The camera shows: A cat."
        );
    }

    #[test]
    fn turns_without_events_have_no_blocks() {
        assert!(candidates(&LateEvents::default(), "Tom").is_empty());
    }
}
