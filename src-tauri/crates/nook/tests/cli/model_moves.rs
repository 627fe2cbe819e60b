//! Moves of a model by the real program, which is killed at points that are spread over the whole
//! move.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::world::World;

/// Two model folders, if possible on different disks, so that the files are copied.
struct Folders {
    world: World,
    first: PathBuf,
    second: PathBuf,
    /// Removes the second folder in the end.
    _shared: Option<tempfile::TempDir>,
}

impl Folders {
    fn new() -> Self {
        let source = World::with_model().json(&["models", "list"])["items"][0]["path"]
            .as_str()
            .unwrap()
            .to_owned();
        let world = World::without_model();
        let shared = tempfile::tempdir_in("/dev/shm").ok();
        let first = world.path("first");
        let second = shared.as_ref().map_or_else(
            || world.path("second"),
            |folder| folder.path().join("second"),
        );
        std::fs::create_dir_all(&first).unwrap();
        std::fs::create_dir_all(&second).unwrap();
        std::fs::copy(source, first.join("small.gguf")).unwrap();
        for folder in [&first, &second] {
            assert_eq!(
                world
                    .run(&["models", "folders", "--add", folder.to_str().unwrap()])
                    .code,
                0
            );
        }
        Self {
            world,
            first,
            second,
            _shared: shared,
        }
    }

    fn start(&self, to: &Path) -> Child {
        let mut command =
            self.world
                .command(&["models", "move", "small", "--to", to.to_str().unwrap()]);
        command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }

    /// Duration of a whole move, without the checks after it.
    fn time_of_move(&self, to: &Path) -> Duration {
        let start = Instant::now();
        assert!(self.start(to).wait().unwrap().success());
        start.elapsed()
    }

    /// The library has the model once, and its file is whole.
    fn is_intact(&self) -> PathBuf {
        let listed = self.world.json(&["models", "list"]);
        assert_eq!(listed["items"].as_array().unwrap().len(), 1, "{listed}");
        let checked = self.world.run(&["models", "check", "--json"]);
        assert_eq!(checked.code, 0, "{checked:?}");
        PathBuf::from(listed["items"][0]["path"].as_str().unwrap())
    }

    /// Moves the model to `to` to the end, and checks that it is nowhere else.
    fn finish(&self, to: &Path) {
        let done = self
            .world
            .run(&["models", "move", "small", "--to", to.to_str().unwrap()]);
        // The killed one may have come to its end.
        assert!(
            done.code == 0 || done.err.contains("already in that folder"),
            "{done:?}"
        );
        assert_eq!(self.is_intact(), to.join("small.gguf"));
        let files = |folder: &Path| std::fs::read_dir(folder).unwrap().count();
        let other = if to == self.first {
            &self.second
        } else {
            &self.first
        };
        assert_eq!((files(to), files(other)), (1, 0));
        assert!(
            self.world.json(&["models", "moves"])["items"]
                .as_array()
                .unwrap()
                .is_empty()
        );
    }
}

#[test]
fn killed_move_keeps_one_whole_model() {
    let rounds: u32 = std::env::var("INGLENOOK_KILLS").map_or(6, |rounds| rounds.parse().unwrap());
    let folders = Folders::new();
    // The quicker of two, so that the kills come before the end also on a machine that is busy for
    // a moment.
    let whole = folders
        .time_of_move(&folders.second)
        .min(folders.time_of_move(&folders.first));
    let mut killed = 0;
    for round in 0..rounds {
        let to = if round % 2 == 0 {
            &folders.second
        } else {
            &folders.first
        };
        let (mut moving, begun) = (folders.start(to), Instant::now());
        let at: Duration = whole * (round + 1) / (rounds + 1);
        let ended = loop {
            match moving.try_wait().unwrap() {
                Some(_) => break true,
                None if begun.elapsed() >= at => break false,
                None => std::thread::yield_now(),
            }
        };
        killed += u32::from(!ended);
        moving.kill().ok();
        moving.wait().unwrap();
        folders.is_intact();
        folders.finish(to);
    }
    assert!(
        killed * 2 >= rounds,
        "{killed} of {rounds} were killed before their end"
    );
}

#[test]
fn cancelled_move_deletes_the_copy() {
    let folders = Folders::new();
    let unknown = folders
        .world
        .run(&["models", "move", "small", "--to", "/no/such/folder"]);
    assert!(
        unknown.code == 1 && unknown.err.contains("not one of the model folders"),
        "{unknown:?}"
    );
    let mut moving = folders.start(&folders.second);
    let partial = folders.second.join("small.gguf.moving");
    while moving.try_wait().unwrap().is_none() && !partial.exists() {
        std::thread::yield_now();
    }
    moving.kill().ok();
    moving.wait().unwrap();
    if !folders.world.json(&["models", "moves"])["items"]
        .as_array()
        .unwrap()
        .is_empty()
    {
        assert_eq!(
            folders
                .world
                .run(&["models", "moves", "--cancel", "small"])
                .code,
            0
        );
    }
    assert!(!partial.exists(), "the partial copy is deleted");
    folders.is_intact();
}

#[cfg(unix)]
#[test]
fn full_disk_leaves_the_model_where_it_is() {
    let folders = Folders::new();
    // An existing partial copy is continued, also on one disk.
    std::fs::write(folders.second.join("small.gguf.moving"), "").unwrap();
    let moving = folders.world.command(&[
        "models",
        "move",
        "small",
        "--to",
        folders.second.to_str().unwrap(),
    ]);
    // Files may grow to 8 or 16 MB, depending on the unit of the shell.
    let mut limited = Command::new("sh");
    limited.args(["-c", "trap '' XFSZ; ulimit -f 16384; exec \"$0\" \"$@\""]);
    limited
        .arg(moving.get_program())
        .args(moving.get_args())
        .stdin(Stdio::null());
    limited.envs(
        moving
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    let failed = limited.output().unwrap();
    let said = String::from_utf8_lossy(&failed.stderr);
    assert!(
        !failed.status.success() && said.contains("The disk is full"),
        "{said}"
    );
    assert_eq!(folders.is_intact(), folders.first.join("small.gguf"));
    folders.finish(&folders.second);
}
