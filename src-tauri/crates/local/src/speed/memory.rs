//! Measures the speed of this machine's memory.

use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

use crate::library::available_memory;

/// How long each thread reads. With the time to fill its buffer, a measurement takes less than a
/// second.
const TIME: Duration = Duration::from_millis(500);
/// Bytes of all buffers, which exceed the last cache of usual processors.
const TOTAL: u64 = 512 << 20;
/// At most this part of the available memory is used.
const PART: u64 = 4;
/// Bytes that are compared at a time.
const BLOCK: usize = 1 << 20;

/// Measures how many bytes `threads` of the processor read from memory each second. Blocks for about
/// a second. `None` if `is_stopped` becomes true, or if too little memory is free.
pub fn memory_speed(threads: u32, is_stopped: &(dyn Fn() -> bool + Sync)) -> Option<u64> {
    let bytes = available_memory().map_or(TOTAL, |free| TOTAL.min(free / PART));
    measure(threads.max(1), bytes, is_stopped)
}

fn measure(threads: u32, bytes: u64, is_stopped: &(dyn Fn() -> bool + Sync)) -> Option<u64> {
    let blocks = bytes / u64::from(threads) / (2 * BLOCK as u64);
    let half = usize::try_from(blocks).ok()?.checked_mul(BLOCK)?;
    if half == 0 {
        return None;
    }
    let speeds: Option<Vec<f64>> = thread::scope(|scope| {
        let readers: Vec<_> = (0..threads)
            .map(|_| scope.spawn(move || read(half, is_stopped)))
            .collect();
        readers
            .into_iter()
            .map(|reader| reader.join().ok().flatten())
            .collect()
    });
    Some(speeds?.into_iter().sum::<f64>() as u64)
}

/// Reads two buffers of `half` bytes again and again, and returns the bytes per second. A comparison
/// is a call of the system's library, so that a debug build measures the same speed.
fn read(half: usize, is_stopped: &(dyn Fn() -> bool + Sync)) -> Option<f64> {
    // Pages that were never written share one page of zeros, which would stay in the cache.
    let buffer = vec![1_u8; 2 * half];
    let (first, second) = buffer.split_at(half);
    let started = Instant::now();
    let mut passes = 0_u32;
    while started.elapsed() < TIME {
        if is_stopped() || !are_equal(first, second) {
            return None;
        }
        passes += 1;
    }
    let bytes = 2.0 * half as f64 * f64::from(passes);
    Some(bytes / started.elapsed().as_secs_f64())
}

fn are_equal(first: &[u8], second: &[u8]) -> bool {
    let mut blocks = first.chunks(BLOCK).zip(second.chunks(BLOCK));
    blocks.all(|(one, other)| black_box(one) == black_box(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FEW: u64 = 32 << 20;

    #[test]
    fn measures_a_possible_speed() {
        let speed = measure(2, FEW, &|| false).unwrap();
        assert!((200_000_000..5_000_000_000_000).contains(&speed), "{speed}");
    }

    #[test]
    fn stopped_measurement_has_no_result() {
        assert_eq!(measure(2, FEW, &|| true), None);
    }

    #[test]
    fn too_little_memory_is_not_measured() {
        assert_eq!(measure(4, 1 << 20, &|| false), None);
        assert_eq!(measure(4, 0, &|| false), None);
    }
}
