//! Memory images of this process.

/// Disables core dumps, which would contain chats and keys. Only the soft limit changes, so that
/// programs which this process starts may set their own.
///
/// # Errors
/// The system refuses the limit.
#[cfg(unix)]
pub fn disable_core_dumps() -> std::io::Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let maximum = getrlimit(Resource::Core).maximum;
    Ok(setrlimit(
        Resource::Core,
        Rlimit {
            current: Some(0),
            maximum,
        },
    )?)
}

/// Other systems write no dumps of a program that did not ask for them.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn disable_core_dumps() -> std::io::Result<()> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use rustix::process::{Resource, getrlimit};

    use super::*;

    #[test]
    fn process_writes_no_core_dump() {
        disable_core_dumps().unwrap();
        assert_eq!(getrlimit(Resource::Core).current, Some(0));
    }
}
