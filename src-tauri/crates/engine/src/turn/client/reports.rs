//! The newest prompts of requests that were not stored, for the X-ray. They are gone when the app
//! ends.

use std::collections::VecDeque;

use crate::api::PromptReport;

const MAX_REPORTS: usize = 32;

/// Prompts by the id that the response gave to the client.
#[derive(Default)]
pub(crate) struct ClientReports(VecDeque<(String, PromptReport)>);

impl ClientReports {
    pub(crate) fn keep(&mut self, id: String, report: PromptReport) {
        if self.0.len() == MAX_REPORTS {
            self.0.pop_front();
        }
        self.0.push_back((id, report));
    }

    pub(crate) fn get(&self, id: &str) -> Option<PromptReport> {
        self.0
            .iter()
            .find(|(known, _)| known == id)
            .map(|(_, report)| report.clone())
    }
}
