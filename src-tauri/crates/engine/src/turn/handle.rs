//! Turn layer: from the user's message to the stored reply.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use domain::ChatId;
use futures_util::future::BoxFuture;

use crate::api::TurnOptions;
use crate::base::handle::Base;
use crate::library::handle::Library;
use crate::recall_service::handle::RecallService;
use crate::settings::handle::Configuration;
use crate::turn::client::caches::ClientCaches;
use crate::turn::client::queue::ClientQueue;
use crate::turn::client::reports::ClientReports;
use crate::turn::lore_cache::LoreCache;
use crate::turn::tools::open_requests::OpenRequests;

/// Called after each complete reply; the turn's task ends after the returned future.
pub(crate) type ReplyListener =
    Box<dyn Fn(ChatId, TurnOptions) -> BoxFuture<'static, ()> + Send + Sync>;

/// Turns, their prompts and their manifests. Clones share one state.
#[derive(Clone)]
pub(crate) struct Turns {
    inner: Arc<TurnsState>,
}

struct TurnsState {
    recall: RecallService,
    lore: Mutex<LoreCache>,
    without_prefill: Mutex<HashSet<String>>,
    listener: OnceLock<ReplyListener>,
    tool_requests: OpenRequests,
    client_queue: ClientQueue,
    client_reports: Mutex<ClientReports>,
    client_caches: Mutex<ClientCaches>,
}

impl Turns {
    pub(crate) fn new(recall: RecallService) -> Self {
        let inner = TurnsState {
            recall,
            lore: Mutex::default(),
            without_prefill: Mutex::default(),
            listener: OnceLock::new(),
            tool_requests: OpenRequests::default(),
            client_queue: ClientQueue::default(),
            client_reports: Mutex::default(),
            client_caches: Mutex::default(),
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// Registers the listener for complete replies. A second registration has no effect.
    pub(crate) fn on_reply(&self, listener: ReplyListener) {
        let _ = self.inner.listener.set(listener);
    }

    pub(crate) async fn after_reply(&self, chat: ChatId, options: TurnOptions) {
        if let Some(listener) = self.inner.listener.get() {
            listener(chat, options).await;
        }
    }

    pub(crate) fn base(&self) -> &Base {
        self.inner.recall.base()
    }

    pub(crate) fn config(&self) -> &Configuration {
        self.inner.recall.config()
    }

    pub(crate) fn library(&self) -> &Library {
        self.inner.recall.library()
    }

    pub(crate) fn recall_service(&self) -> &RecallService {
        &self.inner.recall
    }

    pub(crate) fn lore_cache(&self) -> MutexGuard<'_, LoreCache> {
        self.inner
            .lore
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Questions about tools that wait for the user.
    pub(crate) fn tool_requests(&self) -> &OpenRequests {
        &self.inner.tool_requests
    }

    /// Order of the local API's requests in each chat.
    pub(crate) fn client_queue(&self) -> &ClientQueue {
        &self.inner.client_queue
    }

    /// Prompts of requests that were not stored.
    pub(crate) fn client_reports(&self) -> MutexGuard<'_, ClientReports> {
        self.inner
            .client_reports
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Sequences of the conversations that requests bring along.
    pub(crate) fn client_caches(&self) -> MutexGuard<'_, ClientCaches> {
        self.inner
            .client_caches
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Keys of endpoints' models that have refused to continue an unfinished reply.
    pub(crate) fn without_prefill(&self) -> MutexGuard<'_, HashSet<String>> {
        self.inner
            .without_prefill
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
