//! Isolates a test: no network except loopback, its own processes, display and session bus.
//! Everything that the test starts ends with it.

use std::env;
use std::fs::File;
use std::future::Future;
use std::process::Command;

use crate::desk::TestEnvironment;

const INSIDE: &str = "INGLENOOK_DESKTOP_STORY";

/// Runs `tell` as the test `name`. The outer process starts this program again in isolation; the
/// inner one runs the test.
pub(crate) fn isolated<F: Future<Output = ()>>(
    name: &str,
    tell: impl FnOnce(TestEnvironment) -> F,
) {
    if env::var_os(INSIDE).is_some() {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async { tell(TestEnvironment::new(name).await).await });
        return;
    }
    // The tests share two cores with a language model, so only one runs at a time, whichever runner
    // started it.
    let turn = File::create(env::temp_dir().join("inglenook-desktop-tests.lock")).unwrap();
    turn.lock().unwrap();
    let status = Command::new("unshare")
        .args([
            "--user",
            "--map-root-user",
            "--net",
            "--pid",
            "--fork",
            "--mount-proc",
            "--kill-child",
            "--",
        ])
        .args([
            "sh",
            "-c",
            "ip link set lo up && exec \"$@\"",
            "sh",
            "dbus-run-session",
        ])
        .args([
            "--config-file",
            concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/tests/desktop/session-bus.conf"
            ),
            "--",
        ])
        .arg(env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture", "--test-threads=1"])
        .env(INSIDE, "1")
        .status()
        .expect("`unshare` and `dbus-run-session` are needed; `cargo xtask setup` installs them");
    assert!(
        status.success(),
        "the test failed ({status}); its output is above"
    );
}
