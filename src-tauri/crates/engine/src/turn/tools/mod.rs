//! Tools that a model calls while it writes a reply.
//!
//! [`offered`] lists the tools of a turn. [`round`] runs the calls of one request;
//! `turn/replies/generate.rs` then calls the model again. [`permission`] decides whether a tool may
//! run: the user does, never a card, a message or a result.

mod argument_texts;
pub(crate) mod built_in;
pub(crate) mod call_ids;
mod cut_result;
pub(crate) mod grants;
pub(crate) mod offered;
pub(crate) mod open_requests;
pub(crate) mod permission;
pub(crate) mod progress;
pub(crate) mod round;
pub(crate) mod turn_tools;

use std::sync::Arc;

use crate::base::handle::Base;
use crate::library::handle::Library;
use crate::recall_service::handle::RecallService;
use crate::settings::handle::Configuration;
use crate::turn::lore::LoreActivation;
use crate::turn::replies::ReplyStore;
use crate::turn::tools::open_requests::OpenRequests;

/// Offers tools to models and runs their calls. Clones share one state.
#[derive(Clone)]
pub(crate) struct Tools {
    recall: RecallService,
    lore_activation: LoreActivation,
    reply_store: ReplyStore,
    requests: Arc<OpenRequests>,
}

impl Tools {
    pub(super) fn new(
        recall: &RecallService,
        lore_activation: &LoreActivation,
        reply_store: &ReplyStore,
    ) -> Self {
        Self {
            recall: recall.clone(),
            lore_activation: lore_activation.clone(),
            reply_store: reply_store.clone(),
            requests: Arc::default(),
        }
    }

    fn base(&self) -> &Base {
        self.recall.base()
    }

    fn config(&self) -> &Configuration {
        self.recall.config()
    }

    fn library(&self) -> &Library {
        self.recall.library()
    }

    fn recall_service(&self) -> &RecallService {
        &self.recall
    }

    /// Questions about tools that wait for the user.
    fn tool_requests(&self) -> &OpenRequests {
        &self.requests
    }
}
