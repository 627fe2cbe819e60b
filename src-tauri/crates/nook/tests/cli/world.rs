//! A temporary data folder, and the program run on it.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};

use serde_json::Value;
use tempfile::TempDir;

pub(crate) struct World {
    folder: TempDir,
    data: PathBuf,
    models: PathBuf,
}

impl World {
    /// No model can reply.
    pub(crate) fn without_model() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let models = folder.path().join("no-models");
        let data = folder.path().join("data");
        Self {
            folder,
            data,
            models,
        }
    }

    /// The default model can reply.
    pub(crate) fn with_model() -> Self {
        let name = format!("inglenook-worker{}", std::env::consts::EXE_SUFFIX);
        let worker = Path::new(env!("CARGO_BIN_EXE_nook")).with_file_name(name);
        assert!(
            worker.is_file(),
            "{} is not built: cargo build -p worker",
            worker.display()
        );
        let models = installation::model_dirs().pop().unwrap();
        let model = models.join("SmolLM2-135M-Instruct.Q4_1.gguf");
        assert!(
            model.is_file(),
            "{} is missing: run `cargo xtask run`",
            model.display()
        );
        Self {
            models,
            ..Self::without_model()
        }
    }

    /// Keeps the data in this folder of the temporary one.
    pub(crate) fn in_folder(self, name: &str) -> Self {
        Self {
            data: self.path(name),
            ..self
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file next to the data folder and returns its path as an argument.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }

    pub(crate) fn data_dir(&self) -> PathBuf {
        self.data.clone()
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_nook"));
        command.arg("--data-dir").arg(self.data_dir()).args(args);
        command
            .env("INGLENOOK_MODELS", &self.models)
            .env_remove("RUST_LOG")
            .env_remove("INGLENOOK_TOKEN")
            .env_remove("INGLENOOK_PASSPHRASE_FILE");
        // Hides the keychain of the user who runs the tests.
        command.env_remove("DBUS_SESSION_BUS_ADDRESS");
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Done {
        let output = self.command(args).output().unwrap();
        Done::from(output)
    }

    pub(crate) fn run_with_stdin(&self, args: &[&str], input: &str) -> Done {
        let mut child = self.command(args).stdin(Stdio::piped()).spawn().unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(input.as_bytes())
            .unwrap();
        Done::from(child.wait_with_output().unwrap())
    }

    /// Runs a verb that must succeed and returns its JSON.
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        let done = self.run(&[args, &["--json"]].concat());
        assert_eq!(done.code, 0, "{args:?}: {done:?}");
        done.json()
    }

    /// Starts a verb and leaves it running.
    pub(crate) fn start(&self, args: &[&str]) -> Running {
        Running::from(self.command(args).spawn().unwrap())
    }
}

#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<std::process::Output> for Done {
    fn from(output: std::process::Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self {
            code: output.status.code().unwrap_or(-1),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }
}

impl Done {
    /// Returns the JSON document on stdout.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Returns the JSON lines on stdout.
    pub(crate) fn events(&self) -> Vec<Value> {
        self.out
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// Returns the lines that end a turn.
    pub(crate) fn ends(&self) -> Vec<Value> {
        self.events()
            .into_iter()
            .filter(|event| event["event"] == "end")
            .collect()
    }

    /// Checks that a failed verb reports the reason as JSON on stdout and in one line on stderr.
    #[track_caller]
    pub(crate) fn assert_failed(&self, kind: &str) {
        assert_eq!(self.code, 1, "{self:?}");
        assert_eq!(self.json()["error"]["kind"], kind, "{self:?}");
        assert!(
            self.err.starts_with("error: ") && self.err.lines().count() == 1,
            "{self:?}"
        );
    }
}

/// Killed when it is dropped.
pub(crate) struct Running {
    child: Child,
    lines: Option<BufReader<ChildStdout>>,
}

impl From<Child> for Running {
    fn from(mut child: Child) -> Self {
        let lines = child.stdout.take().map(BufReader::new);
        Self { child, lines }
    }
}

impl Running {
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.as_mut().unwrap().read_line(&mut line).unwrap();
        line
    }

    /// Returns the next event with this name.
    pub(crate) fn event(&mut self, name: &str) -> Value {
        loop {
            let line = self.line();
            assert!(!line.is_empty(), "the process ended before `{name}`");
            let event: Value = serde_json::from_str(&line).unwrap();
            if event["event"] == name {
                return event;
            }
        }
    }

    pub(crate) fn stop_reading(&mut self) {
        self.lines = None;
    }

    #[cfg(unix)]
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_raw(self.child.id().try_into().unwrap()).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
    }

    pub(crate) fn wait(mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A V2 card with a field that this program does not know.
pub(crate) fn card(name: &str) -> String {
    serde_json::json!({
        "spec": "chara_card_v2",
        "spec_version": "2.0",
        "data": {
            "name": name,
            "description": format!("{name} is a lamplighter of few words."),
            "personality": "calm",
            "scenario": "A quay at dusk.",
            "first_mes": "You are late. The lamps are lit.",
            "mes_example": "",
            "creator_notes": "",
            "system_prompt": "",
            "post_history_instructions": "",
            "alternate_greetings": ["Mind the step."],
            "tags": ["quay"],
            "creator": "us",
            "character_version": "1",
            "extensions": { "lamp/oil": { "kind": "whale", "left": [1, 2.5, null] } },
        },
    })
    .to_string()
}
