//! Work limit for regex scripts.

use super::set::ScriptError;

/// Default number of bytes that scripts may process per text: a thousand passes over the longest
/// text.
const PER_TEXT: u64 = 64 << 20;

/// The work left for the scripts of one text. It is counted, so that a text gives the same result
/// on every machine at any load. There is no clock here; callers can pass in a deadline.
pub struct ScriptBudget<'a> {
    bytes: u64,
    stop: Option<&'a dyn Fn() -> bool>,
}

impl Default for ScriptBudget<'_> {
    fn default() -> Self {
        Self::of_bytes(PER_TEXT)
    }
}

impl<'a> ScriptBudget<'a> {
    /// Allows `bytes` bytes of work, each counted as often as a script reads or writes it.
    pub fn of_bytes(bytes: u64) -> Self {
        Self { bytes, stop: None }
    }

    /// Calls `stop` between two searches, and in longer texts between the positions that a
    /// backtracking pattern tries. When it returns `true`, no further script runs. Pass a deadline
    /// for scripts from other people: a single search takes linear time or gives up, but a pattern
    /// may search ten thousand times.
    pub fn until(self, stop: &'a dyn Fn() -> bool) -> Self {
        Self {
            stop: Some(stop),
            ..self
        }
    }

    /// The remaining bytes.
    pub fn left(&self) -> u64 {
        self.bytes
    }

    pub(super) fn spend(&mut self, bytes: usize) -> Result<(), ScriptError> {
        if self.stop.is_some_and(|stop| stop()) {
            return Err(ScriptError::OutOfTime);
        }
        let left = self.bytes.checked_sub(bytes as u64);
        self.bytes = left.unwrap_or(0);
        left.map(|_| ()).ok_or(ScriptError::OutOfBudget)
    }
}
