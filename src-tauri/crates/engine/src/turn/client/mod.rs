//! Replies for programs that use the local API.
//!
//! A request belongs to one of three kinds. It joins a stored chat (`in_chat`), it brings its
//! conversation along (`given`), or it names a model without a character (`raw`). The first two use
//! the same prompt assembly as every other turn.

pub(crate) mod caches;
pub(crate) mod calls;
pub(crate) mod given;
pub(crate) mod in_chat;
pub(crate) mod options;
pub(crate) mod past;
pub(crate) mod queue;
pub(crate) mod raw;
mod raw_prompt;
pub(crate) mod reply;
pub(crate) mod reports;
pub(crate) mod rights;
pub(crate) mod schema;
pub(crate) mod stream;
pub(crate) mod target;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::base::handle::Base;
use crate::library::handle::Library;
use crate::recall_service::handle::RecallService;
use crate::settings::handle::Configuration;
use crate::turn::assembly::Assembly;
use crate::turn::client::caches::ClientCaches;
use crate::turn::client::queue::ClientQueue;
use crate::turn::previews::Previews;
use crate::turn::replies::{Generation, ReplyStore};
use crate::turn::sending::Sending;
use crate::turn::slash::Slash;

/// Replies to programs that use the local API. Clones share one state.
#[derive(Clone)]
pub(crate) struct Clients {
    recall: RecallService,
    assembly: Assembly,
    generation: Generation,
    previews: Previews,
    reply_store: ReplyStore,
    sending: Sending,
    slash: Slash,
    queue: Arc<ClientQueue>,
    caches: Arc<Mutex<ClientCaches>>,
}

impl Clients {
    pub(super) fn new(
        recall: &RecallService,
        assembly: &Assembly,
        generation: &Generation,
        previews: &Previews,
        reply_store: &ReplyStore,
        sending: &Sending,
        slash: &Slash,
    ) -> Self {
        Self {
            recall: recall.clone(),
            assembly: assembly.clone(),
            generation: generation.clone(),
            previews: previews.clone(),
            reply_store: reply_store.clone(),
            sending: sending.clone(),
            slash: slash.clone(),
            queue: Arc::default(),
            caches: Arc::default(),
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

    /// Order of the local API's requests in each chat.
    fn client_queue(&self) -> &ClientQueue {
        &self.queue
    }

    /// Sequences of the conversations that requests bring along.
    fn client_caches(&self) -> MutexGuard<'_, ClientCaches> {
        self.caches.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
