//! What ties this process to its parent.

/// No core dumps (they would hold chats), and on Linux no life after the parent's: the end of stdin tells of it too, but
/// only once this process gets around to reading.
pub(crate) fn tie_to_parent() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, setrlimit};
        if let Err(error) = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) }) {
            eprintln!("inglenook-worker: core dumps stay on: {error}");
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
