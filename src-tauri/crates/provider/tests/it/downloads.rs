//! Downloads over a connection that breaks.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use provider::download::{
    Conditions, DownloadError, DownloadSource, download, download_with, fetch_small,
};

/// Answers each request with the next of `answers` and records the requests.
fn serve(answers: Vec<Vec<u8>>) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!(
        "http://{}/models/tiny%20one.gguf?download=true",
        listener.local_addr().unwrap()
    );
    let asked = Arc::new(Mutex::new(Vec::new()));
    let received = Arc::clone(&asked);
    std::thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let lines = BufReader::new(stream.try_clone().unwrap())
                .lines()
                .map_while(Result::ok);
            let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
            received
                .lock()
                .unwrap()
                .push(head.join("\n").to_lowercase());
            stream.write_all(&answer).unwrap();
        }
    });
    (address, asked)
}

fn answer(head: &str, length: usize, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}")
        .into_bytes()
}

#[tokio::test]
async fn resumes_an_interrupted_download() {
    let folder = tempfile::tempdir().unwrap();
    let part = folder.path().join("tiny.part");
    let (address, asked) = serve(vec![
        answer("200 OK\r\nETag: \"one\"", 10, "01234"),
        answer(
            "206 Partial Content\r\nContent-Range: bytes 5-9/10",
            5,
            "56789",
        ),
    ]);
    let source = DownloadSource::parse(&address).unwrap();
    assert_eq!(source.file_name().as_deref(), Some("tiny-20one.gguf"));
    let broke = download(&source, &part, |_, _| ()).await.unwrap_err();
    assert!(
        matches!(broke, DownloadError::Broken { bytes: 5, .. }),
        "{broke:?}"
    );

    let seen = Mutex::new(Vec::new());
    download(&source, &part, |here, all| {
        seen.lock().unwrap().push((here, all))
    })
    .await
    .unwrap();
    assert_eq!(std::fs::read_to_string(&part).unwrap(), "0123456789");
    assert_eq!(seen.lock().unwrap().last(), Some(&(10, Some(10))));
    let asked = asked.lock().unwrap();
    assert!(
        asked[1].contains("range: bytes=5-\n") && asked[1].contains("if-range: \"one\""),
        "{}",
        asked[1]
    );
    assert_eq!(
        std::fs::read_dir(folder.path()).unwrap().count(),
        1,
        "no tag is left"
    );
}

#[tokio::test]
async fn restarts_if_the_file_has_changed() {
    let folder = tempfile::tempdir().unwrap();
    let part = folder.path().join("tiny.part");
    let (address, _) = serve(vec![
        answer("200 OK\r\nETag: \"one\"", 10, "01234"),
        answer("200 OK\r\nETag: \"two\"", 3, "new"),
    ]);
    let source = DownloadSource::parse(&address).unwrap();
    assert!(download(&source, &part, |_, _| ()).await.is_err());
    download(&source, &part, |_, _| ()).await.unwrap();
    assert_eq!(std::fs::read_to_string(&part).unwrap(), "new");
}

#[tokio::test]
async fn restarts_without_an_etag() {
    let folder = tempfile::tempdir().unwrap();
    let part = folder.path().join("tiny.part");
    let (address, asked) = serve(vec![
        answer("200 OK", 10, "01234"),
        answer("200 OK", 3, "new"),
    ]);
    let source = DownloadSource::parse(&address).unwrap();
    assert!(download(&source, &part, |_, _| ()).await.is_err());
    download(&source, &part, |_, _| ()).await.unwrap();
    assert_eq!(std::fs::read_to_string(&part).unwrap(), "new");
    assert!(!asked.lock().unwrap()[1].contains("range"));
}

#[tokio::test]
async fn reports_refusals_and_ignores_plain_redirects() {
    let folder = tempfile::tempdir().unwrap();
    let part = folder.path().join("tiny.part");
    let (address, _) = serve(vec![
        answer("404 Not Found", 0, ""),
        answer("302 Found\r\nLocation: http://192.0.2.1/tiny.gguf", 0, ""),
    ]);
    let source = DownloadSource::parse(&address).unwrap();
    for expected in ["404 Not Found", "302 Found"] {
        let refused = download(&source, &part, |_, _| ()).await.unwrap_err();
        assert_eq!(
            refused.to_string(),
            format!("127.0.0.1 answered {expected}")
        );
    }
    for wrong in [
        "tiny.gguf",
        "http://models.example/tiny.gguf",
        "ftp://models.example/tiny.gguf",
        "file:///etc/passwd",
    ] {
        assert!(
            matches!(
                DownloadSource::parse(wrong),
                Err(DownloadError::Address { .. })
            ),
            "{wrong}"
        );
    }
    assert_eq!(
        DownloadSource::parse("https://models.example/a/")
            .unwrap()
            .file_name(),
        None
    );
}

/// Downloads with a known checksum, until the download succeeds or fails for good. Returns the
/// content.
async fn verified(part: &std::path::Path, answers: Vec<Vec<u8>>) -> (String, Vec<String>) {
    let requests = answers.len();
    let (address, asked) = serve(answers);
    let source = DownloadSource::parse(&address).unwrap();
    let conditions = Conditions {
        bytes: Some(10),
        verified: true,
        ..Conditions::default()
    };
    for _ in 0..requests {
        match download_with(&source, part, &conditions, |_, _| ()).await {
            Ok(()) => break,
            Err(DownloadError::Broken { .. } | DownloadError::Expired { .. }) => {}
            Err(error) => panic!("{error:?}"),
        }
    }
    let asked = asked.lock().unwrap().clone();
    assert_eq!(asked.len(), requests, "{asked:?}");
    (std::fs::read_to_string(part).unwrap(), asked)
}

#[tokio::test]
async fn expired_link_is_not_a_refusal() {
    let expired = "<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>";
    let folder = tempfile::tempdir().unwrap();
    let part = folder.path().join("tiny.part");
    let answers = vec![
        answer("200 OK\r\nETag: \"e\"", 10, "01234"),
        answer("403 Forbidden", expired.len(), expired),
        answer(
            "206 Partial Content\r\nContent-Range: bytes 5-9/10",
            5,
            "56789",
        ),
    ];
    let (text, asked) = verified(&part, answers).await;
    assert_eq!(text, "0123456789");
    assert!(asked[2].contains("range: bytes=5-"), "{}", asked[2]);

    for (head, resumes) in [
        ("403 Forbidden\r\nX-Error-Code: GatedRepo", true),
        ("403 Forbidden", false),
    ] {
        let first = resumes.then(|| answer("200 OK", 10, "01234"));
        let (address, _) = serve(first.into_iter().chain([answer(head, 0, "")]).collect());
        let part = folder.path().join(format!("gated-{resumes}.part"));
        let source = DownloadSource::parse(&address).unwrap();
        let conditions = Conditions {
            verified: true,
            ..Conditions::default()
        };
        let mut last = download_with(&source, &part, &conditions, |_, _| ())
            .await
            .unwrap_err();
        if resumes {
            last = download_with(&source, &part, &conditions, |_, _| ())
                .await
                .unwrap_err();
        }
        assert!(
            matches!(last, DownloadError::Refused { .. }),
            "{head}: {last:?}"
        );
    }
}

#[tokio::test]
async fn other_ranges_than_asked_are_used() {
    let part_of = |start: usize, end: usize| {
        let text = &"0123456789"[start..end];
        let range = format!(
            "206 Partial Content\r\nContent-Range: bytes {start}-{}/10",
            end - 1
        );
        answer(&range, text.len(), text)
    };
    let begun = || answer("200 OK\r\nETag: \"e\"", 10, "01234");
    for (name, answers) in [
        ("an earlier start", vec![begun(), part_of(2, 10)]),
        ("the whole file as a range", vec![begun(), part_of(0, 10)]),
        (
            "short ranges",
            vec![begun(), part_of(5, 7), part_of(7, 9), part_of(9, 10)],
        ),
        (
            "a later start",
            vec![begun(), part_of(7, 10), answer("200 OK", 10, "0123456789")],
        ),
        (
            "no range in the answer",
            vec![begun(), answer("206 Partial Content", 5, "56789")],
        ),
        (
            "an unknown total",
            vec![
                begun(),
                answer(
                    "206 Partial Content\r\nContent-Range: bytes 5-9/*",
                    5,
                    "56789",
                ),
            ],
        ),
        (
            "the whole file",
            vec![begun(), answer("200 OK", 10, "0123456789")],
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (text, _) = verified(&folder.path().join("tiny.part"), answers).await;
        assert_eq!(text, "0123456789", "{name}");
    }
}

#[tokio::test]
async fn mirrors_with_other_tags_resume() {
    let folder = tempfile::tempdir().unwrap();
    let answers = vec![
        answer("200 OK\r\nETag: \"one\"", 10, "01234"),
        answer(
            "206 Partial Content\r\nETag: \"two\"\r\nContent-Range: bytes 5-9/10",
            5,
            "56789",
        ),
    ];
    let (text, asked) = verified(&folder.path().join("tiny.part"), answers).await;
    assert_eq!(text, "0123456789");
    assert!(
        !asked[1].contains("if-range"),
        "a checksum proves more than a tag: {}",
        asked[1]
    );
}

#[cfg(unix)]
#[tokio::test]
async fn nothing_is_written_through_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let (victim, part) = (
        folder.path().join("victim"),
        folder.path().join("tiny.part"),
    );
    std::fs::write(&victim, "keep").unwrap();
    std::os::unix::fs::symlink(&victim, &part).unwrap();
    std::os::unix::fs::symlink(&victim, folder.path().join("tiny.tag")).unwrap();
    let (address, _) = serve(vec![
        answer("200 OK\r\nETag: \"e\"", 10, "01234"),
        answer("200 OK", 10, "0123456789"),
    ]);
    let source = DownloadSource::parse(&address).unwrap();
    assert!(download(&source, &part, |_, _| ()).await.is_err());
    download(&source, &part, |_, _| ()).await.unwrap();
    assert_eq!(std::fs::read_to_string(&victim).unwrap(), "keep");
    assert_eq!(std::fs::read_to_string(&part).unwrap(), "0123456789");
}

#[tokio::test]
async fn file_without_a_size_takes_half_of_the_free_space() {
    let folder = tempfile::tempdir().unwrap();
    let part = folder.path().join("tiny.part");
    let asked = Mutex::new(Vec::new());
    let has_room = |bytes: u64| {
        asked.lock().unwrap().push(bytes);
        asked.lock().unwrap().len() < 2
    };
    let body = "x".repeat(70 << 20);
    let (address, _) = serve(vec![
        format!("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{body}").into_bytes(),
    ]);
    let source = DownloadSource::parse(&address).unwrap();
    let conditions = Conditions {
        has_room: Some(&has_room),
        ..Conditions::default()
    };
    let full = download_with(&source, &part, &conditions, |_, _| ())
        .await
        .unwrap_err();
    assert!(
        matches!(full, DownloadError::Full { .. }) && !part.exists(),
        "{full:?}"
    );
    let asked = asked.lock().unwrap();
    assert!(
        asked[1] >= asked[0] + (64 << 20),
        "the received bytes count twice: {asked:?}"
    );
}

#[tokio::test]
async fn small_file_has_a_limit() {
    let (address, _) = serve(vec![
        answer("200 OK", 5, "words"),
        answer("200 OK", 6, "words!"),
        b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nwithout a length".to_vec(),
        answer("404 Not Found", 0, ""),
    ]);
    let source = DownloadSource::parse(&address).unwrap();
    assert_eq!(fetch_small(&source, 5).await.unwrap(), b"words");
    for _ in 0..2 {
        let refused = fetch_small(&source, 5).await.unwrap_err();
        assert!(
            matches!(refused, DownloadError::TooLong { limit: 5 }),
            "{refused:?}"
        );
    }
    let refused = fetch_small(&source, 5).await.unwrap_err();
    assert_eq!(refused.to_string(), "127.0.0.1 answered 404 Not Found");
}

#[tokio::test]
async fn release_is_not_fetched_from_another_server() {
    let (other, asked) = serve(vec![answer("200 OK", 4, "evil")]);
    let redirect = format!("302 Found\r\nLocation: {other}");
    let (address, _) = serve(vec![answer(&redirect, 0, ""), answer(&redirect, 0, "")]);
    let source = DownloadSource::of_release(&address).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let part = folder.path().join("release.part");
    let refused = [
        fetch_small(&source, 100).await.map(drop),
        download(&source, &part, |_, _| ()).await,
    ];
    for refused in refused {
        let refused = refused.unwrap_err();
        assert_eq!(refused.to_string(), "127.0.0.1 answered 302 Found");
    }
    assert!(!part.exists() && asked.lock().unwrap().is_empty());
}
