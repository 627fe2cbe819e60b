//! Downloads over a connection that breaks.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use provider::download::{DownloadError, DownloadSource, download};

/// Answers each request with the next of `answers` and records the requests.
fn serve(answers: Vec<Vec<u8>>) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/models/tiny%20one.gguf?download=true", listener.local_addr().unwrap());
    let asked = Arc::new(Mutex::new(Vec::new()));
    let received = Arc::clone(&asked);
    std::thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
            let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
            received.lock().unwrap().push(head.join("\n").to_lowercase());
            stream.write_all(&answer).unwrap();
        }
    });
    (address, asked)
}

fn answer(head: &str, length: usize, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}").into_bytes()
}

#[tokio::test]
async fn resumes_an_interrupted_download() {
    let folder = tempfile::tempdir().unwrap();
    let part = folder.path().join("tiny.part");
    let (address, asked) = serve(vec![
        answer("200 OK\r\nETag: \"one\"", 10, "01234"),
        answer("206 Partial Content\r\nContent-Range: bytes 5-9/10", 5, "56789"),
    ]);
    let source = DownloadSource::parse(&address).unwrap();
    assert_eq!(source.file_name().as_deref(), Some("tiny-20one.gguf"));
    let broke = download(&source, &part, |_, _| ()).await.unwrap_err();
    assert!(matches!(broke, DownloadError::Broken { bytes: 5, .. }), "{broke:?}");

    let seen = Mutex::new(Vec::new());
    download(&source, &part, |here, all| seen.lock().unwrap().push((here, all))).await.unwrap();
    assert_eq!(std::fs::read_to_string(&part).unwrap(), "0123456789");
    assert_eq!(seen.lock().unwrap().last(), Some(&(10, Some(10))));
    let asked = asked.lock().unwrap();
    assert!(asked[1].contains("range: bytes=5-\n") && asked[1].contains("if-range: \"one\""), "{}", asked[1]);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no tag is left");
}

#[tokio::test]
async fn restarts_if_the_file_has_changed() {
    let folder = tempfile::tempdir().unwrap();
    let part = folder.path().join("tiny.part");
    let (address, _) =
        serve(vec![answer("200 OK\r\nETag: \"one\"", 10, "01234"), answer("200 OK\r\nETag: \"two\"", 3, "new")]);
    let source = DownloadSource::parse(&address).unwrap();
    assert!(download(&source, &part, |_, _| ()).await.is_err());
    download(&source, &part, |_, _| ()).await.unwrap();
    assert_eq!(std::fs::read_to_string(&part).unwrap(), "new");
}

#[tokio::test]
async fn restarts_without_an_etag() {
    let folder = tempfile::tempdir().unwrap();
    let part = folder.path().join("tiny.part");
    let (address, asked) = serve(vec![answer("200 OK", 10, "01234"), answer("200 OK", 3, "new")]);
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
    let (address, _) =
        serve(vec![answer("404 Not Found", 0, ""), answer("302 Found\r\nLocation: http://192.0.2.1/tiny.gguf", 0, "")]);
    let source = DownloadSource::parse(&address).unwrap();
    for expected in ["404 Not Found", "302 Found"] {
        let refused = download(&source, &part, |_, _| ()).await.unwrap_err();
        assert_eq!(refused.to_string(), format!("127.0.0.1 answered {expected}"));
    }
    for wrong in
        ["tiny.gguf", "http://models.example/tiny.gguf", "ftp://models.example/tiny.gguf", "file:///etc/passwd"]
    {
        assert!(matches!(DownloadSource::parse(wrong), Err(DownloadError::Address { .. })), "{wrong}");
    }
    assert_eq!(DownloadSource::parse("https://models.example/a/").unwrap().file_name(), None);
}
