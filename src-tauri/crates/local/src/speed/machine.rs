//! The name of this machine, under which its measurements are kept.

use sysinfo::{CpuRefreshKind, RefreshKind, System};

use crate::library::total_memory;

/// Names this machine by its processor, its memory and the number of compute `threads`. A data
/// folder may move to another machine, on which models have another speed.
pub fn machine_name(threads: u32) -> String {
    let memory = total_memory().unwrap_or(0);
    // Some of the memory is reserved, and how much differs between starts.
    let gibibytes = memory.saturating_add(1 << 29) >> 30;
    format!("{}, {gibibytes} GiB, {threads} threads", processor())
}

/// Product name of the processor; empty if the system does not say.
fn processor() -> String {
    let kind = RefreshKind::nothing().with_cpu(CpuRefreshKind::nothing());
    let Ok(system) = System::new_with_specifics(kind) else {
        return String::new();
    };
    let brand = system.cpus().first().map(|cpu| cpu.brand().trim());
    brand.unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_thread_counts_are_other_machines() {
        assert_eq!(machine_name(2), machine_name(2));
        assert_ne!(machine_name(2), machine_name(3));
    }
}
