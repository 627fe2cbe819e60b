//! Forgetting is refused while a backup is being written.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use engine::api::{ApiError, ForgetSubject};
use tests::headless::Headless;

/// The file of a picture in the data folder.
fn picture_file(dir: &Path) -> PathBuf {
    let shelf = fs::read_dir(dir.join("assets")).unwrap().next();
    let shelf = shelf.unwrap().unwrap().path();
    let file = fs::read_dir(shelf).unwrap().next();
    file.unwrap().unwrap().path()
}

fn replace_by_pipe(file: &Path) {
    fs::remove_file(file).unwrap();
    let made = Command::new("mkfifo").arg(file).status().unwrap();
    assert!(made.success());
}

#[tokio::test]
async fn forgetting_does_not_wait_for_a_backup() {
    let app = Headless::new().await;
    let subject = ForgetSubject::Character {
        id: app.character("Ada").await,
    };
    let picture = picture_file(app.dir.path());
    let content = fs::read(&picture).unwrap();
    replace_by_pipe(&picture);
    let engine = app.engine.clone();
    let backup = tokio::spawn(async move { engine.backup().await });
    let file = picture.clone();
    // Opening the pipe waits for its reader, which is the backup.
    let opening =
        tokio::task::spawn_blocking(move || fs::OpenOptions::new().write(true).open(file));
    let mut pipe = opening.await.unwrap().unwrap();
    let refused = app.engine.forget(subject.clone(), false).await;
    let busy = ApiError::Busy {
        message: "A backup is being written.".into(),
        hint: "Try again when it is finished.".into(),
    };
    assert_eq!(refused.unwrap_err(), busy);
    pipe.write_all(&content).unwrap();
    drop(pipe);
    backup.await.unwrap().unwrap();
    fs::remove_file(&picture).unwrap();
    fs::write(&picture, content).unwrap();
    let report = app.engine.forget(subject, true).await.unwrap();
    assert_eq!((report.removed.characters, report.backups), (1, 1));
}
