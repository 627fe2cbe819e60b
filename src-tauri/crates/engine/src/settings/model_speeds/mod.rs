//! How fast models write on this machine: measured with replies, else estimated from the speed of
//! the memory.

pub(crate) mod expected;
mod library_models;
mod measured_replies;
pub(crate) mod stored;

use std::sync::{Arc, OnceLock};

use local::{LocalHost, WorkerState, WorkerStatus};

use crate::api::Changed;
use crate::base::error::ApiResult;
use crate::base::handle::Base;
use crate::settings::model_speeds::expected::ExpectedSpeeds;
use crate::settings::model_speeds::stored::{MachineSpeeds, ROW, StoredSpeeds};

/// The speeds of models on this machine. Clones share one state.
#[derive(Clone)]
pub(crate) struct ModelSpeeds {
    base: Base,
    local: LocalHost,
    machine: Arc<OnceLock<String>>,
    /// Held during a measurement, so that two requests measure once.
    measuring: Arc<tokio::sync::Mutex<()>>,
}

impl ModelSpeeds {
    pub(super) fn new(base: &Base, local: &LocalHost) -> Self {
        Self {
            base: base.clone(),
            local: local.clone(),
            machine: Arc::default(),
            measuring: Arc::default(),
        }
    }

    fn base(&self) -> &Base {
        &self.base
    }

    fn local(&self) -> &LocalHost {
        &self.local
    }

    fn machine(&self) -> String {
        let name = || local::speed::machine_name(self.local().default_threads());
        self.machine.get_or_init(name).clone()
    }

    /// The speeds that are known, with the devices of this machine.
    pub(crate) async fn known(&self) -> ApiResult<ExpectedSpeeds> {
        self.expected(self.stored().await?).await
    }

    /// Works like [`Self::known`]. Measures the memory first, for about a second, if it was never
    /// measured on this machine and no reply is being written.
    pub(crate) async fn measured(&self) -> ApiResult<ExpectedSpeeds> {
        let _turn = self.measuring.lock().await;
        let mut known = self.stored().await?;
        if known.memory.is_none() {
            known.memory = self.measure_memory().await?;
        }
        self.expected(known).await
    }

    async fn expected(&self, known: MachineSpeeds) -> ApiResult<ExpectedSpeeds> {
        let devices = self.local().current_devices().await;
        let threads = self.local().default_threads();
        Ok(ExpectedSpeeds::new(known, threads, devices))
    }

    async fn stored(&self) -> ApiResult<MachineSpeeds> {
        let json = self
            .base()
            .store()
            .read(|store| store.settings().get(ROW))
            .await?;
        Ok(StoredSpeeds::parse(json.as_deref()).of(&self.machine()))
    }

    /// Changes what is stored about this machine.
    async fn change<T: Send + 'static>(
        &self,
        change: impl FnOnce(&mut MachineSpeeds) -> T + Send + 'static,
    ) -> ApiResult<T> {
        let machine = self.machine();
        let changed = self.base().store().checkpoint(move |store| {
            let mut stored = StoredSpeeds::parse(store.settings().get(ROW)?.as_deref());
            let changed = change(stored.of_mut(&machine));
            store.settings_mut().set(ROW, &stored.json())?;
            Ok(changed)
        });
        Ok(changed.await?)
    }

    /// Measures and stores the speed of the memory. `None` if a reply is being written, because both
    /// would be slower.
    async fn measure_memory(&self) -> ApiResult<Option<u64>> {
        if self.is_replying() {
            return Ok(None);
        }
        let speeds = self.clone();
        let at_work = self.base().idle().at_work();
        let measured = tokio::task::spawn_blocking(move || {
            let threads = speeds.local().default_threads();
            let measured = speeds
                .base()
                .memory_meter()
                .measure(threads, &|| speeds.is_replying() || speeds.is_closing());
            drop(speeds);
            drop(at_work);
            measured
        });
        let Some(memory) = measured.await.ok().flatten() else {
            tracing::info!("the speed of the memory was not measured");
            return Ok(None);
        };
        self.change(move |machine| machine.memory = Some(memory))
            .await?;
        self.base().events().changed(Changed::Models, None);
        Ok(Some(memory))
    }

    fn is_replying(&self) -> bool {
        let works = |status: &WorkerStatus| {
            matches!(status.state, WorkerState::Starting | WorkerState::Busy)
        };
        !self.base().running().none() || self.local().statuses().iter().any(works)
    }

    fn is_closing(&self) -> bool {
        self.base().idle().ended().is_cancelled()
    }
}
