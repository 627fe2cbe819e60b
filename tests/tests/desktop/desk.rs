//! Environment of a desktop test: home folder, display, and the app under WebDriver.

use std::env;
use std::future::Future;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use fantoccini::{Client, ClientBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::json;

use crate::display::VirtualDisplay;
use crate::window::Window;
use crate::{failure, processes};

/// Timeout of a test step, long enough for debug builds on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// WebKitWebDriver sometimes never answers the session request although the app runs.
const ATTEMPTS: u32 = 3;

pub(crate) struct TestEnvironment {
    pub(crate) display: VirtualDisplay,
    story: String,
    home: tempfile::TempDir,
    programs: PathBuf,
    models: PathBuf,
}

impl TestEnvironment {
    pub(crate) async fn new(story: &str) -> Self {
        let programs = programs();
        for program in ["inglenook", "inglenook-worker"] {
            let path = programs.join(program);
            assert!(
                path.is_file(),
                "{} is not built; `cargo xtask test --only desktop` builds it first",
                path.display()
            );
        }
        let models = models();
        let model = models.join("SmolLM2-135M-Instruct.Q4_1.gguf");
        assert!(
            model.is_file(),
            "{} is missing; run `cargo xtask setup`",
            model.display()
        );
        let home = tempfile::Builder::new()
            .prefix("inglenook-desk-")
            .tempdir()
            .unwrap();
        std::fs::create_dir(home.path().join("run")).unwrap();
        let desk = Self {
            display: VirtualDisplay::start(),
            story: story.to_owned(),
            home,
            programs,
            models,
        };
        failure::watch_desk(&desk);
        desk
    }

    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// Returns the data folder of the app, below the home folder.
    pub(crate) fn data(&self) -> PathBuf {
        self.home().join(".local/share/inglenook")
    }

    pub(crate) fn app(&self) -> PathBuf {
        self.programs.join("inglenook")
    }

    pub(crate) fn worker(&self) -> PathBuf {
        self.programs.join("inglenook-worker")
    }

    /// Returns the command line.
    pub(crate) fn nook(&self) -> PathBuf {
        let program = self.programs.join("nook");
        assert!(
            program.is_file(),
            "{} is missing; run `cargo build -p nook`",
            program.display()
        );
        program
    }

    /// Returns the example program of `src-tauri` with an empty Tauri window.
    pub(crate) fn empty_window(&self) -> PathBuf {
        let program = self.programs.join("examples/empty-window");
        assert!(
            program.is_file(),
            "{} is missing; run `cargo build --examples -p inglenook`",
            program.display()
        );
        program
    }

    /// Creates a call of `program` as the user of this test.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = self.display.command(program);
        command
            .env("HOME", self.home())
            .env("XDG_RUNTIME_DIR", self.home().join("run"));
        for name in [
            "XDG_DATA_HOME",
            "XDG_CACHE_HOME",
            "XDG_CONFIG_HOME",
            "INGLENOOK_DATA_DIR",
        ] {
            command.env_remove(name);
        }
        command
            .env("INGLENOOK_MODELS", &self.models)
            .env("INGLENOOK_WORKER", self.worker());
        // Long enough to be seen while it streams.
        command.env("INGLENOOK_MAX_TOKENS", "160");
        command
    }

    /// Starts the app under WebDriver.
    pub(crate) async fn open(&self) -> Window<'_> {
        self.open_with(&[]).await
    }

    /// Starts the app with arguments, such as files to import.
    pub(crate) async fn open_with(&self, arguments: &[&str]) -> Window<'_> {
        for _ in 0..ATTEMPTS {
            let port = TcpListener::bind("127.0.0.1:0")
                .unwrap()
                .local_addr()
                .unwrap()
                .port();
            let driver = self.driver(port);
            until("a listening WebKitWebDriver", || async {
                tokio::net::TcpStream::connect(("127.0.0.1", port))
                    .await
                    .ok()
            })
            .await;
            match tokio::time::timeout(PATIENCE / 2, self.session(port, arguments)).await {
                Ok(session) => {
                    let app = until("the app's process", || async {
                        processes::running(&self.app()).first().copied()
                    })
                    .await;
                    failure::watch_session(&session);
                    return Window::new(self, session, driver, app);
                }
                Err(_) => {
                    let left = processes::running(&self.app());
                    eprintln!("no session within the timeout; the app's processes: {left:?}");
                    left.into_iter()
                        .for_each(|id| processes::signal(id, "KILL"));
                }
            }
        }
        failure::tell().await;
        panic!("no session after {ATTEMPTS} attempts")
    }

    fn driver(&self, port: u16) -> Driver {
        let mut driver = self.command("WebKitWebDriver");
        driver.arg(format!("--port={port}"));
        // Without these variables the session request would hang.
        driver
            .env("TAURI_AUTOMATION", "true")
            .env("TAURI_WEBVIEW_AUTOMATION", "true");
        Driver(
            driver
                .spawn()
                .expect("WebKitWebDriver is needed; `cargo xtask setup` installs it"),
        )
    }

    async fn session(&self, port: u16, arguments: &[&str]) -> Session {
        let options = json!({ "binary": self.app(), "args": arguments });
        ClientBuilder::new(HttpConnector::new())
            .capabilities(
                [("webkitgtk:browserOptions".to_owned(), options)]
                    .into_iter()
                    .collect(),
            )
            .connect(&format!("http://127.0.0.1:{port}"))
            .await
            .expect("the app starts under WebDriver")
    }

    /// Returns the path for a screenshot of this test.
    pub(crate) fn picture(&self, step: &str) -> PathBuf {
        let folder = self.programs.parent().unwrap().join("e2e");
        std::fs::create_dir_all(&folder).unwrap();
        folder.join(format!("{}-{step}.png", self.story))
    }

    /// Writes a fixture as a file in the user's home folder.
    pub(crate) fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.home().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

/// The WebDriver process; it is killed with its session.
pub(crate) struct Driver(Child);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

pub(crate) type Session = Client;

/// Waits until `look` finds something.
pub(crate) async fn until<T, F: Future<Output = Option<T>>>(
    what: &str,
    look: impl FnMut() -> F,
) -> T {
    within(PATIENCE, what, look).await
}

/// Waits at most `patience` until `look` finds something.
pub(crate) async fn within<T, F: Future<Output = Option<T>>>(
    patience: Duration,
    what: &str,
    mut look: impl FnMut() -> F,
) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look().await {
            return found;
        }
        if start.elapsed() > patience {
            failure::tell().await;
            panic!("waited {patience:?} for {what}");
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Returns `INGLENOOK_BIN_DIR`, else the folder above this test's binary.
fn programs() -> PathBuf {
    let beside = || {
        env::current_exe()
            .unwrap()
            .ancestors()
            .nth(2)
            .unwrap()
            .to_owned()
    };
    env::var_os("INGLENOOK_BIN_DIR").map_or_else(beside, PathBuf::from)
}

fn models() -> PathBuf {
    let cached =
        || PathBuf::from(env::var_os("HOME").unwrap_or_default()).join(".cache/inglenook/models");
    env::var_os("INGLENOOK_MODELS").map_or_else(cached, PathBuf::from)
}
