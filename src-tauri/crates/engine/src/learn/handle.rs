//! Learning layer: idle-time jobs that read ahead, name chats and make memories.

use std::sync::{Arc, Weak};

use crate::base::handle::Base;
use crate::library::handle::Library;
use crate::recall_service::handle::RecallService;
use crate::settings::handle::Configuration;
use crate::turn::handle::Turns;

/// Idle-time jobs. Clones share one state.
#[derive(Clone)]
pub(crate) struct Learning {
    inner: Arc<LearningState>,
}

struct LearningState {
    turns: Turns,
}

/// A handle that does not keep the engine open.
#[derive(Clone)]
pub(crate) struct WeakLearning(Weak<LearningState>);

impl WeakLearning {
    pub(crate) fn upgrade(&self) -> Option<Learning> {
        Some(Learning {
            inner: self.0.upgrade()?,
        })
    }
}

impl Learning {
    /// Learns after every complete reply of `turns` from now on.
    pub(crate) fn new(turns: Turns) -> Self {
        let learning = Self {
            inner: Arc::new(LearningState { turns }),
        };
        let weak = learning.downgrade();
        learning
            .turns()
            .generation
            .on_reply(Box::new(move |chat, options| {
                let weak = weak.clone();
                Box::pin(async move {
                    if let Some(learning) = weak.upgrade() {
                        learning.reply_ended(chat, &options).await;
                    }
                })
            }));
        learning
    }

    fn downgrade(&self) -> WeakLearning {
        WeakLearning(Arc::downgrade(&self.inner))
    }

    pub(crate) fn base(&self) -> &Base {
        self.inner.turns.base()
    }

    pub(crate) fn config(&self) -> &Configuration {
        self.inner.turns.config()
    }

    pub(crate) fn library(&self) -> &Library {
        self.inner.turns.library()
    }

    pub(crate) fn recall_service(&self) -> &RecallService {
        self.inner.turns.recall_service()
    }

    pub(crate) fn turns(&self) -> &Turns {
        &self.inner.turns
    }
}
