//! `lock`: asks the running app to lock itself.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use installation::Installation;
use serde_json::json;

use super::unlock;
use crate::failure::CommandError;
use crate::output::Output;

/// The window would prefer this folder to the one that all verbs use.
const FOLDER_VARIABLE: &str = "INGLENOOK_DATA_DIR";

/// The exit code of the app if no other one runs with the data folder.
const NOT_RUNNING: i32 = 1;

/// Asks the app that has the data folder open to lock itself. The app then waits for running
/// replies, if its settings say so.
///
/// # Errors
/// `notProtected`, `notInstalled` without the window beside this program, `notRunning`.
pub(crate) fn lock(
    data_dir: Option<PathBuf>,
    default_data_dir: impl FnOnce() -> Result<PathBuf, CommandError>,
    out: &Output,
) -> Result<(), CommandError> {
    let named = data_dir.as_deref().map(unlock::absolute);
    let folder = named.clone().map_or_else(default_data_dir, Ok)?;
    if !engine::is_protected(&folder) {
        return Err(unlock::not_protected(&folder));
    }
    let program = window(Installation::of_this_program())?;
    ask(&program, named.as_deref(), &folder)?;
    out.answer(&json!({ "asked": true }), |_| {
        "the app locks itself".to_owned()
    })
}

/// The app with the window.
fn window(installation: Option<Installation>) -> Result<PathBuf, CommandError> {
    let program = installation.map(|installation| installation.window());
    program.filter(|program| program.is_file()).ok_or_else(|| {
        CommandError::because(
            "notInstalled",
            "the app with the window is not beside this program; lock it with its own button",
        )
    })
}

/// Starts the app, which hands the request over to the one that runs and ends. An app of the
/// default folder is known without its name, so only a `named` folder is passed.
fn ask(program: &Path, named: Option<&Path>, folder: &Path) -> Result<(), CommandError> {
    let mut app = Command::new(program);
    app.arg("--lock")
        .env_remove(FOLDER_VARIABLE)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    if let Some(named) = named {
        app.arg("--data-dir").arg(named);
    }
    let ended = app.status().map_err(|error| {
        let message = format!("{} does not start: {error}", program.display());
        CommandError::because("io", message)
    })?;
    match ended.code() {
        Some(0) => Ok(()),
        Some(NOT_RUNNING) => Err(CommandError::because(
            "notRunning",
            format!(
                "no Inglenook runs with the data folder {}; `nook serve` is locked by ending it",
                folder.display()
            ),
        )),
        _ => Err(CommandError::because(
            "internal",
            format!("{} failed ({ended}); nothing was locked", program.display()),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::ErrorReason;

    fn kind(error: CommandError) -> String {
        match error {
            CommandError::Because(ErrorReason { kind, .. }) => kind,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn missing_window_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let installation = Installation::of(&folder.path().join("nook"));
        assert_eq!(
            kind(window(installation.clone()).unwrap_err()),
            "notInstalled"
        );
        let program = installation.clone().unwrap().window();
        std::fs::write(&program, "").unwrap();
        assert_eq!(window(installation).unwrap(), program);
    }

    #[cfg(unix)]
    #[test]
    fn exit_code_says_whether_an_app_runs() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("inglenook");
        let data = Path::new("/data");
        for (code, expected) in [(1, "notRunning"), (101, "internal")] {
            std::fs::write(&program, format!("#!/bin/sh\nexit {code}\n")).unwrap();
            std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
            let error = ask(&program, Some(data), data).unwrap_err();
            assert_eq!(kind(error), expected);
        }
        std::fs::write(
            &program,
            "#!/bin/sh\ntest \"$*\" = \"--lock --data-dir /data\"\n",
        )
        .unwrap();
        ask(&program, Some(data), data).unwrap();
    }
}
