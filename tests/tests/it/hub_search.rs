//! Search of a scripted hub, file lists, and the fit of a file before its download.

use engine::api::{ApiError, Fits, ProviderClass};
use tests::headless::Headless;
use tests::scripted_hub::{ScriptedFile, ScriptedHub, small_model};

fn file(name: &str, bytes: usize) -> ScriptedFile {
    ScriptedFile::new(small_model(name, bytes))
}

fn class(error: &ApiError) -> Option<(ProviderClass, &str)> {
    match error {
        ApiError::Provider { class, hint, .. } if !hint.is_empty() => {
            Some((*class, error_text(error)))
        }
        _ => None,
    }
}

fn error_text(error: &ApiError) -> &str {
    match error {
        ApiError::Provider { message, .. } => message,
        _ => "",
    }
}

#[tokio::test]
async fn search_shows_licence_and_further_pages() {
    let hub = ScriptedHub::start();
    for repo in ["a/Qwen3-4B-GGUF", "b/Qwen3-8B-GGUF", "c/Mistral-7B-GGUF"] {
        hub.put(repo, "model-Q4_K_M.gguf", file(repo, 1_000));
    }
    hub.gate("b/Qwen3-8B-GGUF");
    let app = Headless::with_hub(&hub).await;
    let first = app.engine.search_hub("qwen3".into(), None).await.unwrap();
    let model = &first.models[0];
    assert_eq!(
        (model.repo.as_str(), model.licence.as_deref()),
        ("a/Qwen3-4B-GGUF", Some("apache-2.0"))
    );
    assert_eq!(
        (model.gated, model.languages.as_slice()),
        (false, ["en".to_owned()].as_slice())
    );
    assert_eq!(model.updated.as_deref(), Some("2026-07-14"));
    let second = app
        .engine
        .search_hub("qwen3".into(), first.next)
        .await
        .unwrap();
    assert!(second.models[0].gated && second.next.is_none());
    let exact = app
        .engine
        .search_hub(
            "https://hub.example/c/Mistral-7B-GGUF/tree/main".into(),
            None,
        )
        .await
        .unwrap();
    assert_eq!(exact.models[0].repo, "c/Mistral-7B-GGUF");
    assert!(matches!(
        app.engine.search_hub("  ".into(), None).await,
        Err(ApiError::BadInput { .. })
    ));
}

#[tokio::test]
async fn files_show_size_quantisation_and_checksum() {
    let hub = ScriptedHub::start();
    let repo = "a/Vision-GGUF";
    for (path, bytes) in [
        ("Vision-Q8_0.gguf", 8_000),
        ("Vision-Q4_K_M.gguf", 5_000),
        ("mmproj-Vision-F16.gguf", 2_000),
        ("Vision-lora.gguf", 1_000),
        ("Vision.imatrix.gguf", 1_000),
        ("Half-00001-of-00002.gguf", 1_000),
        ("README.md", 10),
    ] {
        hub.put(repo, path, file(path, bytes));
    }
    let app = Headless::with_hub(&hub).await;
    let listed = app.engine.hub_files(repo.into()).await.unwrap();
    let shown: Vec<_> = listed
        .files
        .iter()
        .map(|file| (file.path.as_str(), file.quantisation.as_deref()))
        .collect();
    assert_eq!(
        shown,
        [
            ("Vision-Q4_K_M.gguf", Some("Q4_K_M")),
            ("Vision-Q8_0.gguf", Some("Q8_0"))
        ]
    );
    assert_eq!(listed.projectors[0].path, "mmproj-Vision-F16.gguf");
    assert!(
        listed
            .files
            .iter()
            .all(|file| file.sha256.as_ref().is_some_and(|hash| hash.len() == 64))
    );
    assert_eq!(
        listed.recommended.as_deref(),
        Some("Vision-Q8_0.gguf"),
        "a small model loses much by quantisation"
    );
}

#[tokio::test]
async fn fit_is_measured_with_a_part_of_the_file() {
    let hub = ScriptedHub::start();
    let large = ScriptedFile {
        stated_bytes: 4_000_000_000,
        ..file("Large", 3_000_000)
    };
    hub.put("a/Large-GGUF", "Large-Q4_K_M.gguf", large);
    hub.put(
        "a/Page-GGUF",
        "Page-Q4_K_M.gguf",
        ScriptedFile::new(b"<!DOCTYPE html><p>moved".to_vec()),
    );
    hub.put(
        "a/Cut-GGUF",
        "Cut-Q4_K_M.gguf",
        ScriptedFile::new(small_model("Cut", 100)[..200].to_vec()),
    );
    let app = Headless::with_hub(&hub).await;
    let fit =
        |repo: &str, path: &str, context| app.engine.hub_fit(repo.into(), path.into(), context);
    let report = fit("a/Large-GGUF", "Large-Q4_K_M.gguf", None)
        .await
        .unwrap();
    assert_eq!(
        (report.weights, report.context, report.has_template),
        (4_000_000_000, 8192, true)
    );
    assert_ne!(report.fits, Fits::No);
    // The header is known now.
    let asked = hub.requests().len();
    let smaller = fit("a/Large-GGUF", "Large-Q4_K_M.gguf", Some(2048))
        .await
        .unwrap();
    assert!(smaller.cache < report.cache && hub.requests().len() == asked);
    assert!(
        hub.requests()
            .iter()
            .any(|head| head.contains("range: bytes=0-1048575"))
    );
    for (repo, path) in [
        ("a/Page-GGUF", "Page-Q4_K_M.gguf"),
        ("a/Cut-GGUF", "Cut-Q4_K_M.gguf"),
    ] {
        let refused = fit(repo, path, None).await.unwrap_err();
        assert!(matches!(refused, ApiError::BadInput { .. }), "{refused:?}");
    }
    assert!(matches!(
        fit("a/Large-GGUF", "other.gguf", None).await,
        Err(ApiError::NotFound { .. })
    ));
}

#[tokio::test]
async fn faults_of_the_hub_are_told_apart() {
    let hub = ScriptedHub::start();
    let app = Headless::with_hub(&hub).await;
    for (status, headers, body, expected, words) in [
        (
            200,
            "",
            "<!DOCTYPE html><p>Please log in",
            ProviderClass::Malformed,
            "like a model hub",
        ),
        (
            200,
            "",
            "{\"error\": 1}",
            ProviderClass::Malformed,
            "like a model hub",
        ),
        (401, "", "{}", ProviderClass::Unauthorized, "access token"),
        (
            403,
            "",
            "{}",
            ProviderClass::Unauthorized,
            "accept their terms",
        ),
        (404, "", "", ProviderClass::NotFound, "no such model"),
        (
            429,
            "Retry-After: 17",
            "{}",
            ProviderClass::RateLimited,
            "pause of 17 s",
        ),
        (503, "", "busy", ProviderClass::Server, "status 503"),
        (418, "", "", ProviderClass::BadRequest, "status 418"),
        (
            302,
            "Location: http://192.0.2.1/login",
            "",
            ProviderClass::Malformed,
            "like a model hub",
        ),
    ] {
        hub.next_answer(status, headers, body);
        let error = app
            .engine
            .search_hub("qwen".into(), None)
            .await
            .unwrap_err();
        let (found, text) = class(&error).unwrap_or_else(|| panic!("{error:?}"));
        assert_eq!(found, expected, "{status}");
        assert!(text.contains(words), "{status}: {text}");
    }
    hub.next_answer(200, "", "[".to_owned() + &"0,".repeat(5 << 20));
    let error = app
        .engine
        .search_hub("qwen".into(), None)
        .await
        .unwrap_err();
    assert!(error_text(&error).contains("too large"), "{error:?}");
    let unknown = app
        .engine
        .hub_files("no/body-GGUF".into())
        .await
        .unwrap_err();
    assert_eq!(
        class(&unknown).map(|(class, _)| class),
        Some(ProviderClass::NotFound)
    );
    assert!(matches!(
        app.engine.hub_files("../etc".into()).await,
        Err(ApiError::BadInput { .. })
    ));
}

#[tokio::test]
async fn odd_lists_of_the_hub_do_no_harm() {
    let hub = ScriptedHub::start();
    let app = Headless::with_hub(&hub).await;
    hub.next_answer(
        200,
        "Link: <http://192.0.2.1/steal?cursor=>; rel=\"next\"",
        r#"[{"id": "../../etc/passwd"}, {"id": 7}, {"id": "a/b", "tags": "x", "downloads": "many", "gated": "auto",
            "cardData": {"license": ["mit"]}, "lastModified": "soon"}]"#,
    );
    let found = app.engine.search_hub("odd".into(), None).await.unwrap();
    assert_eq!((found.models.len(), found.next), (1, None));
    let model = &found.models[0];
    assert_eq!(
        (model.downloads, model.gated, model.licence.as_deref()),
        (0, true, Some("mit"))
    );
    assert_eq!(model.updated, None);
}

#[tokio::test]
async fn hub_that_is_down_is_named() {
    let app = Headless::with_environment(&[("INGLENOOK_HUB", "http://127.0.0.1:9")]).await;
    let error = app
        .engine
        .search_hub("qwen".into(), None)
        .await
        .unwrap_err();
    assert_eq!(
        class(&error),
        Some((ProviderClass::Unreachable, "127.0.0.1 cannot be reached."))
    );
    assert!(app.engine.hub_settings().await.unwrap().address_is_fixed);
    for address in [
        "http://hub.example",
        "ftp://hub.example",
        "hub",
        "https://user:word@hub.example",
    ] {
        let refused = app.engine.set_hub_address(address.into()).await;
        assert!(
            matches!(refused, Err(ApiError::BadInput { .. })),
            "{address}"
        );
    }
}

#[tokio::test]
async fn hint_at_a_larger_model_can_be_dismissed() {
    let app = Headless::new().await;
    assert!(
        !app.engine.hints_at_larger_model().await.unwrap(),
        "there is no model at all"
    );
    let path = app.dir.path().join("tiny.gguf");
    std::fs::write(&path, small_model("Tiny", 1_000)).unwrap();
    app.engine.add_model(path).await.unwrap();
    assert!(app.engine.hints_at_larger_model().await.unwrap());
    app.engine.dismiss_larger_model_hint().await.unwrap();
    assert!(
        !app.restart()
            .await
            .engine
            .hints_at_larger_model()
            .await
            .unwrap()
    );
}
