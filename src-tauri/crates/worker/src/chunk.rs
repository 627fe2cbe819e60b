//! Size of the batches in which a prompt is read.
//!
//! The worker notices Stop only between two batches, so a batch must be short. A longer one is
//! faster, because the model's weights are read once per batch, and because the threads wait for
//! each other a thousand times per batch: next to another busy process that is most of the time.
//! The size therefore follows the measured speed.

use std::time::Duration;

/// A batch that takes longer is halved. Stop takes effect within a second, and a batch also varies
/// with the load.
const LONGEST: Duration = Duration::from_millis(600);
/// A batch that takes less than this is doubled: twice as long is still short enough.
const SHORTEST: Duration = Duration::from_millis(290);
const FEWEST: usize = 16;

/// Number of tokens per batch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChunkSize {
    tokens: usize,
    fewest: usize,
    most: usize,
}

impl ChunkSize {
    /// Starts with `tokens`, and never exceeds `most`.
    pub(crate) fn new(tokens: u32, most: u32) -> Self {
        Self {
            tokens: tokens as usize,
            fewest: FEWEST.min(most as usize),
            most: most as usize,
        }
    }

    /// Never changes, so that the load of the machine does not decide how numbers are rounded.
    #[cfg(test)]
    pub(crate) fn fixed(tokens: u32) -> Self {
        Self {
            fewest: tokens as usize,
            ..Self::new(tokens, tokens)
        }
    }

    pub(crate) fn tokens(self) -> usize {
        self.tokens
    }

    /// Adapts to a batch of `tokens` tokens that took `time`.
    pub(crate) fn record(&mut self, tokens: usize, time: Duration) {
        if tokens < self.tokens {
            return;
        }
        if time > LONGEST {
            self.tokens = (self.tokens / 2).max(self.fewest);
        } else if time < SHORTEST {
            self.tokens = (self.tokens * 2).min(self.most);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the size after ten batches at a number of tokens per second.
    fn settled(speed: u32, most: u32) -> usize {
        let mut chunk = ChunkSize::new(64, most);
        for _ in 0..10 {
            let tokens = chunk.tokens();
            chunk.record(
                tokens,
                Duration::from_secs_f64(tokens as f64 / f64::from(speed)),
            );
        }
        chunk.tokens()
    }

    #[test]
    fn batch_takes_less_than_a_second() {
        assert_eq!(
            [20, 100, 200, 400, 1_000, 10_000].map(|speed| settled(speed, 256)),
            [16, 32, 64, 128, 256, 256]
        );
        assert_eq!(settled(10_000, 128), 128);
    }

    #[test]
    fn partial_batch_changes_nothing() {
        let mut chunk = ChunkSize::new(64, 256);
        chunk.record(10, Duration::from_millis(1));
        assert_eq!(chunk.tokens(), 64);
    }
}
