use protection::DataKey;
use tempfile::TempDir;

use super::*;

fn saved_caches(budget: u64) -> (TempDir, SavedCaches) {
    let dir = tempfile::tempdir().unwrap();
    let saved = SavedCaches {
        dir: dir.path().to_owned(),
        budget,
        keys: None,
    };
    (dir, saved)
}

fn keys() -> Option<Arc<CacheKeys>> {
    let key = DataKey::generate().unwrap();
    Some(Arc::new(CacheKeys::new(key.cache_key(), key.name_key())))
}

/// Writes a file for each part of the cache of `chat`, and a file that a worker is reading. Returns
/// their names.
fn put_caches(saved: &SavedCaches, folder: &str, chat: &str) -> Vec<String> {
    let paths = saved.paths_in(folder, &[chat]);
    let reading = paths.iter().map(|path| path.with_extension(READING));
    let paths = paths.iter().cloned().chain(reading);
    let mut names: Vec<_> = paths
        .map(|path| path.file_name().unwrap().to_str().unwrap().to_owned())
        .collect();
    for name in &names {
        put(saved, folder, name, 0);
    }
    names.sort();
    names
}

/// Writes a file of 100 bytes that was last used `age` seconds ago.
fn put(saved: &SavedCaches, folder: &str, name: &str, age: u64) {
    fs::create_dir_all(saved.dir.join(folder)).unwrap();
    let path = saved.dir.join(folder).join(name);
    fs::write(&path, [0; 100]).unwrap();
    let used = SystemTime::now() - Duration::from_secs(age);
    File::options()
        .write(true)
        .open(path)
        .unwrap()
        .set_modified(used)
        .unwrap();
}

fn names(saved: &SavedCaches) -> Vec<String> {
    let mut names: Vec<_> = saved
        .all()
        .iter()
        .map(|file| {
            file.path
                .strip_prefix(&saved.dir)
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned()
        })
        .collect();
    names.sort();
    names
}

#[test]
fn tidy_deletes_unfinished_and_oldest_caches() {
    let (_dir, saved) = saved_caches(250);
    put(&saved, "small", "a.kv", 30);
    put(&saved, "small", "b.kv", 10);
    put(&saved, "large", "a.kv", 20);
    put(&saved, "large", "b.part", 90);
    put(&saved, "large", "d.part", 0);
    put(&saved, "gone", "c.loading", 90);
    put(&saved, "not ours", "notes.txt", 0);
    saved.enforce_budget();
    assert_eq!(
        names(&saved),
        [
            "large/a.kv",
            "large/d.part",
            "not ours/notes.txt",
            "small/b.kv"
        ]
    );
    assert!(!saved.dir.join("gone").exists());
}

#[test]
fn forget_deletes_a_chat_for_every_model() {
    let (_dir, saved) = saved_caches(1_000);
    let [ada, bob] = ["ada", "bob"].map(|chat| Part::Whole.file_name(chat));
    for folder in ["small", "large"] {
        put(&saved, folder, &ada, 0);
        put(&saved, folder, &bob, 0);
    }
    put(&saved, "large", &ada.replace(".kv", ".loading"), 0);
    put(&saved, "large", &Part::Earlier.file_name("ada"), 0);
    assert!(saved.forget(["ada"]));
    assert_eq!(
        names(&saved),
        [format!("large/{bob}"), format!("small/{bob}")]
    );
    put(&saved, "small", &ada, 0);
    saved.forget_all_but(["ada", "cleo"]);
    assert_eq!(names(&saved), [format!("small/{ada}")]);
}

#[test]
fn encrypted_names_hide_the_chat_and_the_model() {
    let (_dir, mut saved) = saved_caches(1_000);
    saved.keys = keys();
    let small = put_caches(&saved, "small", "ada");
    assert_eq!(small.len(), 4);
    for name in &small {
        let stem = name.split('.').next().unwrap();
        assert_eq!(stem.len(), 64, "{name}");
        assert!(!name.contains("earlier"), "{name}");
    }
    let large = put_caches(&saved, "large", "ada");
    assert!(large.iter().all(|name| !small.contains(name)));
    saved.keys = keys();
    let other = put_caches(&saved, "small", "ada");
    assert!(other.iter().all(|name| !small.contains(name)));
}

#[test]
fn forget_finds_encrypted_caches_of_every_model() {
    let (_dir, mut saved) = saved_caches(1_000);
    saved.keys = keys();
    for folder in ["small", "large"] {
        put_caches(&saved, folder, "ada");
        put_caches(&saved, folder, "bob");
    }
    assert!(saved.forget(["ada", "never seen"]));
    assert_eq!(names(&saved).len(), 2 * 4, "bob's");
    put_caches(&saved, "small", "ada");
    assert!(saved.forget(["bob"]));
    let of_ada = names(&saved);
    assert_eq!(of_ada.len(), 4);
    put_caches(&saved, "large", "bob");
    saved.delete_unfinished();
    saved.forget_all_but(["ada", "cleo"]);
    let whole: Vec<_> = of_ada
        .into_iter()
        .filter(|name| name.ends_with(ENDING))
        .collect();
    assert_eq!(names(&saved), whole);
}

#[test]
fn forget_all_but_deletes_caches_of_other_keys() {
    let (_dir, mut saved) = saved_caches(1_000);
    saved.keys = keys();
    put_caches(&saved, "small", "ada");
    saved.delete_unfinished();
    saved.keys = keys();
    saved.forget_all_but(["ada"]);
    assert!(names(&saved).is_empty());
}

#[test]
fn caches_of_the_other_kind_are_deleted() {
    let (_dir, mut saved) = saved_caches(1_000);
    put(&saved, "small", "notes.txt", 0);
    let plain = put_caches(&saved, "small", "ada");
    saved.keys = keys();
    let encrypted = put_caches(&saved, "small", "ada");
    assert!(saved.delete_unusable());
    let left = |of: &[String]| {
        let mut left: Vec<_> = of.iter().map(|name| format!("small/{name}")).collect();
        left.push("small/notes.txt".into());
        left.sort();
        left
    };
    assert_eq!(names(&saved), left(&encrypted));
    saved.keys = None;
    put_caches(&saved, "small", "ada");
    assert!(saved.delete_unusable());
    assert_eq!(names(&saved), left(&plain));
}

#[test]
fn fingerprint_depends_on_model_context_and_worker() {
    let (_dir, saved) = saved_caches(1_000);
    let write = |name: &str, bytes: &[u8]| {
        let path = saved.dir.join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let (model, worker) = (write("model", b"weights"), write("worker", b"code"));
    let place = |model: &Path, context, worker: &Path| {
        saved.folder_for(model, context, "", worker).unwrap().folder
    };
    let first = place(&model, 2048, &worker);
    assert_eq!(place(&model, 2048, &worker), first);
    assert!(Path::new(&first).starts_with(&saved.dir));
    assert_ne!(place(&model, 4096, &worker), first);
    assert_ne!(
        saved
            .folder_for(&model, 2048, "Q8_0", &worker)
            .unwrap()
            .folder,
        first
    );
    assert_ne!(
        place(&model, 2048, &write("other worker", b"newer code")),
        first
    );
    let times = fs::metadata(&model).unwrap().modified().unwrap();
    let twin = write("twin", b"WEIGHTS");
    File::options()
        .write(true)
        .open(&twin)
        .unwrap()
        .set_modified(times)
        .unwrap();
    assert_ne!(
        place(&twin, 2048, &worker),
        first,
        "of the same size and age"
    );
    let moved = saved.dir.join("moved");
    fs::rename(&model, &moved).unwrap();
    assert_eq!(place(&moved, 2048, &worker), first);
    assert!(saved.folder_for(&model, 2048, "", &worker).is_none());
}
