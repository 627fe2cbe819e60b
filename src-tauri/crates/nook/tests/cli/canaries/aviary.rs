//! The program on a data folder, with a second place and a temporary folder of its own.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::readable::{PREFIX, canary, is_readable, kinds_in};
use crate::world::{Done, Running, World};

pub(super) struct Aviary {
    pub(super) world: World,
    /// Arguments that unlock the folder.
    pub(super) unlock: Vec<String>,
}

impl Aviary {
    pub(super) fn new() -> Self {
        let world = World::without_model();
        for name in ["second", "tmp"] {
            fs::create_dir(world.path(name)).unwrap();
        }
        Self {
            world,
            unlock: Vec::new(),
        }
    }

    fn command(&self, args: &[&str]) -> Command {
        let unlock = self.unlock.iter().map(String::as_str);
        let args: Vec<&str> = args
            .iter()
            .copied()
            .chain(unlock)
            .chain(["--json"])
            .collect();
        let mut command = self.world.command(&args);
        for variable in ["TMPDIR", "TMP", "TEMP"] {
            command.env(variable, self.world.path("tmp"));
        }
        command
    }

    pub(super) fn run(&self, args: &[&str]) -> Done {
        Done::from(self.command(args).output().unwrap())
    }

    /// Runs a turn with the endpoint that is named after its kind.
    #[track_caller]
    pub(super) fn say(&self, to: [&str; 2], message: &str) {
        let endpoint = canary("endpoint");
        let turn = ["--endpoint", &endpoint, "--message", message];
        let said = self.run(&[&["chat"][..], &to, &turn].concat());
        let ends = said.ends();
        let reply = ends[0]["text"].as_str().unwrap();
        // The thoughts may be before it.
        assert!(reply.ends_with(&canary("reply")), "{said:?}");
    }

    /// Kills the program after the first text of a reply.
    pub(super) fn kill_in_a_reply(&self, args: &[&str]) {
        let mut running = Running::from(self.command(args).spawn().unwrap());
        running.event("token");
    }

    #[track_caller]
    pub(super) fn json(&self, args: &[&str]) -> Value {
        let done = self.run(args);
        assert_eq!(done.code, 0, "{args:?}: {done:?}");
        done.json()
    }

    #[track_caller]
    pub(super) fn call(&self, operation: &str, arguments: &Value) -> Value {
        self.json(&["call", operation, &arguments.to_string()])
    }

    #[track_caller]
    pub(super) fn import(&self, name: &str, content: impl AsRef<[u8]>) -> Value {
        let file = self.world.file(&format!("imports/{name}"), content);
        self.json(&["import", &file])
    }

    /// The files that the program has written.
    fn files(&self) -> Vec<PathBuf> {
        let folders = [
            self.world.data_dir(),
            self.world.path("second"),
            self.world.path("tmp"),
        ];
        folders.iter().flat_map(|folder| below(folder)).collect()
    }

    /// The kinds of content whose text is readable in a file.
    pub(super) fn readable_kinds(&self) -> BTreeSet<String> {
        let files = self.files().into_iter();
        files
            .flat_map(|file| kinds_in(&fs::read(file).unwrap()))
            .collect()
    }

    /// The files with a text of any kind, in any encoding.
    pub(super) fn readable_files(&self) -> Vec<String> {
        let has_text = |file: &PathBuf| {
            file.to_string_lossy().contains(PREFIX) || is_readable(&fs::read(file).unwrap())
        };
        let files = self.files().into_iter().filter(has_text);
        files.map(|file| file.display().to_string()).collect()
    }
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(below(&path));
        } else {
            files.push(path);
        }
    }
    files
}
