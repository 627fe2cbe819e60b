//! Kills the real program at points that are spread over a download. The next try goes on, and the
//! file is right.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tests::scripted_hub::{Quirk, ScriptedFile, ScriptedHub, sha256, small_model};

const REPO: &str = "a/Killed-GGUF";
const FILE: &str = "Killed-Q8_0.gguf";
/// Size of the tensor in the model.
const SIZE: usize = 500_000;

struct World {
    dir: tempfile::TempDir,
    hub: ScriptedHub,
    whole: Vec<u8>,
}

impl World {
    fn command(&self, verb: &[&str]) -> Command {
        let exe = std::env::current_exe().unwrap();
        let program = exe.ancestors().nth(2).unwrap().join("nook");
        assert!(
            program.is_file(),
            "{} is not built: cargo build -p nook",
            program.display()
        );
        let mut command = Command::new(program);
        command
            .arg("--data-dir")
            .arg(self.dir.path())
            .args(["--json", "models"])
            .args(verb);
        command
            .env("INGLENOOK_MODELS", self.dir.path().join("no-models"))
            .env("INGLENOOK_HUB", &self.hub.address);
        command
            .env_remove("DBUS_SESSION_BUS_ADDRESS")
            .stdin(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    fn start(&self) -> Child {
        self.command(&["download", REPO, FILE])
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    }

    fn models(&self) -> Vec<Value> {
        let output = self.command(&["list"]).output().unwrap();
        let listed: Value = serde_json::from_slice(&output.stdout).unwrap();
        listed["items"].as_array().unwrap().clone()
    }

    fn place(&self) -> PathBuf {
        self.dir.path().join("models").join(REPO).join(FILE)
    }

    /// Only a whole file has the model's name, and only that one is in the library.
    fn holds_nothing_false(&self) {
        let is_whole = |path: &Path| std::fs::read(path).is_ok_and(|bytes| bytes == self.whole);
        assert!(!self.place().exists() || is_whole(&self.place()));
        assert!(
            self.models()
                .iter()
                .all(|model| is_whole(Path::new(model["path"].as_str().unwrap())))
        );
    }

    /// Downloads the rest, and checks the result.
    fn finish(&self) {
        let done = self
            .command(&["download", REPO, FILE])
            .stdout(Stdio::null())
            .status()
            .unwrap();
        assert!(done.success(), "{done:?}");
        let models = self.models();
        assert_eq!(models.len(), 1, "{models:?}");
        let found = sha256(&std::fs::read(self.place()).unwrap());
        assert_eq!(models[0]["sha256"], found);
        assert_eq!(found, sha256(&self.whole));
        let folder: Vec<_> = std::fs::read_dir(self.place().parent().unwrap())
            .unwrap()
            .collect();
        assert_eq!(folder.len(), 1, "no part is left");
    }

    fn clear(&self) {
        let removed = self
            .command(&["remove", "Killed-Q8_0"])
            .stdout(Stdio::null())
            .status()
            .unwrap();
        assert!(removed.success());
        std::fs::remove_file(self.place()).unwrap();
    }
}

#[test]
fn killed_download_goes_on_and_is_right() {
    let rounds: usize =
        std::env::var("INGLENOOK_KILLS").map_or(6, |rounds| rounds.parse().unwrap());
    let (hub, whole) = (ScriptedHub::start(), small_model("Killed", SIZE));
    hub.put(REPO, FILE, ScriptedFile::new(whole.clone()));
    let world = World {
        dir: tempfile::tempdir().unwrap(),
        hub,
        whole,
    };
    let part = world.place().with_file_name(format!("{FILE}.part"));
    for round in 0..rounds {
        // Every fourth kill comes after the last byte: while the file is checked, named or
        // registered.
        let at_the_end = round % 4 == 3;
        let at = world.whole.len() * (round + 1) / (rounds + 1);
        if !at_the_end {
            world.hub.next([Quirk::Stalls(at)]);
        }
        let here = || std::fs::metadata(&part).map_or(0, |about| about.len() as usize);
        let reached = || {
            if at_the_end {
                here() == world.whole.len() || world.place().exists()
            } else {
                here() >= at
            }
        };
        let mut child = world.start();
        while !reached() && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        child.kill().ok();
        child.wait().unwrap();
        world.holds_nothing_false();
        world.finish();
        world.clear();
    }
}
