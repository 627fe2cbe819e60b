//! How much work scripts may do.

use super::set::Why;

/// Bytes that scripts may read in one text by default: a thousand readings of the longest.
const PER_TEXT: u64 = 64 << 20;

/// Work left to the scripts of one text. It is counted, so that the same text comes out the same on every machine, however
/// busy (S0.4). There is no clock here: who has one hands in when to stop at last.
pub struct Budget<'a> {
    bytes: u64,
    stop: Option<&'a dyn Fn() -> bool>,
}

impl Default for Budget<'_> {
    fn default() -> Self {
        Self::of_bytes(PER_TEXT)
    }
}

impl<'a> Budget<'a> {
    /// Room for so many bytes, each counted as often as a script reads or writes it.
    pub fn of_bytes(bytes: u64) -> Self {
        Self { bytes, stop: None }
    }

    /// `stop` is asked between two searches, and in longer texts between the places that a backtracking pattern tries. Once
    /// it says `true`, no script runs any more. Hand in a deadline wherever scripts come from others: one search reads its
    /// text in linear time or gives up, but a pattern may search ten thousand times.
    pub fn until(self, stop: &'a dyn Fn() -> bool) -> Self {
        Self { stop: Some(stop), ..self }
    }

    /// Bytes that are left.
    pub fn left(&self) -> u64 {
        self.bytes
    }

    pub(super) fn spend(&mut self, bytes: usize) -> Result<(), Why> {
        if self.stop.is_some_and(|stop| stop()) {
            return Err(Why::OutOfTime);
        }
        let left = self.bytes.checked_sub(bytes as u64);
        self.bytes = left.unwrap_or(0);
        left.map(|_| ()).ok_or(Why::OutOfBudget)
    }
}
