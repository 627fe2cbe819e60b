//! The files of a move: copy, verify, delete. Everything blocks.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use local::library;

use super::job::{MoveJob, MovedFile};

/// Bytes that are copied between two looks at a cancel.
const CHUNK: usize = 1 << 20;

/// Why a move did not succeed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MoveFault {
    /// The user cancelled it, or the app ends.
    #[error("the move was stopped")]
    Stopped,
    #[error("the disk is full")]
    Full,
    #[error("{} cannot be read: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{} cannot be written: {source}", path.display())]
    Unwritable { path: PathBuf, source: io::Error },
    #[error("the copy has another checksum than the library")]
    Checksum,
    #[error("{} cannot be deleted: {source}", path.display())]
    Left { path: PathBuf, source: io::Error },
}

/// Puts every file into its new place. On one disk, a file only gets a second name. `step` gets the
/// number of bytes that are there, and can stop it. A partial copy is continued.
pub(crate) fn copy_all(
    job: &MoveJob,
    mut step: impl FnMut(u64) -> ControlFlow<()>,
) -> Result<(), MoveFault> {
    let mut before = 0;
    for file in &job.files {
        place(file, |done| step(before + done))?;
        before += file.bytes;
        if step(before).is_break() {
            return Err(MoveFault::Stopped);
        }
    }
    Ok(())
}

fn place(file: &MovedFile, step: impl FnMut(u64) -> ControlFlow<()>) -> Result<(), MoveFault> {
    // A copy has this name only if it is complete.
    if file.to.exists() {
        return Ok(());
    }
    let folder = file.to.parent().unwrap_or(Path::new(""));
    let partial = file.partial();
    fs::create_dir_all(folder).map_err(|source| unwritable(folder, source))?;
    remove_link(&partial)?;
    let is_file = fs::symlink_metadata(&file.from).is_ok_and(|about| about.is_file());
    if is_file && !partial.exists() && fs::hard_link(&file.from, &file.to).is_ok() {
        return Ok(());
    }
    copy(&file.from, &partial, step)?;
    fs::rename(&partial, &file.to).map_err(|source| unwritable(&file.to, source))
}

/// Removes a symbolic link in place of a partial copy, so that nothing is written through it.
fn remove_link(path: &Path) -> Result<(), MoveFault> {
    match fs::symlink_metadata(path) {
        Ok(about) if about.is_symlink() => {
            fs::remove_file(path).map_err(|source| unwritable(path, source))
        }
        _ => Ok(()),
    }
}

/// Copies the rest of `from` to the end of `to`, with its time, by which saved KV caches know a
/// model.
fn copy(
    from: &Path,
    to: &Path,
    mut step: impl FnMut(u64) -> ControlFlow<()>,
) -> Result<(), MoveFault> {
    let read = |source| MoveFault::Unreadable {
        path: from.to_owned(),
        source,
    };
    let written = |source| unwritable(to, source);
    let mut source = File::open(from).map_err(read)?;
    let about = source.metadata().map_err(read)?;
    let mut target = File::options()
        .create(true)
        .append(true)
        .open(to)
        .map_err(written)?;
    let mut done = target.metadata().map_err(written)?.len();
    if done > about.len() {
        target.set_len(0).map_err(written)?;
        done = 0;
    }
    source.seek(SeekFrom::Start(done)).map_err(read)?;
    let mut buffer = vec![0; CHUNK];
    loop {
        let length = source.read(&mut buffer).map_err(read)?;
        if length == 0 {
            break;
        }
        target.write_all(&buffer[..length]).map_err(written)?;
        done += length as u64;
        if step(done).is_break() {
            return Err(MoveFault::Stopped);
        }
    }
    if let Ok(modified) = about.modified() {
        target.set_modified(modified).map_err(written)?;
    }
    target.sync_all().map_err(written)
}

/// Compares the checksum of the new files with that of the library.
pub(crate) fn verify(
    job: &MoveJob,
    mut step: impl FnMut(u64) -> ControlFlow<()>,
) -> Result<(), MoveFault> {
    let Some((_, path)) = job.paths() else {
        return Err(MoveFault::Checksum);
    };
    let read = |source| MoveFault::Unreadable {
        path: path.to_owned(),
        source,
    };
    match library::hash_unless_stopped(path, |done, _| step(done)).map_err(read)? {
        None => Err(MoveFault::Stopped),
        Some((_, sha256)) if sha256.eq_ignore_ascii_case(&job.sha256) => Ok(()),
        Some(_) => Err(MoveFault::Checksum),
    }
}

/// Deletes the new files of a move that is given up.
pub(crate) fn delete_copies(job: &MoveJob) -> Result<(), MoveFault> {
    for file in &job.files {
        delete(&file.partial())?;
        // Without the old file, the new one is the only one.
        if file.from.exists() {
            delete(&file.to)?;
        }
    }
    if let Some((_, to)) = job.paths() {
        delete_empty_folders(to, job.depth());
    }
    Ok(())
}

/// Deletes the old files of a model that uses the new ones.
pub(crate) fn delete_originals(job: &MoveJob) -> Result<(), MoveFault> {
    for file in job.files.iter().filter(|file| is_another_file(file)) {
        delete(&file.from)?;
    }
    if let Some((from, _)) = job.paths() {
        delete_empty_folders(from, job.depth());
    }
    Ok(())
}

/// Guards the last copy: the new file is complete, and the old path does not lead to it.
fn is_another_file(file: &MovedFile) -> bool {
    let is_whole = fs::metadata(&file.to).is_ok_and(|about| about.len() == file.bytes);
    let folders = (
        file.from.parent().map(Path::canonicalize),
        file.to.parent().map(Path::canonicalize),
    );
    is_whole && matches!(folders, (Some(Ok(from)), Some(Ok(to))) if from != to)
}

fn delete(path: &Path) -> Result<(), MoveFault> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != ErrorKind::NotFound => Err(MoveFault::Left {
            path: path.to_owned(),
            source,
        }),
        _ => Ok(()),
    }
}

/// Deletes up to `depth` folders above `path`, as far as they are empty.
fn delete_empty_folders(path: &Path, depth: usize) {
    for folder in path.ancestors().skip(1).take(depth) {
        // Fails, as it should, if something else is in it.
        if fs::remove_dir(folder).is_err() {
            return;
        }
    }
}

fn unwritable(path: &Path, source: io::Error) -> MoveFault {
    match source.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            MoveFault::Full
        }
        _ => MoveFault::Unwritable {
            path: path.to_owned(),
            source,
        },
    }
}

#[cfg(test)]
mod tests {
    use domain::ModelId;
    use domain::model::LocalModel;

    use super::*;

    /// A split model of two parts with 3 MB and 2 MB, on its way from `a` to `b`.
    fn job(dir: &Path) -> MoveJob {
        let first = dir.join("a/deep/m-00001-of-00002.gguf");
        fs::create_dir_all(first.parent().unwrap()).unwrap();
        fs::write(&first, vec![1; 3_000_000]).unwrap();
        fs::write(dir.join("a/deep/m-00002-of-00002.gguf"), vec![2; 2_000_000]).unwrap();
        let (bytes, sha256) = library::hash(&first, |_, _| {}).unwrap();
        let path = first.display().to_string();
        let name = "m".into();
        let architecture = "llama".into();
        let model = LocalModel {
            id: ModelId(uuid::Uuid::nil()),
            name,
            path,
            bytes,
            sha256,
            architecture,
            context: 1,
        };
        MoveJob::plan(&model, &[dir.join("a")], &dir.join("b")).unwrap()
    }

    fn go_on(_: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// Replaces linking by copying, as between two disks.
    fn copy_whole(job: &MoveJob) {
        for file in &job.files {
            fs::create_dir_all(file.to.parent().unwrap()).unwrap();
            fs::write(file.partial(), "").unwrap();
        }
        copy_all(job, go_on).unwrap();
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut found = Vec::new();
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.path().is_dir() {
                found.extend(names(&entry.path()))
            } else {
                found.push(entry.file_name().to_string_lossy().into_owned())
            }
        }
        found.sort();
        found
    }

    #[test]
    fn a_copy_has_the_bytes_and_the_time() {
        let dir = tempfile::tempdir().unwrap();
        let job = job(dir.path());
        copy_whole(&job);
        verify(&job, go_on).unwrap();
        let time = |path: &Path| fs::metadata(path).unwrap().modified().unwrap();
        assert_eq!(time(&job.files[0].to), time(&job.files[0].from));
        delete_originals(&job).unwrap();
        assert_eq!(
            (
                names(&dir.path().join("a")),
                names(&dir.path().join("b")).len()
            ),
            (vec![], 2)
        );
        assert!(
            !dir.path().join("a/deep").exists() && dir.path().join("a").exists(),
            "only its own subfolder goes"
        );
        delete_originals(&job).unwrap();
        assert_eq!(
            names(&dir.path().join("b")).len(),
            2,
            "a second time deletes nothing"
        );
    }

    #[test]
    fn a_stopped_copy_goes_on_at_any_point() {
        for at in 1..=5 {
            let dir = tempfile::tempdir().unwrap();
            let job = job(dir.path());
            fs::create_dir_all(job.files[0].to.parent().unwrap()).unwrap();
            job.files
                .iter()
                .for_each(|file| fs::write(file.partial(), "").unwrap());
            let mut steps = 0;
            let stop = |_| {
                steps += 1;
                if steps == at {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                }
            };
            assert!(
                matches!(copy_all(&job, stop), Err(MoveFault::Stopped)),
                "{at}"
            );
            assert_eq!(
                names(&dir.path().join("a")).len(),
                2,
                "{at}: the old files stay"
            );
            copy_all(&job, go_on).unwrap();
            verify(&job, go_on).unwrap();
        }
    }

    #[test]
    fn files_on_one_disk_take_no_second_space() {
        let dir = tempfile::tempdir().unwrap();
        let job = job(dir.path());
        copy_all(&job, go_on).unwrap();
        verify(&job, go_on).unwrap();
        fs::write(dir.path().join("a/deep/notes.txt"), "mine").unwrap();
        delete_originals(&job).unwrap();
        assert_eq!(names(&dir.path().join("a")), ["notes.txt"]);
    }

    #[test]
    fn a_damaged_copy_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let job = job(dir.path());
        fs::create_dir_all(job.files[0].to.parent().unwrap()).unwrap();
        fs::write(job.files[0].partial(), vec![9; 1_000]).unwrap();
        copy_all(&job, go_on).unwrap();
        assert!(matches!(verify(&job, go_on), Err(MoveFault::Checksum)));
        delete_copies(&job).unwrap();
        assert_eq!(
            (
                names(&dir.path().join("a")).len(),
                dir.path().join("b/deep").exists()
            ),
            (2, false)
        );
    }

    #[cfg(unix)]
    #[test]
    fn nothing_is_written_through_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let job = job(dir.path());
        let other = dir.path().join("other");
        let missing = dir.path().join("missing");
        fs::write(&other, "mine").unwrap();
        for (file, target) in job.files.iter().zip([&other, &missing]) {
            fs::create_dir_all(file.to.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(target, file.partial()).unwrap();
        }
        copy_all(&job, go_on).unwrap();
        verify(&job, go_on).unwrap();
        assert_eq!(
            (
                fs::read_to_string(&other).unwrap().as_str(),
                missing.exists()
            ),
            ("mine", false)
        );
        assert_eq!(names(&dir.path().join("b")).len(), 2, "the links are gone");
    }

    #[test]
    fn the_only_copy_is_never_deleted() {
        let dir = tempfile::tempdir().unwrap();
        let job = job(dir.path());
        copy_whole(&job);
        fs::remove_file(&job.files[0].from).unwrap();
        delete_copies(&job).unwrap();
        assert!(job.files[0].to.exists(), "its old file is gone");
        fs::remove_file(&job.files[0].to).unwrap();
        fs::write(&job.files[0].from, "x").unwrap();
        delete_originals(&job).unwrap();
        assert!(job.files[0].from.exists(), "there is no new one");
    }
}
