//! The processes of this test, which has its own `/proc`.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Returns the ids of the running processes of `program`.
pub(crate) fn running(program: &Path) -> Vec<u32> {
    let entries = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    ids.filter(|id| {
        is_alive(*id) && fs::read_link(format!("/proc/{id}/exe")).is_ok_and(|exe| exe == program)
    })
    .collect()
}

/// Returns the workers that generate replies; another one may be embedding messages.
pub(crate) fn writing(worker: &Path) -> Vec<u32> {
    let writes = |id: &u32| {
        let told = fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        told.split(|byte| *byte == 0).any(|word| word == b"replies")
    };
    running(worker).into_iter().filter(writes).collect()
}

/// Whether the process runs; a zombie does not.
pub(crate) fn is_alive(id: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    stat.rsplit(')')
        .next()
        .is_some_and(|rest| !rest.trim().is_empty() && !rest.trim_start().starts_with('Z'))
}

/// Sends a signal such as `KILL`.
pub(crate) fn signal(id: u32, signal: &str) {
    let sent = Command::new("kill")
        .arg(format!("-{signal}"))
        .arg(id.to_string())
        .status()
        .unwrap();
    assert!(
        sent.success() || !is_alive(id),
        "process {id} does not accept SIG{signal}"
    );
}

/// Returns the processes below `root` that run a program with this file name.
pub(crate) fn below(root: u32, name: &str) -> Vec<u32> {
    let runs = |id: &u32| {
        let exe = fs::read_link(format!("/proc/{id}/exe"));
        exe.is_ok_and(|exe| exe.file_name().is_some_and(|file| file == name))
    };
    tree(root).into_iter().filter(runs).collect()
}

/// Proportional share of memory of a process and all its descendants, in MiB.
pub(crate) fn memory_of_tree(root: u32) -> f64 {
    let kib = tree(root).into_iter().map(|id| {
        let rollup = fs::read_to_string(format!("/proc/{id}/smaps_rollup")).unwrap_or_default();
        let pss = rollup
            .lines()
            .find_map(|line| line.strip_prefix("Pss:"))
            .unwrap_or("0 kB");
        pss.trim()
            .trim_end_matches(" kB")
            .parse::<u64>()
            .unwrap_or(0)
    });
    kib.sum::<u64>() as f64 / 1024.0
}

/// Returns a process and all its descendants.
pub(crate) fn tree(root: u32) -> Vec<u32> {
    let mut found = vec![root];
    let mut next = 0;
    while let Some(id) = found.get(next) {
        found.extend(children(*id));
        next += 1;
    }
    found
}

/// Linux lists children by the thread that started them.
fn children(id: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{id}/task"))
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    let lists =
        threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    lists
        .flat_map(|list| {
            list.split_whitespace()
                .filter_map(|child| child.parse().ok())
                .collect::<Vec<_>>()
        })
        .collect()
}
