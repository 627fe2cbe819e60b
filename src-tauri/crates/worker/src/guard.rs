//! Ties this process to its parent.

/// Disables core dumps, which would contain chats. On Linux it also makes the kernel end this
/// process with its parent, because the end of stdin is only noticed at the next read.
pub(crate) fn set_parent_death_signal() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, setrlimit};
        if let Err(error) = setrlimit(
            Resource::Core,
            Rlimit {
                current: Some(0),
                maximum: Some(0),
            },
        ) {
            eprintln!("inglenook-worker: cannot disable core dumps: {error}");
        }
    }
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Signal, set_parent_process_death_signal};
        if let Err(error) = set_parent_process_death_signal(Some(Signal::KILL)) {
            eprintln!("inglenook-worker: cannot watch the parent: {error}");
        }
    }
}
