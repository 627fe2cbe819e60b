//! Downloads from a scripted hub: from a suggestion to a model in the library, and everything that
//! can go wrong.

use std::fs;
use std::path::{Path, PathBuf};

use domain::ModelId;
use engine::Events;
use engine::api::{ApiError, Download, DownloadState, Event, Fits};
use tests::headless::Headless;
use tests::scripted_hub::{Quirk, ScriptedFile, ScriptedHub, model_part, small_model};

const REPO: &str = "Qwen/Qwen3-4B-GGUF";
const FILE: &str = "Qwen3-4B-Q4_K_M.gguf";
/// Size of the tensor in the scripted model.
const SIZE: usize = 400_000;

fn hub() -> ScriptedHub {
    let hub = ScriptedHub::start();
    hub.put(REPO, FILE, ScriptedFile::new(small_model("Qwen3 4B", SIZE)));
    hub
}

/// Waits until a download is in a state that `is_wanted`.
async fn reached(events: &mut Events, id: &str, is_wanted: impl Fn(&Download) -> bool) -> Download {
    loop {
        match events.next().await.expect("the engine lives") {
            Event::Downloading { download } if download.id == id && is_wanted(&download) => {
                return download;
            }
            Event::Downloading { download }
                if download.id == id && download.state == DownloadState::Failed =>
            {
                panic!("{download:?}")
            }
            Event::DownloadEnded { id: of, .. } if of == id => panic!("it has ended"),
            _ => {}
        }
    }
}

/// Waits for the end and returns the id of the model.
async fn completed(events: &mut Events, id: &str) -> ModelId {
    loop {
        match events.next().await.expect("the engine lives") {
            Event::DownloadEnded { id: of, model, .. } if of == id => {
                return model.expect("a model").parse().expect("its id");
            }
            Event::Downloading { download }
                if download.id == id && download.state == DownloadState::Failed =>
            {
                panic!("{download:?}")
            }
            _ => {}
        }
    }
}

async fn failed(events: &mut Events, id: &str) -> Download {
    loop {
        match events.next().await.expect("the engine lives") {
            Event::Downloading { download }
                if download.id == id && download.state == DownloadState::Failed =>
            {
                return download;
            }
            Event::DownloadEnded { id: of, .. } if of == id => panic!("it has ended"),
            _ => {}
        }
    }
}

fn model_folder(app: &Headless) -> PathBuf {
    app.dir.path().join("models")
}

/// All files below the folder of models, by name.
fn files(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path().is_dir() {
            true => names.extend(files(&entry.path())),
            false => names.push(entry.file_name().to_string_lossy().into_owned()),
        }
    }
    names
}

async fn start(app: &Headless, repo: &str, path: &str) -> Download {
    app.engine
        .start_download(repo.into(), path.into(), None, false)
        .await
        .unwrap()
}

#[tokio::test]
async fn newcomer_gets_a_model_despite_interruptions() {
    let hub = hub();
    let app = Headless::with_hub(&hub).await;
    let suggested = app.engine.suggested_models().await.unwrap();
    let qwen = suggested.iter().find(|model| model.repo == REPO).unwrap();
    assert!(!qwen.licence.is_empty() && qwen.bytes > 1_000_000_000 && !qwen.installed);
    let repository = app.engine.hub_files(REPO.into()).await.unwrap();
    assert_eq!(repository.recommended.as_deref(), Some(FILE));
    let fit = app
        .engine
        .hub_fit(REPO.into(), FILE.into(), Some(4096))
        .await
        .unwrap();
    assert_eq!(
        (fit.fits, fit.context, fit.trained_context),
        (Fits::Yes, 4096, 8192)
    );
    assert!(
        fit.cache > 0 && fit.needed >= fit.weights + fit.cache && fit.largest_context == Some(8192),
        "{fit:?}"
    );

    // The connection breaks once, then the app ends in the middle.
    hub.next([Quirk::Cut(100_000), Quirk::Stalls(150_000)]);
    let mut events = app.engine.subscribe();
    let started = app
        .engine
        .download_suggestion(qwen.id.clone())
        .await
        .unwrap();
    let waiting = reached(&mut events, &started.id, |download| {
        download.state == DownloadState::Waiting
    })
    .await;
    assert!(
        waiting.done >= 100_000 && !waiting.reason.is_empty() && waiting.retry_in.is_some(),
        "{waiting:?}"
    );
    reached(&mut events, &started.id, |download| download.done > 200_000).await;
    let app = app.restart().await;
    let stored = app.engine.list_downloads().await.unwrap().remove(0);
    assert!(
        stored.done > 200_000 && stored.state == DownloadState::Paused,
        "{stored:?}"
    );

    let mut events = app.engine.subscribe();
    app.engine.resume_interrupted_downloads();
    let id = completed(&mut events, &started.id).await;
    let model = app
        .engine
        .list_models()
        .await
        .unwrap()
        .into_iter()
        .find(|model| model.id == id)
        .unwrap();
    assert!(
        model.default && !model.missing && model.path.ends_with(FILE),
        "{model:?}"
    );
    assert_eq!(
        fs::read(&model.path).unwrap(),
        small_model("Qwen3 4B", SIZE)
    );
    assert_eq!(files(&model_folder(&app)), [FILE], "no part is left");
    assert!(app.engine.list_downloads().await.unwrap().is_empty());
    let suggested = app.engine.suggested_models().await.unwrap();
    let installed: Vec<_> = suggested
        .iter()
        .filter(|model| model.installed)
        .map(|model| model.repo.as_str())
        .collect();
    assert_eq!(installed, [REPO]);
    let ranges: Vec<_> = hub
        .requests()
        .into_iter()
        .filter(|head| head.contains("range: bytes=1") || head.contains("range: bytes=2"))
        .collect();
    assert_eq!(ranges.len(), 2, "{ranges:#?}");
    assert!(
        !ranges.iter().any(|head| head.contains("if-range:")),
        "the checksum is known: {ranges:#?}"
    );
}

#[tokio::test]
async fn paused_download_resumes_and_cancel_deletes() {
    let hub = hub();
    let app = Headless::with_hub(&hub).await;
    let mut events = app.engine.subscribe();
    hub.next([Quirk::Stalls(120_000), Quirk::Stalls(50_000)]);
    let started = start(&app, REPO, FILE).await;
    reached(&mut events, &started.id, |download| {
        download.done >= 120_000
    })
    .await;
    let paused = app.engine.pause_download(started.id.clone()).await.unwrap();
    assert_eq!(
        (paused.state, paused.done),
        (DownloadState::Paused, 120_000)
    );
    app.engine
        .resume_download(started.id.clone())
        .await
        .unwrap();
    reached(&mut events, &started.id, |download| {
        download.done >= 170_000
    })
    .await;
    // The same download is not started twice.
    assert_eq!(start(&app, REPO, FILE).await.id, started.id);
    app.engine
        .cancel_download(started.id.clone())
        .await
        .unwrap();
    assert!(
        files(&model_folder(&app)).is_empty()
            && app.engine.list_downloads().await.unwrap().is_empty()
    );
    assert!(matches!(
        app.engine.resume_download(started.id).await,
        Err(ApiError::NotFound { .. })
    ));
    assert!(
        app.restart()
            .await
            .engine
            .list_downloads()
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn hub_that_lies_loses_the_file() {
    let hub = ScriptedHub::start();
    let honest = || ScriptedFile::new(small_model("Liar", 50_000));
    let cut = small_model("Cut", 50_000)[..30_000].to_vec();
    hub.put(
        "a/hash-GGUF",
        "a-Q8_0.gguf",
        ScriptedFile {
            stated_sha256: "0".repeat(64),
            ..honest()
        },
    );
    hub.put(
        "a/large-GGUF",
        "a-Q8_0.gguf",
        ScriptedFile {
            stated_bytes: 60_000,
            ..honest()
        },
    );
    hub.put(
        "a/small-GGUF",
        "a-Q8_0.gguf",
        ScriptedFile {
            stated_bytes: 40_000,
            ..honest()
        },
    );
    hub.put("a/cut-GGUF", "a-Q8_0.gguf", ScriptedFile::new(cut));
    hub.put(
        "a/page-GGUF",
        "a-Q8_0.gguf",
        ScriptedFile::new(b"<!DOCTYPE html><p>Not a model".to_vec()),
    );
    let app = Headless::with_hub(&hub).await;
    let mut events = app.engine.subscribe();
    for (name, reason) in [
        ("hash", "another checksum"),
        ("large", "states 60000 bytes"),
        ("small", "states 40000 bytes"),
        ("cut", "is incomplete"),
        ("page", "is a web page"),
    ] {
        let started = start(&app, &format!("a/{name}-GGUF"), "a-Q8_0.gguf").await;
        let end = failed(&mut events, &started.id).await;
        assert!(
            end.reason.contains(reason) && !end.hint.is_empty(),
            "{name}: {end:?}"
        );
        assert!(
            files(&model_folder(&app)).is_empty(),
            "{name}: {:?}",
            files(&model_folder(&app))
        );
    }
    assert!(app.engine.list_models().await.unwrap().is_empty());
}

#[tokio::test]
async fn refusals_of_the_hub_are_explained() {
    let hub = hub();
    let app = Headless::with_hub(&hub).await;
    let mut events = app.engine.subscribe();
    for (quirk, reason) in [
        (Quirk::WebPage, "states"),
        (
            Quirk::Status(404, "X-Error-Code: EntryNotFound"),
            "no such model",
        ),
        (Quirk::Status(403, ""), "accept their terms"),
        (
            Quirk::Redirect("http://192.0.2.1/evil.gguf".into()),
            "like a model hub",
        ),
        (Quirk::Status(429, "Retry-After: 9000"), "too many requests"),
    ] {
        hub.next([quirk.clone()]);
        let started = start(&app, REPO, FILE).await;
        let end = failed(&mut events, &started.id).await;
        assert!(
            end.reason.contains(reason) && !end.hint.is_empty(),
            "{quirk:?}: {end:?}"
        );
    }
    // These pass by themselves.
    hub.next([
        Quirk::Status(429, "Retry-After: 0"),
        Quirk::Status(503, ""),
        Quirk::Cut(90_000),
        Quirk::IgnoresRange,
    ]);
    let started = start(&app, REPO, FILE).await;
    completed(&mut events, &started.id).await;
    assert_eq!(files(&model_folder(&app)), [FILE]);
}

#[tokio::test]
async fn expired_link_is_asked_for_again() {
    let hub = hub();
    let app = Headless::with_hub(&hub).await;
    let mut events = app.engine.subscribe();
    hub.next([Quirk::Cut(100_000), Quirk::Status(403, "")]);
    let started = start(&app, REPO, FILE).await;
    let waits = |download: &Download| download.reason.contains("link");
    assert!(reached(&mut events, &started.id, waits).await.done >= 100_000);
    completed(&mut events, &started.id).await;
    assert_eq!(files(&model_folder(&app)), [FILE]);
}

#[tokio::test]
async fn suggestion_without_its_file_downloads_nothing() {
    let hub = ScriptedHub::start();
    hub.put(
        REPO,
        "Qwen3-4B-Q8_0.gguf",
        ScriptedFile::new(small_model("Qwen3 4B", SIZE)),
    );
    let app = Headless::with_hub(&hub).await;
    let suggested = app.engine.suggested_models().await.unwrap();
    let qwen = suggested.iter().find(|model| model.repo == REPO).unwrap();
    let Err(ApiError::BadInput { message, .. }) =
        app.engine.download_suggestion(qwen.id.clone()).await
    else {
        panic!("another file was taken")
    };
    assert!(
        message.contains(&qwen.quantisation) && message.contains("Q8_0"),
        "{message}"
    );
    assert!(app.engine.list_downloads().await.unwrap().is_empty());
}

#[tokio::test]
async fn files_of_one_name_have_their_own_places() {
    let hub = ScriptedHub::start();
    for (folder, size) in [("Q4_0", SIZE), ("Q8_0", 2 * SIZE)] {
        hub.put(
            REPO,
            &format!("{folder}/model.gguf"),
            ScriptedFile::new(small_model(folder, size)),
        );
    }
    let app = Headless::with_hub(&hub).await;
    let mut events = app.engine.subscribe();
    for folder in ["Q4_0", "Q8_0"] {
        let listed = app
            .engine
            .hub_files(format!("hf.co/{REPO}:{folder}"))
            .await
            .unwrap();
        let path = listed.recommended.unwrap();
        assert_eq!(path, format!("{folder}/model.gguf"));
        let started = start(&app, REPO, &path).await;
        completed(&mut events, &started.id).await;
    }
    let mut names = files(&model_folder(&app));
    names.sort_unstable();
    assert_eq!(names, ["Q4_0-model.gguf", "Q8_0-model.gguf"]);
    let missing = app
        .engine
        .hub_files(format!("{REPO}:Q2_K"))
        .await
        .unwrap_err();
    assert!(missing.to_string().contains("Q4_0"), "{missing}");
}

#[tokio::test]
async fn redirect_to_the_file_is_followed() {
    let hub = hub();
    hub.put(
        "cdn/files",
        "content.gguf",
        ScriptedFile::new(small_model("Qwen3 4B", SIZE)),
    );
    let app = Headless::with_hub(&hub).await;
    let mut events = app.engine.subscribe();
    hub.next([Quirk::Redirect(format!(
        "{}/cdn/files/resolve/main/content.gguf",
        hub.address
    ))]);
    let started = start(&app, REPO, FILE).await;
    completed(&mut events, &started.id).await;
}

#[tokio::test]
async fn gated_model_loads_with_a_token() {
    let hub = hub();
    hub.gate(REPO);
    let app = Headless::new().await;
    let settings = app
        .engine
        .set_hub_address(hub.address.clone())
        .await
        .unwrap();
    assert!(!settings.has_token && settings.address == hub.address);
    let mut events = app.engine.subscribe();
    assert!(app.engine.hub_files(REPO.into()).await.unwrap().model.gated);
    let started = start(&app, REPO, FILE).await;
    let end = failed(&mut events, &started.id).await;
    assert!(
        end.reason.contains("accept their terms") && end.hint.contains("token"),
        "{end:?}"
    );
    assert!(app.engine.set_hub_token("hf_a token".into()).await.is_err());
    assert!(
        app.engine
            .set_hub_token("hf_secret".into())
            .await
            .unwrap()
            .has_token
    );
    app.engine
        .resume_download(started.id.clone())
        .await
        .unwrap();
    completed(&mut events, &started.id).await;
    assert!(
        hub.requests()
            .iter()
            .any(|head| head.contains("authorization: bearer hf_secret"))
    );
    // Another hub never sees the token.
    let other = self::hub();
    assert!(
        !app.engine
            .set_hub_address(other.address.clone())
            .await
            .unwrap()
            .has_token
    );
    app.engine.hub_files(REPO.into()).await.unwrap();
    assert!(
        !other
            .requests()
            .iter()
            .any(|head| head.contains("authorization"))
    );
}

#[tokio::test]
async fn split_model_is_one_download() {
    let hub = ScriptedHub::start();
    for number in [1, 2, 3] {
        let path = format!("Q8_0/Big-Q8_0-{number:05}-of-00003.gguf");
        hub.put(
            "a/Big-GGUF",
            &path,
            ScriptedFile::new(model_part("Big", 60_000, Some((number, 3)))),
        );
    }
    let app = Headless::with_hub(&hub).await;
    let mut events = app.engine.subscribe();
    let repository = app.engine.hub_files("a/Big-GGUF".into()).await.unwrap();
    assert_eq!((repository.files.len(), repository.files[0].parts), (1, 3));
    hub.next([Quirk::Cut(40_000)]);
    let started = start(&app, "a/Big-GGUF", &repository.files[0].path).await;
    assert!(started.total.is_some_and(|total| total > 180_000));
    let id = completed(&mut events, &started.id).await;
    let models = app.engine.list_models().await.unwrap();
    assert_eq!(
        (models.len(), models[0].name.as_str(), models[0].id),
        (1, "Big-Q8_0", id)
    );
    assert_eq!(Some(models[0].bytes), started.total);
    let checksum = app
        .engine
        .model_checksum(models[0].path.clone().into())
        .await
        .unwrap();
    assert_eq!(checksum, models[0].sha256);
}

#[tokio::test]
async fn download_that_does_not_fit_leaves_nothing() {
    let hub = ScriptedHub::start();
    let huge = ScriptedFile {
        stated_bytes: 1 << 50,
        ..ScriptedFile::new(small_model("Huge", 1_000))
    };
    hub.put("a/Huge-GGUF", "Huge-Q8_0.gguf", huge);
    let app = Headless::with_hub(&hub).await;
    let mut events = app.engine.subscribe();
    let started = start(&app, "a/Huge-GGUF", "Huge-Q8_0.gguf").await;
    let end = failed(&mut events, &started.id).await;
    assert!(
        end.reason.contains("1125899.9 GB") && end.reason.contains("free"),
        "{end:?}"
    );
    assert!(files(&model_folder(&app)).is_empty());
}

#[cfg(target_os = "linux")]
#[cfg(unix)]
#[tokio::test]
async fn nothing_is_written_through_a_link() {
    let hub = hub();
    for number in [1, 2] {
        let path = format!("Big-Q8_0-{number:05}-of-00002.gguf");
        hub.put(
            "a/Big-GGUF",
            &path,
            ScriptedFile::new(model_part("Big", 60_000, Some((number, 2)))),
        );
    }
    let app = Headless::with_hub(&hub).await;
    let mut events = app.engine.subscribe();
    let other = app.dir.path().join("other.txt");
    for (repo, file, linked) in [
        (REPO, FILE, FILE),
        (
            "a/Big-GGUF",
            "Big-Q8_0-00001-of-00002.gguf",
            "Big-Q8_0-00002-of-00002.gguf",
        ),
    ] {
        fs::write(&other, "The words of another program.").unwrap();
        let folder = model_folder(&app).join(repo);
        fs::create_dir_all(&folder).unwrap();
        for ending in ["part", "tag"] {
            std::os::unix::fs::symlink(&other, folder.join(linked).with_added_extension(ending))
                .unwrap();
        }
        let started = start(&app, repo, file).await;
        let id = completed(&mut events, &started.id).await;
        assert_eq!(
            fs::read_to_string(&other).unwrap(),
            "The words of another program."
        );
        app.engine.delete_model_file(id).await.unwrap();
    }
}

#[tokio::test]
async fn names_of_the_hub_stay_in_the_model_folder() {
    let hub = ScriptedHub::start();
    hub.put(
        "a/Odd-GGUF",
        "../../../evil-Q8_0.gguf",
        ScriptedFile::new(small_model("Evil", 1_000)),
    );
    hub.put(
        "a/Odd-GGUF",
        "sub/con.gguf",
        ScriptedFile::new(small_model("Con", 1_000)),
    );
    let app = Headless::with_hub(&hub).await;
    let mut events = app.engine.subscribe();
    let listed = app
        .engine
        .hub_files("a/Odd-GGUF".into())
        .await
        .unwrap()
        .files;
    assert_eq!(
        listed
            .iter()
            .map(|file| file.path.as_str())
            .collect::<Vec<_>>(),
        ["sub/con.gguf"]
    );
    let refused = app
        .engine
        .start_download(
            "a/Odd-GGUF".into(),
            "../../../evil-Q8_0.gguf".into(),
            None,
            false,
        )
        .await;
    assert!(matches!(refused, Err(ApiError::NotFound { .. })));
    let started = start(&app, "a/Odd-GGUF", "sub/con.gguf").await;
    completed(&mut events, &started.id).await;
    assert!(
        model_folder(&app)
            .join("a/Odd-GGUF/model-con.gguf")
            .exists()
    );
}

#[tokio::test]
async fn file_of_the_user_is_never_replaced() {
    let hub = hub();
    let app = Headless::with_hub(&hub).await;
    let mut events = app.engine.subscribe();
    let own = model_folder(&app).join(REPO).join(FILE);
    fs::create_dir_all(own.parent().unwrap()).unwrap();
    fs::write(&own, "mine").unwrap();
    let started = start(&app, REPO, FILE).await;
    let end = failed(&mut events, &started.id).await;
    assert!(end.reason.contains("already exists"), "{end:?}");
    app.engine.cancel_download(started.id).await.unwrap();
    assert_eq!(fs::read_to_string(own).unwrap(), "mine");
}

#[tokio::test]
async fn only_downloaded_files_can_be_deleted() {
    let hub = hub();
    let app = Headless::with_hub(&hub).await;
    let mut events = app.engine.subscribe();
    let started = start(&app, REPO, FILE).await;
    let downloaded = completed(&mut events, &started.id).await;
    let own = app.dir.path().join("own.gguf");
    fs::write(&own, small_model("Own", 1_000)).unwrap();
    let mine = app.engine.add_model(own.clone()).await.unwrap();
    assert!(matches!(
        app.engine.delete_model_file(mine.id).await,
        Err(ApiError::BadInput { .. })
    ));
    app.engine.delete_model_file(downloaded).await.unwrap();
    let left: Vec<_> = app
        .engine
        .list_models()
        .await
        .unwrap()
        .into_iter()
        .map(|model| model.id)
        .collect();
    assert_eq!((left, own.exists()), (vec![mine.id], true));
    assert!(files(&model_folder(&app)).is_empty());
}
