//! Measures the speed of this machine's memory. Tests replace the measurement.

use std::sync::Arc;

type Measure = dyn Fn(u32, &(dyn Fn() -> bool + Sync)) -> Option<u64> + Send + Sync;

/// Measures how many bytes the processor reads from memory each second. Cheap to clone.
#[derive(Clone)]
pub struct MemoryMeter(Arc<Measure>);

impl Default for MemoryMeter {
    fn default() -> Self {
        Self::new(local::speed::memory_speed)
    }
}

impl MemoryMeter {
    /// A meter that calls `measure` with a number of threads, and with a function that becomes true
    /// when the measurement must stop. `None` from it means that nothing was measured.
    pub fn new(
        measure: impl Fn(u32, &(dyn Fn() -> bool + Sync)) -> Option<u64> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(measure))
    }

    /// A meter that always returns `bytes_per_second`.
    pub fn fixed(bytes_per_second: u64) -> Self {
        Self::new(move |_, _| Some(bytes_per_second))
    }

    /// Blocks for about a second. `None` if `is_stopped` became true, or if too little memory is
    /// free.
    pub(crate) fn measure(
        &self,
        threads: u32,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Option<u64> {
        (self.0)(threads, is_stopped)
    }
}
