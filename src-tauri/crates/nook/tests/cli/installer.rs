//! Test of the Windows installer, in a Wine prefix of its own, because it also deletes the data of
//! the user. `INGLENOOK_WINE_PACKAGES` names the folder with the packages.

use std::fs;
use std::os::windows::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// The installer without models, and the one with them.
fn installers() -> [PathBuf; 2] {
    let folder = std::env::var("INGLENOOK_WINE_PACKAGES")
        .expect("no packages: run `cargo xtask test --only windows`");
    let find = |ending: &str| {
        let mut files = fs::read_dir(&folder)
            .unwrap()
            .map(|file| file.unwrap().path());
        let named = |path: &PathBuf| path.to_str().unwrap().ends_with(ending);
        files
            .find(named)
            .unwrap_or_else(|| panic!("no {ending} in {folder}"))
    };
    [find("-setup-without-models.exe"), find("-setup.exe")]
}

/// The folder into which the program is installed.
struct Installed(PathBuf);

impl Installed {
    fn install(&self, installer: &Path) {
        // The folder is the last switch, without quotation marks, whatever it contains.
        let folder = format!("/D={}", self.0.display());
        let status = Command::new(installer)
            .arg("/S")
            .raw_arg(folder)
            .status()
            .unwrap();
        assert!(status.success(), "{status}");
    }

    fn uninstall(&self, switches: &[&str]) {
        // With this switch, the uninstaller does not copy itself elsewhere and return at once.
        let folder = format!("_?={}", self.0.display());
        let status = Command::new(self.file("uninstall.exe"))
            .arg("/S")
            .args(switches)
            .raw_arg(folder)
            .status()
            .unwrap();
        assert!(status.success(), "{status}");
    }

    /// Runs the installed command line on the data folder of the user.
    fn nook(&self, arguments: &[&str]) -> Vec<Value> {
        let output: Output = Command::new(self.file("nook.exe"))
            .arg("--json")
            .args(arguments)
            .env_remove("INGLENOOK_MODELS")
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let text = str::from_utf8(&output.stdout).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    fn chats(&self) -> usize {
        let listed = self.nook(&["list", "chats"]).remove(0);
        listed["items"].as_array().unwrap().len()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn version_in(&self, pointer: &str) -> String {
        let text = fs::read_to_string(self.file(pointer)).unwrap();
        text.trim().to_owned()
    }
}

#[test]
fn data_outlives_upgrade_and_removal() {
    let [without_models, with_models] = installers();
    let folder = tempfile::tempdir().unwrap();
    let installed = Installed(folder.path().join("Programs of Zoë"));
    let local = PathBuf::from(std::env::var_os("LOCALAPPDATA").unwrap());
    let database = local.join("Inglenook/Inglenook/data/inglenook.db");
    // An earlier run may have ended before its last step.
    let _ = fs::remove_dir_all(local.join("Inglenook"));

    installed.install(&with_models);
    let events = installed.nook(&[
        "chat",
        "--character",
        "Mira",
        "--max-tokens",
        "12",
        "--message",
        "Hello!",
    ]);
    let end = events.last().unwrap();
    assert_eq!(end["event"], "end", "{events:?}");
    assert!(end["usage"]["generated"].as_u64().unwrap() > 0, "{end}");
    // This one, and the one that the first start begins with a greeting.
    assert_eq!(installed.chats(), 2);

    // The version before stays, to go back to.
    fs::create_dir_all(installed.file("versions/0.0.9")).unwrap();
    fs::write(installed.file("current"), "0.0.9").unwrap();
    installed.install(&without_models);
    assert_eq!(
        ["current", "previous"].map(|pointer| installed.version_in(pointer)),
        [env!("CARGO_PKG_VERSION"), "0.0.9"]
    );
    assert!(installed.file("models").is_dir());
    assert_eq!(installed.chats(), 2);

    installed.uninstall(&[]);
    for name in ["versions", "models", "nook.exe", "inglenook.exe", "current"] {
        assert!(!installed.file(name).exists(), "{name}");
    }
    assert!(database.is_file(), "{}", database.display());

    installed.install(&without_models);
    assert_eq!(installed.chats(), 2);
    fs::write(installed.file("my notes.txt"), "mine").unwrap();
    installed.uninstall(&["/DELETEDATA"]);
    assert!(!database.exists());
    assert!(installed.file("my notes.txt").is_file());
}
