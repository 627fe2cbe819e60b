//! Speed of this machine's memory. Without a graphics card it limits how fast a model writes,
//! because every token reads all weights once.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// How long the measurement takes.
const TIME: Duration = Duration::from_millis(600);
/// Length of a block, which is larger than the share of a usual cache.
const BLOCK: usize = 24 * 1024 * 1024;
/// Few threads already use the whole speed of the memory.
const MOST_THREADS: usize = 4;

/// Bytes that pass between the processor and the memory each second. Measured once per run of the
/// app.
pub(super) fn bytes_per_second() -> u64 {
    static SPEED: OnceLock<u64> = OnceLock::new();
    *SPEED.get_or_init(measure)
}

fn measure() -> u64 {
    let threads =
        std::thread::available_parallelism().map_or(1, |count| count.get().min(MOST_THREADS));
    let started = Instant::now();
    let moved: u64 = std::thread::scope(|scope| {
        let copies: Vec<_> = (0..threads)
            .map(|_| scope.spawn(move || copy_until(started + TIME)))
            .collect();
        copies.into_iter().filter_map(|copy| copy.join().ok()).sum()
    });
    (moved as f64 / started.elapsed().as_secs_f64()) as u64
}

/// Copies blocks until the time is over, and returns how many bytes were read and written. A copy
/// is a call of the system's library, so that a debug build measures the same speed.
fn copy_until(end: Instant) -> u64 {
    let mut from = vec![1_u8; BLOCK];
    let mut to = vec![2_u8; BLOCK];
    let mut moved = 0;
    while Instant::now() < end {
        to.copy_from_slice(&from);
        std::mem::swap(&mut from, &mut to);
        moved += 2 * BLOCK as u64;
    }
    std::hint::black_box(to);
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_a_possible_speed_once() {
        let speed = bytes_per_second();
        assert!((200_000_000..2_000_000_000_000).contains(&speed), "{speed}");
        let started = Instant::now();
        assert_eq!(bytes_per_second(), speed);
        assert!(started.elapsed() < Duration::from_millis(100));
    }
}
