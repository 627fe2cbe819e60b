use super::*;

#[cfg(unix)]
#[tokio::test]
async fn export_is_readable_by_its_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let card = folder.path().join("Mira.png");
    write(&card, b"card".to_vec()).await.unwrap();
    assert_eq!(
        std::fs::metadata(&card).unwrap().permissions().mode() & 0o777,
        0o600
    );
}

#[tokio::test]
async fn failed_export_keeps_the_older_card() {
    let folder = tempfile::tempdir().unwrap();
    let card = folder.path().join("Mira.png");
    write(&card, b"first".to_vec()).await.unwrap();
    // A folder has the name of the temporary file, so that writing fails.
    std::fs::create_dir(folder.path().join("Mira.png.part")).unwrap();
    write(&card, b"second".to_vec()).await.unwrap_err();
    assert_eq!(std::fs::read(&card).unwrap(), b"first");
}

#[test]
fn export_of_many_does_not_overwrite_files() {
    let folder = tempfile::tempdir().unwrap();
    for expected in ["Mira.png", "Mira-2.png", "Mira-3.png"] {
        let place = free_path(folder.path(), "Mira.png");
        assert_eq!(place, folder.path().join(expected));
        std::fs::write(place, b"card").unwrap();
    }
}

#[tokio::test]
async fn dialog_without_an_answer_is_cancelled() {
    assert_eq!(answer::<u8>(drop).await, None);
}
